#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Nodes that are lost: what kubectl shows of them, and how their pods are replaced. Nodes are simulated, each by a process of its own, which
# is killed to lose it.

setup_file() {
    load helpers
    server_start
    controllers_start --controllers='*,-pods' --node-monitor-grace-period=15s
    node_start steady
}

teardown_file() {
    load helpers
    node_kill steady
    each controllers_stop server_stop
}

setup() { load helpers; namespace; node=; }
teardown() { [ -z "$node" ] || { node_kill "$node"; kubectl delete node "$node-0" --ignore-not-found; }; }

# node_start NAME: a simulated node, which is called NAME-0.
node_start() {
    "$KC" controllers --kubeconfig="$KUBECONFIG" --leader-elect=false --controllers=pods --pods=simulate --node-name="$1" \
        >>"$SERVER/nodes.err" 2>&1 3>&- 4>&- &
    echo $! >"$SERVER/node-$1.pid"
    eventually node_is "$1" True
}

# node_kill NAME: without a word of farewell.
node_kill() {
    [ ! -e "$SERVER/node-$1.pid" ] || kill -KILL "$(cat "$SERVER/node-$1.pid")" 2>/dev/null || true
    rm -f "$SERVER/node-$1.pid"
}

node_is() { [ "$(kubectl get node "$1-0" -o jsonpath="{.status.conditions[?(@.type=='Ready')].status}" 2>/dev/null)" = "$2" ]; }
has_taint() { kubectl get node "$node-0" -o jsonpath='{range .spec.taints[*]}{.key}:{.effect}{"\n"}{end}' | grep -qx "$1"; }
has_no_taint() { ! has_taint "$1"; }

# pod NAME [SECONDS]: on the test's node; unreachable is tolerated for so long.
pod() {
    k create -f - <<EOF
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "$1"}, "spec": {
  "nodeName": "$node-0", "containers": [{"name": "main", "image": "web:1"}], "terminationGracePeriodSeconds": 1, "tolerations": [
    {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": ${2:-300}},
    {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": ${2:-300}}]}}
EOF
}

pod_ready_is() { [ "$(k get pod "$1" -o jsonpath="{.status.conditions[?(@.type=='Ready')].status}")" = "$2" ]; }
pod_is_leaving() { [ -n "$(k get pod "$1" -o jsonpath='{.metadata.deletionTimestamp}')" ]; }
event_says() { k get events --field-selector "reason=$1" | grep -qF -- "$2"; }
is_gone() { ! k get "$@" >/dev/null 2>&1; }

@test "lost node is NotReady, and Ready when it returns" {
    node=wobbly
    node_start $node
    pod web
    eventually pod_ready_is web True
    node_kill $node
    eventually node_is $node Unknown
    run -0 kubectl get node $node-0
    says NotReady
    run -0 kubectl describe node $node-0
    says "NodeStatusUnknown" "Kubelet stopped posting node status."
    eventually has_taint node.kubernetes.io/unreachable:NoSchedule
    eventually has_taint node.kubernetes.io/unreachable:NoExecute
    eventually pod_ready_is web False
    eventually event_says NodeNotReady "Node is not ready"
    node_start $node
    eventually has_no_taint node.kubernetes.io/unreachable:NoExecute
    eventually pod_ready_is web True
    run -0 k get pod web
    says Running
}

@test "pods of a lost node are evicted after their toleration seconds" {
    node=fragile
    node_start $node
    pod hasty 1
    pod patient
    eventually pod_ready_is hasty True
    node_kill $node
    eventually node_is $node Unknown
    eventually pod_is_leaving hasty
    run -0 k get pod hasty -o jsonpath="{.status.conditions[?(@.type=='DisruptionTarget')].reason}"
    says DeletionByTaintManager
    eventually event_says TaintManagerEviction "Marking for deletion Pod $NS/hasty"
    [ -z "$(k get pod patient -o jsonpath='{.metadata.deletionTimestamp}')" ]
    kubectl taint node $node-0 node.kubernetes.io/out-of-service=down:NoExecute
    LIMIT=300 eventually is_gone pod hasty
}

@test "pods of a lost node are replaced on another node" {
    node=doomed
    kubectl cordon steady-0
    node_start $node
    k create -f - <<'EOF'
{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
  "replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}, "spec": {
    "containers": [{"name": "main", "image": "web:1"}], "tolerations": [
      {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}]}}}}
EOF
    k rollout status deployment/web --timeout=90s
    [ "$(k get pods -o jsonpath='{.items[*].spec.nodeName}')" = "doomed-0 doomed-0" ]
    kubectl uncordon steady-0
    node_kill $node
    on_the_other() { [ "$(k get pods --field-selector spec.nodeName=steady-0,status.phase=Running -o name | wc -l)" -eq 2 ]; }
    LIMIT=300 eventually on_the_other
    k rollout status deployment/web --timeout=90s
}

@test "cordoned node is tainted until it is uncordoned" {
    node=calm
    node_start $node
    kubectl cordon $node-0
    eventually has_taint node.kubernetes.io/unschedulable:NoSchedule
    kubectl uncordon $node-0
    eventually has_no_taint node.kubernetes.io/unschedulable:NoSchedule
}
