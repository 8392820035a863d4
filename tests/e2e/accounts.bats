#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Service accounts of pods: the plugin ServiceAccount, and clients in a pod that use its mounted token: curl, Python, JavaScript and kubectl's
# in-cluster configuration.

setup_file() {
    load helpers
    WITH_ACCOUNTS=1 server_start --authorization-mode=RBAC
    export PODS=$BATS_FILE_TMPDIR/pods
    controllers_start --pods=process --pods-dir="$PODS" --node-name=machine "${UNSAFE[@]}"
}

teardown_file() { load helpers; each controllers_stop server_stop; }
setup() { load helpers; namespace; }

VOLUME=/var/run/secrets/kubernetes.io/serviceaccount

# pod NAME COMMAND [SPEC [CONTAINER]]: one container that runs the command, a JSON array; SPEC and CONTAINER are further members of them.
pod() {
    k create -f - <<JSON
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"$1"},
 "spec":{"restartPolicy":"Never","terminationGracePeriodSeconds":1${3:-},
 "containers":[{"name":"c","image":"none","command":$2${4:-}}]}}
JSON
}

# script NAME SCRIPT [SPEC [CONTAINER]]
script() { pod "$1" "[\"sh\",\"-c\",$(printf '%s' "$2" | python3 -c 'import json,sys; print(json.dumps(sys.stdin.read()))')]" "${@:3}"; }

# ends POD PHASE
ends() { eventually field_is pod "$1" '{.status.phase}' "$2" || { k describe pod "$1"; log "$1"; return 1; }; }

# folder POD: what the node keeps of it.
folder() { echo "$PODS/pods/$(k get pod "$1" -o jsonpath='{.metadata.uid}')"; }
log() { cut -d' ' -f4- "$(folder "$1")/c/0.log"; }

# may_read ACCOUNT: the account may read ConfigMaps of the test's namespace.
may_read() {
    k create role reader --verb=get,list,watch --resource=configmaps,pods
    k create rolebinding "reader-$1" --role=reader --serviceaccount="$NS:$1"
}

needs_mounts() { mounts_work || skip "no mount namespaces"; }

@test "pod in a new namespace gets the default account and a token volume" {
    k run plain --image=none
    run -0 k get pod plain -o jsonpath='{.spec.serviceAccountName} {.spec.volumes[0].name} {.spec.containers[0].volumeMounts[0].mountPath}'
    says 'default kube-api-access-' "$VOLUME"
    run -1 k run none --image=none --overrides='{"spec":{"serviceAccountName":"missing"}}'
    says "error looking up service account $NS/missing: serviceaccount \"missing\" not found"
}

@test "pull secrets and mountable secrets of the account apply" {
    k create -f - <<'JSON'
{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"strict","annotations":{"kubernetes.io/enforce-mountable-secrets":"true"}},"imagePullSecrets":[{"name":"pull"}]}
JSON
    k run pulls --image=none --overrides='{"spec":{"serviceAccountName":"strict"}}'
    field_is pod pulls '{.spec.imagePullSecrets[0].name}' pull
    run -1 k create -f - <<'JSON'
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"secret"},"spec":{"serviceAccountName":"strict","containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","secret":{"secretName":"other"}}]}}
JSON
    says 'volume with secret.secretName="other" is not allowed because service account strict does not reference that secret'
}

@test "token, CA and namespace are mounted and the token is valid" {
    needs_mounts
    may_read default
    k create configmap greeting --from-literal=text=hello
    script curl "cat $VOLUME/namespace; echo; curl -sS --cacert $VOLUME/ca.crt -H \"Authorization: Bearer \$(cat $VOLUME/token)\" https://\$KUBERNETES_SERVICE_HOST:\$KUBERNETES_SERVICE_PORT/api/v1/namespaces/$NS/configmaps/greeting | grep -o '\"text\": *\"hello\"'"
    ends curl Succeeded
    run -0 log curl
    says "$NS" hello
}

@test "token is bound to the pod and denied where the account has no rights" {
    needs_mounts
    script who "curl -sS --cacert $VOLUME/ca.crt -H \"Authorization: Bearer \$(cat $VOLUME/token)\" https://\$KUBERNETES_SERVICE_HOST:\$KUBERNETES_SERVICE_PORT/api/v1/namespaces/$NS/secrets; cut -d. -f2 $VOLUME/token | tr '_-' '/+' | base64 -d 2>/dev/null; true"
    ends who Succeeded
    run -0 log who
    says "User \\\"system:serviceaccount:$NS:default\\\" cannot list resource \\\"secrets\\\"" '"pod":{"name":"who"'
}

@test "Python client in a pod uses the in-cluster configuration" {
    needs_mounts
    /usr/bin/python3 -c 'import kubernetes' || skip "no Python client"
    may_read default
    k create configmap greeting --from-literal=text=hello
    pod python "[\"/usr/bin/python3\",\"-c\",\"from kubernetes import client, config; config.load_incluster_config(); print(client.CoreV1Api().read_namespaced_config_map('greeting', '$NS').data)\"]"
    ends python Succeeded
    run -0 log python
    says "{'text': 'hello'}"
}

@test "JavaScript client in a pod uses the in-cluster configuration" {
    needs_mounts
    local js; js=$(realpath "$E2E/../../build/js")
    [ -e "$js/node_modules/.installed" ] || skip "no JavaScript client: run the suite js first"
    may_read default
    k create configmap greeting --from-literal=text=hello
    # Pods do not see the folders /tmp and /var/tmp of the machine, where this tree may be: the client comes in a volume.
    script javascript "until [ -e /client/program.mjs ]; do sleep 0.1; done; exec $(command -v node) /client/program.mjs" \
        ',"volumes":[{"name":"client","emptyDir":{}}]' ',"volumeMounts":[{"name":"client","mountPath":"/client"}]'
    local client; client=$(folder javascript)/.volumes/client
    eventually [ -d "$client" ]
    cp -r "$js/node_modules" "$client/"
    cat >"$client/program.new" <<JS
import * as k8s from '@kubernetes/client-node';
const config = new k8s.KubeConfig();
config.loadFromCluster();
const greeting = await config.makeApiClient(k8s.CoreV1Api).readNamespacedConfigMap({name: 'greeting', namespace: '$NS'});
console.log(greeting.data.text);
JS
    mv "$client/program.new" "$client/program.mjs"
    ends javascript Succeeded
    run -0 log javascript
    says hello
}

@test "kubectl and the SDK in a pod find the server" {
    needs_mounts
    may_read default
    k create configmap greeting --from-literal=text=hello
    script kubectl "cd /tmp && HOME=/tmp $(command -v kubectl) get configmap greeting -o jsonpath={.data.text}"
    ends kubectl Succeeded
    run -0 log kubectl
    says hello
}

