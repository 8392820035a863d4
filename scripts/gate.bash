# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The mechanism of scripts/test: runs commands with a limit, keeps what failed, runs it once more, and closes with a block that names it.
#
#   build/log/counts      `PASSED` of each stage, a number a line
#   build/log/failures    a line for each failed test: STAGE, UNIT, TEST, FILE:LINE, MESSAGE, LOG, separated by tabs
#   build/log/again       a line for each failed UNIT that can run again: STAGE, UNIT, SECONDS, COMMAND
#   build/log/passed-again  those that passed then: STAGE, UNIT
#   build/log/flaky       what was ever flaky in this tree, newest last
#   build/log/times       STAGE, seconds, seconds of processor time
#   build/log/running.*   a file for each stage that runs: when it began, STAGE
#   build/log/summary.txt the whole closing block
#
# A unit is the smallest thing that runs by itself: a test program, a suite of clients, a system test, an attack. Stages may run side by side:
# each only appends lines. Units run again at the end, one after another, when nothing else runs. A unit that passes then is flaky: its tests
# count as passed, its first messages are listed. More than $FLAKY_MAX of them fail the gate; with STRICT=1 one does.

readonly FLAKY_MAX=3
readonly AGAIN_MAX=10       # Units that run again; where more fail, the cause is no neighbour.
readonly CLOSING_LINES=60

# `erase` removes the line of progress.
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    green=$'\033[32m' red=$'\033[31m' yellow=$'\033[33m' plain=$'\033[0m' erase=$'\r\033[K'
else
    green='' red='' yellow='' plain='' erase=''
fi
tab=$'\t'
progress='' # The process that shows it.

gate_begin() {
    mkdir -p build/log
    rm -f build/log/{counts,failures,again,passed-again,times,summary.txt,running.*}
    touch build/log/{counts,failures,again,passed-again}
    gate_start=$SECONDS
    [ -n "$erase" ] || return 0
    show_progress &
    progress=$!
}

# show_progress: on a terminal, a line with the stages that run, the oldest first, and for how long. One process writes it for all.
show_progress() {
    local columns line
    while sleep 1; do
        columns=$(stty size <&5 2>/dev/null | cut -d ' ' -f 2)
        line=$(cat build/log/running.* 2>/dev/null | sort -n | awk -F '\t' -v now=$SECONDS '{printf "%s%s %d s", (NR > 1 ? ", " : ""), $2, now - $1}')
        [ "${columns:-0}" -gt 10 ] || columns=80
        printf '%s%s' "$erase" "${line:0:columns-1}"
    done 5>&1
}
end_progress() {
    [ -n "$progress" ] || return 0
    kill "$progress"
    wait "$progress" 2>/dev/null
    printf '%s' "$erase"
}

ok() { printf '%s%sok%s    %s\n' "$erase" "$green" "$plain" "$1"; }
passed() { echo "$1" >>build/log/counts; }

# processor_time LOG: seconds that the children of this shell used between its `times >LOG.begin` and its `times >LOG.end`.
processor_time() {
    sed 's/[ms]/ /g' "$1.begin" "$1.end" | awk 'NR % 2 == 0 {t = $1 * 60 + $2 + $3 * 60 + $4 - t} END {printf "%.0f", t}'
    rm "$1.begin" "$1.end"
}

# limited STAGE SECONDS LOG COMMAND…: runs it without input. After SECONDS its process group is ended, and the last line of LOG says so. Where no
# line shows progress, one says that it begins.
limited() {
    local stage=$1 seconds=$2 log=$3 start=$SECONDS child rc=0
    shift 3
    stage_limit=$seconds
    [ -n "$erase" ] || printf 'begin %s\n' "$stage"
    times >"$log.begin"
    timeout --kill-after=10 "$seconds" "$@" >"$log" 2>&1 </dev/null &
    child=$!
    printf '%d\t%s\n' "$start" "$stage" >build/log/running.$child
    wait $child || rc=$?
    rm -f build/log/running.$child
    times >"$log.end"
    printf '%s\t%d\t%d\n' "$stage" $((SECONDS - start)) "$(processor_time "$log")" >>build/log/times
    if [ $rc -eq 124 ] || [ $rc -eq 137 ]; then printf '\nstage: no end within %d s\n' "$seconds" >>"$log"; fi
    return $rc
}

# failures STAGE KIND LOG [AGAIN]: keeps what scripts/failures finds in LOG, which `limited` wrote last. The function AGAIN prints the command
# that runs UNIT again, with the limit that the stage had. Where the unit is not known, nothing can run again, unless KIND runs as a whole.
failures() {
    local stage=$1 kind=$2 log=$3 again=${4:-} rows unit n_failures
    rows=$(scripts/failures "$kind" "$log")
    [ -n "$rows" ] || rows="-$tab-$tab-$tab$(grep -v '^$' "$log" | tail -n 1 | tr '\t' ' ')"
    n_failures=$(wc -l <<<"$rows")
    while IFS= read -r unit; do printf '%s\t%s\t%s\n' "$stage" "$unit" "$log"; done <<<"$rows" >>build/log/failures
    printf '%s%sFAIL%s  %s: %d\n' "$erase" "$red" "$plain" "$stage" "$n_failures"
    awk -F '\t' '{printf "      %s: %s (%s): %s\n", $1, $2, $3, $4}' <<<"$rows" | sed -n 1,20p
    [ -n "$again" ] || return 0
    cut -f 1 <<<"$rows" | sort -u | while IFS= read -r unit; do
        [ "$unit" != - ] || [[ $kind =~ ^(program|conversations)$ ]] || continue
        printf '%s\t%s\t%d\t%s\n' "$stage" "$unit" "$stage_limit" "$($again "$unit")"
    done >>build/log/again
}

# run_again: the units that failed, each alone.
run_again() {
    local stage unit seconds command n=0
    while IFS=$tab read -r stage unit seconds command; do
        n=$((n + 1))
        [ $n -le $AGAIN_MAX ] || { echo "${erase}not run again: more than $AGAIN_MAX programs and suites failed"; return; }
        if limited "again: $unit" "$seconds" "build/log/again-$n.log" bash -c "$command"; then
            printf '%s\t%s\n' "$stage" "$unit" >>build/log/passed-again
        fi
        printf '%sagain: %s: %s: %s\n' "$erase" "$stage" "$unit" \
            "$(if grep -qxF "$stage$tab$unit" build/log/passed-again; then echo passes alone; else echo "fails alone, too: build/log/again-$n.log"; fi)"
    done <build/log/again
}

# entries flaky|failed: the lines of build/log/failures of units that passed the second time, or did not.
entries() {
    awk -F '\t' -v want="$1" 'FILENAME ~ /passed-again$/ {again[$1 FS $2] = 1; next}
        ((($1 FS $2) in again) ? "flaky" : "failed") == want' build/log/passed-again build/log/failures
}

describe() {
    awk -F '\t' -v mark="$1" '{
        name = $1
        if ($2 != "-") name = name ": " $2
        if ($3 != "-") name = name ": " $3
        if ($4 != "-") name = name " (" $4 ")"
        printf "%s  %s\n      %s\n      log: %s\n", mark, name, $5, $6
    }'
}

# keep_logs: in CI the clone is removed: what is needed to understand a failure is kept beside it, for the last five runs.
keep_logs() {
    local place=${TMPDIR:-/var/tmp}/kubecontroller-test run old
    # Another user's runs may have made the folder.
    mkdir -p "$place" 2>/dev/null && [ -w "$place" ] || place+=-$(id -u)
    run=$place/$(date +%Y%m%dT%H%M%S)-$$
    mkdir -p "$run" 2>/dev/null || return 0
    cut -f 6 build/log/failures | sort -u | while IFS= read -r log; do cp "$log" "$run/"; done
    find build/log -name 'again-*.log' -exec cp {} "$run/" \;
    cp build/log/summary.txt "$run/"
    # shellcheck disable=SC2012  # names made here
    ls -1d "$place"/*/ | sort | head -n -5 | while IFS= read -r old; do rm -rf "$old"; done
}

# gate_end: the closing block and the last line; the exit code of the gate.
gate_end() {
    local n_passed n_failed n_flaky n_flaky_tests lines allowed=$FLAKY_MAX verdict=0
    [ -z "${STRICT:-}" ] || allowed=0
    run_again
    end_progress
    n_failed=$(entries failed | wc -l)
    n_flaky=$(sort -u build/log/passed-again | wc -l)
    n_flaky_tests=$(entries flaky | wc -l)
    n_passed=$(awk -v more="$n_flaky_tests" '{n += $1} END {print n + more}' build/log/counts)
    { entries failed | describe "FAIL "; entries flaky | describe "FLAKY"; } >build/log/summary.txt
    entries flaky | sed "s/^/$(date +%FT%T)$tab/" >>build/log/flaky
    lines=$(wc -l <build/log/summary.txt)
    printf 'took %d minutes and %d seconds\n' $(((SECONDS - gate_start) / 60)) $(((SECONDS - gate_start) % 60))
    head -n $((CLOSING_LINES - 3)) build/log/summary.txt
    [ "$lines" -le $((CLOSING_LINES - 3)) ] || printf '… %d more lines: build/log/summary.txt\n' $((lines - CLOSING_LINES + 3))
    [ "$n_failed" -eq 0 ] || verdict=1
    if [ "$n_flaky" -gt "$allowed" ]; then
        verdict=1
        printf '%s%d flaky; at most %d may be%s\n' "$red" "$n_flaky" "$allowed" "$plain" | tee -a build/log/summary.txt
    elif [ "$n_flaky" -gt 0 ]; then
        printf '%s%d flaky%s\n' "$yellow" "$n_flaky" "$plain" | tee -a build/log/summary.txt
    fi
    printf '%d passed, %d failed\n' "$n_passed" "$n_failed" | tee -a build/log/summary.txt
    [ "${CI:-}" != true ] || [ ! -s build/log/failures ] || keep_logs
    return $verdict
}
