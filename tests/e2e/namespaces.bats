#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Namespaces, with the controllers that look after them: what a new one has, and how one goes with everything in it.

setup_file() {
    load helpers
    server_start
    kubectl apply -f "$E2E/fixtures/machines.yaml"
    kubectl wait --for=condition=Established --timeout=90s crd/machines.factory.example.com
    controllers_start --controllers=namespace,serviceaccount,root-ca
}

teardown_file() { load helpers; each controllers_stop server_stop; }
setup() { load helpers; namespace; job=; }
teardown() { background_end; }

machine() { k create -f - <<<"{\"apiVersion\":\"factory.example.com/v1\",\"kind\":\"Machine\",\"metadata\":{\"name\":\"$1\"},\"spec\":{\"load\":3}}"; }

# condition TYPE: its status, reason and message.
condition() {
    kubectl get namespace "$NS" -o jsonpath="{range .status.conditions[?(@.type=='$1')]}{.status} {.reason} {.message}{end}"
}

condition_is() { [ "$(condition "$1")" = "$2" ]; }
is_there() { k get "$@" >/dev/null 2>&1; }

@test "new namespace gets a service account, which is recreated when deleted" {
    eventually is_there serviceaccount default
    uid=$(k get serviceaccount default -o jsonpath='{.metadata.uid}')
    k delete serviceaccount default
    eventually is_there serviceaccount default
    [ "$(k get serviceaccount default -o jsonpath='{.metadata.uid}')" != "$uid" ]
}

@test "new namespace gets the root CA ConfigMap, which is restored when changed" {
    published_is_ours() {
        [ "$(k get configmap kube-root-ca.crt -o jsonpath='{.data.ca\.crt}')" = "$(kubectl config view --raw -o \
            jsonpath='{.clusters[0].cluster.certificate-authority-data}' | base64 -d)" ]
    }
    eventually published_is_ours
    k get configmap kube-root-ca.crt -o jsonpath='{.data.ca\.crt}' | openssl x509 -noout -subject
    run -0 k get configmap kube-root-ca.crt -o jsonpath='{.metadata.annotations.kubernetes\.io/description}'
    says "Contains a CA bundle that can be used to verify the kube-apiserver"
    k patch configmap kube-root-ca.crt --type=merge -p '{"data":{"ca.crt":"another"}}'
    eventually published_is_ours
    k delete configmap kube-root-ca.crt
    eventually published_is_ours
}

@test "deleted namespace is emptied, custom objects included" {
    config_map one
    config_map two
    k create deployment web --image=web:1
    k create secret generic key --from-literal=a=b
    machine press
    run -0 timeout 90 kubectl delete namespace "$NS"
    says "namespace \"$NS\" deleted"
    run -1 kubectl get namespace "$NS"
    says NotFound
    namespace
    run -0 k get all,machines,secrets
    says "No resources found"
    [ "$(k get configmaps -o name | grep -v kube-root-ca.crt)" = "" ]
}

@test "conditions show what keeps a namespace, and it is deleted afterwards" {
    machine press
    config_map one
    k patch machine press --type=merge -p '{"metadata":{"finalizers":["factory.example.com/brake"]}}'
    background kubectl delete namespace "$NS" --timeout=90s
    eventually condition_is NamespaceContentRemaining \
        "True SomeResourcesRemain Some resources are remaining: machines.factory.example.com has 1 resource instances"
    condition_is NamespaceFinalizersRemaining "True SomeFinalizersRemain Some content in the namespace has finalizers remaining:\
 factory.example.com/brake in 1 resource instances"
    condition_is NamespaceDeletionDiscoveryFailure "False ResourcesDiscovered All resources successfully discovered"
    run -0 kubectl describe namespace "$NS"
    says "Status:       Terminating" SomeFinalizersRemain
    run -1 k get configmap one
    run -1 k create configmap late
    says "because it is being terminated"
    k patch machine press --type=merge -p '{"metadata":{"finalizers":null}}'
    background_ends
    run -1 kubectl get namespace "$NS"
}

@test "foreign finalizers keep an empty namespace" {
    config_map one
    kubectl get namespace "$NS" -o json | sed 's|"kubernetes"$|"kubernetes", "example.com/mine"|' >"$BATS_TEST_TMPDIR/ns.json"
    kubectl replace --raw "/api/v1/namespaces/$NS/finalize" -f "$BATS_TEST_TMPDIR/ns.json"
    kubectl delete namespace "$NS" --wait=false
    only_mine_is_left() { [ "$(kubectl get namespace "$NS" -o jsonpath='{.spec.finalizers}')" = '["example.com/mine"]' ]; }
    eventually only_mine_is_left
    run -1 k get configmap one
    kubectl get namespace "$NS" -o json | sed '/example.com\/mine/d' >"$BATS_TEST_TMPDIR/ns.json"
    kubectl replace --raw "/api/v1/namespaces/$NS/finalize" -f "$BATS_TEST_TMPDIR/ns.json"
    run -1 kubectl get namespace "$NS"
}

@test "system namespaces cannot be deleted" {
    run -1 kubectl delete namespace kube-system
    says "this namespace may not be deleted"
}
