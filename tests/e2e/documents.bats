#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What documents show, typed as they show it: the README's first walk, and that of the document about robots. Walks of the other documents
# stand with what they are about: hub, initialization, redismigration, network, sidecar, application, workqueue.

setup() {
    load helpers
    cd "$E2E/../.." || return
    up_prepare
    PATH=$(dirname "$KC"):$PATH
}

teardown() { [ -z "$pid" ] || down INT 0; }

# Without what is another every time, ages and the random parts of names, and without the width of columns.
plain() { sed -E 's/[0-9]+s$/AGE/; s/-[a-z0-9]{9,10}-[a-z0-9]{5} /-SOME /; s/ +/ /g; s/ $//'; }

# commands FILE: those of its blocks, each in a file N of $BATS_TEST_TMPDIR/walk, and what it prints in N.out.
commands() {
    mkdir "$BATS_TEST_TMPDIR/walk"
    awk -v to="$BATS_TEST_TMPDIR/walk/" '
        /^```/ {shown = /^```console/; next}
        shown && sub(/^\$ /, "") {n++; print > (to sprintf("%02d", n)); next}
        shown {print > (to sprintf("%02d", n) ".out")}' "$1"
}

# shows N: the command prints what the document says that it prints.
shows() { [ "$(bash "$1" 2>&1 | plain)" = "$(plain <"$1.out")" ]; }

@test "the README's first walk has the documented output" {
    up "${UNSAFE[@]}"
    commands README.md
    for command in "$BATS_TEST_TMPDIR"/walk/[0-9][0-9]; do
        cat "$command"
        case $(cat "$command") in
            'make run') continue ;;
            'kubectl apply'*) shows "$command" ;;
            *) eventually shows "$command" ;;
        esac
    done
    [ "$(basename "$command")" -ge 7 ]
}

@test "the README has the output of make run" {
    [ "$(id -u)" -eq 0 ] || skip "pods are simulated where kc is not run by root"
    up
    commands README.md
    # But for the addresses and folders of this test.
    plain_words() { sed -E 's/[0-9.]+ s$/TIME/; s,(http|https|KUBECONFIG|data)([:=]| +).*,\1,; s/ +/ /g' "$1" | head -n 11; }
    diff <(plain_words "$BATS_TEST_TMPDIR/out") <(plain_words "$BATS_TEST_TMPDIR/walk/01.out")
}

@test "the robots document: objects first, then the controller" {
    up --reconcilers='*,-robot' --pods=simulate
    run -0 kubectl apply -f manifests/robot/robot.llleon.io_robots.yaml
    run -0 kubectl apply -f manifests/robot/cr.yaml
    run -0 kubectl get crd robots.robot.llleon.io
    says NAME "CREATED AT" robots.robot.llleon.io
    run -0 kubectl get robot
    says robot-one
    run -0 kubectl get deployment
    never_says robot-one
    hub_start run robot
    is_there() { kubectl get deployment robot-one | grep -qE '^robot-one +2/2 +2 +2 '; }
    eventually is_there
    run -0 kubectl get pod
    [ "$(grep -cE '^robot-one-[a-z0-9]+-[a-z0-9]{5} +1/1 +Running +0 ' <<<"$output")" -eq 2 ]
    hub_stop
}
