#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# `kc up` as a new user has it: one command, then kubectl. Each test has a folder of its own.

bats_require_minimum_version 1.5.0

setup() {
    load helpers
    cd "$E2E/../.." || return
    up_prepare
}

teardown() {
    [ -z "$pid" ] || down INT 0
}

# fails CODE FLAG…: it ends with this code and one line on standard error, which is in $output.
fails() {
    run --separate-stderr "-$1" timeout 20 "$KC" up --file-rootpath="$root" --secure-port="$secure" --insecure-port="$insecure" "${@:2}"
    # shellcheck disable=SC2154  # It is bats'.
    output=$stderr
    [ "${#stderr_lines[@]}" -eq 1 ] || { echo "$output"; return 1; }
}

@test "a fresh folder is ready at once, and says where it is and what to try" {
    up
    run -0 cat "$BATS_TEST_TMPDIR/out"
    says "kc is up, ready after" "$HTTP" "$HTTPS" "export KUBECONFIG=$root/admin.kubeconfig" "Ctrl-C"
    never_says $'\033'
    [ "$(grep -c '^ *kubectl' <<<"$output")" -eq 5 ]
    [ ! -s "$BATS_TEST_TMPDIR/err" ]
    down INT 0
    run -0 cat "$BATS_TEST_TMPDIR/out"
    says "kc has stopped; everything is kept in $root"
}

@test "what it says to try works as it is typed" {
    up
    local tries
    mapfile -t tries < <(grep -oE '^ *(export|kubectl) [^#]*' "$BATS_TEST_TMPDIR/out")
    [ "${#tries[@]}" -eq 6 ]
    for try in "${tries[@]}"; do
        echo "$try"
        works() { bash -c "$try"; }
        eventually works
    done
}

@test "what it says to try works in a folder of any name" {
    mkdir "$BATS_TEST_TMPDIR/it's here"
    root="$BATS_TEST_TMPDIR/it's here/data"
    up
    eval "$(grep -oE 'export KUBECONFIG=.*' "$BATS_TEST_TMPDIR/out")"
    [ "$KUBECONFIG" = "$root/admin.kubeconfig" ]
    kubectl get namespaces
}

@test "initial objects are there, and networks are kept in a service of its own" {
    up
    run -0 kubectl get users,teams,catalogs,binmetas
    says user.platform.kubecontroller.io/admin team.platform.kubecontroller.io/admins catalog.platform.kubecontroller.io/demo
    kubectl apply -f manifests/network/example
    networks=$(grep -oE 'http://127.0.0.1:[0-9]+/v1/networks' "$BATS_TEST_TMPDIR/out")
    known() { curl -sf "$networks" | grep -q 192.168.0.0/16; }
    eventually known
    down INT 0
    up --reconcilers='*,-network'
    run ! grep v1/networks "$BATS_TEST_TMPDIR/out"
}

@test "this machine needs no token, others do" {
    up --bind-address=0.0.0.0
    run -0 kubectl --kubeconfig=/dev/null -s "$HTTP" get namespaces
    says default kube-system
    run -0 kubectl get namespaces
    says default
    run -0 curl -sk -o /dev/null -w '%{http_code}' "$HTTPS/api/v1/namespaces"
    says 200
    other=$(hostname -I | tr ' ' '\n' | grep -m1 -E '^[0-9.]+$') || skip "this machine has no other address"
    run -7 curl -s --max-time 5 "http://$other:$insecure/api/v1/namespaces"
    run -0 curl -sk --max-time 5 -o /dev/null -w '%{http_code}' "https://$other:$secure/api/v1/namespaces"
    says 401
}

@test "a robot has its deployment 2/2, and an at runs its command" {
    up
    kubectl apply -f manifests/robot/cr.yaml -f manifests/at/cr.yaml
    eventually field_is deployment robot-one '{.status.readyReplicas}' 2
    run -0 kubectl get deployment robot-one
    [[ $output =~ robot-one\ +2/2 ]]
    eventually field_is at at-one '{.status.phase}' DONE
    [ "$(kubectl logs at-one-pod)" = YAY ]
    run -0 kubectl get nodes
    says Ready
}

# The hook of the sidecar reconciler has a port and a certificate of its own at each start.
# versions: of all objects that a start might write, but for a node and its lease.
versions() {
    kubectl get "$(kubectl api-resources --verbs=list -o name | grep -vE '^(nodes|leases|events|componentstatuses|mutatingwebhookconfigurations)' | paste -sd,)" -A \
        -o jsonpath='{range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name} {.metadata.resourceVersion}{"\n"}{end}' | sort
}

@test "a second start finds everything as it was, and writes nothing but its node" {
    up
    kubectl apply -f manifests/at/cr.yaml -f manifests/banana/cr.yaml -f manifests/network/example
    kubectl create configmap mine --from-literal=a=b
    eventually field_is at at-one '{.status.phase}' DONE
    eventually field_is banana banana-one '{.status.phase}' Success
    eventually field_is pod at-one-pod '{.status.phase}' Succeeded
    eventually field_is network example-network '{.status.ready}' true
    versions >"$BATS_TEST_TMPDIR/before"
    down INT 0
    up
    [ "$(kubectl logs at-one-pod)" = YAY ]
    versions | diff "$BATS_TEST_TMPDIR/before" -
    grep -q 'ConfigMap default/mine' "$BATS_TEST_TMPDIR/before"
    down TERM 0
}

# pods_of NAME: how many of its processes there are.
processes() { pgrep -cf "$BATS_TEST_TMPDIR/$1" || true; }

count_is() { [ "$(processes "$1")" -eq "$2" ]; }

a_process() {
    kubectl create -f - <<YAML
apiVersion: v1
kind: Pod
metadata: {name: long}
spec:
  terminationGracePeriodSeconds: 1
  containers: [{name: c, image: none, command: [tail, --follow=name, --retry, $BATS_TEST_TMPDIR/long]}]
YAML
}

@test "pods end with it, and run once after a crash" {
    up
    a_process
    eventually count_is long 1
    down INT 0
    count_is long 0
    up
    eventually count_is long 1
    kubectl create configmap kept
    kill -KILL "$pid"
    wait "$pid" || true
    up
    kubectl get configmap kept
    restarted() { [ "$(kubectl get pod long -o jsonpath='{.status.containerStatuses[0].restartCount}{.status.containerStatuses[0].ready}')" = 2true ]; }
    eventually restarted
    count_is long 1
    down TERM 0
    count_is long 0
}

@test "a second signal ends it at once" {
    up
    kill -STOP "$pid"
    until grep -q "^State:.T" "/proc/$pid/status"; do sleep 0.01; done
    kill -INT "$pid"
    kill -TERM "$pid"
    # Both wait for it; the kernel hands out the lower number first.
    local rc=0
    kill -CONT "$pid"
    wait "$pid" || rc=$?
    pid=
    [ "$rc" -eq 143 ]
}

@test "it stops in order when its terminal ends, unless it was told not to" {
    up
    down HUP 0
    (trap '' HUP && exec "$KC" up --file-rootpath="$root" --secure-port="$secure" --insecure-port="$insecure") \
        >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- 4>&- &
    pid=$!
    eventually up_is_ready
    kill -HUP "$pid"
    kubectl get namespaces
}

@test "a folder in use is told" {
    up
    local before=$secure
    up_ports
    fails 1
    says "kc up: $root/store is in use by process $pid"
    [ "$before" != "$secure" ]
}

@test "a port in use is told" {
    up
    root=$BATS_TEST_TMPDIR/other
    fails 1
    says "kc up: cannot listen on 127.0.0.1, port $secure"
}

@test "a folder that cannot be written to is told" {
    # Root may write everywhere, and others may not come to where bats works.
    local as=() closed
    closed=$(mktemp -d)
    cp "$KC" "$closed/kc"
    chmod 555 "$closed" "$closed/kc"
    [ "$(id -u)" -ne 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    run -1 "${as[@]}" "$closed/kc" up --file-rootpath="$closed/data"
    chmod 755 "$closed"
    rm -r "$closed"
    says "kc up: --file-rootpath: cannot make the folder $closed/data: Permission denied"
    touch "$BATS_TEST_TMPDIR/file"
    root=$BATS_TEST_TMPDIR/file
    fails 1
    says "is not a folder"
}

@test "mistakes are told, and leave nothing behind" {
    fails 2 --insecure-prot=1
    says "there is no flag '--insecure-prot'; did you mean '--insecure-port'?"
    fails 2 --without=hup
    says '--without: there is no part "hup"; did you mean "hub"?'
    fails 1 --reconcilers='*,-bananna'
    says 'there is no reconciler "bananna"; did you mean "banana"?'
    fails 1 -c /no/such.yaml
    says "cannot open /no/such.yaml"
    fails 2 --controllers='*,-schedular'
    says '--controllers: there is no controller "schedular"; did you mean "scheduler"?'
    fails 2 --insecure-addr=0.0.0.0
    says "would listen beyond this machine"
    [ ! -e "$root" ]
}

@test "its metrics are on one page" {
    up
    kubectl apply -f manifests/banana/cr.yaml
    eventually field_is banana banana-one '{.status.phase}' Success
    run -0 curl -sf "$HTTP/metrics"
    says 'kc_phase_transitions_total{reconciler="banana",phase="Success"} 1' apiserver_request_total workqueue_adds_total
}

@test "reconcilers need their definitions" {
    fails 1 --without=initial
    says "the server has no kind" "apply its CustomResourceDefinition first, or leave out the hub too: --without=hub,initial"
}

@test "parts are left out" {
    up --without=hub,pods
    kubectl apply -f manifests/robot/cr.yaml
    kubectl create deployment web --image=web
    waits() { kubectl get pods -l app=web | grep -q Pending; }
    eventually waits
    run -1 kubectl get deployment robot-one
    run -0 kubectl get nodes
    says "No resources found"
    down INT 0
    up --without=controllers,pods
    eventually field_is deployment robot-one '{.metadata.ownerReferences[0].kind}' Robot
    field_is deployment robot-one '{.status}' '{}'
}

@test "nodes may be simulated, and reconcilers chosen" {
    up --pods=simulate --simulated-nodes=3 --reconcilers='*,-banana'
    [ "$(kubectl get nodes -o name | wc -l)" -eq 3 ]
    kubectl apply -f manifests/robot/cr.yaml -f manifests/banana/cr.yaml
    eventually field_is deployment robot-one '{.status.readyReplicas}' 2
    field_is banana banana-one '{.status}' ''
}
