#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --authorization-config: several webhooks over HTTPS between Node and RBAC, match conditions, failure policies, reloads.

# kubeconfig_of NAME: of a webhook whose questions go to the path /NAME.
kubeconfig_of() {
    sed "s|/authorize|/$1|" "$WEBHOOK" >"$DIR/$1.kubeconfig"
    chmod 600 "$DIR/$1.kubeconfig"
}

# The configuration of tests/conformance/authorization.yaml: the webhooks first and strict between Node and RBAC.
initial_config() { sed "s|@DIR@|$DIR|" "$E2E/../conformance/authorization.yaml"; }

# with_second: the same, with a third webhook for the users that the first one excludes.
with_second() {
    kubeconfig_of second
    initial_config
    printf -- '- type: Webhook\n  name: second\n  webhook:\n    timeout: 1s\n    subjectAccessReviewVersion: v1\n    failurePolicy: NoOpinion\n'
    printf '    connectionInfo: {type: KubeConfigFile, kubeConfigFile: %s}\n    matchConditionSubjectAccessReviewVersion: v1\n' "$DIR/second.kubeconfig"
    printf "    matchConditions: [{expression: \"request.user.startsWith('unasked-reload')\"}]\n"
}

# configure: standard input becomes the configuration, at once.
configure() {
    cat >"$CONFIG.new"
    mv "$CONFIG.new" "$CONFIG"
}

setup_file() {
    load helpers
    export DIR=$BATS_FILE_TMPDIR REVIEWS=$BATS_FILE_TMPDIR/reviews CONFIG=$BATS_FILE_TMPDIR/authorization.yaml
    export WEBHOOK=$BATS_FILE_TMPDIR/webhook.kubeconfig CERT=$BATS_FILE_TMPDIR/hook
    local port
    read -r port _ < <(free_ports)
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 \
        -keyout "$CERT.key" -out "$CERT.crt" 2>/dev/null
    "$E2E/fixtures/authorizer" "$port" "$REVIEWS" "$CERT.crt" "$CERT.key" >"$BATS_FILE_TMPDIR/authorizer.out" 2>&1 3>&- 4>&- &
    echo $! >"$BATS_FILE_TMPDIR/authorizer.pid"
    kubectl --kubeconfig "$WEBHOOK" config set-cluster w --server "https://127.0.0.1:$port/authorize" --certificate-authority "$CERT.crt"
    kubectl --kubeconfig "$WEBHOOK" config set-credentials s --token secret
    kubectl --kubeconfig "$WEBHOOK" config set-context c --cluster w --user s
    kubectl --kubeconfig "$WEBHOOK" config use-context c
    kubeconfig_of first
    kubeconfig_of strict
    initial_config | configure
    server_start --authorization-config="$CONFIG"
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

# reviews_of HOOK USER: how often a webhook was asked about a user.
reviews_of() { grep -c "^/$1?timeout=1s .*\"user\": \"$2-$NS\"" "$REVIEWS" || true; }

metric() { k get --raw /metrics | grep -F "$1" || true; }
# metric_is LINE VALUE
metric_is() { [ "$(metric "$1" | sed 's/.* //')" = "$2" ]; }

@test "answers equal those of kube-apiserver with the same configuration and webhooks" {
    run -0 --separate-stderr "$E2E/../conformance/authorization.py" "$HTTPS"
    diff "$E2E/../conformance/authorization.golden" - <<<"$output"
}

@test "webhooks over HTTPS decide between Node and RBAC" {
    run -0 as allowed get --raw "/api/v1/namespaces/$NS/pods"
    [ "$(reviews_of first allowed)" -eq 1 ]
    run -0 grep "^/first?timeout=1s .*\"user\": \"allowed-$NS\"" "$REVIEWS"
    says '"apiVersion": "authorization.k8s.io/v1"' '"groups": ["system:authenticated"]'
    k create rolebinding edit --clusterrole=edit --user="denied-$NS" --user="other-$NS"
    run -1 as denied get --raw "/api/v1/namespaces/$NS/pods"
    says 'the webhook denies it'
    run -0 as other get --raw "/api/v1/namespaces/$NS/pods"
}

@test "request that a match condition excludes does not reach the webhook" {
    run -1 as unasked get pods
    says "cannot list resource \"pods\" in API group \"\" in the namespace \"$NS\""
    [[ $output != *'the webhook does not know'* ]]
    k create rolebinding view --clusterrole=view --user="unasked-$NS"
    run -0 as unasked get pods
    [ "$(reviews_of first unasked)" -eq 0 ]
    [ "$(reviews_of strict unasked)" -eq 0 ]
}

@test "match condition that fails has no opinion or denies, by the failure policy" {
    k create clusterrole "x-$NS" --verb=get --non-resource-url=/metrics
    k create clusterrolebinding "x-$NS" --clusterrole="x-$NS" --user="odd-$NS" --user="strict-odd-$NS"
    run -0 as odd get --raw /metrics
    run -1 as strict-odd get --raw /metrics
    says 'Internal Server Error' 'no such key: resourceAttributes'
    [ "$(reviews_of first odd)" -eq 0 ]
    [ "$(reviews_of strict strict-odd)" -eq 0 ]
    k delete "clusterrole/x-$NS" "clusterrolebinding/x-$NS"
}

@test "webhook that fails or is too slow has no opinion or denies, by the failure policy" {
    k create rolebinding view --clusterrole=view --user="garbled-$NS" --user="slow-$NS" --user="strict-garbled-$NS"
    run -0 as garbled get --raw "/api/v1/namespaces/$NS/pods"
    run -0 as slow get --raw "/api/v1/namespaces/$NS/pods"
    run -1 as strict-garbled get --raw "/api/v1/namespaces/$NS/pods"
    says 'Internal Server Error'
    [ "$(reviews_of first garbled)" -ge 1 ]
    [ "$(reviews_of strict strict-garbled)" -ge 1 ]
    run -0 k get --raw /metrics
    says 'apiserver_authorization_webhook_evaluations_total{name="first",result="error"}' \
        'apiserver_authorization_webhook_evaluations_total{name="first",result="timeout"}' \
        'apiserver_authorization_webhook_evaluations_fail_open_total{name="first",result="timeout"}' \
        'apiserver_authorization_decisions_total{type="Webhook",name="strict",decision="denied"}'
    [[ $output != *'evaluations_fail_open_total{name="strict"'* ]]
}

@test "answers are kept, unless the configuration says otherwise" {
    as allowed get --raw "/api/v1/namespaces/$NS/configmaps"
    as allowed get --raw "/api/v1/namespaces/$NS/configmaps"
    [ "$(reviews_of first allowed)" -eq 1 ]
    as strict-allowed get --raw "/api/v1/namespaces/$NS/configmaps"
    as strict-allowed get --raw "/api/v1/namespaces/$NS/configmaps"
    [ "$(reviews_of strict strict-allowed)" -eq 2 ]
    run -0 grep "^/strict?timeout=1s .*\"user\": \"strict-allowed-$NS\"" "$REVIEWS"
    says '"apiVersion": "authorization.k8s.io/v1beta1"' '"group": ["system:authenticated"]'
}

@test "metrics name authorizers, exclusions, decisions and the configuration" {
    as allowed get pods
    run -1 as unasked get pods
    run -0 k get --raw /metrics
    says 'apiserver_authorization_decisions_total{type="Webhook",name="first",decision="allowed"}' \
        'apiserver_authorization_match_condition_exclusions_total{type="Webhook",name="first"}' \
        'apiserver_authorization_match_condition_evaluation_seconds_count{type="Webhook",name="strict"}' \
        'apiserver_authorization_config_controller_last_config_info{apiserver_id_hash="",hash="sha256:'"$(sha256sum "$CONFIG" | cut -d' ' -f1)"'"} 1'
}

RELOADS='apiserver_authorization_config_controller_automatic_reloads_total{status='

reloads() { grep -c 'reloaded changed files' "$SERVER/err" || true; }
# reloads_are SUCCESSES FAILURES
reloads_are() { metric_is "$RELOADS\"success\"" "$1" && metric_is "$RELOADS\"failure\"" "$2"; }

@test "changed file takes effect; an invalid one leaves the previous authorizers in effect" {
    k create rolebinding view --clusterrole=view --user="denied-$NS"
    run -1 as unasked-reload get pods
    with_second | configure
    eventually metric_is "$RELOADS\"success\"" 1
    run -1 as unasked-reload get pods
    says 'the webhook does not know'
    asked=$(reviews_of second unasked-reload)
    [ "$asked" -ge 1 ]
    # Node must stay.
    initial_config | grep -v 'type: Node' | configure
    eventually reloads_are 1 1
    grep -q 'missing required types: \[Node\]' "$SERVER/err"
    run -1 as unasked-reload get pods
    says 'the webhook does not know'
    run -1 as denied get --raw "/api/v1/namespaces/$NS/pods"
    says 'the webhook denies it'
    # AlwaysDeny may come.
    { initial_config; echo '- {type: AlwaysDeny, name: alwaysdeny}'; } | configure
    eventually reloads_are 2 1
    run -1 as unasked-reload get pods
    says 'Everything is forbidden.'
    [ "$(reviews_of second unasked-reload)" -eq "$asked" ]
    # What came with a reload may go.
    initial_config | configure
    eventually reloads_are 3 1
    # The same configuration in other words is no reload of the authorizers.
    as allowed get --raw "/api/v1/namespaces/$NS/secrets"
    read_before=$(reloads)
    read_again() { [ "$(reloads)" -gt "$read_before" ]; }
    { initial_config; echo '# a comment'; } | configure
    eventually read_again
    reloads_are 3 1
    as allowed get --raw "/api/v1/namespaces/$NS/secrets"
    [ "$(reviews_of first allowed)" -eq 1 ]
}

# refused TEXT FLAG…: the server does not start, and says so.
refused() {
    local code=$1 text=$2
    shift 2
    run "-$code" "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/root" "$@"
    says "$text"
    [ ! -e "$BATS_TEST_TMPDIR/root/store" ]
}

@test "contradicting flags and invalid files are refused before the first write" {
    refused 2 '--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined' \
        --authorization-config="$CONFIG" --authorization-mode=Node,RBAC
    refused 2 '--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined' \
        --authorization-config="$CONFIG" --authorization-webhook-cache-authorized-ttl=1m
    initial_config | sed "s/failurePolicy: Deny/failurePolicy: Maybe/; s/!request.user.startsWith('unasked')/request.usr/" >"$BATS_TEST_TMPDIR/bad.yaml"
    refused 1 'authorizers[2].failurePolicy: Unsupported value: "Maybe": supported values: "NoOpinion", "Deny"' --authorization-config="$BATS_TEST_TMPDIR/bad.yaml"
    says "authorizers[1].matchConditions[0].expression: Invalid value: \"request.usr\": compilation failed: ERROR: <input>:1:8: undefined field 'usr'"
    printf 'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers: [{type: AlwaysAllow, name: alwaysallow}]\n' >"$BATS_TEST_TMPDIR/open.yaml"
    refused 1 'would give every client on the network full access' --authorization-config="$BATS_TEST_TMPDIR/open.yaml" --anonymous-auth --bind-address=0.0.0.0
    chmod o+w "$BATS_TEST_TMPDIR/open.yaml"
    refused 1 '--authorization-config: other users can write to the file' --authorization-config="$BATS_TEST_TMPDIR/open.yaml"
}
