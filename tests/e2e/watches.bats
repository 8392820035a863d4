#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Watches, as kubectl and curl hold them open.

setup_file() { load helpers; server_start; }
teardown_file() { load helpers; server_stop; }
setup() { load helpers; namespace; job=; }
teardown() { background_end; }

@test "watch delivers added, modified and deleted events" {
    config_map before
    background k get configmaps -w --output-watch-events --no-headers
    eventually background_says '^ADDED +before '
    config_map greeting
    eventually background_says '^ADDED +greeting '
    k label configmap greeting tier=front
    eventually background_says '^MODIFIED +greeting '
    k delete configmap greeting
    eventually background_says '^DELETED +greeting '
    [ "$(grep -c greeting "$BATS_TEST_TMPDIR/background")" -eq 3 ]
}

@test "watch of one object delivers no other" {
    config_map greeting
    background k get configmap greeting -w -o name
    eventually background_says greeting
    config_map other
    k patch configmap greeting --type merge -p '{"data":{"key":"2"}}'
    eventually eval '[ "$(grep -c greeting "$BATS_TEST_TMPDIR/background")" -eq 2 ]'
    run ! background_says other
}

@test "watch by label delivers objects that enter and leave the selection" {
    config_map greeting
    background k get configmaps -l tier=front -w --output-watch-events --no-headers
    version=$(api "/api/v1/namespaces/$NS/configmaps" | field .metadata.resourceVersion)
    k label configmap greeting tier=front
    eventually background_says '^ADDED +greeting '
    k label --overwrite configmap greeting tier=back
    eventually background_says '^DELETED +greeting '
    background_end
    # The same from the past, from the version before.
    config_map last '"tier":"front"'
    background_watch "/api/v1/namespaces/$NS/configmaps?watch=1&labelSelector=tier%3Dfront&resourceVersion=$version"
    eventually watch_is "ADDED greeting DELETED greeting ADDED last "
}

@test "watch from a resourceVersion delivers all later events in order" {
    version=$(api "/api/v1/namespaces/$NS/configmaps" | field .metadata.resourceVersion)
    for name in one two three; do config_map $name; done
    background_watch "/api/v1/namespaces/$NS/configmaps?watch=1&resourceVersion=$version"
    eventually watch_is "ADDED one ADDED two ADDED three "
    config_map four
    eventually watch_is "ADDED one ADDED two ADDED three ADDED four "
}

@test "watch ends at its timeout" {
    run -0 api "/api/v1/namespaces/$NS/configmaps?watch=1&timeoutSeconds=1" --max-time 90
}

@test "streamed list ends with a bookmark" {
    config_map one
    config_map two
    background_watch "/api/v1/namespaces/$NS/configmaps?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    eventually background_says '"type":"BOOKMARK".*\}$'
    mapfile -t lines <"$BATS_TEST_TMPDIR/background"
    [ "$(field .type <<<"${lines[0]}")" = ADDED ]
    [ "$(field .type <<<"${lines[1]}")" = ADDED ]
    [ "$(field .type <<<"${lines[2]}")" = BOOKMARK ]
    grep -q '"k8s.io/initial-events-end":"true"' <<<"${lines[2]}"
}

@test "watch of all namespaces delivers events of each" {
    background kubectl get configmaps -A -w --output-watch-events --no-headers
    config_map greeting
    eventually background_says "^ADDED +$NS +greeting "
    kubectl -n default create configmap "$NS"
    eventually background_says "^ADDED +default +$NS "
}
