#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# kubectl auth, create role and --as, on a server with its default authorization: Node and RBAC.

setup_file() { load helpers; server_start; }
teardown_file() { load helpers; server_stop; }
setup() { load helpers; namespace; }

# alice: kubectl as the user of the token file.
alice() { kubectl --kubeconfig /dev/null -s "$HTTPS" --insecure-skip-tls-verify --token usertoken -n "$NS" "$@"; }

@test "user without roles is forbidden" {
    run -1 alice get pods
    says "Error from server (Forbidden): pods is forbidden: User \"alice\" cannot list resource \"pods\" in API group \"\" in the namespace \"$NS\""
    run -1 alice get nodes
    says 'nodes is forbidden: User "alice" cannot list resource "nodes" in API group "" at the cluster scope'
    run -1 alice get --raw /metrics
    says 'forbidden: User "alice" cannot get path "/metrics"'
}

@test "role and binding of kubectl are in effect at once" {
    k create role reader --verb=get,list --resource=pods,configmaps
    k create rolebinding reader --role=reader --user=alice
    run -0 alice get pods
    run -1 alice delete configmap x
    says 'configmaps "x" is forbidden'
    k delete rolebinding reader
    run -1 alice get pods
}

@test "cluster role edit works in its namespace only" {
    k create rolebinding edit --clusterrole=edit --group=dev
    run -0 alice create configmap a
    run -1 alice create configmap a -n default
    run -1 alice create role r --verb=get --resource=pods
    says 'roles.rbac.authorization.k8s.io is forbidden'
}

@test "auth can-i" {
    k create role reader --verb=get --resource=pods/log,pods --resource-name=one
    k create rolebinding reader --role=reader --user=alice
    [ "$(k auth can-i delete secrets)" = yes ]
    [ "$(alice auth can-i get pods/one)" = yes ]
    [ "$(alice auth can-i get pods/one --subresource=log)" = yes ]
    run -1 alice auth can-i get pods/two
    says no
    run -1 alice auth can-i get /metrics
    says no
    [ "$(k auth can-i get pods/one --as alice)" = yes ]
    run -1 k auth can-i get pods/two --as alice
}

@test "auth can-i --list" {
    k create role reader --verb=get --resource=pods --resource-name=one
    k create rolebinding reader --role=reader --user=alice
    run -0 alice auth can-i --list
    says 'selfsubjectaccessreviews.authorization.k8s.io' '/healthz'
    [[ $output =~ pods[[:space:]]+\[\][[:space:]]+\[one\][[:space:]]+\[get\] ]]
}

@test "auth whoami" {
    run -0 alice auth whoami
    says alice dev system:authenticated
    run -0 k auth whoami --as system:serviceaccount:default:robot -o 'jsonpath={.status.userInfo.groups}'
    says '["system:serviceaccounts","system:serviceaccounts:default","system:authenticated"]'
}

@test "auth reconcile adds rules and subjects, and keeps others" {
    k create role r --verb=get --resource=pods
    k create rolebinding r --role=r --user=bob
    cat >"$BATS_TEST_TMPDIR/r.yaml" <<YAML
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: r, namespace: $NS}
rules: [{verbs: [list], apiGroups: [""], resources: [pods]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: r, namespace: $NS}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: alice}]
YAML
    run -0 k auth reconcile -f "$BATS_TEST_TMPDIR/r.yaml"
    says "role.rbac.authorization.k8s.io/r reconciled" "rolebinding.rbac.authorization.k8s.io/r reconciled"
    [ "$(k get role r -o 'jsonpath={.rules[*].verbs[*]}')" = "get list" ]
    [ "$(k get rolebinding r -o 'jsonpath={.subjects[*].name}')" = "bob alice" ]
    run -0 alice get pods
}

@test "user cannot give rights that the user lacks" {
    k create role writer --verb=create,update,patch,get --resource=roles,rolebindings
    k create rolebinding writer --role=writer --user=alice
    run -1 alice create role all --verb='*' --resource='*.*'
    says 'is attempting to grant RBAC permissions not currently held:' '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}'
    run -1 alice create rolebinding admin --clusterrole=admin --user=alice
    says 'is attempting to grant RBAC permissions not currently held:'
}

@test "impersonation needs permission" {
    run -1 alice --as bob get pods
    says 'users "bob" is forbidden: User "alice" cannot impersonate resource "users" in API group "" at the cluster scope'
    run -1 k --as bob get pods
    says 'User "bob" cannot list resource "pods"'
    run -1 k --as bob --as-group system:masters --as-uid 7 --as-group other get nodes/none
    says 'nodes "none" not found'
}

@test "aggregated role gathers the rules of matching roles" {
    k create clusterrole "$NS-all" --aggregation-rule="to=$NS"
    k create clusterrole "$NS-part" --verb=get --resource=nodes
    k label clusterrole "$NS-part" "to=$NS"
    gathered() { [ "$(k get clusterrole "$NS-all" -o 'jsonpath={.rules[0].resources[0]}')" = nodes ]; }
    eventually gathered
    k create clusterrolebinding "$NS-all" --clusterrole="$NS-all" --user=alice
    run -1 alice get node none
    says 'nodes "none" not found'
}
