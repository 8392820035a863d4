#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# kubectl logs: what processes of pods have written, through the API server, from the node that runs them; and who else gets to see it.

setup_file() {
    load helpers
    server_start
    controllers_start --controllers=pods --pods=process --pods-dir="$SERVER/pods" --node-name=here "${UNSAFE[@]}"
    eventually kubectl get node here
}

teardown_file() { load helpers; each controllers_stop server_stop; }
# shellcheck disable=SC2016 # scripts expand in the pod
setup() { load helpers; namespace; job='' shared=''; }
teardown() {
    background_end
    [ ! -d "$shared" ] || rm -r "$shared"
}

# run_pod NAME SCRIPT [CONTAINERS]: on our node, once.
run_pod() {
    k create -f - <<<"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"$1\"},\"spec\":{\"nodeName\":\"here\",\"restartPolicy\":\"Never\",
        \"containers\":[{\"name\":\"main\",\"image\":\"none\",\"command\":[\"sh\",\"-c\",\"$2\"]}${3:-}]}}"
}

# shared_folder: $shared, a folder that containers of a pod and their attempts share: a volume, by $volumes and $mounts, or where the machine has
# no mount namespaces a folder of the machine.
shared_folder() {
    shared=/shared volumes='"volumes":[{"name":"v","emptyDir":{}}],' mounts='"volumeMounts":[{"name":"v","mountPath":"/shared"}],'
    ! mounts_work || return 0
    shared=$(mktemp -d) volumes='' mounts='' # Not below BATS_TEST_TMPDIR, which the users of pods cannot enter.
    chmod 777 "$shared"
}

phase_is() { [ "$(k get pod "$1" -o jsonpath='{.status.phase}')" = "$2" ]; }

@test "logs show the whole output of a container, or a part" {
    run_pod talk 'for i in 1 2 3 4 5; do echo line $i; done; echo to stderr >&2'
    eventually phase_is talk Succeeded
    [ "$(k logs talk | grep -c line)" -eq 5 ]
    k logs talk | grep -qx 'to stderr'
    [ "$(k logs talk --tail=2 | wc -l)" -eq 2 ]
    k logs talk --timestamps --tail=1 | grep -qE '^20[0-9]{2}-[0-9]{2}-[0-9]{2}T'
    [ "$(k logs talk --limit-bytes=4)" = line ]
    [ -z "$(k logs talk --since-time=2099-01-01T00:00:00Z)" ]
}

@test "logs --follow continues until the container ends" {
    shared_folder
    k create -f - <<<"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"count\"},\"spec\":{\"nodeName\":\"here\",\"restartPolicy\":\"Never\",
        $volumes\"containers\":[{\"name\":\"main\",\"image\":\"none\",$mounts
        \"command\":[\"sh\",\"-c\",\"echo first; until [ -e $shared/go ]; do sleep 0.1; done; echo last\"]}]}}"
    eventually phase_is count Running
    background k logs -f count
    eventually background_says '^first$'
    run ! background_says '^last$'
    local folder=$shared
    [ -d "$folder" ] || folder=$SERVER/pods/pods/$(k get pod count -o jsonpath='{.metadata.uid}')/.volumes/v
    touch "$folder/go"
    background_ends
    background_says '^last$'
}

@test "container name is required among several" {
    run_pod two 'echo a' ',{"name":"other","image":"none","command":["sh","-c","echo b"]}'
    eventually phase_is two Succeeded
    [ "$(k logs two -c other)" = b ]
    [ "$(k logs two --all-containers --prefix | grep -c '^\[pod/two/')" -eq 2 ]
    run ! k logs two -c nobody
    [[ "$output" == *"container nobody is not valid for pod two"* ]]
}

@test "log of the previous attempt is readable while the next runs" {
    shared_folder
    k create -f - <<<"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"again\"},\"spec\":{\"nodeName\":\"here\",\"restartPolicy\":\"OnFailure\",
        $volumes\"containers\":[{\"name\":\"main\",\"image\":\"none\",$mounts
        \"command\":[\"sh\",\"-c\",\"if [ -e $shared/x ]; then echo second; sleep 600; else touch $shared/x; echo first; exit 3; fi\"]}]}}"
    second() { [ "$(k logs again)" = second ]; }
    eventually second
    [ "$(k logs again --previous)" = first ]
    k delete pod again --now
}

@test "long log is complete" {
    run_pod long 'seq 1 200000'
    eventually phase_is long Succeeded
    [ "$(k logs long | sha256sum)" = "$(seq 1 200000 | sha256sum)" ]
}

@test "node answers the API server only" {
    run_pod secret 'echo hidden'
    eventually phase_is secret Succeeded
    port=$(kubectl get node here -o jsonpath='{.status.daemonEndpoints.kubeletEndpoint.Port}')
    url=https://127.0.0.1:$port/containerLogs/$NS/secret/main
    run curl -sk -w '%{http_code}' "$url"
    [[ "$output" == *401 ]]
    # The authority of clients is not the one of node connections, whatever name it signs.
    openssl req -new -newkey rsa:2048 -nodes -keyout "$BATS_TEST_TMPDIR/key" -subj /CN=kube-apiserver-kubelet-client -out "$BATS_TEST_TMPDIR/csr" 2>/dev/null
    openssl x509 -req -in "$BATS_TEST_TMPDIR/csr" -CA "$SERVER/root/certs/ca.crt" -CAkey "$SERVER/root/certs/ca.key" -days 1 -out "$BATS_TEST_TMPDIR/crt" 2>/dev/null
    run ! curl -sk --cert "$BATS_TEST_TMPDIR/crt" --key "$BATS_TEST_TMPDIR/key" "$url"
    run ! curl -sk --cert "$SERVER/root/certs/admin.crt" --key "$SERVER/root/certs/admin.key" "$url"
    never_says hidden
    run curl -sk --cert "$SERVER/root/certs/apiserver-kubelet-client.crt" --key "$SERVER/root/certs/apiserver-kubelet-client.key" "$url"
    [ "$output" = hidden ]
}

@test "node with another key is not contacted" {
    run_pod own 'echo mine'
    eventually phase_is own Succeeded
    key=$(kubectl get node here -o jsonpath='{.metadata.annotations.kubecontroller\.io/serving-key}')
    kubectl annotate --overwrite node here kubecontroller.io/serving-key=sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
    run ! k logs own
    kubectl annotate --overwrite node here "kubecontroller.io/serving-key=$key"
    [ "$(k logs own)" = mine ]
}

@test "forged ConfigMap of client CAs is restored and not read by nodes" {
    run_pod forged 'echo mine'
    eventually phase_is forged Succeeded
    map() { kubectl -n kube-system get configmap extension-apiserver-authentication -o jsonpath='{.data.client-ca-file}'; }
    before=$(map)
    [ "$before" = "$(cat "$SERVER/root/certs/ca.crt")" ]
    kubectl -n kube-system patch configmap extension-apiserver-authentication --type=merge -p '{"data":{"client-ca-file":"forged","other":"kept"}}'
    is_right() { [ "$(map)" = "$before" ]; }
    eventually is_right
    [ "$(kubectl -n kube-system get configmap extension-apiserver-authentication -o jsonpath='{.data.other}')" = kept ]
    kubectl -n kube-system delete configmap extension-apiserver-authentication
    eventually is_right
    [ "$(k logs forged)" = mine ]
}
