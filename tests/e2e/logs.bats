#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# kubectl logs: what processes of pods have written, through the API server, from the node that runs them; and who else gets to see it.

setup_file() {
    load helpers
    server_start
    controllers_start --controllers=pods --pods=process --pods-folder="$SERVER/pods" --node-name=here
    eventually kubectl get node here
}

teardown_file() { load helpers; controllers_stop; server_stop; }
# shellcheck disable=SC2016 # scripts expand in the pod
setup() { load helpers; namespace; }

# run_pod NAME SCRIPT [CONTAINERS]: on our node, once.
run_pod() {
    k create -f - <<<"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"$1\"},\"spec\":{\"nodeName\":\"here\",\"restartPolicy\":\"Never\",
        \"containers\":[{\"name\":\"main\",\"image\":\"none\",\"command\":[\"sh\",\"-c\",\"$2\"]}${3:-}]}}"
}
phase_is() { [ "$(k get pod "$1" -o jsonpath='{.status.phase}')" = "$2" ]; }

@test "logs show what a container has written, all of it or a part" {
    run_pod talk 'for i in 1 2 3 4 5; do echo line $i; done; echo to stderr >&2'
    eventually phase_is talk Succeeded
    [ "$(k logs talk | grep -c line)" -eq 5 ]
    k logs talk | grep -qx 'to stderr'
    [ "$(k logs talk --tail=2 | wc -l)" -eq 2 ]
    k logs talk --timestamps --tail=1 | grep -qE '^20[0-9]{2}-[0-9]{2}-[0-9]{2}T'
    [ "$(k logs talk --limit-bytes=4)" = line ]
    [ -z "$(k logs talk --since-time=2099-01-01T00:00:00Z)" ]
}

@test "logs follow a container until it ends" {
    run_pod count 'for i in 1 2 3 4 5 6; do echo $i; sleep 0.3; done'
    eventually phase_is count Running
    [ "$(timeout 20 kubectl -n "$NS" logs -f count | tail -n 1)" = 6 ]
}

@test "a container among several must be named" {
    run_pod two 'echo a' ',{"name":"other","image":"none","command":["sh","-c","echo b"]}'
    eventually phase_is two Succeeded
    [ "$(k logs two -c other)" = b ]
    [ "$(k logs two --all-containers --prefix | grep -c '^\[pod/two/')" -eq 2 ]
    run ! k logs two -c nobody
    [[ "$output" == *"container nobody is not valid for pod two"* ]]
}

@test "the attempt before is there while its successor runs" {
    k create -f - <<<'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"again"},"spec":{"nodeName":"here","restartPolicy":"OnFailure",
        "volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"main","image":"none","volumeMounts":[{"name":"v","mountPath":"/tmp"}],
        "command":["sh","-c","if [ -e /tmp/x ]; then echo second; sleep 60; else touch /tmp/x; echo first; exit 3; fi"]}]}}'
    second() { [ "$(k logs again)" = second ]; }
    eventually second
    [ "$(k logs again --previous)" = first ]
    k delete pod again --now
}

@test "a long log comes whole" {
    run_pod long 'seq 1 200000'
    eventually phase_is long Succeeded
    [ "$(k logs long | sha256sum)" = "$(seq 1 200000 | sha256sum)" ]
}

@test "nobody but the API server is answered by a node" {
    run_pod secret 'echo hidden'
    eventually phase_is secret Succeeded
    port=$(kubectl get node here -o jsonpath='{.status.daemonEndpoints.kubeletEndpoint.Port}')
    url=https://127.0.0.1:$port/containerLogs/$NS/secret/main
    run curl -sk -w '%{http_code}' "$url"
    [[ "$output" == *401 ]]
    # The administrator's certificate is of the same authority, and not the API server's.
    run curl -sk -w '%{http_code}' --cert "$SERVER/root/certs/admin.crt" --key "$SERVER/root/certs/admin.key" "$url"
    [[ "$output" == *401 ]]
    run curl -sk --cert "$SERVER/root/certs/apiserver-kubelet-client.crt" --key "$SERVER/root/certs/apiserver-kubelet-client.key" "$url"
    [ "$output" = hidden ]
}

@test "a node with another key is not talked to" {
    run_pod own 'echo mine'
    eventually phase_is own Succeeded
    key=$(kubectl get node here -o jsonpath='{.metadata.annotations.kubecontroller\.io/serving-key}')
    kubectl annotate --overwrite node here kubecontroller.io/serving-key=sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
    run ! k logs own
    kubectl annotate --overwrite node here "kubecontroller.io/serving-key=$key"
    [ "$(k logs own)" = mine ]
}
