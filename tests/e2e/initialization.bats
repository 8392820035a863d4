#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The first objects of a plane, as its documentation has them applied, and the kinds they are of.

setup_file() {
    load helpers
    server_start --authn-allow-localhost
}
teardown_file() { load helpers; server_stop; }

setup() {
    load helpers
    cd "$E2E/../.."
    NS=default
}

# put KIND NAME SPEC: applies one of the platform's objects; the spec is in flow style.
put() { printf 'apiVersion: platform.kubecontroller.io/v1\nkind: %s\nmetadata: {name: %s}\nspec: %s\n' "$@" | kubectl apply -f -; }
user() { put User ann "$1"; }
binmeta() { put BinMeta tool "$1"; }

@test "five commands create the initial objects and users" {
    for folder in namespaces catalogs binmetas teams users; do
        run -0 kubectl -s "$HTTP" apply -f "initialization/$folder"
        says created
    done
    run -0 kubectl -s "$HTTP" -n default get users
    says NAME "DISPLAY NAME" EMAIL TEAMS DISABLED AGE
    [[ $output =~ admin\ +Administrator.*\[\"admins\"\] ]]
}

@test "definitions of the server cannot be deleted or changed" {
    run -1 kubectl delete crd users.platform.kubecontroller.io
    says 'customresourcedefinitions.apiextensions.k8s.io "users.platform.kubecontroller.io" is forbidden: this CustomResourceDefinition belongs to the server and cannot be deleted'
    run -1 kubectl patch crd teams.platform.kubecontroller.io --type=merge -p '{"spec":{"names":{"shortNames":["t"]}}}'
    says 'cannot be changed'
    run -0 kubectl apply -f manifests/platform
    says 'users.platform.kubecontroller.io configured'
}

@test "applying them again leaves them unchanged" {
    for folder in namespaces catalogs binmetas teams users; do
        run -0 kubectl -s "$HTTP" apply -f "initialization/$folder"
        says unchanged
        never_says configured created
    done
}

@test "short names and a category find them" {
    run -0 kubectl get ctg
    [[ $output =~ platform\ +Platform\ +90 ]]
    run -0 kubectl get tm admins -o jsonpath='{.spec.displayName}'
    says Administrators
    run -0 kubectl get bm
    [[ $output =~ kc-v0.*kc\ +v0 ]]
    run -0 kubectl get platform -o name
    says user.platform.kubecontroller.io/admin team.platform.kubecontroller.io/admins catalog.platform.kubecontroller.io/demo \
        binmeta.platform.kubecontroller.io/kc
}

@test "catalog without an order gets the default" {
    put Catalog mine '{title: Mine}'
    [ "$(kubectl get catalog mine -o jsonpath='{.spec.order}')" = 100 ]
}

@test "explain describes users" {
    run -0 kubectl explain users
    says "GROUP:      platform.kubecontroller.io" "KIND:       User" "User is a user of the control plane."
    run -0 kubectl explain users.spec.credentialsRef
    says "Without it the user cannot log in" "namespace" "-required-"
}

@test "invalid user is refused" {
    run -1 user '{}'
    says 'spec.displayName: Required value'
    run -1 user '{displayName: Ann, email: nowhere}'
    says 'spec.email: Invalid value: "nowhere"'
    run -1 user '{displayName: Ann, teams: [Admins]}'
    says 'spec.teams[0]: Invalid value: "Admins"'
    run -1 user '{displayName: Ann, teams: [a, a]}'
    says 'spec.teams[1]: Duplicate value: "a"'
    run -1 user '{displayName: Ann, credentialsRef: {name: ann}}'
    says 'spec.credentialsRef.namespace: Required value'
    run -1 user '{displayName: Ann, password: secret}'
    says 'unknown field "spec.password"'
    run -1 user '{displayName: Ann, credentialsRef: {namespace: default, name: ann}}'
    says 'spec.credentialsRef can only name the Secret user-ann in the namespace kc-credentials'
    run -0 user '{displayName: Ann, email: ann@example.com, teams: [admins], credentialsRef: {namespace: kc-credentials, name: user-ann}}'
    says 'user.platform.kubecontroller.io/ann created'
}

@test "invalid binary is refused" {
    run -1 binmeta '{binary: tool, version: newest}'
    says 'spec.version: Invalid value: "newest"'
    run -1 binmeta '{binary: tool, version: v1.2, builds: [{os: plan9, arch: amd64, url: "https://example.com/tool", sha256: ""}]}'
    says 'spec.builds[0].os: Unsupported value: "plan9"' 'spec.builds[0].sha256: Invalid value'
    run -1 binmeta "{binary: tool, version: v1.2, builds: [{os: linux, arch: amd64, url: 'ftp://x', sha256: '$(printf '%064d' 0)'}]}"
    says 'spec.builds[0].url: Invalid value: "ftp://x"'
    run -0 binmeta "{binary: tool, version: v1.2-rc.1, builds: [{os: linux, arch: amd64, size: 7, url: 'https://example.com/t', sha256: '$(printf '%064d' 0)'}]}"
    says created
}
