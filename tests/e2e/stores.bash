# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# What the tests of `kc store` share: objects of several kinds, what a client reads of them, servers on other data directories.

# fill: objects of several kinds, a custom resource among them.
fill() {
    k create configmap greeting --from-literal=text=hello
    k create secret generic password --from-literal=password=hush-hush
    k create deployment web --image=example/web
    kubectl create namespace other
    kubectl apply -f - <<'YAML'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: robots.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: robots, singular: robot, kind: Robot}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
YAML
    kubectl wait --for=condition=Established --timeout=90s crd/robots.example.com
    eventually robot r2
}

robot() {
    printf '{"apiVersion":"example.com/v1","kind":"Robot","metadata":{"name":"%s","namespace":"default"},"spec":{"arms":2}}' "$1" |
        kubectl apply -f -
}

# contents: what a client can read, without resourceVersions. Objects that depend on the certificates of a server are in other namespaces.
contents() {
    { k get configmaps,secrets,deployments,robots.example.com -o json; kubectl get namespaces,clusterroles,crds -o json; } |
        python3 -c 'import json, sys
decoder, text, items = json.JSONDecoder(), sys.stdin.read(), []
while text.strip():
    part, end = decoder.raw_decode(text.lstrip())
    text = text.lstrip()[end:]
    items += part["items"]
for item in items: item["metadata"].pop("resourceVersion")
print(json.dumps(items, indent=1, sort_keys=True))'
}

# server_kill: SIGKILL; the next server_start is another server.
server_kill() {
    server_signal KILL
    eventually server_ended
    rm "$SERVER/pid"
}

# other_server ROOT: the next server has this data directory.
other_server() {
    SERVER=$(mktemp -d "$BATS_TEST_TMPDIR/server.XXXXXX")
    [ -z "${1:-}" ] || mv "$1" "$SERVER/root"
}

new_server() { other_server "${1:-}"; server_start; }

# many_lines N: an export of that many config maps.
many_lines() {
    python3 -c 'import json, sys
for i in range(int(sys.argv[1])):
    print(json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m%06d" % i, "namespace": "default", "uid": "u%d" % i,
                      "creationTimestamp": "2026-01-02T03:04:05Z"}, "data": {"text": "x" * 200}}))' "$1"
}
