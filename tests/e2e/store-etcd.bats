#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# kc store on a real etcd: migration from files and back, kills, snapshots that etcdutl restores, check, export and import beside a server.

setup() {
    load helpers
    load stores
    command -v etcd etcdctl etcdutl >/dev/null || skip "there is no etcd"
    KC=$(realpath "${KC:-$E2E/../../build/release/kc}")
    NS=default etcd_pid='' ETCD_SCHEME=http ETCD_FLAGS=()
}

teardown() {
    each server_stop etcd_stop
}

# etcd_start DIR: an etcd with this data directory, which may be new. $ETCD is its URL, $STORE its location.
etcd_start() {
    local client peer
    read -r client peer < <(free_ports)
    ETCD=$ETCD_SCHEME://127.0.0.1:$client STORE=etcd:$ETCD_SCHEME://127.0.0.1:$client
    etcd --name test --data-dir "$1" --listen-client-urls "$ETCD" --advertise-client-urls "$ETCD" --listen-peer-urls "http://127.0.0.1:$peer" \
        --initial-advertise-peer-urls "http://127.0.0.1:$peer" --initial-cluster "test=http://127.0.0.1:$peer" --log-level error \
        "${ETCD_FLAGS[@]}" >>"$BATS_TEST_TMPDIR/etcd.log" 2>&1 3>&- 4>&- &
    etcd_pid=$!
    eventually etcd_is_up
}

etcd_is_up() { e endpoint health >/dev/null 2>&1; }

etcd_stop() {
    [ -n "$etcd_pid" ] || return 0
    kill -KILL "$etcd_pid" 2>/dev/null || true
    wait "$etcd_pid" 2>/dev/null || true
    etcd_pid=
}

# e ARGUMENT…: etcdctl.
e() { etcdctl --endpoints "$ETCD" "${ETCDCTL_FLAGS[@]}" "$@"; }

# etcd_server: a server of this etcd, with a data directory of its own.
etcd_server() {
    other_server
    server_start --backend=etcd --etcd-servers="$ETCD" "$@"
}

latest() { api /api/v1/namespaces/default/configmaps | field .metadata.resourceVersion; }

# is_gone REVISION: a watch from it gets 410.
is_gone() {
    run -0 api "/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=$1"
    says '"code":410' 'Expired'
}

@test "objects migrate from files to etcd and back, revisions rise and old ones answer 410" {
    etcd_start "$BATS_TEST_TMPDIR/etcd"
    server_start
    fill
    before=$(contents) first=$(latest) root=$SERVER/root
    server_stop
    run -0 "$KC" store migrate --from="file:$root" --to="$STORE"
    says "verified" "older ones answer 410"
    run -0 "$KC" store check "$STORE"
    says "robots.example.com" "etcd keeps the history"
    [ -z "$(e get --prefix /registry/kc/ --keys-only)" ]

    etcd_server
    [ "$(contents)" = "$before" ] || diff <(echo "$before") <(contents)
    second=$(latest)
    [ "$second" -gt "$first" ]
    is_gone "$first"
    k create configmap in-etcd
    server_stop
    run -1 "$KC" store migrate --from="file:$root" --to="$STORE"
    says "$root/store to $STORE: target: the store has objects" "--etcd-prefix"

    run -0 "$KC" store migrate --from="$STORE" --to="file:$BATS_TEST_TMPDIR/back"
    says "verified"
    new_server "$BATS_TEST_TMPDIR/back"
    k get configmap in-etcd
    [ "$(latest)" -gt "$second" ]
    is_gone "$second"
    k delete configmap in-etcd
    [ "$(contents)" = "$before" ] || diff <(echo "$before") <(contents)
}

# killed_when CONDITION SECONDS COMMAND…: starts it and kills it that long after the condition holds.
killed_when() {
    "${@:3}" >/dev/null 2>&1 3>&- 4>&- &
    local process=$! deadline=$((SECONDS + 90))
    until "$1" || process_ended $process || [ $SECONDS -ge $deadline ]; do :; done
    sleep "$2"
    kill -KILL $process 2>/dev/null || true
    wait $process 2>/dev/null || true
}

# A quarter of the objects is there, so progress is recorded.
has_objects() { e get --prefix /registry/configmaps/ --count-only -w fields | grep -qE '"Count" : ([5-9][0-9]{3}|[0-9]{5})$'; }

@test "migration to etcd that is killed is refused by a server and continued" {
    etcd_start "$BATS_TEST_TMPDIR/etcd"
    many_lines 20000 | "$KC" store import "$BATS_TEST_TMPDIR/a" -f -
    for delay in 0 0.05 0.2; do
        killed_when has_objects $delay "$KC" store migrate --from="$BATS_TEST_TMPDIR/a" --to="$STORE"
        run "$KC" store check "$STORE"
        [[ $output != *"'kc store migrate' was interrupted; run it again"* ]] || break
        e del --prefix /registry/ >/dev/null
    done
    [[ $output == *"was interrupted"* ]] || skip "the migration was never interrupted in the middle"
    read -r secure insecure < <(free_ports)
    shared_keys "$BATS_TEST_TMPDIR/root"
    run -1 "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/root" --secure-port="$secure" --insecure-port="$insecure" --backend=etcd \
        --etcd-servers="$ETCD"
    says "the store is incomplete: 'kc store migrate' was interrupted; run it again"
    for command in export backup; do
        run -1 "$KC" store $command "$STORE" -o "$BATS_TEST_TMPDIR/out"
        says "the store is incomplete"
    done
    run -0 "$KC" store migrate --from="$BATS_TEST_TMPDIR/a" --to="$STORE"
    says "continued a migration that was interrupted" "migrated 20000 objects" "verified"
    never_says "(20000 copied now)"
    run -0 "$KC" store check "$STORE"
    says 20000
}

@test "migration from etcd that is killed is continued" {
    etcd_start "$BATS_TEST_TMPDIR/etcd"
    many_lines 20000 | "$KC" store import "$BATS_TEST_TMPDIR/a" -f -
    "$KC" store migrate --from="$BATS_TEST_TMPDIR/a" --to="$STORE"
    for delay in 0 0.02 0.05 0.1 0.2; do
        rm -rf "$BATS_TEST_TMPDIR/b"
        killed_when has_file $delay "$KC" store migrate --from="$STORE" --to="$BATS_TEST_TMPDIR/b"
        run "$KC" store check "$BATS_TEST_TMPDIR/b"
        [[ $output != *"was interrupted"* ]] || break
    done
    [[ $output == *"was interrupted"* ]] || skip "the migration was never interrupted in the middle"
    e put /other/prefix x # The revision of etcd is another one now.
    run -0 "$KC" store migrate --from="$STORE" --to="$BATS_TEST_TMPDIR/b"
    says "migrated 20000 objects" "verified"
    run -0 "$KC" store check "$BATS_TEST_TMPDIR/b"
    says 20000
}

has_file() { [ -s "$BATS_TEST_TMPDIR/b/store/journal" ]; }

@test "snapshot of etcd while a server writes is restored by etcdutl, and revisions never go back" {
    etcd_start "$BATS_TEST_TMPDIR/etcd"
    etcd_server
    fill
    before=$(contents)
    run -0 "$KC" store backup "etcd:http://127.0.0.1:1,$ETCD" -o "$BATS_TEST_TMPDIR/snapshot" # Of the member that answers.
    says "wrote a snapshot of etcd at revision" "etcdutl snapshot restore $BATS_TEST_TMPDIR/snapshot"
    [ "$(stat -c %a "$BATS_TEST_TMPDIR/snapshot")" = 600 ]
    [ ! -e "$BATS_TEST_TMPDIR/snapshot.part" ]
    k create configmap after-the-backup
    version=$(latest)
    server_stop
    etcd_stop

    run -1 "$KC" store restore "$BATS_TEST_TMPDIR/snapshot" "$BATS_TEST_TMPDIR/files"
    says "is a snapshot of etcd" "etcdutl snapshot restore" "--bump-revision" "--mark-compacted"
    [ ! -e "$BATS_TEST_TMPDIR/files" ]
    etcdutl snapshot restore "$BATS_TEST_TMPDIR/snapshot" --data-dir "$BATS_TEST_TMPDIR/restored" --name test \
        --initial-cluster test=http://127.0.0.1:1 --initial-advertise-peer-urls http://127.0.0.1:1 --bump-revision 1000000000 --mark-compacted
    etcd_start "$BATS_TEST_TMPDIR/restored"
    etcd_server
    run ! k get configmap after-the-backup
    [ "$(contents)" = "$before" ] || diff <(echo "$before") <(contents)
    is_gone "$version"
    [ "$(latest)" -gt $((version + 900000000)) ]
    k create configmap again
    [ "$(k get configmap again -o jsonpath='{.metadata.resourceVersion}')" -gt $((version + 900000000)) ]
}

@test "backup of files is restored into etcd with raised revisions, Events with a lease" {
    etcd_start "$BATS_TEST_TMPDIR/etcd"
    server_start
    fill
    before=$(contents)
    api /api/v1/namespaces/default/events -f -o /dev/null -H 'Content-Type: application/json' \
        -d '{"metadata":{"name":"e"},"involvedObject":{"namespace":"default"},"reason":"Test"}'
    "$KC" store backup "$SERVER/root" -o "$BATS_TEST_TMPDIR/backup"
    config_map after-the-backup
    version=$(latest)
    server_stop
    run -0 "$KC" store restore "$BATS_TEST_TMPDIR/backup" "$STORE" --revision-bump=20000 --event-ttl=2h
    says "older ones answer 410"
    lease=$(e get /registry/events/default/e -w fields | sed -n 's/^"Lease" : //p')
    [ "$lease" -ne 0 ]
    run -0 e lease timetolive "$(printf %x "$lease")"
    [[ $output =~ granted\ with\ TTL\(7[0-9]{3}s\) ]]
    run -1 "$KC" store restore "$BATS_TEST_TMPDIR/backup" "$STORE"
    says "$STORE: the store has objects"
    etcd_server
    run ! k get configmap after-the-backup
    [ "$(contents)" = "$before" ] || diff <(echo "$before") <(contents)
    [ "$(latest)" -gt $((version + 19000)) ]
    is_gone "$version"
}

@test "check, export and import work beside servers on etcd" {
    etcd_start "$BATS_TEST_TMPDIR/etcd"
    etcd_server
    fill
    uid=$(k get configmap greeting -o jsonpath='{.metadata.uid}')
    run -0 "$KC" store check "$STORE"
    says "robots.example.com" "configmaps"
    "$KC" store export "$STORE" --with-secrets -o "$BATS_TEST_TMPDIR/objects"
    "$KC" store export "$STORE" --for-apply >"$BATS_TEST_TMPDIR/plain"
    k delete configmap greeting
    grep '"name":"greeting"' "$BATS_TEST_TMPDIR/objects" >"$BATS_TEST_TMPDIR/greeting"
    run -0 "$KC" store import "$STORE" -f "$BATS_TEST_TMPDIR/greeting"
    says "imported 1 objects"
    eventually k get configmap greeting # The server sees it by its watch.
    [ "$(k get configmap greeting -o jsonpath='{.metadata.uid}')" = "$uid" ]
    run -1 "$KC" store import "$STORE" -f "$BATS_TEST_TMPDIR/objects"
    says "nothing was imported: line 1: " "--skip-existing"
    run -0 "$KC" store import "$STORE" -f "$BATS_TEST_TMPDIR/objects" --skip-existing
    says "skipped"
    server_stop
    new_server
    grep '"kind":"CustomResourceDefinition"' "$BATS_TEST_TMPDIR/plain" | kubectl apply -f -
    kubectl wait --for=condition=Established --timeout=90s crd/robots.example.com
    eventually robot r2
    kubectl apply -f "$BATS_TEST_TMPDIR/plain"
    [ "$(k get configmap greeting -o jsonpath='{.data.text}')" = hello ]
}

# certificate NAME: a key and a certificate of the CA for 127.0.0.1.
certificate() {
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -out "$1.csr" -subj "/CN=$1" 2>/dev/null
    openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -out "$1.crt" \
        -extfile <(echo "subjectAltName=IP:127.0.0.1") 2>/dev/null
}

@test "etcd with TLS and client certificates, and another prefix" {
    cd "$BATS_TEST_TMPDIR"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.crt -days 2 -subj /CN=ca 2>/dev/null
    certificate server
    certificate client
    ETCD_SCHEME=https ETCD_FLAGS=(--cert-file server.crt --key-file server.key --client-cert-auth --trusted-ca-file ca.crt)
    ETCDCTL_FLAGS=(--cacert ca.crt --cert client.crt --key client.key)
    etcd_start etcd
    flags=(--etcd-cafile=ca.crt --etcd-certfile=client.crt --etcd-keyfile=client.key --etcd-prefix=/plane)
    many_lines 100 | "$KC" store import "$STORE" "${flags[@]}" -f -
    [ "$(e get --prefix /plane/configmaps/default/ --keys-only | grep -c .)" -eq 100 ]
    run -0 "$KC" store check "$STORE" "${flags[@]}"
    says " 100 "
    run -0 "$KC" store migrate --from="$STORE" "${flags[@]}" --to=b
    says "migrated 100 objects"
    run -1 "$KC" store check "$STORE" "${flags[@]:0:3}"
    says "there is no store in $STORE: it has no keys below '/registry' (--etcd-prefix)"
    run -1 "$KC" store check "$STORE" --etcd-certfile=client.crt
    says "--etcd-certfile and --etcd-keyfile must be set together"
}

@test "wrong locations name what is accepted" {
    run -1 "$KC" store check http://127.0.0.1:2379
    says "did you mean 'etcd:http://127.0.0.1:2379'?"
    run -1 "$KC" store check etcd:127.0.0.1:2379
    says "a member is no URL" "etcd:http://HOST:PORT"
    run -1 "$KC" store check etcd:
    says "a URL is missing"
    run -1 "$KC" store migrate --from="$BATS_TEST_TMPDIR" --to=ectd:http://127.0.0.1:2379
    says "--to: invalid location" "etcd:http://HOST:PORT"
    run -1 "$KC" store check etcd:http://127.0.0.1:2379 --etcd-cafile=ca.crt
    says "need https"
    run -2 "$KC" store rewrite --etcd-prefix=/x
    says "--etcd-prefix does not apply to 'rewrite'"
    run -0 "$KC" store --help
    says "etcd:URL" "--etcd-cafile" "--event-ttl" "a million takes" "kc store backup etcd:"
}
