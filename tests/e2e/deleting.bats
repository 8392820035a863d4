#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Deleting, and waiting: cascades (as far as the server itself goes: finalizers that a garbage collector would take away), grace, dry runs;
# what kubectl waits for.

setup_file() {
    load helpers
    server_start
    kubectl apply -f "$E2E/fixtures/machines.yaml"
    kubectl wait --for=condition=Established --timeout=90s crd/machines.factory.example.com
}

teardown_file() { load helpers; server_stop; }
setup() { load helpers; namespace; job=; }
teardown() { background_end; }

machine() { k create -f - <<<"{\"apiVersion\":\"factory.example.com/v1\",\"kind\":\"Machine\",\"metadata\":{\"name\":\"$1\"},\"spec\":{\"load\":3}}"; }

# pod NAME [NODE]: one that runs on a node, or waits for one.
pod() {
    api "/api/v1/namespaces/$NS/pods" -f -o /dev/null -H 'Content-Type: application/json' \
        -d "{\"metadata\":{\"name\":\"$1\"},\"spec\":{\"nodeName\":\"${2:-}\",\"containers\":[{\"name\":\"main\",\"image\":\"img\"}]}}"
}

release() { k patch "$1" "$2" --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'; }

@test "foreground deletion waits for dependents" {
    k create deployment web --image=web:1
    machine press
    for object in "deployment web" "machine press"; do
        read -r kind name <<<"$object"
        k delete "$kind" "$name" --cascade=foreground --wait=false
        [ "$(k get "$kind" "$name" -o jsonpath='{.metadata.finalizers}')" = '["foregroundDeletion"]' ]
        [ -n "$(k get "$kind" "$name" -o jsonpath='{.metadata.deletionTimestamp}')" ]
        release "$kind" "$name"
        run -1 k get "$kind" "$name"
    done
}

@test "orphaning deletion waits until the dependents are released" {
    k create deployment web --image=web:1
    k delete deployment web --cascade=orphan --wait=false
    [ "$(k get deployment web -o jsonpath='{.metadata.finalizers}')" = '["orphan"]' ]
    release deployment web
    run -1 k get deployment web
}

@test "background deletion returns at once" {
    k create deployment web --image=web:1
    run -0 k delete deployment web --cascade=background
    says 'deployment.apps "web" deleted'
    run -1 k get deployment web
}

@test "pod on a node has a grace period, and --force deletes it at once" {
    pod slow node-1
    k delete pod slow --grace-period=5 --wait=false
    [ "$(k get pod slow -o jsonpath='{.metadata.deletionGracePeriodSeconds}')" = 5 ]
    run -0 k get pod slow --no-headers
    says Terminating
    run -0 k delete pod slow --force --grace-period=0
    says "Immediate deletion does not wait for confirmation" 'pod "slow" force deleted'
    run -1 k get pod slow
    pod default node-1
    k delete pod default --wait=false
    [ "$(k get pod default -o jsonpath='{.metadata.deletionGracePeriodSeconds}')" = 30 ]
    k delete pod default --now --wait=false
    [ "$(k get pod default -o jsonpath='{.metadata.deletionGracePeriodSeconds}')" = 1 ]
}

@test "pod without a node is deleted at once" {
    pod waiting
    k delete pod waiting
    run -1 k get pod waiting
}

@test "delete several kinds, by manifest, by label and by field" {
    config_map one '"set":"x"'
    machine press
    k label machine press set=x
    run -0 k delete configmaps,machines -l set=x
    says 'configmap "one" deleted' 'machine.factory.example.com "press" deleted'
    config_map one
    config_map two
    k delete configmaps --field-selector metadata.name=one
    [ "$(k get configmaps -o name)" = configmap/two ]
    k get configmap two -o yaml >"$BATS_TEST_TMPDIR/two.yaml"
    k delete -f "$BATS_TEST_TMPDIR/two.yaml"
    run -1 k delete -f "$BATS_TEST_TMPDIR/two.yaml"
    says 'configmaps "two" not found'
    k delete -f "$BATS_TEST_TMPDIR/two.yaml" --ignore-not-found
}

@test "dry run of delete changes nothing" {
    config_map one
    run -0 k delete configmap one --dry-run=server
    says 'configmap "one" deleted (server dry run)'
    k get configmap one
}

# ---- waiting ----

@test "wait for a condition, also of a custom object" {
    machine press
    background k wait machine/press --for=condition=Ready --timeout=90s
    k patch machine press --subresource=status --type=merge -p '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}'
    background_ends
    background_says "machine.factory.example.com/press condition met"
    k wait machine/press --for=condition=Ready=true --timeout=90s
    run -1 k wait machine/press --for=condition=Broken --timeout=1s
    says "timed out waiting for the condition on machines/press"
}

@test "wait for creation and for deletion" {
    background k wait configmap/late --for=create --timeout=90s
    config_map late
    background_ends
    background_says "configmap/late condition met"
    background k wait configmap/late --for=delete --timeout=90s
    k delete configmap late
    background_ends
    k wait configmap/never --for=delete --timeout=90s
}

@test "wait for a field to have a value, or any value" {
    machine press
    k wait machine/press --for=jsonpath='{.spec.mode}'=slow --timeout=90s
    k wait machine/press --for=jsonpath='{.spec.load}' --timeout=90s
    background k wait machines --all --for=jsonpath='{.status.conditions[0].type}'=Ready --timeout=90s
    k patch machine press --subresource=status --type=merge -p '{"status":{"conditions":[{"type":"Ready"}]}}'
    background_ends
}
