#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What CRDs show to users: explanations, columns, warnings; and CRDs of v1beta1.

setup_file() {
    load helpers
    server_start
    kubectl apply -f - <<'YAML'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: machines.plant.example.com}
spec:
  group: plant.example.com
  scope: Namespaced
  names: {plural: machines, kind: Machine, shortNames: [mc], categories: [plant]}
  versions:
  - name: v2
    served: true
    storage: true
    subresources: {status: {}}
    selectableFields: [{jsonPath: .spec.mode}]
    additionalPrinterColumns:
    - {name: Mode, type: string, jsonPath: .spec.mode}
    - {name: Arms, type: integer, jsonPath: .spec.arms}
    - {name: Load, type: number, jsonPath: .spec.load}
    - {name: Paused, type: boolean, jsonPath: .spec.paused}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Built, type: date, jsonPath: .spec.built}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    - {name: Tools, type: string, priority: 1, jsonPath: '.spec.tools[*].name'}
    - {name: First, type: string, priority: 1, jsonPath: '.spec.tools[0]'}
    - {name: Wrong, type: integer, priority: 1, jsonPath: .spec.mode}
    schema:
      openAPIV3Schema:
        type: object
        description: A machine of the plant.
        required: [spec]
        properties:
          spec:
            type: object
            description: What the machine shall do.
            required: [mode]
            properties:
              mode: {type: string, enum: [fast, slow], description: How fast it works.}
              arms: {type: integer, format: int64, default: 2}
              load: {type: number}
              paused: {type: boolean}
              built: {type: string, format: date-time}
              tools:
                type: array
                description: What it holds.
                items:
                  type: object
                  properties:
                    name: {type: string, description: What the tool is called.}
                    size: {x-kubernetes-int-or-string: true}
              labels: {type: object, additionalProperties: {type: string}}
              extra: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status:
            type: object
            properties:
              conditions:
                type: array
                items: {type: object, properties: {type: {type: string}, status: {type: string}}}
  - name: v1
    served: true
    storage: false
    deprecated: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, description: What machines were asked to do once., properties: {mode: {type: string}}}
YAML
    kubectl wait --for=condition=Established --timeout=90s crd/machines.plant.example.com
}

teardown_file() {
    load helpers
    server_stop
}

setup() {
    load helpers
    namespace
}

# machine NAME SPEC: as JSON.
machine() {
    printf '{"apiVersion":"plant.example.com/v2","kind":"Machine","metadata":{"name":"%s"},"spec":{%s}}' "$1" "$2"
}

# ---- explaining ----

@test "explain shows fields with types and whether they are required" {
    run -0 kubectl explain machine
    says "GROUP:      plant.example.com" "KIND:       Machine" "VERSION:    v2" "A machine of the plant." \
        $'spec\t<Object> -required-' $'metadata\t<ObjectMeta>' $'status\t<Object>'
}

@test "explain follows a path into lists" {
    run -0 kubectl explain machine.spec.tools.name
    says "FIELD: name <string>" "What the tool is called."
    run -0 kubectl explain mc.spec.mode
    says "FIELD: mode <string>" "ENUM:" "fast" "slow" "How fast it works."
    run ! kubectl explain machine.spec.wings
    says 'field "wings" does not exist'
}

@test "explain --recursive shows the whole tree" {
    run -0 kubectl explain machines --recursive
    says $'  spec\t<Object> -required-' $'    mode\t<string> -required-' "    enum: fast, slow" $'    tools\t<[]Object>' \
        $'      name\t<string>' $'    labels\t<map[string]string>' $'    arms\t<integer>' $'    extra\t<Object>' \
        $'    resourceVersion\t<string>'
}

@test "explain --api-version shows the given version" {
    run -0 kubectl explain machine.spec --api-version=plant.example.com/v1
    says "VERSION:    v1" "What machines were asked to do once."
    run -0 kubectl explain machine.spec --output=plaintext-openapiv2
    says "What the machine shall do."
}

# ---- columns ----

@test "columns are formatted by their type" {
    machine one '"mode":"fast","load":1.5,"paused":false,"built":"2020-01-02T03:04:05Z","tools":[{"name":"saw","size":4},{"name":"drill"}]' |
        k create -f -
    k patch machine one --subresource=status --type=merge \
        -p '{"status":{"conditions":[{"type":"Known","status":"False"},{"type":"Ready","status":"True"}]}}'
    run -0 k get mc
    [[ ${lines[0]} =~ ^NAME\ +MODE\ +ARMS\ +LOAD\ +PAUSED\ +READY\ +BUILT\ +AGE$ ]]
    [[ ${lines[1]} =~ ^one\ +fast\ +2\ +1.5\ +false\ +True\ +[0-9]+y[0-9d]*\ +[0-9]+s$ ]]
}

@test "wide columns are shown with -o wide, and absent values are blank" {
    machine one '"mode":"fast","tools":[{"name":"saw","size":4},{"name":"drill"}]' | k create -f -
    run -0 k get mc -o wide
    [[ ${lines[0]} =~ ^NAME\ +MODE\ +ARMS\ +LOAD\ +PAUSED\ +READY\ +BUILT\ +AGE\ +TOOLS\ +FIRST\ +WRONG$ ]]
    [[ ${lines[1]} =~ ^one\ +fast\ +2\ +[0-9]+s\ +saw\ +\{\"name\":\"saw\",\"size\":4\}\ *$ ]]
}

@test "columns are sorted, and a category lists the kind" {
    for arms in 3 1 2; do machine "m$arms" '"mode":"fast","arms":'$arms | k create -f -; done
    [ "$(k get mc --sort-by=.spec.arms -o name | tr '\n' ' ')" = "machine.plant.example.com/m1 machine.plant.example.com/m2 machine.plant.example.com/m3 " ]
    [ "$(k get plant -o name | wc -l)" = 3 ]
    run -0 k get mc m2 -o custom-columns=NAME:.metadata.name,ARMS:.spec.arms
    [[ ${lines[1]} =~ ^m2\ +2$ ]]
}

# ---- selecting and warning ----

@test "objects are selected by the selectable fields of the CRD" {
    machine one '"mode":"fast"' | k create -f -
    machine two '"mode":"slow"' | k create -f -
    [ "$(k get mc --field-selector=spec.mode=slow -o name)" = machine.plant.example.com/two ]
    run ! k get mc --field-selector=spec.arms=2
    says "field label not supported: spec.arms"
}

@test "deprecated version returns a warning, and rules reject objects" {
    run -0 k get machines.v1.plant.example.com
    says "Warning: plant.example.com/v1 Machine is deprecated; use plant.example.com/v2 Machine"
    run -0 bash -c 'kubectl get crd machines.plant.example.com -o json |
        sed "s/machines/presses/g; s/Machine/Press/g; s/\"mc\"/\"pr\"/; s/\"machine\"/\"press\"/; s/\"description\": \"A machine of the plant.\"/\"x-kubernetes-validations\": [{\"rule\": \"self.spec.arms > 0\"}]/" |
        kubectl create -f -'
    says "created"
    kubectl wait --for=condition=Established --timeout=90s crd/presses.plant.example.com
    machine one '"mode":"fast","arms":0' | sed 's/Machine/Press/' >"$BATS_TEST_TMPDIR/press.json"
    run ! k create -f "$BATS_TEST_TMPDIR/press.json"
    says 'The Press "one" is invalid: <nil>: Invalid value: "object": failed rule: self.spec.arms > 0'
    machine one '"mode":"fast","arms":1' | sed 's/Machine/Press/' | k create -f -
    run -0 kubectl get crd presses.plant.example.com -o 'jsonpath={.spec.versions[0].schema.openAPIV3Schema.x-kubernetes-validations[0].rule}'
    [ "$output" = "self.spec.arms > 0" ]
    kubectl delete crd presses.plant.example.com --timeout=90s
}

# ---- groups of others ----

# things GROUP PLURAL KIND ANNOTATION: a definition; the annotation may be empty.
things() {
    cat <<YAML
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: $2.$1
  annotations: {$4}
spec:
  group: $1
  scope: Cluster
  names: {plural: $2, kind: $3}
  versions: [{name: v9, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
YAML
}

# refused_group GROUP PLURAL KIND
refused_group() {
    run -1 bash -c "$(declare -f things); things $1 $2 $3 'api-approved.kubernetes.io: \"unapproved, a test\"' | kubectl create -f -"
    says "The CustomResourceDefinition \"$2.$1\" is invalid: spec.group: Invalid value: \"$1\": must not be a group that is served by built-in APIs"
}

@test "CRD in a built-in group is refused, and built-in objects stay" {
    kubectl create clusterrole keeper --verb=get --resource=pods
    refused_group rbac.authorization.k8s.io clusterroles ClusterRole
    refused_group rbac.authorization.k8s.io widgets Widget
    refused_group apiextensions.k8s.io customresourcedefinitions CustomResourceDefinition
    refused_group apiregistration.k8s.io apiservices APIService
    run -1 bash -c "$(declare -f things); things apps deployments Deployment '' | kubectl create -f -"
    says 'spec.group: Invalid value: "apps": should be a domain with at least one dot'
    run -0 kubectl get --raw /apis/rbac.authorization.k8s.io
    [[ $output != *v9* ]]
    kubectl get clusterrole keeper
    kubectl get crd machines.plant.example.com
}

@test "protected group needs an approval, which the status reports" {
    run -1 bash -c "$(declare -f things); things plant.k8s.io pipes Pipe '' | kubectl create -f -"
    says 'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111'
    run -1 bash -c "$(declare -f things); things plant.kubernetes.io pipes Pipe 'api-approved.kubernetes.io: maybe' | kubectl create -f -"
    says 'protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111'
    things plant.k8s.io pipes Pipe 'api-approved.kubernetes.io: "unapproved, a test"' | kubectl create -f -
    kubectl wait --for=condition=Established --timeout=90s crd/pipes.plant.k8s.io
    run -0 kubectl get crd pipes.plant.k8s.io -o 'jsonpath={.status.conditions[?(@.type=="KubernetesAPIApprovalPolicyConformant")].reason}'
    [ "$output" = UnapprovedAnnotation ]
    kubectl annotate --overwrite crd pipes.plant.k8s.io api-approved.kubernetes.io=https://github.com/kubernetes/kubernetes/pull/78458
    kubectl wait --for=condition=KubernetesAPIApprovalPolicyConformant --timeout=90s crd/pipes.plant.k8s.io
    kubectl delete crd pipes.plant.k8s.io --timeout=90s
}

# ---- v1beta1 ----

beta() {
    cat <<'YAML'
apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
metadata:
  name: networks.samplecrd.k8s.io
spec:
  group: samplecrd.k8s.io
  version: v1
  names:
    kind: Network
    plural: networks
  scope: Namespaced
YAML
}

@test "v1beta1 CRD without a schema preserves every field" {
    run -0 bash -c "$(declare -f beta); beta | kubectl apply -f -"
    says "created" "apiextensions.k8s.io/v1beta1 CustomResourceDefinition is deprecated"
    kubectl wait --for=condition=Established --timeout=90s crd/networks.samplecrd.k8s.io
    run -0 bash -c "$(declare -f beta); beta | kubectl apply -f -"
    says "unchanged"
    k apply -f - <<'YAML'
apiVersion: samplecrd.k8s.io/v1
kind: Network
metadata: {name: example-network}
spec: {cidr: 192.168.0.0/16, gateway: 192.168.0.1}
YAML
    [ "$(k get network example-network -o 'jsonpath={.spec.cidr} {.spec.gateway}')" = "192.168.0.0/16 192.168.0.1" ]
    [ "$(kubectl get crd networks.samplecrd.k8s.io -o 'jsonpath={.apiVersion} {.spec.versions[0].name}')" = "apiextensions.k8s.io/v1 v1" ]
    [ "$(kubectl get customresourcedefinitions.v1beta1.apiextensions.k8s.io networks.samplecrd.k8s.io -o 'jsonpath={.apiVersion} {.spec.version}')" = "apiextensions.k8s.io/v1beta1 v1" ]
    beta | sed 's/scope: Namespaced/scope: Namespaced\n  additionalPrinterColumns: [{name: CIDR, type: string, JSONPath: .spec.cidr}]/' | kubectl apply -f -
    run -0 k get networks
    [[ ${lines[1]} =~ ^example-network\ +192.168.0.0/16$ ]]
    run -0 kubectl explain crd.spec.additionalPrinterColumns --api-version=apiextensions.k8s.io/v1beta1
    says "JSONPath"
    run -0 bash -c "$(declare -f beta); beta | kubectl delete --timeout=90s -f -"
    run ! k get networks
}
