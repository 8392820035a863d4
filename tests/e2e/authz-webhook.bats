#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The authorization mode Webhook: another server decides, between Node and RBAC.

setup_file() {
    load helpers
    export REVIEWS=$BATS_FILE_TMPDIR/reviews CONFIG=$BATS_FILE_TMPDIR/webhook.kubeconfig
    local port
    read -r port _ < <(free_ports)
    "$E2E/fixtures/authorizer" "$port" "$REVIEWS" >"$BATS_FILE_TMPDIR/authorizer.out" 2>&1 3>&- 4>&- &
    echo $! >"$BATS_FILE_TMPDIR/authorizer.pid"
    kubectl --kubeconfig "$CONFIG" config set-cluster w --server "http://127.0.0.1:$port/authorize"
    kubectl --kubeconfig "$CONFIG" config set-credentials s --token secret
    kubectl --kubeconfig "$CONFIG" config set-context c --cluster w --user s
    kubectl --kubeconfig "$CONFIG" config use-context c
    server_start --authorization-mode=Node,Webhook,RBAC --authorization-webhook-config-file="$CONFIG" --authorization-webhook-version=v1
}
teardown_file() {
    load helpers
    end_now "$(cat "$BATS_FILE_TMPDIR/authorizer.pid")"
    server_stop
}
setup() {
    load helpers
    namespace
}

as() { k --as="$1-$NS" "${@:2}"; }

reviews_of() { grep -c "\"user\": \"$1-$NS\"" "$REVIEWS"; }

@test "webhook allows what no role allows" {
    run -0 as allowed get pods
    run -0 as allowed create configmap a
    k get configmap a
    run -0 grep "\"user\": \"allowed-$NS\"" "$REVIEWS"
    says '"apiVersion": "authorization.k8s.io/v1"' '"resource": "pods"' "\"namespace\": \"$NS\"" '"verb": "list"' '"groups": ["system:authenticated"]'
}

@test "webhook denies what a role allows" {
    k create rolebinding edit --clusterrole=edit --user="denied-$NS" --user="other-$NS"
    run -1 as denied get pods
    says 'the webhook denies it'
    run -0 as other get pods
}

@test "without an opinion the reason of the webhook is part of the denial" {
    run -1 as unknown get pods
    says "User \"unknown-$NS\" cannot list resource \"pods\" in API group \"\" in the namespace \"$NS\": the webhook does not know"
}

@test "answer is kept, and another question asks again" {
    as allowed get configmaps
    before=$(reviews_of allowed)
    as allowed get configmaps
    as allowed get configmaps
    [ "$(reviews_of allowed)" -eq "$before" ]
    as allowed get secrets
    [ "$(reviews_of allowed)" -gt "$before" ]
}

@test "webhook that is busy is asked again" {
    run -0 as busy get --raw "/api/v1/namespaces/$NS/pods"
    [ "$(reviews_of busy)" -ge 3 ]
}

@test "webhook that fails has no opinion: roles decide, and without one the answer is 500" {
    k create rolebinding view --clusterrole=view --user="broken-ok-$NS"
    run -0 as broken-ok get --raw "/api/v1/namespaces/$NS/pods"
    run -1 as broken get --raw "/api/v1/namespaces/$NS/pods"
    says 'Internal Server Error'
}

# The policy denies ConfigMaps whose author the webhook allows to paint robots, or cannot decide about: with the decision as message.
paint_policy() {
    k apply -f - <<YAML
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: $NS}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NS}}
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}
  variables:
  - {name: decision, expression: "authorizer.group('example.com').resource('robots').namespace(request.namespace).check('paint')"}
  validations:
  - {expression: "!(variables.decision.allowed() && variables.decision.reason() == 'the webhook allows it')", message: may paint}
  - {expression: "!(variables.decision.errored() && variables.decision.error() != '')", message: no decision}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: $NS}
spec: {policyName: $NS, validationActions: [Deny]}
YAML
}
refuses() { run as "$1" create configmap "probe-$RANDOM" && [[ "$output" == *"$2"* ]]; }

@test "checks of policies ask the webhook: its answer, its reason and its failure" {
    k create rolebinding edit --clusterrole=edit --user="broken-$NS" --user="other-$NS"
    paint_policy
    eventually refuses allowed 'may paint'
    eventually refuses broken 'no decision'
    run -0 as other create configmap fine
    run -0 grep '"verb": "paint"' "$REVIEWS"
    says '"group": "example.com"' '"resource": "robots"' "\"namespace\": \"$NS\"" '"version": "*"' "\"user\": \"broken-$NS\""
    k delete validatingadmissionpolicybinding,validatingadmissionpolicy "$NS"
}

@test "selectors are part of the question" {
    as allowed get pods -l app=web --field-selector spec.nodeName=n1
    run -0 grep nodeName "$REVIEWS"
    says '"fieldSelector": {"requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["n1"]}]}' '"labelSelector": {"requirements": [{"key": "app", "operator": "In", "values": ["web"]}]}'
}

@test "impersonation and reviews ask the webhook" {
    token=$(k create serviceaccount web >/dev/null && k create token web)
    # The account may impersonate if the webhook says so: it has no opinion about accounts.
    run -1 kubectl --kubeconfig /dev/null -s "$HTTPS" --insecure-skip-tls-verify --token "$token" --as=bob -n "$NS" get pods
    says "User \"system:serviceaccount:$NS:web\" cannot impersonate resource \"users\"" 'the webhook does not know'
    run -0 k auth can-i get pods --as="allowed-$NS"
    run -1 k auth can-i get pods --as="denied-$NS"
    run -0 k create -o jsonpath='{.status}' -f - <<<"{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SubjectAccessReview\",\"spec\":{\"user\":\"both-$NS\",\"resourceAttributes\":{\"verb\":\"get\",\"resource\":\"pods\"}}}"
    says '"allowed":false' '"denied":true' '"evaluationError":"webhook subject access review returned both allow and deny response"'
}

@test "escalation asks the webhook for the verb bind" {
    run -0 as allowed create rolebinding give --clusterrole=admin --user=someone
    k create rolebinding admin --clusterrole=admin --user="weak-$NS"
    run -1 as weak create rolebinding give2 --clusterrole=cluster-admin --user=someone
    says 'attempting to grant RBAC permissions not currently held'
}

@test "metrics count round-trips by result" {
    run -0 k get --raw /metrics
    says 'apiserver_authorization_webhook_evaluations_total{name="default",result="success"}' 'apiserver_authorization_webhook_evaluations_fail_open_total{name="default",result="error"}'
}

@test "flags that contradict each other are refused" {
    run -2 "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/r" --authorization-mode=Webhook
    says "authorization-mode Webhook's authorization config file not passed"
    run -2 "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/r" --authorization-webhook-config-file="$CONFIG"
    says 'cannot specify --authorization-webhook-config-file without mode Webhook'
    run -2 "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/r" --authorization-mode=Webhook --authorization-webhook-config-file="$CONFIG" --authorization-webhook-version=v2
    says 'unsupported webhook authorizer version "v2", supported versions are "v1", "v1beta1"'
}
