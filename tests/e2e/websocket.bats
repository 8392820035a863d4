#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Watches over WebSocket, with the library that the Python client uses; and which web pages may open them.

setup_file() { load helpers; server_start --authn-allow-localhost; }
teardown_file() { load helpers; server_stop; }
setup() { load helpers; namespace; job=; }
teardown() { background_end; }

# socket_watch ADDRESS QUERY [NAME=VALUE…]: watches the ConfigMaps of the namespace.
socket_watch() {
    local address=$1 query=$2
    shift 2
    /usr/bin/python3 "$BATS_TEST_DIRNAME/python/socket_watch.py" "ws${address#http}/api/v1/namespaces/$NS/configmaps?watch=1$query" "$@"
}

@test "watch over WebSocket delivers added, modified and deleted events" {
    config_map before
    background socket_watch "$HTTP" "" token=admintoken
    eventually background_says '^\{"type":"ADDED","object":.*"name":"before"'
    config_map greeting
    eventually background_says '^\{"type":"ADDED","object":.*"name":"greeting"'
    k label configmap greeting tier=front
    eventually background_says '^\{"type":"MODIFIED","object":.*"name":"greeting"'
    k delete configmap greeting
    eventually background_says '^\{"type":"DELETED","object":.*"name":"greeting"'
    background_says '^pong hello$'
    while read -r line; do
        [[ $line == pong* ]] || field .object.metadata.name <<<"$line"
    done <"$BATS_TEST_TMPDIR/background"
}

@test "watch over TLS equals the watch over HTTP" {
    for name in one two three; do config_map $name; done
    background_watch "/api/v1/namespaces/$NS/configmaps?watch=1"
    eventually watch_is "ADDED one ADDED three ADDED two "
    background_end
    plain=$(cat "$BATS_TEST_TMPDIR/background")
    run -0 socket_watch "$HTTPS" "" token=admintoken ca="$SERVER/root/certs/ca.crt" leave=3
    [ "$(grep '^{' <<<"$output")" = "$plain" ]
    says "closed 4000"
}

@test "close frame is answered with its code" {
    config_map greeting
    run -0 socket_watch "$HTTP" "" token=admintoken leave=1
    says '"ADDED"' 'closed 4000'
}

@test "page authenticates with a token in the subprotocol" {
    run -0 socket_watch "$HTTP" "&timeoutSeconds=1" page_token=admintoken protocol=v4.channel.k8s.io origin=https://page.example
    says "protocol v4.channel.k8s.io" "closed 1000"
    run -0 socket_watch "$HTTP" "" page_token=wrong protocol=v4.channel.k8s.io
    says "refused 401"
}

@test "cross-site page has no local trust" {
    run -0 socket_watch "$HTTP" "&timeoutSeconds=1" origin=none
    says "closed 1000"
    run -0 socket_watch "$HTTP" "&timeoutSeconds=1"
    says "closed 1000"
    run -0 socket_watch "$HTTP" "" origin=https://evil.example
    says "refused 401"
    run -0 socket_watch "$HTTP" "" origin=null
    says "refused 401"
}

# The administrator's certificate and key, in one file.
certificate() {
    local part
    for part in certificate key; do
        kubectl config view --raw -o "jsonpath={.users[0].user.client-$part-data}" | base64 -d
    done
}

@test "cross-site page cannot use the browser's client certificate" {
    certificate >"$BATS_TEST_TMPDIR/admin.pem"
    admin=(ca="$SERVER/root/certs/ca.crt" cert="$BATS_TEST_TMPDIR/admin.pem")
    run -0 socket_watch "$HTTPS" "&timeoutSeconds=1" "${admin[@]}"
    says "closed 1000"
    run -0 socket_watch "$HTTPS" "&timeoutSeconds=1" "${admin[@]}" origin=http://localhost:8001
    says "closed 1000"
    run -0 socket_watch "$HTTPS" "" "${admin[@]}" origin=https://evil.example
    says "refused 403"
}

@test "errors are returned before the upgrade" {
    run -0 socket_watch "$HTTP" "" token=wrong
    says "refused 401"
    run -0 socket_watch "$HTTP" "&labelSelector=a%3D%3D%3Db" token=admintoken
    says "refused 400"
}

@test "stopped server closes the WebSocket" {
    background socket_watch "$HTTP" "" token=admintoken
    eventually background_says '^pong hello$'
    server_signal TERM
    eventually background_says '^closed 1000$'
    eventually server_ended
    [ "$(cat "$SERVER/rc")" -eq 0 ]
}
