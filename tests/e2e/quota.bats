#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# ResourceQuotas with kubectl: limits, scopes, usage that follows deletions and new kinds, limited resources by configuration.

setup_file() {
    load helpers
    cat >"$BATS_FILE_TMPDIR/admission.yaml" <<'YAML'
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: ResourceQuota
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: ResourceQuotaConfiguration
    limitedResources:
    - resource: persistentvolumeclaims
      matchContains: [gold.storageclass.storage.k8s.io/requests.storage]
YAML
    server_start --authn-allow-localhost --admission-control-config-file="$BATS_FILE_TMPDIR/admission.yaml"
    controllers_start --controllers=resourcequota,namespace
}

teardown_file() { load helpers; each controllers_stop server_stop; }
setup() { load helpers; namespace; }

# used QUOTA RESOURCE AMOUNT
used() { [ "$(k get quota "$1" -o "jsonpath={.status.used.$2}")" = "$3" ]; }

# pod NAME CONTAINER_FIELDS [SPEC_FIELDS]
pod() {
    k create -f - <<JSON
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"$1"},"spec":{"containers":[{"name":"c","image":"i"$2}]${3:-}}}
JSON
}

@test "quota of pods admits as many as it allows and frees what is deleted" {
    k create quota q --hard=pods=2,requests.cpu=1
    eventually used q pods 0
    pod a ',"resources":{"requests":{"cpu":"300m"}}'
    pod b ',"resources":{"requests":{"cpu":"300m"}}'
    run -1 pod c ',"resources":{"requests":{"cpu":"300m"}}'
    says 'pods "c" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2'
    run -0 k describe quota q
    says 'pods' '2     2' 'requests.cpu  600m  1'
    k delete pod a --now
    eventually used q pods 1
    run -1 pod c ',"resources":{"requests":{"cpu":"800m"}}'
    says 'exceeded quota: q, requested: requests.cpu=800m, used: requests.cpu=300m, limited: requests.cpu=1'
    run -1 pod c ''
    says 'failed quota: q: must specify requests.cpu for: c'
}

@test "quota with a scope limits only pods in it" {
    k create quota q --hard=pods=0 --scopes=BestEffort
    eventually used q pods 0
    run -1 pod best ''
    says 'exceeded quota: q'
    pod burst ',"resources":{"requests":{"cpu":"1"}}'
}

@test "custom resources are counted when their kind is served" {
    k create quota q --hard=count/gears."$NS".io=1
    kubectl create -f - <<JSON
{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gears.$NS.io"},
 "spec":{"group":"$NS.io","scope":"Namespaced","names":{"plural":"gears","kind":"Gear"},
 "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}
JSON
    eventually used q "count/gears\.$NS\.io" 0
    gear() { k create -f - <<<"{\"apiVersion\":\"$NS.io/v1\",\"kind\":\"Gear\",\"metadata\":{\"name\":\"$1\"}}"; }
    eventually gear a
    run -1 gear b
    says "gears.$NS.io \"b\" is forbidden: exceeded quota: q, requested: count/gears.$NS.io=1, used: count/gears.$NS.io=1, limited: count/gears.$NS.io=1"
    kubectl delete crd "gears.$NS.io"
}

@test "new limits of a quota are enforced" {
    k create quota q --hard=configmaps=1
    eventually used q configmaps 0
    k create configmap a
    run -1 k create configmap b
    says 'exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1'
    k patch quota q --type=merge -p '{"spec":{"hard":{"configmaps":"2"}}}'
    eventually k create configmap b
}

@test "limited resource needs a quota" {
    claim() {
        k create -f - <<JSON
{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"$1"},
 "spec":{"storageClassName":"gold","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}
JSON
    }
    run -1 claim a
    says 'insufficient quota to consume: gold.storageclass.storage.k8s.io/requests.storage'
    k create quota q --hard=gold.storageclass.storage.k8s.io/requests.storage=1Gi
    eventually used q 'gold\.storageclass\.storage\.k8s\.io/requests\.storage' 0
    claim a
    run -1 claim b
    says 'exceeded quota: q' 'limited: gold.storageclass.storage.k8s.io/requests.storage=1Gi'
}
