#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Tokens of service accounts with kubectl: issued, bound, used, reviewed, revoked; OIDC discovery; the keys of the server; Secrets that hold a
# token, which the controllers fill.

setup_file() {
    load helpers
    openssl genrsa -out "$BATS_FILE_TMPDIR/sa.key" 2048 2>/dev/null
    server_start --service-account-signing-key-file="$BATS_FILE_TMPDIR/sa.key" --service-account-max-token-expiration=48h
    export KEY=$BATS_FILE_TMPDIR/sa.key
}
teardown_file() { load helpers; server_stop; }
setup() {
    load helpers
    namespace
    job=
    k create serviceaccount web >/dev/null
    k create rolebinding web --clusterrole=edit --serviceaccount="$NS:web" >/dev/null
}
teardown() { background_end; }

# with_token TOKEN ARGUMENT…: kubectl with this token alone.
with_token() {
    local token=$1
    shift
    kubectl --kubeconfig /dev/null --server "$HTTPS" --certificate-authority "$SERVER/root/certs/ca.crt" --token "$token" -n "$NS" "$@"
}

claims() { cut -d. -f2 <<<"$1" | tr '_-' '/+' | awk '{ while (length($0) % 4) $0 = $0 "="; print }' | base64 -d; }

review() { k create -o json -f - <<<"{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\",\"spec\":{\"token\":\"$1\"}}"; }

pod() { k create -f - <<<"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"$1\"},\"spec\":{\"serviceAccountName\":\"web\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}"; }

@test "create token issues a token that kubectl can use" {
    token=$(k create token web)
    run -0 with_token "$token" get serviceaccount web -o name
    [ "$output" = serviceaccount/web ]
    [ "$(review "$token" | field .status.user.username)" = "system:serviceaccount:$NS:web" ]
    run -0 claims "$token"
    says "\"kubernetes.io\":{\"namespace\":\"$NS\",\"serviceaccount\":{\"name\":\"web\",\"uid\":\"$(k get sa web -o jsonpath='{.metadata.uid}')\"}}"
    run -1 k create token nope
    says 'serviceaccounts "nope" not found'
}

@test "create token --duration sets the lifetime, up to the server's maximum" {
    token=$(k create token web --duration 20m)
    [ $(($(claims "$token" | field .exp) - $(claims "$token" | field .iat))) -eq 1200 ]
    run -1 k create token web --duration 5m
    says 'spec.expirationSeconds: Invalid value: 300: may not specify a duration less than 10 minutes'
    run -0 k create token web --duration 72h
    says 'requested expiration of 259200 seconds shortened to 172800 seconds'
}

@test "create token --audience makes a token for another server" {
    token=$(k create token web --audience vault --audience other)
    run -0 claims "$token"
    says '"aud":["vault","other"]'
    run -1 with_token "$token" get serviceaccounts
    says Unauthorized
    [[ $(review "$token" | field .status.error) = *'is invalid for the target audiences'* ]]
}

@test "token bound to a pod ends with the pod" {
    pod p
    token=$(k create token web --bound-object-kind Pod --bound-object-name p)
    run -0 with_token "$token" get pod p -o name
    [ "$(review "$token" | tr -d ' \n' | grep -o '"authentication.kubernetes.io/pod-name":\["p"\]' | wc -l)" = 1 ]
    k delete pod p --force --grace-period=0
    run -1 with_token "$token" get pods
    says Unauthorized
}

@test "token bound to a Secret ends with the Secret, and its uid must match" {
    k create secret generic s
    token=$(k create token web --bound-object-kind Secret --bound-object-name s --bound-object-uid "$(k get secret s -o jsonpath='{.metadata.uid}')")
    run -0 with_token "$token" get secret s -o name
    run -1 k create token web --bound-object-kind Secret --bound-object-name s --bound-object-uid x
    says 'the UID in the bound object reference (x) does not match the UID in record'
    k delete secret s
    run -1 with_token "$token" get secrets
    says Unauthorized
}

@test "deletion of the account revokes its tokens, also for an account of the same name" {
    token=$(k create token web)
    run -0 with_token "$token" get serviceaccounts -o name
    k delete serviceaccount web
    run -1 with_token "$token" get serviceaccounts
    says Unauthorized
    k create serviceaccount web
    run -1 with_token "$token" get serviceaccounts
    says Unauthorized
}

@test "another party verifies a token with the published keys" {
    token=$(k create token web --audience vault)
    k get --raw /.well-known/openid-configuration >"$BATS_TEST_TMPDIR/discovery"
    [ "$(field .issuer <"$BATS_TEST_TMPDIR/discovery")" = "$(claims "$token" | field .iss)" ]
    [ "$(field .jwks_uri <"$BATS_TEST_TMPDIR/discovery")" = "$HTTPS/openid/v1/jwks" ]
    kid=$(cut -d. -f1 <<<"$token" | tr '_-' '/+' | awk '{ while (length($0) % 4) $0 = $0 "="; print }' | base64 -d | field .kid)
    [ "$(k get --raw /openid/v1/jwks | field '.keys[0].kid')" = "$kid" ]
    [ "$(openssl pkey -in "$KEY" -pubout -outform DER | openssl dgst -sha256 -binary | base64 | tr '/+' '_-' | tr -d =)" = "$kid" ]
    printf '%s' "${token%.*}" >"$BATS_TEST_TMPDIR/text"
    cut -d. -f3 <<<"$token" | tr '_-' '/+' | awk '{ while (length($0) % 4) $0 = $0 "="; print }' | base64 -d >"$BATS_TEST_TMPDIR/signature"
    openssl pkey -in "$KEY" -pubout -out "$BATS_TEST_TMPDIR/pub"
    run -0 openssl dgst -sha256 -verify "$BATS_TEST_TMPDIR/pub" -signature "$BATS_TEST_TMPDIR/signature" "$BATS_TEST_TMPDIR/text"
}

@test "neither tokens nor keys are in the log of the server" {
    token=$(k create token web)
    with_token "$token" get serviceaccounts -o name
    with_token "${token%.*}.AAAA" get serviceaccounts || true
    run ! grep -F "${token##*.}" "$SERVER/err"
    run ! grep -F "${token%%.*}." "$SERVER/err"
    run ! grep -F 'PRIVATE KEY' "$SERVER/err"
}

@test "controllers fill a Secret of the token type, whose token works until the Secret is deleted" {
    background "$KC" controllers --leader-elect=false --controllers=serviceaccount-token --service-account-private-key-file="$KEY"
    k apply -f - <<<'{"apiVersion":"v1","kind":"Secret","type":"kubernetes.io/service-account-token","metadata":{"name":"s","annotations":{"kubernetes.io/service-account.name":"web"}}}'
    filled() { [ -n "$(k get secret s -o jsonpath='{.data.token}')" ]; }
    eventually filled
    [ "$(k get secret s -o jsonpath='{.data.namespace}' | base64 -d)" = "$NS" ]
    k get secret s -o jsonpath='{.data.ca\.crt}' | base64 -d | cmp - "$SERVER/root/certs/ca.crt"
    token=$(k get secret s -o jsonpath='{.data.token}' | base64 -d)
    run -0 with_token "$token" get secret s -o name
    run -0 k describe secret s
    says 'kubernetes.io/service-account.uid:'
    used() { [ "$(k get secret s -o jsonpath='{.metadata.labels.kubernetes\.io/legacy-token-last-used}')" = "$(date -u +%F)" ]; }
    eventually used
    k delete secret s
    run -1 with_token "$token" get secrets
    says Unauthorized
}

@test "first start makes a key that only the owner can read, and a restart keeps it" {
    root=$BATS_TEST_TMPDIR/root
    start() {
        read -r port _ < <(free_ports)
        background "$KC" apiserver --file-rootpath="$root" --secure-port=0 --insecure-port="$port" --authn-allow-localhost
        eventually curl -sf -o /dev/null "http://127.0.0.1:$port/readyz"
    }
    start
    [ "$(stat -c %a "$root/certs/sa.key")" = 600 ]
    before=$(sha256sum <"$root/certs/sa.key")
    kubectl --kubeconfig /dev/null -s "http://127.0.0.1:$port" create serviceaccount web
    token=$(kubectl --kubeconfig /dev/null -s "http://127.0.0.1:$port" create token web)
    kill "$job"
    background_ends
    start
    [ "$(sha256sum <"$root/certs/sa.key")" = "$before" ]
    [ "$(curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" "http://127.0.0.1:$port/api")" = 200 ]
    kill "$job"
    background_ends
}

@test "unusable keys and flags are errors" {
    : >"$BATS_TEST_TMPDIR/empty"
    run -1 "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/r" --service-account-signing-key-file="$BATS_TEST_TMPDIR/empty"
    says "service account signing key: $BATS_TEST_TMPDIR/empty: no key found"
    run -1 "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/r" --service-account-signing-key-file=/dev/null
    says 'other users can write to the file /dev/null'
    openssl pkey -in "$KEY" -pubout -out "$BATS_TEST_TMPDIR/public"
    run -1 "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/r" --service-account-signing-key-file="$BATS_TEST_TMPDIR/public"
    says "no private key in $BATS_TEST_TMPDIR/public"
    run -1 "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/r" --service-account-signing-key-file="$KEY" --service-account-key-file=/nonexistent
    says /nonexistent
    [ ! -e "$BATS_TEST_TMPDIR/r" ]
    run -2 "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/r" --service-account-max-token-expiration=10m
    says 'must be between 1 hour and 2^32 seconds'
    run -2 "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/r" --service-account-issuer=a --service-account-issuer=a
    says "--service-account-issuer: 'a' is already specified"
}
