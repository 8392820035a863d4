#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Stores of every layout: fixtures/stores has one of each, as a program of that layout left it (docs/internals/storage.md). A server opens it and
# serves its objects; an older layout is migrated, with a copy of the store before.

setup() { load helpers; load stores; NS=south KC=$(realpath "${KC:-$E2E/../../build/release/kc}"); }
teardown() { server_stop; }

# fixture N: the store of layout N in $root.
fixture() {
    SERVER=$(mktemp -d "$BATS_TEST_TMPDIR/server.XXXXXX") root=$SERVER/root
    mkdir -p "$root/store"
    tar -xzf "$E2E/fixtures/stores/layout-$1.tar.gz" -C "$root/store"
}

# serves_fixture: a server has the objects of the fixture, with their revisions and history.
serves_fixture() {
    server_start
    [ "$(k get configmap greeting -o jsonpath='{.data.text} {.metadata.resourceVersion}')" = "hello again 16" ]
    [ "$(k get secret password -o jsonpath='{.data.password}' | base64 -d)" = hush-hush ]
    [ "$(k get robot r2 -o jsonpath='{.spec.arms}')" = 2 ]
    k get deployment,service,endpoints,ingress -o name
    kubectl get node/n1 clusterrole/reader
    run ! k get configmap gone
    k create configmap new
    server_stop
}

@test "store of layout 1 is copied, migrated and served" {
    fixture 1
    cp --sparse=always "$root/store/data.mdb" "$BATS_TEST_TMPDIR/old.mdb"
    serves_fixture
    grep -q 'migrated the store to a new layout.*from=1' "$SERVER/err"
    grep -q 'copied the store before its layout is migrated' "$SERVER/err"
    cmp "$BATS_TEST_TMPDIR/old.mdb" "$root/store/data.mdb.layout-1"
    [ "$(stat -c %a "$root/store/data.mdb.layout-1")" = 600 ]
    run -0 "$KC" store check "$root"
    cmp "$BATS_TEST_TMPDIR/old.mdb" "$root/store/data.mdb.layout-1"
}

@test "store of layout 2 is copied, migrated and served" {
    fixture 2
    cp --sparse=always "$root/store/data.mdb" "$BATS_TEST_TMPDIR/old.mdb"
    serves_fixture
    grep -q 'migrated the store to a new layout.*from=2' "$SERVER/err"
    cmp "$BATS_TEST_TMPDIR/old.mdb" "$root/store/data.mdb.layout-2"
}

@test "store of layout 3, with changes in its journal, is served without a copy" {
    fixture 3
    serves_fixture
    run ! grep -q 'migrated the store' "$SERVER/err"
    [ ! -e "$root/store/data.mdb.layout-3" ]
}

@test "copy leads back to the state before the migration" {
    fixture 1
    run -0 "$KC" store check "$root"
    "$KC" store import "$root" -f <(many_lines 3)
    mv "$root/store/data.mdb.layout-1" "$root/store/data.mdb"
    rm "$root/store/journal"
    run -0 "$KC" store check "$root"
    says "revision 17;"
}

@test "store of a newer layout is refused with a sentence and not modified" {
    fixture 3
    run -0 "$KC" store check "$root" # Folds the journal.
    python3 - "$root/store/data.mdb" <<'PY'
import sys
data = open(sys.argv[1], "rb").read()
assert b"KCST\0\0\0\3" in data
open(sys.argv[1], "wb").write(data.replace(b"KCST\0\0\0\3", b"KCST\0\0\0\7"))
PY
    sum=$(sha256sum <"$root/store/data.mdb")
    read -r secure insecure < <(free_ports)
    run -1 "$KC" apiserver --file-rootpath="$root" --secure-port="$secure" --insecure-port="$insecure"
    says "has layout 7, and this program supports layouts up to 3: it requires a newer program; it was not modified"
    run -1 "$KC" store check "$root"
    says "it requires a newer program"
    [ "$(sha256sum <"$root/store/data.mdb")" = "$sum" ]
    [ ! -e "$root/store/data.mdb.layout-7" ]
}

@test "rewrite names the copy of an older layout, which has old values" {
    fixture 1
    run -0 "$KC" store check "$root"
    cat >"$root/encryption.yaml" <<YAML
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
  - secretbox: {keys: [{name: key1, secret: $(head -c 32 /dev/zero | tr '\0' k | base64)}]}
  - identity: {}
YAML
    run -0 "$KC" store rewrite --file-rootpath="$root"
    says "1 of 13 objects rewritten" "$root/store/data.mdb.layout-1 still has old values"
}
