#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What the server says about itself: versions, groups, resources, health and metrics.

setup_file() { load helpers; server_start; }
teardown_file() { load helpers; server_stop; }
setup() { load helpers; NS=default; }

@test "kubectl reads the server's version" {
    run -0 kubectl version -o json
    says '"serverVersion"'
    [ "$(field .serverVersion.major <<<"$(kubectl version -o json 2>/dev/null)")" = 1 ]
}

@test "kubectl finds the control plane" {
    run -0 kubectl cluster-info
    says "Kubernetes control plane" "$HTTPS"
}

@test "the stable groups are listed" {
    run -0 kubectl api-versions
    for version in v1 apps/v1 batch/v1 autoscaling/v2 networking.k8s.io/v1 policy/v1 rbac.authorization.k8s.io/v1 storage.k8s.io/v1; do
        grep -qx "$version" <<<"$output"
    done
    # Old manifests of definitions are the one exception.
    output=$(grep -vx apiextensions.k8s.io/v1beta1 <<<"$output")
    never_says alpha beta
}

@test "resources have their short names, scopes and kinds" {
    run -0 kubectl api-resources --no-headers
    grep -qE '^configmaps +cm +v1 +true +ConfigMap$' <<<"$output"
    grep -qE '^namespaces +ns +v1 +false +Namespace$' <<<"$output"
    grep -qE '^deployments +deploy +apps/v1 +true +Deployment$' <<<"$output"
}

@test "resources are chosen by verb, scope and group" {
    run -0 kubectl api-resources --verbs=list,watch --namespaced=false -o name
    says namespaces nodes
    never_says configmaps tokenreviews
    run -0 kubectl api-resources --api-group=batch -o name
    says cronjobs.batch jobs.batch
}

@test "short names, singular names and full names mean the same" {
    for name in cm configmap configmaps configmaps.v1.; do
        run -0 kubectl get "$name" -n default
    done
    for name in deploy deployments.apps deployment.v1.apps; do
        run -0 kubectl get "$name" -n default
    done
}

@test "raw paths are answered as they are" {
    run -0 kubectl get --raw /api/v1
    [ "$(field .kind <<<"$output")" = APIResourceList ]
    run -0 kubectl get --raw /version
    [ "$(field .gitVersion <<<"$output" | cut -c1-5)" = v1.34 ]
    run -1 kubectl get --raw /no/such/path
    says "NotFound"
}

@test "aggregated discovery has an ETag, and nothing is sent twice" {
    accept='Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    tag=$(api /apis -H "$accept" -o /dev/null -D - | tr -d '\r' | sed -n 's/^[Ee][Tt]ag: //p')
    [ -n "$tag" ]
    [ "$(api /apis -H "$accept" -H "If-None-Match: $tag" -o /dev/null -w '%{http_code}')" = 304 ]
    [ "$(api /apis -H "$accept" | field .kind)" = APIGroupDiscoveryList ]
    [ "$(api /apis | field .kind)" = APIGroupList ]
}

@test "health is told in a word, and in detail where asked" {
    for path in healthz livez readyz; do
        [ "$(api /$path)" = ok ]
        api "/$path?verbose" | grep -q '^\[+\].* ok$'
        api "/$path?verbose" | grep -q "$path check passed"
    done
}

@test "metrics are in Prometheus' format and count requests" {
    api /api/v1/namespaces -o /dev/null
    run -0 api /metrics
    says "# HELP" "# TYPE" apiserver_request_total
    [ "$(api /metrics -o /dev/null -w '%{content_type}' | cut -d';' -f1)" = text/plain ]
}
