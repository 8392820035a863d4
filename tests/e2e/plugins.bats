#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Built-in admission plugins with kubectl: LimitRanges, Pod Security, default classes, protection of claims, and the flags that select them.

setup_file() {
    load helpers
    server_start --authn-allow-localhost
    controllers_start --controllers=storage-protection,namespace
}

teardown_file() { load helpers; each controllers_stop server_stop; }
setup() { load helpers; namespace; }

# claim NAME [FIELDS]
claim() {
    k create -f - <<JSON
{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"$1"},
 "spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}${2:-}}}
JSON
}

# pod NAME CONTAINER_FIELDS [SPEC_FIELDS]
pod() {
    k create -f - <<JSON
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"$1"},"spec":{"containers":[{"name":"c","image":"i"$2}]${3:-}}}
JSON
}

@test "containers get the defaults of a limit range and pods beyond it are refused" {
    k create -f - <<'JSON'
{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"l"},"spec":{"limits":[{"type":"Container","default":{"cpu":"500m"},"max":{"cpu":"1"}}]}}
JSON
    k run small --image=i
    run -0 k get pod small -o jsonpath='{.spec.containers[0].resources.limits.cpu} {.metadata.annotations}'
    says 500m 'LimitRanger plugin set: cpu request for container small; cpu limit for container small'
    run -1 pod large ',"resources":{"limits":{"cpu":"2"}}'
    says 'pods "large" is forbidden: maximum cpu usage per Container is 1, but limit is 2'
}

@test "enforced level of Pod Security refuses pods and warns about workloads" {
    kubectl label namespace "$NS" pod-security.kubernetes.io/enforce=restricted
    run -1 k run bad --image=i
    says 'violates PodSecurity "restricted:latest"' 'allowPrivilegeEscalation != false' 'seccompProfile'
    run -0 k create deployment web --image=i
    says 'Warning: would violate PodSecurity "restricted:latest"' 'deployment.apps/web created'
}

@test "stricter level of Pod Security names the pods that violate it" {
    pod root ',"securityContext":{"privileged":true}'
    run -0 kubectl label namespace "$NS" pod-security.kubernetes.io/enforce=baseline
    says "Warning: existing pods in namespace \"$NS\" violate the new PodSecurity enforce level \"baseline:latest\"" 'Warning: root: privileged'
    run -1 kubectl label --overwrite namespace "$NS" pod-security.kubernetes.io/enforce=none
    says 'must be one of privileged, baseline, restricted'
}

@test "claim without a class gets the default class" {
    kubectl create -f - <<JSON
{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"$NS","annotations":{"storageclass.kubernetes.io/is-default-class":"true"}},"provisioner":"example.com/p"}
JSON
    claim c
    field_is pvc c '{.spec.storageClassName}' "$NS"
    kubectl delete storageclass "$NS"
}

@test "deleted claim goes when the last pod that uses it goes" {
    claim used ',"storageClassName":""'
    claim free ',"storageClassName":""'
    pod user "" ',"nodeName":"n","volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"used"}}]'
    k delete pvc free --timeout=90s
    k delete pvc used --wait=false
    run -0 k get pvc used -o jsonpath='{.metadata.finalizers}'
    says kubernetes.io/pvc-protection
    k delete pod user --force --grace-period=0
    k wait --for=delete pvc/used --timeout=90s
}

@test "flags select plugins by the names of Kubernetes" {
    run -2 "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/x" --enable-admission-plugins=LimitRange
    says "--enable-admission-plugins: invalid value 'LimitRange': must be one of AlwaysAdmit, NamespaceAutoProvision, NamespaceLifecycle, " "did you mean 'LimitRanger'?"
    run -2 "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/x" --enable-admission-plugins=Priority --disable-admission-plugins=Priority
    says '--enable-admission-plugins and --disable-admission-plugins must not name the same plugin'
    run -0 "$KC" apiserver --help
    says --disable-admission-plugins PodSecurity StorageObjectInUseProtection
}

@test "configuration of Pod Security is read from a file" {
    cat >"$BATS_TEST_TMPDIR/config.yaml" <<'YAML'
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    kind: PodSecurityConfiguration
    defaults: {enforce: extreme}
YAML
    run -1 "$KC" apiserver --file-rootpath="$BATS_TEST_TMPDIR/x" --admission-control-config-file="$BATS_TEST_TMPDIR/config.yaml"
    says '--admission-control-config-file' 'defaults.enforce: Invalid value: "extreme": must be one of privileged, baseline, restricted'
    [ ! -e "$BATS_TEST_TMPDIR/x" ]
}
