#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Reconcilers as users have them: `kc hub` and `kc run` beside a server, and kubectl.

setup_file() {
    load helpers
    server_start
    cd "$E2E/../.."
    for definition in manifests/*/*.*_*.yaml; do
        kubectl apply -f "$definition"
    done
}
teardown_file() { load helpers; server_stop; }

setup() {
    load helpers
    cd "$E2E/../.."
    NS=default
    hub_pid='' first='' job=''
}

teardown() {
    local rc=0
    [ -z "$first" ] || end_now "$first"
    each hub_stop controllers_stop background_end || rc=1
    kubectl delete ats,bananas,dummies,robots,deployments --all --wait=false >/dev/null 2>&1 || true
    return $rc
}

@test "list shows the reconcilers" {
    run -0 "$KC" hub --list
    says NAME KIND PHASES ENABLED
    [[ $output =~ banana\ +Banana.demo.wukong.com\ +yes\ +yes ]]
    [[ $output =~ dummy\ +Dummy.demo.wukong.com\ +no\ +yes ]]
    run -0 "$KC" hub -c configs/kubecontroller.yaml --controllers='*,-dummy' --list
    [[ $output =~ dummy\ +Dummy.demo.wukong.com\ +no\ +no ]]
}

@test "settings are listed in the format of the config file" {
    "$KC" hub --settings >"$BATS_TEST_TMPDIR/all.yaml"
    grep -q '    service: "http://127.0.0.1:6090"' "$BATS_TEST_TMPDIR/all.yaml"
    run -0 "$KC" hub -c "$BATS_TEST_TMPDIR/all.yaml" --list
    sed -i 's/service:/servce:/' "$BATS_TEST_TMPDIR/all.yaml"
    run -1 "$KC" hub -c "$BATS_TEST_TMPDIR/all.yaml" --list
    says "all.yaml: line " "reconcilers.network.servce: unknown setting; did you mean \"service\"?"
}

@test "phase graphs are printed" {
    run -0 "$KC" hub --graph=banana
    says digraph Init Migrate Success Fail
    run -0 "$KC" hub --graph banana --format=mermaid
    says stateDiagram "Migrate --> Success"
    run -1 "$KC" hub --graph=dummy
    says "reconciler \"dummy\" has no phases"
    run -1 "$KC" hub --graph=bananas
    says "there is no reconciler \"bananas\"; did you mean \"banana\"?"
}

@test "hub reconciles objects to their final phase" {
    hub_start hub -c configs/kubecontroller.yaml
    kubectl apply -f manifests/banana/cr.yaml -f manifests/dummy/cr.yaml
    eventually field_is banana banana-one '{.status.phase}' Success
    eventually field_is dummy dummy-one '{.status.data}' hello
    run -0 kubectl get bananas -l kubecontroller.io/phase=Success
    says banana-one ecuador hamburg Success
    eventually told PhaseSucceeded
}

told() { k get events --field-selector "reason=$1" -o name | grep -q .; }

@test "failed object is reset by an annotation" {
    hub_start hub --zap-log-level=4
    kubectl create -f - <<'YAML'
apiVersion: demo.wukong.com/v1
kind: Banana
metadata: {name: still, namespace: default}
spec: {source: here, dest: here}
YAML
    eventually field_is banana still '{.status.phase}' Fail
    field_is banana still '{.status.state.Migrate.error}' "here is already at its destination"
    k patch banana still --type merge -p '{"spec":{"dest":"there"}}'
    k annotate banana still kubecontroller.io/phase-action=reset
    eventually field_is banana still '{.status.phase}' Success
    field_is banana still '{.status.audit[0].action}' reset
    field_is banana still '{.metadata.annotations.kubecontroller\.io/phase-action}' ""
    eventually told PhaseFailed
}

# banana NAME SOURCE DEST: one that fails at once where both are the same.
banana() {
    kubectl create -f - <<<"{\"apiVersion\": \"demo.wukong.com/v1\", \"kind\": \"Banana\", \"metadata\": {\"name\": \"$1\", \"namespace\": \"default\"},
      \"spec\": {\"source\": \"$2\", \"dest\": \"$3\"}}"
}

# watch_bananas FIELD: prints NAME=FIELD for each change from now on: several calls of kubectl might miss a state.
watch_bananas() {
    banana "marker-$BATS_TEST_NUMBER" here here
    eventually field_is banana "marker-$BATS_TEST_NUMBER" '{.status.phase}' Fail
    background k get bananas -w -o jsonpath="{.metadata.name}={$1}{\"\\n\"}"
    eventually background_says '^marker-'
}

# killed_while_migrating NAME: a hub starts to move this banana and is killed before it has come to the end, three seconds later.
killed_while_migrating() {
    banana "$1" here there
    eventually background_says "^$1=Migrate\$"
    kill -KILL "$hub_pid"
    wait_for "$hub_pid" || true
    field_is banana "$1" '{.status.phase}' Migrate
}

@test "killed hub continues at the last phase" {
    hub_start hub
    watch_bananas .status.phase
    name=banana-1
    # On a busy machine one may have come to the end before: then another is moved.
    until killed_while_migrating $name; do
        field_is banana $name '{.status.phase}' Success
        name=banana-$((${name#banana-} + 1))
        [ $name != banana-10 ]
        hub_start hub
    done
    started=$(k get banana $name -o jsonpath='{.status.state.Migrate.startTime}')
    hub_start hub
    eventually field_is banana $name '{.status.phase}' Success
    field_is banana $name '{.status.state.Migrate.startTime}' "$started"
}

@test "object in progress is deleted when it has ended" {
    hub_start hub
    watch_bananas '.metadata.finalizers[0]'
    kubectl apply -f manifests/banana/cr.yaml
    eventually background_says '^banana-one=kubecontroller.io/ongoing$'
    run -0 kubectl delete banana banana-one --timeout=90s
    says deleted
}

@test "run starts only the named reconciler" {
    hub_start run banana -c configs/kubecontroller.yaml
    kubectl apply -f manifests/dummy/cr.yaml -f manifests/banana/cr.yaml
    eventually field_is banana banana-one '{.status.phase}' Success
    field_is dummy dummy-one '{.status}' ""
}

# two_hubs SECONDS: with a lease of so many, which is asked for each half second, or up to 1.2 times that later.
two_hubs() {
    cat >"$BATS_TEST_TMPDIR/two.yaml" <<YAML
reconcilermgr:
  controllers: [robot]
  leader-elect: true
  leader-elect-lease-duration: ${1}s
  leader-elect-renew-deadline: $(($1 - 1))s
  leader-elect-retry-period: 500ms
YAML
    hub_start hub -c "$BATS_TEST_TMPDIR/two.yaml"
    first=$hub_pid
    eventually lease_is_held
    hub_start hub -c "$BATS_TEST_TMPDIR/two.yaml"
}

lease_field() { k get lease kc-hub -o jsonpath="{.spec.$1}" 2>/dev/null; }
lease_is_held() { [ -n "$(lease_field holderIdentity)" ]; }
lease_time() { date -d "$(lease_field "$1")" +%s%3N; }

@test "second hub takes over within the lease when the first is killed" {
    two_hubs 10
    kubectl apply -f manifests/robot/cr.yaml
    eventually field_is deployment robot-one '{.spec.replicas}' 2
    holder=$(lease_field holderIdentity)
    background k get lease kc-hub -w -o jsonpath='{.spec.holderIdentity} {.spec.renewTime} {.spec.acquireTime}{"\n"}'
    eventually background_says "^$holder "
    kill -KILL "$first"
    wait_for "$first" || true
    k patch robot robot-one --type merge -p '{"spec":{"replicas":3}}'
    eventually field_is deployment robot-one '{.spec.replicas}' 3
    [ "$(lease_field holderIdentity)" != "$holder" ]
    acquired() { awk -v first="$holder" '$1 != first { print $3; exit }' "$BATS_TEST_TMPDIR/background" | grep .; }
    eventually acquired
    renewed=$(awk -v first="$holder" '$1 == first { at = $2 } END { print at }' "$BATS_TEST_TMPDIR/background")
    took=$(($(date -d "$(acquired)" +%s%3N) - $(date -d "$renewed" +%s%3N)))
    echo "taken over $took ms after it was last renewed"
    # Never before it has run out; but the other sees a renewal, and counts from then, up to 1.1 seconds late.
    [ $took -ge 10000 ]
    [ $took -le "$(bound 11600 100000)" ]
    hub_stop
}

@test "stopped hub releases its lease, and the second takes over at once" {
    two_hubs 60
    kubectl apply -f manifests/robot/cr.yaml
    eventually field_is deployment robot-one '{.spec.replicas}' 2
    second=$hub_pid hub_pid=$first
    hub_stop
    hub_pid=$second released=$(lease_time renewTime)
    k patch robot robot-one --type merge -p '{"spec":{"replicas":4}}'
    eventually field_is deployment robot-one '{.spec.replicas}' 4
    took=$(($(lease_time acquireTime) - released))
    echo "taken over $took ms after it was given back"
    [ $took -le "$(bound 2500 30000)" ]
    hub_stop
}

@test "reconciler plugin is loaded" {
    command -v cc >/dev/null || skip "there is no compiler"
    cc -shared -fPIC -D_GNU_SOURCE -Iinclude -o "$BATS_TEST_TMPDIR/greeter.so" tests/e2e/fixtures/plugin/greeter.c
    run -0 "$KC" hub --plugin="$BATS_TEST_TMPDIR/greeter.so" --list
    [[ $output =~ greeter\ +ConfigMap\ +no\ +yes\ +"greets config maps" ]]
    hub_start hub --plugin="$BATS_TEST_TMPDIR/greeter.so"
    k create -f - <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: me, labels: {greet: me}}
YAML
    k create configmap other
    eventually field_is configmap me '{.data.greeting}' hello
    field_is configmap other '{.data}' ""
    run -1 "$KC" hub --plugin="$BATS_TEST_TMPDIR/greeter.so:$BATS_TEST_TMPDIR/greeter.so" --list
    says "duplicate reconciler \"greeter\""
}

@test "a plugin that crashes leaves the hub running" {
command -v cc >/dev/null || skip "there is no compiler"
cc -shared -fPIC -D_GNU_SOURCE -Iinclude -o "$BATS_TEST_TMPDIR/greeter.so" tests/e2e/fixtures/plugin/greeter.c
hub_start hub --plugin="$BATS_TEST_TMPDIR/greeter.so"
k create -f - <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: crash, labels: {greet: me}}
YAML
eventually grep -qF "panic: greeter crashed [recovered]" "$BATS_TEST_TMPDIR/hub.log"
k create -f - <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: after-crash, labels: {greet: me}}
YAML
eventually field_is configmap after-crash '{.data.greeting}' hello
kill -0 "$hub_pid"
k delete configmap crash after-crash
}
@test "invalid plugin is refused" {
    run -1 "$KC" hub --plugin=/no/such.so
    says "cannot load /no/such.so"
    command -v cc >/dev/null || skip "there is no compiler"
    echo 'int nothing;' | cc -shared -fPIC -x c -o "$BATS_TEST_TMPDIR/empty.so" -
    run -1 "$KC" hub --plugin="$BATS_TEST_TMPDIR/empty.so"
    says "empty.so: no reconciler found"
}

@test "invalid arguments are refused before anything runs" {
    run -1 "$KC" hub --controllers='*,-bananna'
    says "there is no reconciler \"bananna\"; did you mean \"banana\"?"
    printf 'log:\n  lvel: info\n' >"$BATS_TEST_TMPDIR/bad.yaml"
    run -1 "$KC" hub -c "$BATS_TEST_TMPDIR/bad.yaml"
    says "bad.yaml: line 2: log.lvel: unknown key; did you mean \"level\"?"
    run -1 "$KC" run bananas
    says "there is no reconciler \"bananas\""
    run -2 "$KC" run
    says "expected the name of one reconciler"
    run -2 "$KC" hub --zap-log-level=loud
    says "--zap-log-level: invalid value 'loud': must be one of info, debug, 0, 1,"
}

@test "port in use is reported" {
    hub_start hub
    run -1 timeout 90 "$KC" hub --kubeconfig="$KUBECONFIG" --metrics-bind-address= --health-probe-bind-address="${HEALTH#http://}"
    says "kc hub: " "${HEALTH#http://}" "in use"
    run -1 timeout 90 "$KC" hub --kubeconfig="$KUBECONFIG" --metrics-bind-address=18001 --health-probe-bind-address=
    says "18001 is not a valid address"
}

@test "unreachable server is reported" {
    run -1 timeout 90 "$KC" run dummy -s http://127.0.0.1:1 --metrics-bind-address= --health-probe-bind-address=
    says "kc run: " "127.0.0.1:1"
    run -1 timeout 90 "$KC" hub --kubeconfig=/no/such/config
    says "/no/such/config"
}

@test "metrics include phases" {
    read -r metrics _ < <(free_ports)
    hub_start hub --metrics-bind-address="127.0.0.1:$metrics"
    kubectl apply -f manifests/banana/cr.yaml
    eventually field_is banana banana-one '{.status.phase}' Success
    run -0 curl -sf "http://127.0.0.1:$metrics/metrics"
    says 'kc_phase_transitions_total{reconciler="banana",phase="Success"} 1'
}

@test "kind missing on the server is named" {
    kubectl delete crd dummies.demo.wukong.com
    run -1 timeout 90 "$KC" hub --kubeconfig="$KUBECONFIG" --metrics-bind-address= --health-probe-bind-address=
    kubectl apply -f manifests/dummy/demo.wukong.com_dummies.yaml
    says "reconciler dummy: the server has no kind Dummy of demo.wukong.com/v1; apply its CustomResourceDefinition first"
}

@test "At runs its command once, and the log of its pod has the output" {
    controllers_start --controllers=scheduler,nodelifecycle,pods --pods=process --pods-dir="$BATS_TEST_TMPDIR/pods" "${UNSAFE[@]}"
    hub_start run at -c configs/kubecontroller.yaml
    kubectl apply -f manifests/at/cr.yaml
    eventually field_is at at-one '{.status.phase}' DONE
    run -0 kubectl get at
    [[ $output =~ at-one\ +2026-01-02T03:04:35Z\ +DONE ]]
    [ "$(k logs at-one-pod)" = YAY ]
    field_is pod at-one-pod '{.metadata.ownerReferences[0].kind}' At
    hub_stop
    controllers_stop
    k delete pod at-one-pod --now --wait=false
    kubectl delete node --all # No runner serves this node any more.
}

@test "Robot gets its deployment with pods" {
    controllers_start --pods=simulate
    hub_start hub -c configs/kubecontroller.yaml
    kubectl apply -f manifests/robot/cr.yaml
    eventually field_is deployment robot-one '{.status.readyReplicas}' 2
    run -0 kubectl get deployment robot-one
    [[ $output =~ robot-one\ +2/2 ]]
    k delete robot robot-one
    gone() { ! k get deployment robot-one 2>/dev/null; }
    eventually gone
    hub_stop
    controllers_stop
}
