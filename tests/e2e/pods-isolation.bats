#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What pods of `kc up` can and cannot reach: with root, without root, with mount namespaces and without. Each test has a folder of its own.

bats_require_minimum_version 1.5.0

setup() {
    load helpers
    cd "$E2E/../.." || return
    # Not below /tmp: containers have their own, and other users come here.
    place=$(mktemp -d /var/lib/kc-isolation.XXXXXX 2>/dev/null) || place=$(mktemp -d)
    chmod 755 "$place"
    up_prepare
    root=$place/data
    export KUBECONFIG=$root/admin.kubeconfig
    as=()
}

teardown() {
    [ -z "$pid" ] || kill -TERM "$pid" || true
    [ -z "$pid" ] || wait_for "$pid" || true
    rm -rf "$place"
}

needs_root() { [ "$(id -u)" = 0 ] || skip "needs root"; }

# mounts_possible: whether the machine lets root have mount and pid namespaces. A chroot and a container without CAP_SYS_ADMIN do not.
mounts_possible() { unshare --mount --pid --fork true 2>/dev/null; }

# unprivileged: from now on `kc` runs as nobody, in a folder of its own.
unprivileged() {
    [ "$(id -u)" = 0 ] || return 0
    as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    copy_kc "$place"
    KC=$place/kc
    mkdir "$place/home"
    chown 65534:65534 "$place" "$place/home"
}

# start FLAG…: `kc up` as $as; returns when it is ready, or has ended.
# shellcheck disable=SC2154  # $secure and $insecure are up_prepare's.
start() {
    : >"$BATS_TEST_TMPDIR/out" # Before the background process empties it, it has the output of an earlier start.
    (cd "$place" && exec env HOME="$place/home" "${as[@]}" "$KC" up --file-rootpath="$root" --secure-port="$secure" --insecure-port="$insecure" "$@") \
        >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- 4>&- &
    pid=$!
    eventually up_is_ready
    kill -0 "$pid" || { cat "$BATS_TEST_TMPDIR/err"; return 1; }
}

# in_pod NAME SCRIPT [SPEC]: runs it in a pod to its end; its output is $output.
in_pod() {
    kubectl create -f - >/dev/null <<JSON
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"$1"},"spec":{"restartPolicy":"Never",${3:+$3,}
 "containers":[{"name":"c","image":"none","command":["sh","-c",$(python3 -c 'import json,sys; print(json.dumps(sys.argv[1]))' "$2")]}]}}
JSON
    ended() { [[ $(kubectl get pod "$1" -o jsonpath='{.status.phase}') =~ Succeeded|Failed ]]; }
    eventually ended "$1"
    run -0 kubectl logs "$1"
}

# What a pod tries to read. The last word shows that the script came to its end.
steal="cat \$PLACE/data/certs/* \$PLACE/data/admin.kubeconfig; ls -R \$PLACE/data; cat \$PLACE/data/store/*; cat \$PLACE/tokens.csv; echo end"

secrets_stay() {
    never_says 'PRIVATE KEY' 'client-key-data' 'sesame' 'data.mdb'
    says end
}

@test "root: pods run as users of the range, without privileges or access to credentials" {
    needs_root
    echo 'sesame,admin,1,"system:masters"' >"$place/tokens.csv"
    mounts_possible || chmod 600 "$place/tokens.csv" # Nothing else would hide it, and kc refuses to start.
    start --token-auth-file="$place/tokens.csv"
    grep -q 'processes of this machine' "$BATS_TEST_TMPDIR/out"
    in_pod steal "PLACE=$place; $steal"
    secrets_stay
    in_pod who 'id -u; grep -E "NoNewPrivs|Seccomp:|CapEff|CapBnd" /proc/self/status'
    says 20000 'NoNewPrivs:	1' 'Seccomp:	2' 'CapEff:	0000000000000000' 'CapBnd:	0000000000000000'
}

@test "root: pods cannot create namespaces, mount, trace or change their user" {
    needs_root
    start
    in_pod escape 'unshare -U true; unshare -m true; mount -t tmpfs none /mnt; setpriv --reuid=0 true; chroot / true; echo end'
    says end 'unshare: unshare failed: Operation not permitted' 'setresuid failed'
    never_says 'No such file'
    in_pod proc "cat /proc/$pid/environ /proc/$pid/cmdline; kill -9 $pid; ls -d /proc/[0-9]*; echo end"
    says end
    never_says KUBECONFIG
    if mounts_possible; then
        never_says "/proc/$pid"$'\n'
    fi
    kill -0 "$pid"
}

@test "root: pods inherit neither descriptors nor environment" {
    needs_root
    export KC_E2E_SECRET=sesame
    exec 9<"$0"
    start
    exec 9<&-
    in_pod inherit 'env; ls -l /proc/self/fd; pwd'
    # Without mounts the termination message, a file of the pod, is a descriptor.
    mounts_possible || output=$(grep -vE ' 3 -> .*/pods/[^ ]*/c/0[.]message$' <<<"$output")
    never_says sesame KUBECONFIG "$place" /store
    says HOSTNAME=inherit
}

@test "root: pods that may run as root disable local trust" {
    needs_root
    start --pods-allow-root
    grep -q 'loopback clients need credentials: --pods-allow-root lets pods run as any user' "$BATS_TEST_TMPDIR/out"
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$HTTP/api/v1/namespaces")" = 401 ]
    kubectl get namespaces
}

@test "not root: pods are simulated, and kc up reports the reason" {
    unprivileged
    start
    run -0 cat "$BATS_TEST_TMPDIR/out"
    says 'simulated, because kc does not run as root' '--unsafe-pods-can-read-credentials'
    kubectl create -f - <<'JSON'
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"none","command":["sleep","600"]}]}}
JSON
    eventually field_is pod p '{.status.phase}' Running
    [[ $(kubectl get pod p -o jsonpath='{.status.containerStatuses[0].containerID}') == simulated://* ]]
}

@test "not root: process mode is refused with the reason" {
    unprivileged
    run -2 env HOME="$place/home" "${as[@]}" "$KC" up --file-rootpath="$root" --secure-port="$secure" --insecure-port="$insecure" --pods=process
    says '--pods=process requires root' '--pods=simulate' '--unsafe-pods-can-read-credentials'
    [ ! -e "$root" ]
}

@test "not root: the unsafe flag runs processes, disables local trust and is logged" {
    unprivileged
    start --unsafe-pods-can-read-credentials
    run -0 cat "$BATS_TEST_TMPDIR/out"
    says 'as your user: they can read the keys' 'loopback clients need credentials: pods run as processes of your own user'
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$HTTP/api/v1/namespaces")" = 401 ]
    in_pod who 'id -u; echo end'
    says end
    if kubectl get nodes -o wide | grep -q process://user-namespaces; then
        in_pod steal "PLACE=$place; $steal"
        secrets_stay
    fi
}

@test "not root: the unsafe flag without any authentication is refused" {
    unprivileged
    run -2 env HOME="$place/home" "${as[@]}" "$KC" up --file-rootpath="$root" --secure-port=0 --insecure-port="$insecure" --unsafe-pods-can-read-credentials
    says '--unsafe-pods-can-read-credentials disables --authn-allow-localhost' 'no client could authenticate'
}

# without_namespaces: `kc` as root that may not make namespaces or mount: without CAP_SYS_ADMIN.
without_namespaces() {
    needs_root
    as=(setpriv --bounding-set=-sys_admin --inh-caps=-all)
}

@test "root without namespaces: private directories suffice" {
    without_namespaces
    start -v 1
    grep -q 'no namespaces' "$BATS_TEST_TMPDIR/err" || skip "namespaces can be made without CAP_SYS_ADMIN"
    [ "$(stat -c %a "$root")" = 700 ]
    in_pod steal "PLACE=$place; $steal"
    secrets_stay
    in_pod proc "cat /proc/$pid/environ; kill -9 $pid; unshare -U true; echo end"
    says end 'unshare: unshare failed: Operation not permitted'
    never_says KUBECONFIG
}

@test "root without namespaces: a readable directory is refused unless the risk is accepted" {
    without_namespaces
    mkdir -m 755 "$root"
    if start; then skip "namespaces can be made without CAP_SYS_ADMIN"; fi
    local rc=0
    wait_for "$pid" || rc=$?
    pid=
    [ "$rc" -eq 1 ]
    run -0 cat "$BATS_TEST_TMPDIR/err"
    says "pods could read $root, which is readable by other users" '--unsafe-pods-can-read-credentials'
    start --unsafe-pods-can-read-credentials
}
