/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes may write. The conversation node-restriction has the messages of kube-apiserver; here
 * are the cases that roles beyond those of a node make possible. */
#include "rbac_testing.h"

#define PODS   "/api/v1/namespaces/default/pods"
#define SLICES "/apis/resource.k8s.io/v1/resourceslices"

static const reply *as_node(rbac *r, const char *node, const char *method, const char *target,
                            const char *body)
{
    return SEND(r->api, method, target, .body = body,
                .headers = {"Authorization: Bearer admin",
                            text(r->api, "Impersonate-User: system:node:%s", node),
                            "Impersonate-Group: system:nodes"});
}

/* With a role that allows every write, so that the plugin alone decides. */
static rbac *start_with_mighty_nodes(void)
{
    rbac *r = rbac_start_with_modes(
        (kc__authz_modes){.items = {KC__AUTHZ_NODE_MODE, KC__AUTHZ_RBAC}, .n = 2});
    rbac_create(r, ROLES "/clusterrolebindings",
                "{'metadata':{'name':'nodes'}," CLUSTER_REF(
                    "cluster-admin") ",'subjects':[{'kind':"
                                     "'Group','name':'system:nodes'}]}");
    return r;
}

static void add_slice(rbac *r, const char *name, const char *node)
{
    rbac_create(r, SLICES,
                text(r->api,
                     "{'metadata':{'name':'%s'},'spec':{'driver':'d.example.com','nodeName':'%s',"
                     "'pool':{'name':'%s','generation':1,'resourceSliceCount':1}}}",
                     name, node, name));
}

static void deletion_of_a_collection_stops_at_the_slice_of_another_node(void **state)
{
    (void)state;
    kc_auto(rbac) *r = start_with_mighty_nodes();
    add_slice(r, "a", "n1");
    add_slice(r, "b", "n2");
    add_slice(r, "c", "n1");
    assert_at(as_node(r, "n1", "DELETE", SLICES, NULL), "message",
              "resourceslices.resource.k8s.io \"Unknown\" is forbidden: can only delete "
              "ResourceSlice with the same NodeName as the requesting node");
    assert_code(rbac_admin(r, "GET", SLICES "/a", NULL), 404);
    assert_code(rbac_admin(r, "GET", SLICES "/b", NULL), 200);
    assert_code(rbac_admin(r, "GET", SLICES "/c", NULL), 200);
}

static void other_subresources_of_pods_are_forbidden(void **state)
{
    (void)state;
    kc_auto(rbac) *r = start_with_mighty_nodes();
    rbac_create(r, PODS,
                "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}]}}");
    assert_at(as_node(r, "n1", "POST", PODS "/p/binding",
                      "{'metadata':{'name':'p'},'target':{'kind':'Node','name':'n1'}}"),
              "message",
              "pods \"p\" is forbidden: unexpected pod subresource \"binding\", only 'status' and "
              "'eviction' are allowed");
    assert_code(as_node(r, "n1", "PATCH", PODS "/p", "{'metadata':{'labels':{'a':'b'}}}"), 415);
    assert_code(as_node(r, "n1", "DELETE", PODS "/p", NULL), 403);
}

static void users_that_are_no_nodes_are_not_restricted(void **state)
{
    (void)state;
    kc_auto(rbac) *r = start_with_mighty_nodes();
    rbac_create(r, "/api/v1/nodes",
                "{'metadata':{'name':'n9','labels':{'node-restriction.kubernetes.io/a':'b'}}}");
    assert_code(
        as_node(r, "n9", "POST", "/api/v1/nodes", "{'metadata':{'name':'n8','labels':{'a':'b'}}}"),
        403);
    assert_code(
        as_node(r, "n8", "POST", "/api/v1/nodes", "{'metadata':{'name':'n8','labels':{'a':'b'}}}"),
        201);
}

TESTS(deletion_of_a_collection_stops_at_the_slice_of_another_node,
      other_subresources_of_pods_are_forbidden, users_that_are_no_nodes_are_not_restricted)
