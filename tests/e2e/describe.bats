#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What kubectl tells about objects, kinds and the server in words: describe, explain, api-resources, cluster-info, version.

setup_file() {
    load helpers
    server_start
    NS=described
    export NS
    kubectl create namespace $NS
    kubectl apply -f "$E2E/fixtures/machines.yaml"
    kubectl wait --for=condition=Established --timeout=90s crd/machines.factory.example.com
    sed "s/NAMESPACE/$NS/" "$E2E/fixtures/kinds.yaml" | k create -f -
    k create -f - <<<'{"apiVersion":"factory.example.com/v1","kind":"Machine","metadata":{"name":"press"},"spec":{"load":3}}'
}

teardown_file() { load helpers; server_stop; }
setup() { load helpers; }

# describes KIND NAME TEXT…: blanks apart.
describes() {
    run -0 k describe "$1" "$2"
    output=$(sed -E 's/[ \t]+/ /g' <<<"$output")
    says "Name: $2" "${@:3}"
}

@test "describe a pod" {
    describes pod pod-running "Namespace: described" "Node: node-1/" "Labels: app=web" "Status: Pending" "Init Containers:" "Image: img:1" "QoS Class: BestEffort" \
        "Tolerations: node.kubernetes.io/not-ready:NoExecute op=Exists for 300s" "Events: <none>"
}

@test "describe a node with its pods" {
    describes node node-1 "Roles: worker" "Taints: k=v:NoSchedule" "Unschedulable: false" "Non-terminated Pods: (1 in total)" "described pod-running"
}

@test "describe a service with its endpoints" {
    describes service svc-a "Selector: app=web" "Type: ClusterIP" "IP Family Policy: SingleStack" "Port: http 80/TCP" "Port: dns 53/UDP" "Session Affinity: None"
}

@test "describe a deployment, a stateful set, a daemon set and a replica set" {
    describes deployment web "Replicas: 3 desired | 0 updated | 0 total | 0 available | 0 unavailable" "RollingUpdateStrategy: 25% max unavailable, 25% max surge" "Image: img:2"
    describes statefulset db "Replicas: 2 desired | 0 total" "Update Strategy: RollingUpdate"
    describes daemonset agent "Node-Selector: disk=ssd" "Desired Number of Nodes Scheduled: 0"
    describes replicaset web-1 "Replicas: 0 current / 2 desired"
}

@test "describe a job and a cron job" {
    describes job work "Completions: 3" "Parallelism: 1" "Pods Statuses: 0 Active / 0 Succeeded / 0 Failed"
    describes cronjob nightly "Schedule: 0 3 * * *" "Concurrency Policy: Allow"
}

@test "describe a config map with its events, and a secret without its data" {
    k create -f - <<YAML
apiVersion: v1
kind: Event
metadata: {name: settings.2}
involvedObject: {kind: ConfigMap, name: settings, namespace: $NS, uid: $(k get configmap settings -o jsonpath='{.metadata.uid}')}
reason: Read
message: somebody read it
type: Normal
source: {component: people}
YAML
    describes configmap settings "Data" $'\na:\n----\n1\n' "BinaryData" "c: 2 bytes" "Normal Read" "people somebody read it"
    describes secret password "Type: Opaque" "a: 1 bytes"
}

@test "describe a namespace with its quotas and limits" {
    describes namespace described "Status: Active" "Resource Quotas" "Name: quota" "Resource Limits" "Container cpu - - 500m 500m"
}

@test "describe roles, bindings, an ingress, a budget and a policy" {
    describes role reader "pods [] [] [get]"
    describes rolebinding readers "Kind: Role" "User jane" "ServiceAccount robot default"
    describes ingress front "Ingress Class: nginx" "a.example.com" "/ svc-a:80"
    describes poddisruptionbudget budget "Min available: 1" "Selector: app=web"
    describes networkpolicy closed "PodSelector: app=web"
}

@test "describe a custom object and its CRD" {
    describes machine press "API Version: factory.example.com/v1" "Kind: Machine" "Load: 3" "Mode: slow" "Events: <none>"
    describes crd machines.factory.example.com "Group: factory.example.com" "Json Path: .spec.mode" "Type: NamesAccepted" "Type: Established"
}

@test "describe by label, and of a missing object" {
    run -0 k describe pods -l app=web
    says pod-running
    never_says pod-waiting
    run -1 k describe pod nothing
    says 'pods "nothing" not found'
}

# ---- explain ----

@test "explain a custom kind, its fields, and all of them" {
    run -0 kubectl explain machines
    says "GROUP:      factory.example.com" "KIND:       Machine" "A machine of the factory." "spec	<Object>" "What it shall do."
    run -0 kubectl explain mc.spec
    says "load	<integer> -required-" "How much of it." "mode	<string>" "enum: fast, slow" "tools	<[]Object>"
    run -0 kubectl explain machines --recursive
    says "size	<Object>" "conditions	<[]Object>" "ownerReferences	<[]OwnerReference>"
    run -0 kubectl explain machines.metadata.labels
    says "FIELD: labels <map[string]string>"
    run -1 kubectl explain machines.spec.wings
    says 'field "wings" does not exist'
}

@test "explain from OpenAPI v2" {
    run -0 kubectl explain pods --output=plaintext-openapiv2
    says "KIND:     Pod" "VERSION:  v1" "spec	<Object>"
    run -0 kubectl explain machines.spec --output=plaintext-openapiv2
    says "RESOURCE: spec <Object>" "load	<integer> -required-"
    run -0 kubectl explain deployments.spec --recursive --output=plaintext-openapiv2
    says "rollingUpdate	<Object>"
}

@test "explain selects versions and groups" {
    run -0 kubectl explain events.reportingController --api-version=events.k8s.io/v1
    says "GROUP:      events.k8s.io" "FIELD: reportingController <string>"
    run -0 kubectl explain events.involvedObject --api-version=v1
    says "VERSION:    v1" "FIELD: involvedObject <ObjectReference>"
    run -1 kubectl explain unicorns
    says "the server doesn't have a resource type"
}

# ---- the server ----

@test "api-resources lists verbs and categories and filters by them" {
    run -0 kubectl api-resources -o wide
    grep -qE '^pods +po +v1 +true +Pod +create,delete,deletecollection,get,list,patch,update,watch +all$' <<<"$output"
    grep -qE '^machines +mc +factory.example.com/v1 +true +Machine +.*list.* +all,equipment$' <<<"$output"
    grep -qE '^bindings +v1 +true +Binding +create *$' <<<"$output"
    [ "$(kubectl api-resources --categories=equipment -o name)" = machines.factory.example.com ]
    run -0 kubectl api-resources --verbs=list,watch -o name
    says deployments.apps machines.factory.example.com
    never_says $'\nbindings\n' tokenreviews
    run -0 kubectl api-versions
    says factory.example.com/v1 apps/v1
    [ "${lines[-1]}" = v1 ]
}

@test "category of custom kinds is listed by its name" {
    run -0 k get equipment
    [[ ${lines[0]} =~ ^NAME\ +MODE\ +AGE$ ]]
    [[ ${lines[1]} =~ ^press\ +slow\  ]]
    run -0 k get all -o name
    says machine.factory.example.com/press
}

@test "cluster-info, version and config" {
    run -0 kubectl cluster-info
    says "Kubernetes control plane" "is running at"
    run -0 --separate-stderr kubectl version -o json
    [ "$(field .serverVersion.major <<<"$output")" = 1 ]
    [ "$(field .serverVersion.minor <<<"$output")" = 34 ]
    run -0 kubectl config view --minify -o jsonpath='{.clusters[0].cluster.server}'
    [ "$output" = "$HTTPS" ]
    [ "$(kubectl config get-contexts -o name)" = "$(kubectl config current-context)" ]
}
