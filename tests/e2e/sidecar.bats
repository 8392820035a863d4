#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The sidecar injector: manifests/sidecar, kubectl, pods that are simulated.

setup_file() {
    load helpers
    server_start
    controllers_start --pods=simulate
}

teardown_file() {
    load helpers
    each controllers_stop server_stop
}

setup() {
    load helpers
    cd "$E2E/../.."
    NS=default
    hub_pid=
}

teardown() {
    local rc=0
    hub_stop || rc=1
    kubectl delete deployments,statefulsets,pods --all --now --wait=false >/dev/null 2>&1 || true
    kubectl delete -f manifests/sidecar/envoy-initializer.yaml >/dev/null 2>&1 || true
    kubectl delete mutatingwebhookconfigurations --all >/dev/null 2>&1 || true
    return $rc
}

without_hook() {
    printf 'reconcilers: {sidecar: {hook: ""}}\n' >"$BATS_TEST_TMPDIR/config.yaml"
    hub_start run sidecar -c "$BATS_TEST_TMPDIR/config.yaml"
}

# ready N: all pods of the deployment are ready, with so many containers.
ready() { [ "$(k get pods -l app=meshed --no-headers | awk '{print $2, $3}' | sort | uniq -c | xargs)" = "2 $1/$1 Running" ]; }

told() { k get events --field-selector "reason=$1,involvedObject.name=$2" -o name | grep -q .; }

hook_is_known() {
    [ -n "$(kubectl get mutatingwebhookconfiguration sidecar-injector -o jsonpath='{.webhooks[0].clientConfig.caBundle}')" ]
}

@test "existing deployment gets its sidecars and follows their ConfigMap" {
    kubectl apply -f manifests/sidecar/deployment.yaml
    eventually ready 1
    without_hook
    kubectl apply -f manifests/sidecar/envoy-initializer.yaml
    eventually ready 2
    field_is deployment meshed '{.spec.template.spec.containers[*].name}' "web envoy"
    field_is deployment meshed '{.spec.template.spec.volumes[*].name}' envoy-conf
    eventually told SidecarsChanged meshed

    k patch configmap envoy-initializer --type merge -p '{"data":{"config":"containers: [{name: envoy, image: newer}, {name: log, image: log}]\n"}}'
    eventually ready 3
    field_is deployment meshed '{.spec.template.spec.containers[*].image}' "busybox newer log"
    field_is deployment meshed '{.spec.template.spec.volumes}' ""

    # What is applied again leaves them; who opts out is rid of them.
    kubectl apply -f manifests/sidecar/deployment.yaml
    field_is deployment meshed '{.spec.template.spec.containers[*].name}' "web envoy log"
    k patch deployment meshed -p '{"spec":{"template":{"metadata":{"annotations":{"sidecar.kubecontroller.io/inject":"false"}}}}}'
    eventually ready 1
}

@test "pod without an owner gets an event that asks to recreate it" {
    kubectl apply -f manifests/sidecar/envoy-initializer.yaml -f manifests/sidecar/pod.yaml
    without_hook
    eventually told SidecarsMissing annotated
    run -0 kubectl describe pod annotated
    says "recreate it to get its sidecars"
    field_is pod annotated '{.spec.containers[*].name}' web
}

@test "labelled pod gets its sidecar" {
    kubectl apply -f manifests/sidecar/envoy-initializer.yaml
    hub_start run sidecar
    eventually hook_is_known
    # The server sees the configuration a moment after it was written.
    labelled() {
        k delete pod labelled --now >/dev/null 2>&1 || true
        k run labelled --image=busybox --labels=sidecar.kubecontroller.io/inject=true
        field_is pod labelled '{.spec.containers[*].name}' "labelled envoy"
    }
    eventually labelled
    kubectl apply -f manifests/sidecar/pod.yaml
    field_is pod annotated '{.spec.containers[*].name}' "web envoy"
    k run plain --image=busybox
    field_is pod plain '{.spec.containers[*].name}' plain
    eventually field_is pod labelled '{.status.phase}' Running
    run -0 kubectl get pod labelled
    [[ $output =~ labelled\ +2/2 ]]
    # A dry run shows them too.
    run -0 k run dry --image=busybox --labels=sidecar.kubecontroller.io/inject=true --dry-run=server -o jsonpath='{.spec.containers[*].name}'
    [ "$output" = "dry envoy" ]
    # Nothing had to be changed afterwards.
    kubectl apply -f manifests/sidecar/deployment.yaml
    eventually ready 2
    field_is deployment meshed '{.spec.template.spec.containers[*].name}' web
    ! told SidecarsMissing labelled
}

@test "invalid ConfigMap admits pods with a warning" {
    kubectl apply -f manifests/sidecar/envoy-initializer.yaml
    hub_start run sidecar
    eventually hook_is_known
    k patch configmap envoy-initializer --type merge -p '{"data":{"config":"containers: 5"}}'
    warned() {
        k delete pod warned --now >/dev/null 2>&1 || true
        k run warned --image=busybox --labels=sidecar.kubecontroller.io/inject=true 2>&1 | grep -q "Warning: invalid sidecar ConfigMap"
    }
    eventually warned
    eventually told BadSidecars envoy-initializer
    field_is pod warned '{.spec.containers[*].name}' warned
}

@test "pods are created while the injector is down" {
    kubectl apply -f manifests/sidecar/envoy-initializer.yaml
    hub_start run sidecar
    eventually hook_is_known
    hub_stop
    kubectl apply -f manifests/sidecar/deployment.yaml
    eventually ready 1
    hub_start run sidecar
    eventually ready 2
}
