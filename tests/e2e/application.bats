#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Applications, which follow their pods; and a project of one's own for such a kind, as the document that explains it begins.

setup_file() {
    load helpers
    server_start
    cd "$E2E/../.." || return
    kubectl apply -f manifests/application/apps.example.io_applications.yaml
    controllers_start --pods=simulate
}
teardown_file() { load helpers; each controllers_stop server_stop; }

setup() {
    load helpers
    cd "$E2E/../.." || return
    NS=default
    hub_pid=
}

teardown() { hub_stop; }

told() { k get events --field-selector "involvedObject.name=$1,reason=$2" -o name | grep -q .; }

@test "application status follows the pods with its label" {
    hub_start run application -c configs/kubecontroller.yaml
    kubectl apply -f manifests/application/cr.yaml
    kubectl wait --for=condition=Available application/shop --timeout=90s
    eventually field_is application shop '{.status.readyPods}' 2
    run -0 kubectl get applications
    [[ $output =~ NAME\ +PODS\ +READY\ +AVAILABLE\ +AGE ]]
    [[ $output =~ shop\ +2\ +2\ +True ]]
    field_is application shop '{.status.images}' '["nginx:1.27"]'
    eventually told shop Available

    k scale deployment shop-web --replicas=1
    kubectl wait --for=condition=Available=False application/shop --timeout=90s
    field_is application shop '{.status.conditions[0].message}' "1 of its pods is ready, 2 are required"
    eventually told shop Unavailable
    k patch application shop --type merge -p '{"spec":{"minReady":1}}'
    kubectl wait --for=condition=Available application/shop --timeout=90s
}

@test "pod with a changed label is counted by the other application" {
    hub_start run application
    k create -f - <<'YAML'
apiVersion: apps.example.io/v1alpha1
kind: Application
metadata: {name: one}
---
apiVersion: apps.example.io/v1alpha1
kind: Application
metadata: {name: two}
YAML
    k run mine --image=busybox --labels=apps.example.io/application=one
    eventually field_is application one '{.status.readyPods}' 1
    k label pod mine apps.example.io/application=two --overwrite
    eventually field_is application two '{.status.readyPods}' 1
    eventually field_is application one '{.status.pods}' 0
    k delete pod mine --now --wait=false
    eventually field_is application two '{.status.pods}' 0
}

@test "invalid application is refused" {
    run -1 kubectl create -f - <<'YAML'
apiVersion: apps.example.io/v1alpha1
kind: Application
metadata: {name: bad}
spec: {minReady: -1}
YAML
    says "spec.minReady" "greater than or equal to 0"
}

# The files that the document names, after each of its steps.
@test "project for an application kind is built step by step" {
    mkdir "$BATS_TEST_TMPDIR/app"
    cd "$BATS_TEST_TMPDIR/app" || return
    "$KC" init --domain example.io
    for file in cmd/main.c Dockerfile CMakeLists.txt config/default config/manager config/rbac; do
        [ -e "$file" ]
    done
    [ ! -e api ] && [ ! -e controllers ]
    cp cmd/main.c "$BATS_TEST_TMPDIR/main.c"
    "$KC" create api --group apps --version v1alpha1 --kind Application --make=false
    for word in application_spec application_status application; do
        grep -q "} $word;" api/apps/v1alpha1/application_types.h
    done
    grep -q 'static kc_result reconcile(' controllers/application_controller.c
    # Its controller is added to the manager.
    run -1 diff "$BATS_TEST_TMPDIR/main.c" cmd/main.c
    says "application_setup(manager"
    "$KC" generate object api/apps/v1alpha1 -o api/apps/v1alpha1
    "$KC" generate crd api/apps/v1alpha1 -o config/crd/bases
    [ -s api/apps/v1alpha1/zz_generated.c ]
    # What `make install` gives to the server.
    run -0 kubectl apply --dry-run=server -k config/crd
    says "customresourcedefinition.apiextensions.k8s.io/applications.apps.example.io"
}
