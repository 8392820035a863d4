#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# kc generate as a person runs it: in a project's folder, on its headers.

setup_file() {
    load helpers
    server_start
}

teardown_file() {
    load helpers
    server_stop
}

setup() {
    load helpers
    cd "$BATS_TEST_TMPDIR" || return
    mkdir -p api/apps/v1
    echo '/// +groupName=apps.example.io' >api/apps/v1/groupversion_info.h
    cat >api/apps/v1/robot_types.h <<'HEADER'
#include "kc/api.h"
typedef struct robot_spec {
    /// Legs to walk on.
    int32_t legs;
} robot_spec;
/// +kubebuilder:object:root=true
typedef struct robot {
    kc_object_meta metadata;
    robot_spec spec;
} robot;
HEADER
}

@test "generate without arguments writes all files to their default paths" {
    run "$KC" generate
    [ "$status" -eq 0 ] && [ -z "$output" ]
    grep -q "description: Legs to walk on." config/crd/bases/apps.example.io_robots.yaml
    grep -q "kubecontroller.io/version: v" config/crd/bases/apps.example.io_robots.yaml
}

@test "output directory or standard output can be chosen" {
    "$KC" generate crd ./api/... --output-dir=out
    "$KC" generate crd api/apps/v1/robot_types.h -o - >one
    "$KC" generate all api -o root
    cmp out/apps.example.io_robots.yaml one
    cmp root/config/crd/bases/apps.example.io_robots.yaml one
}

@test "--check reports outdated files and writes nothing" {
    run "$KC" generate --check
    [ "$status" -eq 1 ]
    [[ $output == *"config/crd/bases/apps.example.io_robots.yaml is outdated"* ]]
    [ ! -e config ]
    "$KC" generate
    "$KC" generate --check
    sed -i 's/Legs to walk/Wheels to roll/' api/apps/v1/robot_types.h
    run "$KC" generate --check
    [ "$status" -eq 1 ]
}

@test "unchanged file is not written" {
    "$KC" generate
    touch -d 2001-01-01 config/crd/bases/apps.example.io_robots.yaml
    "$KC" generate
    [ "$(stat -c %Y config/crd/bases/apps.example.io_robots.yaml)" -lt 1000000000 ]
}

@test "errors have file, line and column relative to the working directory" {
    sed -i 's/int32_t legs/union { int a; } legs/' api/apps/v1/robot_types.h
    run "$KC" generate
    [ "$status" -eq 1 ]
    [[ $output == "api/apps/v1/robot_types.h:4:22: legs: JSON has no unions"* ]]
    [ ! -e config ]
}

@test "header file is prepended with its year" {
    echo '# Copyright YEAR' >license
    "$KC" generate crd -o - --header-file=license --year=2031 | head -n 2 >top
    [ "$(cat top)" = $'# Copyright 2031\n---' ]
}

@test "generated CRD is accepted and enforced by the server" {
    sed -i 's|/// Legs|/// +kubebuilder:validation:Maximum=8\n    /// Legs|' api/apps/v1/robot_types.h
    "$KC" generate crd -o out
    kubectl apply -f out
    kubectl wait --for=condition=Established --timeout=90s crd/robots.apps.example.io
    robot='{"apiVersion":"apps.example.io/v1","kind":"Robot","metadata":{"name":"a","namespace":"default"}'
    kubectl apply -f - <<<"$robot,\"spec\":{\"legs\":4}}"
    run kubectl apply -f - <<<"$robot,\"spec\":{\"legs\":9}}"
    [ "$status" -eq 1 ]
    [[ $output == *"should be less than or equal to 8"* ]]
    run kubectl explain robots.spec.legs
    [[ $output == *"Legs to walk on."* ]]
}

@test "invalid arguments are refused" {
    run "$KC" generate --outputdir=x
    [ "$status" -eq 2 ]
    [[ $output == *"did you mean '--output-dir'?"* ]]
    run "$KC" generate crds
    [ "$status" -eq 1 ]
    [[ $output == *"'crds' is neither a file or directory nor a command; did you mean 'crd'?"* ]]
    run "$KC" generate crd nowhere
    [ "$status" -eq 1 ]
    [[ $output == *"nowhere: No such file or directory"* ]]
    mkdir empty
    run "$KC" generate crd empty
    [ "$status" -eq 1 ]
    [[ $output == *"no header of API types below empty: expected *_types.h"* ]]
    cd empty
    run "$KC" generate
    [ "$status" -eq 1 ]
    [[ $output == *"directory 'api' does not exist"* ]]
}

@test "roles are generated without headers" {
    mkdir controllers
    cd controllers
    echo '/* +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get */' >robot.c
    "$KC" generate rbac -o - | grep -q '^  - deployments$'
}

@test "headers generated from CRDs give the same CRDs" {
    sed -i 's|\(.*\) legs;|&\n    KC_MAP_OF(KC_LIST_OF(char *)) names;|' api/apps/v1/robot_types.h
    "$KC" generate crd -o - >crd.yaml
    { cat crd.yaml; printf -- '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n'; } >bundle.yaml
    "$KC" generate types --from bundle.yaml -o again
    grep -q 'KC_MAP_OF(KC_LIST_OF(char \*)) names;' again/apps/v1/robot_types.h
    "$KC" generate crd again -o - | cmp - crd.yaml
    run "$KC" generate types --from bundle.yaml -o again
    [ "$status" -eq 0 ] && [ -z "$output" ]
    echo >>again/apps/v1/robot_types.h
    run "$KC" generate types --from bundle.yaml -o again
    [ "$status" -eq 0 ]
    [[ $output == *"robot_types.h exists; left unchanged"* ]]
    echo '{kind: ConfigMap}' >other.yaml
    run "$KC" generate types --from other.yaml
    [ "$status" -eq 1 ]
    [[ $output == *"other.yaml: no CustomResourceDefinition found"* ]]
}
