#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# An etcd with the values of kube-apiserver v1.34.1. Beside a real one: scripts/compare-etcd.

setup_file() {
    command -v etcd >/dev/null || skip "there is no etcd"
}

setup() {
    load helpers
}

@test "objects that kube-apiserver stored are served as it serves them" {
    run "$E2E/../../scripts/compare-etcd" --recorded ${KC:+"$KC"}
    echo "$output"
    [ "$status" = 0 ]
    says "recorded: 69 of 69 objects are equal"
}
