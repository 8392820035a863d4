#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# CertificateSigningRequests with kubectl: approve, deny, the built-in signers, and the certificate as a credential; signatures for bootstrap tokens.

setup_file() {
    load helpers
    server_start --authorization-mode=RBAC
    controllers_start --controllers=csrsigning,csrapproving,csrcleaner,bootstrap-signer \
        --cluster-signing-cert-file="$SERVER/root/certs/ca.crt" --cluster-signing-key-file="$SERVER/root/certs/ca.key"
}

teardown_file() { load helpers; each controllers_stop server_stop; }
setup() { load helpers; NS=default; cd "$BATS_TEST_TMPDIR"; }

# request NAME SUBJECT SIGNER [USAGE…]: a key and a request, as NAME.key and the object NAME.
request() {
    local usages
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$1.key" -subj "$2" -out "$1.csr" 2>/dev/null
    usages=$(printf '"%s",' "${@:4}")
    kubectl create -f - <<JSON
{"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest","metadata":{"name":"$1"},
 "spec":{"signerName":"$3","usages":[${usages%,}],"request":"$(base64 -w0 "$1.csr")"}}
JSON
}

issued() { [ -n "$(kubectl get csr "$1" -o jsonpath='{.status.certificate}')" ]; }
certificate() { kubectl get csr "$1" -o jsonpath='{.status.certificate}' | base64 -d; }
condition_is() { [ "$(kubectl get csr "$1" -o jsonpath='{.status.conditions[*].type}')" = "$2" ]; }

@test "approved request gets a certificate that authenticates its subject" {
    request jane /CN=jane/O=dev kubernetes.io/kube-apiserver-client 'client auth'
    run -0 kubectl get csr jane
    says 'kubernetes.io/kube-apiserver-client' Pending
    kubectl certificate approve jane
    eventually issued jane
    run -0 kubectl get csr jane
    says Approved,Issued
    certificate jane >jane.crt
    run -0 openssl x509 -in jane.crt -noout -subject -nameopt RFC2253 -ext extendedKeyUsage,basicConstraints
    says 'O=dev,CN=jane' 'TLS Web Client Authentication' 'CA:FALSE'
    run -0 curl -sS --cacert "$SERVER/root/certs/ca.crt" --cert jane.crt --key jane.key -H 'Content-Type: application/json' \
        "$HTTPS/apis/authentication.k8s.io/v1/selfsubjectreviews" -d '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}'
    says jane dev
}

@test "denied request stays without a certificate" {
    request eve /CN=eve kubernetes.io/kube-apiserver-client 'client auth'
    kubectl certificate deny eve
    condition_is eve Denied
    run -1 kubectl certificate approve eve
    says 'is already Denied'
    ! issued eve
}

@test "request against the rules of its signer fails" {
    request serving /CN=x kubernetes.io/kubelet-serving 'server auth' 'digital signature'
    kubectl certificate approve serving
    eventually condition_is serving 'Approved Failed'
    run -0 kubectl get csr serving -o jsonpath='{.status.conditions[1].message}'
    says 'subject organization is not system:nodes'
}

@test "client certificate of a node is approved for who may have it" {
    kubectl create clusterrole nodeclient --verb=create --resource=certificatesigningrequests.certificates.k8s.io/nodeclient
    kubectl create clusterrolebinding nodeclient --clusterrole=nodeclient --group=system:masters
    request node '/O=system:nodes/CN=system:node:n1' kubernetes.io/kube-apiserver-client-kubelet 'client auth' 'digital signature'
    eventually issued node
    run -0 kubectl get csr node -o jsonpath='{.status.conditions[0].message}'
    says 'Auto approving kubelet client certificate after SubjectAccessReview.'
}

@test "request for a client certificate of the administrators is forbidden" {
    run -1 request root /O=system:masters/CN=root kubernetes.io/kube-apiserver-client 'client auth'
    says 'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed'
}

@test "node request with another last common name is neither approved nor signed" {
    request disguised /O=system:nodes/CN=system:node:n1/CN=admin kubernetes.io/kube-apiserver-client-kubelet 'client auth' 'digital signature'
    kubectl certificate approve disguised
    eventually condition_is disguised 'Approved Failed'
    run -0 kubectl get csr disguised -o jsonpath='{.status.conditions[1].message}'
    says 'subject common name does not begin with system:node:'
}

@test "cluster-info is signed for each bootstrap token" {
    kubectl create secret generic bootstrap-token-abcdef -n kube-system --type=bootstrap.kubernetes.io/token \
        --from-literal=token-id=abcdef --from-literal=token-secret=0123456789abcdef --from-literal=usage-bootstrap-signing=true
    kubectl create configmap cluster-info -n kube-public --from-literal=kubeconfig=text
    signature() { kubectl get configmap cluster-info -n kube-public -o jsonpath='{.data.jws-kubeconfig-abcdef}'; }
    url() { base64 -w0 | tr '+/' '-_' | tr -d '='; }
    signed() { [ -n "$(signature)" ]; }
    eventually signed
    header=$(printf '{"alg":"HS256","kid":"abcdef"}' | url)
    mac=$(printf '%s.%s' "$header" "$(printf text | url)" | openssl dgst -sha256 -hmac 0123456789abcdef -binary | url)
    [ "$(signature)" = "$header..$mac" ]
    unsigned() { [ -z "$(signature)" ]; }
    kubectl delete secret bootstrap-token-abcdef -n kube-system
    eventually unsigned
}
