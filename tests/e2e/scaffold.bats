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

# own_account NAME: applies config/rbac, the project's service account, roles and bindings, as config/default would; $OWN is a kubeconfig
# with a token of the account, whose permissions are those of the generated roles alone.
own_account() {
    export OWN=$BATS_TEST_TMPDIR/own.kubeconfig
    kubectl create namespace "$1-system"
    mkdir config/own
    printf '%s\n' "namespace: $1-system" "namePrefix: $1-" 'resources: [../rbac]' >config/own/kustomization.yaml
    kubectl apply -k config/own
    rm -r config/own
    kubectl --kubeconfig "$OWN" config set-cluster c --server "$HTTPS" --certificate-authority "$SERVER/root/certs/ca.crt"
    kubectl --kubeconfig "$OWN" config set-credentials m --token "$(kubectl -n "$1-system" create token "$1-controller-manager")"
    kubectl --kubeconfig "$OWN" config set-context o --cluster c --user m
    kubectl --kubeconfig "$OWN" config use-context o
    [ "$(kubectl --kubeconfig "$OWN" auth whoami -o 'jsonpath={.status.userInfo.username}')" = "system:serviceaccount:$1-system:$1-controller-manager" ]
    run -1 kubectl --kubeconfig "$OWN" auth can-i list secrets -A
}

# Nothing was denied to the manager.
was_never_denied() { ! background_says 'forbidden|Unauthorized'; }

snapshot() { find . -path ./build -prune -o -type f -print0 | sort -z | xargs -0 sha256sum; }

@test "scaffolded project builds and passes its tests" {
    run make test
    says '100% tests passed'
    [ -x build/manager ]
    [ -s config/crd/bases/apps.example.io_applications.yaml ]
    never_says 'warning:'
}

@test "its manager makes the sample ready" {
    make install
    kubectl wait --for condition=established crd/applications.apps.example.io --timeout 90s
    background make run
    kubectl apply -k config/samples
    kubectl wait --for condition=Ready application/application-sample --timeout 90s
    run kubectl get applications
    says READY True
    run kubectl get application application-sample -o jsonpath='{.status.conditions[0].reason}'
    says Reconciled
    background_end
}

@test "its manifests are accepted by the server" {
    run kubectl kustomize config/default
    [ "$status" -eq 0 ]
    says 'name: robots-controller-manager' 'namespace: robots-system' 'robots-apps-application-editor-role'
    run --separate-stderr make -n deploy IMG=example.com/robots:v2
    says 'example.com/robots:v2'
}

@test "second kind changes only the necessary files" {
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

@test "kind in another version, in another group, and named after a C keyword builds" {
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

@test "webhooks for a kind build" {
    kc create webhook --group apps --version v1alpha1 --kind Application --defaulting
    kc create webhook --group apps --version v1alpha1 --kind Application --programmatic-validation --conversion
    snapshot >"$BATS_TEST_TMPDIR/before"
    run kc create webhook --group apps --version v1alpha1 --kind Application --programmatic-validation
    [ "$status" -eq 1 ]
    says 'already has these webhooks'
    kc create webhook --group apps --version v1alpha1 --kind Application --conversion --force
    snapshot | diff "$BATS_TEST_TMPDIR/before" -
    run make build
    [ "$status" -eq 0 ]
    never_says 'warning:'
    run kubectl kustomize config/default
    says 'path: /mutate-apps-example-io-v1alpha1-application' 'path: /validate-apps-example-io-v1alpha1-application'
}

@test "manager with webhooks runs under its own roles only" {
    own_account robots
    KUBECONFIG=$OWN WEBHOOK_ADDRESS=127.0.0.1:0 background build/manager
    sed 's/application-sample/second/' config/samples/apps_v1alpha1_application.yaml | kubectl apply -f -
    kubectl wait --for condition=Ready application/second --timeout 90s
    was_never_denied
    background_end
}

# rename_in_spokes: the conversion of this test: v1beta1 has spec.bar instead of spec.foo.
rename_in_spokes() {
    sed -i 's/char \*foo;/char *bar;/' api/apps/v1beta1/robot_types.h
    sed -i -e 's|(void)object; /\* TODO: convert.*|rename_member(object, "bar", "foo");|' \
        -e 's|(void)object; /\* TODO: the reverse.*|rename_member(object, "foo", "bar");|' \
        -e '/^typedef struct spoke {/i static void rename_member(kc_edit *object, const char *from, const char *to)\n{\n    kc_node *spec = kc_node_get(kc_edit_root(object), KC_STR("spec"));\n    kc_node *value = kc_node_get(spec, kc_cstr(from));\n    if (!value)\n        return;\n    value = kc_node_clone(object, value);\n    kc_node_remove(spec, kc_cstr(from));\n    kc_node_set(object, spec, kc_cstr(to), value);\n}\n' \
        webhooks/robot_webhook.c
}

@test "server converts by the hub and spokes of a project" {
    local port client
    elsewhere
    kc init --domain example.io >/dev/null
    kc create api --group apps --version v1 --kind Robot --make=false >/dev/null
    kc create api --group apps --version v1beta1 --kind Robot --controller=false --make=false >/dev/null
    kc create webhook --group apps --version v1 --kind Robot --conversion --spoke v1beta1 --make=false >/dev/null
    rename_in_spokes
    run make build
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    kubectl apply -f config/crd/bases
    kubectl wait --for condition=established crd/robots.apps.example.io --timeout 90s
    read -r port _ < <(free_ports)
    client="{\"url\":\"https://localhost:$port/convert\"}"
    kubectl patch crd robots.apps.example.io --type merge -p "{\"spec\":{\"conversion\":{\"strategy\":\"Webhook\",\"webhook\":{
        \"conversionReviewVersions\":[\"v1\"],\"clientConfig\":$client}}}}"
    WEBHOOK_ADDRESS=127.0.0.1:$port background build/manager
    # The manager adds its CA to the definition.
    trusted() { kubectl get crd robots.apps.example.io -o jsonpath='{.spec.conversion.webhook.clientConfig.caBundle}' | grep -q .; }
    eventually trusted
    create() { kubectl create -f - <<<'{"apiVersion":"apps.example.io/v1beta1","kind":"Robot","metadata":{"name":"a"},"spec":{"bar":"x"}}'; }
    eventually create
    [ "$(kubectl get robots.v1.apps.example.io a -o jsonpath='{.spec}')" = '{"foo":"x"}' ]
    [ "$(kubectl get robots.v1beta1.apps.example.io a -o jsonpath='{.spec}')" = '{"bar":"x"}' ]
    kubectl patch robots.v1beta1.apps.example.io a --type merge -p '{"spec":{"bar":"y"}}'
    [ "$(kubectl get robots.v1.apps.example.io a -o jsonpath='{.spec.foo}')" = y ]
    # Its controller works in the hub version.
    kubectl wait --for condition=Ready robots.v1beta1.apps.example.io/a --timeout 90s
    background_end
    kubectl delete crd robots.apps.example.io
}

@test "every flag is in its man page and in completion" {
    local verb flag completion
    completion=$(kc completion bash)
    for verb in init create edit alpha; do
        for flag in $(kc $verb --help | grep -oE '^  (-[a-z], )?--[a-z-]+' | sed 's/.*--//'); do
            [ "$flag" = help ] || grep -qE -- "^\.It .*Fl -$flag( |\$)" "$PREFIX/share/man/man1/kc-$verb.1"
            [[ $completion == *"--$flag"* ]]
        done
        kc $verb --help | grep -q '^Examples:'
    done
}

@test "manual changes are kept and reported" {
    echo '/* mine */' >>controllers/application_controller.c
    run kc create api --group apps --version v1alpha1 --kind Application
    [ "$status" -eq 1 ]
    says 'Application of apps/v1alpha1 already exists in this project; --force'
    run kc create api --group apps --version v1alpha1 --kind Application --resource=false --make=false
    [ "$status" -eq 0 ]
    says 'left     controllers/application_controller.c'
    grep -q mine controllers/application_controller.c
    run kc create api --group apps --version v1alpha1 --kind Application --force --make=false
    says 'replaced controllers/application_controller.c'
    run ! grep -q mine controllers/application_controller.c
}

@test "lines without a marker are printed" {
    elsewhere
    kc init --domain example.io >/dev/null
    sed -i '/scaffold:builder/d' cmd/main.c
    run kc create api --group apps --version v1 --kind Zone --make=false
    [ "$status" -eq 0 ]
    says 'cmd/main.c: the marker for these lines is missing' 'if (zone_setup(manager, &err) < 0)'
}

@test "outside of a project it explains how to create one" {
    elsewhere
    run kc create api --group apps --version v1 --kind Zone
    [ "$status" -eq 1 ]
    says "no PROJECT in this directory; 'kc init --domain example.io' creates a project"
    kc init --domain example.io >/dev/null
    run kc init --domain example.io
    [ "$status" -eq 1 ]
    says 'this directory already contains a project'
    cd config || return
    run kc edit --multigroup
    says 'did you mean to run this in'
}

@test "invalid names are refused with a suggestion" {
    run kc create api --group apps --version v1 --kind robot-arm
    [ "$status" -eq 2 ]
    says "--kind: 'robot-arm' is not a valid kind" "did you mean 'RobotArm'?"
    run kc create api --group Apps --version v1 --kind Zone
    says "--group: 'Apps' is not a valid group" "did you mean 'apps'?"
    run kc create api --group apps --version 1 --kind Zone
    says "--version: '1' is not a valid version" "did you mean 'v1'?"
    run kc create api --group apps --kind Zone
    says "--version is required"
    run kc create webhok --group apps --version v1 --kind Zone
    says "did you mean 'webhook'?"
    run kc create webhook --group apps --version v1alpha1 --kind Aplication --defaulting
    [ "$status" -eq 1 ]
    says "did you mean 'Application'?"
}

@test "on a terminal it prompts for missing values" {
    elsewhere
    # One answer a line, as typed.
    printf 'example.net\n' | script -qec 'kc init' /dev/null
    grep -q '^domain: example.net$' PROJECT
    printf 'apps\nv1\nZone\n\nn\n' | script -qec 'kc create api --make=false' /dev/null
    [ -e api/apps/v1/zone_types.h ]
    [ ! -e controllers ]
    # A wrong answer is asked for again.
    run bash -c "printf 'apps\\nv1\\nrobot-arm\\nRobotArm\\n\\nn\\n' | script -qec 'kc create api --make=false' /dev/null"
    says "'robot-arm' is not a valid kind" "did you mean 'RobotArm'?"
    [ -e api/apps/v1/robot_arm_types.h ]
}

@test "cancelled prompt leaves nothing behind" {
    elsewhere
    run script -qec 'kc init' /dev/null </dev/null
    says 'no answer; no files were written'
    [ -z "$(ls -A)" ]
    kc init --domain example.io >/dev/null
    snapshot >"$BATS_TEST_TMPDIR/before"
    # The end of the input, then Ctrl-C, at the third question.
    printf 'apps\nv1\n' | script -qec 'kc create api' /dev/null >/dev/null || true
    printf 'apps\nv1\n\003' | script -qec 'kc create api' /dev/null >/dev/null || true
    snapshot | diff "$BATS_TEST_TMPDIR/before" -
}

@test "on a terminal it prompts for webhooks" {
    elsewhere
    kc init --domain example.io >/dev/null
    kc create api --group apps --version v1 --kind Zone --make=false >/dev/null
    printf 'apps\nv1\nZone\nn\ny\nn\n' | script -qec 'kc create webhook --make=false' /dev/null
    grep -q 'kc_webhook_add_validator(hooks, &zone_kind, validate' webhooks/zone_webhook.c
    run ! grep -q set_defaults webhooks/zone_webhook.c
}

@test "deployment is accepted, built into one file and removed" {
    make deploy IMG=example.com/robots:v2 >/dev/null
    run kubectl -n robots-system get deployment robots-controller-manager -o jsonpath='{.spec.template.spec.containers[0].image}'
    [ "$output" = example.com/robots:v2 ]
    kubectl get clusterrole/robots-manager-role crd/applications.apps.example.io
    make build-installer IMG=example.com/robots:v3 >/dev/null
    grep -q 'image: example.com/robots:v3' dist/install.yaml
    kubectl apply --dry-run=server -f dist/install.yaml >/dev/null
    # A namespace goes when its controller has emptied it: that is not waited for.
    # shellcheck disable=SC2016
    printf '#!/bin/sh\ncase "$1" in delete) shift; exec kubectl delete --wait=false "$@" ;; *) exec kubectl "$@" ;; esac\n' >"$BATS_TEST_TMPDIR/kubectl"
    chmod +x "$BATS_TEST_TMPDIR/kubectl"
    make undeploy KUBECTL="$BATS_TEST_TMPDIR/kubectl" >/dev/null
    run ! kubectl get clusterrole robots-manager-role
    eventually bash -c '! kubectl get crd applications.apps.example.io 2>/dev/null'
}

@test "with --namespaced the manager has a Role and watches its namespace" {
    elsewhere
    kc init --domain example.org --project-name fenced --namespaced >/dev/null
    kc create api --group apps --version v1 --kind Sheep >/dev/null
    run kubectl kustomize config/default
    says 'kind: RoleBinding' 'name: fenced-manager-role' 'name: WATCH_NAMESPACE'
    never_says 'ClusterRole'
    make build install >/dev/null
    kubectl create namespace inside && kubectl create namespace outside
    kubectl wait --for condition=established crd/sheeps.apps.example.org --timeout 90s
    WATCH_NAMESPACE=inside,nowhere background build/manager
    kubectl -n outside apply -k config/samples
    kubectl -n inside apply -k config/samples
    kubectl -n inside wait --for condition=Ready sheep/sheep-sample --timeout 90s
    run kubectl -n outside get sheep sheep-sample -o jsonpath='{.status}'
    [ -z "$output" ]
    background_end
    # In its own namespace its own Role suffices.
    own_account fenced
    KUBECONFIG=$OWN WATCH_NAMESPACE=fenced-system background build/manager
    kubectl -n fenced-system apply -k config/samples
    kubectl -n fenced-system wait --for condition=Ready sheep/sheep-sample --timeout 90s
    was_never_denied
    background_end
    # What is in no namespace needs a ClusterRole, and a binding of it.
    kc create api --group apps --version v1 --kind Meadow --namespaced=false >/dev/null
    run kubectl kustomize config/default
    says 'kind: ClusterRoleBinding' 'name: fenced-manager-cluster-rolebinding'
}

@test "project becomes namespaced and prints the remaining steps" {
    elsewhere
    kc init --domain example.io --project-name robots >/dev/null
    kc create api --group apps --version v1 --kind Zone >/dev/null
    run kc edit --namespaced
    [ "$status" -eq 0 ]
    says 'replaced config/rbac/role_binding.yaml' 'changed  cmd/main.c' 'by hand  controllers/zone_controller.c: add namespace=robots-system'
    grep -q '^namespaced: true$' PROJECT
    sed -i 's/rbac:groups=\([^,]*\),/&namespace=robots-system,/' cmd/main.c controllers/zone_controller.c
    make build >/dev/null
    run kubectl kustomize config/default
    says 'kind: RoleBinding' 'name: WATCH_NAMESPACE'
    run kc edit --namespaced
    never_says 'by hand'
    # And back; a file that was changed is left.
    echo '# mine' >>config/rbac/role_binding.yaml
    run kc edit --namespaced=false
    says 'left     config/rbac/role_binding.yaml' 'by hand  config/manager/manager.yaml: remove WATCH_NAMESPACE'
    run kc edit --namespaced=false --force
    says 'replaced config/rbac/role_binding.yaml'
    run ! grep -q '^namespaced' PROJECT
}

@test "with --multigroup sources are in directories by group" {
    elsewhere
    kc init --domain example.io --multigroup >/dev/null
    kc create api --group apps --version v1 --kind Zone >/dev/null
    kc create webhook --group apps --version v1 --kind Zone --defaulting >/dev/null
    [ -e controllers/apps/zone_controller.c ]
    [ -e webhooks/apps/zone_webhook.c ]
    [ -e tests/apps/zone_test.c ]
    run make test
    says '100% tests passed' zone_test
}

@test "existing project becomes multigroup and keeps its sources" {
    elsewhere
    kc init --domain example.io >/dev/null
    kc create api --group apps --version v1 --kind Zone >/dev/null
    kc create webhook --group apps --version v1 --kind Zone --defaulting >/dev/null
    run kc edit --multigroup
    says 'by hand  controllers/zone_controller.h: can be moved to controllers/apps/zone_controller.h, with the #include'
    grep -q '^multigroup: true$' PROJECT
    kc create webhook --group apps --version v1 --kind Zone --programmatic-validation >/dev/null
    [ ! -e webhooks/apps ]
    kc create api --group other --version v1 --kind Thing >/dev/null
    [ -e controllers/other/thing_controller.c ]
    # As it said.
    mkdir controllers/apps
    mv controllers/zone_controller.? controllers/apps
    sed -i 's|controllers/zone_|controllers/apps/zone_|' controllers/apps/zone_controller.c tests/zone_test.c cmd/main.c
    run kc create api --group apps --version v1 --kind Zone --resource=false --make=false
    [ -z "$output" ]
    run make test
    says '100% tests passed' zone_test thing_test
    kc edit --multigroup=false
    run ! grep -q multigroup PROJECT
}

@test "with --ssa a controller applies its owned objects" {
    elsewhere
    kc init --domain example.io >/dev/null
    run kc create api --group apps --version v1 --kind Fleet --ssa --resource=false
    [ "$status" -eq 2 ]
    says '--ssa requires a kind of this project'
    kc create api --group apps --version v1 --kind Fleet --ssa >/dev/null
    grep -q '^    ssa: true$' PROJECT
    grep -q 'kc_client_apply(ctx->client, wanted' controllers/fleet_controller.c
    grep -q 'configmaps' config/rbac/role.yaml
    grep -q 'fleet_apply_status(ctx->client' controllers/fleet_controller.c
    run make test
    says '100% tests passed' fleet_test
    never_says 'warning:' skipped
    # Given again, with --force, it stays so.
    run kc create api --group apps --version v1 --kind Fleet --force --make=false
    [ -z "$output" ]
    # Against a server elsewhere.
    make install >/dev/null
    kubectl wait --for condition=established crd/fleets.apps.example.io --timeout 90s
    own_account elsewhere
    KUBECONFIG=$OWN background build/manager
    kubectl apply -k config/samples
    kubectl wait --for condition=Ready fleet/fleet-sample --timeout 90s
    eventually kubectl get configmap fleet-sample
    run kubectl get configmap fleet-sample -o jsonpath='{.data.foo}:{range .metadata.managedFields[*]}{.manager} {.operation};{end}'
    says 'bar:fleet Apply;'
    run kubectl get fleet fleet-sample -o jsonpath='{range .metadata.managedFields[?(@.subresource=="status")]}{.manager} {.operation}{end}'
    [ "$output" = 'fleet Apply' ]
    # The controller owns what it applies, and takes it back; fields of others stay.
    local person='{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "fleet-sample"}, "data": {"foo": "mine", "other": "kept"}}'
    run kubectl apply --server-side --field-manager person -f - <<<"$person"
    [ "$status" -ne 0 ]
    says 'conflict with "fleet": .data.foo'
    kubectl apply --server-side --field-manager person --force-conflicts -f - <<<"$person"
    kubectl wait --for jsonpath='{.data.foo}'=bar configmap/fleet-sample --timeout 90s
    [ "$(kubectl get configmap fleet-sample -o jsonpath='{.data.other}')" = kept ]
    # A reconcile that changes nothing writes nothing.
    local version
    version=$(kubectl get configmap fleet-sample -o jsonpath='{.metadata.resourceVersion}')
    kubectl annotate fleet fleet-sample touched=now
    sleep 1
    [ "$(kubectl get configmap fleet-sample -o jsonpath='{.metadata.resourceVersion}')" = "$version" ]
    was_never_denied
    background_end
}

@test "with --image a controller runs an image" {
    elsewhere
    kc init --domain example.io --project-name caches >/dev/null
    local cache=(--group cache --version v1 --kind Memcached)
    run kc create api "${cache[@]}" --image-container-port 80
    [ "$status" -eq 2 ]
    says '--image-container-port requires --image'
    run kc create api "${cache[@]}" --image a:b --image-container-port 70000
    says "--image-container-port: '70000' is not a valid port: a number from 1 to 65535"
    run kc create api "${cache[@]}" --image 'a b'
    says "--image: 'a b' is not a valid image"
    run kc create api "${cache[@]}" --image a:b --ssa
    says '--image creates a kind and its controller'
    kc create api "${cache[@]}" --image memcached:1.6 --image-container-command memcached,-v --image-container-port 11211 --run-as-user 1001 >/dev/null
    tr -d '\n' <PROJECT | grep -q 'containerCommand: memcached,-v        containerPort: "11211"        image: memcached:1.6        runAsUser: "1001"'
    grep -A1 'MEMCACHED_IMAGE' config/manager/manager.yaml | grep -q 'value: memcached:1.6'
    run make test
    says '100% tests passed' memcached_test
    never_says 'warning:'
    make install >/dev/null
    kubectl wait --for condition=established crd/memcacheds.cache.example.io --timeout 90s
    own_account caches
    KUBECONFIG=$OWN MEMCACHED_IMAGE=memcached:2 background build/manager
    kubectl apply -k config/samples
    eventually kubectl get deployment memcached-sample
    run kubectl get deployment memcached-sample -o jsonpath='{.spec.template.spec.containers[0]} {.spec.template.spec.securityContext}'
    says '"image":"memcached:2"' '"command":["memcached","-v"]' '"containerPort":11211' '"runAsUser":1001'
    kubectl wait --for condition=Ready=False memcached/memcached-sample --timeout 90s
    kubectl patch memcached memcached-sample --type merge -p '{"spec":{"size":3}}'
    kubectl wait --for jsonpath='{.spec.replicas}'=3 deployment/memcached-sample --timeout 90s
    was_never_denied
    background_end
}

@test "kind has several named controllers" {
    elsewhere
    kc init --domain example.io >/dev/null
    kc create api --group apps --version v1 --kind Ship >/dev/null
    kc create api --group apps --version v1 --kind Ship --resource=false --controller-name ship-backup >/dev/null
    run make test
    says '100% tests passed' 'ship_test' 'ship_backup_test'
    grep -q '^  - name: ship-backup$' PROJECT
    grep -q '.name = "ship-backup"' controllers/ship_backup_controller.c
    run kc create api --group apps --version v1 --kind Boat --controller-name ship_backup
    says "--controller-name: 'ship_backup' is not a valid controller name" "did you mean 'ship-backup'?"
    run kc create api --group apps --version v1 --kind Boat --controller-name ship-backup
    [ "$status" -eq 1 ]
    says 'Ship already has a controller of that name'
}

@test "controller for a built-in kind runs" {
    elsewhere
    kc init --domain example.io >/dev/null
    kc create api --group core --version v1 --kind ConfigMap --resource=false >/dev/null
    kc create webhook --group apps --version v1 --kind Deployment --programmatic-validation --defaulting >/dev/null
    grep -q '^- controller: true$' PROJECT
    grep -q '^  core: true$' PROJECT
    grep -q 'path: /mutate-apps-v1-deployment' config/webhook/manifests.yaml
    run make build
    [ "$status" -eq 0 ]
    never_says 'warning:'
    own_account builtin
    KUBECONFIG=$OWN WEBHOOK_ADDRESS=127.0.0.1:0 background build/manager
    kubectl create configmap to-be-seen
    eventually background_says 'seen.*to-be-seen'
    was_never_denied
    background_end
    run kc create api --group core --version v1 --kind Podd --resource=false
    [ "$status" -eq 1 ]
    says 'Podd of core/v1 not found in this project' 'set --external-api-path to the types of another project'
}

@test "controller and webhook for a kind of another project build" {
    elsewhere
    mkdir theirs ours
    (cd theirs && kc init --domain parts.io && kc create api --group machine --version v1 --kind Part --controller=false) >/dev/null
    cd ours || return
    kc init --domain example.io >/dev/null
    # Of theirs, the definition is enough.
    kc generate types --from ../theirs/config/crd/bases/machine.parts.io_parts.yaml -o third_party
    kc generate object third_party
    local part=(--group machine --version v1 --kind Part)
    run kc create api "${part[@]}" --external-api-path third_party/machine/v1
    [ "$status" -eq 2 ]
    says 'add --resource=false'
    run kc create api "${part[@]}" --resource=false --external-api-domain parts.io
    says '--external-api-path is required too'
    kc create api "${part[@]}" --resource=false --external-api-path third_party/machine/v1 --external-api-domain parts.io >/dev/null
    run kc create webhook "${part[@]}" --defaulting --external-api-path elsewhere.h
    [ "$status" -eq 1 ]
    says 'the types of Part are in third_party/machine/v1'
    kc create webhook "${part[@]}" --programmatic-validation --defaulting >/dev/null
    tr -d '\n' <PROJECT | grep -qE 'domain: parts.io  external: true  group: machine  kind: Part  path: third_party/machine/v1'
    run make build
    [ "$status" -eq 0 ]
    never_says 'warning:'
    grep -q machine.parts.io config/rbac/role.yaml
    grep -q 'path: /mutate-machine-parts-io-v1-part' config/webhook/manifests.yaml
    [ ! -e config/crd/bases ] || [ -z "$(ls config/crd/bases)" ]
    # One that is installed, as a package of CMake.
    kc create api --group other --version v1 --kind Thing --resource=false --external-api-path other/v1/thing.h --external-api-module others@v1.2 --make=false
    grep -q '^find_package(others 1.2 REQUIRED)$' CMakeLists.txt
    grep -q '#include "other/v1/thing.h"' controllers/thing_controller.c
    grep -q '^  module: others@v1.2$' PROJECT
}

# review PATH BODY: what the manager's webhooks at $hooks answer.
review() { curl -sk -H 'Content-Type: application/json' -d "$2" "https://$hooks$1"; }

@test "spokes are converted through the hub, and webhooks have their paths" {
    elsewhere
    kc init --domain example.io --project-name fleet >/dev/null
    kc create api --group apps --version v1 --kind Ship --make=false >/dev/null
    kc create api --group apps --version v1beta1 --kind Ship --controller=false --make=false >/dev/null
    kc create api --group apps --version v1alpha1 --kind Ship --controller=false --make=false >/dev/null
    local ship=(--group apps --version v1 --kind Ship)
    run kc create webhook "${ship[@]}" --conversion --spoke v2
    [ "$status" -eq 1 ]
    says '--spoke: Ship of apps/v2 not found in this project'
    run kc create webhook "${ship[@]}" --conversion --spoke v1
    [ "$status" -eq 2 ]
    run kc create webhook "${ship[@]}" --conversion --validation-path /mine
    says '--validation-path requires --programmatic-validation'
    run kc create webhook "${ship[@]}" --defaulting --defaulting-path mine
    says "--defaulting-path: 'mine' is not a valid path" "did you mean '/mine'?"
    kc create webhook "${ship[@]}" --conversion --spoke v1beta1 --defaulting --defaulting-path /my-mutate --programmatic-validation --validation-path /my-validate --make=false
    kc create webhook "${ship[@]}" --conversion --spoke v1beta1,v1alpha1 --make=false
    run kc create webhook "${ship[@]}" --conversion --spoke v1alpha1
    says 'already has these webhooks'
    run kc create webhook "${ship[@]}" --defaulting --defaulting-path /another --force
    says 'the webhook already exists; change its path in the source'
    grep -q '^    defaultingPath: /my-mutate$' PROJECT
    tr -d '\n' <PROJECT | grep -q 'spoke:    - v1beta1    - v1alpha1'

    sed -i 's|(void)object; /\* TODO: convert the fields that differ.*|kc_edit_set_nested(object, "spec.foo", kc_node_str(object, KC_STR("came through the hub")));|' webhooks/ship_webhook.c
    run make build
    [ "$status" -eq 0 ]
    never_says 'warning:'
    grep -q 'path: /my-mutate' config/webhook/manifests.yaml
    grep -q 'path: /my-validate' config/webhook/manifests.yaml
    local port
    read -r port _ < <(free_ports)
    hooks=127.0.0.1:$port
    make install >/dev/null
    WEBHOOK_ADDRESS=$hooks background build/manager
    eventually review /convert '{}' >/dev/null
    local object='{"apiVersion":"apps.example.io/v1beta1","kind":"Ship","metadata":{"name":"a"},"spec":{"foo":"x"}}'
    run review /convert '{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"1","desiredAPIVersion":"apps.example.io/v1alpha1","objects":['"$object"']}}'
    says 'Success' 'apps.example.io/v1alpha1' 'came through the hub'
    local admission='{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE","kind":{"group":"apps.example.io","version":"v1","kind":"Ship"},"object":'"${object/v1beta1/v1}"'}}'
    run review /my-mutate "$admission"
    says '"allowed":true'
    run review /my-validate "$admission"
    says '"allowed":true'
    run review /mutate-apps-example-io-v1-ship "$admission"
    never_says '"allowed":true'
    background_end
}

@test "own license precedes sources, and is a YAML comment elsewhere" {
    elsewhere
    printf '/*\n * Copyright us.\n *\n * All rights kept.\n */' >header.txt
    echo 'no comment' >bad.txt
    run kc init --domain example.io --license-file bad.txt
    [ "$status" -eq 2 ]
    says 'bad.txt is not a C comment'
    run kc init --domain example.io --license-file none.txt
    says '--license-file: file none.txt not found'
    run kc init --domain example.io --license gpl
    says "--license: invalid value 'gpl': must be one of apache2, none"
    kc init --domain example.io --license-file header.txt >/dev/null
    kc create api --group apps --version v1 --kind Zone >/dev/null
    local file
    for file in cmd/main.c api/apps/v1/zone_types.h api/apps/v1/zz_generated.c controllers/zone_controller.c; do
        head -n 5 $file | diff header.txt - >/dev/null || [ "$(head -n 2 $file | tail -n 1)" = ' * Copyright us.' ]
    done
    for file in config/crd/bases/*.yaml config/rbac/role.yaml; do
        [ "$(head -n 4 "$file")" = "$(printf '# Copyright us.\n#\n# All rights kept.\n---')" ]
    done
    kc edit --license none >/dev/null
    [ ! -s hack/boilerplate.txt ]
    kc edit --owner 'Somebody' >/dev/null
    grep -q 'Copyright .* Somebody' hack/boilerplate.txt
}

@test "project is regenerated from PROJECT" {
    elsewhere
    mkdir one
    cd one || return
    kc init --domain example.io --project-name robots --multigroup --namespaced --owner Us >/dev/null
    local kind
    for kind in 'v1 --kind Ship --ssa' 'v1beta1 --kind Ship --controller=false' 'v1 --kind Sea --namespaced=false --plural seas'; do
        # shellcheck disable=SC2086
        kc create api --make=false --group apps --version $kind >/dev/null
    done
    kc create api --make=false --group core --version v1 --kind Pod --resource=false --controller-name pod-watcher >/dev/null
    kc create api --make=false --group cache --version v1 --kind Memcached --image memcached:1.6 --image-container-port 11211 --controller-name cacher >/dev/null
    kc create api --make=false --group machine --version v1 --kind Part --resource=false --external-api-path parts.h --external-api-module parts@1 >/dev/null
    kc create webhook --make=false --group apps --version v1 --kind Ship --conversion --spoke v1beta1 --defaulting --defaulting-path /x >/dev/null
    echo 'theirs: {a: b}' >>PROJECT
    kc alpha generate --output-dir ../deep/two >/dev/null
    mv ../deep/two ..
    diff -r . ../two
    run kc alpha generate
    [ "$status" -eq 1 ]
    says 'already contains a project; choose an empty directory'
    echo '/* mine */' >>cmd/main.c
    kc alpha generate --force >/dev/null
    diff -r . ../two
    run kc alpha generat --output-dir ../three
    [ "$status" -eq 2 ]
    [ ! -e ../three ]
}

@test "manual changes are kept when webhooks and controllers are added" {
    elsewhere
    kc init --domain example.io >/dev/null
    kc create api --group apps --version v1 --kind Zone --make=false >/dev/null
    kc create webhook --group apps --version v1 --kind Zone --defaulting --make=false >/dev/null
    local file
    for file in webhooks/zone_webhook.c cmd/main.c Makefile config/webhook/service.yaml api/apps/v1/groupversion_info.h; do
        # shellcheck disable=SC2094
        case $file in *.c | *.h) echo '/* mine */' ;; *) echo '# mine' ;; esac >>$file
    done
    # A function that was filled in, and its marker.
    sed -i 's|(void)object;|(void)"mine";|' webhooks/zone_webhook.c
    kc create webhook --group apps --version v1 --kind Zone --programmatic-validation --defaulting --make=false
    kc create webhook --group apps --version v1 --kind Zone --defaulting --force --make=false
    kc create api --group apps --version v1 --kind Zone --resource=false --controller-name second --make=false
    for file in webhooks/zone_webhook.c cmd/main.c Makefile config/webhook/service.yaml api/apps/v1/groupversion_info.h; do
        grep -q mine $file
    done
    grep -q '(void)"mine"' webhooks/zone_webhook.c
    [ "$(grep -c 'static int set_defaults' webhooks/zone_webhook.c)" -eq 1 ]
    [ "$(grep -c 'kc_webhook_add_defaulter(' webhooks/zone_webhook.c)" -eq 1 ]
    [ "$(grep -c 'static int validate' webhooks/zone_webhook.c)" -eq 1 ]
}

@test "flags of another subcommand are refused" {
    run kc create api --group apps --version v1 --kind Zone --spoke v1
    [ "$status" -eq 2 ]
    says "are flags of 'kc create webhook'"
    run kc create webhook --group apps --version v1alpha1 --kind Application --defaulting --ssa
    [ "$status" -eq 2 ]
    says "are flags of 'kc create api'"
    run kc create api --group apps --version v1 --kind Zone --resource=false --controller=false
    [ "$status" -eq 2 ]
    run kc edit
    [ "$status" -eq 2 ]
    says 'expected one of --multigroup, --namespaced'
    run kc create api --group apps --version v1 --kind Zone --extrnal-api-path x
    says "did you mean '--external-api-path'?"
}
