#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What the server refuses or warns of: unknown fields, bad bodies, bad credentials; and whom it lets in.

setup_file() { load helpers; server_start --anonymous-auth=false; }
teardown_file() { load helpers; server_stop; }
setup() { load helpers; namespace; }

UNKNOWN='{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"odd"},"dat":{"a":"b"}}'

create() {
    local query=$1
    shift
    api "/api/v1/namespaces/$NS/configmaps$query" -H 'Content-Type: application/json' "$@"
}

@test "unknown field is refused under strict validation" {
    run -0 create "?fieldValidation=Strict" -d "$UNKNOWN"
    [ "$(field .code <<<"$output")" = 400 ]
    says 'strict decoding error: unknown field \"dat\"'
    run -1 k get configmap odd
}

@test "unknown field is dropped with a warning by default" {
    run -0 create "" -d "$UNKNOWN" -D "$BATS_TEST_TMPDIR/headers"
    [ "$(field .metadata.name <<<"$output")" = odd ]
    never_says '"dat"'
    grep -qi '^warning: 299 - "unknown field \\"dat\\""' "$BATS_TEST_TMPDIR/headers"
}

@test "unknown field is dropped silently under Ignore" {
    run -0 create "?fieldValidation=Ignore" -d "$UNKNOWN" -D "$BATS_TEST_TMPDIR/headers"
    [ "$(field .metadata.name <<<"$output")" = odd ]
    run ! grep -qi '^warning:' "$BATS_TEST_TMPDIR/headers"
}

@test "kubectl shows the warnings of the server" {
    run -0 k create --raw "/api/v1/namespaces/$NS/configmaps?fieldValidation=Warn" -f - <<<"$UNKNOWN"
    says 'Warning: unknown field "dat"'
}

@test "duplicate field is refused under strict validation" {
    run -0 create "?fieldValidation=Strict" -d '{"metadata":{"name":"twice"},"data":{"a":"1"},"data":{"b":"2"}}'
    says 'duplicate field \"data\"'
}

@test "body that is not JSON is refused" {
    run -0 create "" -d '{"metadata":'
    [ "$(field .code <<<"$output")" = 400 ]
    [ "$(field .status <<<"$output")" = Failure ]
}

@test "body of another kind is refused" {
    run -0 create "" -d '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"odd"}}'
    [ "$(field .code <<<"$output")" = 400 ]
}

@test "unsupported content type is refused" {
    run -0 api "/api/v1/namespaces/$NS/configmaps" -H 'Content-Type: text/html' -d '<p>'
    [ "$(field .code <<<"$output")" = 415 ]
    [ "$(field .reason <<<"$output")" = UnsupportedMediaType ]
}

@test "invalid name is refused with its field" {
    run -1 k create configmap Not_A_Name
    says 'ConfigMap "Not_A_Name" is invalid: metadata.name: Invalid value: "Not_A_Name"' "a lowercase RFC 1123 subdomain"
}

@test "different names in path and body are refused" {
    config_map greeting
    run -0 api "/api/v1/namespaces/$NS/configmaps/greeting" -X PUT -H 'Content-Type: application/json' -d '{"metadata":{"name":"other"}}'
    [ "$(field .code <<<"$output")" = 400 ]
    says "the name of the object (other) does not match the name on the URL (greeting)"
}

@test "unsupported method is refused" {
    run -0 api "/api/v1/namespaces/$NS/configmaps" -X PUT -d '{}' -H 'Content-Type: application/json'
    [ "$(field .code <<<"$output")" = 405 ]
}

@test "body above three mebibytes is refused, and the server continues" {
    head -c 4000000 /dev/zero | tr '\0' x >"$BATS_TEST_TMPDIR/large"
    run -0 api "/api/v1/namespaces/$NS/configmaps" -o /dev/null -w '%{http_code}' -H 'Content-Type: application/json' --data-binary "@$BATS_TEST_TMPDIR/large"
    [ "$output" = 413 ]
    run -0 api "/api/v1/namespaces/$NS/configmaps" -H 'Content-Type: application/json' --data-binary "@$BATS_TEST_TMPDIR/large"
    [[ $output == *'"message":"Request entity too large: limit is 3145728","reason":"RequestEntityTooLarge","code":413'* ]]
    config_map after
}

@test "failed precondition returns a conflict" {
    config_map greeting
    run -0 api "/api/v1/namespaces/$NS/configmaps/greeting" -X DELETE -H 'Content-Type: application/json' \
        -d '{"preconditions":{"uid":"11111111-2222-4333-8444-555555555555"}}'
    [ "$(field .code <<<"$output")" = 409 ]
    k get configmap greeting
}

@test "invalid token is unauthorized on either port" {
    for url in "$HTTP" "$HTTPS"; do
        run -0 curl -sk -H 'Authorization: Bearer wrong' "$url/api/v1/namespaces"
        [ "$(field .code <<<"$output")" = 401 ]
        [ "$(field .message <<<"$output")" = Unauthorized ]
    done
    run -1 kubectl --kubeconfig /dev/null -s "$HTTPS" --insecure-skip-tls-verify --token=wrong get namespaces
    says "You must be logged in to the server"
}

@test "anonymous request is unauthorized when disabled" {
    for url in "$HTTP" "$HTTPS"; do
        [ "$(curl -sk -o /dev/null -w '%{http_code}' "$url/api/v1/namespaces")" = 401 ]
    done
}

@test "token authenticates over TLS" {
    run -0 kubectl --kubeconfig /dev/null -s "$HTTPS" --certificate-authority="$SERVER/root/certs/ca.crt" --token=admintoken get namespaces -o name
    says namespace/default
    run -0 kubectl --kubeconfig /dev/null -s "$HTTPS" --certificate-authority="$SERVER/root/certs/ca.crt" --token=usertoken auth whoami -o 'jsonpath={.status.userInfo.username}'
    says alice
    run -1 kubectl --kubeconfig /dev/null -s "$HTTPS" --certificate-authority="$SERVER/root/certs/ca.crt" --token=usertoken get namespaces -o name
    says 'namespaces is forbidden: User "alice" cannot list resource "namespaces" in API group "" at the cluster scope'
}

@test "admin certificate authenticates, and the server is verified" {
    ca=$SERVER/root/certs/ca.crt
    [ "$(curl -s --cacert "$ca" --cert "$SERVER/root/certs/admin.crt" --key "$SERVER/root/certs/admin.key" -o /dev/null \
        -w '%{http_code}' "$HTTPS/api/v1/namespaces")" = 200 ]
    # A certificate authority that is not the server's.
    run -60 curl -sS "$HTTPS/healthz"
}

@test "equivalent paths are equal, and dot segments do not escape" {
    config_map greeting
    [ "$(api "/api/v1/namespaces/$NS/%63onfigmaps/greeting" --path-as-is | field .kind)" = ConfigMap ]
    for path in "/api/v1/namespaces/$NS/secrets/../configmaps/greeting" "/api/v1//namespaces/$NS/configmaps/greeting"; do
        [ "$(api "$path" --path-as-is -o /dev/null -w '%{http_code}')" = 404 ]
    done
}

@test "health and version are public, everything else needs credentials" {
    for path in /healthz /livez /readyz /version /livez/ping; do
        [ "$(curl -s -o /dev/null -w '%{http_code}' "$HTTP$path")" = 200 ]
    done
    for path in / /api /apis /api/v1 /metrics /openapi/v3 /api/v1/namespaces /nosuchpath; do
        [ "$(curl -s -o /dev/null -w '%{http_code}' "$HTTP$path")" = 401 ]
    done
    [ "$(curl -s -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer wrong' "$HTTP/healthz")" = 401 ]
}
