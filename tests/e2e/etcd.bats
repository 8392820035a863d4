#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The backend etcd: one server, two servers on one etcd, and an etcd that goes away.

etcd_run() {
    local rc=0
    etcd --name test --data-dir "$ETCD_DIR/data" --listen-client-urls "$ETCD" --advertise-client-urls "$ETCD" \
        --listen-peer-urls "$ETCD_PEER" --initial-advertise-peer-urls "$ETCD_PEER" --initial-cluster "test=$ETCD_PEER" \
        --log-level error >>"$ETCD_DIR/log" 2>&1 3>&- 4>&- &
    echo $! >"$ETCD_DIR/pid"
    wait $! || rc=$?
    echo $rc >"$ETCD_DIR/rc"
}

etcd_is_up() { curl -sf "$ETCD/health" >/dev/null; }

etcd_start() {
    local client peer
    if [ -z "${ETCD:-}" ]; then
        ETCD_DIR=$(mktemp -d "$BATS_FILE_TMPDIR/etcd.XXXXXX")
        read -r client peer < <(free_ports)
        ETCD=http://127.0.0.1:$client ETCD_PEER=http://127.0.0.1:$peer
        export ETCD ETCD_PEER ETCD_DIR
    fi
    etcd_run 3>&- 4>&- &
    eventually etcd_is_up
}

etcd_stop() {
    kill -KILL "$(cat "$ETCD_DIR/pid")" 2>/dev/null || true
}

setup_file() {
    load helpers
    command -v etcd >/dev/null || skip "there is no etcd"
    etcd_start
    server_start --backend=etcd --etcd-servers="$ETCD"
}

teardown_file() {
    load helpers
    each server_stop etcd_stop
}

setup() { load helpers; namespace; later=() job=; }

teardown() {
    background_end
    servers_stop "${later[@]}"
}

# later_server FLAG…: one more server; $SERVER and $HTTP are its own from now on. `teardown` stops it.
later_server() {
    SERVER=$(mktemp -d "$BATS_FILE_TMPDIR/server.XXXXXX")
    later+=("$SERVER")
    server_start --backend=etcd --etcd-servers="$ETCD" "$@"
}

# second_server COMMAND…: with a second server on the same etcd; $FIRST is the first one's kubeconfig.
second_server() {
    local FIRST=$KUBECONFIG SERVER HTTP HTTPS KUBECONFIG KUBECACHEDIR
    later_server
    "$@"
    server_stop
}

on_first() { kubectl --kubeconfig="$FIRST" -n "$NS" "$@"; }

@test "object is created, read, changed and deleted" {
    k create configmap one --from-literal=a=1
    [ "$(k get configmap one -o jsonpath='{.data.a}')" = 1 ]
    k patch configmap one -p '{"data":{"a":"2"}}'
    [ "$(k get configmap one -o jsonpath='{.data.a}')" = 2 ]
    run ! k create configmap one
    says "already exists"
    k delete configmap one
    run ! k get configmap one
    says "not found"
}

@test "keys in etcd are those of kube-apiserver" {
    k create configmap one --from-literal=a=1
    run -0 etcdctl --endpoints "$ETCD" get "/registry/configmaps/$NS/one" --keys-only
    says "/registry/configmaps/$NS/one"
}

@test "resource version is the revision of etcd" {
    k create configmap versioned
    revision=$(etcdctl --endpoints "$ETCD" get "/registry/configmaps/$NS/versioned" -w fields | sed -n 's/^"ModRevision" : //p')
    [ "$(k get configmap versioned -o jsonpath='{.metadata.resourceVersion}')" = "$revision" ]
}

# bytes_field NUMBER TEXT: a protobuf field with bytes, shorter than 128.
bytes_field() { printf "\\x$(printf %x $(($1 * 8 + 2)))\\x$(printf %x ${#2})%s" "$2"; }

# A ConfigMap as kube-apiserver stores it: in protobuf, in an envelope.
protobuf_configmap() {
    local type meta raw
    type=$(bytes_field 1 v1)$(bytes_field 2 ConfigMap)
    meta=$(bytes_field 1 "$1")$(bytes_field 3 "$NS")
    raw=$(bytes_field 1 "$meta")$(bytes_field 2 "$(bytes_field 1 a)$(bytes_field 2 from-protobuf)")
    printf 'k8s\0'
    bytes_field 1 "$type"
    bytes_field 2 "$raw"
}

@test "value of kube-apiserver in protobuf is served" {
    protobuf_configmap other >"$BATS_TEST_TMPDIR/value"
    etcdctl --endpoints "$ETCD" put "/registry/configmaps/$NS/other" <"$BATS_TEST_TMPDIR/value"
    [ "$(k get configmap other -o jsonpath='{.data.a}')" = from-protobuf ]
    k patch configmap other -p '{"data":{"a":"changed"}}'
    [ "$(k get configmap other -o jsonpath='{.data.a}')" = changed ]
}

writes_are_seen_by_the_other() {
    for i in $(seq 20); do
        on_first create configmap "seen-$i" --from-literal=a=1
        k get configmap "seen-$i"
        k delete configmap "seen-$i"
        ! on_first get configmap "seen-$i" 2>/dev/null || return 1
    done
}

@test "write on one server is read on the other at once" {
    second_server writes_are_seen_by_the_other
}

conflicts_are_found() {
    on_first create configmap shared --from-literal=a=1
    k get configmap shared -o json >"$BATS_TEST_TMPDIR/old.json"
    on_first patch configmap shared -p '{"data":{"a":"2"}}'
    run ! kubectl replace -f "$BATS_TEST_TMPDIR/old.json"
    says "the object has been modified"
    run ! k create configmap shared
    says "already exists"
}

@test "conflict with a write of the other server is reported" {
    second_server conflicts_are_found
}

watch_sees_the_other() {
    k create configmap first
    background k get configmap -w -o name
    eventually background_says configmap/first
    on_first create configmap watched
    eventually background_says configmap/watched
}

@test "watch on one server shows writes of the other" {
    second_server watch_sees_the_other
}

@test "custom resources are served by the server that did not create the definition" {
    definition_is_served() {
        on_first apply -f manifests/robot/robot.llleon.io_robots.yaml
        eventually k get robots
    }
    second_server definition_is_served
}

restarted_server_shows_everything() {
    k create configmap kept --from-literal=a=1
    version=$(k get configmap kept -o jsonpath='{.metadata.resourceVersion}')
    server_signal KILL
    eventually server_ended
    server_start --backend=etcd --etcd-servers="$ETCD"
    [ "$(k get configmap kept -o jsonpath='{.metadata.resourceVersion}')" = "$version" ]
}

@test "killed server shows everything after its restart" {
    second_server restarted_server_shows_everything
}

server_is_not_ready() { ! server_is_ready; }

@test "server survives a restart of etcd and is not ready meanwhile" {
    k create configmap before
    etcd_stop
    run ! timeout 90 kubectl -n "$NS" create configmap during --request-timeout=5s
    eventually server_is_not_ready
    etcd_start
    eventually server_is_ready
    eventually k create configmap after
    k get configmap before after
}

@test "unreachable etcd is an error that names the flag" {
    read -r port _ < <(free_ports)
    shared_keys "$BATS_TEST_TMPDIR/root"
    run -1 timeout 120 "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/root" --secure-port=0 --insecure-port=1 --backend=etcd --etcd-servers="http://127.0.0.1:$port"
    says "--etcd-servers"
}

@test "flags of etcd that contradict each other are refused" {
    run ! "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/root" --backend=etcd
    says "--backend=etcd needs --etcd-servers"
    run ! "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/root" --etcd-servers=http://127.0.0.1:1
    says "--etcd-servers needs --backend=etcd"
    run ! "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/root" --backend=etcd --etcd-servers=localhost:2379
    says "must be http://HOST:PORT or https://HOST:PORT"
}

@test "server without the shared keys does not start, and says how to make them" {
    run -1 "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/root" --backend=etcd --etcd-servers="$ETCD"
    says "missing in $BATS_TEST_TMPDIR/root/certs: ca.crt, ca.key, node-client-ca.crt, node-client-ca.key, sa.key"
    says "kc certs create"
    says "--cert-dir"
    [ ! -e "$BATS_TEST_TMPDIR/root/certs" ]
    "$KC" certs create --out="$BATS_TEST_TMPDIR/sets" a=127.0.0.1
    rm "$BATS_TEST_TMPDIR/sets/a/sa.key"
    run -1 "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/root" --backend=etcd --etcd-servers="$ETCD" --cert-dir="$BATS_TEST_TMPDIR/sets/a"
    says "missing in $BATS_TEST_TMPDIR/sets/a: sa.key"
    run -1 "$KC" up --file-rootpath="$BATS_TEST_TMPDIR/root" --backend=etcd --etcd-servers="$ETCD" --cert-dir="$BATS_TEST_TMPDIR/root/none"
    says "sa.key, encryption.yaml"
}

token_is_valid_on() {
    [ "$(curl -sk -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $2" "$1/api")" = 200 ]
}

# What the servers of `kc certs create` have in common: their authority, tokens of service accounts, and Secrets at rest.
sets_are_shared() {
    local first=$1 token
    k create serviceaccount robot
    token=$(k create token robot)
    token_is_valid_on "$HTTPS" "$token"
    token_is_valid_on "$first" "$token"
    k create secret generic hidden --from-literal=word=plaintext-secret
    [ "$(on_first get secret hidden -o jsonpath='{.data.word}' | base64 -d)" = plaintext-secret ]
    run -0 etcdctl --endpoints "$ETCD" get "/sets/secrets/$NS/hidden"
    says "k8s:enc:secretbox"
    # Each accepts the administrator of the other.
    kubectl --kubeconfig="$FIRST" --server="$HTTPS" get namespaces
}

@test "sets of kc certs create are accepted by the servers of all machines" {
    local SERVER HTTP HTTPS KUBECONFIG KUBECACHEDIR
    "$KC" certs create --out="$BATS_TEST_TMPDIR/sets" a=127.0.0.1 b=127.0.0.1
    later_server --etcd-prefix=/sets --cert-dir="$BATS_TEST_TMPDIR/sets/a"
    local first_https=$HTTPS FIRST=$KUBECONFIG
    namespace
    later_server --etcd-prefix=/sets --cert-dir="$BATS_TEST_TMPDIR/sets/b"
    sets_are_shared "$first_https"
    servers_stop "${later[@]}"
}

@test "kc up runs on etcd with the keys of kc certs create" {
    local port
    read -r port _ < <(free_ports)
    "$KC" certs create --out="$BATS_TEST_TMPDIR/sets" me=127.0.0.1
    background "$KC" up --file-rootpath="$BATS_TEST_TMPDIR/up" --backend=etcd --etcd-servers="$ETCD" --etcd-prefix=/up \
        --cert-dir="$BATS_TEST_TMPDIR/sets/me" --secure-port="$port" --insecure-port=0 --pods=simulate
    eventually kubectl --kubeconfig="$BATS_TEST_TMPDIR/up/admin.kubeconfig" get namespaces kube-system
    kill -TERM "$job"
    background_ends
}

@test "metrics show the events of etcd that wait to be applied" {
    k create configmap measured
    nothing_waits() { api /metrics | grep -qx 'kc_store_inbox_bytes 0'; }
    eventually nothing_waits
    run -0 api /metrics
    says "kc_store_inbox_waits_total 0"
}
