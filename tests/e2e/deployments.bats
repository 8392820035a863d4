#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Deployments as people use them through kubectl, with all controllers and pods that run on simulated nodes.

setup_file() {
    load helpers
    server_start
    controllers_start --pods=simulate --simulated-nodes=3
    eventually nodes_are_there
    # Whoever watches over nodes takes this off when it finds them ready; where nobody does, it is done here.
    kubectl taint nodes --all node.kubernetes.io/not-ready- >/dev/null 2>&1 || true
}

teardown_file() { load helpers; controllers_stop; server_stop; }
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

rolled_out() { k rollout status deployment/web --timeout=60s; }
of() { k get "$1" -o jsonpath="$2"; }
images() { of pods '{.items[*].spec.containers[0].image}'; }
count() { k get "$@" --no-headers 2>/dev/null | wc -l; }
# counts N WHAT…: there are so many.
counts() { [ "$(count "${@:2}")" -eq "$1" ]; }
pods_have() { [ "$(images | tr ' ' '\n' | sort -u)" = "$1" ]; }

@test "a deployment is created and rolled out" {
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

@test "a deployment is scaled up and down" {
    deployment 1
    k scale deployment web --replicas=5
    rolled_out
    counts 5 pods
    k scale deployment web --replicas=0
    eventually counts 0 pods
    [ "$(of deployment/web '{.metadata.annotations.deployment\.kubernetes\.io/revision}')" = 1 ]
}

@test "a new image is rolled out, and the history tells" {
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

@test "a roll-out is undone: the old set comes back with a new revision" {
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

@test "a restart replaces all pods" {
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

@test "a paused deployment waits, and goes on when it is resumed" {
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

@test "a roll-out that gets stuck is told, and can be undone" {
    deployment
    k patch deployment web --type=merge -p \
        '{"spec":{"progressDeadlineSeconds":2,"template":{"spec":{"nodeSelector":{"nowhere":"yes"}}}}}'
    run -1 k rollout status deployment/web --timeout=30s
    says 'deployment "web" exceeded its progress deadline'
    [ "$(of deployment/web '{.status.availableReplicas}')" = 2 ]
    k rollout undo deployment/web
    rolled_out
}

@test "recreating lets old pods go before new ones come" {
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

@test "applying the same again changes nothing" {
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

@test "a pod that is deleted is replaced, one whose label is taken off is left alone" {
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

@test "a deployment goes with its sets and pods" {
    deployment
    run -0 k delete deployment web
    says 'deployment.apps "web" deleted'
    eventually counts 0 replicasets
    eventually counts 0 pods
}

@test "in the foreground its sets and pods go first" {
    deployment
    run -0 timeout 30 kubectl -n "$NS" delete deployment web --cascade=foreground
    counts 0 replicasets
    counts 0 pods
}

@test "what it leaves behind is taken over by another one" {
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
