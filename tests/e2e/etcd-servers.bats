#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Several servers on one etcd: what one server began, another one continues.

# etcd_run DIR CLIENT_URL PEER_URL
etcd_run() {
    exec etcd --name test --data-dir "$1/data" --listen-client-urls "$2" --advertise-client-urls "$2" \
        --listen-peer-urls "$3" --initial-advertise-peer-urls "$3" --initial-cluster "test=$3" --log-level error >>"$1/log" 2>&1 3>&- 4>&-
}

# etcd_start: an etcd on free ports; prints "URL PID".
etcd_start() {
    local client peer dir
    dir=$(mktemp -d "$BATS_FILE_TMPDIR/etcd.XXXXXX")
    read -r client peer < <(free_ports)
    etcd_run "$dir" "http://127.0.0.1:$client" "http://127.0.0.1:$peer" >/dev/null 3>&- 4>&- &
    eventually curl -sf -o /dev/null "http://127.0.0.1:$client/health"
    echo "http://127.0.0.1:$client $!"
}

# The first server is $SERVER, $HTTP, $KUBECONFIG; the second $SERVER_B, $HTTP_B, $KUBECONFIG_B.
setup_file() {
    load helpers
    command -v etcd >/dev/null || skip "there is no etcd"
    read -r ETCD ETCD_PID < <(etcd_start)
    export ETCD ETCD_PID
    SERVER='' server_start --backend=etcd --etcd-servers="$ETCD"
    SERVER_B=$SERVER HTTP_B=$HTTP KUBECONFIG_B=$KUBECONFIG
    export SERVER_B HTTP_B KUBECONFIG_B
    SERVER=''
    server_start --backend=etcd --etcd-servers="$ETCD"
}

teardown_file() {
    load helpers
    [ -n "${ETCD_PID:-}" ] || return 0
    local rc=0
    servers_stop "$SERVER" "$SERVER_B" || rc=1
    end_now "$ETCD_PID"
    return $rc
}

setup() {
    load helpers
    namespace
    processes=() later=() etcds=() job=
}

teardown() {
    local rc=0
    background_end
    servers_stop "${later[@]}" || rc=1
    end_now "${processes[@]}" "${etcds[@]}"
    return $rc
}

# later_server FLAG…: a server that starts now; $HTTP and the like are its own from now on, $FIRST is the address of the one before. `teardown`
# stops it.
later_server() {
    FIRST=$HTTP SERVER=$(mktemp -d "$BATS_FILE_TMPDIR/server.XXXXXX")
    later+=("$SERVER")
    server_start --backend=etcd --etcd-servers="$ETCD" "$@"
}

version() { api "$1" | field .metadata.resourceVersion; }

change_ten() {
    for i in $(seq 5); do
        config_map "m-$i"
        api "/api/v1/namespaces/$NS/configmaps/m-$i" -f -o /dev/null -X DELETE
    done
}

@test "watch continues on a server that starts later" {
    local path=/api/v1/namespaces/$NS/configmaps since expected=''
    since=$(version "$path")
    change_ten
    for i in $(seq 5); do expected+="ADDED m-$i DELETED m-$i "; done
    later_server
    background_watch "$path?watch=1&resourceVersion=$since"
    eventually watch_is "$expected"
}

# pages_complete FROM PATH: follows the pages of a list whose first page came from another server; prints the number of items.
rest_of_list() {
    local token=$1 path=$2 n=0 page
    while [ -n "$token" ]; do
        page=$(api "$path?limit=7&continue=$token")
        [ "$(field .kind <<<"$page")" = ConfigMapList ] || { echo "$page"; return 1; }
        n=$((n + $(python3 -c 'import json, sys; print(len(json.load(sys.stdin)["items"]))' <<<"$page")))
        token=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["metadata"].get("continue", ""))' <<<"$page")
    done
    echo "$n"
}

@test "continue token of one server is valid on the others, and on one that starts later" {
    local path=/api/v1/namespaces/$NS/configmaps token
    for i in $(seq 20); do config_map "c-$i"; done
    token=$(api "$path?limit=5" | field .metadata.continue)
    api "$path/c-9" -f -o /dev/null -X DELETE
    config_map c-late
    [ "$(rest_of_list "$token" "$path")" = 15 ]
    [ "$(HTTP=$HTTP_B rest_of_list "$token" "$path")" = 15 ]
    later_server
    [ "$(rest_of_list "$token" "$path")" = 15 ]
}

past_reads() { api /metrics | sed -n 's/^kc_store_past_reads_total //p'; }

@test "page that is older than the events in memory is read from etcd, until etcd has compacted it" {
    local path=/api/v1/namespaces/$NS/configmaps token
    for i in $(seq 20); do config_map "p-$i"; done
    token=$(api "$path?limit=5" | field .metadata.continue)
    for _ in 1 2 3; do change_ten; done
    later_server --history-bytes=4Ki
    [ "$(rest_of_list "$token" "$path")" = 15 ]
    [ "$(past_reads)" -ge 1 ]
    etcdctl --endpoints "$ETCD" compact "$(version "$path")"
    config_map p-after
    later_server --history-bytes=4Ki
    [ "$(api "$path?continue=$token" | field .code)" = 410 ]
}

@test "read names a revision of another server and waits for it" {
    local path=/api/v1/namespaces/$NS/configmaps seen
    for i in $(seq 30); do
        config_map "r-$i"
        seen=$(version "$path/r-$i")
        [ "$(HTTP=$HTTP_B api "$path/r-$i?resourceVersion=$seen" | field .metadata.name)" = "r-$i" ]
        HTTP=$HTTP_B api "$path?resourceVersion=$seen&resourceVersionMatch=NotOlderThan" | grep -q "r-$i"
    done
}

@test "revision that does not exist yet is too large" {
    run -0 api "/api/v1/namespaces/$NS/configmaps?resourceVersion=999999999&resourceVersionMatch=NotOlderThan"
    says "Too large resource version: 999999999" '"code": 504'
    run -0 api "/api/v1/namespaces/$NS?resourceVersion=999999999"
    says "Too large resource version: 999999999"
}

@test "object is created at once in a namespace of another server" {
    for i in $(seq 20); do
        HTTP=$HTTP_B NS='' api /api/v1/namespaces -f -o /dev/null -H 'Content-Type: application/json' -d "{\"metadata\":{\"name\":\"$NS-$i\"}}"
        NS=$NS-$i config_map first
    done
}

@test "bookmarks of an idle kind advance with writes elsewhere in etcd" {
    local path=/apis/apps/v1/namespaces/$NS/daemonsets since revision
    since=$(version "$path")
    background curl -sSN -H 'Authorization: Bearer admintoken' "$HTTP$path?watch=1&allowWatchBookmarks=true&resourceVersion=$since&timeoutSeconds=300"
    sleep 1 # For a watch that is there before the write; one that begins later is told as well.
    etcdctl --endpoints "$ETCD" put /outside/key value
    revision=$(etcdctl --endpoints "$ETCD" get /outside/key -w fields | sed -n 's/^"ModRevision" : //p')
    marked() {
        [ "$(tail -n 1 "$BATS_TEST_TMPDIR/background" | field .type)" = BOOKMARK ] &&
            [ "$(tail -n 1 "$BATS_TEST_TMPDIR/background" | field .object.metadata.resourceVersion)" -ge "$revision" ]
    } 2>/dev/null
    eventually marked
    [ "$(grep -vc BOOKMARK "$BATS_TEST_TMPDIR/background")" -eq 0 ]
}

event_named() {
    api "/api/v1/namespaces/$NS/events" -f -o /dev/null -H 'Content-Type: application/json' \
        -d "{\"metadata\":{\"name\":\"$1\"},\"involvedObject\":{\"namespace\":\"$NS\"},\"reason\":\"Test\",\"message\":\"m\"}"
}

events_are_apart() {
    local path=/api/v1/namespaces/$NS/events since
    since=$(version "$path")
    event_named one
    config_map beside
    [ -n "$(etcdctl --endpoints "$EVENTS" get "/registry/events/$NS/one" --keys-only)" ]
    [ -z "$(etcdctl --endpoints "$ETCD" get "/registry/events/$NS/one" --keys-only)" ]
    [ -z "$(etcdctl --endpoints "$EVENTS" get "/registry/configmaps/$NS/beside" --keys-only)" ]
    [ "$(version "$path/one")" = "$(etcdctl --endpoints "$EVENTS" get "/registry/events/$NS/one" -w fields | sed -n 's/^"ModRevision" : //p')" ]
    etcdctl --endpoints "$EVENTS" get "/registry/events/$NS/one" -w fields | grep '"Lease" : [1-9]'
    [ "$(api "/apis/events.k8s.io/v1/namespaces/$NS/events" | field '.items[0].metadata.name')" = one ]
    background_watch "$path?watch=1&resourceVersion=$since"
    eventually watch_is "ADDED one "
    api "$path/one" -f -o /dev/null -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"message":"n"}'
    [ "$(api "$path/one" | field .message)" = n ]
    eventually watch_is "ADDED one MODIFIED one "
    background_end
    # Another server with the same flag shows it; the first servers do not.
    later_server --etcd-servers-overrides="/events#$EVENTS"
    [ "$(api "$path/one?resourceVersion=$(HTTP=$FIRST version "$path/one")" | field .message)" = n ]
    [ "$(HTTP=$HTTP_B api "$path" | field .items)" = "[]" ]
    api "$path/one" -f -o /dev/null -X DELETE
    [ "$(api "$path" | field .items)" = "[]" ]
}

@test "events are stored in another etcd" {
    read -r EVENTS pid < <(etcd_start)
    etcds+=("$pid")
    later_server --etcd-servers-overrides="/events#$EVENTS"
    events_are_apart
}

is_not_ready() { ! server_is_ready; }

@test "server is not ready while the etcd of its events is gone" {
    read -r EVENTS pid < <(etcd_start)
    etcds+=("$pid")
    later_server --etcd-servers-overrides="/events#$EVENTS"
    kill -KILL "$pid"
    eventually is_not_ready
    config_map works-anyway
}

@test "wrong overrides are refused" {
    refused() {
        run -2 "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/root" --backend=etcd --etcd-servers="$ETCD" --etcd-servers-overrides="$1"
        says "invalid value \"${3:-$1}\" of --etcd-servers-overrides: $2" "must be GROUP/RESOURCE#URL[;URL...]"
    }
    refused /events "it has not the form of an override"
    refused "events#$ETCD" "it has not the form of an override"
    refused "/nothings#$ETCD" "there is no such built-in resource"
    refused "/events#localhost:1;$ETCD" "a server is not http://HOST:PORT or https://HOST:PORT"
    refused "/services#$ETCD" "the resource cannot be stored apart from the others"
    refused "/events#$ETCD,/events#http://127.0.0.1:1" "the resource has another override" "/events#http://127.0.0.1:1"
    run -2 "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/root" --etcd-servers-overrides="/events#$ETCD"
    says "--etcd-servers-overrides needs --backend=etcd"
}

lease_field() { kubectl -n kube-system get lease "$1" -o jsonpath="{.spec.$2}" 2>/dev/null; }
holder_is_set() { [ -n "$(lease_field "$1" holderIdentity)" ]; }
holder_changed() { holder_is_set "$1" && [ "$(lease_field "$1" holderIdentity)" != "$2" ]; }

# process NAME KUBECONFIG ARGUMENT…: `kc ARGUMENT…` with the kubeconfig; `teardown` ends it.
process() {
    "$KC" "${@:3}" --kubeconfig="$2" >>"$BATS_TEST_TMPDIR/$1.log" 2>&1 3>&- 4>&- &
    processes+=($!)
}

@test "controllers of two machines elect a leader, and the other takes over when it is killed" {
    local held
    process first "$KUBECONFIG" controllers --controllers=deployment,replicaset,scheduler
    eventually holder_is_set kc-controllers
    held=$(lease_field kc-controllers holderIdentity)
    process second "$KUBECONFIG_B" controllers --controllers=deployment,replicaset,scheduler
    k create deployment web --image=none --replicas=2
    eventually field_is deployment web '{.status.replicas}' 2
    [ "$(lease_field kc-controllers holderIdentity)" = "$held" ]
    kill -KILL "${processes[0]}"
    eventually holder_changed kc-controllers "$held"
    k scale deployment web --replicas=3
    eventually field_is deployment web '{.status.replicas}' 3
}

@test "hubs of two machines elect a leader, and the other takes over when it is killed" {
    local held
    cat >"$BATS_TEST_TMPDIR/hub.yaml" <<'YAML'
reconcilermgr:
  controllers: [robot]
  leader-elect: true
  leader-elect-namespace: kube-system
  leader-elect-lease-duration: 10s
  leader-elect-renew-deadline: 9s
  leader-elect-retry-period: 500ms
YAML
    kubectl apply -f manifests/robot/robot.llleon.io_robots.yaml
    process first "$KUBECONFIG" hub -c "$BATS_TEST_TMPDIR/hub.yaml"
    eventually holder_is_set kc-hub
    held=$(lease_field kc-hub holderIdentity)
    process second "$KUBECONFIG_B" hub -c "$BATS_TEST_TMPDIR/hub.yaml"
    kill -KILL "${processes[0]}"
    eventually holder_changed kc-hub "$held"
    kubectl -n "$NS" apply -f - <<'YAML'
apiVersion: robot.llleon.io/v1
kind: Robot
metadata: {name: late}
spec: {deploymentName: late, replicas: 2}
YAML
    eventually field_is deployment late '{.spec.replicas}' 2
}
