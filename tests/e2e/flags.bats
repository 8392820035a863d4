#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The command line of kc, driven as people drive it: what it refuses and in which words, what it prints, what it
# leaves on disk, how it ends. $KC names the binary; build/release/kc unless it is set.

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return
    KC=${KC:-build/release/kc}
    root=$BATS_TEST_TMPDIR/root
    pid=
}

teardown() {
    # The jobs that a test left running, by their own process ids.
    [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
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
    "$KC" apiserver --file-rootpath="$root" --secure-port="$secure" --insecure-port="$insecure" "$@" \
        >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
    pid=$!
    for _ in $(seq 300); do
        grep -q 'try:' "$BATS_TEST_TMPDIR/out" && return 0
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    cat "$BATS_TEST_TMPDIR/err"
    return 1
}

# stop SIGNAL: ends the server; $status is its exit code.
stop() {
    status=0
    kill "-$1" "$pid"
    wait "$pid" || status=$?
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

@test "the root path is required" {
    refused "--file-rootpath is required"
}

@test "an empty root path is refused" {
    refused "--file-rootpath is required and must not be empty" --file-rootpath=
    refused "--file-rootpath is required and must not be empty" --file-rootpath ""
}

@test "an unknown flag gets the nearest one" {
    refused "there is no flag '--secure-prot'; did you mean '--secure-port'?" --file-rootpath="$root" --secure-prot=1
    refused "there is no flag '-secure-port'; did you mean '--secure-port'?" --file-rootpath="$root" -secure-port 1
}

@test "an unknown flag that is near to none is sent to the help" {
    refused "there is no flag '--zzzzzzzz' ('kc apiserver --help' lists those there are)" --zzzzzzzz
    refused "there is no flag '-x'" -x
}

@test "a flag without its value is refused" {
    refused "--file-rootpath needs a value: --file-rootpath=FOLDER" --file-rootpath
}

@test "a port that is none is refused" {
    for port in x -1 65536 "" 1.5 0x10 " 1"; do
        refused "--secure-port: '$port' is not a port" --file-rootpath="$root" --secure-port="$port"
    done
}

@test "an address that is none is refused" {
    for address in localhost 127.1 "" 300.0.0.1 "[::1]" 127.0.0.1:80; do
        refused "--bind-address: '$address' is not an IP address" --file-rootpath="$root" --bind-address="$address"
    done
}

@test "a duration that is none is refused" {
    refused "--request-timeout: '10' is not a duration" --file-rootpath="$root" --request-timeout=10
    refused "--request-timeout: '0s' is not longer than nothing" --file-rootpath="$root" --request-timeout=0s
    refused "--request-timeout: '-1s' is not longer than nothing" --file-rootpath="$root" --request-timeout=-1s
}

@test "verbosity is from 0 to 10" {
    refused "--v: '11' is not a number from 0 to 10" --file-rootpath="$root" -v 11
    refused "--v: 'x' is not a number from 0 to 10" --file-rootpath="$root" -vx
    refused "--v: '' is not a number from 0 to 10" --file-rootpath="$root" -v=
}

@test "formats and backends are those there are" {
    refused "--log-format: 'xml' is neither console nor json" --file-rootpath="$root" --log-format=xml
    refused "--backend: 'mysql' is not a backend; there is 'file'" --file-rootpath="$root" --backend=mysql
}

@test "a switch is true or false" {
    refused "--anonymous-auth: 'perhaps' is neither true nor false" --file-rootpath="$root" --anonymous-auth=perhaps
    refused "'false' is no flag; for a switch write --anonymous-auth=false" --file-rootpath="$root" --anonymous-auth false
}

@test "an argument that is no flag is refused" {
    refused "'now' is no flag" --file-rootpath="$root" now
    refused "'--' is no flag" --file-rootpath="$root" -- now
}

@test "a certificate needs its key, and a key its certificate" {
    refused "--tls-cert-file needs --tls-private-key-file" --file-rootpath="$root" --tls-cert-file=x
    refused "--tls-private-key-file needs --tls-cert-file" --file-rootpath="$root" --tls-private-key-file=x
}

@test "some port must be open, and two ports are two" {
    refused "leave no port to listen on" --file-rootpath="$root" --secure-port=0 --insecure-port=0
    refused "must not be the same" --file-rootpath="$root" --secure-port=7000 --insecure-port=7000
}

@test "certificates without TLS are a contradiction" {
    refused "of no use with --secure-port=0" --file-rootpath="$root" --secure-port=0 --client-ca-file=x
    refused "of no use with --secure-port=0" --file-rootpath="$root" --secure-port=0 --cert-dir=x
}

@test "plain HTTP beyond this machine needs authentication" {
    refused "without any authentication" --file-rootpath="$root" --insecure-addr=0.0.0.0
    refused "without any authentication" --file-rootpath="$root" --insecure-addr=::
    refused "let anybody" --file-rootpath="$root" --insecure-addr=0.0.0.0 --token-auth-file=x --anonymous-auth
}

@test "nobody is anonymous beyond this machine" {
    refused "let anybody" --file-rootpath="$root" --bind-address=0.0.0.0 --anonymous-auth=true
    refused "let anybody" --file-rootpath="$root" --bind-address=192.0.2.1 --anonymous-auth
}

@test "an unknown verb gets the nearest one" {
    run "$KC" apisrver
    [ "$status" -eq 2 ]
    [[ $output == *"there is no verb 'apisrver'; did you mean 'apiserver'?"* ]]
}

@test "help lists the verbs" {
    run "$KC" help
    [ "$status" -eq 0 ]
    for verb in apiserver completion generate help version; do
        [[ $output == *"  $verb"* ]]
    done
}

@test "help of a verb is the same however it is asked for" {
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

@test "every flag stands in the help and in the man page" {
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

@test "every flag of other verbs stands in the help and in the man page" {
    for verb in controllers.8 generate.1 hub.8 networks.8 up.8; do
        for flag in $("$KC" completion fish | sed -nE "s/.*from ${verb%.*}' -l ([a-z-]+) .*/\1/p"); do
            echo "${verb%.*} --$flag"
            "$KC" "${verb%.*}" --help | grep -qE -- "^  (-., )?--$flag( |=|\$)"
            grep -qE -- "^\.It .*Fl -$flag( |\$)" "docs/man/kc-$verb"
        done
    done
}

@test "every flag of run stands in the man page of hub" {
    for flag in $("$KC" completion fish | sed -nE "s/.*from run' -l ([a-z-]+) .*/\1/p"); do
        "$KC" run --help | grep -qE -- "^  (-., )?--$flag( |=|\$)"
        grep -qE -- "^\.It .*Fl -$flag( |\$)" docs/man/kc-hub.8
    done
}

@test "every verb stands in the man page" {
    for verb in $("$KC" completion fish | sed -nE 's/.*__fish_use_subcommand -a ([a-z]+) .*/\1/p'); do
        grep -qE "^\.It Cm $verb" docs/man/kc.1
    done
}

@test "the man pages render without warnings" {
    command -v groff >/dev/null || skip "groff is not there"
    for page in docs/man/*; do
        run groff -ww -mdoc -Tutf8 -z "$page"
        [ "$status" -eq 0 ] && [ -z "$output" ]
    done
}

@test "completion in bash offers verbs, flags and values" {
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

@test "completion for another shell is refused" {
    run "$KC" completion tcsh
    [ "$status" -eq 2 ]
    [[ $output == *"name one shell: bash, zsh or fish"* ]]
}

@test "a first start says what to try, and leaves certificates and a kubeconfig" {
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

@test "SIGINT stops it too, and SIGHUP does not" {
    start -v 1
    kill -HUP "$pid"
    kill -0 "$pid"
    stop INT
    [ "$status" -eq 0 ]
}

@test "a second signal ends it at once" {
    start
    # Both wait while it is stopped; SIGINT, the lower number, is taken first.
    kill -STOP "$pid"
    until grep -q "^State:.T" "/proc/$pid/status"; do sleep 0.01; done
    kill -TERM "$pid"
    kill -INT "$pid"
    stop CONT
    [ "$status" -eq 143 ]
}

@test "flags may be written in every usual way" {
    start -v=2 --log-format json --request-timeout 30s --anonymous-auth=false --authn-allow-localhost
    stop TERM
    [ "$status" -eq 0 ]
    grep -q '^{"ts":' "$BATS_TEST_TMPDIR/err"
}

@test "a second start keeps the certificates" {
    start
    stop TERM
    before=$(cat "$root"/certs/* | sha256sum)
    start
    stop TERM
    [ "$(cat "$root"/certs/* | sha256sum)" = "$before" ]
}

@test "without TLS there is no certificate for it" {
    read -r insecure < <("$BATS_TEST_DIRNAME/free-ports" 1)
    "$KC" apiserver --file-rootpath="$root" --secure-port=0 --insecure-port="$insecure" >"$BATS_TEST_TMPDIR/out" 3>&- &
    pid=$!
    for _ in $(seq 300); do
        grep -q 'try:' "$BATS_TEST_TMPDIR/out" && break
        sleep 0.1
    done
    grep -qF "kubectl -s http://127.0.0.1:$insecure get namespaces" "$BATS_TEST_TMPDIR/out"
    [ ! -e "$root/certs/apiserver.crt" ]
    [ ! -e "$root/admin.kubeconfig" ]
    stop TERM
    [ "$status" -eq 0 ]
}

@test "a second server on the same folder is refused" {
    start
    fails "is in use by process $pid"
    stop TERM
}

@test "a bad token file is refused with its line, before anything is written" {
    printf 't1,alice,1\nt2,bob\n' >"$BATS_TEST_TMPDIR/tokens.csv"
    fails "tokens.csv: line 2: at least 3 columns are needed" --token-auth-file="$BATS_TEST_TMPDIR/tokens.csv"
    [ ! -e "$root" ]
    fails "cannot open /no/such/file" --token-auth-file=/no/such/file
}

@test "client authorities that are none are refused" {
    fails "cannot open /no/such/ca.crt" --client-ca-file=/no/such/ca.crt
    fails "there is no certificate in README.md" --client-ca-file=README.md
}

@test "the kubeconfig trusts a serving certificate of the operator's, by a name it has" {
    command -v openssl >/dev/null || skip "openssl is not there"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=plane -days 10 \
        -addext subjectAltName=DNS:plane.example -keyout "$BATS_TEST_TMPDIR/own.key" -out "$BATS_TEST_TMPDIR/own.crt"
    start --tls-cert-file="$BATS_TEST_TMPDIR/own.crt" --tls-private-key-file="$BATS_TEST_TMPDIR/own.key"
    grep -qx '    tls-server-name: plane.example' "$root/admin.kubeconfig"
    grep -qF "$(base64 -w0 <"$BATS_TEST_TMPDIR/own.crt")" "$root/admin.kubeconfig"
    [ ! -e "$root/certs/apiserver.crt" ]
    stop TERM
}
