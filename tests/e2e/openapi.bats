#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What kubectl does with the OpenAPI documents: validation on the server, explanations, patches made of what the schemas say.

setup_file() { load helpers; server_start; }
teardown_file() { load helpers; server_stop; }
setup() { load helpers; namespace; }

# manifest [LINE]: a ConfigMap, with one more line.
manifest() {
    printf '%s\n' 'apiVersion: v1' 'kind: ConfigMap' 'metadata:' '  name: settings' 'data:' '  colour: blue' "${1:-}"
}

@test "kubectl creates from a file with its default validation" {
    run -0 k create -f - <<<"$(manifest)"
    says "configmap/settings created"
    [ "$(k get configmap settings -o jsonpath='{.data.colour}')" = blue ]
}

@test "kubectl applies from a file, and again without a change" {
    run -0 k apply -f - <<<"$(manifest)"
    says "configmap/settings created"
    run -0 k apply -f - <<<"$(manifest)"
    says "configmap/settings unchanged"
    run -0 k apply -f - <<<"$(manifest '  size: large')"
    says "configmap/settings configured"
    [ "$(k get configmap settings -o jsonpath='{.data.size}')" = large ]
}

@test "unknown field is refused on create" {
    run -1 k create -f - <<<"$(manifest 'colours: [blue]')"
    says 'strict decoding error: unknown field "colours"'
    run -1 k get configmap settings
}

@test "unknown field is refused on apply" {
    k apply -f - <<<"$(manifest)"
    run -1 k apply -f - <<<"$(manifest 'colours: [blue]')"
    says 'unknown field "colours"'
}

@test "unknown field is a warning with --validate=warn" {
    run -0 k create --validate=warn -f - <<<"$(manifest 'colours: [blue]')"
    says 'unknown field "colours"' "configmap/settings created"
}

@test "kubectl explains a kind and a field" {
    run -0 kubectl explain pods
    says "KIND:       Pod" "VERSION:    v1" "Pod is a collection of containers that can run on a host." "spec	<PodSpec>"
    run -0 kubectl explain pod.spec.containers
    says "FIELD: containers <[]Container>" "List of containers belonging to the pod." "image	<string>" "name	<string> -required-"
    run -0 kubectl explain deployment.spec.strategy.type
    says "GROUP:      apps" "FIELD: type <string>" 'Can be "Recreate" or "RollingUpdate".'
}

@test "kubectl explains everything below a field" {
    run -0 kubectl explain pod.spec.containers --recursive
    says "configMapKeyRef	<ConfigMapKeySelector>" "terminationGracePeriodSeconds	<integer>" "divisor	<Quantity>"
    run -0 kubectl explain ingress --recursive
    says "pathType	<string> -required-"
}

@test "explain of a missing field is refused" {
    run -1 kubectl explain pod.spec.nonsense
    says 'field "nonsense" does not exist'
}

@test "kubectl explains a version that is not preferred" {
    run -0 kubectl explain horizontalpodautoscaler.spec --api-version=autoscaling/v1
    says "VERSION:    v1" targetCPUUtilizationPercentage
}

@test "protobuf of version 2 is read by older clients" {
    run -0 kubectl explain deployment.spec.template.spec --output=plaintext-openapiv2
    says "RESOURCE: spec <Object>" "restartPolicy	<string>"
}

@test "kubectl diff shows the changes" {
    k apply -f - <<<"$(manifest)"
    run -0 k diff -f - <<<"$(manifest)"
    run -1 k diff -f - <<<"$(manifest '  size: large')"
    says "+  size: large"
}

@test "kubectl edits an object" {
    k apply -f - <<<"$(manifest)"
    KUBE_EDITOR="sed -i s/blue/green/" run -0 k edit configmap settings
    says "configmap/settings edited"
    [ "$(k get configmap settings -o jsonpath='{.data.colour}')" = green ]
}

@test "index links to immutable documents" {
    place=$(api /openapi/v3 | python3 -c 'import json, sys; print(json.load(sys.stdin)["paths"]["api/v1"]["serverRelativeURL"])')
    run -0 api "$place" -o /dev/null -D -
    says "200 OK" "Cache-Control: public, immutable" "Expires: "
    [ "$(api "/openapi/v3/api/v1?hash=0" -o /dev/null -w '%{http_code} %{redirect_url}')" = "301 $HTTP$place" ]
    [ "$(api "$place" -o /dev/null -w '%{http_code}' -H "If-None-Match: \"${place#*hash=}\"")" = 304 ]
}

@test "documents are the same over HTTP/2 and compressed" {
    plain=$(api /openapi/v3/apis/apps/v1 | sha256sum)
    packed=$(curl -sS --http2 --compressed --cacert "$SERVER/root/certs/ca.crt" -H 'Authorization: Bearer admintoken' \
        "$HTTPS/openapi/v3/apis/apps/v1" | sha256sum)
    [ "$plain" = "$packed" ]
}
