#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Pods get nodes, or say why not. Nodes are made by hand: nothing runs on them, but what is bound is bound.

setup_file() {
    load helpers
    server_start
    controllers_start --controllers=scheduler
}

teardown_file() {
    load helpers
    each controllers_stop server_stop
}

setup() {
    load helpers
    namespace
}

# Every test has nodes of its own, some of one name: what is bound to them goes with them.
teardown() {
    k delete pods --all --force --grace-period=0 >/dev/null 2>&1
    kubectl delete nodes --all >/dev/null
}

# node NAME [CPU [LABEL…]]: a ready one. It is tainted when it is new, until a controller has seen that it is ready.
node() {
    local name=$1 cpu=${2:-4}
    kubectl create -f - <<EOF
apiVersion: v1
kind: Node
metadata: {name: $name, labels: {kubernetes.io/hostname: $name}}
EOF
    kubectl patch node "$name" --subresource=status --type merge \
        -p "{\"status\":{\"allocatable\":{\"cpu\":\"$cpu\",\"memory\":\"8Gi\",\"pods\":\"110\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"
    [ $# -lt 3 ] || kubectl label node "$name" "${@:3}"
    kubectl taint node "$name" node.kubernetes.io/not-ready-
}

# pod NAME CPU [SPEC]: SPEC in JSON, with a comma before it.
pod() {
    k create -f - <<EOF
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"$1","labels":{"app":"$1"}},
 "spec":{"containers":[{"name":"c","image":"example/c","resources":{"requests":{"cpu":"$2"}}}]${3:-}}}
EOF
}

node_of() { k get pod "$1" -o jsonpath='{.spec.nodeName}'; }
is_on() { [ "$(node_of "$1")" = "$2" ]; }
is_bound() { [ -n "$(node_of "$1")" ]; }
why() { k get pod "$1" -o jsonpath='{.status.conditions[?(@.type=="PodScheduled")].message}'; }
waits_for() { [[ "$(why "$1")" == *"$2"* ]]; }
has_event() { [[ "$(k describe pod "$1")" == *"$2"* ]]; }

@test "pod is scheduled, and describe shows the event" {
    node only
    pod web 100m
    eventually is_on web only
    eventually has_event web "Successfully assigned $NS/web to only"
    run -0 k describe pod web
    says "Node:" "only" "Scheduled" "default-scheduler"
    [ "$(k get pod web -o jsonpath='{.status.conditions[?(@.type=="PodScheduled")].status}')" = True ]
}

@test "pods are spread over nodes" {
    node one
    node two
    for i in 1 2 3 4; do pod "p$i" 1; done
    for i in 1 2 3 4; do eventually is_bound "p$i"; done
    run -0 k get pods -o jsonpath='{.items[*].spec.nodeName}'
    [ "$(tr ' ' '\n' <<<"$output" | sort | uniq -c | tr -s ' \n' ' ')" = " 2 one 2 two " ]
}

@test "unschedulable pod reports the reason and is scheduled when resources are free" {
    pod web 2
    eventually waits_for web "no nodes available to schedule pods"
    node small 1
    eventually waits_for web "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    eventually has_event web "FailedScheduling"
    run -0 k get pods
    says "Pending"
    node large 4
    eventually is_on web large
}

@test "taints exclude pods without a toleration" {
    node only
    kubectl taint node only dedicated=db:NoSchedule
    pod web 100m
    pod db 100m ',"tolerations":[{"key":"dedicated","value":"db"}]'
    eventually is_on db only
    eventually waits_for web "1 node(s) had untolerated taint {dedicated: db}"
    kubectl taint node only dedicated-
    eventually is_on web only
}

@test "node selector selects the node" {
    node one 4 disk=hdd
    node two 4 disk=ssd
    pod web 100m ',"nodeSelector":{"disk":"ssd"}'
    pod odd 100m ',"nodeSelector":{"disk":"tape"}'
    eventually is_on web two
    eventually waits_for odd "2 node(s) didn't match Pod's node affinity/selector"
    kubectl label node one disk=tape --overwrite
    eventually is_on odd one
}

@test "cordoned node gets no pods until it is uncordoned" {
    node only
    kubectl cordon only
    pod web 100m
    eventually waits_for web "1 node(s) were unschedulable"
    kubectl uncordon only
    eventually is_on web only
}

@test "drained node gets no pods" {
    node one
    pod web 100m
    eventually is_on web one
    node two
    # Nothing on it ends pods.
    kubectl drain one --force --grace-period=0 --timeout=90s --disable-eviction
    pod web 100m
    eventually is_on web two
}

@test "scheduling gates hold a pod" {
    node only
    pod web 100m ',"schedulingGates":[{"name":"example.com/wait"}]'
    eventually waits_for web "Scheduling is blocked due to non-empty scheduling gates"
    run -0 k get pod web
    says "SchedulingGated"
    k patch pod web --type json -p '[{"op":"remove","path":"/spec/schedulingGates"}]'
    eventually is_on web only
}

@test "pods with anti-affinity run on different nodes" {
    node one
    node two
    apart=',"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchExpressions":[{"key":"app","operator":"Exists"}]}}]}}'
    for i in 1 2; do pod "p$i" 100m "$apart"; done
    for i in 1 2; do eventually is_bound "p$i"; done
    [ "$(node_of p1)" != "$(node_of p2)" ]
    pod p3 100m "$apart"
    eventually waits_for p3 "2 node(s) didn't match pod anti-affinity rules"
}

@test "higher priority pod preempts a lower one" {
    node only 1
    kubectl create priorityclass "high-$BATS_TEST_NUMBER" --value=1000
    pod low 800m ',"terminationGracePeriodSeconds":0'
    eventually is_on low only
    pod high 800m ",\"priorityClassName\":\"high-$BATS_TEST_NUMBER\",\"priority\":1000"
    eventually is_on high only
    run ! k get pod low
}
