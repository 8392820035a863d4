#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Lists: pages, label selectors, field selectors, all namespaces.

setup_file() { load helpers; server_start; }
teardown_file() { load helpers; server_stop; }
setup() { load helpers; namespace; }

five() {
    config_map a '"tier":"front","app":"web"'
    config_map b '"tier":"back","app":"web"'
    config_map c '"tier":"front"'
    config_map d
    config_map e '"app":"batch"'
}

names() { tr '\n' ' ' <<<"$output" | sed 's/configmap\///g; s/ *$//'; }

# selects OPTION SELECTOR NAMES
selects() {
    run -0 k get configmaps "$1" "$2" -o name
    [ "$(names)" = "$3" ] || { echo "$2 gave: $(names)"; return 1; }
}

@test "list is sorted by name" {
    for name in m z a k; do config_map $name; done
    run -0 k get configmaps -o name
    [ "$(names)" = "a k m z" ]
}

@test "paged list equals the unpaged list" {
    five
    whole=$(k get configmaps -o name)
    run -0 k get configmaps --chunk-size=2 -o name
    [ "$output" = "$whole" ]
    run -0 k get configmaps --chunk-size=2 -v=6 -o name
    [ "$(grep -c 'limit=2' <<<"$output")" -ge 3 ]
}

@test "pages show one snapshot during writes" {
    five
    first=$(api "/api/v1/namespaces/$NS/configmaps?limit=2")
    [ "$(field .metadata.remainingItemCount <<<"$first")" = 3 ]
    config_map bb
    k delete configmap d
    rest=$(api "/api/v1/namespaces/$NS/configmaps?limit=9&continue=$(field .metadata.continue <<<"$first")")
    [ "$(field .metadata.resourceVersion <<<"$rest")" = "$(field .metadata.resourceVersion <<<"$first")" ]
    [ "$(python3 -c 'import json, sys; print(*[i["metadata"]["name"] for i in json.load(sys.stdin)["items"]])' <<<"$rest")" = "c d e" ]
}

@test "labels select by equality, by set and by presence" {
    five
    selects -l tier=front "a c"
    selects -l tier=front,app=web "a"
    selects -l 'tier!=front' "b d e"
    selects -l 'app in (web,batch)' "a b e"
    selects -l 'app notin (web)' "c d e"
    selects -l app "a b e"
    selects -l '!app' "c d"
    selects -l tier=none ""
}

@test "invalid label selector is refused" {
    run -1 k get configmaps -l 'tier in front'
    says "unable to parse"
    run -0 api "/api/v1/namespaces/$NS/configmaps?labelSelector=tier+in+front"
    [ "$(field .code <<<"$output")" = 400 ]
    [ "$(field .reason <<<"$output")" = BadRequest ]
}

@test "fields select by name and namespace" {
    five
    selects --field-selector metadata.name=c "c"
    selects --field-selector 'metadata.name!=c' "a b d e"
    run -0 kubectl get configmaps -A --field-selector "metadata.namespace=$NS,metadata.name!=a" -o name
    [ "$(names)" = "b c d e" ]
}

@test "secrets select by type, and namespaces by phase" {
    k create secret generic plain
    k create secret generic other --type=example.com/other
    run -0 k get secrets --field-selector type=example.com/other -o name
    [ "$output" = secret/other ]
    run -0 kubectl get namespaces --field-selector status.phase=Active -o name
    says namespace/default
    run -0 kubectl get namespaces --field-selector status.phase=Terminating -o name
    never_says namespace/default
}

@test "unsupported field selector is named in the error" {
    run -1 k get configmaps --field-selector data.key=value
    says 'Error from server (BadRequest)' '"data.key" is not a known field selector: only "metadata.name", "metadata.namespace"'
}

@test "list of all namespaces shows each namespace" {
    config_map here
    kubectl create configmap "$NS" -n default
    run -0 kubectl get configmaps -A
    says NAMESPACE
    grep -qE "^$NS +here " <<<"$output"
    grep -qE "^default +$NS " <<<"$output"
}

@test "kubectl sorts and shows labels as columns" {
    five
    run -0 k get configmaps -L tier --sort-by=.metadata.name --no-headers
    grep -qE '^b .* back$' <<<"${lines[1]}"
}

@test "old resourceVersion is listed exactly" {
    config_map a
    version=$(api "/api/v1/namespaces/$NS/configmaps" | field .metadata.resourceVersion)
    config_map b
    run -0 api "/api/v1/namespaces/$NS/configmaps?resourceVersion=$version&resourceVersionMatch=Exact"
    [ "$(field .items[0].metadata.name <<<"$output")" = a ]
    never_says '"name":"b"'
}

@test "future resourceVersion is refused as too large" {
    run -0 api "/api/v1/namespaces/$NS/configmaps?resourceVersion=999999999&resourceVersionMatch=Exact"
    says "Too large resource version"
}
