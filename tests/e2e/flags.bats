#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The command line of kc, driven as people drive it: what it refuses and in which words, what it prints, what it
# leaves on disk, how it ends. $KC names the binary; build/release/kc unless it is set.

setup() {
    load helpers
    cd "$BATS_TEST_DIRNAME/../.." || return
    KC=${KC:-build/release/kc}
    root=$BATS_TEST_TMPDIR/root
    pid=
}

teardown() {
    # The jobs that a test left running, by their own process ids.
    [ -z "$pid" ] || end_now "$pid"
}

# refused SENTENCE FLAG…: exit 2, the sentence on standard error, nothing on standard output, nothing on disk.
refused() {
    local sentence=$1 status=0
    shift
    "$KC" apiserver "$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || status=$?
    cat "$BATS_TEST_TMPDIR/out" "$BATS_TEST_TMPDIR/err"
    [ "$status" -eq 2 ]
    grep -qF -- "$sentence" "$BATS_TEST_TMPDIR/err"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/err")" -eq 1 ]
    [ ! -s "$BATS_TEST_TMPDIR/out" ]
    [ ! -e "$root" ]
}

# start FLAG…: a server on free ports; returns when it has said what to try.
start() {
    read -r secure insecure < <("$BATS_TEST_DIRNAME/free-ports" 2)
    : >"$BATS_TEST_TMPDIR/out" # Before the background process empties it, it has the output of an earlier start.
    "$KC" apiserver --file-rootpath="$root" --secure-port="$secure" --insecure-port="$insecure" "$@" \
        >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
    pid=$!
    eventually tells_or_ended
    grep -q 'try:' "$BATS_TEST_TMPDIR/out" || { cat "$BATS_TEST_TMPDIR/err"; return 1; }
}

tells_or_ended() { grep -q 'try:' "$BATS_TEST_TMPDIR/out" || process_ended "$pid"; }

# stop SIGNAL: ends the server; $status is its exit code.
stop() {
    status=0
    kill "-$1" "$pid"
    wait_for "$pid" || status=$?
    pid=
}

# fails SENTENCE FLAG…: exit 1 and the sentence.
fails() {
    local sentence=$1
    shift
    read -r secure insecure < <("$BATS_TEST_DIRNAME/free-ports" 2)
    run "$KC" apiserver --file-rootpath="$root" --secure-port="$secure" --insecure-port="$insecure" "$@"
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"$sentence"* ]]
}

@test "root path is required" {
    refused "--file-rootpath is required"
}

@test "empty root path is refused" {
    refused "--file-rootpath is required and must not be empty" --file-rootpath=
    refused "--file-rootpath is required and must not be empty" --file-rootpath ""
}

@test "unknown flag suggests the nearest one" {
    refused "kc apiserver: unknown flag '--secure-prot'; did you mean '--secure-port'?" --file-rootpath="$root" --secure-prot=1
    refused "kc apiserver: unknown flag '-secure-port'; did you mean '--secure-port'?" --file-rootpath="$root" -secure-port 1
}

@test "unknown flag without a near one refers to the help" {
    refused "kc apiserver: unknown flag '--zzzzzzzz'; 'kc apiserver --help' lists the flags" --zzzzzzzz
    refused "kc apiserver: unknown flag '-x'" -x
}

@test "flag without a value is refused" {
    refused "--file-rootpath needs a value: --file-rootpath=DIR" --file-rootpath
}

@test "invalid port is refused" {
    for port in x -1 65536 "" 1.5 0x10 " 1"; do
        refused "--secure-port: invalid value '$port': must be a port from 0 to 65535" --file-rootpath="$root" --secure-port="$port"
    done
}

@test "invalid address is refused" {
    for address in localhost 127.1 "" 300.0.0.1 "[::1]" 127.0.0.1:80; do
        refused "--bind-address: invalid value '$address': must be an IP address" --file-rootpath="$root" --bind-address="$address"
    done
}

@test "invalid or contradictory limits are refused" {
    refused "--max-object-bytes: invalid value 'x': must be a number of bytes, such as 1048576 or 1Mi" --file-rootpath="$root" --max-object-bytes=x
    refused "--max-object-bytes must be at most 15Mi" --file-rootpath="$root" --max-object-bytes=16Mi
    refused "--max-watches-per-user: invalid value '0': must be an integer from 1 to 1000000000" --file-rootpath="$root" --max-watches-per-user=0
    refused "--max-requests-inflight: invalid value '0': must be an integer from 1 to 1000000000" --file-rootpath="$root" --max-requests-inflight=0
    refused "--memory-soft-limit must be at most --memory-hard-limit" --file-rootpath="$root" --memory-soft-limit=2Gi --memory-hard-limit=1Gi
}

@test "invalid duration is refused" {
    for duration in 10 0s -1s x ""; do
        refused "--request-timeout: invalid value '$duration': must be a duration of more than 0" --file-rootpath="$root" --request-timeout="$duration"
    done
}

@test "number of request workers outside 0 to 16 is refused" {
    refused "--request-workers: invalid value '17': must be an integer from 0 to 16" --file-rootpath="$root" --request-workers=17
    refused "--request-workers: invalid value 'x': must be an integer from 0 to 16" --file-rootpath="$root" --request-workers=x
}

@test "verbosity outside 0 to 10 is refused" {
    refused "--v: invalid value '11': must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10" --file-rootpath="$root" -v 11
    refused "--v: invalid value 'x': must be one of 0, 1," --file-rootpath="$root" -vx
    refused "--v: invalid value '': must be one of 0, 1," --file-rootpath="$root" -v=
}

@test "error lists the values of a closed set" {
    refused "--log-format: invalid value 'xml': must be one of console, json" --file-rootpath="$root" --log-format=xml
    refused "must be one of console, json; did you mean 'json'?" --file-rootpath="$root" --log-format=jsn
    refused "--backend: invalid value 'mysql': must be one of file, etcd" --file-rootpath="$root" --backend=mysql
}

@test "switch other than true or false is refused" {
    refused "--anonymous-auth: invalid value 'perhaps': must be true or false" --file-rootpath="$root" --anonymous-auth=perhaps
    refused "unexpected argument 'false'; did you mean --anonymous-auth=false?" --file-rootpath="$root" --anonymous-auth false
}

@test "argument that is not a flag is refused" {
    refused "unexpected argument 'now'" --file-rootpath="$root" now
    refused "unexpected argument 'now'" --file-rootpath="$root" -- now
    refused "unexpected argument '--help'" --file-rootpath="$root" -- --help
}

@test "certificate without key, or key without certificate, is refused" {
    refused "--tls-cert-file needs --tls-private-key-file" --file-rootpath="$root" --tls-cert-file=x
    refused "--tls-private-key-file needs --tls-cert-file" --file-rootpath="$root" --tls-private-key-file=x
}

@test "no port, or equal ports, are refused" {
    refused "leave no port to listen on" --file-rootpath="$root" --secure-port=0 --insecure-port=0
    refused "must not be the same" --file-rootpath="$root" --secure-port=7000 --insecure-port=7000
}

@test "certificates with TLS disabled are refused" {
    refused "have no effect with --secure-port=0" --file-rootpath="$root" --secure-port=0 --client-ca-file=x
    refused "have no effect with --secure-port=0" --file-rootpath="$root" --secure-port=0 --cert-dir=x
}

@test "plain HTTP beyond loopback without authentication is refused" {
    refused "without authentication" --file-rootpath="$root" --insecure-addr=0.0.0.0
    refused "without authentication" --file-rootpath="$root" --insecure-addr=::
    refused "full access" --file-rootpath="$root" --insecure-addr=0.0.0.0 --token-auth-file=x --anonymous-auth --authorization-mode=AlwaysAllow
}

@test "invalid users of loopback clients, or those of pods, are refused" {
    refused "invalid user 'no-such-user': must be a user name of this machine or a uid" --file-rootpath="$root" --authn-allow-localhost --authn-localhost-users=no-such-user
    refused "invalid user '4294967295'" --file-rootpath="$root" --authn-allow-localhost --authn-localhost-users=0,4294967295
    refused "--authn-localhost-users needs --authn-allow-localhost" --file-rootpath="$root" --authn-localhost-users=1000
    run "$KC" apiserver --file-rootpath="$root" --authn-allow-localhost --authn-localhost-users=nobody
    [ "$status" -eq 1 ]
    [[ "$output" == *"uid 65534 cannot be trusted: pods or other untrusted programs run as it"* ]]
}

@test "anonymous access beyond loopback is refused" {
    refused "full access" --file-rootpath="$root" --bind-address=0.0.0.0 --anonymous-auth=true --authorization-mode=AlwaysAllow
    refused "full access" --file-rootpath="$root" --bind-address=192.0.2.1 --anonymous-auth --authorization-mode=RBAC,AlwaysAllow
}

@test "unknown verb suggests the nearest one" {
    run "$KC" apisrver
    [ "$status" -eq 2 ]
    [[ $output == *"unknown command 'apisrver'; did you mean 'apiserver'?"* ]]
}

@test "unknown command of a verb suggests the nearest one, and nothing is done" {
    mkdir "$root"
    while read -r verb typed nearest; do
        run "$KC" "$verb" "$typed"
        echo "$output"
        [ "$status" -eq 2 ]
        [[ $output == "kc $verb: unknown command '$typed': must be "*"; did you mean '$nearest'?" ]]
    done <<'END'
alpha generat generate
cel evl eval
certs renew-leafs renew-leaves
create webhok webhook
store rewrit rewrite
user disabel disable
END
    run "$KC" store list --file-rootpath="$root"
    [ "$status" -eq 2 ]
    [[ $output == "kc store: unknown command 'list': must be one of rewrite, check, export, import, backup, restore, migrate" ]]
    [ -z "$(ls -A "$root")" ]
}

@test "help lists the commands" {
    run "$KC" help
    [ "$status" -eq 0 ]
    for verb in apiserver completion generate help version; do
        [[ $output == *"  $verb"* ]]
    done
}

@test "every command has help with usage and examples" {
    for verb in $("$KC" completion fish | sed -nE 's/.*__fish_use_subcommand -a ([a-z-]+) .*/\1/p'); do
        run "$KC" "$verb" --help
        [ "$status" -eq 0 ]
        [[ $output == *"Usage: kc $verb"* ]]
        [[ $output == *"Examples:"*"kc $verb"* ]]
        [ "$output" = "$("$KC" help "$verb")" ]
    done
}

@test "help lists the accepted values of a flag" {
    run "$KC" controllers --help
    for value in none simulate process auto; do
        [[ $output =~ $'\n'\ +$value\  ]]
    done
}

@test "help of a verb is the same with help, --help and -h" {
    "$KC" apiserver --help >"$BATS_TEST_TMPDIR/a"
    "$KC" apiserver -h >"$BATS_TEST_TMPDIR/b"
    "$KC" help apiserver >"$BATS_TEST_TMPDIR/c"
    cmp "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b"
    cmp "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/c"
    [ "$(awk 'length > 110' "$BATS_TEST_TMPDIR/a" | wc -l)" -eq 0 ]
}

# From the completion script, which has every row of the table.
flags_of_apiserver() {
    "$KC" completion fish | sed -nE "s/.*from apiserver' -l ([a-z-]+) .*/\1/p"
}

@test "every flag is in the help and in the man page" {
    [ "$(flags_of_apiserver | wc -l)" -ge 16 ]
    for flag in $(flags_of_apiserver); do
        echo "--$flag"
        "$KC" apiserver --help | grep -qE -- "^  (-., )?--$flag( |=|\$)"
        grep -qE -- "^\.It .*Fl -$flag( |\$)" docs/man/kc-apiserver.8
    done
}

@test "every flag in the man page exists" {
    for flag in $(grep '^\.It Fl' docs/man/kc-apiserver.8 | grep -oE 'Fl -[a-z-]+' | sed 's/Fl -//'); do
        echo "--$flag"
        flags_of_apiserver | grep -qx -- "$flag"
    done
}

@test "every flag of other verbs is in the help and in the man page" {
    for verb in controllers.8 generate.1 hub.8 networks.8 up.8; do
        for flag in $("$KC" completion fish | sed -nE "s/.*from ${verb%.*}' -l ([a-z-]+) .*/\1/p"); do
            echo "${verb%.*} --$flag"
            "$KC" "${verb%.*}" --help | grep -qE -- "^  (-., )?--$flag( |=|\$)"
            grep -qE -- "^\.It .*Fl -$flag( |\$)" "docs/man/kc-$verb"
        done
    done
}

@test "every flag of run is in the man page of hub" {
    for flag in $("$KC" completion fish | sed -nE "s/.*from run' -l ([a-z-]+) .*/\1/p"); do
        "$KC" run --help | grep -qE -- "^  (-., )?--$flag( |=|\$)"
        grep -qE -- "^\.It .*Fl -$flag( |\$)" docs/man/kc-hub.8
    done
}

@test "every verb is in the man page" {
    for verb in $("$KC" completion fish | sed -nE 's/.*__fish_use_subcommand -a ([a-z-]+) .*/\1/p'); do
        grep -qE "^\.It Cm $verb" docs/man/kc.1
    done
}

@test "man pages render without warnings" {
    command -v groff >/dev/null || skip "groff is not there"
    for page in docs/man/*; do
        run groff -ww -mdoc -Tutf8 -z "$page"
        [ "$status" -eq 0 ] && [ -z "$output" ]
    done
}

@test "bash completion offers verbs, flags and values" {
    # shellcheck disable=SC1090
    source <("$KC" completion bash)
    compopt() { :; }
    COMP_WORDS=(kc api) COMP_CWORD=1
    _kc
    [ "${COMPREPLY[*]}" = apiserver ]
    COMP_WORDS=(kc apiserver --insecure-p) COMP_CWORD=2
    _kc
    [ "${COMPREPLY[*]}" = --insecure-port ]
    COMP_WORDS=(kc apiserver --log-format "=" j) COMP_CWORD=4
    _kc
    [ "${COMPREPLY[*]}" = json ]
    COMP_WORDS=(kc apiserver --cert-dir doc) COMP_CWORD=3
    _kc
    [ "${COMPREPLY[*]}" = docs ]
}

@test "completion for an unknown shell is refused" {
    run "$KC" completion tcsh
    [ "$status" -eq 2 ]
    [[ $output == *"unknown shell 'tcsh': must be one of bash, zsh, fish"* ]]
}

@test "first start prints next steps and writes certificates and a kubeconfig" {
    start
    grep -qF "https://127.0.0.1:$secure" "$BATS_TEST_TMPDIR/out"
    grep -qF "kubectl --kubeconfig $root/admin.kubeconfig get namespaces" "$BATS_TEST_TMPDIR/out"
    [ "$(stat -c %a "$root")" = 700 ]
    [ "$(stat -c %a "$root/admin.kubeconfig")" = 600 ]
    for key in ca apiserver admin; do
        [ "$(stat -c %a "$root/certs/$key.key")" = 600 ]
    done
    grep -qF "server: https://127.0.0.1:$secure" "$root/admin.kubeconfig"
    stop TERM
    [ "$status" -eq 0 ]
}

@test "SIGINT stops the server, and SIGHUP does not" {
    start -v 1
    kill -HUP "$pid"
    kill -0 "$pid"
    stop INT
    [ "$status" -eq 0 ]
}

@test "second signal ends the server at once" {
    start
    # Both wait while it is stopped; SIGINT, the lower number, is taken first.
    kill -STOP "$pid"
    eventually grep -q "^State:.T" "/proc/$pid/status"
    kill -TERM "$pid"
    kill -INT "$pid"
    stop CONT
    [ "$status" -eq 143 ]
}

@test "flags are accepted in every usual form" {
    start -v=2 --log-format json --request-timeout 30s --anonymous-auth=false --authn-allow-localhost
    stop TERM
    [ "$status" -eq 0 ]
    grep -q '^{"ts":' "$BATS_TEST_TMPDIR/err"
}

@test "second start keeps the certificates" {
    start
    stop TERM
    before=$(cat "$root"/certs/* | sha256sum)
    start
    stop TERM
    [ "$(cat "$root"/certs/* | sha256sum)" = "$before" ]
}

@test "server without TLS has no serving certificate" {
    read -r insecure < <("$BATS_TEST_DIRNAME/free-ports" 1)
    "$KC" apiserver --file-rootpath="$root" --secure-port=0 --insecure-port="$insecure" >"$BATS_TEST_TMPDIR/out" 3>&- &
    pid=$!
    eventually tells_or_ended
    grep -qF "kubectl -s http://127.0.0.1:$insecure get namespaces" "$BATS_TEST_TMPDIR/out"
    [ ! -e "$root/certs/apiserver.crt" ]
    [ ! -e "$root/admin.kubeconfig" ]
    stop TERM
    [ "$status" -eq 0 ]
}

@test "second server on the same directory is refused" {
    start
    fails "is in use by process $pid"
    stop TERM
}

@test "invalid token file is refused with its line before anything is written" {
    printf 't1,alice,1\nt2,bob\n' >"$BATS_TEST_TMPDIR/tokens.csv"
    fails "tokens.csv: line 2: at least 3 columns are needed" --token-auth-file="$BATS_TEST_TMPDIR/tokens.csv"
    [ ! -e "$root" ]
    fails "cannot open /no/such/file" --token-auth-file=/no/such/file
}

@test "invalid client CA file is refused" {
    fails "cannot open /no/such/ca.crt" --client-ca-file=/no/such/ca.crt
    fails "no certificate found in README.md" --client-ca-file=README.md
}

@test "kubeconfig trusts the operator's serving certificate by one of its names" {
    command -v openssl >/dev/null || skip "openssl is not there"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=plane -days 10 \
        -addext subjectAltName=DNS:plane.example -keyout "$BATS_TEST_TMPDIR/own.key" -out "$BATS_TEST_TMPDIR/own.crt"
    start --tls-cert-file="$BATS_TEST_TMPDIR/own.crt" --tls-private-key-file="$BATS_TEST_TMPDIR/own.key"
    grep -qx '    tls-server-name: plane.example' "$root/admin.kubeconfig"
    grep -qF "$(base64 -w0 <"$BATS_TEST_TMPDIR/own.crt")" "$root/admin.kubeconfig"
    [ ! -e "$root/certs/apiserver.crt" ]
    stop TERM
}
