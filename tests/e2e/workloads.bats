#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What kubectl does through subresources: scaling, draining a node, autoscalers of both versions; and what a scheduler writes.

setup_file() { load helpers; server_start; }
teardown_file() { load helpers; server_stop; }
setup() { load helpers; namespace; job=; }
teardown() { background_end; }

replicas() { k get "$1" -o jsonpath='{.spec.replicas}'; }

# pod NAME NODE [OWNER]: a pod that runs there.
pod() {
    k create -f - <<EOF
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {app: $1}}
spec: {nodeName: $2, containers: [{name: c, image: example/c}]}
EOF
    k patch pod "$1" --subresource=status --type merge \
        -p '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}'
}

@test "deployment is scaled" {
    k create deployment web --image=example/web
    run -0 k scale deployment web --replicas=3
    says "deployment.apps/web scaled"
    [ "$(replicas deployment/web)" = 3 ]
    [ "$(k get deployment web -o jsonpath='{.metadata.generation}')" = 2 ]
    run -0 k get deployment web --subresource=scale
    says DESIRED AVAILABLE "web"
}

@test "deployment is scaled only from the expected size" {
    k create deployment web --image=example/web --replicas=2
    run -1 k scale deployment web --current-replicas=5 --replicas=3
    says "Expected replicas to be 5, was 2"
    [ "$(replicas deployment/web)" = 2 ]
    k scale deployment web --current-replicas=2 --replicas=3
    [ "$(replicas deployment/web)" = 3 ]
}

@test "deployment is scaled only from the expected resourceVersion" {
    k create deployment web --image=example/web
    version=$(k get deployment web -o jsonpath='{.metadata.resourceVersion}')
    k label deployment web tier=front
    run -1 k scale deployment web --resource-version="$version" --replicas=3
    says "$version"
    [ "$(replicas deployment/web)" = 1 ]
    k scale deployment web --resource-version="$(k get deployment web -o jsonpath='{.metadata.resourceVersion}')" --replicas=3
    [ "$(replicas deployment/web)" = 3 ]
}

@test "every workload is scaled" {
    k create -f - <<'EOF'
apiVersion: v1
kind: List
items:
- apiVersion: apps/v1
  kind: ReplicaSet
  metadata: {name: web}
  spec: &spec
    selector: {matchLabels: {app: web}}
    template: &template {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: example/c}]}}
- apiVersion: apps/v1
  kind: StatefulSet
  metadata: {name: web}
  spec: {serviceName: web, <<: *spec}
- apiVersion: v1
  kind: ReplicationController
  metadata: {name: web}
  spec: {selector: {app: web}, template: *template}
EOF
    for kind in replicaset statefulset replicationcontroller; do
        run -0 k scale "$kind" web --replicas=4
        says scaled
        [ "$(replicas "$kind/web")" = 4 ]
    done
    run -0 k scale replicaset/web statefulset/web --replicas=0
    [ "$(replicas replicaset/web)$(replicas statefulset/web)" = 00 ]
}

@test "scale is patched as a subresource" {
    k create deployment web --image=example/web
    run -0 k patch deployment web --subresource=scale --type merge -p '{"spec":{"replicas":6}}'
    [ "$(replicas deployment/web)" = 6 ]
    run -1 k patch deployment web --subresource=scale --type merge -p '{"spec":{"replicas":-1}}'
    says "spec.replicas: Invalid value: -1: must be greater than or equal to 0"
}

@test "binding assigns a pod to a node once" {
    k run p --image=example/c
    binding='{"apiVersion":"v1","kind":"Binding","metadata":{"name":"p"},"target":{"kind":"Node","name":"node-1"}}'
    run -0 api "/api/v1/namespaces/$NS/pods/p/binding" -H 'Content-Type: application/json' -d "$binding"
    says '"status": "Success"'
    [ "$(k get pod p -o jsonpath='{.spec.nodeName}')" = node-1 ]
    k wait --for=condition=PodScheduled pod/p --timeout=90s
    run -0 api "/api/v1/namespaces/$NS/pods/p/binding" -H 'Content-Type: application/json' -d "$binding"
    says 'pod p is already assigned to node \"node-1\"'
}

@test "ephemeral container is added, and a pod is resized" {
    k run p --image=example/c --overrides='{"spec":{"containers":[{"name":"p","image":"example/c","resources":{"requests":{"cpu":"1"}}}]}}'
    k debug p --image=example/debug --container=look --target=p --attach=false
    [ "$(k get pod p -o jsonpath='{.spec.ephemeralContainers[*].name}')" = look ]
    run -0 k patch pod p --subresource=resize -p '{"spec":{"containers":[{"name":"p","resources":{"requests":{"cpu":"2"}}}]}}'
    [ "$(k get pod p -o jsonpath='{.spec.containers[0].resources.requests.cpu}')" = 2 ]
}

@test "node is drained as far as budgets allow" {
    kubectl create -f - <<<"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"$NS\"}}"
    pod free "$NS"
    pod guarded "$NS"
    k create poddisruptionbudget guard --selector=app=guarded --min-available=1
    k patch poddisruptionbudget guard --subresource=status --type merge \
        -p '{"status":{"observedGeneration":1,"disruptionsAllowed":0,"currentHealthy":1,"desiredHealthy":1,"expectedPods":1}}'
    # Nobody runs on the node who would end the pods, so a grace period would never pass.
    background kubectl drain "$NS" --force --grace-period=0
    eventually background_says "evicting pod $NS/free"
    eventually background_says "Cannot evict pod as it would violate the pod's disruption budget."
    gone() { ! k get pod free; }
    eventually gone
    k get pod guarded
    # It tries again every five seconds.
    k patch poddisruptionbudget guard --subresource=status --type merge -p '{"status":{"disruptionsAllowed":1}}'
    background_ends
    background_says "pod/guarded evicted"
    background_says "node/$NS drained"
    [ "$(k get poddisruptionbudget guard -o jsonpath='{.status.disruptionsAllowed}')" = 0 ]
}

@test "autoscaler is readable in both versions" {
    k create deployment web --image=example/web
    k autoscale deployment web --min=2 --max=5 --cpu-percent=60
    [ "$(k get horizontalpodautoscalers.v1.autoscaling web -o jsonpath='{.spec.targetCPUUtilizationPercentage}')" = 60 ]
    [ "$(k get horizontalpodautoscalers.v2.autoscaling web \
        -o jsonpath='{.spec.metrics[0].resource.target.averageUtilization}')" = 60 ]
    run -0 k get hpa web
    says "Deployment/web" "cpu: <unknown>/60%"
    k patch horizontalpodautoscalers.v2.autoscaling web --type merge \
        -p '{"spec":{"metrics":[{"type":"External","external":{"metric":{"name":"q"},"target":{"type":"Value","value":"3"}}}]}}'
    k label horizontalpodautoscalers.v1.autoscaling web seen=old
    [ "$(k get hpa web -o jsonpath='{.spec.metrics[*].type} {.metadata.labels.seen}')" = "External old" ]
    run -0 k describe hpa web
    says "Deployment/web"
}
