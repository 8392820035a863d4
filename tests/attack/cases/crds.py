# SPDX-License-Identifier: Apache-2.0
"""
CRDs that try to take over resources of the server: its groups, its kinds, their keys in the storage.
"""
from attack import attack

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
BETA_CRDS = "/apis/apiextensions.k8s.io/v1beta1/customresourcedefinitions"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"

BUILT_IN = (("rbac.authorization.k8s.io", "clusterroles", "ClusterRole"), ("rbac.authorization.k8s.io", "widgets", "Widget"),
            ("apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition"),
            ("apiregistration.k8s.io", "apiservices", "APIService"), ("events.k8s.io", "events", "Event"),
            ("apps", "deployments", "Deployment"), ("", "pods", "Pod"), ("core", "pods", "Pod"))


def definition(group, plural, kind, version="v9"):
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "%s.%s" % (plural, group), "annotations": {"api-approved.kubernetes.io": "unapproved, an attack"}},
            "spec": {"group": group, "scope": "Cluster", "names": {"plural": plural, "kind": kind},
                     "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}}


def beta(group, plural, kind):
    return {"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "%s.%s" % (plural, group)},
            "spec": {"group": group, "version": "v9", "scope": "Cluster", "names": {"plural": plural, "kind": kind}}}


def names(client, path):
    return {item["metadata"]["name"] for item in client.request("GET", path)[1]["items"]}


@attack(mix=True)
def crd_of_a_built_in_kind_is_refused_and_deletes_nothing(t):
    client, role = t.admin(), t.unique("role")
    t.made(ROLES + "/" + role)
    status, answer = client.request("POST", ROLES, {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                                                    "metadata": {"name": role}, "rules": []})
    assert status == 201, answer
    for group, plural, kind in BUILT_IN:
        for path, body in ((CRDS, definition(group, plural, kind)), (BETA_CRDS, beta(group, plural, kind)),
                           (CRDS, definition(group, plural, kind, "v1"))):
            status, answer = client.request("POST", path, body)
            assert status == 422 and "spec.group" in answer["message"], (group, plural, status, answer)
        status, answer = client.request("DELETE", "%s/%s.%s" % (CRDS, plural, group))
        assert status == 404, answer
    assert role in names(client, ROLES)


@attack(mix=True)
def crd_cannot_be_moved_into_a_built_in_group(t):
    client = t.admin()
    group = "%s.example.com" % t.unique("g")
    name, other = "clusterroles." + group, "others." + group
    t.made(CRDS + "/" + name)
    t.made(CRDS + "/" + other)
    for body in (definition(group, "clusterroles", "ClusterRole"), definition(group, "others", "Other")):
        status, answer = client.request("POST", CRDS, body)
        assert status == 201, answer
    for patch in ({"spec": {"group": "rbac.authorization.k8s.io"}}, {"metadata": {"name": "clusterroles.rbac.authorization.k8s.io"}},
                  {"spec": {"names": {"plural": "customresourcedefinitions"}}}):
        status, answer = client.request("PATCH", CRDS + "/" + name, patch, "application/merge-patch+json")
        assert status in (400, 422), (patch, status, answer)
    assert client.request("DELETE", CRDS + "/" + name)[0] == 200
    assert client.request("GET", "/apis/rbac.authorization.k8s.io/v9")[0] == 404
