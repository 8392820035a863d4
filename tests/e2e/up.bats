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
    up_end
}

# fails CODE FLAG…: it ends with this code and one line on standard error, which is in $output.
fails() {
    run --separate-stderr "-$1" timeout 90 "$KC" up --file-rootpath="$root" --secure-port="$secure" --insecure-port="$insecure" "${@:2}"
    # shellcheck disable=SC2154  # It is bats'.
    output=$stderr
    [ "${#stderr_lines[@]}" -eq 1 ] || { echo "$output"; return 1; }
}

@test "fresh directory is ready at once and prints its address and next steps" {
    up
    run -0 cat "$BATS_TEST_TMPDIR/out"
    says "kc is up, ready after" "$HTTP" "$HTTPS" "export KUBECONFIG=$root/admin.kubeconfig" "Ctrl-C"
    never_says $'\033'
    [ "$(grep -c '^ *kubectl' <<<"$output")" -eq 5 ]
    [ ! -s "$BATS_TEST_TMPDIR/err" ]
    down INT 0
    run -0 cat "$BATS_TEST_TMPDIR/out"
    says "kc has stopped; data is in $root"
}

@test "printed commands work as they are typed" {
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

@test "printed commands work in a directory of any name" {
    mkdir "$BATS_TEST_TMPDIR/it's here"
    root="$BATS_TEST_TMPDIR/it's here/data"
    up
    eval "$(grep -oE 'export KUBECONFIG=.*' "$BATS_TEST_TMPDIR/out")"
    [ "$KUBECONFIG" = "$root/admin.kubeconfig" ]
    kubectl get namespaces
}

@test "initial objects are loaded, and networks have a service" {
    up
    run -0 kubectl get users,teams,catalogs,binmetas
    says user.platform.kubecontroller.io/admin team.platform.kubecontroller.io/admins catalog.platform.kubecontroller.io/demo
    kubectl apply -f manifests/network/example
    networks=$(grep -oE 'http://127.0.0.1:[0-9]+/v1/networks' "$BATS_TEST_TMPDIR/out")
    known() { curl -sf -H "Authorization: Bearer $(cat "$root/networks.token")" "$networks" | grep -q 192.168.0.0/16; }
    eventually known
    down INT 0
    up --reconcilers='*,-network'
    run ! grep v1/networks "$BATS_TEST_TMPDIR/out"
}

@test "loopback clients need no token, and others do" {
    up --bind-address=0.0.0.0
    run -0 kubectl --kubeconfig=/dev/null -s "$HTTP" get namespaces
    says default kube-system
    run -0 kubectl get namespaces
    says default
    run -0 curl -sk -o /dev/null -w '%{http_code}' "$HTTPS/api/v1/namespaces"
    says 200
    other=$(hostname -I | tr ' ' '\n' | grep -m1 -E '^[0-9.]+$') || skip "this machine has no other address"
    run -7 curl -s --max-time 90 "http://$other:$insecure/api/v1/namespaces"
    run -0 curl -sk --max-time 90 -o /dev/null -w '%{http_code}' "https://$other:$secure/api/v1/namespaces"
    says 401
}

@test "Robot has its deployment 2/2, and At runs its command" {
    up "${UNSAFE[@]}"
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

@test "second start finds everything unchanged and writes its node only" {
    up "${UNSAFE[@]}"
    kubectl apply -f manifests/at/cr.yaml -f manifests/banana/cr.yaml -f manifests/network/example
    kubectl create configmap mine --from-literal=a=b
    eventually field_is at at-one '{.status.phase}' DONE
    eventually field_is banana banana-one '{.status.phase}' Success
    eventually field_is pod at-one-pod '{.status.phase}' Succeeded
    eventually field_is network example-network '{.status.ready}' true
    eventually grep -q 'The password of the user admin' "$BATS_TEST_TMPDIR/out"
    # Controllers still write what follows from these.
    settled() {
        local i
        versions >"$BATS_TEST_TMPDIR/before"
        for i in 1 2 3; do
            sleep 2
            versions | cmp -s "$BATS_TEST_TMPDIR/before" - || return 1
        done
    }
    eventually settled
    down INT 0
    up "${UNSAFE[@]}"
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

@test "pods end with kc up, and run once after a crash" {
    up "${UNSAFE[@]}"
    a_process
    eventually count_is long 1
    down INT 0
    count_is long 0
    up "${UNSAFE[@]}"
    eventually count_is long 1
    kubectl create configmap kept
    kill -KILL "$pid"
    wait_for "$pid" || true
    up "${UNSAFE[@]}"
    kubectl get configmap kept
    restarted() { [ "$(kubectl get pod long -o jsonpath='{.status.containerStatuses[0].restartCount}{.status.containerStatuses[0].ready}')" = 2true ]; }
    eventually restarted
    count_is long 1
    down TERM 0
    count_is long 0
}

@test "idle with everything enabled it has at most 24 threads, each with a name" {
    up
    # Workers that had something to do at the start end after a few seconds.
    few() {
        [ "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)" -le 24 ] || return 1
        # Only the main thread has the name of the program; another has it for a moment, before it gets its own.
        [ "$(cat /proc/"$pid"/task/*/comm | grep -cx "$(cat /proc/"$pid"/comm)")" -eq 1 ]
    }
    sleep 8
    eventually few || { cat /proc/"$pid"/task/*/comm; return 1; }
}

@test "second signal ends it at once" {
    up
    kill -STOP "$pid"
    eventually grep -q "^State:.T" "/proc/$pid/status"
    kill -INT "$pid"
    kill -TERM "$pid"
    # Both wait for it; the kernel hands out the lower number first.
    local rc=0
    kill -CONT "$pid"
    wait_for "$pid" || rc=$?
    pid=
    [ "$rc" -eq 143 ]
}

@test "SIGHUP stops it cleanly unless it is ignored" {
    up
    down HUP 0
    : >"$BATS_TEST_TMPDIR/out" # As in `up`.
    (trap '' HUP && exec "$KC" up --file-rootpath="$root" --secure-port="$secure" --insecure-port="$insecure") \
        >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- 4>&- &
    pid=$!
    eventually up_is_ready
    kill -HUP "$pid"
    kubectl get namespaces
}

@test "directory in use is reported" {
    up
    local before=$secure
    up_ports
    fails 1
    says "kc up: $root/store is in use by process $pid"
    [ "$before" != "$secure" ]
}

@test "port in use is reported" {
    up
    root=$BATS_TEST_TMPDIR/other
    fails 1
    says "kc up: cannot listen on 127.0.0.1, port $secure"
}

@test "directory that is not writable is reported" {
    # Root may write everywhere, and others may not come to where bats works.
    local as=() closed
    closed=$(mktemp -d)
    copy_kc "$closed"
    chmod 555 "$closed"
    [ "$(id -u)" -ne 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    run -1 "${as[@]}" "$closed/kc" up --file-rootpath="$closed/data"
    chmod 755 "$closed"
    rm -r "$closed"
    says "kc up: --file-rootpath: cannot create directory $closed/data: Permission denied"
    touch "$BATS_TEST_TMPDIR/file"
    root=$BATS_TEST_TMPDIR/file
    fails 1
    says "is not a directory"
}

@test "invalid arguments are refused and leave nothing behind" {
    fails 2 --insecure-prot=1
    says "unknown flag '--insecure-prot'; did you mean '--insecure-port'?"
    fails 2 --without=hup
    says "--without: invalid value 'hup': must be one of hub, controllers, pods, initial, network-service; did you mean 'hub'?"
    fails 1 --reconcilers='*,-bananna'
    says 'there is no reconciler "bananna"; did you mean "banana"?'
    fails 1 -c /no/such.yaml
    says "cannot open /no/such.yaml"
    fails 2 --controllers='*,-schedular'
    says "--controllers: invalid value 'schedular': must be one of " "did you mean 'scheduler'?"
    fails 2 --insecure-addr=0.0.0.0
    says "would expose the server to other machines"
    [ ! -e "$root" ]
}

@test "all metrics are on one page" {
    up
    kubectl apply -f manifests/banana/cr.yaml
    eventually field_is banana banana-one '{.status.phase}' Success
    run -0 curl -sf "$HTTP/metrics"
    says 'kc_phase_transitions_total{reconciler="banana",phase="Success"} 1' apiserver_request_total workqueue_adds_total
}

@test "reconcilers without CRDs are refused" {
    fails 1 --without=initial
    says "the server has no kind" "apply its CustomResourceDefinition first, or exclude the hub too: --without=hub,initial"
}

@test "parts can be disabled" {
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

@test "nodes can be simulated, and reconcilers selected" {
    up --pods=simulate --simulated-nodes=3 --reconcilers='*,-banana'
    [ "$(kubectl get nodes -o name | wc -l)" -eq 3 ]
    kubectl apply -f manifests/robot/cr.yaml -f manifests/banana/cr.yaml
    eventually field_is deployment robot-one '{.status.readyReplicas}' 2
    field_is banana banana-one '{.status}' ''
}

@test "loopback clients need credentials where pods share the user" {
    [ "$(id -u)" -eq 0 ] || skip "the user that runs kc is changed"
    mkdir -m 755 "$BATS_TEST_TMPDIR/home"
    chmod 755 "$BATS_TEST_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR"
    chown 4242 "$BATS_TEST_TMPDIR/home"
    root=$BATS_TEST_TMPDIR/home/data
    export KUBECONFIG=$root/admin.kubeconfig
    mkdir -m 755 "$BATS_TEST_TMPDIR/bin"
    copy_kc "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\nexec setpriv --reuid=4242 --regid=4242 --clear-groups "%s" "$@"\n' "$BATS_TEST_TMPDIR/bin/kc" >"$BATS_TEST_TMPDIR/kc"
    chmod 755 "$BATS_TEST_TMPDIR/kc"
    KC=$BATS_TEST_TMPDIR/kc
    fails 2 --pods=process --unsafe-pods-can-read-credentials --secure-port=0
    says "no client could authenticate"
    up --pods=process --unsafe-pods-can-read-credentials
    grep -q "loopback clients need credentials: pods run as processes of your own user" "$BATS_TEST_TMPDIR/out"
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$HTTP/api/v1/namespaces")" = 401 ]
    [ "$(setpriv --reuid=4242 --clear-groups curl -s -o /dev/null -w '%{http_code}' "$HTTP/api/v1/namespaces")" = 401 ]
    kubectl get namespaces
    down INT 0
    up --pods=simulate
    for user in 0 4242; do
        [ "$(setpriv --reuid="$user" --clear-groups curl -s -o /dev/null -w '%{http_code}' "$HTTP/api/v1/namespaces")" = 200 ]
    done
    [ "$(setpriv --reuid=4243 --clear-groups curl -s -o /dev/null -w '%{http_code}' "$HTTP/api/v1/namespaces")" = 401 ]
}

# ---- identities ----

# denied USER VERB RESOURCE: the log has a denial of this user.
denied() { grep -F "User \\\"$1\\\" cannot $2 resource \\\"$3\\\"" "$BATS_TEST_TMPDIR/err"; }

@test "controllers, scheduler, hub and node have only the permissions of their own roles" {
    up
    export KUBECONFIG=$root/admin.kubeconfig
    kubectl delete clusterrolebinding system:controller:replicaset-controller system:kube-scheduler system:volume-scheduler system:kubecontroller:hub
    kubectl create deployment web --image=i -- sleep 1000
    kubectl apply -f manifests/robot/cr.yaml
    eventually denied system:serviceaccount:kube-system:replicaset-controller create pods
    eventually denied system:kubecontroller:hub create deployments
    kubectl create clusterrolebinding again --clusterrole=system:controller:replicaset-controller --serviceaccount=kube-system:replicaset-controller
    kubectl run one --image=i --command -- sleep 1000
    eventually denied system:kube-scheduler create pods/binding
    [ -z "$(kubectl get pod one -o jsonpath='{.spec.nodeName}')" ]
    kubectl create clusterrolebinding scheduling --clusterrole=system:kube-scheduler --user=system:kube-scheduler
    kubectl wait --for=jsonpath='{.status.phase}'=Running pod/one --timeout=90s
    node=$(kubectl get pod one -o jsonpath='{.spec.nodeName}')
    run -0 kubectl auth can-i get pod/one --as="system:node:$node" --as-group=system:nodes
    run -1 kubectl auth can-i list secrets --as="system:node:$node" --as-group=system:nodes
    run -1 kubectl auth can-i create pods --as=system:kube-controller-manager
    run -0 kubectl auth can-i list secrets -A --as=system:kube-controller-manager
}
