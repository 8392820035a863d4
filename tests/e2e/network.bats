#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Networks, as the document shows them: its definition and its object by kubectl apply, a network service outside of the cluster, and
# the reconciler that keeps the two in step.

setup_file() {
    load helpers
    server_start
    cd "$E2E/../.."
}
teardown_file() { load helpers; server_stop; }

setup() {
    load helpers
    cd "$E2E/../.."
    NS=default
    hub_pid=
    networks_pid=
    read -r port _ < <(free_ports)
    NETWORKS=http://127.0.0.1:$port/v1/networks
    FILE=$BATS_TEST_TMPDIR/networks.json
    CONFIG=$BATS_TEST_TMPDIR/network.yaml
    printf 'reconcilers:\n  network:\n    service: http://127.0.0.1:%s\n    token-file: %s\n' "$port" "$FILE.token" >"$CONFIG"
}

teardown() {
    local rc=0
    each hub_stop networks_stop || rc=1
    kubectl delete crd networks.samplecrd.k8s.io --timeout=90s >/dev/null 2>&1 || true
    return $rc
}

# networks_start: the service, over its file; returns when it is ready.
networks_start() {
    "$KC" networks --listen="127.0.0.1:$port" --file="$FILE" "$@" >>"$BATS_TEST_TMPDIR/networks.log" 2>&1 3>&- 4>&- &
    networks_pid=$!
    eventually networks_are_ready
    kill -0 "$networks_pid" || { cat "$BATS_TEST_TMPDIR/networks.log"; return 1; }
}

networks_are_ready() { ! kill -0 "$networks_pid" 2>/dev/null || curl -sf -o /dev/null "${NETWORKS%/v1/networks}/healthz"; }

networks_stop() {
    local rc=0 ended=$networks_pid
    [ -n "$ended" ] || return 0
    networks_pid=
    kill -TERM "$ended" || { cat "$BATS_TEST_TMPDIR/networks.log"; return 1; }
    wait_for "$ended" || rc=$?
    [ "$rc" -eq 0 ] || { echo "exit code $rc"; cat "$BATS_TEST_TMPDIR/networks.log"; return 1; }
    ! grep -nE 'Sanitizer|runtime error:|Assertion|Segmentation' "$BATS_TEST_TMPDIR/networks.log"
}

networks_kill() {
    kill -KILL "$networks_pid"
    wait_for "$networks_pid" || true
    networks_pid=
}

# ask ARG…: curl with the token of the service.
ask() { curl -H "Authorization: Bearer $(cat "$FILE.token")" "$@"; }

# service_has PATH FIELD VALUE: what the service says of a network.
service_has() { [ "$(ask -s "$NETWORKS/$1" | field "$2" 2>/dev/null)" = "$3" ]; }
service_lacks() { [ "$(ask -s -o /dev/null -w '%{http_code}' "$NETWORKS/$1")" = 404 ]; }
told() { k get events --field-selector "reason=$1" -o jsonpath='{.items[*].message}' | grep -q -- "$2"; }

# The document's own text.
the_definition() {
    cat <<'YAML'
apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
metadata:
  name: networks.samplecrd.k8s.io
spec:
  group: samplecrd.k8s.io
  version: v1
  names:
    kind: Network
    plural: networks
  scope: Namespaced
YAML
}

the_object() {
    cat <<'YAML'
apiVersion: samplecrd.k8s.io/v1
kind: Network
metadata:
  name: example-network
spec:
  cidr: "192.168.0.0/16"
  gateway: "192.168.0.1"
YAML
}

@test "files of the document equal those of the repository" {
    diff <(the_definition) manifests/network/v1beta1/crd.yaml
    diff <(the_object) manifests/network/example/example-network.yaml
}

@test "network of the document is created, changed and deleted" {
    the_definition | kubectl apply -f -
    kubectl wait --for=condition=Established --timeout=90s crd/networks.samplecrd.k8s.io
    networks_start
    hub_start run network -c "$CONFIG"
    the_object | kubectl apply -f -
    eventually service_has default/example-network .cidr 192.168.0.0/16
    service_has default/example-network .gateway 192.168.0.1
    service_has default/example-network .owner kubecontroller
    run -0 kubectl get network example-network -o yaml
    says "cidr: 192.168.0.0/16" "gateway: 192.168.0.1"
    the_object | sed 's/192.168.0.1"/192.168.7.7"/' | kubectl apply -f -
    eventually service_has default/example-network .gateway 192.168.7.7
    the_object | sed 's/192.168.0/10.7.0/g' | kubectl apply -f -
    eventually service_has default/example-network .cidr 10.7.0.0/16
    kubectl delete network example-network
    eventually service_lacks default/example-network
    eventually told Created 192.168.0.0/16
    eventually told Updated 10.7.0.0/16
    eventually told Deleted "deleted the network"
}

@test "object deleted during an outage of the reconciler is cleaned up later" {
    kubectl apply -f manifests/network/v1beta1
    networks_start
    hub_start run network -c "$CONFIG"
    kubectl apply -f manifests/network/example
    eventually service_has default/example-network .cidr 192.168.0.0/16
    ask -sf -o /dev/null -X PUT -d '{"cidr":"172.16.0.0/12"}' "$NETWORKS/default/by-hand"
    hub_stop
    kubectl delete network example-network
    service_has default/example-network .cidr 192.168.0.0/16
    hub_start run network -c "$CONFIG"
    eventually service_lacks default/example-network
    service_has default/by-hand .cidr 172.16.0.0/12
}

@test "killed service keeps its networks and is updated after its restart" {
    kubectl apply -f manifests/network/v1beta1
    networks_start
    hub_start run network -c "$CONFIG"
    kubectl apply -f manifests/network/example
    eventually service_has default/example-network .cidr 192.168.0.0/16
    networks_kill
    the_object | sed 's/example-network/second/; s/192.168.0/10.7.0/g' | kubectl apply -f -
    eventually told Unreachable "network service"
    networks_start
    service_has default/example-network .cidr 192.168.0.0/16
    eventually service_has default/second .cidr 10.7.0.0/16
    networks_kill
    networks_start
    service_has default/second .gateway 10.7.0.1
}

@test "current CRD is applied by directory and has a status" {
    kubectl apply -f manifests/network
    kubectl wait --for=condition=Established --timeout=90s crd/networks.samplecrd.k8s.io
    networks_start
    hub_start run network -c "$CONFIG"
    kubectl apply -f manifests/network/example
    is_ready() { kubectl get networks | grep -qE "^example-network +192.168.0.0/16 +192.168.0.1 +$1 "; }
    eventually is_ready true
    the_object | sed 's/example-network/second/; s/192.168.0.0\/16/192.168.7.0\/24/; s/0.1"/7.1"/' | kubectl apply -f -
    eventually told Conflict "192.168.7.0/24 overlaps with 192.168.0.0/16 of default/example-network"
    service_lacks default/second
    kubectl delete network example-network
    eventually service_has default/second .cidr 192.168.7.0/24
    the_object | sed 's/"192.168.0.1"/"10.0.0.1"/; s/example-network/third/; s/192.168.0/10.7.0/' | kubectl apply -f -
    eventually told Invalid "gateway \"10.0.0.1\" is not within the network"
    eventually field_is network third '{.status.ready}' false
}

@test "one CRD may replace the other" {
    kubectl apply -f manifests/network/v1beta1
    kubectl apply -f manifests/network/example
    kubectl apply -f manifests/network
    run -0 kubectl get network example-network -o 'jsonpath={.spec.cidr}'
    [ "$output" = 192.168.0.0/16 ]
    kubectl apply -f manifests/network/v1beta1
}

@test "service refuses invalid requests with a message" {
    networks_start
    run -0 ask -s -X PUT -d '{"cidr":"10.0.0.1/8"}' "$NETWORKS/default/one"
    says '"code":422' 'did you mean \"10.0.0.0/8\"?'
    run -0 ask -si -X POST "$NETWORKS/default/one"
    says "405 Method Not Allowed" "Allow: GET, PUT, DELETE"
    run -0 ask -si -X PUT -d '{"cidr":"10.0.0.0/8"}' "$NETWORKS/default/one"
    says "201 Created" 'ETag: "1"'
    run -0 ask -si -X PUT -H 'If-Match: "7"' -d '{"cidr":"11.0.0.0/8"}' "$NETWORKS/default/one"
    says "412 Precondition Failed"
    head -c 20000 /dev/zero | tr '\0' x >"$BATS_TEST_TMPDIR/long"
    run -0 ask -s -X PUT -d "@$BATS_TEST_TMPDIR/long" "$NETWORKS/default/one"
    says '"code":413'
}

@test "service refuses requests without its token" {
    networks_start
    [ "$(stat -c %a "$FILE.token")" = 600 ]
    code() { curl -s -o /dev/null -w '%{http_code}' "$@"; }
    [ "$(code "$NETWORKS")" = 401 ]
    [ "$(code -H 'Authorization: Bearer wrong' "$NETWORKS")" = 401 ]
    [ "$(code -X PUT -d '{"cidr":"10.0.0.0/8"}' "$NETWORKS/default/one")" = 401 ]
    [ "$(ask -s -o /dev/null -w '%{http_code}' "$NETWORKS/default/one")" = 404 ]
    [ "$(code "${NETWORKS%/v1/networks}/healthz")" = 200 ]
}

@test "service refuses requests of web pages" {
    networks_start
    code() { ask -s -o /dev/null -w '%{http_code}' "$@" "$NETWORKS"; }
    [ "$(code)" = 200 ]
    [ "$(code -H "Host: localhost:$port")" = 200 ]
    [ "$(code -H 'Host: rebound.example:6090')" = 403 ]
    [ "$(code -H 'Origin: http://127.0.0.1:1')" = 403 ]
    [ "$(code -H 'Sec-Fetch-Site: cross-site')" = 403 ]
}

@test "invalid arguments are refused" {
    networks_start
    run -1 "$KC" networks --listen="127.0.0.1:$port" --token-file="$FILE.token"
    says "kc networks: serve 127.0.0.1:$port: " "in use"
    run -1 "$KC" networks --listen=127.0.0.1:0 --file="$FILE"
    says "is in use by another process"
    run -1 "$KC" networks --listen=127.0.0.1:0 --file=/no/such/folder/networks.json
    says "/no/such/folder"
    run -1 "$KC" networks --listen=nowhere --token-file="$FILE.token"
    says "kc networks: "
    run -2 "$KC" networks
    says "--token-file is required without --file"
    chmod 644 "$FILE.token"
    run -1 "$KC" networks --listen=127.0.0.1:0 --token-file="$FILE.token"
    says "accessible to other users (mode 644)"
    run -2 "$KC" networks --lissten=x
    says "did you mean"
    printf 'reconcilers: {network: {sevice: here}}\n' >"$CONFIG"
    run -1 "$KC" run network -c "$CONFIG"
    says "did you mean \"service\"?"
}
