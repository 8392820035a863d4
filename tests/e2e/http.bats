#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The protocols below the API, as curl speaks them.

setup_file() { load helpers; server_start; }
teardown_file() { load helpers; server_stop; }
setup() { load helpers; namespace; }

# ask OPTION… URL: curl as the administrator, to either port.
ask() { curl -sk --max-time 90 -H 'Authorization: Bearer admintoken' "$@"; }

@test "TLS clients negotiate the HTTP version" {
    [ "$(ask --http2 -o /dev/null -w '%{http_version}' "$HTTPS/healthz")" = 2 ]
    [ "$(ask --http1.1 -o /dev/null -w '%{http_version}' "$HTTPS/healthz")" = 1.1 ]
}

@test "plain clients get HTTP/1.1, and HTTP/2 with prior knowledge" {
    [ "$(ask -o /dev/null -w '%{http_version}' "$HTTP/healthz")" = 1.1 ]
    [ "$(ask --http2-prior-knowledge -o /dev/null -w '%{http_version}' "$HTTP/healthz")" = 2 ]
}

@test "TLS older than 1.2 is refused" {
    run ! ask --tls-max 1.1 --ciphers DEFAULT@SECLEVEL=0 "$HTTPS/healthz"
    [ "$(ask --tls-max 1.2 "$HTTPS/healthz")" = ok ]
    [ "$(ask --tlsv1.3 "$HTTPS/healthz")" = ok ]
}

@test "one connection serves many requests" {
    config_map greeting
    for connection in "--http1.1 $HTTP" "--http1.1 $HTTPS" "--http2 $HTTPS"; do
        read -r version url <<<"$connection"
        urls=()
        for _ in $(seq 50); do urls+=(-o /dev/null "$url/api/v1/namespaces/$NS/configmaps/greeting"); done
        run -0 ask "$version" -w '%{http_code} %{num_connects}\n' "${urls[@]}"
        [ "$(grep -c '^200' <<<"$output")" -eq 50 ]
        [ "$(awk '{n += $2} END {print n}' <<<"$output")" -eq 1 ]
    done
}

@test "large list is compressed on request and has the same content" {
    for i in $(seq 60); do echo "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"many-$i\"},\"data\":{\"text\":\"$(head -c 3000 /dev/zero | tr '\0' x)\"}}"; done |
        k create --validate=false -f - >/dev/null
    path=/api/v1/namespaces/$NS/configmaps
    api "$path" -o "$BATS_TEST_TMPDIR/plain"
    for version in --http1.1 --http2-prior-knowledge; do
        size=$(api "$path" "$version" --compressed -o "$BATS_TEST_TMPDIR/unpacked" -D "$BATS_TEST_TMPDIR/headers" -w '%{size_download}')
        grep -qi '^content-encoding: gzip' "$BATS_TEST_TMPDIR/headers"
        [ "$size" -lt 60000 ]
        cmp "$BATS_TEST_TMPDIR/plain" "$BATS_TEST_TMPDIR/unpacked"
    done
}

@test "small response is not compressed" {
    run -0 api /api/v1/namespaces/default --compressed -o /dev/null -D -
    never_says "ontent-encoding"
}

@test "curl gets indented JSON, and other clients compact JSON" {
    [ "$(api /api/v1/namespaces/default | wc -l)" -gt 5 ]
    [ "$(api /api/v1/namespaces/default -A kubectl/v1.34.0 | wc -l)" -le 1 ]
    [ "$(api '/api/v1/namespaces/default?pretty=1' -A kubectl/v1.34.0 | wc -l)" -gt 5 ]
    [ "$(api '/api/v1/namespaces/default?pretty=0' | wc -l)" -le 1 ]
}

@test "tables and partial metadata are returned on request" {
    config_map greeting
    path=/api/v1/namespaces/$NS/configmaps
    [ "$(api "$path" -H 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io' | field .kind)" = Table ]
    run -0 api "$path" -H 'Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
    [ "$(field .kind <<<"$output")" = PartialObjectMetadataList ]
    never_says '"data"'
    [ "$(api "$path" -H 'Accept: text/html' | field .code)" = 406 ]
}

@test "HEAD returns the headers only" {
    run -0 api /healthz -I
    says "200" "ontent-"
}

@test "every response has its own audit id" {
    ids=$(for _ in 1 2 3; do api /api/v1/namespaces -o /dev/null -D - | grep -i '^audit-id:'; done)
    [ "$(sort -u <<<"$ids" | wc -l)" -eq 3 ]
}
