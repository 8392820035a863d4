#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Custom resources, as kubectl makes and uses them.

setup_file() {
    load helpers
    server_start
    DEFINITION=$BATS_FILE_TMPDIR/robots.yaml
    export DEFINITION
    cat >"$DEFINITION" <<'YAML'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: robots.factory.example.com}
spec:
  group: factory.example.com
  scope: Namespaced
  names: {plural: robots, kind: Robot, shortNames: [rb]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    additionalPrinterColumns: [{name: Mode, type: string, jsonPath: .spec.mode}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            description: What a robot shall do.
            properties:
              replicas: {type: integer, maximum: 10, default: 1}
              mode: {type: string, enum: [fast, slow], default: slow}
          status: {type: object, properties: {replicas: {type: integer}}}
YAML
    kubectl apply -f "$DEFINITION"
    kubectl wait --for=condition=Established --timeout=90s crd/robots.factory.example.com
}

teardown_file() {
    load helpers
    server_stop
}

setup() { load helpers; namespace; job=; }
teardown() { background_end; }

robot() {
    printf '{"apiVersion":"factory.example.com/v1","kind":"Robot","metadata":{"name":"%s"},"spec":{%s}}' "$1" "$2"
}

@test "object of a new kind is created with its defaults" {
    robot one '"mode":"fast"' | k create -f -
    [ "$(k get rb one -o 'jsonpath={.spec.mode} {.spec.replicas} {.metadata.generation}')" = "fast 1 1" ]
}

@test "list shows the columns of the CRD" {
    robot one '' | k create -f -
    run -0 k get robots
    [[ ${lines[0]} =~ ^NAME\ +MODE$ ]]
    [[ ${lines[1]} =~ ^one\ +slow$ ]]
}

@test "object violating the schema is refused" {
    run ! bash -c "$(declare -f k robot); robot one '\"replicas\":11' | k create -f -"
    [[ $output == *"spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10"* ]]
}

@test "unknown field is refused by kubectl and dropped with a warning otherwise" {
    run ! bash -c "$(declare -f k robot); robot one '\"wings\":2' | k create -f -"
    [[ $output == *'unknown field "spec.wings"'* ]]
    run -0 bash -c "$(declare -f k robot); robot one '\"wings\":2' | k create --validate=warn -f -"
    [[ $output == *'unknown field "spec.wings"'* ]]
    [ -z "$(k get robot one -o 'jsonpath={.spec.wings}')" ]
}

@test "merge patch is applied and strategic merge patch is refused" {
    robot one '' | k create -f -
    k patch robot one --type=merge -p '{"spec":{"mode":"fast"}}'
    [ "$(k get robot one -o 'jsonpath={.spec.mode} {.metadata.generation}')" = "fast 2" ]
    run ! k patch robot one --type=strategic -p '{"spec":{"mode":"slow"}}'
}

@test "status is written through its subresource only" {
    robot one '' | k create -f -
    k patch robot one --type=merge -p '{"status":{"replicas":7}}'
    [ -z "$(k get robot one -o 'jsonpath={.status}')" ]
    k patch robot one --subresource=status --type=merge -p '{"status":{"replicas":7}}'
    [ "$(k get robot one -o 'jsonpath={.status.replicas} {.metadata.generation}')" = "7 1" ]
}

@test "custom objects are scaled" {
    robot one '' | k create -f -
    k scale robot one --replicas=4
    [ "$(k get robot one -o 'jsonpath={.spec.replicas}')" = 4 ]
}

@test "watch of custom objects delivers events" {
    background k get robots -w -o name
    robot one '' | k create -f -
    eventually background_says robot.factory.example.com/one
}

@test "explain shows the descriptions of the CRD" {
    run -0 kubectl explain robots.spec
    [[ $output == *"What a robot shall do."* ]]
    [[ $output == *"replicas"* ]]
}

@test "CRDs are explained and listed" {
    run -0 kubectl explain crd.spec.versions.schema.openAPIV3Schema
    [[ $output == *"x-kubernetes-list-type"* ]]
    run -0 kubectl get crds
    [[ ${lines[0]} =~ ^NAME\ +CREATED\ AT$ ]]
}

@test "applying an unchanged CRD changes nothing" {
    run -0 kubectl apply -f "$DEFINITION"
    [[ $output == *unchanged* ]]
}

@test "deleting a CRD deletes its objects" {
    sed 's/robots/drones/g; s/Robot/Drone/g; s/rb/dr/g' "$DEFINITION" | kubectl apply -f -
    kubectl wait --for=condition=Established --timeout=90s crd/drones.factory.example.com
    robot one '' | sed 's/Robot/Drone/' | k create -f -
    kubectl delete crd drones.factory.example.com --timeout=90s
    run ! k get drones.factory.example.com
    sed 's/robots/drones/g; s/Robot/Drone/g; s/rb/dr/g' "$DEFINITION" | kubectl apply -f -
    kubectl wait --for=condition=Established --timeout=90s crd/drones.factory.example.com
    [ -z "$(k get drones -o name)" ]
}

@test "CRDs and objects survive a restart" {
    robot kept '' | k create -f -
    server_stop
    server_start
    [ "$(k get robot kept -o 'jsonpath={.spec.mode}')" = slow ]
}
