#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# kc store: backup while the server runs, restore, check, export, import, migrate; with kills.

setup() { load helpers; load stores; NS=default job=; }
teardown() { each background_end server_stop; }

# encryption: a configuration for Secrets, as `kc up` creates it.
encryption() {
    mkdir -p "$1"
    cat >"$1/encryption.yaml" <<YAML
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
  - secretbox: {keys: [{name: key1, secret: $(head -c 32 /dev/zero | tr '\0' k | base64)}]}
  - identity: {}
YAML
}

# write_all_the_time: config maps, until it is killed.
write_all_the_time() {
    local i=0
    while :; do
        config_map "busy-$((i++))" || return
    done
}

@test "backup under writes, kill and restore give the same objects and answer 410 to old revisions" {
    server_start
    fill
    before=$(contents)
    background write_all_the_time
    eventually background_wrote
    run -0 "$KC" store backup "file:$SERVER/root" -o "$BATS_TEST_TMPDIR/backup"
    says "objects at revision" "to $BATS_TEST_TMPDIR/backup"
    [ "$(stat -c %a "$BATS_TEST_TMPDIR/backup")" = 600 ]
    [ "$(stat -c %a "$SERVER/root/backup.sock")" = 600 ]
    background_end
    job=
    config_map after-the-backup
    version=$(api /api/v1/namespaces/default/configmaps | field .metadata.resourceVersion)
    server_kill

    run -0 "$KC" store restore "$BATS_TEST_TMPDIR/backup" "$BATS_TEST_TMPDIR/restored"
    says "older ones answer 410"
    run -0 "$KC" store check "$BATS_TEST_TMPDIR/restored"
    says "robots.example.com"
    new_server "$BATS_TEST_TMPDIR/restored"
    run ! kubectl get configmap after-the-backup
    kubectl delete configmap -n default --field-selector metadata.name!=greeting >/dev/null
    k get configmap greeting
    [ "$(contents)" = "$before" ] || diff <(echo "$before") <(contents)
    [ "$(api /api/v1/namespaces/default/configmaps | field .metadata.resourceVersion)" -gt $((version + 900000)) ]
    run -0 api "/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=$version"
    says '"code":410' 'Expired'
}

background_wrote() { [ "$(k get configmaps -o name | wc -l)" -gt 5 ]; }

@test "encrypted secrets stay encrypted in a backup and are readable with the key" {
    SERVER=$(mktemp -d "$BATS_TEST_TMPDIR/server.XXXXXX")
    encryption "$SERVER/root"
    server_start
    k create secret generic password --from-literal=password=hush-hush
    run -0 "$KC" store backup "$SERVER/root" -o "$BATS_TEST_TMPDIR/backup"
    says "encrypted values: 1;" "needs the encryption configuration"
    run ! grep -q -e hush-hush -e "$(printf hush-hush | base64)" "$BATS_TEST_TMPDIR/backup"
    server_stop

    "$KC" store restore "$BATS_TEST_TMPDIR/backup" "$BATS_TEST_TMPDIR/restored"
    run -1 "$KC" store check "$BATS_TEST_TMPDIR/restored"
    says "problem: /registry/secrets/default/password: the value is encrypted"
    encryption "$BATS_TEST_TMPDIR/restored"
    run -0 "$KC" store check "$BATS_TEST_TMPDIR/restored"
    new_server "$BATS_TEST_TMPDIR/restored"
    [ "$(k get secret password -o jsonpath='{.data.password}' | base64 -d)" = hush-hush ]
}

@test "check, export and import report that a running server uses the store" {
    server_start
    for command in check export; do
        run -1 "$KC" store $command "$SERVER/root"
        says "is in use by process $(cat "$SERVER/pid")" "stop the server first"
    done
    run -1 "$KC" store import "$SERVER/root" -f /dev/null
    says "is in use by process"
    run -1 "$KC" store restore /dev/null "$SERVER/root"
    says "too short"
}

@test "export is applied by kubectl to another server" {
    server_start
    fill
    server_stop
    run -0 --separate-stderr "$KC" store export "$SERVER/root"
    never_says hush-hush '"kind":"Secret"' resourceVersion
    [[ $stderr == *"left out 1 Secrets"* ]]
    "$KC" store export "$SERVER/root" -o "$BATS_TEST_TMPDIR/objects" --with-secrets
    [ "$(stat -c %a "$BATS_TEST_TMPDIR/objects")" = 600 ]
    grep -q '"kind":"Secret"' "$BATS_TEST_TMPDIR/objects"
    "$KC" store export "$SERVER/root" --resource=configmaps -n default -o "$BATS_TEST_TMPDIR/maps"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/maps")" -ge 1 ]
    "$KC" store export "$SERVER/root" --for-apply >"$BATS_TEST_TMPDIR/plain"
    run ! grep -e '"metadata":{[^{}]*"uid"' -e '"managedFields"' "$BATS_TEST_TMPDIR/plain"
    new_server
    grep '"kind":"CustomResourceDefinition"' "$BATS_TEST_TMPDIR/plain" | kubectl apply -f -
    kubectl wait --for=condition=Established --timeout=90s crd/robots.example.com
    for time in first second; do # The second time all objects exist.
        kubectl apply -f "$BATS_TEST_TMPDIR/plain"
    done
    [ "$(k get configmap greeting -o jsonpath='{.data.text}')" = hello ]
    k get deployment web
    kubectl get namespace other
    [ "$(k get robot r2 -o jsonpath='{.spec.arms}')" = 2 ]
}

@test "import into a new store keeps uid and status, and a server serves it" {
    server_start
    fill
    uid=$(k get configmap greeting -o jsonpath='{.metadata.uid}')
    before=$(contents)
    server_stop
    "$KC" store export "$SERVER/root" --with-secrets -o "$BATS_TEST_TMPDIR/objects"
    run -0 "$KC" store import "$BATS_TEST_TMPDIR/new" -f "$BATS_TEST_TMPDIR/objects"
    says "imported $(wc -l <"$BATS_TEST_TMPDIR/objects") objects"
    run -1 "$KC" store import "$BATS_TEST_TMPDIR/new" -f "$BATS_TEST_TMPDIR/objects"
    says "nothing was imported: line 1: " "--skip-existing"
    run -0 "$KC" store import "$BATS_TEST_TMPDIR/new" -f "$BATS_TEST_TMPDIR/objects" --skip-existing
    says "imported 0 objects; skipped"
    run -0 "$KC" store import "$BATS_TEST_TMPDIR/new" -f - --overwrite <"$BATS_TEST_TMPDIR/objects"
    run -0 "$KC" store check "$BATS_TEST_TMPDIR/new"
    new_server "$BATS_TEST_TMPDIR/new"
    [ "$(k get configmap greeting -o jsonpath='{.metadata.uid}')" = "$uid" ]
    [ "$(contents)" = "$before" ] || diff <(echo "$before") <(contents)
}

@test "migrate copies the store, and a second one is refused" {
    server_start
    fill
    before=$(contents)
    server_stop
    run -0 "$KC" store migrate --from="file:$SERVER/root" --to="$BATS_TEST_TMPDIR/moved"
    says "verified"
    run -1 "$KC" store migrate --from="file:$SERVER/root" --to="$BATS_TEST_TMPDIR/moved"
    says "target: the store has objects"
    new_server "$BATS_TEST_TMPDIR/moved"
    [ "$(contents)" = "$before" ] || diff <(echo "$before") <(contents)
}

# killed_at FILE SECONDS COMMAND…: starts it and kills it that long after the file exists.
killed_at() {
    "${@:3}" >/dev/null 2>&1 3>&- 4>&- &
    local process=$!
    eventually exists_or_ended "$1" $process
    sleep "$2"
    kill -KILL $process 2>/dev/null || true
    wait $process 2>/dev/null || true
}

exists_or_ended() { [ -e "$1" ] || ! kill -0 "$2" 2>/dev/null; }

# killed_after SECONDS COMMAND…: starts it and kills it after a while.
killed_after() {
    "${@:2}" <&0 >/dev/null 2>&1 3>&- 4>&- &
    local process=$!
    sleep "$1"
    kill -KILL $process 2>/dev/null || true
    wait $process 2>/dev/null || true
}

@test "killed import is continued, killed restore and migration leave no store that a server opens" {
    KC=$(realpath "${KC:-$E2E/../../build/release/kc}")
    many_lines 20000 >"$BATS_TEST_TMPDIR/objects"
    for delay in 0.3 0.5; do
        killed_after $delay "$KC" store import "$BATS_TEST_TMPDIR/a" -f - --skip-existing <"$BATS_TEST_TMPDIR/objects"
    done
    "$KC" store import "$BATS_TEST_TMPDIR/a" -f "$BATS_TEST_TMPDIR/objects" --skip-existing
    run -0 "$KC" store check "$BATS_TEST_TMPDIR/a"
    says 20000
    "$KC" store backup "$BATS_TEST_TMPDIR/a" -o "$BATS_TEST_TMPDIR/backup"
    for delay in 0.02 0.05 0.1 0.15 0.2 0.3; do
        killed_after $delay "$KC" store restore "$BATS_TEST_TMPDIR/backup" "$BATS_TEST_TMPDIR/b"
        not_whole "$BATS_TEST_TMPDIR/b" restore || break
    done
    is_whole "$BATS_TEST_TMPDIR/b" ||
        "$KC" store restore "$BATS_TEST_TMPDIR/backup" "$BATS_TEST_TMPDIR/b"
    run -0 "$KC" store check "$BATS_TEST_TMPDIR/b"
    says 20000
    for delay in 0.02 0.05 0.1 0.15; do
        killed_after $delay "$KC" store migrate --from="$BATS_TEST_TMPDIR/b" --to="$BATS_TEST_TMPDIR/c"
        not_whole "$BATS_TEST_TMPDIR/c" migrate || break
    done
    is_whole "$BATS_TEST_TMPDIR/c" ||
        "$KC" store migrate --from="$BATS_TEST_TMPDIR/b" --to="$BATS_TEST_TMPDIR/c"
    run -0 "$KC" store check "$BATS_TEST_TMPDIR/c"
    says 20000
    [ ! -e "$BATS_TEST_TMPDIR/unexpected" ] || { cat "$BATS_TEST_TMPDIR/unexpected"; return 1; }
}

is_whole() {
    run "$KC" store check "$1"
    [ "$status" -eq 0 ] && [[ $output == *" 20000 "* ]]
}

# not_whole DIR COMMAND: the command was killed before its end, and left no store, an empty one, or one that says so.
not_whole() {
    ! is_whole "$1" || return 1
    { [ "$status" -eq 0 ] && [[ $output =~ total\ +0\  ]]; } || says_incomplete "$2" || { echo "$output" >"$BATS_TEST_TMPDIR/unexpected"; return 1; }
}

says_incomplete() { [[ $output == *"there is no store"* || $output == *"'kc store $1' was interrupted; run it again"* ]]; }

@test "server refuses a store that a restore has not completed" {
    KC=$(realpath "${KC:-$E2E/../../build/release/kc}")
    many_lines 20000 >"$BATS_TEST_TMPDIR/objects"
    "$KC" store import "$BATS_TEST_TMPDIR/a" -f "$BATS_TEST_TMPDIR/objects"
    "$KC" store backup "$BATS_TEST_TMPDIR/a" -o "$BATS_TEST_TMPDIR/backup"
    for delay in 0.05 0.02 0 0.1 0.2 0.4 0.8; do
        rm -rf "$BATS_TEST_TMPDIR/b"
        killed_at "$BATS_TEST_TMPDIR/b/store/data.mdb" $delay "$KC" store restore "$BATS_TEST_TMPDIR/backup" "$BATS_TEST_TMPDIR/b"
        run "$KC" store check "$BATS_TEST_TMPDIR/b"
        [[ $output != *"was interrupted"* ]] || break
    done
    [[ $output == *"was interrupted"* ]] || skip "the restore was never interrupted in the middle"
    read -r secure insecure < <(free_ports)
    run -1 "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/b" --secure-port="$secure" --insecure-port="$insecure"
    says "the store is incomplete: 'kc store restore' was interrupted; run it again"
}

@test "damaged, truncated and newer backups are refused with a sentence" {
    KC=$(realpath "${KC:-$E2E/../../build/release/kc}")
    many_lines 10 | "$KC" store import "$BATS_TEST_TMPDIR/a" -f -
    cd "$BATS_TEST_TMPDIR"
    "$KC" store backup a -o backup
    head -c -1 backup >short
    run -1 "$KC" store restore short b
    says "short: the backup is truncated"
    python3 -c 'b = bytearray(open("backup", "rb").read()); b[200] ^= 1; open("damaged", "wb").write(b); b[11] = 7; open("newer", "wb").write(b)'
    run -1 "$KC" store restore damaged b
    says "damaged: "
    run -1 "$KC" store restore newer b
    says "newer: the backup was written by a newer program"
    run -1 "$KC" store restore "$KC" b
    says "is not a backup"
    [ ! -e b ]
    run -1 "$KC" store restore backup a
    says "the store has objects"
}

@test "wrong usage names what is accepted" {
    KC=$(realpath "${KC:-$E2E/../../build/release/kc}")
    run -2 "$KC" store
    says "expected a command"
    run -2 "$KC" store chek dir
    says "unknown command 'chek'" "did you mean 'check'?"
    run -2 "$KC" store check
    says "usage: kc store check LOCATION"
    run -2 "$KC" store check dir --overwrite
    says "--overwrite does not apply to 'check'; it is for: import"
    run -2 "$KC" store import dir
    says "-f FILE"
    run -2 "$KC" store import dir -f x --overwrite --skip-existing
    says "--overwrite excludes --skip-existing"
    run -2 "$KC" store migrate --from=a
    says "name both locations"
    run -1 "$KC" store check etcs:there
    says "must be file:DIR, or DIR for short"
    run -1 "$KC" store check "$BATS_TEST_TMPDIR/none"
    says "there is no store in"
    run -0 "$KC" store --help
    says "Examples:" "kc store backup" "--revision-bump"
}
