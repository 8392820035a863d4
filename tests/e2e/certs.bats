#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# kc certs: listing, renewing, and sets for several machines.

setup() { load helpers; }

# certificate FILE: its fingerprint and its names.
certificate() { openssl x509 -in "$1" -noout -fingerprint -ext subjectAltName; }

@test "create makes sets that share their authorities" {
    dir=$BATS_TEST_TMPDIR/sets
    run -0 "$KC" certs create --out="$dir" --server=https://plane.example:6443 a=10.0.0.1 b=10.0.0.2,b.example
    says "$dir/a" "$dir/b"
    cmp "$dir/a/ca.crt" "$dir/b/ca.crt"
    cmp "$dir/a/sa.key" "$dir/b/sa.key"
    run -0 certificate "$dir/b/apiserver.crt"
    says 'IP Address:10.0.0.2' 'DNS:b.example' 'DNS:plane.example'
    [ "$(stat -c %a "$dir/b/ca.key" "$dir/admin.kubeconfig" "$dir/b" | sort -u | tr '\n' ' ')" = '600 700 ' ]
    openssl verify -CAfile "$dir/a/ca.crt" "$dir/b/apiserver.crt"
    run -1 "$KC" certs create --out="$dir" a=10.0.0.1
    says 'exists already'
    run -1 "$KC" certs create --out="$dir-2" a
    says "invalid machine 'a': must be NAME=ADDRESS[,ADDRESS…]"
}

@test "list shows subjects and expiry" {
    "$KC" certs create --out="$BATS_TEST_TMPDIR/sets" a=10.0.0.1
    run -0 "$KC" certs list --cert-dir="$BATS_TEST_TMPDIR/sets/a"
    says 'FILE' 'admin.crt' 'admin/system:masters' 'kubecontroller-shared-ca' '364d'
    run -1 "$KC" certs list --cert-dir="$BATS_TEST_TMPDIR/nowhere"
    says 'cannot read'
}

@test "renew-leaves keeps authorities and names" {
    "$KC" certs create --out="$BATS_TEST_TMPDIR/sets" a=10.0.0.1
    dir=$BATS_TEST_TMPDIR/sets/a
    before=$(certificate "$dir/apiserver.crt") ca=$(cat "$dir/ca.crt")
    run -0 "$KC" certs renew-leaves --cert-dir="$dir"
    [ "$(cat "$dir/ca.crt")" = "$ca" ]
    [ "$(certificate "$dir/apiserver.crt")" != "$before" ]
    run -0 certificate "$dir/apiserver.crt"
    says 'IP Address:10.0.0.1'
}

@test "renew-ca replaces authorities in two steps" {
    "$KC" certs create --out="$BATS_TEST_TMPDIR/sets" a=10.0.0.1
    dir=$BATS_TEST_TMPDIR/sets/a
    run -1 "$KC" certs renew-ca --cert-dir="$dir"
    says 'use --shared'
    cp "$dir/ca.crt" "$BATS_TEST_TMPDIR/old.crt"
    "$KC" certs renew-ca --shared --cert-dir="$dir"
    [ "$(grep -c BEGIN "$dir/ca.crt")" -eq 2 ]
    openssl verify -CAfile "$BATS_TEST_TMPDIR/old.crt" "$dir/apiserver.crt"
    cp "$dir/ca.crt" "$BATS_TEST_TMPDIR/both.crt"
    "$KC" certs renew-ca --shared --cert-dir="$dir"
    run -2 openssl verify -CAfile "$BATS_TEST_TMPDIR/old.crt" "$dir/apiserver.crt"
    openssl verify -CAfile "$BATS_TEST_TMPDIR/both.crt" "$dir/apiserver.crt"
    [ ! -e "$dir/ca-next.crt" ]
}

@test "usage errors name what is accepted" {
    run -2 "$KC" certs
    says 'list' 'renew-leaves'
    run -2 "$KC" certs lst
    says "did you mean 'list'?"
    run -2 "$KC" certs list more
    says "unexpected argument 'more'"
}

@test "running server presents renewed certificates" {
    server_start
    dir=$SERVER/root/certs
    served() { openssl s_client -connect "${HTTPS#https://}" </dev/null 2>/dev/null | openssl x509 -noout -fingerprint; }
    on_disk() { openssl x509 -in "$dir/apiserver.crt" -noout -fingerprint; }
    before=$(served)
    [ "$before" = "$(on_disk)" ]
    "$KC" certs renew-leaves --cert-dir="$dir"
    [ "$before" != "$(on_disk)" ]
    presents_new() { [ "$(served)" = "$(on_disk)" ]; }
    eventually presents_new
    has_new_client() { kubectl config view --raw -o 'jsonpath={.users[0].user.client-certificate-data}' | base64 -d | cmp -s - "$dir/admin.crt"; }
    eventually has_new_client
    kubectl get namespaces
    server_stop
}
