#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# A migration as the document has it: its definition applied, its reconciler run alone, its object made; with two Redis servers.

setup_file() {
    load helpers
    server_start
    cd "$E2E/../.."
    kubectl apply -f manifests/redismigration/database.cloud.tencent.com_redismigrations.yaml
}
teardown_file() { load helpers; server_stop; }

setup() {
    load helpers
    cd "$E2E/../.."
    NS=default
    hub_pid=
    read -r ALI TX < <(free_ports)
    redis_start "$ALI" --requirepass s3cret-of-ali
    redis_start "$TX"
}

teardown() {
    local rc=0
    each hub_stop redis_stop || rc=1
    kubectl delete redismigrations,configmaps,secrets --all >/dev/null 2>&1 || true
    return $rc
}

# redis_start PORT FLAG…: on loopback, in a folder of the test's; returns when it answers.
redis_start() {
    mkdir -p "$BATS_TEST_TMPDIR/redis-$1"
    redis-server --port "$1" --bind 127.0.0.1 --dir "$BATS_TEST_TMPDIR/redis-$1" --save '' "${@:2}" \
        >"$BATS_TEST_TMPDIR/redis-$1/log" 2>&1 3>&- 4>&- &
    echo $! >"$BATS_TEST_TMPDIR/redis-$1/pid"
    eventually redis_answers "$1"
}

redis_stop() {
    local port
    for port in "$ALI" "$TX"; do end_now "$(cat "$BATS_TEST_TMPDIR/redis-$port/pid")"; done
}

redis_answers() { redis-cli -p "$1" PING 2>&1 | grep -qE 'PONG|NOAUTH'; }
ali() { REDISCLI_AUTH=s3cret-of-ali redis-cli -p "$ALI" "$@"; }
tx() { redis-cli -p "$TX" "$@"; }

# fill N: so many keys at the source.
fill() { ali EVAL "for i = 1, ARGV[1] do redis.call('SET', 'key:' .. i, 'value-' .. i) end" 0 "$1"; }

# What the document's names stand for.
know_both() {
    kubectl create secret generic ali-123 --from-literal=address="127.0.0.1:$ALI" --from-literal=password=s3cret-of-ali
    kubectl create configmap tx-123 --from-literal=address="127.0.0.1:$TX"
}

rmtest() {
    kubectl apply -f - <<EOF
apiVersion: database.cloud.tencent.com/v1
kind: RedisMigration
metadata:
  name: rmtest
  namespace: default
spec:
  source: ali-123
  dest: tx-123
EOF
}

@test "migration of the document succeeds and copies the keys" {
    know_both
    fill 3000
    ali RPUSH queue one two three
    ali SET session x EX 1000
    hub_start run redismigration --zap-log-level=4 --config=configs/kubecontroller.yaml
    rmtest
    eventually field_is redismigration rmtest '{.status.phase}' Succeeded
    run -0 kubectl get redismigrations
    [[ ${lines[0]} =~ NAME\ +SOURCE\ +DEST\ +PHASE\ +PROGRESS\ +AGE ]]
    [[ ${lines[1]} =~ rmtest\ +ali-123\ +tx-123\ +Succeeded\ +3002/3002 ]]
    [ "$(tx DBSIZE)" = 3002 ]
    [ "$(tx GET key:2999)" = value-2999 ]
    [ "$(tx LRANGE queue 0 -1 | paste -sd' ')" = "one two three" ]
    [ "$(tx TTL session)" -gt 900 ]
    run -0 kubectl get redismigrations -l kubecontroller.io/phase=Succeeded -o name
    says redismigration.database.cloud.tencent.com/rmtest
    run -0 kubectl get redismigrations,events -o yaml
    says "Destination has enough memory" "InFlight ended in Succeeded"
    never_says s3cret-of-ali
    run -0 cat "$BATS_TEST_TMPDIR/hub.log"
    never_says s3cret-of-ali
}

@test "unknown endpoint is reported, and the migration continues after a reset" {
    ali SET one 1
    hub_start run redismigration --zap-log-level=4 --config=configs/kubecontroller.yaml
    rmtest
    eventually field_is redismigration rmtest '{.status.phase}' PreFailed
    run -0 kubectl get redismigration rmtest -o jsonpath='{.status.state.PreFlight.error}'
    says "spec.source: Redis ali-123 not found: no Secret or ConfigMap of that name in namespace default"
    know_both
    kubectl annotate redismigration rmtest kubecontroller.io/phase-action=reset
    eventually field_is redismigration rmtest '{.status.phase}' Succeeded
    [ "$(tx GET one)" = 1 ]
}

@test "killed migration continues where it was" {
    know_both
    fill 20000
    hub_start run redismigration --config=configs/kubecontroller.yaml
    rmtest
    under_way() { [ "$(tx DBSIZE)" -gt 2000 ]; }
    eventually under_way
    kill -KILL "$hub_pid"
    wait_for "$hub_pid" || true
    hub_start run redismigration --config=configs/kubecontroller.yaml
    eventually field_is redismigration rmtest '{.status.phase}' Succeeded
    [ "$(tx DBSIZE)" = 20000 ]
}

@test "phase graph is printed" {
    run -0 "$KC" hub --graph redismigration
    says digraph '"Pending" -> "PreFlight"' '"PreFlight" -> "PreFailed"' 'copy_keys, verify' '"InFlight" -> "Succeeded"' '"InFlight" -> "Failed"'
}

@test "settings are read, and invalid ones are refused" {
    printf 'reconcilers: {redismigration: {batch: many}}\n' >"$BATS_TEST_TMPDIR/bad.yaml"
    run -1 timeout 90 "$KC" run redismigration -c "$BATS_TEST_TMPDIR/bad.yaml" --kubeconfig="$KUBECONFIG" \
        --metrics-bind-address= --health-probe-bind-address=
    says 'batch: "many" is not a number from 1 to 1000000'
}
