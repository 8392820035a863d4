#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Server-side apply and field ownership with kubectl: every command that applies, shows or changes managed fields. The expected texts are
# those of kubectl with a Kubernetes v1.34 server.

setup_file() {
    load helpers
    server_start
    kubectl apply -f "$E2E/fixtures/machines.yaml"
    kubectl wait --for=condition=Established --timeout=90s crd/machines.factory.example.com
}

teardown_file() { load helpers; server_stop; }
setup() { load helpers; namespace; }

settings() { printf '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{%s}}' "$1"; }

machine() { printf '{"apiVersion":"factory.example.com/v1","kind":"Machine","metadata":{"name":"press"},"spec":{%s}}' "$1"; }

web() {
    cat <<YAML
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  ${1:+replicas: $1}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: "web:1", env: [{name: LEVEL, value: low}]}
YAML
}

# ssa ARGUMENT…: server-side apply of the manifest on standard input.
ssa() { k apply --server-side "$@" -f -; }

# managers KIND NAME: one line for each entry: MANAGER OPERATION [SUBRESOURCE], sorted.
managers() {
    k get "$1" "$2" --show-managed-fields -o json |
        python3 -c 'import json, sys
for e in sorted(json.load(sys.stdin)["metadata"].get("managedFields", []), key=lambda e: (e["manager"], e["operation"])):
    print(e["manager"], e["operation"], e.get("subresource", ""), sep=" ", end="\n")' | sed 's/ $//'
}

# owns KIND NAME MANAGER: the fields of the manager's entries as JSON.
owns() {
    k get "$1" "$2" --show-managed-fields -o json |
        python3 -c 'import json, sys
for e in json.load(sys.stdin)["metadata"].get("managedFields", []):
    if e["manager"] == sys.argv[1]: print(json.dumps(e["fieldsV1"], sort_keys=True, separators=(",", ":")))' "$3"
}

version() { k get "$1" "$2" -o jsonpath='{.metadata.resourceVersion}'; }

editor() {
    # shellcheck disable=SC2016  # the editor expands it
    printf '#!/bin/sh\nexec sed -i "%s" "$1"\n' "$1" >"$BATS_TEST_TMPDIR/editor"
    chmod +x "$BATS_TEST_TMPDIR/editor"
    echo "$BATS_TEST_TMPDIR/editor"
}

# ---- apply --server-side ----

@test "server-side apply creates objects of built-in and custom kinds" {
    run -0 ssa <<<"$(web 2; echo ---; settings '"colour":"blue"'; printf '\n---\n'; machine '"load":3')"
    says "configmap/settings serverside-applied" "deployment.apps/web serverside-applied" "machine.factory.example.com/press serverside-applied"
    [ "$(managers configmap settings)" = "kubectl Apply" ]
    [ "$(owns configmap settings kubectl)" = '{"f:data":{"f:colour":{}}}' ]
    [ "$(owns machine press kubectl)" = '{"f:spec":{"f:load":{}}}' ]
    [ -z "$(k get deployment web -o jsonpath='{.metadata.annotations}')" ]
}

@test "server-side apply changes, adds and removes fields" {
    ssa <<<"$(settings '"colour":"blue","size":"1"')"
    ssa <<<"$(settings '"colour":"red","shape":"round"')"
    [ "$(k get configmap settings -o jsonpath='{.data}')" = '{"colour":"red","shape":"round"}' ]
    k label configmap settings team=a
    ssa <<<"$(settings '"colour":"red"')"
    [ "$(k get configmap settings -o jsonpath='{.data} {.metadata.labels.team}')" = '{"colour":"red"} a' ]
}

@test "server-side apply without a change does not move the resourceVersion" {
    ssa <<<"$(web 2)"
    before=$(version deployment web)
    sleep 1.1
    run -0 ssa <<<"$(web 2)"
    says "deployment.apps/web serverside-applied"
    [ "$(version deployment web)" = "$before" ]
}

@test "server-side apply that conflicts names manager and field, and explains what to do" {
    ssa --field-manager=alice <<<"$(settings '"colour":"blue"')"
    run -1 ssa --field-manager=bob <<<"$(settings '"colour":"red"')"
    # shellcheck disable=SC2016  # these are the words of kubectl
    [ "$output" = 'error: Apply failed with 1 conflict: conflict with "alice": .data.colour
Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the `--force-conflicts` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'"'"'ll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts' ]
    [ "$(k get configmap settings -o jsonpath='{.data.colour}')" = blue ]
}

@test "conflicts with several managers are listed by manager" {
    ssa --field-manager=alice <<<"$(settings '"colour":"blue","shape":"round"')"
    k patch configmap settings --type=merge -p '{"data":{"size":"1"}}' --field-manager=carol
    run -1 ssa --field-manager=bob <<<"$(settings '"colour":"red","shape":"square","size":"2"')"
    says 'error: Apply failed with 3 conflicts: conflicts with "alice":
- .data.colour
- .data.shape
conflicts with "carol" using v1:
- .data.size
Please review'
}

@test "--force-conflicts takes the fields from their managers" {
    ssa --field-manager=alice <<<"$(settings '"colour":"blue","shape":"round"')"
    run -0 ssa --field-manager=bob --force-conflicts <<<"$(settings '"colour":"red"')"
    says "configmap/settings serverside-applied"
    [ "$(owns configmap settings alice)" = '{"f:data":{"f:shape":{}}}' ]
    [ "$(owns configmap settings bob)" = '{"f:data":{"f:colour":{}}}' ]
    run -1 ssa --field-manager=alice <<<"$(settings '"colour":"blue","shape":"round"')"
    says 'conflict with "bob": .data.colour'
}

@test "managers that apply the same value share the field until the last one drops it" {
    ssa --field-manager=alice <<<"$(settings '"colour":"blue"')"
    ssa --field-manager=bob <<<"$(settings '"colour":"blue","own":"1"')"
    ssa --field-manager=alice <<<"$(settings '')"
    [ "$(k get configmap settings -o jsonpath='{.data.colour}')" = blue ]
    ssa --field-manager=bob <<<"$(settings '"own":"1"')"
    [ "$(k get configmap settings -o jsonpath='{.data}')" = '{"own":"1"}' ]
}

@test "containers of two managers are merged by name, and removed by their owner" {
    ssa --field-manager=alice <<<"$(web 2)"
    sidecar='{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"template":{"spec":{"containers":[%s]}}}}'
    # shellcheck disable=SC2059  # the format is the manifest
    ssa --field-manager=injector <<<"$(printf "$sidecar" '{"name":"proxy","image":"proxy:1"}')"
    [ "$(k get deployment web -o jsonpath='{.spec.template.spec.containers[*].name}')" = "main proxy" ]
    ssa --field-manager=alice <<<"$(web 2 | sed s/web:1/web:2/)"
    [ "$(k get deployment web -o jsonpath='{.spec.template.spec.containers[*].image}')" = "web:2 proxy:1" ]
    # shellcheck disable=SC2059
    ssa --field-manager=injector <<<"$(printf "$sidecar" '')"
    [ "$(k get deployment web -o jsonpath='{.spec.template.spec.containers[*].name}')" = main ]
}

@test "--dry-run=server shows the result and stores nothing" {
    run -0 ssa --dry-run=server <<<"$(settings '"colour":"blue"')"
    says "configmap/settings serverside-applied (server dry run)"
    run -1 k get configmap settings
    ssa <<<"$(settings '"colour":"blue"')"
    before=$(version configmap settings)
    run -0 ssa --dry-run=server -o jsonpath='{.data.colour}' <<<"$(settings '"colour":"red"')"
    says red
    [ "$(version configmap settings)" = "$before" ]
    run -1 ssa --dry-run=server --field-manager=bob <<<"$(settings '"colour":"red"')"
    says 'conflict with "kubectl": .data.colour'
}

@test "server-side apply refuses unknown fields, duplicate keys and wrong types" {
    run -1 ssa <<<'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"odd"},"dat":{"a":"b"}}'
    says 'failed to create typed patch object' '.dat: field not declared in schema'
    run -1 ssa <<<"$(web 2 | sed 's/- {name: main.*/&\n      - {name: main, image: other}/')"
    says 'duplicate entries for key [name="main"]'
    run -1 ssa <<<"$(machine '"load":"three"')"
    says '.spec.load: expected numeric (int or float), got string'
    run -1 ssa <<<"$(machine '"load":11')"
    says 'spec.load in body should be less than or equal to 10'
}

@test "server-side apply of YAML with several documents and of a folder" {
    mkdir "$BATS_TEST_TMPDIR/shop"
    settings '"colour":"blue"' >"$BATS_TEST_TMPDIR/shop/settings.json"
    web 2 >"$BATS_TEST_TMPDIR/shop/web.yaml"
    run -0 k apply --server-side -f "$BATS_TEST_TMPDIR/shop"
    says "configmap/settings serverside-applied" "deployment.apps/web serverside-applied"
}

# ---- diff --server-side ----

@test "diff --server-side shows what an apply would change" {
    ssa <<<"$(web 2)"
    run -0 k diff --server-side -f - <<<"$(web 2)"
    [ -z "$output" ]
    run -1 k diff --server-side -f - <<<"$(web 3 | sed s/web:1/web:2/)"
    says "-  replicas: 2" "+  replicas: 3" "-        image: web:1" "+        image: web:2"
    [ "$(k get deployment web -o jsonpath='{.spec.replicas}')" = 2 ]
    run -1 k diff --server-side -f - <<<"$(settings '"colour":"blue"')"
    says "+  colour: blue" "+kind: ConfigMap"
    run -1 k get configmap settings
}

@test "diff --server-side shows the removal of a field that only the applier owns" {
    ssa <<<"$(settings '"colour":"blue","size":"1"')"
    run -1 k diff --server-side -f - <<<"$(settings '"colour":"blue"')"
    says "-  size: \"1\""
    never_says "-  colour"
}

@test "diff --server-side reports a conflict, and --force-conflicts shows the change" {
    ssa --field-manager=alice <<<"$(settings '"colour":"blue"')"
    run k diff --server-side --field-manager=bob -f - <<<"$(settings '"colour":"red"')"
    [ "$status" -gt 1 ]
    says 'Apply failed with 1 conflict: conflict with "alice": .data.colour'
    run -1 k diff --server-side --field-manager=bob --force-conflicts -f - <<<"$(settings '"colour":"red"')"
    says "-  colour: blue" "+  colour: red"
    run -1 k diff --server-side --field-manager=bob --force-conflicts --show-managed-fields -f - <<<"$(settings '"colour":"red"')"
    says "+    manager: bob"
}

# ---- managed fields of other commands ----

@test "get shows managed fields only with --show-managed-fields" {
    ssa <<<"$(settings '"colour":"blue"')"
    run -0 k get configmap settings -o yaml
    never_says managedFields
    run -0 k get configmap settings -o yaml --show-managed-fields
    says "  managedFields:
  - apiVersion: v1
    fieldsType: FieldsV1
    fieldsV1:
      f:data:
        f:colour: {}
    manager: kubectl
    operation: Apply
    time: "
    run -0 k get configmaps -o json --show-managed-fields
    says '"manager": "kubectl"'
}

@test "each command has its manager" {
    k create configmap made --from-literal=a=1
    [ "$(managers configmap made)" = "kubectl-create Update" ]
    k label configmap made l=1
    k annotate configmap made n=1
    k patch configmap made --type=merge -p '{"data":{"p":"1"}}'
    k patch configmap made --type=json -p '[{"op":"add","path":"/data/j","value":"1"}]'
    k patch configmap made --type=strategic -p '{"data":{"s":"1"}}'
    [ "$(managers configmap made)" = "kubectl-annotate Update
kubectl-create Update
kubectl-label Update
kubectl-patch Update" ]
    [ "$(owns configmap made kubectl-patch)" = '{"f:data":{"f:j":{},"f:p":{},"f:s":{}}}' ]
    [ "$(owns configmap made kubectl-label)" = '{"f:metadata":{"f:labels":{".":{},"f:l":{}}}}' ]
    k label configmap made l=2 --overwrite --field-manager=labeller
    [ "$(owns configmap made labeller)" = '{"f:metadata":{"f:labels":{"f:l":{}}}}' ]
    k get configmap made -o json | sed 's/"a": "1"/"a": "2"/' | k replace -f -
    [ "$(owns configmap made kubectl-replace)" = '{"f:data":{"f:a":{}}}' ]
    KUBE_EDITOR=$(editor 's/  p: .*/  p: edited/') k edit configmap made
    [ "$(owns configmap made kubectl-edit)" = '{"f:data":{"f:p":{}}}' ]
    k create configmap named --from-literal=a=1 --field-manager=someone
    [ "$(managers configmap named)" = "someone Update" ]
}

@test "set, scale, rollout, expose and autoscale have their managers" {
    ssa <<<"$(web 2)"
    k set image deployment/web main=web:9
    k set env deployment/web EXTRA=1
    k scale deployment web --replicas=4
    k rollout restart deployment/web
    k rollout pause deployment/web
    [ "$(managers deployment web)" = "kubectl Apply
kubectl Update scale
kubectl-rollout Update
kubectl-set Update" ]
    [ "$(owns deployment web kubectl | tail -n 1)" = '{"f:spec":{"f:replicas":{}}}' ]
    k expose deployment web --port=80
    [ "$(managers service web)" = "kubectl-expose Update" ]
    k autoscale deployment web --max=3
    [ "$(managers hpa web)" = "kubectl-autoscale Update" ]
    k run one --image=one:1
    [ "$(managers pod one)" = "kubectl-run Update" ]
}

@test "scale takes replicas from the applier, and an apply without replicas keeps the number" {
    ssa <<<"$(web 2)"
    k scale deployment web --replicas=5
    run -1 ssa <<<"$(web 2)"
    says 'conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas'
    run -0 ssa <<<"$(web)"
    [ "$(k get deployment web -o jsonpath='{.spec.replicas}')" = 5 ]
    run -0 ssa --force-conflicts <<<"$(web 2)"
    [ "$(k get deployment web -o jsonpath='{.spec.replicas}')" = 2 ]
    never_says scale
}

@test "status of a subresource has an entry of its own" {
    ssa <<<"$(machine '"load":3')"
    k patch machine press --subresource=status --type=merge -p '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}'
    [ "$(managers machine press)" = "kubectl Apply
kubectl-patch Update status" ]
    hot='{"apiVersion":"factory.example.com/v1","kind":"Machine","metadata":{"name":"press"},"status":{"conditions":[{"type":"Hot","status":"False"}]}}'
    run -1 ssa --subresource=status --field-manager=sensor <<<"$hot"
    says 'conflict with "kubectl-patch" with subresource "status" using factory.example.com/v1: .status.conditions'
    run -0 ssa --subresource=status --field-manager=sensor --force-conflicts <<<"$hot"
    [ "$(owns machine press sensor)" = '{"f:status":{"f:conditions":{}}}' ]
    [ "$(k get machine press -o jsonpath='{.status.conditions[*].type}')" = Hot ]
}

@test "edit takes ownership of what it changes" {
    ssa <<<"$(settings '"colour":"blue","size":"1"')"
    KUBE_EDITOR=$(editor 's/colour: blue/colour: green/') run -0 k edit configmap settings
    says "configmap/settings edited"
    [ "$(owns configmap settings kubectl)" = '{"f:data":{"f:size":{}}}' ]
    [ "$(owns configmap settings kubectl-edit)" = '{"f:data":{"f:colour":{}}}' ]
    run -1 ssa <<<"$(settings '"colour":"blue","size":"1"')"
    says 'conflict with "kubectl-edit" using v1: .data.colour'
}

@test "patch with an empty entry removes all entries, and the next apply starts with before-first-apply" {
    ssa <<<"$(settings '"colour":"blue"')"
    k patch configmap settings --type=merge -p '{"metadata":{"managedFields":[{}]}}'
    [ -z "$(managers configmap settings)" ]
    run -1 ssa <<<"$(settings '"colour":"red"')"
    says 'conflict with "before-first-apply" using v1: .data.colour'
    run -0 ssa --force-conflicts <<<"$(settings '"colour":"red"')"
    [ "$(managers configmap settings)" = "before-first-apply Update
kubectl Apply" ]
    [ "$(owns configmap settings before-first-apply)" = '{"f:data":{}}' ]
}

# ---- from client-side to server-side ----

@test "client-side apply migrates to server-side apply without conflicts" {
    k apply -f - <<<"$(settings '"colour":"blue","size":"1"')"
    [ "$(managers configmap settings)" = "kubectl-client-side-apply Update" ]
    run -0 k apply view-last-applied configmap/settings
    says "colour: blue"
    run -0 ssa <<<"$(settings '"colour":"red","size":"1"')"
    says "configmap/settings serverside-applied"
    [ "$(k get configmap settings -o jsonpath='{.data}')" = '{"colour":"red","size":"1"}' ]
    # kubectl moves the annotation to an entry of its own.
    [ "$(managers configmap settings)" = "kubectl Apply
kubectl-last-applied Apply" ]
    [ "$(owns configmap settings kubectl)" = '{"f:data":{"f:colour":{},"f:size":{}}}' ]
    # A field that the manifest drops later is removed, though client-side apply wrote it.
    ssa <<<"$(settings '"colour":"red"')"
    [ "$(k get configmap settings -o jsonpath='{.data}')" = '{"colour":"red"}' ]
}

@test "server-side apply updates the annotation of client-side apply, and view-last-applied shows it" {
    k apply -f - <<<"$(settings '"colour":"blue"')"
    ssa <<<"$(settings '"colour":"green"')"
    run -0 k apply view-last-applied configmap/settings
    says "colour: green"
    run -0 k apply -f - <<<"$(settings '"colour":"yellow"')"
    says "configmap/settings configured"
    run -0 k apply view-last-applied configmap/settings -o json
    says '"colour": "yellow"'
}

@test "view-last-applied of an object of server-side apply is empty" {
    ssa <<<"$(settings '"colour":"blue"')"
    run -0 k apply view-last-applied configmap/settings
    [ -z "$output" ]
}

@test "client-side apply of a custom kind migrates to server-side apply" {
    k apply -f - <<<"$(machine '"load":3,"tools":[{"name":"saw","size":2}]')"
    run -0 ssa <<<"$(machine '"load":4,"tools":[{"name":"saw","size":3}]')"
    [ "$(k get machine press -o jsonpath='{.spec.load} {.spec.tools}')" = '4 [{"name":"saw","size":3}]' ]
    [ "$(managers machine press)" = "kubectl Apply
kubectl-last-applied Apply" ]
}

# ---- apply sets ----

# set_of ARGUMENT…: applies the manifest on standard input as the apply set `shop` and prunes.
# shellcheck disable=SC2120  # without arguments in most tests
set_of() { KUBECTL_APPLYSET=true k apply --server-side --prune --applyset=shop "$@" -f -; }

@test "apply set prunes objects that leave the manifest" {
    run -0 set_of <<<"$(web 2; echo ---; settings '"colour":"blue"'; printf '\n---\n'; machine '"load":3')"
    says "configmap/settings serverside-applied" "deployment.apps/web serverside-applied" "machine.factory.example.com/press serverside-applied"
    k create configmap other
    run -0 set_of <<<"$(settings '"colour":"blue"')"
    says "configmap/settings serverside-applied" "deployment.apps/web pruned" "machine.factory.example.com/press pruned"
    k get configmap other settings
    run -0 k get secret shop -o jsonpath='{.metadata.annotations}'
    says '"applyset.kubernetes.io/contains-group-kinds":"ConfigMap"' '"applyset.kubernetes.io/tooling":"kubectl/v'
    [ -n "$(k get secret shop -o jsonpath='{.metadata.labels.applyset\.kubernetes\.io/id}')" ]
    [ "$(k get configmap settings -o jsonpath='{.metadata.labels.applyset\.kubernetes\.io/part-of}')" = "$(k get secret shop -o jsonpath='{.metadata.labels.applyset\.kubernetes\.io/id}')" ]
}

@test "apply set in a dry run prunes nothing" {
    # shellcheck disable=SC2119
    set_of <<<"$(web 2; echo ---; settings '"colour":"blue"')"
    run -0 set_of --dry-run=server <<<"$(settings '"colour":"blue"')"
    says "configmap/settings serverside-applied (server dry run)" "deployment.apps/web pruned (server dry run)"
    k get deployment web
}

@test "apply set with a ConfigMap as its parent" {
    run -0 env KUBECTL_APPLYSET=true kubectl -n "$NS" apply --server-side --prune --applyset=configmaps/shop -f - <<<"$(settings '"colour":"blue"')"
    [ -n "$(k get configmap shop -o jsonpath='{.metadata.labels.applyset\.kubernetes\.io/id}')" ]
    run -0 env KUBECTL_APPLYSET=true kubectl -n "$NS" apply --server-side --prune --applyset=configmaps/shop -f - <<<"$(web 1)"
    says "deployment.apps/web serverside-applied" "configmap/settings pruned"
}

# ---- kustomize, wait, delete ----

@test "kustomize output is applied by server-side apply" {
    mkdir "$BATS_TEST_TMPDIR/kustom"
    cd "$BATS_TEST_TMPDIR/kustom"
    web 2 >web.yaml
    printf '%s\n' 'namePrefix: my-' 'resources: [web.yaml]' >kustomization.yaml
    run -0 k apply --server-side -k .
    says "deployment.apps/my-web serverside-applied"
    run -0 k diff --server-side -k .
}
