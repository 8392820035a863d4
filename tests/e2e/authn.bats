#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Authenticators that need configuration: files that are read again when they change, front proxies, bootstrap tokens, a webhook that reviews
# tokens.

# authority NAME: $CERTS/NAME.crt and .key, a certificate authority.
authority() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" \
        -keyout "$CERTS/$1.key" -out "$CERTS/$1.crt" 2>/dev/null
}

# leaf NAME CA SUBJECT [EXTENSION]: $CERTS/NAME.crt and .key, issued by CA; the extension defaults to a certificate for clients. The attribute
# "userUID" of a subject is the uid of the user.
leaf() {
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -config <(printf '%s\n' oid_section=oids '[oids]' userUID=1.3.6.1.4.1.57683.2 '[req]' distinguished_name=dn '[dn]') \
        -subj "$3" -keyout "$CERTS/$1.key" -out "$CERTS/$1.csr" 2>/dev/null
    openssl x509 -req -in "$CERTS/$1.csr" -CA "$CERTS/$2.crt" -CAkey "$CERTS/$2.key" -CAcreateserial -days 1 \
        -extfile <(printf '%s\n' "${4:-extendedKeyUsage=clientAuth}") -out "$CERTS/$1.crt" 2>/dev/null
}

setup_file() {
    load helpers
    export CERTS=$BATS_FILE_TMPDIR/certs REVIEWS=$BATS_FILE_TMPDIR/reviews
    mkdir -p "$CERTS" "$REVIEWS"
    authority users && authority proxies && authority others
    leaf carol users '/CN=carol/O=dev/userUID=1234'
    leaf proxy proxies '/CN=front-proxy'
    leaf stranger proxies '/CN=stranger'
    leaf foreign others '/CN=carol/O=system:masters'
    leaf serving users '/CN=127.0.0.1' 'subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:issuer.test'
    cp "$CERTS/users.crt" "$CERTS/client-ca.crt"
    cp "$CERTS/serving.crt" "$REVIEWS/server.crt"
    cp "$CERTS/serving.key" "$REVIEWS/server.key"
    read -r ISSUER_PORT _ < <(free_ports)
    export ISSUER_PORT
    "$E2E/fixtures/issuer" "$REVIEWS" "$ISSUER_PORT" >"$REVIEWS/out" 2>&1 3>&- 4>&- &
    echo $! >"$REVIEWS/pid"
    eventually curl -sko /dev/null "https://127.0.0.1:$ISSUER_PORT/"
    cat >"$REVIEWS/kubeconfig" <<END
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:$ISSUER_PORT/review", certificate-authority: $CERTS/users.crt}}]
users: [{name: u, user: {token: webhook-secret}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
END
    chmod 600 "$REVIEWS/kubeconfig"
    server_start --client-ca-file="$CERTS/client-ca.crt" --requestheader-client-ca-file="$CERTS/proxies.crt" \
        --requestheader-allowed-names=front-proxy --requestheader-username-headers=X-Remote-User --requestheader-uid-headers=X-Remote-Uid \
        --requestheader-group-headers=X-Remote-Group --requestheader-extra-headers-prefix=X-Remote-Extra- \
        --enable-bootstrap-token-auth --authentication-token-webhook-config-file="$REVIEWS/kubeconfig" \
        --authentication-token-webhook-version=v1 --authentication-token-webhook-cache-ttl=1h
    export CA=$SERVER/root/certs/ca.crt
}
teardown_file() {
    load helpers
    end_now "$(cat "$REVIEWS/pid")"
    server_stop
}
setup() { load helpers; job=; }
teardown() { background_end; }

WHOAMI='{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}'

# ask ARGUMENT…: a SelfSubjectReview by curl; "USER UID GROUP,GROUP EXTRA", or the status code. Over HTTP/1.1: curl 7 loses the early response to a
# request with a body over HTTP/2.
ask() {
    curl -s --http1.1 --cacert "$CA" -H 'Content-Type: application/json' -d "$WHOAMI" "$@" "$HTTPS/apis/authentication.k8s.io/v1/selfsubjectreviews" |
        python3 -c '
import json, sys
a = json.load(sys.stdin)
u = a.get("status", {}).get("userInfo") if a["kind"] != "Status" else None
print(a["code"] if u is None else " ".join([u["username"], u.get("uid", "-"), ",".join(u.get("groups", [])),
    ",".join(k + "=" + "+".join(v) for k, v in sorted(u.get("extra", {}).items()) if "credential-id" not in k)]).strip())'
}

with_cert() { ask --cert "$CERTS/$1.crt" --key "$CERTS/$1.key" "${@:2}"; }
with_bearer() { ask -H "Authorization: Bearer $1" "${@:2}"; }

answers() { [ "$("${@:2}")" = "$1" ]; }

# ---- client certificates

@test "client certificate of the CA file identifies its user, with uid and groups" {
    answers 'carol 1234 dev,system:authenticated' with_cert carol
}

@test "certificate of another authority gets 401, and a valid token beside it is accepted" {
    answers 401 with_cert foreign
    [ "$(curl -s -o /dev/null -w '%{http_code}' --cacert "$CA" --cert "$CERTS/foreign.crt" --key "$CERTS/foreign.key" "$HTTPS/healthz")" = 401 ]
    answers 'alice 2 dev,system:authenticated' with_cert foreign -H 'Authorization: Bearer usertoken'
}

@test "certificate that is not for clients gets 401" {
    leaf served users '/CN=carol' extendedKeyUsage=serverAuth
    answers 401 with_cert served
    leaf any users '/CN=dave' extendedKeyUsage=anyExtendedKeyUsage
    answers 'dave - system:authenticated' with_cert any
    leaf plain users '/CN=erin' subjectKeyIdentifier=hash
    answers 'erin - system:authenticated' with_cert plain
}

@test "expired certificate gets 401" {
    openssl x509 -req -in "$CERTS/carol.csr" -CA "$CERTS/users.crt" -CAkey "$CERTS/users.key" -CAcreateserial -not_before 20200101000000Z -not_after 20200102000000Z \
        -extfile <(echo extendedKeyUsage=clientAuth) -out "$CERTS/old.crt" 2>/dev/null || skip "openssl cannot set dates"
    cp "$CERTS/carol.key" "$CERTS/old.key"
    answers 401 with_cert old
}

# ---- reload

@test "changed token file is in effect within seconds, and a broken one is not" {
    printf '%s\n%s\n' "$TOKENS" 'fresh,frank,7,"ops"' >"$SERVER/tokens.csv"
    eventually answers 'frank 7 ops,system:authenticated' with_bearer fresh
    echo 'only,two' >"$SERVER/tokens.csv"
    eventually grep -q 'reload failed; the previous contents stay in effect.*token-auth-file' "$SERVER/err"
    answers 'frank 7 ops,system:authenticated' with_bearer fresh
    run -0 curl -s -H 'Authorization: Bearer admintoken' "$HTTP/metrics"
    says 'kc_file_reloads_total{flag="token-auth-file",result="failure"} 1'
    printf '%s\n' "$TOKENS" >"$SERVER/tokens.csv"
    eventually answers 401 with_bearer fresh
}

@test "changed client CA bundle is in effect for new requests and published" {
    leaf grace others '/CN=grace'
    answers 401 with_cert grace
    cat "$CERTS/users.crt" "$CERTS/others.crt" >"$CERTS/client-ca.crt"
    eventually answers 'grace - system:authenticated' with_cert grace
    eventually published client-ca-file "$(tail -n 2 "$CERTS/others.crt" | head -n 1)"
    echo '-----BEGIN CERTIFICATE-----' >>"$CERTS/client-ca.crt"
    eventually grep -q 'reload failed.*client-ca-file' "$SERVER/err"
    answers 'grace - system:authenticated' with_cert grace
    cp "$CERTS/users.crt" "$CERTS/client-ca.crt"
    eventually answers 401 with_cert grace
}

published() { kubectl -n kube-system get configmap extension-apiserver-authentication -o jsonpath="{.data.$1}" | grep -qF -- "$2"; }

serves() { openssl s_client -connect "${HTTPS#https://}" </dev/null 2>/dev/null | openssl x509 -noout -subject | grep -q "$1"; }

@test "replaced serving certificate is presented to new connections" {
    [ -e "$SERVER/root/certs/apiserver.crt" ]
    cp "$SERVER/root/certs/apiserver.crt" "$BATS_TEST_TMPDIR/old.crt"
    cp "$SERVER/root/certs/apiserver.key" "$BATS_TEST_TMPDIR/old.key"
    echo broken >"$SERVER/root/certs/apiserver.crt"
    eventually grep -q 'reload failed.*apiserver.crt' "$SERVER/err"
    serves kubecontroller-apiserver
    leaf renewed users '/CN=renewed' 'subjectAltName=IP:127.0.0.1'
    cat "$CERTS/renewed.key" >"$SERVER/root/certs/apiserver.key"
    cat "$CERTS/renewed.crt" >"$SERVER/root/certs/apiserver.crt"
    eventually serves renewed
    cat "$BATS_TEST_TMPDIR/old.key" >"$SERVER/root/certs/apiserver.key"
    cat "$BATS_TEST_TMPDIR/old.crt" >"$SERVER/root/certs/apiserver.crt"
    eventually serves kubecontroller-apiserver
}

# ---- front proxies

@test "front proxy names the user in header fields" {
    answers 'heidi 77 a,b,system:authenticated scopes=x+y' with_cert proxy -H 'X-Remote-User: heidi' -H 'x-remote-uid: 77' -H 'X-Remote-Group: a' \
        -H 'X-REMOTE-GROUP: b' -H 'X-Remote-Extra-Scopes: x' -H 'X-Remote-Extra-scopes: y' --http2
    answers 'heidi - system:authenticated acme.com/project=p' with_cert proxy -H 'X-Remote-User: heidi' -H 'X-Remote-Extra-Acme.com%2fproject: p'
}

@test "front proxy without a user, or with a name that is not allowed, gets 401" {
    answers 401 with_cert proxy
    answers 401 with_cert proxy -H 'X-Remote-User;' -H 'X-Remote-Group: system:masters'
    answers 401 with_cert stranger -H 'X-Remote-User: heidi'
}

@test "front proxy header fields of other clients mean nothing" {
    local fields=(-H 'X-Remote-User: admin' -H 'X-Remote-Group: system:masters' -H 'X-Remote-Uid: 0')
    answers 'carol 1234 dev,system:authenticated' with_cert carol "${fields[@]}"
    answers 'alice 2 dev,system:authenticated' with_bearer usertoken "${fields[@]}"
    answers 'carol 1234 dev,system:authenticated' with_cert carol "${fields[@]}" --http2
    answers 401 ask "${fields[@]}"
    [ "$(curl -s --http2 -o /dev/null -w '%{http_code} %{http_version}' --cacert "$CA" "${fields[@]}" "$HTTPS/api/v1/namespaces")" = '401 2' ]
    answers 401 with_cert foreign "${fields[@]}"
    answers 401 with_cert proxy -H 'X_Remote_User: admin' -H 'X_Remote_Group: system:masters'
    answers 'first - system:authenticated' with_cert proxy -H 'X-Remote-User: first' -H 'X-Remote-User: second' -H 'X_Remote_User: third'
    # As a subprotocol of a WebSocket, with the token of a user.
    [ "$(curl -s -o /dev/null -w '%{http_code}' --http1.1 --cacert "$CA" -H 'Connection: Upgrade' -H 'Upgrade: websocket' -H 'Sec-WebSocket-Version: 13' \
        -H 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==' "${fields[@]}" "$HTTPS/api/v1/namespaces?watch=1")" = 401 ]
}

@test "front proxy configuration is published" {
    published requestheader-client-ca-file "$(tail -n 2 "$CERTS/proxies.crt" | head -n 1)"
    published requestheader-username-headers '["X-Remote-User"]'
    published requestheader-uid-headers '["X-Remote-Uid"]'
    published requestheader-group-headers '["X-Remote-Group"]'
    published requestheader-extra-headers-prefix '["X-Remote-Extra-"]'
    published requestheader-allowed-names '["front-proxy"]'
}

# ---- bootstrap tokens

# bootstrap ID SECRET KEY=VALUE…: a token; authentication is allowed unless a pair says otherwise.
bootstrap() {
    local args=(--from-literal=token-id="$1" --from-literal=token-secret="$2") pair
    for pair in "${@:3}"; do args+=(--from-literal="$pair"); done
    kubectl -n kube-system delete secret "bootstrap-token-$1" --ignore-not-found >/dev/null
    kubectl -n kube-system create secret generic "bootstrap-token-$1" --type=bootstrap.kubernetes.io/token "${args[@]}" >/dev/null
}

@test "bootstrap token authenticates its user until the Secret is deleted" {
    bootstrap abc123 0123456789abcdef usage-bootstrap-authentication=true auth-extra-groups=system:bootstrappers:b,system:bootstrappers:a
    answers 'system:bootstrap:abc123 - system:bootstrappers,system:bootstrappers:a,system:bootstrappers:b,system:authenticated' \
        with_bearer abc123.0123456789abcdef
    answers 401 with_bearer abc123.0123456789abcdee
    answers 401 with_bearer abc12.30123456789abcdef
    kubectl -n kube-system delete secret bootstrap-token-abc123
    answers 401 with_bearer abc123.0123456789abcdef
}

@test "bootstrap token needs its usage, a time to come, and groups of bootstrappers" {
    bootstrap abc124 0123456789abcdef
    answers 401 with_bearer abc124.0123456789abcdef
    bootstrap abc124 0123456789abcdef usage-bootstrap-authentication=true expiration=2020-01-01T00:00:00Z
    answers 401 with_bearer abc124.0123456789abcdef
    bootstrap abc124 0123456789abcdef usage-bootstrap-authentication=true expiration=tomorrow
    answers 401 with_bearer abc124.0123456789abcdef
    bootstrap abc124 0123456789abcdef usage-bootstrap-authentication=true auth-extra-groups=system:masters
    answers 401 with_bearer abc124.0123456789abcdef
    bootstrap abc124 0123456789abcdef usage-bootstrap-authentication=true expiration=2999-01-01T00:00:00Z
    answers 'system:bootstrap:abc124 - system:bootstrappers,system:authenticated' with_bearer abc124.0123456789abcdef
}

# ---- the webhook

@test "webhook identifies the user of a token, and is asked once" {
    echo '{"authenticated":true,"user":{"username":"ivan","uid":"9","groups":["g"],"extra":{"b":["2"],"a":["1"]}}}' >"$REVIEWS/ivans-token.review"
    answers 'ivan 9 g,system:authenticated a=1,b=2' with_bearer ivans-token
    answers 'ivan 9 g,system:authenticated a=1,b=2' with_bearer ivans-token
    [ "$(grep -c ivans-token "$REVIEWS/log")" -eq 1 ]
    run -0 grep ivans-token "$REVIEWS/log"
    says 'POST /review?timeout=30s Bearer webhook-secret {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview"' \
        '"audiences": ["https://kubernetes.default.svc"]'
}

@test "token that the webhook does not know gets 401, and is asked once" {
    answers 401 with_bearer unknown-token
    answers 401 with_bearer unknown-token
    [ "$(grep -c unknown-token "$REVIEWS/log")" -eq 1 ]
}

@test "token of another audience gets 401" {
    echo '{"authenticated":true,"audiences":["vault"],"user":{"username":"ivan"}}' >"$REVIEWS/vault-token.review"
    answers 401 with_bearer vault-token
}

@test "failing webhook gets 401, and other tokens are not delayed by a slow one" {
    answers 401 with_bearer status-503
    echo '{"authenticated":true,"user":{"username":"judy"}}' >"$REVIEWS/slow-one.review"
    background with_bearer slow-one
    eventually grep -q slow-one "$REVIEWS/log"
    answers 'alice 2 dev,system:authenticated' with_bearer usertoken
    [ ! -s "$BATS_TEST_TMPDIR/background" ]
    touch "$REVIEWS/go"
    background_ends
    [ "$(cat "$BATS_TEST_TMPDIR/background")" = 'judy - system:authenticated' ]
}

@test "TokenReview asks the webhook, too" {
    echo '{"authenticated":true,"user":{"username":"mallory"}}' >"$REVIEWS/reviewed.review"
    run -0 kubectl create -o jsonpath='{.status.authenticated} {.status.user.username} {.status.audiences}' -f - \
        <<<'{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"reviewed"}}'
    [ "$output" = 'true mallory ["https://kubernetes.default.svc"]' ]
    echo '{"authenticated":false,"error":"expired long ago"}' >"$REVIEWS/refused.review"
    run -0 kubectl create -o jsonpath='{.status.authenticated} {.status.error}' -f - \
        <<<'{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"refused"}}'
    [ "$output" = ' [invalid bearer token, expired long ago]' ]
}

@test "long body with a token of the webhook is read before the webhook answers" {
    echo '{"authenticated":true,"user":{"username":"niaj","groups":["system:masters"]}}' >"$REVIEWS/long-body.review"
    python3 -c 'import json; print(json.dumps({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"long"},"data":{"a":"x"*300000}}))' >"$BATS_TEST_TMPDIR/body"
    [ "$(curl -s -o /dev/null -w '%{http_code}' --cacert "$CA" -H 'Authorization: Bearer long-body' -H 'Content-Type: application/json' \
        --data-binary @"$BATS_TEST_TMPDIR/body" "$HTTPS/api/v1/namespaces/default/configmaps")" = 201 ]
}
