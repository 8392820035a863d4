# SPDX-License-Identifier: Apache-2.0
#
# scripts/test on a small tree (fixtures/gate) in which each kind of failure occurs: its closing block must name all of them.

setup_file() {
    export TREE=$BATS_FILE_TMPDIR/tree SCRIPTS=$BATS_TEST_DIRNAME/../../scripts
    make_tree "$TREE"
    run_gate "$TREE"
}

# make_tree DIRECTORY: the fixture with the real scripts under test; all other checks pass.
make_tree() {
    local name
    mkdir -p "$1/scripts" "$1/tests/system" "$1/tests/attack"
    cp -r "$BATS_TEST_DIRNAME"/fixtures/gate/. "$1"
    cp "$SCRIPTS"/{test,gate.bash,failures,build,e2e} "$1/scripts"
    cp "$SCRIPTS/../tests/system/harness.py" "$1/tests/system"
    for name in format check-clang check-layers; do pass "$1/scripts/$name" true; done
    pass "$1/scripts/conformance" "echo '3 steps in 1 conversation'"
    pass "$1/tests/attack/run" "echo '1 passed, 0 failed'"
    for name in $(sed -n "s/^readonly SYSTEMS='\(.*\)'$/\1/p" "$1/scripts/test"); do pass "$1/tests/system/$name.py" true; done
    for name in $(sed -n "s/^readonly \(ON_ETCD\|WITHOUT_SERVER\)='\(.*\)'$/\2/p" "$1/scripts/test"); do printf '@test "%s" {\n    true\n}\n' "$name" >"$1/tests/e2e/$name.bats"; done
}

pass() { printf '#!/bin/sh\n%s\n' "$2" >"$1" && chmod +x "$1"; }

# run_gate DIRECTORY [NAME=VALUE…]: the output in DIRECTORY/out, the exit code in DIRECTORY/rc.
run_gate() {
    local rc=0
    mkdir -p "$1/kept"
    env -u STRICT TMPDIR="$1/kept" CI=true "${@:2}" "$1/scripts/test" >"$1/out" 2>&1 3>&- 4>&- || rc=$?
    echo $rc >"$1/rc"
}

# entry TEXT…: the closing block, which follows the line `took`, has an entry whose lines contain these, in this order.
entry() {
    local file=${FILE:-$TREE/out} block
    block=$(sed '1,/^took /d' "$file")
    grep -A 2 -F -- "$1" <<<"$block" | tr '\n' ' ' | grep -F -- "$2" | grep -F -- "${3:-}" || { echo "$block"; return 1; }
}

@test "failed assertion is named with its place and message" {
    entry "FAIL   release: gate.asserts: two_is_three (tests/asserts.c:12)" "0x2 != 0x3" "log: build/log/release-suite.log"
}

@test "crash under AddressSanitizer is named with the frame of ours" {
    entry "FAIL   debug: gate.memory: reads_behind_its_memory (tests/memory.c:16)" "AddressSanitizer: heap-buffer-overflow"
}

@test "report of ThreadSanitizer is named with the frame of ours" {
    entry "FAIL   tsan: gate.race: two_threads_write (tests/race.c:16)" "ThreadSanitizer: data race in add_many"
}

@test "hanging program is named with the test that was running" {
    entry "FAIL   release: gate.hangs: waits_for_ever" "last test waits_for_ever"
}

@test "program that passes the second time is flaky, with its first message" {
    entry "FLAKY  release: gate.flake: passes_the_second_time (tests/flake.c:" "the first time"
    grep -qx '1 flaky' "$TREE/out"
    grep -q 'gate.flake' "$TREE/build/log/flaky"
}

@test "failed test with clients is named with its place" {
    entry "FAIL   debug: real clients: broken: wrong is right (tests/e2e/broken.bats:13)" "\`false' failed" "log: build/log/debug:-real-clients.log"
}

@test "last line counts, the block has 60 lines at most, and the gate fails" {
    [ "$(cat "$TREE/rc")" -eq 1 ]
    [[ "$(tail -n 1 "$TREE/out")" =~ ^[0-9]+\ passed,\ 5\ failed$ ]]
    [ "$(sed '1,/^took /d' "$TREE/out" | wc -l)" -le 60 ]
    grep -qx 'begin release suite' "$TREE/out"
    ! grep -q $'\033' "$TREE/out"
}

@test "logs of failed stages are kept outside the tree" {
    cd "$TREE"/kept/kubecontroller-test/*/
    [ -s release-suite.log ] && [ -s debug-suite.log ] && [ -s tsan-suite.log ]
    tail -n 1 summary.txt | grep -q ' passed, 5 failed'
}

@test "stage or test that does not end is ended, and the test that was running is named" {
    local FILE=$BATS_TEST_TMPDIR/tree/out seconds=$((10000000 + $$))
    make_tree "$BATS_TEST_TMPDIR/tree"
    rm "$BATS_TEST_TMPDIR"/tree/tests/{e2e/broken.bats,asserts.c,hangs.c,memory.c,race.c}
    sed -i 's/list(APPEND programs .*/set(programs passes)/; /TARGET hangs/,$d' "$BATS_TEST_TMPDIR/tree/CMakeLists.txt"
    sed -i 's/limited "system $1" 300/limited "system $1" "$([ "$1" = quota ] \&\& echo 4 || echo 300)"/; s/\("release: real clients on etcd"\) 1500/\1 15/' \
        "$BATS_TEST_TMPDIR/tree/scripts/test"
    # On etcd the stage ends first.
    sed -i 's/^readonly TEST_LIMIT=.*/readonly TEST_LIMIT=${KC_BACKEND:+9}5/' "$BATS_TEST_TMPDIR/tree/scripts/e2e"
    cp "$BATS_TEST_DIRNAME"/fixtures/hanging/quota.py "$BATS_TEST_TMPDIR/tree/tests/system"
    cp "$BATS_TEST_DIRNAME"/fixtures/hanging/watches.bats "$BATS_TEST_TMPDIR/tree/tests/e2e"
    pass "$BATS_TEST_TMPDIR/tree/tests/attack/run" "echo nothing to recognize; exit 1"
    pass "$BATS_TEST_TMPDIR/tree/scripts/conformance" "[ \$KC_BACKEND = etcd ] || [ -e build/played ] || {
        touch build/played
        echo 'http-0: differs, and is not listed in tests/conformance/known-differences: noop: 3 GET /api'
        exit 1
    }
    echo '3 steps in 1 conversation'"
    run_gate "$BATS_TEST_TMPDIR/tree" HANGING_SECONDS=$seconds
    entry "FAIL   attacks" "nothing to recognize" "log: build/log/attacks.log"
    [ "$(grep -c '^again: attacks: ' "$FILE")" -eq 0 ] # What would run?
    entry "FAIL   system quota: waits_for_ever" "no end within 4 s" "log: build/log/system-quota.log"
    entry "FAIL   debug: real clients: watches: waits for ever (tests/e2e/watches.bats:11)" "hangs: " "log: build/log/debug:-real-clients.log"
    entry "FAIL   release: real clients on etcd: watches: waits for ever" "hangs" "log: build/log/release:-real-clients-on-etcd.log"
    grep -qx 'watches *2 passed, 1 failed .*' "$BATS_TEST_TMPDIR/tree/build/log/debug:-real-clients.log"
    entry "FLAKY  recorded conversations, file: noop: 3 GET /api" "differs, and is not listed"
    [ -z "$(pgrep -f "sleep $seconds")" ]
    [[ "$(tail -n 1 "$FILE")" =~ ^[0-9]+\ passed,\ 4\ failed$ ]]
}

@test "failed build is named with the compiler's first error; a flaky test passes the gate, but not with STRICT=1" {
    local FILE=$BATS_TEST_TMPDIR/tree/out
    make_tree "$BATS_TEST_TMPDIR/tree"
    rm "$BATS_TEST_TMPDIR"/tree/tests/e2e/broken.bats
    sed -i 's/list(APPEND programs .*/set(programs passes)/; s/set(programs passes)$/set(programs passes flake)/; /TARGET hangs/,$d' \
        "$BATS_TEST_TMPDIR/tree/CMakeLists.txt"
    run_gate "$BATS_TEST_TMPDIR/tree"
    cat "$FILE"
    [ "$(cat "$BATS_TEST_TMPDIR/tree/rc")" -eq 0 ]
    rm "$BATS_TEST_TMPDIR"/tree/build/*/flake.ran
    run_gate "$BATS_TEST_TMPDIR/tree" STRICT=1
    [ "$(cat "$BATS_TEST_TMPDIR/tree/rc")" -eq 1 ]
    echo 'int broken(void) { return nothing; }' >>"$BATS_TEST_TMPDIR/tree/tests/passes.c"
    run_gate "$BATS_TEST_TMPDIR/tree"
    entry "FAIL   build with gcc, release (tests/passes.c:" "error: " "log: build/log/build-with-gcc--release.log"
}

@test "last line of CI is that of the gate, also when it fails" {
    local tree=$BATS_TEST_TMPDIR/tree rc=0
    mkdir -p "$tree/.ci" "$tree/scripts"
    cp "$SCRIPTS/../Makefile" "$tree"
    cp "$SCRIPTS/../.ci/run" "$tree/.ci"
    pass "$tree/scripts/bootstrap" true
    pass "$tree/scripts/test" "echo '2 passed, 1 failed'; exit 1"
    # CI runs it, no other make.
    env -u MAKELEVEL -u MAKEFLAGS -u MFLAGS "$tree/.ci/run" >"$tree/out" 2>&1 </dev/null || rc=$?
    [ $rc -ne 0 ]
    [ "$(tail -n 1 "$tree/out")" = '2 passed, 1 failed' ]
}
