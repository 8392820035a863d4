# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # $output is bats'
#
# What the tests with real clients share: a server of the build under test, and words to say what is expected of it.
#
#   setup_file() { load helpers; server_start --authn-allow-localhost; }
#   teardown_file() { load helpers; server_stop; }
#   setup() { load helpers; namespace; }
#
#   $KC               the binary; build/release/kc unless it is set
#   $SERVER           the server's folder: root/ (its data), out, err, pid, rc (once it has ended)
#   $HTTP, $HTTPS     its two addresses; $KUBECONFIG is the administrator's, over HTTPS
#   $NS               a namespace of the test's own, which `k` (kubectl) works in
#   $KC_BACKEND       etcd: servers have an etcd of their own, in $SERVER/etcd; the file by default
#
# One server for a file's tests, each of which has a namespace of its own, keeps the suite quick. A server that crashed, that a
# sanitizer found something in or that does not exit with 0 on SIGTERM fails the file's teardown.

# scripts/e2e uses these functions without bats.
[ -z "${BATS_VERSION:-}" ] || bats_require_minimum_version 1.5.0

E2E=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

TOKENS='admintoken,admin,1,"system:masters"
usertoken,alice,2,"dev"'

# Debian's, without what only installed packages need: an interpreter of a version manager takes five times as long to start.
python3() { /usr/bin/python3 -IS "$@"; }

# free_ports: two of them, separated by a space.
free_ports() { "$E2E/free-ports" 2; }

# eventually COMMAND…: tries it until it succeeds, for 90 seconds at most (or $LIMIT). This is no bound on latency: with sanitizers, on a machine
# that is busy with other tests, a server alone may need 20 seconds to start. Most commands cost more than the pause, so it grows.
eventually() {
    local limit=${LIMIT:-90} deadline tries=0
    deadline=$((SECONDS + limit))
    until "$@"; do
        [ $SECONDS -lt $deadline ] || { echo "not within $limit seconds: $*"; return 1; }
        tries=$((tries + 1))
        sleep "0.$((tries < 4 ? 0 : tries < 10 ? 1 : tries < 20 ? 2 : 5))5"
    done
}

# bound TIGHT WIDE: a bound on time. `make soak` runs suites one at a time on an idle machine and holds the tight one (KC_SOAK=1); elsewhere other
# suites run beside this one, and WIDE is at least ten times what an idle machine shows.
bound() { if [ "${KC_SOAK:-0}" = 0 ]; then echo "$2"; else echo "$1"; fi; }

# each COMMAND…: runs all of them, also when one fails, and fails then: a teardown ends everything that a failed test has left.
each() {
    local command rc=0
    for command in "$@"; do $command || rc=1; done
    return $rc
}

# end_now PID…: those that still run.
end_now() { [ $# -eq 0 ] || kill -KILL "$@" 2>/dev/null || true; }

# wait_for PID: the exit code of a child that is to end; one that does not is killed.
wait_for() {
    eventually process_ended "$1" || kill -KILL "$1"
    wait "$1"
}
process_ended() { ! kill -0 "$1" 2>/dev/null; }

# The exit code of the process a shell waits for can be asked for by that shell alone, and bats runs each test in one of its own:
# this one lives as long as the server and leaves the code in a file.
server_run() {
    local pid
    "$KC" apiserver --file-rootpath="$SERVER/root" "$@" >"$SERVER/out" 2>>"$SERVER/err" 3>&- 4>&- &
    pid=$!
    echo $pid >"$SERVER/pid"
    local rc=0
    wait $pid || rc=$?
    echo $rc >"$SERVER/rc"
}

server_is_ready() {
    [ ! -e "$SERVER/rc" ] || return 0
    [ "$(curl -s -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer admintoken' "$HTTP/readyz")" = 200 ]
}

# shared_keys ROOT: the keys that servers of one etcd share, in the data directory ROOT: the same for all servers of a file.
shared_keys() {
    local shared=${BATS_FILE_TMPDIR:-$SERVER}/keys
    [ ! -d "$1/certs" ] || return 0
    "$E2E/etcd" keys "$shared" "$KC" && mkdir -p -m 700 "$1" && cp -r "$shared/certs" "$1/certs"
}

# server_backend FLAG…: starts the etcd of a server where KC_BACKEND=etcd asks for it, and FLAG… does not name a backend; sets the array
# $backend to the flags that the server needs.
server_backend() {
    backend=()
    [ "${KC_BACKEND:-file}" = etcd ] && [[ " $* " != *" --backend"* ]] || return 0
    local url
    url=$("$E2E/etcd" start "$SERVER/etcd") && "$E2E/etcd" keys "$SERVER/root" "$KC" || return
    backend=(--backend=etcd --etcd-servers="$url")
}

# file_backend_only: skips a test that looks into the files of a store.
file_backend_only() { [ "${KC_BACKEND:-file}" = file ] || skip "about the files of the backend file"; }

# server_start FLAG…: a server on free ports, in $SERVER (made if it is not set); returns when it is ready. No controller creates service
# accounts: the plugin that requires them is off, unless WITH_ACCOUNTS is set.
server_start() {
    local secure insecure backend plugins=(--disable-admission-plugins=ServiceAccount)
    [ -z "${WITH_ACCOUNTS:-}" ] || plugins=()
    KC=$(realpath "${KC:-$E2E/../../build/release/kc}")
    SERVER=${SERVER:-$(mktemp -d "$BATS_FILE_TMPDIR/server.XXXXXX")}
    printf '%s\n' "$TOKENS" >"$SERVER/tokens.csv"
    rm -f "$SERVER/rc" "$SERVER/pid"
    server_backend "$@"
    read -r secure insecure < <(free_ports)
    HTTP=http://127.0.0.1:$insecure HTTPS=https://127.0.0.1:$secure
    KUBECONFIG=$SERVER/root/admin.kubeconfig KUBECACHEDIR=$SERVER/cache
    export KC SERVER HTTP HTTPS KUBECONFIG KUBECACHEDIR
    [[ " $* " != *" --backend=etcd "* ]] || [[ " $* " == *" --cert-dir="* ]] || shared_keys "$SERVER/root"
    server_run --secure-port="$secure" --insecure-port="$insecure" --token-auth-file="$SERVER/tokens.csv" "${plugins[@]}" "${backend[@]}" "$@" \
        3>&- 4>&- &
    eventually server_is_ready
    [ ! -e "$SERVER/rc" ] || { cat "$SERVER/err"; return 1; }
}

server_ended() { [ -e "$SERVER/rc" ]; }

# server_signal NAME: sends it, and returns at once.
server_signal() { kill "-$1" "$(cat "$SERVER/pid")"; }

# What a crash or a sanitizer leaves in the log.
server_log_is_clean() {
    if grep -nE 'Sanitizer|runtime error:|Assertion|stack smashing|Segmentation' "$SERVER/err"; then
        tail -n 60 "$SERVER/err"
        return 1
    fi
}

# server_stop: SIGTERM, exit code 0, nothing bad in the log. Its etcd ends too, and keeps its data.
server_stop() {
    [ -n "${SERVER:-}" ] && [ -e "$SERVER/pid" ] || return 0
    server_ended || server_signal TERM
    eventually server_ended || { server_signal KILL; return 1; }
    [ ! -d "$SERVER/etcd" ] || "$E2E/etcd" stop "$SERVER/etcd"
    server_log_is_clean || return 1
    [ "$(cat "$SERVER/rc")" -eq 0 ] || { echo "exit code $(cat "$SERVER/rc")"; tail -n 30 "$SERVER/err"; return 1; }
    rm "$SERVER/pid"
}

# servers_stop FOLDER…: those of other folders, as `server_stop` does.
servers_stop() {
    local folder rc=0
    for folder in "$@"; do SERVER=$folder server_stop || rc=1; done
    return $rc
}

# controllers_start FLAG…: `kc controllers` beside the server, with its administrator's kubeconfig. Returns at once: what it does is waited
# for with `eventually`.
controllers_start() {
    "$KC" controllers --kubeconfig="$KUBECONFIG" --leader-elect=false --node-client-ca-file="$SERVER/root/certs/node-client-ca.crt" "$@" >>"$SERVER/controllers.err" 2>&1 3>&- 4>&- &
    echo $! >"$SERVER/controllers.pid"
}

# controllers_stop: SIGTERM; it ends in time, and nothing bad is in its log.
controllers_stop() {
    [ -e "${SERVER:-}/controllers.pid" ] || return 0
    local ended
    ended=$(cat "$SERVER/controllers.pid")
    rm "$SERVER/controllers.pid"
    kill -TERM "$ended" 2>/dev/null || { tail -n 60 "$SERVER/controllers.err"; return 1; }
    eventually process_ended "$ended" || { kill -KILL "$ended"; return 1; }
    if grep -nE 'Sanitizer|runtime error:|Assertion|stack smashing|Segmentation' "$SERVER/controllers.err"; then
        tail -n 60 "$SERVER/controllers.err"
        return 1
    fi
}

# mounts_work: whether the machine lets the pods of controllers_start have mount and pid namespaces. A chroot and a container without
# CAP_SYS_ADMIN do not, for root neither.
mounts_work() {
    eventually grep -q 'running pods as processes' "$SERVER/controllers.err"
    grep -q 'namespaces: mount' "$SERVER/controllers.err"
}

# hub_start VERB FLAG…: `kc hub` or `kc run` beside the server, which logs to $BATS_TEST_TMPDIR/hub.log. Returns when it is
# ready: $hub_pid is its process, $HEALTH its address.
hub_start() {
    local health
    read -r health _ < <(free_ports)
    "$KC" "$1" --kubeconfig="$KUBECONFIG" --metrics-bind-address= "${@:2}" --health-probe-bind-address="127.0.0.1:$health" \
        >>"$BATS_TEST_TMPDIR/hub.log" 2>&1 3>&- 4>&- &
    hub_pid=$!
    HEALTH=http://127.0.0.1:$health
    eventually hub_is_ready
    kill -0 "$hub_pid" || { cat "$BATS_TEST_TMPDIR/hub.log"; return 1; }
}

hub_is_ready() { ! kill -0 "$hub_pid" 2>/dev/null || curl -sf -o /dev/null "$HEALTH/readyz"; }

# hub_stop: SIGTERM, exit code 0, nothing bad in its log.
hub_stop() {
    local rc=0 ended=${hub_pid:-}
    [ -n "$ended" ] || return 0
    hub_pid=
    kill -TERM "$ended" || { tail -n 30 "$BATS_TEST_TMPDIR/hub.log"; return 1; }
    wait_for "$ended" || rc=$?
    [ "$rc" -eq 0 ] || { echo "exit code $rc"; tail -n 30 "$BATS_TEST_TMPDIR/hub.log"; return 1; }
    ! grep -nE 'Sanitizer|runtime error:|Assertion|Segmentation' "$BATS_TEST_TMPDIR/hub.log"
}

# UNSAFE: what pods as processes need where the tests are not run by root: they share our user.
# shellcheck disable=SC2034  # Tests use it.
UNSAFE=()
# shellcheck disable=SC2034
[ "$(id -u)" -eq 0 ] || UNSAFE=(--unsafe-pods-can-read-credentials)

# up_prepare: a folder, $root, and ports for `kc up`, for a test of its own.
up_prepare() {
    KC=$(realpath "${KC:-$E2E/../../build/release/kc}")
    root=$BATS_TEST_TMPDIR/data pid='' NS=default
    export KUBECONFIG=$root/admin.kubeconfig KUBECACHEDIR=$BATS_TEST_TMPDIR/cache
    up_ports
}

# up_ports: others.
up_ports() {
    read -r secure insecure < <(free_ports)
    HTTP=http://127.0.0.1:$insecure HTTPS=https://127.0.0.1:$secure
}

# up FLAG…: `kc up`; returns when it says that it is ready. $pid is its process, $BATS_TEST_TMPDIR/out and err are what it says.
up() {
    : >"$BATS_TEST_TMPDIR/out" # Before the background process empties it, it has the output of an earlier start.
    "$KC" up --file-rootpath="$root" --secure-port="$secure" --insecure-port="$insecure" "$@" \
        >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- 4>&- &
    pid=$!
    eventually up_is_ready || { cat "$BATS_TEST_TMPDIR/err"; return 1; }
    kill -0 "$pid" || { cat "$BATS_TEST_TMPDIR/err"; return 1; }
}

up_is_ready() { ! kill -0 "$pid" 2>/dev/null || grep -q 'ready after' "$BATS_TEST_TMPDIR/out"; }

# down SIGNAL CODE: it ends with this code; nothing is wrong in what it wrote to standard error.
down() {
    local rc=0 ended=$pid
    pid=
    kill "-$1" "$ended" || { cat "$BATS_TEST_TMPDIR/err"; return 1; }
    wait_for "$ended" || rc=$?
    cat "$BATS_TEST_TMPDIR/err"
    [ "$rc" -eq "$2" ] || { echo "exit code $rc"; return 1; }
    ! grep -E 'Sanitizer|runtime error:|Assertion|Segmentation' "$BATS_TEST_TMPDIR/err"
}

# up_end: for a teardown: one that still runs is stopped, and ends well.
up_end() { [ -z "$pid" ] || down INT 0; }

# namespace: a namespace of this test's own.
namespace() {
    NS=test-$BATS_TEST_NUMBER
    curl -sf -o /dev/null -H 'Authorization: Bearer admintoken' -H 'Content-Type: application/json' "$HTTP/api/v1/namespaces" \
        -d "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"$NS\"}}"
}

# copy_kc DIRECTORY: the binary, and the layers that a build with sanitizers has as libraries, for another user, who may not come to where they
# were built.
copy_kc() {
    local layers=("$(dirname "$KC")"/libkc_*.so)
    [ -e "${layers[0]}" ] || layers=()
    install -m 755 "$KC" "${layers[@]}" "$1"
}

# k ARGUMENT…: kubectl as the administrator, over HTTPS, in the test's namespace.
k() { kubectl -n "$NS" "$@"; }

# field_is KIND NAME JSONPATH TEXT: an object of the test's namespace says so.
field_is() { [ "$(k get "$1" "$2" -o jsonpath="$3")" = "$4" ]; }

# api ARGUMENT…: curl as the administrator; paths are relative to the server's plain address.
api() {
    local path=$1
    shift
    curl -sS --max-time 90 -H 'Authorization: Bearer admintoken' "$@" "$HTTP$path"
}

# config_map NAME [LABELS]: creates one quickly, without kubectl.
config_map() {
    api "/api/v1/namespaces/$NS/configmaps" -f -o /dev/null -H 'Content-Type: application/json' \
        -d "{\"metadata\":{\"name\":\"$1\",\"labels\":{${2:-}}},\"data\":{\"key\":\"value\"}}"
}

# field PATH: the value at a path (.a.b, .items[0].c) of the JSON on standard input; its text when it is a string.
field() {
    python3 -c 'import json, re, sys
value = json.load(sys.stdin)
for name, index in re.findall(r"\.([^.\[]+)|\[(\d+)\]", sys.argv[1]):
    value = value[name] if name else value[int(index)]
print(value if isinstance(value, str) else json.dumps(value))' "$1"
}

# says TEXT…: the output of the last `run` has each of these texts.
says() {
    local text
    for text in "$@"; do
        [[ $output == *"$text"* ]] || { printf 'missing: %s\nin:\n%s\n' "$text" "$output"; return 1; }
    done
}

# never_says TEXT…: it has none of them.
never_says() {
    local text
    for text in "$@"; do
        [[ $output != *"$text"* ]] || { printf 'unexpected: %s\nin:\n%s\n' "$text" "$output"; return 1; }
    done
}

# background COMMAND…: starts it with its output in $BATS_TEST_TMPDIR/background; $job is its process.
background() {
    [ "$1" != k ] || set -- kubectl -n "$NS" "${@:2}" # A process that a signal reaches.
    : >"$BATS_TEST_TMPDIR/background" # Before the background process empties it, it has the output of an earlier one.
    "$@" >"$BATS_TEST_TMPDIR/background" 2>&1 3>&- 4>&- &
    job=$!
}

background_says() { grep -qE -- "$1" "$BATS_TEST_TMPDIR/background"; }

# background_watch PATH: a watch, as the administrator, until `background_end`. Which events it has delivered is what `watch_events` prints.
background_watch() { background curl -sSN -H 'Authorization: Bearer admintoken' "$HTTP$1"; }

# watch_events: of the watch in the background, as `TYPE NAME TYPE NAME `. The last line may still be incomplete.
watch_events() {
    python3 -c 'import json, sys
for line in sys.stdin:
    if line.endswith("\n"):
        event = json.loads(line)
        print(event["type"], event["object"]["metadata"].get("name", event["object"].get("message")), end=" ")' <"$BATS_TEST_TMPDIR/background"
}
watch_is() { [ "$(watch_events)" = "$1" ]; }

# background_ends: it ends by itself, with exit code 0.
background_ends() {
    local ended=$job
    job=
    wait_for "$ended"
}

background_end() {
    local ended=$job children
    [ -n "$ended" ] || return 0
    job=
    # A function runs in a shell of its own, whose commands would outlive it.
    children=$(pgrep -P "$ended") || true
    # shellcheck disable=SC2086  # several
    kill $children "$ended" 2>/dev/null || true
    wait_for "$ended" 2>/dev/null || true
}
