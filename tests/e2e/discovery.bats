#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What the server says about itself: versions, groups, resources, health and metrics.

setup_file() { load helpers; server_start; }
teardown_file() { load helpers; server_stop; }
setup() { load helpers; NS=default; }

@test "kubectl reads the server version" {
    run -0 kubectl version -o json
    says '"serverVersion"'
    [ "$(field .serverVersion.major <<<"$(kubectl version -o json 2>/dev/null)")" = 1 ]
}

@test "kubectl cluster-info finds the control plane" {
    run -0 kubectl cluster-info
    says "Kubernetes control plane" "$HTTPS"
}

@test "stable groups are listed" {
    run -0 kubectl api-versions
    for version in v1 apps/v1 batch/v1 autoscaling/v2 networking.k8s.io/v1 policy/v1 rbac.authorization.k8s.io/v1 storage.k8s.io/v1; do
        grep -qx "$version" <<<"$output"
    done
    # The exceptions: old manifests of definitions, and mutating admission policies.
    output=$(grep -vxE '(apiextensions|admissionregistration).k8s.io/v1beta1' <<<"$output")
    never_says alpha beta
}

@test "resources have short names, scopes and kinds" {
    run -0 kubectl api-resources --no-headers
    grep -qE '^configmaps +cm +v1 +true +ConfigMap$' <<<"$output"
    grep -qE '^namespaces +ns +v1 +false +Namespace$' <<<"$output"
    grep -qE '^deployments +deploy +apps/v1 +true +Deployment$' <<<"$output"
}

@test "kinds of v1.33 and v1.34 are served" {
    run -0 kubectl api-resources --no-headers
    grep -qE '^ipaddresses +ip +networking.k8s.io/v1 +false +IPAddress$' <<<"$output"
    grep -qE '^servicecidrs +networking.k8s.io/v1 +false +ServiceCIDR$' <<<"$output"
    grep -qE '^volumeattributesclasses +vac +storage.k8s.io/v1 +false +VolumeAttributesClass$' <<<"$output"
    grep -qE '^deviceclasses +resource.k8s.io/v1 +false +DeviceClass$' <<<"$output"
    grep -qE '^resourceclaims +resource.k8s.io/v1 +true +ResourceClaim$' <<<"$output"
    grep -qE '^mutatingadmissionpolicies +admissionregistration.k8s.io/v1beta1 +false +MutatingAdmissionPolicy$' <<<"$output"
}

@test "every group version has an APIService" {
    run -0 kubectl get apiservices --no-headers
    grep -qE '^v1\. +Local +True ' <<<"$output"
    grep -qE '^v2.autoscaling +Local +True ' <<<"$output"
    grep -qE '^v1.resource.k8s.io +Local +True ' <<<"$output"
    [ "$(kubectl get apiservice v1.apps -o jsonpath='{.spec.groupPriorityMinimum}/{.spec.versionPriority}')" = 17800/15 ]
}

@test "resources are filtered by verb, scope and group" {
    run -0 kubectl api-resources --verbs=list,watch --namespaced=false -o name
    says namespaces nodes
    never_says configmaps tokenreviews
    run -0 kubectl api-resources --api-group=batch -o name
    says cronjobs.batch jobs.batch
}

@test "short, singular and full names are equivalent" {
    for name in cm configmap configmaps configmaps.v1.; do
        run -0 kubectl get "$name" -n default
    done
    for name in deploy deployments.apps deployment.v1.apps; do
        run -0 kubectl get "$name" -n default
    done
}

@test "raw paths are served" {
    run -0 kubectl get --raw /api/v1
    [ "$(field .kind <<<"$output")" = APIResourceList ]
    run -0 kubectl get --raw /version
    [ "$(field .gitVersion <<<"$output" | cut -c1-5)" = v1.34 ]
    run -1 kubectl get --raw /no/such/path
    says "NotFound"
}

@test "aggregated discovery with a matching ETag returns 304" {
    accept='Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    tag=$(api /apis -H "$accept" -o /dev/null -D - | tr -d '\r' | sed -n 's/^[Ee][Tt]ag: //p')
    [ -n "$tag" ]
    [ "$(api /apis -H "$accept" -H "If-None-Match: $tag" -o /dev/null -w '%{http_code}')" = 304 ]
    [ "$(api /apis -H "$accept" | field .kind)" = APIGroupDiscoveryList ]
    [ "$(api /apis | field .kind)" = APIGroupList ]
}

@test "health endpoints return ok, and each check with verbose" {
    for path in healthz livez readyz; do
        [ "$(api /$path)" = ok ]
        api "/$path?verbose" | grep -q '^\[+\].* ok$'
        api "/$path?verbose" | grep -q "$path check passed"
    done
}

@test "metrics have the Prometheus format and count requests" {
    api /api/v1/namespaces -o /dev/null
    run -0 api /metrics
    says "# HELP" "# TYPE" apiserver_request_total
    [ "$(api /metrics -o /dev/null -w '%{content_type}' | cut -d';' -f1)" = text/plain ]
}
