#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The life of objects as kubectl leads it, over TLS with the administrator's kubeconfig that the server wrote.

setup_file() { load helpers; server_start; }
teardown_file() { load helpers; server_stop; }
setup() { load helpers; namespace; job=; }
teardown() { background_end; }

@test "created object is read back unchanged" {
    run -0 k create configmap greeting --from-literal=text=hello
    says "configmap/greeting created"
    [ "$(k get configmap greeting -o jsonpath='{.data.text}')" = hello ]
}

@test "new object has its server-set fields" {
    k create configmap greeting
    run -0 k get configmap greeting -o json
    [ "$(field .metadata.namespace <<<"$output")" = "$NS" ]
    [[ $(field .metadata.uid <<<"$output") =~ ^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$ ]]
    [[ $(field .metadata.resourceVersion <<<"$output") =~ ^[0-9]+$ ]]
    [[ $(field .metadata.creationTimestamp <<<"$output") =~ ^20[0-9-]{8}T[0-9:]{8}Z$ ]]
}

@test "object is the same as YAML and as JSON" {
    k create configmap greeting --from-literal=text=hello
    run -0 k get configmap greeting -o yaml
    says "apiVersion: v1" "kind: ConfigMap" "  text: hello" "  name: greeting" "  namespace: $NS"
    run -0 k get configmap greeting -o json
    says '"kind": "ConfigMap"' '"text": "hello"'
}

@test "table has name and age, also with -o wide" {
    k create configmap greeting
    run -0 k get configmaps
    says NAME AGE greeting
    run -0 k get configmaps -o wide
    says NAME AGE greeting
    [ "$(k get configmaps -o name)" = configmap/greeting ]
}

@test "objects are created from YAML on standard input" {
    run -0 k create --validate=false -f - <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: first}
data:
  lines: |
    one
    two
---
apiVersion: v1
kind: Secret
metadata: {name: second}
stringData: {password: open sesame}
YAML
    says "configmap/first created" "secret/second created"
    [ "$(k get configmap first -o jsonpath='{.data.lines}')" = $'one\ntwo' ]
    [ "$(k get secret second -o jsonpath='{.data.password}' | base64 -d)" = "open sesame" ]
}

@test "several kinds and groups are read in one command" {
    k create configmap one
    k create deployment two --image=example/image
    run -0 k get configmap/one deployment/two -o name
    says configmap/one deployment.apps/two
}

@test "deployment, pod, service and job are created as kubectl does" {
    run -0 k create deployment web --image=example/web --replicas=3 --port=8080
    run -0 k run once --image=example/once --restart=Never
    run -0 k create service clusterip web --tcp=80:8080
    run -0 k create job work --image=example/work -- true
    run -0 k create cronjob nightly --image=example/work --schedule='0 3 * * *' -- true
    run -0 k create role reader --verb=get,list --resource=pods
    run -0 k create serviceaccount robot
    [ "$(k get deployment web -o jsonpath='{.spec.replicas}')" = 3 ]
    [ "$(k get pod once -o jsonpath='{.spec.containers[0].image}')" = example/once ]
    [ "$(k get service web -o jsonpath='{.spec.ports[0].targetPort}')" = 8080 ]
    [ "$(k get cronjob nightly -o jsonpath='{.spec.schedule}')" = '0 3 * * *' ]
    [ "$(k get role reader -o jsonpath='{.rules[0].verbs[1]}')" = list ]
}

@test "second object of the same name is refused" {
    k create configmap greeting
    run -1 k create configmap greeting
    says 'error: failed to create configmap: configmaps "greeting" already exists'
}

@test "absent object is not found by name" {
    run -1 k get configmap nothing
    says 'Error from server (NotFound): configmaps "nothing" not found'
    run -1 k get deployment nothing
    says 'Error from server (NotFound): deployments.apps "nothing" not found'
    run -1 k delete configmap nothing
    says 'Error from server (NotFound): configmaps "nothing" not found'
    run -0 k get configmap nothing --ignore-not-found
    [ -z "$output" ]
}

@test "unserved resource is named in the error" {
    run -1 k get unicorns
    says "error: the server doesn't have a resource type \"unicorns\""
}

@test "empty list is reported" {
    run -0 k get configmaps
    says "No resources found in $NS namespace."
}

@test "object is deleted by name" {
    k create configmap greeting
    run -0 k delete configmap greeting
    says 'configmap "greeting" deleted'
    run -1 k get configmap greeting
}

@test "objects are deleted by label, and others stay" {
    config_map one '"tier":"front"'
    config_map two '"tier":"back"'
    config_map three '"tier":"front"'
    run -0 k delete configmaps -l tier=front
    says 'configmap "one" deleted' 'configmap "three" deleted'
    [ "$(k get configmaps -o name)" = configmap/two ]
}

@test "all objects of a kind are deleted in one namespace only" {
    config_map one
    config_map two
    kubectl create configmap "$NS" -n default
    run -0 k delete configmaps --all
    says 'configmap "one" deleted' 'configmap "two" deleted'
    [ -z "$(k get configmaps -o name)" ]
    kubectl -n default delete configmap "$NS"
}

@test "finalizer keeps an object until it is removed" {
    config_map held
    k patch configmap held --type merge -p '{"metadata":{"finalizers":["example.com/hold"]}}'
    k delete configmap held --wait=false
    [ -n "$(k get configmap held -o jsonpath='{.metadata.deletionTimestamp}')" ]
    background k wait configmap/held --for=delete --timeout=90s
    k patch configmap held --type json -p '[{"op":"remove","path":"/metadata/finalizers"}]'
    background_ends
    run -1 k get configmap held
}

@test "wait returns when a field gets its value" {
    config_map greeting
    background k wait configmap/greeting --for=jsonpath='{.data.state}'=done --timeout=90s
    k patch configmap greeting --type merge -p '{"data":{"state":"done"}}'
    background_ends
    background_says "configmap/greeting condition met"
}

@test "wait times out" {
    config_map greeting
    run -1 k wait configmap/greeting --for=jsonpath='{.data.state}'=done --timeout=1s
    says "timed out waiting for the condition on configmaps/greeting"
}

@test "namespace is created and used" {
    run -0 kubectl create namespace "$NS-more"
    says "namespace/$NS-more created"
    [ "$(kubectl get namespace "$NS-more" -o jsonpath='{.status.phase} {.spec.finalizers[0]}')" = "Active kubernetes" ]
    kubectl -n "$NS-more" create configmap greeting
}

@test "deleted namespace is terminating and refuses creates" {
    kubectl create namespace "$NS-gone"
    run -0 kubectl delete namespace "$NS-gone" --wait=false
    says "namespace \"$NS-gone\" deleted"
    [ "$(kubectl get namespace "$NS-gone" -o jsonpath='{.status.phase}')" = Terminating ]
    run -1 kubectl -n "$NS-gone" create configmap late
    says "is forbidden: unable to create new content in namespace $NS-gone because it is being terminated"
}

@test "create in a missing namespace is refused" {
    run -1 kubectl -n nowhere create configmap greeting
    says 'namespaces "nowhere" not found'
}

@test "the four system namespaces exist" {
    run -0 kubectl get namespaces -o name
    says namespace/default namespace/kube-system namespace/kube-public namespace/kube-node-lease
}

@test "generated names are unique" {
    for _ in 1 2 3; do
        run -0 k create --validate=false -f - <<<'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"many-"}}'
    done
    [ "$(k get configmaps -o name | grep -cE '^configmap/many-[a-z0-9]{5}$')" = 3 ]
}

@test "events are listed" {
    k create --validate=false -f - <<YAML
apiVersion: v1
kind: Event
metadata: {name: greeting.1}
involvedObject: {apiVersion: v1, kind: ConfigMap, name: greeting, namespace: $NS}
reason: Greeted
message: somebody said hello
type: Normal
YAML
    run -0 k get events
    says Greeted configmap/greeting 'somebody said hello'
    run -0 k get events -o jsonpath='{.items[0].reason}'
    says Greeted
}
