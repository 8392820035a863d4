#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Tokens of other issuers (--authentication-config): discovery and keys over HTTPS (fixtures/issuer), tokens signed with openssl (fixtures/jwt), claims
# and rules as expressions, rotation of keys, changes of the file; attacks on each step.

# key NAME ALGORITHM…: $KEYS/NAME.pem
key() { openssl genpkey -algorithm "${@:2}" -out "$KEYS/$1.pem" 2>/dev/null; }

publish() {
    local pairs=() name
    for name in "$@"; do pairs+=("$name=$KEYS/$name.pem"); done
    "$E2E/fixtures/jwt" keys "${pairs[@]}" >"$KEYS/jwks.new"
    mv "$KEYS/jwks.new" "$KEYS/jwks.json"
}

# configure [EXPRESSION]: the file, with a rule about the user.
configure() {
    cat >"$KEYS/config.new" <<END
apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer:
    url: $ISSUER
    discoveryURL: $ISSUER/elsewhere
    audiences: [kubernetes, other]
    audienceMatchPolicy: MatchAny
    certificateAuthority: |
$(sed 's/^/      /' "$KEYS/ca.crt")
  claimValidationRules:
  - claim: hd
    requiredValue: example.com
  - expression: 'claims.level >= 3'
    message: level is too low
  claimMappings:
    username: {expression: '"oidc:" + claims.sub'}
    groups: {claim: groups, prefix: "oidc:"}
    uid: {claim: uid}
    extra:
    - {key: example.com/level, valueExpression: 'string(claims.level)'}
    - {key: example.com/tags, valueExpression: 'claims.?tags.orValue([])'}
  userValidationRules:
  - expression: "!user.username.startsWith('oidc:system:')"
    message: reserved name
  - expression: "${1:-user.groups.all(g, g != 'oidc:banned')}"
    message: banned group
anonymous:
  enabled: true
  conditions:
  - path: /apis
END
    mv "$KEYS/config.new" "$KEYS/config.yaml"
}

setup_file() {
    load helpers
    export KEYS=$BATS_FILE_TMPDIR/keys
    mkdir -p "$KEYS"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=ca -keyout "$KEYS/ca.key" -out "$KEYS/ca.crt" 2>/dev/null
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=issuer -keyout "$KEYS/server.key" -out "$KEYS/server.csr" 2>/dev/null
    openssl x509 -req -in "$KEYS/server.csr" -CA "$KEYS/ca.crt" -CAkey "$KEYS/ca.key" -CAcreateserial -days 1 \
        -extfile <(echo subjectAltName=IP:127.0.0.1) -out "$KEYS/server.crt" 2>/dev/null
    key rsa RSA -pkeyopt rsa_keygen_bits:2048
    key p256 EC -pkeyopt ec_paramgen_curve:P-256
    key p384 EC -pkeyopt ec_paramgen_curve:P-384
    key p521 EC -pkeyopt ec_paramgen_curve:P-521
    key fresh RSA -pkeyopt rsa_keygen_bits:2048
    key forged RSA -pkeyopt rsa_keygen_bits:2048
    read -r port _ < <(free_ports)
    export ISSUER=https://127.0.0.1:$port
    echo "{\"issuer\":\"$ISSUER\",\"jwks_uri\":\"$ISSUER/jwks\"}" >"$KEYS/discovery.json"
    publish rsa p256 p384 p521
    configure
    "$E2E/fixtures/issuer" "$KEYS" "$port" >"$KEYS/out" 2>&1 3>&- 4>&- &
    echo $! >"$KEYS/pid"
    eventually curl -sko /dev/null "$ISSUER/jwks"
    server_start --authentication-config="$KEYS/config.yaml"
    export CA=$SERVER/root/certs/ca.crt
}
teardown_file() {
    load helpers
    end_now "$(cat "$KEYS/pid")"
    server_stop
}
setup() { load helpers; }

CLAIMS='"sub":"jane","hd":"example.com","level":3,"groups":["dev"],"uid":"u-1","tags":["a","","b"],"jti":"id-1","iat":"-10"'

# token KEY ALG [CLAIM…] [-- HEADER]: a token with the usual claims, some of them replaced; the header names the key.
token() {
    local key=$1 alg=$2 claims
    shift 2
    claims=$(python3 -c 'import json, sys
claims = json.loads(sys.argv[1])
for text in sys.argv[2:]:
    claims.update(json.loads("{" + text + "}"))
print(json.dumps({k: v for k, v in claims.items() if v is not None}))' "{\"iss\":\"$ISSUER\",\"aud\":\"kubernetes\",\"exp\":\"+300\",$CLAIMS}" "$@")
    "$E2E/fixtures/jwt" sign "$KEYS/$key.pem" "$alg" "$claims" "${HEADER:-{\"kid\":\"$key\"\}}"
}

# whoami TOKEN: "USER UID GROUPS EXTRA", or the status code.
whoami() {
    curl -s --http1.1 --cacert "$CA" -H "Authorization: Bearer $1" -H 'Content-Type: application/json' \
        -d '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}' "$HTTPS/apis/authentication.k8s.io/v1/selfsubjectreviews" |
        python3 -c '
import json, sys
a = json.load(sys.stdin)
u = a.get("status", {}).get("userInfo") if a["kind"] != "Status" else None
print(a["code"] if u is None else " ".join([u["username"], u.get("uid", "-"), ",".join(u.get("groups", [])),
    ",".join(k + "=" + "+".join(v) for k, v in sorted(u.get("extra", {}).items()))]).strip())'
}

is() { [ "$(whoami "$2")" = "$1" ] || { echo "$(whoami "$2"), not $1"; return 1; }; }

# reason TOKEN: why TokenReview refuses it.
reason() {
    kubectl create -o jsonpath='{.status.error}' -f - <<<"{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\",\"spec\":{\"token\":\"$1\"}}"
}

refused() { [ "$(whoami "$2")" = 401 ] && [ "$(reason "$2")" = "[invalid bearer token, $1]" ] || { reason "$2"; return 1; }; }

JANE='jane u-1 oidc:dev,system:authenticated authentication.kubernetes.io/credential-id=JTI=id-1,example.com/level=3,example.com/tags=a+b'

@test "token of the issuer identifies the user, by claims and expressions" {
    is "oidc:$JANE" "$(token rsa RS256)"
    is "oidc:$JANE" "$(token rsa RS256 '"aud":["x","other"]')"
    is "oidc:bob u-1 oidc:one,system:authenticated example.com/level=7,example.com/tags=t" \
        "$(token rsa RS256 '"sub":"bob"' '"groups":"one"' '"level":7' '"tags":"t"' '"jti":null')"
}

@test "all signature algorithms are accepted" {
    local pair
    for pair in rsa:RS384 rsa:RS512 rsa:PS256 rsa:PS384 rsa:PS512 p256:ES256 p384:ES384 p521:ES512; do
        is "oidc:$JANE" "$(token "${pair%:*}" "${pair#*:}")"
    done
    HEADER='{}' is "oidc:$JANE" "$(HEADER='{}' token p521 ES512)"
}

@test "forged tokens get 401" {
    is 401 "$(HEADER='{"kid":"rsa"}' token forged RS256)"
    is 401 "$(HEADER='{"kid":"p256"}' token forged RS256)"
    is 401 "$(HEADER='{"kid":"nobody"}' token rsa RS256)"
    is 401 "$(HEADER='{"kid":"rsa"}' token rsa none)"
    openssl pkey -in "$KEYS/rsa.pem" -pubout -out "$KEYS/public.pem"
    is 401 "$(HEADER='{"kid":"rsa"}' token public HS256)"
    is 401 "$(HEADER='{"kid":"rsa","crit":["exp"]}' token rsa RS256)"
    is 401 "$(HEADER='{"kid":"../../../dev/null"}' token rsa RS256)"
    # The signature of another token.
    local a b
    a=$(token rsa RS256) b=$(token rsa RS256 '"sub":"admin"')
    is 401 "${b%.*}.${a##*.}"
    is 401 "$a="
    is 401 "${a%.*}."
}

@test "expired, early and foreign tokens get 401 with a reason for TokenReview" {
    is 401 "$(token rsa RS256 '"exp":"-1"')"
    [[ $(reason "$(token rsa RS256 '"exp":"-1"')") = *'oidc: token is expired'* ]]
    is 401 "$(token rsa RS256 '"exp":null')"
    is 401 "$(token rsa RS256 '"nbf":"+120"')"
    is "oidc:$JANE" "$(token rsa RS256 '"nbf":"+30"')"
    refused 'oidc: verify token: oidc: expected audience in ["kubernetes" "other"] got ["vault"]' "$(token rsa RS256 '"aud":"vault"')"
    is 401 "$(token rsa RS256 '"aud":null')"
    is 401 "$(token rsa RS256 '"iss":"https://other.example"')"
}

@test "claims that break a rule get 401 with a reason for TokenReview" {
    refused 'oidc: required claim hd value does not match. Got = evil.com, want = example.com' "$(token rsa RS256 '"hd":"evil.com"')"
    refused 'oidc: required claim hd not present in ID token' "$(token rsa RS256 '"hd":null')"
    refused "oidc: error evaluating claim validation expression: validation expression 'claims.level >= 3' failed: level is too low" "$(token rsa RS256 '"level":2')"
    refused "oidc: error evaluating user info validation rule: validation expression '!user.username.startsWith('oidc:system:')' failed: reserved name" \
        "$(token rsa RS256 '"sub":"system:admin"')"
    refused "oidc: error evaluating username claim expression: expression '\"oidc:\" + claims.sub' resulted in error: no such key: sub" "$(token rsa RS256 '"sub":null')"
    refused 'oidc: parse uid claim "uid": claim not present' "$(token rsa RS256 '"uid":null')"
}

@test "oversized token gets 401, and many forged ones do not delay others" {
    is 401 "$(token rsa RS256 "\"pad\":\"$(head -c 70000 /dev/zero | tr '\0' x)\"")"
    local i before start=$SECONDS
    before=$(grep -c 'GET /jwks' "$KEYS/log")
    for i in 1 2 3 4 5 6 7 8; do HEADER="{\"kid\":\"invented-$i\"}" token rsa RS256 >"$BATS_TEST_TMPDIR/$i"; done
    for i in 1 2 3 4 5 6 7 8; do is 401 "$(cat "$BATS_TEST_TMPDIR/$i")"; done
    is "oidc:$JANE" "$(token rsa RS256)"
    # Keys are fetched again once in ten seconds at most.
    [ $(($(grep -c 'GET /jwks' "$KEYS/log") - before)) -le $(((SECONDS - start) / 10 + 3)) ]
}

@test "rotated keys are fetched when a token names a new one" {
    publish rsa p256 p384 p521 fresh
    accepted() { [ "$(whoami "$(token fresh RS256)")" = "oidc:$JANE" ]; }
    eventually accepted
    publish fresh
}

@test "changed configuration is in effect within seconds, and an invalid one is not" {
    publish rsa p256 p384 p521 fresh
    configure "user.username != 'oidc:jane'"
    gone() { [ "$(whoami "$(token rsa RS256)")" = 401 ]; }
    eventually gone
    echo nonsense >"$KEYS/config.yaml"
    eventually grep -q 'reload failed.*authentication-config' "$SERVER/err"
    is 401 "$(token rsa RS256)"
    configure
    back() { [ "$(whoami "$(token rsa RS256)")" = "oidc:$JANE" ]; }
    eventually back
}

@test "anonymous requests are accepted for the configured paths only" {
    code() { curl -s -o /dev/null -w '%{http_code}' --cacert "$CA" "$HTTPS$1"; }
    [ "$(code /apis)" = 403 ] # Accepted as anonymous, which has no role for it.
    [ "$(code /api)" = 401 ]
    [ "$(code /apis/apps)" = 401 ]
    [ "$(code '/apis?x=/apis')" = 403 ]
    # A reload cannot change them, as in kube-apiserver.
    sed 's|- path: /apis|- path: /api|' "$KEYS/config.yaml" >"$KEYS/config.new"
    mv "$KEYS/config.new" "$KEYS/config.yaml"
    eventually grep -q 'anonymous: Forbidden: changed from initial configuration file' "$SERVER/err"
    [ "$(code /api)" = 401 ]
    run -0 k get --raw /metrics
    says 'apiserver_authentication_config_controller_automatic_reloads_total{status="failure",apiserver_id_hash=""}' \
        'apiserver_authentication_config_controller_automatic_reloads_total{status="success",apiserver_id_hash=""}'
    configure
}

@test "invalid configurations are refused at the start, with the reasons of kube-apiserver" {
    local head=$'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n'
    start() { "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/r" --secure-port=0 --insecure-port=1 --authentication-config="$BATS_TEST_TMPDIR/c"; }
    bad() {
        printf '%s%s\n' "$head" "$1" >"$BATS_TEST_TMPDIR/c"
        run -1 start
        says "$2"
    }
    bad 'jwt: [{issuer: {url: "http://x", audiences: [a]}, claimMappings: {username: {claim: sub, prefix: ""}}}]' \
        'jwt[0].issuer.url: Invalid value: "http://x": URL scheme must be https'
    bad 'jwt: [{issuer: {url: "https://x"}, claimMappings: {username: {claim: sub}}}]' \
        '[jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required, jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing]'
    bad 'jwt: [{issuer: {url: "https://x", audiences: [a], audience: b}}]' 'strict decoding error: unknown field "jwt[0].issuer.audience"'
    bad 'jwt: [{issuer: {url: "https://x", audiences: [a]}, claimMappings: {username: {expression: "claims.email"}}}]' \
        'claims.email_verified must be used in claimMappings.username.expression'
    bad 'jwt: [{issuer: {url: "https://x", audiences: [a]}, claimMappings: {username: {expression: "claims."}}}]' \
        'jwt[0].claimMappings.username.expression: Invalid value: "claims.": compilation failed: ERROR: <input>:1:8: Syntax error'
    bad 'jwt: [{issuer: {url: "https://kubernetes.default.svc", audiences: [a]}, claimMappings: {username: {claim: sub, prefix: ""}}}]' \
        'URL must not overlap with disallowed issuers: [https://kubernetes.default.svc]'
    bad 'anonymous: {enabled: false, conditions: [{path: /x}]}' 'enabled should be set to true when conditions are defined'
}

@test "flags of one issuer stand for a configuration" {
    local saved=$SERVER
    SERVER='' server_start --oidc-issuer-url="$ISSUER" --oidc-client-id=kubernetes --oidc-ca-file="$KEYS/ca.crt" --oidc-groups-claim=groups \
        --oidc-required-claim=hd=example.com --oidc-signing-algs=ES256,RS256
    CA=$SERVER/root/certs/ca.crt
    known() { [ "$(whoami "$(token rsa RS256)")" = "$ISSUER#jane - dev,system:authenticated authentication.kubernetes.io/credential-id=JTI=id-1" ]; }
    eventually known
    is 401 "$(token rsa RS384)"
    is 401 "$(token rsa RS256 '"hd":"evil.com"')"
    server_stop
    SERVER=$saved
    run -2 "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/r" --oidc-issuer-url=https://x
    says 'oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set'
}
