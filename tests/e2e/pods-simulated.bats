#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Pods on simulated nodes, as people see them with kubectl.

setup_file() {
    load helpers
    server_start
    controllers_start --controllers=pods --pods=simulate --simulated-nodes=3
    eventually kubectl get node simulated-2
}

teardown_file() { load helpers; each controllers_stop server_stop; }
setup() { load helpers; namespace; job=; }
teardown() { background_end; }

# run_pod NAME FLAG…: a pod on the first node.
run_pod() {
    local name=$1
    shift
    k run "$name" --image=web:1 --overrides='{"spec":{"nodeName":"simulated-0"}}' "$@"
}

# column NAME FIELD: of `kubectl get pod`.
column() { k get pod "$1" --no-headers | awk "{print \$$2}"; }
column_is() { [ "$(column "$1" "$2")" = "$3" ]; }

@test "nodes are ready and have capacity" {
    run -0 kubectl wait --for=condition=Ready --timeout=90s node --all
    run -0 kubectl get nodes --no-headers
    [ "${#lines[@]}" -eq 3 ]
    says simulated-0 simulated-1 simulated-2 Ready v1.34
    run -0 kubectl get nodes -o wide
    says 172.16.0.1 simulated://1.0
    run -0 kubectl get lease -n kube-node-lease simulated-1 -o jsonpath='{.spec.holderIdentity}'
    [ "$output" = simulated-1 ]
    run -0 kubectl describe node simulated-0
    says "kubelet is posting ready status" "KubeletHasSufficientMemory" "kubernetes.io/hostname=simulated-0"
    grep -qE "pods: +1k" <<<"$output"
}

@test "pod bound to a node runs" {
    run_pod web
    run -0 k wait --for=condition=Ready --timeout=90s pod/web
    [ "$(column web 2)" = 1/1 ]
    [ "$(column web 3)" = Running ]
    run -0 k get pod web -o wide
    says simulated-0 10.0.
    described() { k describe pod web | grep -q "Started container web"; }
    eventually described
    run -0 k describe pod web
    says "Status:       Running" "Started:" "Ready:          True" "kubelet" "Created container: web" "simulated://"
}

@test "deleted pod is removed when its containers have stopped" {
    run_pod web
    k wait --for=condition=Ready --timeout=90s pod/web
    run -0 timeout 90 kubectl -n "$NS" delete pod web
    says 'pod "web" deleted'
    run -1 k get pod web
    says NotFound
}

@test "pod that finishes is completed" {
    run_pod work --restart=Never --annotations=simulate.kubecontroller.io/run-for=1s
    eventually column_is work 3 Completed
    run -0 k get pod work -o jsonpath='{.status.phase} {.status.containerStatuses[0].state.terminated.exitCode}'
    [ "$output" = "Succeeded 0" ]
    [ "$(column work 2)" = 0/1 ]
}

@test "failed pod is reported, and repeated failures back off" {
    run_pod once --restart=Never --annotations=simulate.kubecontroller.io/exit-code=3
    eventually column_is once 3 Error
    run_pod loop --annotations=simulate.kubecontroller.io/exit-code=3
    eventually column_is loop 3 CrashLoopBackOff
    run -0 k get pod loop -o jsonpath='{.status.containerStatuses[0].lastState.terminated.exitCode}'
    [ "$output" = 3 ]
    backed_off() { k get events | grep -q "Back-off restarting failed container loop in pod loop_$NS"; }
    eventually backed_off
}

@test "pod waits for its ConfigMap" {
    k create -f - <<END
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"nodeName": "simulated-1", "containers": [{"name": "web", "image": "web:1",
 "envFrom": [{"configMapRef": {"name": "settings"}}]}]}}
END
    eventually column_is web 3 CreateContainerConfigError
    k create configmap settings --from-literal=a=b
    eventually column_is web 3 Running
}

@test "pod over the capacity of the node is refused" {
    run_pod greedy --overrides='{"spec":{"nodeName":"simulated-0","containers":[{"name":"greedy","image":"x","resources":{"requests":{"cpu":"1000"}}}]}}'
    eventually column_is greedy 3 OutOfcpu
    run -0 k describe pod greedy
    says "Pod was rejected: Node didn't have enough resource: cpu, requested: 1000000, used: 0, capacity: 256000"
    k delete pod greedy --timeout=90s
}

@test "readiness follows a probe" {
    # A watch, which is there when the pod is created, shows every state.
    k run marker --image=web:1
    background k get pods -w --no-headers
    eventually background_says '^marker '
    k create -f - <<END
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "annotations": {"simulate.kubecontroller.io/ready-after": "2s"}},
 "spec": {"nodeName": "simulated-2", "containers": [{"name": "web", "image": "web:1", "readinessProbe": {"tcpSocket": {"port": 80}, "periodSeconds": 1}}]}}
END
    run -0 k wait --for=condition=Ready --timeout=90s pod/web
    eventually background_says '^web +1/1 +Running'
    background_says '^web +0/1 +Running'
    unhealthy() { k get events | grep -q "Readiness probe failed"; }
    eventually unhealthy
}

@test "deleted node registers again" {
    uid=$(kubectl get node simulated-2 -o jsonpath='{.metadata.uid}')
    kubectl delete node simulated-2
    again() { [ "$(kubectl get node simulated-2 -o jsonpath='{.metadata.uid}' 2>/dev/null)" != "$uid" ] && kubectl get node simulated-2 >/dev/null 2>&1; }
    eventually again
}

@test "pods continue after a restart of the runner" {
    run_pod web
    k wait --for=condition=Ready --timeout=90s pod/web
    version=$(k get pod web -o jsonpath='{.metadata.resourceVersion}')
    controllers_stop
    controllers_start --controllers=pods --pods=simulate --simulated-nodes=3
    run_pod other
    run -0 k wait --for=condition=Ready --timeout=90s pod/other
    [ "$(k get pod web -o jsonpath='{.metadata.resourceVersion}')" = "$version" ]
    [ "$(k get pod web -o jsonpath='{.status.podIP}')" != "$(k get pod other -o jsonpath='{.status.podIP}')" ]
    k delete pod web other --timeout=90s
}
