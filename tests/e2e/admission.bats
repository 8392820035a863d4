#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Admission webhooks, asked over HTTPS (fixtures/hooks): what they are asked, and what becomes of what they answer.

setup_file() {
    load helpers
    server_start --authn-allow-localhost
    HOOKS=$(mktemp -d "$BATS_FILE_TMPDIR/hooks.XXXXXX")
    export HOOKS
    "$E2E/fixtures/hooks" "$HOOKS" >"$HOOKS/out" 2>&1 3>&- 4>&- &
    echo $! >"$HOOKS/pid"
    eventually [ -e "$HOOKS/port" ]
}

teardown_file() {
    load helpers
    kill "$(cat "$HOOKS/pid")" || true
    server_stop
}

setup() {
    load helpers
    namespace
    : >"$HOOKS/log"
}

teardown() {
    load helpers
    api /apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations -o /dev/null -X DELETE
    api /apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations -o /dev/null -X DELETE
}

# hook KIND NAME PATH [FIELD…]: a configuration with one webhook for ConfigMaps of this test's namespace, NAME.example.com.
hook() {
    local kind=$1 name=$2 path=$3 fields=""
    shift 3
    for field in "$@"; do fields+=",$field"; done
    kubectl create --validate=false -f - <<JSON
{"apiVersion":"admissionregistration.k8s.io/v1","kind":"${kind}WebhookConfiguration","metadata":{"name":"$name"},
 "webhooks":[{"name":"$name.example.com","sideEffects":"None","admissionReviewVersions":["v1"],
  "clientConfig":{"url":"https://127.0.0.1:$(cat "$HOOKS/port")$path","caBundle":"$(cat "$HOOKS/ca")"},
  "namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"$NS"}},
  "rules":[{"operations":["*"],"apiGroups":["","apps"],"apiVersions":["v1"],"resources":["configmaps","deployments/scale"]}]$fields}]}
JSON
}

# seen N PATH: what the Nth review of this test had at a path.
seen() { sed -n "$1p" "$HOOKS/log" | field "$2"; }
reviews() { wc -l <"$HOOKS/log"; }

@test "a mutating webhook adds a label to what is created" {
    hook Mutating label '/label;key=made-by&value=hook'
    k create configmap a --from-literal=k=v
    run k get configmap a -o 'jsonpath={.metadata.labels.made-by}'
    [ "$output" = hook ]
    [ "$(seen 1 .path)" = '/label;key=made-by&value=hook?timeout=10s' ]
    [ "$(seen 1 .agent)" = kube-apiserver-admission ]
    [ "$(seen 1 .review.request.operation)" = CREATE ]
    [ "$(seen 1 .review.request.name)" = a ]
    [ "$(seen 1 .review.request.namespace)" = "$NS" ]
    [ "$(seen 1 .review.request.options.fieldManager)" = kubectl-create ]
    [ "$(seen 1 .review.request.userInfo.username)" = kubernetes-admin ] || seen 1 .review.request.userInfo
}

@test "a validating webhook refuses, in its own words and with its own code" {
    hook Validating deny '/deny;code=418&reason=Teapot&message=not%20today'
    run k create configmap a --from-literal=k=v
    [ "$status" -ne 0 ]
    says 'admission webhook "deny.example.com" denied the request: not today'
    run api "/api/v1/namespaces/$NS/configmaps" -w '%{http_code}' -H 'Content-Type: application/json' -d '{"metadata":{"name":"a"}}'
    says 418 '"reason": "Teapot"'
    run api "/api/v1/namespaces/$NS/configmaps/a" -o /dev/null -w '%{http_code}'
    [ "$output" = 404 ]
}
