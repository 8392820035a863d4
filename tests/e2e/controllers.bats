#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# kc controllers as a program: what it says, and several copies of it, of which one works.

setup_file() { load helpers; server_start; }
teardown_file() { load helpers; server_stop; }
setup() { load helpers; namespace; copies=() job=; }
teardown() { background_end; end_now "${copies[@]}"; }

# copy NAME FLAG…: one more.
copy() {
    "$KC" controllers --kubeconfig="$KUBECONFIG" "${@:2}" >"$BATS_TEST_TMPDIR/$1.log" 2>&1 3>&- 4>&- &
    copies+=($!)
}
holder() { kubectl get lease -n kube-system kc-controllers -o jsonpath='{.spec.holderIdentity}' 2>/dev/null || true; }
ready_is() { [ "$(k get deployment web -o jsonpath='{.status.readyReplicas}')" = "$1" ]; }

@test "help lists the controllers" {
    run -0 "$KC" controllers --list
    says garbagecollector namespace serviceaccount serviceaccount-token token-cleaner bootstrap-signer root-ca deployment replicaset scheduler nodelifecycle podgc storage-protection resourcequota pods
}

@test "unknown controller is refused with the accepted names and the nearest" {
    run -2 "$KC" controllers --kubeconfig="$KUBECONFIG" --controllers='*,-sheduler'
    says "--controllers: invalid value 'sheduler': must be one of " "did you mean 'scheduler'?"
}

@test "unreachable server is waited for, and an invalid flag is refused" {
    run -2 "$KC" controllers --pods=procces
    says "invalid value" "must be one of none, simulate, process, auto"
    run -1 "$KC" controllers --kubeconfig="$KUBECONFIG" --pods=process "${UNSAFE[@]}"
    says 'requires a directory'
}

# Who leads is not who led before; an old lease is over after 15 seconds.
lead_changed() { [ -n "$(holder)" ] && [ "$(holder)" != "$before" ]; }
await_change() { LIMIT=200 eventually lead_changed; }

@test "second copy takes over when the leader is killed" {
    before=$(holder)
    copy first '--controllers=*,-pods'
    await_change
    before=$(holder)
    copy node --controllers=pods --pods=simulate --leader-elect=false
    copy second '--controllers=*,-pods'
    k create deployment web --image=none --replicas=2
    eventually ready_is 2
    [ "$(holder)" = "$before" ]
    kill -KILL "${copies[0]}"
    k scale deployment web --replicas=4
    await_change
    eventually ready_is 4
}

@test "stopped copy releases its lease at once" {
    before=$(holder)
    copy third
    await_change
    before=$(holder)
    copy fourth
    eventually [ -s "$BATS_TEST_TMPDIR/fourth.log" ]
    background kubectl -n kube-system get lease kc-controllers -w -o jsonpath='holder:{.spec.holderIdentity}{"\n"}'
    eventually background_says "^holder:$before\$"
    kill -TERM "${copies[0]}"
    start=$SECONDS
    # A lease without a holder is free; the lease of a leader that is killed keeps its holder.
    eventually background_says '^holder:$'
    await_change
    [ $((SECONDS - start)) -lt "$(bound 10 100)" ]
}
