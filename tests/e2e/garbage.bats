#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What is deleted with its owner, as people do it: kubectl delete --cascade=background, foreground and orphan.

setup_file() {
    load helpers
    server_start
    controllers_start --controllers=garbagecollector
}

teardown_file() { load helpers; each controllers_stop server_stop; }
setup() { load helpers; namespace; job=; }
teardown() { background_end; }

is_there() { k get "$@" >/dev/null 2>&1; }
is_gone() { ! is_there "$@"; }

# reference RESOURCE NAME: an owner reference to it.
reference() {
    k get "$1" "$2" -o json | python3 -c 'import json, sys
o = json.load(sys.stdin)
print(json.dumps({"apiVersion": o["apiVersion"], "kind": o["kind"], "name": o["metadata"]["name"], "uid": o["metadata"]["uid"],
                  "blockOwnerDeletion": True}))'
}

# owned NAME REFERENCE[,REFERENCE…]: a ConfigMap of these owners.
owned() { k create -f - <<<"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"$1\",\"ownerReferences\":[$2]}}"; }

owners_of() { k get configmap "$1" -o jsonpath='{.metadata.ownerReferences[*].name}'; }
has_owners() { [ "$(owners_of "$1")" = "$2" ]; }

# An owner, its child, and the child's child.
family() {
    config_map owner
    owned child "$(reference configmap owner)"
    owned grandchild "$(reference configmap child)"
}

@test "background deletion deletes dependents after their owner" {
    family
    run -0 k delete configmap owner --cascade=background
    says "configmap \"owner\" deleted"
    is_gone configmap owner
    eventually is_gone configmap child
    eventually is_gone configmap grandchild
}

@test "background deletion is the default" {
    family
    k delete configmap owner
    eventually is_gone configmap grandchild
}

@test "foreground deletion of the owner waits for its dependents" {
    family
    k patch configmap grandchild --type=merge -p '{"metadata":{"finalizers":["example.com/hold"]}}'
    background k delete configmap owner --cascade=foreground
    is_waiting() { [ "$(k get configmap "$1" -o jsonpath='{.metadata.deletionTimestamp}{.metadata.finalizers}' | tail -c 22)" = '["foregroundDeletion"]' ]; }
    eventually is_waiting owner
    eventually is_waiting child
    is_there configmap grandchild
    kill -0 "$job"
    k patch configmap grandchild --type=merge -p '{"metadata":{"finalizers":null}}'
    background_ends
    is_gone configmap owner
    is_gone configmap child
    is_gone configmap grandchild
}

@test "orphans stay without their owner reference" {
    family
    config_map other
    owned shared "$(reference configmap owner),$(reference configmap other)"
    k delete configmap owner --cascade=orphan
    is_gone configmap owner
    has_owners child ""
    has_owners grandchild child
    has_owners shared other
}

@test "dependent of two owners stays until both are deleted" {
    config_map one
    config_map two
    owned child "$(reference configmap one),$(reference configmap two)"
    k delete configmap one
    eventually has_owners child two
    k delete configmap two
    eventually is_gone configmap child
}

@test "owner in another namespace deletes nothing and records an event" {
    config_map owner
    reference=$(reference configmap owner)
    kubectl create namespace "$NS-other"
    kubectl -n "$NS-other" create -f - <<<"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"far\",\"ownerReferences\":[$reference]}}"
    complained() { kubectl -n "$NS-other" events --for=configmap/far 2>/dev/null | grep -q OwnerRefInvalidNamespace; }
    eventually complained
    run -0 kubectl -n "$NS-other" events --for=configmap/far
    says Warning OwnerRefInvalidNamespace "ownerRef [v1/ConfigMap, namespace: $NS-other, name: owner, uid: " \
        "does not exist in namespace \"$NS-other\""
    k delete configmap owner --cascade=foreground
    kubectl -n "$NS-other" get configmap far
    run -0 kubectl -n "$NS-other" get events -o jsonpath='{.items[*].source.component}'
    says garbage-collector-controller
}

@test "custom objects are owners and dependents" {
    kubectl apply -f "$E2E/fixtures/machines.yaml"
    kubectl wait --for=condition=Established --timeout=90s crd/machines.factory.example.com
    k create -f - <<<'{"apiVersion":"factory.example.com/v1","kind":"Machine","metadata":{"name":"press"},"spec":{"load":3}}'
    owned settings "$(reference machine press)"
    k create -f - <<<"{\"apiVersion\":\"factory.example.com/v1\",\"kind\":\"Machine\",\"metadata\":{\"name\":\"lamp\",\"ownerReferences\":[$(reference \
        configmap settings)]},\"spec\":{\"load\":1}}"
    k delete machine press
    eventually is_gone configmap settings
    eventually is_gone machine lamp

    k create -f - <<<'{"apiVersion":"factory.example.com/v1","kind":"Machine","metadata":{"name":"lathe"},"spec":{"load":3}}'
    k create -f - <<<"{\"apiVersion\":\"factory.example.com/v1\",\"kind\":\"Machine\",\"metadata\":{\"name\":\"motor\",\"ownerReferences\":[$(reference \
        machine lathe)]},\"spec\":{\"load\":1}}"
    k delete machine lathe --cascade=orphan
    [ -z "$(k get machine motor -o jsonpath='{.metadata.ownerReferences}')" ]
    k delete machine motor --cascade=foreground
    is_gone machine motor
}

@test "deletions during an outage are collected later" {
    family
    controllers_stop
    k delete configmap owner
    config_map another
    owned late "$(reference configmap another)"
    k delete configmap another --cascade=background
    is_there configmap child
    controllers_start --controllers=garbagecollector
    eventually is_gone configmap late
    eventually is_gone configmap grandchild
}
