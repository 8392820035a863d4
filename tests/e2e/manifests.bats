#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Manifests, as people keep them in files: applied, changed, pruned, compared, edited, replaced, built by kustomize; of built-in kinds and of
# custom ones; and the messages of server and kubectl about unknown fields.

setup_file() {
    load helpers
    server_start
    kubectl apply -f "$E2E/fixtures/machines.yaml"
    kubectl wait --for=condition=Established --timeout=90s crd/machines.factory.example.com
}

teardown_file() { load helpers; server_stop; }
setup() { load helpers; namespace; }

app() {
    cat <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {part-of: shop}}
data: {colour: blue}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {part-of: shop}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: "web:1", env: [{name: LEVEL, value: low}]}
      - {name: side, image: "side:1"}
---
apiVersion: factory.example.com/v1
kind: Machine
metadata: {name: press, labels: {part-of: shop}}
spec: {load: 3, tools: [{name: hammer, size: 3}, {name: saw, size: big}]}
YAML
}

# editor EXPRESSION: an editor that makes one change with sed.
editor() {
    printf '#!/bin/sh\nexec sed -i "%s" "$1"\n' "$1" >"$BATS_TEST_TMPDIR/editor"
    chmod +x "$BATS_TEST_TMPDIR/editor"
    echo "$BATS_TEST_TMPDIR/editor"
}

machine() { printf '{"apiVersion":"factory.example.com/v1","kind":"Machine","metadata":{"name":"press"},"spec":{%s}}' "$1"; }

@test "application is applied, applied again and applied with a change" {
    run -0 k apply -f - <<<"$(app)"
    says "configmap/settings created" "deployment.apps/web created" "machine.factory.example.com/press created"
    run -0 k apply -f - <<<"$(app)"
    says "configmap/settings unchanged" "deployment.apps/web unchanged" "machine.factory.example.com/press unchanged"
    k set image deployment/web side=side:2
    k patch machine press --type=merge -p '{"spec":{"mode":"fast"}}'
    run -0 k apply -f - <<<"$(app | sed 's/web:1/web:2/; s/load: 3/load: 4/')"
    says "configmap/settings unchanged" "deployment.apps/web configured" "machine.factory.example.com/press configured"
    # Changes of another client are reverted in fields of the manifest and kept in others.
    [ "$(k get deployment web -o jsonpath='{.spec.template.spec.containers[*].image}')" = "web:2 side:1" ]
    [ "$(k get machine press -o jsonpath='{.spec.load} {.spec.mode}')" = "4 fast" ]
}

@test "field removed from a manifest is removed from the object" {
    k apply -f - <<<"$(app)"
    k apply -f - <<<"$(app | sed 's/, env: .*}]}/}/; /name: side/d; s/, {name: saw, size: big}//')"
    [ "$(k get deployment web -o jsonpath='{.spec.template.spec.containers[*].name} {..env}')" = "main " ]
    [ "$(k get machine press -o jsonpath='{.spec.tools[*].name}')" = hammer ]
}

@test "objects removed from a manifest are pruned by label" {
    k apply -f - <<<"$(app)"
    k create configmap other
    run -0 k apply --prune -l part-of=shop --prune-allowlist=core/v1/ConfigMap --prune-allowlist=apps/v1/Deployment \
        --prune-allowlist=factory.example.com/v1/Machine -f - <<<"$(app | sed '/^---/,$d')"
    says "configmap/settings unchanged" "deployment.apps/web pruned" "machine.factory.example.com/press pruned"
    k get configmap other
}

@test "diff shows the difference to a manifest" {
    k apply -f - <<<"$(app)"
    run -0 k diff --server-side=false -f - <<<"$(app)"
    [ -z "$output" ]
    run -1 k diff --server-side=false -f - <<<"$(app | sed 's/web:1/web:2/; s/load: 3/load: 4/; s/blue/green/')"
    says "-        image: web:1" "+        image: web:2" "-  load: 3" "+  load: 4" "-  colour: blue" "+  colour: green"
    [ "$(k get configmap settings -o jsonpath='{.data.colour}')" = blue ]
}

@test "dry run of apply changes nothing" {
    run -0 k apply --dry-run=server -f - <<<"$(app)"
    says "configmap/settings created (server dry run)" "machine.factory.example.com/press created (server dry run)"
    run -0 k get configmaps,deployments,machines
    says "No resources found"
}

@test "last applied configuration is recorded, shown and changed" {
    k apply -f - <<<"$(app)"
    run -0 k apply view-last-applied machine/press
    says "load: 3"
    KUBE_EDITOR="sed -i s/blue/red/" run -0 k apply edit-last-applied configmap/settings
    says "configmap/settings edited"
    run -0 k apply view-last-applied configmap/settings
    says "colour: red"
}

@test "objects are edited" {
    k apply -f - <<<"$(app)"
    KUBE_EDITOR=$(editor 's/image: web:1/image: web:9/') run -0 k edit deployment web
    says "deployment.apps/web edited"
    KUBE_EDITOR=$(editor 's/^  load:.*/  load: 7/') run -0 k edit machine press
    says "machine.factory.example.com/press edited"
    [ "$(k get deployment web -o jsonpath='{.spec.template.spec.containers[0].image}')" = web:9 ]
    [ "$(k get machine press -o jsonpath='{.spec.load}')" = 7 ]
    KUBE_EDITOR=true run -0 k edit machine press
    says "Edit cancelled, no changes made."
}

@test "refused edit reports the reason and keeps the edited text" {
    k apply -f - <<<"$(app)"
    KUBE_EDITOR=$(editor 's/^  load:.*/  load: 99/') TMPDIR=$BATS_TEST_TMPDIR run -1 k edit machine press
    says 'machines.factory.example.com "press" is invalid' "A copy of your changes has been stored to" "no valid changes were saved"
    grep -q "# \* spec.load: Invalid value: 99: spec.load in body should be less than or equal to 10" "$BATS_TEST_TMPDIR"/kubectl-edit-*
    [ "$(k get machine press -o jsonpath='{.spec.load}')" = 3 ]
}

@test "objects are replaced, and recreated with --force" {
    k apply -f - <<<"$(app)"
    uid=$(k get machine press -o jsonpath='{.metadata.uid}')
    run -0 k replace -f - <<<"$(machine '"load":5')"
    says "machine.factory.example.com/press replaced"
    [ "$(k get machine press -o jsonpath='{.spec.load}{.spec.tools}{.metadata.uid}')" = "5$uid" ]
    run -0 k replace --force -f - <<<"$(machine '"load":6')"
    says 'machine.factory.example.com "press" deleted' "machine.factory.example.com/press replaced"
    [ "$(k get machine press -o jsonpath='{.spec.load}')" = 6 ]
    [ "$(k get machine press -o jsonpath='{.metadata.uid}')" != "$uid" ]
}

@test "kustomize output is applied, compared and deleted" {
    mkdir "$BATS_TEST_TMPDIR/shop"
    cd "$BATS_TEST_TMPDIR/shop"
    app >app.yaml
    printf '%s\n' 'namePrefix: my-' 'resources: [app.yaml]' 'configMapGenerator: [{name: words, literals: [a=b]}]' >kustomization.yaml
    run -0 k apply -k .
    says "configmap/my-settings created" "deployment.apps/my-web created" "machine.factory.example.com/my-press created"
    [[ $output =~ configmap/my-words-[a-z0-9]{10}\ created ]]
    run -0 k diff --server-side=false -k .
    run -0 k delete -k .
    says 'machine.factory.example.com "my-press" deleted'
    [ -z "$(k get machines,deployments,configmaps -o name)" ]
}

# ---- unknown fields ----

# kubectl_says CODE VERB VALIDATION: what it says about a manifest on standard input.
kubectl_says() { run "-$1" k "$2" --validate="$3" -f -; }

UNKNOWN='{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"odd"},"spec":{"replica":3,"selector":{"matchLabels":{"a":"b"}},
"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"main","image":"img","imag":"x"}]}}}}'

@test "unknown fields of a built-in kind: Strict refuses, Warn warns, Ignore is silent" {
    for verb in create apply; do
        kubectl_says 1 $verb strict <<<"$UNKNOWN"
        says 'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field "spec.replica", unknown field "spec.template.spec.containers[0].imag"'
    done
    run -1 k get deployment odd
    kubectl_says 0 create warn <<<"$UNKNOWN"
    says 'Warning: unknown field "spec.replica"' 'Warning: unknown field "spec.template.spec.containers[0].imag"' "deployment.apps/odd created"
    k delete deployment odd
    kubectl_says 0 create ignore <<<"$UNKNOWN"
    [ "$output" = "deployment.apps/odd created" ]
    [ -z "$(k get deployment odd -o jsonpath='{.spec.replica}{..imag}')" ]
}

@test "unknown fields of a strategic merge patch are reported in order of their names" {
    k apply -f - <<<"$(app)"
    run -0 k patch deployment web -p '{"spec":{"template":{"spec":{"nothing":1}},"replica":1},"extra":1}'
    [ "$(grep Warning <<<"$output" | tr '\n' ' ')" = 'Warning: unknown field "extra" Warning: unknown field "spec.replica" Warning: unknown field "spec.template.spec.nothing" ' ]
    run -0 k patch deployment web --type=merge -p '{"spec":{"template":{"spec":{"nothing":1}},"replica":1},"extra":1}'
    [ "$(grep -c Warning <<<"$output")" = 3 ]
}

@test "unknown fields of a custom kind: Strict refuses, Warn warns, Ignore is silent" {
    for verb in create apply; do
        kubectl_says 1 $verb strict <<<"$(machine '"load":3,"wings":2,"tools":[{"name":"saw","teeth":9}]')"
        says 'Machine in version "v1" cannot be handled as a Machine: strict decoding error: unknown field "spec.tools[0].teeth", unknown field "spec.wings"'
    done
    kubectl_says 0 create warn <<<"$(machine '"load":3,"wings":2')"
    says 'Warning: unknown field "spec.wings"' "machine.factory.example.com/press created"
    k delete machine press
    kubectl_says 0 create ignore <<<"$(machine '"load":3,"wings":2')"
    [ "$output" = "machine.factory.example.com/press created" ]
    [ "$(k get machine press -o jsonpath='{.spec}')" = '{"load":3,"mode":"slow"}' ]
}

@test "unknown fields of an apply and a patch are refused, warned about or ignored" {
    kubectl_says 0 apply strict <<<"$(machine '"load":3')"
    kubectl_says 1 apply strict <<<"$(machine '"load":3,"wings":2')"
    says 'strict decoding error: unknown field "spec.wings"'
    kubectl_says 0 apply warn <<<"$(machine '"load":4,"wings":2')"
    says 'Warning: unknown field "spec.wings"' "machine.factory.example.com/press configured"
    kubectl_says 0 apply ignore <<<"$(machine '"load":5,"wings":2')"
    never_says Warning
    run -0 k patch machine press --type=merge -p '{"spec":{"wings":2}}'
    says 'Warning: unknown field "spec.wings"' "patched (no change)"
    [ "$(k get machine press -o jsonpath='{.spec}')" = '{"load":5,"mode":"slow"}' ]
}

@test "duplicate JSON field is refused under Strict, and the last value is used otherwise" {
    for validation in Warn Ignore; do
        run -0 api "/apis/factory.example.com/v1/namespaces/$NS/machines?fieldValidation=$validation" -D "$BATS_TEST_TMPDIR/headers" \
            -H 'Content-Type: application/json' -d "$(machine '"load":3,"load":4' | sed "s/press/press-${validation,,}/")"
        [ "$(field .spec.load <<<"$output")" = 4 ]
    done
    run -0 api "/apis/factory.example.com/v1/namespaces/$NS/machines?fieldValidation=Strict" -H 'Content-Type: application/json' \
        -d "$(machine '"load":3,"load":4')"
    [ "$(field .message <<<"$output")" = 'Machine in version "v1" cannot be handled as a Machine: strict decoding error: duplicate field "spec.load"' ]
}

@test "values of the wrong type are refused under any validation" {
    for validation in strict ignore; do
        kubectl_says 1 create $validation <<<'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"odd"},"data":{"a":1}}'
        says 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string'
        kubectl_says 1 create $validation <<<"$(machine '"load":"three"')"
        says 'The Machine "press" is invalid: spec.load: Invalid value: "string": spec.load in body must be of type integer: "string"'
    done
}

@test "unserved or missing kind is refused before any request" {
    run -1 k apply -f - <<<'{"apiVersion":"nowhere.example.com/v1","kind":"Thing","metadata":{"name":"x"}}'
    says 'resource mapping not found for name: "x"' 'no matches for kind "Thing" in version "nowhere.example.com/v1"' "ensure CRDs are installed first"
    run -1 k apply -f - <<<'{"kind":"ConfigMap","metadata":{"name":"x"}}'
    says "apiVersion not set"
}
