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
    end_now "$(cat "$HOOKS/pid")"
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

@test "mutating webhook adds a label to a created object" {
    hook Mutating label '/label;key=made-by&value=hook'
    k create configmap a --from-literal=k=v
    [ "$(k get configmap a -o 'jsonpath={.metadata.labels.made-by}')" = hook ]
    [ "$(reviews)" -eq 1 ]
    [ "$(seen 1 .path)" = '/label;key=made-by&value=hook?timeout=10s' ]
    [ "$(seen 1 .agent)" = kube-apiserver-admission ]
    [ "$(seen 1 .type)" = application/json ]
    [ "$(seen 1 .review.request.operation)" = CREATE ]
    [ "$(seen 1 .review.request.name)" = a ]
    [ "$(seen 1 .review.request.namespace)" = "$NS" ]
    [ "$(seen 1 .review.request.options.fieldManager)" = kubectl-create ]
    [ "$(seen 1 .review.request.oldObject)" = null ]
    # What is the server's to give is not there yet.
    [[ "$(seen 1 .review.request.object.metadata)" != *uid* ]]
}

@test "webhooks get the object as it will be stored" {
    hook Mutating allow /allow '"rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["secrets","pods"]}]'
    k create -f - <<<'{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"stringData":{"k":"v"}}'
    [ "$(seen 1 .review.request.object.data.k)" = dg== ]
    [ "$(seen 1 .review.request.object.type)" = Opaque ]
    k run p --image=i
    [ "$(seen 2 .review.request.object.spec.restartPolicy)" = Always ]
    [ "$(seen 2 .review.request.object.spec.priority)" = 0 ]
    [ "$(seen 2 .review.request.object.status)" = '{}' ]
}

@test "generated name is absent in mutating and present in validating webhooks" {
    hook Mutating allow /allow
    hook Validating allow /allow
    api "/api/v1/namespaces/$NS/configmaps" -o /dev/null -H 'Content-Type: application/json' -d '{"metadata":{"generateName":"gen-"}}'
    [[ "$(seen 1 .review.request)" != *'"name": "gen'* ]]
    [[ "$(seen 2 .review.request.name)" == gen-* ]]
    [ "$(seen 2 .review.request.name)" = "$(seen 2 .review.request.object.metadata.name)" ]
    [ -n "$(seen 2 .review.request.object.metadata.uid)" ]
    [[ "$(seen 2 .review.request.object.metadata)" != *resourceVersion* ]]
}

@test "updates, patches and deletions send the old object" {
    config_map a
    hook Validating allow /allow
    k patch configmap a --type=merge -p '{"data":{"key":"other"}}'
    [ "$(seen 1 .review.request.operation)" = UPDATE ]
    [ "$(seen 1 .review.request.oldObject.data.key)" = value ]
    [ "$(seen 1 .review.request.object.data.key)" = other ]
    [ "$(seen 1 .review.request.options.kind)" = UpdateOptions ]
    k delete configmap a
    [ "$(seen 2 .review.request.operation)" = DELETE ]
    [ "$(seen 2 .review.request.object)" = null ]
    [ "$(seen 2 .review.request.oldObject.data.key)" = other ]
    [ "$(seen 2 .review.request.options.propagationPolicy)" = Background ]
}

@test "denial of a validating webhook returns its message and code" {
    hook Validating deny '/deny;code=418&reason=Teapot&message=not%20today'
    run k create configmap a --from-literal=k=v
    [ "$status" -ne 0 ]
    says 'admission webhook "deny.example.com" denied the request: not today'
    run api "/api/v1/namespaces/$NS/configmaps" -w '%{http_code}' -H 'Content-Type: application/json' -d '{"metadata":{"name":"a"}}'
    says 418 '"reason": "Teapot"'
    run api "/api/v1/namespaces/$NS/configmaps/a" -o /dev/null -w '%{http_code}'
    [ "$output" = 404 ]
}

@test "denied deletion keeps the object, alone and in a collection" {
    config_map a '"stay":"yes"'
    config_map b
    hook Validating deny /deny '"objectSelector":{"matchLabels":{"stay":"yes"}}'
    run k delete configmap a
    [ "$status" -ne 0 ]
    says 'denied the request without explanation'
    run k delete configmap --all
    [ "$status" -ne 0 ]
    k get configmap a
    api "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/deny" -o /dev/null -X DELETE
    hook Validating allow /allow
    run api "/api/v1/namespaces/$NS/configmaps" -o /dev/null -w '%{http_code}' -X DELETE
    [ "$output" = 200 ]
    run k get configmap a
    says 'not found'
}

@test "warnings are returned to the client" {
    hook Validating warn '/warn;text=mind%20the%20gap'
    run k apply -f - <<<'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}'
    [ "$status" -eq 0 ]
    says 'Warning: mind the gap' 'configmap/a created'
}

@test "failing webhook fails the request unless its policy is Ignore" {
    hook Mutating broken '/status;code=500'
    run k create configmap a --from-literal=k=v
    [ "$status" -ne 0 ]
    says 'Internal error occurred: failed calling webhook "broken.example.com": failed to call webhook: an error on the server' \
        'as you wish' 'has prevented the request from succeeding'
    api /apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/broken -o /dev/null -X DELETE
    hook Mutating broken '/status;code=500' '"failurePolicy":"Ignore"'
    k create configmap a --from-literal=k=v
}

@test "unreachable webhook is named with its URL" {
    read -r free _ < <(free_ports)
    hook Mutating nobody /x "\"clientConfig\":{\"url\":\"https://127.0.0.1:$free/x\"}"
    run k create configmap a --from-literal=k=v
    [ "$status" -ne 0 ]
    says "failed calling webhook \"nobody.example.com\": failed to call webhook: Post \"https://127.0.0.1:$free/x?timeout=10s\": dial tcp 127.0.0.1:$free: connect: connection refused"
}

@test "webhook with an untrusted certificate is refused" {
    hook Mutating stranger /x "\"clientConfig\":{\"url\":\"https://127.0.0.1:$(cat "$HOOKS/port")/allow\"}"
    run k create configmap a --from-literal=k=v
    [ "$status" -ne 0 ]
    says 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
    [ "$(reviews)" -eq 0 ]
}

@test "slow webhook times out after its timeoutSeconds" {
    hook Mutating slow '/slow;seconds=3' '"timeoutSeconds":1'
    run k create configmap a --from-literal=k=v
    [ "$status" -ne 0 ]
    says 'slow;seconds=3?timeout=1s' 'context deadline exceeded'
}

@test "requests wait for slow webhooks concurrently" {
    # It answers when 30 requests have come, so that fewer at a time would wait until its timeout.
    hook Mutating together '/together;count=30' '"timeoutSeconds":30'
    local pids=()
    for i in $(seq 60); do
        config_map "a$i" 3>&- 4>&- & pids+=($!)
    done
    wait "${pids[@]}" # Requests have a limit of their own.
    [ "$(k get configmap -o name | grep -c /a)" -eq 60 ]
    # No thread for each: loops, the committer, the asker and a few more.
    [ "$(grep -oP '^Threads:\s*\K.*' "/proc/$(cat "$SERVER/pid")/status")" -lt 30 ]
}

@test "webhook is reinvoked once after later changes if its policy is IfNeeded" {
    kubectl create --validate=false -f - <<JSON
{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingWebhookConfiguration","metadata":{"name":"both"},
 "webhooks":[$(one first /count '"reinvocationPolicy":"IfNeeded"'),$(one second '/label;key=a&value=b'),$(one third /allow)]}
JSON
    k create configmap a --from-literal=k=v
    [ "$(reviews)" -eq 4 ]
    [ "$(k get configmap a -o 'jsonpath={.metadata.annotations.count}')" = 2 ]
    [ "$(seen 4 .review.request.object.metadata.labels.a)" = b ]
}

# one NAME PATH [FIELDS]: a webhook's JSON.
one() {
    echo "{\"name\":\"$1.example.com\",\"sideEffects\":\"None\",\"admissionReviewVersions\":[\"v1\"],\"clientConfig\":{\"url\":\"https://127.0.0.1:$(cat "$HOOKS/port")$2\",\"caBundle\":\"$(cat "$HOOKS/ca")\"},\"rules\":[{\"operations\":[\"*\"],\"apiGroups\":[\"\"],\"apiVersions\":[\"v1\"],\"resources\":[\"configmaps\"]}],\"namespaceSelector\":{\"matchLabels\":{\"kubernetes.io/metadata.name\":\"$NS\"}}${3:+,$3}}"
}

@test "dry run is sent to webhooks and changes nothing" {
    hook Mutating label '/label;key=a&value=b'
    run k create configmap a --dry-run=server -o 'jsonpath={.metadata.labels.a}'
    [ "$output" = b ]
    [ "$(seen 1 .review.request.dryRun)" = true ]
    [ "$(seen 1 .review.request.options.dryRun)" = '["All"]' ]
    run k get configmap a
    says 'not found'
}

@test "invalid patch of a webhook is an internal error" {
    hook Mutating odd '/patch;json=%5B%7B%22op%22%3A%22remove%22%2C%22path%22%3A%22/data/nope%22%7D%5D'
    run k create configmap a --from-literal=k=v
    [ "$status" -ne 0 ]
    says "Internal error occurred: error in remove for path: '/data/nope': Unable to remove nonexistent key: nope: missing value"
}

@test "object changed by a webhook is validated" {
    hook Mutating odd '/patch;json=%5B%7B%22op%22%3A%22add%22%2C%22path%22%3A%22/data%22%2C%22value%22%3A%7B%22not%20ok%22%3A%22v%22%7D%7D%5D'
    run k create configmap a --from-literal=k=v
    [ "$status" -ne 0 ]
    says 'data[not ok]: Invalid value'
}

@test "custom resources are reviewed and defaulted after a patch" {
    kubectl apply -f - <<'YAML'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: toys.hooks.example.com}
spec:
  group: hooks.example.com
  scope: Namespaced
  names: {plural: toys, singular: toy, kind: Toy}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer}
              paint: {type: object, properties: {colour: {type: string, default: red}}}
YAML
    kubectl wait --for=condition=Established --timeout=90s crd/toys.hooks.example.com
    # {"op":"add","path":"/spec/paint","value":{"unknown":1}}
    hook Mutating toys '/patch;json=%5B%7B%22op%22%3A%22add%22%2C%22path%22%3A%22/spec/paint%22%2C%22value%22%3A%7B%22unknown%22%3A1%7D%7D%5D' \
        '"rules":[{"operations":["CREATE"],"apiGroups":["hooks.example.com"],"apiVersions":["v1"],"resources":["toys"]}]'
    k create -f - <<<'{"apiVersion":"hooks.example.com/v1","kind":"Toy","metadata":{"name":"car"},"spec":{"size":1}}'
    [ "$(k get toy car -o 'jsonpath={.spec.paint}')" = '{"colour":"red"}' ]
    [ "$(seen 1 .review.request.kind.kind)" = Toy ]
}

@test "scales, bindings and evictions are reviewed as their own kinds" {
    hook Validating parts /allow \
        '"rules":[{"operations":["*"],"apiGroups":["","apps"],"apiVersions":["v1"],"resources":["deployments/scale","pods/binding","pods/eviction"]}]'
    k create deployment d --image=i
    k scale deployment d --replicas=3
    [ "$(seen 1 .review.request.kind.kind)" = Scale ]
    [ "$(seen 1 .review.request.subResource)" = scale ]
    [ "$(seen 1 .review.request.object.spec.replicas)" = 3 ]
    [ "$(seen 1 .review.request.oldObject.spec.replicas)" = 1 ]
    k run p --image=i
    api "/api/v1/namespaces/$NS/pods/p/binding" -f -o /dev/null -H 'Content-Type: application/json' \
        -d '{"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}'
    [ "$(seen 2 .review.request.kind.kind)" = Binding ]
    [ "$(seen 2 .review.request.object.target.name)" = n ]
    api "/api/v1/namespaces/$NS/pods/p/eviction" -f -o /dev/null -H 'Content-Type: application/json' \
        -d '{"metadata":{"name":"p"},"deleteOptions":{"gracePeriodSeconds":0}}'
    [ "$(seen 3 .review.request.kind.group)" = policy ]
    [ "$(seen 3 .review.request.operation)" = CREATE ]
    [ "$(reviews)" -eq 3 ]
}

@test "service reference is resolved to one of its endpoints" {
    hook Mutating far /x "\"timeoutSeconds\":1,\"clientConfig\":{\"service\":{\"name\":\"hook\",\"namespace\":\"$NS\",\"path\":\"/x\"}}"
    run k create configmap a --from-literal=k=v
    says "failed to call webhook: Post \"https://hook.$NS.svc:443/x?timeout=1s\": service \"hook\" not found"
    k create service clusterip hook --tcp=80:80
    run k create configmap a --from-literal=k=v
    says 'no service port 443 found for service "hook"'
    k patch service hook --type=json -p '[{"op":"replace","path":"/spec/ports/0","value":{"name":"https","port":443}}]'
    run k create configmap a --from-literal=k=v
    says 'no endpoints available for service "hook"'
    # Loopback addresses are invalid in endpoints, so no webhook can answer.
    k create -f - <<'YAML'
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: hook-1, labels: {kubernetes.io/service-name: hook}}
addressType: IPv4
ports: [{name: https, port: 8443}]
endpoints: [{addresses: [192.0.2.1], conditions: {ready: false}}, {addresses: [192.0.2.2]}]
YAML
    run k create configmap a --from-literal=k=v
    [ "$status" -ne 0 ]
    [[ "$output" != *'no endpoints'* ]]
}

@test "match conditions decide whether a webhook is called" {
    hook Mutating choosy /allow '"matchConditions":[{"name":"a","expression":"object.metadata.name == '"'chosen'"'"}]'
    k create configmap other --from-literal=k=v
    [ "$(reviews)" -eq 0 ]
    k create configmap chosen --from-literal=k=v
    [ "$(reviews)" -eq 1 ]
}

@test "webhook configurations are not reviewed" {
    hook Validating deny /deny '"namespaceSelector":{},"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"]}]'
    kubectl delete validatingwebhookconfiguration deny
}

@test "webhook calls are counted in metrics" {
    hook Validating deny '/deny;code=403'
    run k create configmap a --from-literal=k=v
    [ "$status" -ne 0 ]
    run api /metrics
    says 'apiserver_admission_webhook_rejection_count{name="deny.example.com",type="validating",operation="CREATE",error_type="no_error",rejection_code="403"} 1' \
        'apiserver_admission_webhook_fail_open_count{name="broken.example.com",type="admit"} 1' \
        'apiserver_admission_webhook_request_total{name="deny.example.com",type="validating",operation="CREATE",code="403",rejected="true"} 1' \
        'apiserver_admission_webhook_admission_duration_seconds_count'
}
