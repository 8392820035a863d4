#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Deployments as people use them through kubectl, with all controllers and pods that run on simulated nodes.

setup_file() {
    load helpers
    server_start
    controllers_start --pods=simulate --simulated-nodes=3
    eventually nodes_are_there
    # The node lifecycle controller removes this taint from ready nodes; it does not run here, so the test removes it.
    kubectl taint nodes --all node.kubernetes.io/not-ready- >/dev/null 2>&1 || true
}

teardown_file() { load helpers; each controllers_stop server_stop; }
setup() { load helpers; namespace; }

# shows PATTERN…: as `says`, for patterns.
shows() {
    local pattern
    for pattern in "$@"; do
        grep -qE -- "$pattern" <<<"$output" || { printf 'missing: %s\nin:\n%s\n' "$pattern" "$output"; return 1; }
    done
}

never_shows() {
    if grep -E -- "$1" <<<"$output"; then return 1; fi
}

nodes_are_there() { [ "$(kubectl get nodes --no-headers 2>/dev/null | wc -l)" -eq 3 ]; }

# deployment [REPLICAS]: one that has come to its end.
deployment() {
    k create deployment web --image=web:1 --replicas="${1:-2}"
    rolled_out
}

rolled_out() { k rollout status deployment/web --timeout=90s; }
of() { k get "$1" -o jsonpath="$2"; }
images() { of pods '{.items[*].spec.containers[0].image}'; }
count() { k get "$@" --no-headers 2>/dev/null | wc -l; }
# counts N WHAT…: there are so many.
counts() { [ "$(count "${@:2}")" -eq "$1" ]; }
pods_have() { [ "$(images | tr ' ' '\n' | sort -u)" = "$1" ]; }

@test "deployment is created and rolled out" {
    k create deployment web --image=web:1 --replicas=3
    run -0 rolled_out
    says 'deployment "web" successfully rolled out'
    run -0 k get deployment web
    shows "web +3/3 +3 +3"
    run -0 k get replicasets
    shows "web-[bcdfghjklmnpqrstvwxz2456789]{5,10} +3 +3 +3"
    run -0 k get pods
    shows "1/1 +Running"
    run -0 k describe deployment web
    shows "3 desired \| 3 updated \| 3 total \| 3 available \| 0 unavailable" "Available +True +MinimumReplicasAvailable" \
        "Progressing +True +NewReplicaSetAvailable" "deployment-controller +Scaled up replica set web-.* from 0 to 3"
    run -0 k describe replicaset
    shows "Controlled By: +Deployment/web" "replicaset-controller +Created pod: web-" "3 Running / 0 Waiting"
}

@test "deployment is scaled up and down" {
    deployment 1
    k scale deployment web --replicas=5
    rolled_out
    counts 5 pods
    k scale deployment web --replicas=0
    eventually counts 0 pods
    [ "$(of deployment/web '{.metadata.annotations.deployment\.kubernetes\.io/revision}')" = 1 ]
}

@test "new image is rolled out and recorded in the history" {
    deployment 3
    run -0 k set image deployment/web web=web:2
    says "deployment.apps/web image updated"
    rolled_out
    eventually pods_have web:2
    k annotate deployment web kubernetes.io/change-cause="the second one"
    eventually history_says "2 +the second one"
    run -0 k rollout history deployment/web
    shows "1 +<none>" "2 +the second one"
    run -0 k rollout history deployment/web --revision=1
    shows "Image:.*web:1" "pod-template-hash="
    counts 2 replicasets
}

history_says() { k rollout history deployment/web | grep -qE "$1"; }

@test "undone rollout reuses the old ReplicaSet with a new revision" {
    deployment
    first=$(of replicasets '{.items[0].metadata.name}')
    k set image deployment/web web=web:2
    rolled_out
    run -0 k rollout undo deployment/web
    says "deployment.apps/web rolled back"
    rolled_out
    eventually pods_have web:1
    counts 2 replicasets
    [ "$(of "replicaset/$first" '{.metadata.annotations.deployment\.kubernetes\.io/revision}')" = 3 ]
    [ "$(of "replicaset/$first" '{.metadata.annotations.deployment\.kubernetes\.io/revision-history}')" = 1 ]
    run -0 k rollout history deployment/web
    shows "^2 " "^3 "
    never_shows "^1 "
    k rollout undo deployment/web --to-revision=2
    rolled_out
    eventually pods_have web:2
    run -1 k rollout undo deployment/web --to-revision=77
    says "unable to find specified revision 77 in history"
}

@test "restart replaces all pods" {
    deployment
    before=$(of pods '{.items[*].metadata.uid}')
    run -0 k rollout restart deployment/web
    says "deployment.apps/web restarted"
    rolled_out
    eventually counts 2 pods
    for uid in $before; do
        [[ "$(of pods '{.items[*].metadata.uid}')" != *"$uid"* ]]
    done
}

@test "paused deployment waits until it is resumed" {
    deployment
    run -0 k rollout pause deployment/web
    says "deployment.apps/web paused"
    k set image deployment/web web=web:2
    k scale deployment web --replicas=3
    eventually counts 3 pods
    pods_have web:1
    counts 1 replicasets
    run -0 k rollout resume deployment/web
    says "deployment.apps/web resumed"
    rolled_out
    eventually pods_have web:2
    eventually counts 3 pods
}

@test "stuck rollout is reported and can be undone" {
    deployment
    k patch deployment web --type=merge -p \
        '{"spec":{"progressDeadlineSeconds":2,"template":{"spec":{"nodeSelector":{"nowhere":"yes"}}}}}'
    run -1 k rollout status deployment/web --timeout=90s
    says 'deployment "web" exceeded its progress deadline'
    [ "$(of deployment/web '{.status.availableReplicas}')" = 2 ]
    k rollout undo deployment/web
    rolled_out
}

@test "recreate strategy deletes old pods before it creates new ones" {
    k create -f - <<'EOF'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  strategy: {type: Recreate}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web:1}]}
EOF
    rolled_out
    k set image deployment/web web=web:2
    rolled_out
    pods_have web:2
    counts 2 pods
}

@test "applying an unchanged deployment changes nothing" {
    cat >"$BATS_TEST_TMPDIR/web.yaml" <<'EOF'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:1", resources: {requests: {cpu: 100m}}}]}
EOF
    k apply -f "$BATS_TEST_TMPDIR/web.yaml"
    rolled_out
    pods=$(of pods '{.items[*].metadata.uid}')
    run -0 k apply -f "$BATS_TEST_TMPDIR/web.yaml"
    says unchanged
    [ "$(of pods '{.items[*].metadata.uid}')" = "$pods" ]
    run -0 k rollout history deployment/web
    never_shows "^2 "
}

@test "deleted pod is replaced, and a pod without the label is released" {
    deployment
    pod=$(of pods '{.items[0].metadata.name}')
    k delete pod "$pod" --wait=false
    eventually replaced "$pod"
    rolled_out
    pod=$(of pods '{.items[0].metadata.name}')
    k label pod "$pod" app-
    eventually counts 2 pods -l app=web
    run -0 k get pod "$pod" -o jsonpath='{.metadata.ownerReferences}'
    [ -z "$output" ]
}

replaced() { ! k get pod "$1" >/dev/null 2>&1 && counts 2 pods; }

@test "background deletion of a deployment deletes its ReplicaSets and pods" {
    deployment
    run -0 k delete deployment web
    says 'deployment.apps "web" deleted'
    eventually counts 0 replicasets
    eventually counts 0 pods
}

@test "foreground deletion of a deployment deletes its ReplicaSets and pods first" {
    deployment
    run -0 timeout 90 kubectl -n "$NS" delete deployment web --cascade=foreground
    counts 0 replicasets
    counts 0 pods
}

@test "orphaned ReplicaSets are adopted by a new deployment" {
    deployment
    set=$(of replicasets '{.items[0].metadata.name}')
    pods=$(of pods '{.items[*].metadata.uid}')
    k delete deployment web --cascade=orphan
    eventually orphaned "$set"
    deployment
    [ "$(of "replicaset/$set" '{.metadata.ownerReferences[0].name}')" = web ]
    counts 1 replicasets
    [ "$(of pods '{.items[*].metadata.uid}')" = "$pods" ]
}

orphaned() { [ -z "$(of "replicaset/$1" '{.metadata.ownerReferences}')" ]; }

# managers KIND NAME: MANAGER/SUBRESOURCE of its managedFields, sorted.
managers() {
    kubectl -n "${3:-$NS}" get "$1" ${2:+"$2"} --show-managed-fields \
        -o jsonpath='{range .metadata.managedFields[*]}{.manager}/{.subresource}{"\n"}{end}' | LC_ALL=C sort -u | tr '\n' ' '
}

@test "controllers write as the components of Kubernetes that they correspond to" {
    local pod node
    deployment 1
    [[ $(managers deployment web) == *'kube-controller-manager/status '* ]]
    [[ $(managers deployment web) == *'kubectl-create/ '* ]]
    [ "$(managers "$(k get replicasets -o name)" '')" = 'kube-controller-manager/ kube-controller-manager/status ' ]
    pod=$(k get pods -o jsonpath='{.items[0].metadata.name}')
    [ "$(managers pod "$pod")" = 'kube-controller-manager/ kubelet/status ' ]
    node=$(k get pod "$pod" -o jsonpath='{.spec.nodeName}')
    [[ $(managers node "$node") == *'kubelet/ '* ]]
    [ "$(managers lease "$node" kube-node-lease)" = 'kubelet/ ' ]
    k run stuck --image=web:1 --overrides='{"spec":{"nodeSelector":{"no":"where"}}}'
    eventually unschedulable
    [ "$(managers pod stuck)" = 'kube-scheduler/status kubectl-run/ ' ]
}

unschedulable() { [ "$(k get pod stuck -o jsonpath='{.status.conditions[0].reason}')" = Unschedulable ]; }
