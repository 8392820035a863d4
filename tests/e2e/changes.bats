#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Changing objects with kubectl, over TLS: labels, patches, replacing, subresources, and what is a conflict.

setup_file() { load helpers; server_start; }
teardown_file() { load helpers; server_stop; }
setup() { load helpers; namespace; }

@test "labels are added, changed and removed" {
    k create configmap greeting
    run -0 k label configmap greeting tier=front
    says "configmap/greeting labeled"
    run -1 k label configmap greeting tier=back
    says "already has a value"
    k label --overwrite configmap greeting tier=back
    [ "$(k get configmap greeting -o jsonpath='{.metadata.labels.tier}')" = back ]
    run -0 k label configmap greeting tier-
    says "configmap/greeting unlabeled"
    [ -z "$(k get configmap greeting -o jsonpath='{.metadata.labels}')" ]
}

@test "annotations are added and removed" {
    k create configmap greeting
    run -0 k annotate configmap greeting note='any text, with = and : in it'
    says "configmap/greeting annotated"
    [ "$(k get configmap greeting -o jsonpath='{.metadata.annotations.note}')" = 'any text, with = and : in it' ]
    k annotate configmap greeting note-
    [ -z "$(k get configmap greeting -o jsonpath='{.metadata.annotations}')" ]
}

@test "invalid label is refused with the API's message" {
    k create configmap greeting
    run -1 k patch configmap greeting --type merge -p '{"metadata":{"labels":{"tier":"not a label"}}}'
    says 'The ConfigMap "greeting" is invalid: metadata.labels: Invalid value: "not a label"' "a valid label must be"
}

@test "merge patch changes, adds and removes fields" {
    k create configmap greeting --from-literal=keep=1 --from-literal=change=1 --from-literal=remove=1
    run -0 k patch configmap greeting --type merge -p '{"data":{"change":"2","remove":null,"add":"3"}}'
    says "configmap/greeting patched"
    [ "$(k get configmap greeting -o jsonpath='{.data}')" = '{"add":"3","change":"2","keep":"1"}' ]
}

@test "JSON patch with a failing test changes nothing" {
    k create configmap greeting --from-literal=a=1
    run -0 k patch configmap greeting --type json \
        -p '[{"op":"test","path":"/data/a","value":"1"},{"op":"replace","path":"/data/a","value":"2"}]'
    run -1 k patch configmap greeting --type json \
        -p '[{"op":"replace","path":"/data/a","value":"3"},{"op":"test","path":"/data/a","value":"1"}]'
    [ "$(k get configmap greeting -o jsonpath='{.data.a}')" = 2 ]
}

@test "patch without changes keeps the resourceVersion" {
    k create configmap greeting --from-literal=a=1
    before=$(k get configmap greeting -o jsonpath='{.metadata.resourceVersion}')
    run -0 k patch configmap greeting --type merge -p '{"data":{"a":"1"}}'
    says "configmap/greeting patched (no change)"
    [ "$(k get configmap greeting -o jsonpath='{.metadata.resourceVersion}')" = "$before" ]
}

@test "replace with a stale resourceVersion returns a conflict and changes nothing" {
    k create configmap greeting --from-literal=a=1
    k get configmap greeting -o yaml >"$BATS_TEST_TMPDIR/old.yaml"
    k patch configmap greeting --type merge -p '{"data":{"a":"2"}}'
    run -1 k replace --validate=false -f "$BATS_TEST_TMPDIR/old.yaml"
    says "Error from server (Conflict)" 'Operation cannot be fulfilled on configmaps "greeting": the object has been modified; please apply your changes to the latest version and try again'
    [ "$(k get configmap greeting -o jsonpath='{.data.a}')" = 2 ]
}

@test "replace with the current resourceVersion succeeds" {
    k create configmap greeting --from-literal=a=1
    k get configmap greeting -o yaml | sed 's/a: "1"/b: "2"/' >"$BATS_TEST_TMPDIR/new.yaml"
    run -0 k replace --validate=false -f "$BATS_TEST_TMPDIR/new.yaml"
    says "configmap/greeting replaced"
    [ "$(k get configmap greeting -o jsonpath='{.data}')" = '{"b":"2"}' ]
}

@test "replace of an absent object returns not found" {
    run -1 k replace --validate=false -f - <<<'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"nothing"}}'
    says "Error from server (NotFound)" 'configmaps "nothing" not found'
}

@test "changed replicas of a deployment increment its generation" {
    k create deployment web --image=example/web
    [ "$(k get deployment web -o jsonpath='{.metadata.generation}')" = 1 ]
    k patch deployment web --type merge -p '{"spec":{"replicas":5}}'
    [ "$(k get deployment web -o jsonpath='{.metadata.generation} {.spec.replicas}')" = "2 5" ]
    k label deployment web tier=front
    [ "$(k get deployment web -o jsonpath='{.metadata.generation}')" = 2 ]
}

@test "status subresource changes the status only" {
    k create deployment web --image=example/web
    k patch deployment web --subresource=status --type merge -p '{"status":{"replicas":4},"spec":{"replicas":9}}'
    [ "$(k get deployment web -o jsonpath='{.spec.replicas} {.status.replicas} {.metadata.generation}')" = "1 4 1" ]
    k patch deployment web --type merge -p '{"status":{"replicas":7}}'
    [ "$(k get deployment web -o jsonpath='{.status.replicas}')" = 4 ]
}

@test "dry run returns the result and stores nothing" {
    run -0 k create configmap greeting --dry-run=server -o json
    [ -n "$(field .metadata.uid <<<"$output")" ]
    run -1 k get configmap greeting
    says NotFound
    config_map greeting
    k patch configmap greeting --type merge -p '{"data":{"key":"other"}}' --dry-run=server
    [ "$(k get configmap greeting -o jsonpath='{.data.key}')" = value ]
    run -0 k delete configmap greeting --dry-run=server
    k get configmap greeting
}
