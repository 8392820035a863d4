#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Conversion webhooks of CRDs, called over HTTPS (fixtures/converter): v1 is stored and has spec.hostPort, v2 has spec.host and spec.port.

setup_file() {
    load helpers
    server_start --authn-allow-localhost
    CONVERTER=$(mktemp -d "$BATS_FILE_TMPDIR/converter.XXXXXX")
    export CONVERTER
    "$E2E/fixtures/converter" "$CONVERTER" >"$CONVERTER/out" 2>&1 3>&- 4>&- &
    echo $! >"$CONVERTER/pid"
    eventually [ -e "$CONVERTER/port" ]
    controllers_start --controllers=namespace,garbagecollector
}

teardown_file() {
    load helpers
    end_now "$(cat "$CONVERTER/pid")"
    each controllers_stop server_stop
}

setup() {
    load helpers
    namespace
    # A group of the test's own.
    GROUP=$NS.example.com
    : >"$CONVERTER/log"
    job=
}

teardown() {
    load helpers
    background_end
    # First a working webhook, whatever the test has left.
    kubectl delete crd "servers.$GROUP" --ignore-not-found --wait=false >/dev/null 2>&1
}

# version NAME STORED PROPERTIES
version() {
    echo "{\"name\":\"$1\",\"served\":true,\"storage\":$2,\"subresources\":{\"status\":{},\"scale\":{\"specReplicasPath\":\".spec.replicas\",
      \"statusReplicasPath\":\".status.replicas\"}},\"additionalPrinterColumns\":[{\"name\":\"Host\",\"type\":\"string\",\"jsonPath\":\".spec.host\"}],
      \"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{$3,\"replicas\":{\"type\":\"integer\"}}},
      \"status\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}}}}"
}

versions() {
    echo "[$(version v1 "$1" '"hostPort":{"type":"string"}'),$(version v2 "$2" '"host":{"type":"string"},"port":{"type":"string"}')]"
}

# client PATH: the clientConfig of the webhook; `none` is a closed port.
client() {
    if [ "$1" = none ]; then
        echo '{"url":"https://127.0.0.1:1/"}'
    else
        echo "{\"url\":\"https://127.0.0.1:$(cat "$CONVERTER/port")$1\",\"caBundle\":\"$(cat "$CONVERTER/ca")\"}"
    fi
}

conversion() { echo "{\"strategy\":\"Webhook\",\"webhook\":{\"conversionReviewVersions\":[\"v1\"],\"clientConfig\":$1}}"; }

# define CLIENT: the CRD of this test.
define() {
    kubectl create -f - <<JSON
{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"servers.$GROUP"},
 "spec":{"group":"$GROUP","scope":"Namespaced","names":{"plural":"servers","singular":"server","kind":"Server","listKind":"ServerList"},
  "versions":$(versions true false),"conversion":$(conversion "$1")}}
JSON
    kubectl wait --for=condition=Established --timeout=90s "crd/servers.$GROUP"
    eventually k get "servers.v1.$GROUP"
}

# use CLIENT: changes the webhook. The server answers before it uses the new one.
use() { kubectl patch crd "servers.$GROUP" --type=merge -p "{\"spec\":{\"conversion\":$(conversion "$1")}}"; }

server() { echo "{\"apiVersion\":\"$GROUP/v1\",\"kind\":\"Server\",\"metadata\":{\"name\":\"$1\"${2:-}},\"spec\":{\"hostPort\":\"h:1\"}}"; }
# v1_says TEXT, v2_says TEXT: what the server answers about the object a.
v1_says() { api "/apis/$GROUP/v1/namespaces/$NS/servers/a" | grep -qF -- "$1"; }
v2_says() { v2 /a | grep -qF -- "$1"; }
v2() { api "/apis/$GROUP/v2/namespaces/$NS/servers$1" "${@:2}"; }
reviews() { wc -l <"$CONVERTER/log"; }

@test "answers equal those recorded from kube-apiserver" {
    run "$E2E/../conformance/player.py" check --server "$HTTP" --token '' conversion conversion-ownership
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    says ' passed, 0 failed'
}

@test "kubectl reads, patches, scales and watches the other version" {
    define "$(client /convert)"
    k create -f - <<<"$(server a)"
    run k get "servers.v2.$GROUP"
    [ "$(sed -n 2p <<<"$output" | tr -s ' ')" = 'a h' ]
    [ "$(k get "server.v2.$GROUP" a -o 'jsonpath={.apiVersion} {.spec.host} {.spec.port}')" = "$GROUP/v2 h 1" ]
    background kubectl -n "$NS" get "servers.v2.$GROUP" -w -o 'jsonpath={.metadata.name}={.spec.host}{"\n"}'
    eventually background_says '^a=h$'
    k patch "server.v2.$GROUP" a --type=merge -p '{"spec":{"host":"changed","replicas":1}}'
    eventually background_says '^a=changed$'
    k scale "server.v2.$GROUP" a --replicas=3
    [ "$(k get "server.v1.$GROUP" a -o 'jsonpath={.spec.hostPort} {.spec.replicas}')" = 'changed:1 3' ]
    k apply -f - <<<"{\"apiVersion\":\"$GROUP/v2\",\"kind\":\"Server\",\"metadata\":{\"name\":\"b\"},\"spec\":{\"host\":\"i\",\"port\":\"2\"}}"
    [ "$(k get "server.v1.$GROUP" b -o 'jsonpath={.spec.hostPort}')" = i:2 ]
    k delete "server.v2.$GROUP" a b
}

@test "list is converted in batches, and once" {
    define "$(client /convert)"
    { echo '{"apiVersion":"v1","kind":"List","items":['; for i in $(seq 1 250); do [ "$i" = 1 ] || echo ,; server "s$i"; done; echo ']}'; } |
        k create -f - >/dev/null
    : >"$CONVERTER/log"
    [ "$(v2 "" | python3 -c 'import json,sys; print(sum("host" in i["spec"] for i in json.load(sys.stdin)["items"]))')" -eq 250 ]
    [ "$(reviews)" -eq 3 ]
    v2 "" >/dev/null
    v2 "?limit=5" >/dev/null
    [ "$(reviews)" -eq 3 ]
    api "/apis/$GROUP/v1/namespaces/$NS/servers" >/dev/null
    [ "$(reviews)" -eq 3 ]
    api /metrics | grep -E '^apiserver_conversion_webhook_request_total\{.*success' >/dev/null
    api /metrics | grep -E '^kc_conversion_kept_bytes [1-9]' >/dev/null
}

@test "path that begins with two slashes is cleaned" {
    define "$(client //convert/)"
    k create -f - <<<"$(server a)"
    [ "$(v2 /a | field .spec.host)" = h ]
    [ "$(sed -n 1p "$CONVERTER/log" | field .path)" = '/convert?timeout=30s' ]
    [ "$(sed -n 1p "$CONVERTER/log" | field .agent)" = kube-apiserver-admission ]
}

@test "webhook of a service is looked up" {
    define "{\"service\":{\"name\":\"hook\",\"namespace\":\"$NS\",\"path\":\"/convert\",\"port\":8443}}"
    k create -f - <<<"$(server a)"
    run v2 /a
    says "conversion webhook for $GROUP/v1, Kind=Server failed: Post \\\"https://hook.$NS.svc:8443/convert?timeout=30s\\\": service \\\"hook\\\" not found"
    k create service clusterip hook --tcp=8443:8443
    run v2 /a
    says 'no endpoints available for service'
}

@test "certificate that the bundle does not contain is refused" {
    define "{\"url\":\"https://127.0.0.1:$(cat "$CONVERTER/port")/convert\"}"
    k create -f - <<<"$(server a)"
    run v2 /a
    says 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
}

@test "invalid CA bundle keeps a definition from being established" {
    kubectl create -f - <<JSON
{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"servers.$GROUP"},
 "spec":{"group":"$GROUP","scope":"Namespaced","names":{"plural":"servers","kind":"Server"},"versions":$(versions true false),
  "conversion":$(conversion '{"url":"https://127.0.0.1:1/","caBundle":"aGVsbG8="}')}}
JSON
    kubectl wait --for='jsonpath={.status.conditions[?(@.type=="Established")].reason}=InvalidCABundle' --timeout=90s "crd/servers.$GROUP"
    use "$(client /convert)"
    kubectl wait --for=condition=Established --timeout=90s "crd/servers.$GROUP"
    run kubectl patch crd "servers.$GROUP" --type=merge -p "{\"spec\":{\"conversion\":$(conversion '{"caBundle":"aGVsbG8="}')}}"
    [ "$status" -ne 0 ]
    says 'spec.conversion.webhookClientConfig.caBundle: Invalid value: "aGVsbG8=": unable to load root certificates: unable to parse bytes as PEM block'
}

@test "change of the storage version: objects are rewritten when they are written" {
    define "$(client /convert)"
    k create -f - <<<"$(server a)"
    kubectl patch crd "servers.$GROUP" --type=merge -p "{\"spec\":{\"versions\":$(versions false true)}}"
    [ "$(kubectl get crd "servers.$GROUP" -o 'jsonpath={.status.storedVersions}')" = '["v1","v2"]' ]
    run kubectl patch crd "servers.$GROUP" --type=merge -p "{\"spec\":{\"versions\":[$(version v2 true '"host":{"type":"string"},"port":{"type":"string"}')]}}"
    [ "$status" -ne 0 ]
    says 'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions'
    # Until the server uses the new storage version, a write without a change changes nothing; then it stores the object again.
    before=$(k get "servers.v2.$GROUP" a -o 'jsonpath={.metadata.resourceVersion}')
    rewritten() {
        k get "servers.v2.$GROUP" -o json | kubectl replace -f - || return 1
        [ "$(k get "servers.v2.$GROUP" a -o 'jsonpath={.metadata.resourceVersion}')" != "$before" ]
    }
    eventually rewritten
    kubectl patch crd "servers.$GROUP" --subresource=status --type=merge -p '{"status":{"storedVersions":["v2"]}}'
    use "$(client none)"
    eventually v1_says "conversion webhook for $GROUP/v2, Kind=Server failed"
    # Stored as v2: no webhook is needed for it.
    [ "$(v2 /a | field .spec.host)" = h ]
}

@test "namespace and dependents are deleted while the webhook is away" {
    define "$(client /convert)"
    k create configmap owner
    uid=$(k get configmap owner -o 'jsonpath={.metadata.uid}')
    k create -f - <<<"$(server a ",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"owner\",\"uid\":\"$uid\"}]")"
    k create -f - <<<"$(server b)"
    use "$(client none)"
    eventually v2_says 'connection refused'
    k delete configmap owner
    gone() { ! k get "server.v1.$GROUP" a >/dev/null 2>&1; }
    # The garbage collector looks for new kinds every 30 seconds.
    LIMIT=300 eventually gone
    kubectl delete namespace "$NS" --timeout=90s
    run ! kubectl get namespace "$NS"
}

@test "definition is deleted while its webhook is away" {
    define "$(client none)"
    k create -f - <<<"$(server a)"
    kubectl delete crd "servers.$GROUP" --timeout=90s
}

@test "change of the webhook converts again" {
    define "$(client /convert)"
    k create -f - <<<"$(server a)"
    [ "$(v2 /a | field .spec.host)" = h ]
    use "$(client '/convert;delay=0.01')"
    # Until the new webhook is used, the cached result is used without a review.
    again() { [ "$(v2 /a | field .spec.host)" = h ] && [ "$(reviews)" -eq 2 ]; }
    eventually again
}
