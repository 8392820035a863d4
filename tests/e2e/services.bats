#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Cluster IPs, node ports and the endpoints of the Service kubernetes, with two servers on one etcd.

etcd_run() {
    etcd --name test --data-dir "$ETCD_DIR/data" --listen-client-urls "$ETCD" --advertise-client-urls "$ETCD" \
        --listen-peer-urls "$ETCD_PEER" --initial-advertise-peer-urls "$ETCD_PEER" --initial-cluster "test=$ETCD_PEER" \
        --log-level error >>"$ETCD_DIR/log" 2>&1 3>&- 4>&- &
    echo $! >"$ETCD_DIR/pid"
}

etcd_is_up() { curl -sf "$ETCD/health" >/dev/null; }

etcd_start() {
    local client peer
    ETCD_DIR=$(mktemp -d "$BATS_FILE_TMPDIR/etcd.XXXXXX")
    read -r client peer < <(free_ports)
    ETCD=http://127.0.0.1:$client ETCD_PEER=http://127.0.0.1:$peer
    export ETCD ETCD_PEER ETCD_DIR
    etcd_run
    eventually etcd_is_up
}

etcd_stop() { end_now "$(cat "$ETCD_DIR/pid")"; }

setup_file() {
    load helpers
    command -v etcd >/dev/null || skip "there is no etcd"
    etcd_start
    server_start --backend=etcd --etcd-servers="$ETCD" --advertise-address=10.0.0.1
}

teardown_file() {
    load helpers
    each server_stop etcd_stop
}

setup() { load helpers; namespace; later=(); }
teardown() { servers_stop "${later[@]}"; }

# second_server COMMAND…: with a second server on the same etcd; $FIRST and $FIRST_HTTP are the first one's.
second_server() {
    local FIRST=$KUBECONFIG FIRST_HTTP=$HTTP SERVER HTTP HTTPS KUBECONFIG KUBECACHEDIR
    SERVER=$(mktemp -d "$BATS_FILE_TMPDIR/server.XXXXXX")
    later+=("$SERVER")
    server_start --backend=etcd --etcd-servers="$ETCD" --advertise-address=10.0.0.2
    "$@"
    server_stop
}

on_first() { kubectl --kubeconfig="$FIRST" -n "$NS" "$@"; }

# create_many HTTP PREFIX N: so many Services of the type NodePort, 16 at a time; prints their codes.
create_many() {
    local i
    for i in $(seq "$3"); do
        [ "$i" = 1 ] || echo next
        printf 'url = "%s/api/v1/namespaces/%s/services"\n' "$1" "$NS"
        printf 'header = "Authorization: Bearer admintoken"\nheader = "Content-Type: application/json"\n'
        printf 'data = "{\\"metadata\\":{\\"name\\":\\"%s-%s\\"},\\"spec\\":{\\"type\\":\\"NodePort\\",\\"ports\\":[{\\"port\\":80}]}}"\n' "$2" "$i"
        printf 'output = "/dev/null"\nwrite-out = "%%{http_code}\\n"\n'
    done >"$BATS_TEST_TMPDIR/$2.curl"
    curl -sZ --max-time 300 --parallel-max 16 -K "$BATS_TEST_TMPDIR/$2.curl" >"$BATS_TEST_TMPDIR/$2.codes"
}

recorded_addresses() { kubectl get ipaddresses -o jsonpath="{range .items[?(@.spec.parentRef.namespace=='$NS')]}{.metadata.name}{'\n'}{end}" | sort; }

# The number of ports in the record of etcd: field 3 of a RangeAllocation in protobuf is a bitmap.
recorded_ports() {
    etcdctl --endpoints "$ETCD" get /registry/ranges/servicenodeports -w json | python3 -c '
import base64, json, sys
sys.path.append(sys.argv[1])
from etcd_values import MAGIC, fields
value = base64.b64decode(json.load(sys.stdin)["kvs"][0]["value"])
allocation = dict(fields(dict(fields(value[len(MAGIC):]))[2]))
print(bin(int.from_bytes(allocation.get(3, b""), "big")).count("1"))' "$E2E/../system"
}

numbers_are_unique() {
    local other
    create_many "$FIRST_HTTP" first 100 3>&- 4>&- &
    other=$!
    create_many "$HTTP" second 100
    LIMIT=300 wait_for "$other"
    [ "$(cat "$BATS_TEST_TMPDIR"/{first,second}.codes | sort | uniq -c | tr -s ' ')" = " 200 201" ]
    k get services -o jsonpath='{range .items[*]}{.spec.clusterIP}{"\n"}{end}' | sort >"$BATS_TEST_TMPDIR/ips"
    k get services -o jsonpath='{range .items[*]}{.spec.ports[0].nodePort}{"\n"}{end}' | sort >"$BATS_TEST_TMPDIR/ports"
    [ "$(sort -u "$BATS_TEST_TMPDIR/ips" | wc -l)" = 200 ]
    [ "$(sort -u "$BATS_TEST_TMPDIR/ports" | wc -l)" = 200 ]
    recorded_addresses | diff - "$BATS_TEST_TMPDIR/ips"
    [ "$(recorded_ports)" = 200 ]
    on_first delete services --all
    [ -z "$(recorded_addresses)" ]
    [ "$(recorded_ports)" = 0 ]
}

@test "200 Services that two servers create at once have different cluster IPs and node ports, and their deletion frees them" {
    second_server numbers_are_unique
}

conflicts_are_refused() {
    on_first create service clusterip taken --tcp=80 --clusterip=10.96.0.77
    on_first create service nodeport port --tcp=80 --node-port=30077
    run ! k create service clusterip other --tcp=80 --clusterip=10.96.0.77
    says "failed to allocate IP 10.96.0.77: provided IP is already allocated"
    run ! k create service nodeport other --tcp=80 --node-port=30077
    says "provided port is already allocated"
    on_first delete service taken port
    k create service clusterip other --tcp=80 --clusterip=10.96.0.77
    k create service nodeport other-port --tcp=80 --node-port=30077
}

@test "cluster IP and node port that a Service of the other server has are refused until it is deleted" {
    second_server conflicts_are_refused
}

# requests_for N: creations with the same cluster IP on both servers at once; prints their codes.
requests_for() {
    local i
    for i in $(seq "$1"); do
        [ $((i % 2)) = 0 ] && url=$HTTP || url=$FIRST_HTTP
        curl -s --max-time 90 -o /dev/null -w '%{http_code}\n' -H 'Authorization: Bearer admintoken' -H 'Content-Type: application/json' \
            -d "{\"metadata\":{\"name\":\"race-$i\"},\"spec\":{\"type\":\"NodePort\",\"clusterIP\":\"10.96.0.88\",\"ports\":[{\"port\":80,\"nodePort\":30088}]}}" \
            "$url/api/v1/namespaces/$NS/services" 3>&- 4>&- &
    done
    wait
}

one_of_many_gets_the_number() {
    codes=$(requests_for 16 | sort | uniq -c | tr -s ' ')
    [ "$codes" = " 1 201
 15 422" ]
}

@test "one of 16 simultaneous requests on two servers gets a cluster IP and node port" {
    second_server one_of_many_gets_the_number
}

endpoints() { kubectl --kubeconfig="${1:-$KUBECONFIG}" get endpointslice kubernetes -n default -o jsonpath='{range .endpoints[*]}{.addresses[0]} {end}'; }
has_endpoints() { [ "$(endpoints "$1")" = "$2" ] && [ "$(kubectl --kubeconfig="$1" get endpoints kubernetes -n default -o jsonpath='{range .subsets[0].addresses[*]}{.ip} {end}' 2>/dev/null)" = "$2" ]; }

killed_server_leaves_the_endpoints() {
    eventually has_endpoints "$FIRST" "10.0.0.1 10.0.0.2 "
    has_endpoints "$KUBECONFIG" "10.0.0.1 10.0.0.2 "
    server_signal KILL
    eventually server_ended
    rm "$SERVER/pid"
    LIMIT=$(bound 25 200) eventually has_endpoints "$FIRST" "10.0.0.1 "
}

@test "endpoints of the Service kubernetes are the servers; a killed one leaves when its lease has expired" {
    second_server killed_server_leaves_the_endpoints
}

@test "server that is stopped leaves the endpoints at once" {
    second_server eventually has_endpoints "$KUBECONFIG" "10.0.0.1 10.0.0.2 "
    has_endpoints "$KUBECONFIG" "10.0.0.1 "
    [ -z "$(etcdctl --endpoints "$ETCD" get /registry/masterleases/10.0.0.2 --keys-only)" ]
}

# As an etcd that another version filled: the objects of the allocators are missing.
repaired_at_start() {
    local ip
    ip=$(k get service web -o jsonpath='{.spec.clusterIP}')
    [ "$(recorded_addresses)" = "$ip" ]
    run ! k create service nodeport other --tcp=80 --node-port=30099
    says "provided port is already allocated"
}

@test "missing records of cluster IPs and node ports are created when a server starts" {
    k create service nodeport web --tcp=80 --node-port=30099
    etcdctl --endpoints "$ETCD" del "/registry/ipaddresses/$(k get service web -o jsonpath='{.spec.clusterIP}')"
    etcdctl --endpoints "$ETCD" del /registry/ranges/servicenodeports
    second_server repaired_at_start
}

@test "flags of Services are checked" {
    refused() {
        local message=$1
        shift
        run ! "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/root" "$@"
        says "$message"
    }
    refused "--service-cluster-ip-range: invalid value '10.96.0.0'" --service-cluster-ip-range=10.96.0.0
    refused "--service-cluster-ip-range: invalid value '10.96.0.0/30'" --service-cluster-ip-range=10.96.0.0/30
    refused "--service-node-port-range: invalid value '30000'" --service-node-port-range=30000
    refused "--advertise-address: invalid value '127.0.0.1'" --advertise-address=127.0.0.1
}
