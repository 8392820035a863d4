#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# A project from nothing, as its author sees it: an SDK that is installed, an empty folder, kc init, kc create, make, kubectl.

setup_file() {
    load helpers
    # What is installed is a release's; builds with sanitizers have none.
    local build
    build=$(dirname "$(realpath "${KC:-$E2E/../../build/release/kc}")")
    [ -e "$build/sdk/kcConfig.cmake" ] || return 0
    PREFIX=$BATS_FILE_TMPDIR/prefix
    cmake --install "$build" --prefix "$PREFIX" >/dev/null
    export PREFIX PATH=$PREFIX/bin:$PATH MAKEFLAGS=
    server_start
    mkdir "$BATS_FILE_TMPDIR/robots"
    cd "$BATS_FILE_TMPDIR/robots" || return
    kc init --domain example.io --owner 'The Authors'
    kc create api --group apps --version v1alpha1 --kind Application
}

teardown_file() { load helpers; server_stop; }

setup() {
    [ -n "${PREFIX:-}" ] || skip "this build installs no SDK"
    load helpers
    cd "$BATS_FILE_TMPDIR/robots" || return
}

teardown() { [ -z "${job:-}" ] || background_end; }

# elsewhere: an empty folder of the test's own.
elsewhere() { mkdir "$BATS_TEST_TMPDIR/elsewhere" && cd "$BATS_TEST_TMPDIR/elsewhere" || return; }

snapshot() { find . -path ./build -prune -o -type f -print0 | sort -z | xargs -0 sha256sum; }

@test "a scaffolded project builds and passes its tests" {
    run make test
    says '100% tests passed'
    [ -x build/manager ]
    [ -s config/crd/bases/apps.example.io_applications.yaml ]
    never_says 'warning:'
}

@test "its manager makes the sample ready" {
    make install
    kubectl wait --for condition=established crd/applications.apps.example.io --timeout 20s
    background make run
    kubectl apply -k config/samples
    kubectl wait --for condition=Ready application/application-sample --timeout 60s
    run kubectl get applications
    says READY True
    run kubectl get application application-sample -o jsonpath='{.status.conditions[0].reason}'
    says Reconciled
    background_end
}

@test "what it would deploy is good" {
    run kubectl kustomize config/default
    [ "$status" -eq 0 ]
    says 'name: robots-controller-manager' 'namespace: robots-system' 'robots-apps-application-editor-role'
    run --separate-stderr make -n deploy IMG=example.com/robots:v2
    says 'example.com/robots:v2'
}

@test "a second kind changes only what it must" {
    snapshot >"$BATS_TEST_TMPDIR/before"
    kc create api --group apps --version v1alpha1 --kind RobotArm --namespaced=false
    snapshot >"$BATS_TEST_TMPDIR/after"
    run bash -c "diff '$BATS_TEST_TMPDIR/before' '$BATS_TEST_TMPDIR/after' | sed -n 's/^< [0-9a-f]*  //p'"
    [ "$output" = "./PROJECT
./api/apps/v1alpha1/zz_generated.c
./api/apps/v1alpha1/zz_generated.h
./cmd/main.c
./config/crd/kustomization.yaml
./config/rbac/kustomization.yaml
./config/rbac/role.yaml
./config/samples/kustomization.yaml" ]
    # The role follows the markers of all sources: both kinds, and the events every manager writes.
    tr -d '\n' <config/rbac/role.yaml | grep -qE 'events.*applications.*robotarms'
    run make test
    says '100% tests passed' 'robot_arm_test'
}

@test "a kind in another version, in another group, and named as a word of C, builds" {
    kc create api --group apps --version v1beta1 --kind Application --controller=false
    kc create api --group other --version v1 --kind Application
    kc create api --group apps --version v1 --kind HTTPProxy
    kc create api --group apps --version v1 --kind Switch --plural switchboard
    run make test
    says '100% tests passed'
    never_says 'warning:'
    grep -q 'kind: HTTPProxy' config/crd/bases/apps.example.io_httpproxies.yaml
    [ "$(grep -c 'storage: ' config/crd/bases/apps.example.io_applications.yaml)" -eq 2 ]
    [ -s config/crd/bases/apps.example.io_switchboard.yaml ]
}

@test "webhooks for a kind build too" {
    kc create webhook --group apps --version v1alpha1 --kind Application --defaulting
    kc create webhook --group apps --version v1alpha1 --kind Application --programmatic-validation --conversion
    snapshot >"$BATS_TEST_TMPDIR/before"
    run kc create webhook --group apps --version v1alpha1 --kind Application --programmatic-validation
    [ "$status" -eq 1 ]
    says 'has these webhooks already'
    kc create webhook --group apps --version v1alpha1 --kind Application --conversion --force
    snapshot | diff "$BATS_TEST_TMPDIR/before" -
    run make build
    [ "$status" -eq 0 ]
    never_says 'warning:'
    run kubectl kustomize config/default
    says 'path: /mutate-apps-example-io-v1alpha1-application' 'path: /validate-apps-example-io-v1alpha1-application'
}

@test "a manager with webhooks runs" {
    WEBHOOK_ADDRESS=127.0.0.1:0 background build/manager
    sed 's/application-sample/second/' config/samples/apps_v1alpha1_application.yaml | kubectl apply -f -
    kubectl wait --for condition=Ready application/second --timeout 60s
    background_end
}

@test "every flag stands in its man page, and in completion" {
    local verb flag completion
    completion=$(kc completion bash)
    for verb in init create edit; do
        for flag in $(kc $verb --help | grep -oE '^ +(-[a-z], )?--[a-z-]+' | sed 's/.*--//'); do
            [ "$flag" = help ] || grep -qE -- "^\.It .*Fl -$flag( |\$)" "$PREFIX/share/man/man1/kc-$verb.1"
            [[ $completion == *"--$flag"* ]]
        done
        kc $verb --help | grep -q '^Examples:'
    done
}

@test "what was changed by hand is left, and said" {
    echo '/* mine */' >>controllers/application_controller.c
    run kc create api --group apps --version v1alpha1 --kind Application
    [ "$status" -eq 1 ]
    says 'there is Application of apps/v1alpha1 in this project already; --force'
    run kc create api --group apps --version v1alpha1 --kind Application --resource=false --make=false
    [ "$status" -eq 0 ]
    says 'left     controllers/application_controller.c'
    grep -q mine controllers/application_controller.c
    run kc create api --group apps --version v1alpha1 --kind Application --force --make=false
    says 'replaced controllers/application_controller.c'
    run ! grep -q mine controllers/application_controller.c
}

@test "lines whose marker is gone are shown" {
    elsewhere
    kc init --domain example.io >/dev/null
    sed -i '/scaffold:builder/d' cmd/main.c
    run kc create api --group apps --version v1 --kind Zone --make=false
    [ "$status" -eq 0 ]
    says 'cmd/main.c: the marker for these lines is gone' 'if (zone_setup(manager, &err) < 0)'
}

@test "outside of a project it says how to make one" {
    elsewhere
    run kc create api --group apps --version v1 --kind Zone
    [ "$status" -eq 1 ]
    says "there is no PROJECT in this folder; 'kc init --domain example.io' makes a project"
    kc init --domain example.io >/dev/null
    run kc init --domain example.io
    [ "$status" -eq 1 ]
    says 'this folder is a project already'
    cd config || return
    run kc edit --multigroup
    says 'did you mean to be in'
}

@test "bad names are refused with what was meant" {
    run kc create api --group apps --version v1 --kind robot-arm
    [ "$status" -eq 2 ]
    says "--kind: 'robot-arm' is no kind" "did you mean 'RobotArm'?"
    run kc create api --group Apps --version v1 --kind Zone
    says "--group: 'Apps' is no group" "did you mean 'apps'?"
    run kc create api --group apps --version 1 --kind Zone
    says "--version: '1' is no version" "did you mean 'v1'?"
    run kc create api --group apps --kind Zone
    says "--version is needed"
    run kc create webhok --group apps --version v1 --kind Zone
    says "did you mean 'webhook'?"
    run kc create webhook --group apps --version v1alpha1 --kind Aplication --defaulting
    [ "$status" -eq 1 ]
    says "did you mean 'Application'?"
}

@test "on a terminal it asks for what is missing" {
    elsewhere
    # One answer a line, as typed.
    printf 'example.net\n' | script -qec 'kc init' /dev/null
    grep -q '^domain: example.net$' PROJECT
    printf 'apps\nv1\nZone\n\nn\n' | script -qec 'kc create api --make=false' /dev/null
    [ -e api/apps/v1/zone_types.h ]
    [ ! -e controllers ]
}

@test "edit notes settings in PROJECT" {
    kc edit --multigroup
    grep -q '^multigroup: true$' PROJECT
    kc edit --multigroup=false
    run ! grep -q multigroup PROJECT
}
