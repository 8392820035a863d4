#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The controller made by hand, as the document that explains it runs it: pods come and go, and it says so.

setup_file() { load helpers; server_start; }
teardown_file() { load helpers; server_stop; }

setup() {
    load helpers
    cd "$E2E/../.." || return
    NS=default
    hub_pid=
}

teardown() { hub_stop; }

logged() { grep -qF -- "$1" "$BATS_TEST_TMPDIR/hub.log"; }
logged_times() { [ "$(grep -cF -- "$2" "$BATS_TEST_TMPDIR/hub.log")" -eq "$1" ]; }

@test "reconciler runs when it is named" {
    run -0 "$KC" hub --list
    [[ $output =~ workqueue\ +Pod\ +no\ +no ]]
    run -0 "$KC" hub --controllers=workqueue --list
    [[ $output =~ workqueue\ +Pod\ +no\ +yes ]]
}

@test "created and deleted pods are logged" {
    hub_start run workqueue -c configs/kubecontroller.yaml
    k run web --image=nginx
    eventually logged "Sync/Add/Update for Pod web"
    k delete pod web --now
    eventually logged "Pod default/web does not exist anymore"
    kubectl -n kube-system run elsewhere --image=nginx
    k run again --image=nginx
    eventually logged "Sync/Add/Update for Pod again"
    run ! logged elsewhere
    hub_stop
    logged "Stopping Pod controller"
}

@test "failing key is retried six times, then dropped" {
    hub_start run workqueue
    k run bad --image=nginx --labels=fail=true
    eventually logged 'Dropping pod "default/bad" out of the queue: label fail=true is set'
    logged_times 5 "Error syncing pod default/bad: label fail=true is set"
    k label pod bad fail-
    eventually logged "Sync/Add/Update for Pod bad"
}

@test "namespace is set in the config file" {
    printf 'reconcilers: {workqueue: {namespace: kube-system}}\n' >"$BATS_TEST_TMPDIR/config.yaml"
    kubectl -n kube-system run there --image=nginx
    hub_start run workqueue -c "$BATS_TEST_TMPDIR/config.yaml"
    eventually logged "Sync/Add/Update for Pod there"
    run ! logged "Pod again"
}
