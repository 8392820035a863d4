/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_authorizer.c: decides about requests of nodes, resource by resource. Order of the checks and
 * reasons are those of Kubernetes v1.34 with its default features.
 *
 * To add a resource: a row of `resources`.
 */
#include "apiserver/authz/node_authorizer.h"

#include "apiserver/authz/follower.h"
#include "apiserver/authz/node_graph.h"
#include "apiserver/authz/node_identity.h"
#include "apiserver/authz/policy.h"
#include "apiserver/authz/rbac_rules.h"
#include "kc/json.h"

#include <assert.h>

#define NODE_LEASES "kube-node-lease"

/* Objects that a decision on an event loop may process: below a millisecond. */
enum { FEW_CHANGES = 64 };

struct kc__authz_node {
    kc__authz_follower *follower; /* Guards the graph by its lock. */
    kc__authz_graph graph;
    kc__rbac_rules *rules; /* For resources without a row of `resources`. */
};

/* One decision. */
typedef struct node_request {
    kc__authz_node *authorizer;
    const kc__authz_attributes *a;
    kc_str node;    /* The name of the node that sent the request. */
    kc_buf *reason; /* May be NULL. */
} node_request;

/* ---- following the store ---- */

static void set_pod(void *graph, kc_str key, const kc_object *object)
{
    kc__authz_graph_set_pod(graph, key, object);
}

static void set_volume(void *graph, kc_str key, const kc_object *object)
{
    kc__authz_graph_set_volume(graph, key, object);
}

static void set_attachment(void *graph, kc_str key, const kc_object *object)
{
    kc__authz_graph_set_attachment(graph, key, object);
}

static void set_slice(void *graph, kc_str key, const kc_object *object)
{
    kc__authz_graph_set_slice(graph, key, object);
}

static const kc__authz_source sources[] = {
    {"", "pods", set_pod},
    {"", "persistentvolumes", set_volume},
    {"storage.k8s.io", "volumeattachments", set_attachment},
    {"resource.k8s.io", "resourceslices", set_slice},
};

static kc__rbac_rules *rules_of_role(const char *name)
{
    const kc__policy_role *role = kc__policy_cluster_roles;
    while (strcmp(role->name, name) != 0)
        role++;
    kc_scoped(kc_buf) text = {0};
    kc__policy_rules_write(&text, role->rules);
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&text), NULL, NULL);
    assert(view && "the rules of a system role are valid");
    return kc__rbac_rules_new(kc_view_root(view));
}

kc__authz_node *kc__authz_node_new(const kc__authz_node_opts *opts, kc_error *err)
{
    kc_auto(kc__authz_node) *node = kc_new(kc__authz_node);
    node->rules = rules_of_role("system:node");
    node->follower = kc__authz_follower_new(
        &(kc__authz_follower_opts){.store = opts->store,
                                   .sources = sources,
                                   .n_sources = KC_COUNT(sources),
                                   .index = &node->graph,
                                   .bytes = &node->graph.bytes,
                                   .metric = "apiserver_node_authorizer_graph_bytes",
                                   .metric_help = "Memory of the graph of the Node authorizer.",
                                   .memory = opts->memory,
                                   .metrics = opts->metrics},
        err);
    return node->follower ? kc_take(node) : NULL;
}

kc__authz_node *kc__authz_node_free(kc__authz_node *node)
{
    if (!node)
        return NULL;
    kc__authz_follower_free(node->follower);
    kc__authz_graph_done(&node->graph);
    kc__rbac_rules_unref(node->rules);
    free(node);
    return NULL;
}

/* ---- results ---- */

static kc__authz_decision no_opinion(const node_request *q, const char *fmt, ...) KC_PRINTF(2, 3);

static kc__authz_decision no_opinion(const node_request *q, const char *fmt, ...)
{
    va_list args;
    if (!q->reason)
        return KC__AUTHZ_NO_OPINION;
    va_start(args, fmt);
    kc_buf_vprintf(q->reason, fmt, args);
    va_end(args);
    return KC__AUTHZ_NO_OPINION;
}

static bool verb_is_any(const node_request *q, const char *const *verbs)
{
    return kc_str_is_any(q->a->verb, verbs);
}

static bool is_related(const node_request *q, kc__authz_object_type type)
{
    kc__authz_follower_lock(q->authorizer->follower);
    const bool related =
        kc__authz_graph_relates(&q->authorizer->graph, type, q->a->ns, q->a->name, q->node);
    kc__authz_follower_unlock(q->authorizer->follower);
    return related;
}

static kc__authz_decision if_related(const node_request *q, kc__authz_object_type type)
{
    if (is_related(q, type))
        return KC__AUTHZ_ALLOW;
    return no_opinion(q, "no relationship found between node '%.*s' and this object",
                      KC_ARG(q->node));
}

static kc__authz_decision if_named_and_related(const node_request *q, kc__authz_object_type type)
{
    return kc_str_empty(q->a->name) ? no_opinion(q, "No Object name found") : if_related(q, type);
}

static bool selects_own_node(const node_request *q)
{
    for (size_t i = 0; i < q->a->n_fields; i++) {
        const kc_field_requirement *r = &q->a->fields[i];
        if (kc_str_is(r->field, "spec.nodeName") && !r->negated && kc_str_eq(r->value, q->node))
            return true;
    }
    return false;
}

/* ---- objects that pods refer to ---- */

static kc__authz_decision read_namespaced(const node_request *q, kc__authz_object_type type)
{
    static const char *const verbs[] = {"get", "list", "watch", NULL};
    if (!verb_is_any(q, verbs))
        return no_opinion(q, "can only read resources of this type");
    if (!kc_str_empty(q->a->subresource))
        return no_opinion(q, "cannot read subresource");
    if (kc_str_empty(q->a->ns))
        return no_opinion(q, "can only read namespaced object of this type");
    return if_named_and_related(q, type);
}

static kc__authz_decision get_one(const node_request *q, kc__authz_object_type type)
{
    if (!kc_str_is(q->a->verb, "get"))
        return no_opinion(q, "can only get individual resources of this type");
    if (!kc_str_empty(q->a->subresource))
        return no_opinion(q, "cannot get subresource");
    return if_named_and_related(q, type);
}

static kc__authz_decision use_claim(const node_request *q, kc__authz_object_type type)
{
    static const char *const verbs[] = {"update", "patch", NULL};
    if (!kc_str_is(q->a->subresource, "status"))
        return get_one(q, type);
    if (!verb_is_any(q, verbs))
        return no_opinion(q, "can only get/update/patch this type");
    return if_named_and_related(q, type);
}

static kc__authz_decision use_account(const node_request *q, kc__authz_object_type type)
{
    if (kc_str_is(q->a->verb, "get") && kc_str_empty(q->a->subresource))
        return read_namespaced(q, type);
    if (!kc_str_is(q->a->verb, "create") || kc_str_empty(q->a->name))
        return no_opinion(q, "can only create tokens for individual service accounts");
    if (!kc_str_is(q->a->subresource, "token"))
        return no_opinion(q, "can only create token subresource of serviceaccount");
    return if_related(q, type);
}

/* ---- objects with the name of the node ---- */

static const char *const own_verbs[] = {"get", "create", "update", "patch", "delete", NULL};

/* The name of a new object is in its body, which NodeRestriction checks. */
static bool names_other_object(const node_request *q)
{
    return !kc_str_is(q->a->verb, "create") && !kc_str_eq(q->a->name, q->node);
}

static kc__authz_decision use_lease(const node_request *q, kc__authz_object_type type)
{
    (void)type;
    if (!verb_is_any(q, own_verbs))
        return no_opinion(q, "can only get, create, update, patch, or delete a node lease");
    if (!kc_str_is(q->a->ns, NODE_LEASES))
        return no_opinion(q, "can only access leases in the \"" NODE_LEASES "\" system namespace");
    if (names_other_object(q))
        return no_opinion(q,
                          "can only access node lease with the same name as the requesting node");
    return KC__AUTHZ_ALLOW;
}

static kc__authz_decision use_csi_node(const node_request *q, kc__authz_object_type type)
{
    (void)type;
    if (!verb_is_any(q, own_verbs))
        return no_opinion(q, "can only get, create, update, patch, or delete a CSINode");
    if (!kc_str_empty(q->a->subresource))
        return no_opinion(q, "cannot authorize CSINode subresources");
    if (names_other_object(q))
        return no_opinion(q, "can only access CSINode with the same name as the requesting node");
    return KC__AUTHZ_ALLOW;
}

static kc__authz_decision read_nodes(const node_request *q)
{
    if (kc_str_eq(q->a->name, q->node))
        return KC__AUTHZ_ALLOW;
    if (kc_str_empty(q->a->name))
        return no_opinion(q, "node '%.*s' cannot read all nodes, only its own Node object",
                          KC_ARG(q->node));
    return no_opinion(q, "node '%.*s' cannot read '%.*s', only its own Node object",
                      KC_ARG(q->node), KC_ARG(q->a->name));
}

static kc__authz_decision use_node(const node_request *q, kc__authz_object_type type)
{
    static const char *const reads[] = {"get", "list", "watch", NULL},
                             *const writes[] = {"create", "update", "patch", NULL},
                             *const reports[] = {"update", "patch", NULL};
    (void)type;
    if (kc_str_is(q->a->subresource, "status") && verb_is_any(q, reports))
        return KC__AUTHZ_ALLOW;
    if (!kc_str_empty(q->a->subresource))
        return KC__AUTHZ_NO_OPINION;
    if (verb_is_any(q, writes))
        return KC__AUTHZ_ALLOW;
    return verb_is_any(q, reads) ? read_nodes(q) : KC__AUTHZ_NO_OPINION;
}

/* ---- objects that belong to a node ---- */

static kc__authz_decision use_slice(const node_request *q, kc__authz_object_type type)
{
    static const char *const single[] = {"get", "update", "patch", "delete", NULL},
                             *const several[] = {"watch", "list", "deletecollection", NULL};
    if (!kc_str_empty(q->a->subresource))
        return no_opinion(q, "cannot authorize ResourceSlice subresources");
    if (kc_str_is(q->a->verb, "create"))
        return KC__AUTHZ_ALLOW;
    if (verb_is_any(q, single))
        return if_named_and_related(q, type);
    if (!verb_is_any(q, several))
        return no_opinion(q,
                          "only the following verbs are allowed for a ResourceSlice: get, watch, "
                          "list, create, update, patch, delete, deletecollection");
    return selects_own_node(q)
               ? KC__AUTHZ_ALLOW
               : no_opinion(q, "can only list/watch/deletecollection resourceslices with nodeName "
                               "field selector");
}

static kc__authz_decision list_pods(const node_request *q, kc__authz_object_type type)
{
    if (selects_own_node(q))
        return KC__AUTHZ_ALLOW;
    if (!kc_str_empty(q->a->name))
        return if_named_and_related(q, type);
    return no_opinion(q, "can only list/watch pods with spec.nodeName field selector");
}

/* NodeRestriction limits the writes to mirror pods, and to pods on the node. */
static kc__authz_decision use_pod(const node_request *q, kc__authz_object_type type)
{
    static const char *const lists[] = {"list", "watch", NULL},
                             *const writes[] = {"create", "delete", NULL},
                             *const reports[] = {"update", "patch", NULL};
    const kc_str subresource = q->a->subresource;
    if (kc_str_is(subresource, "status") && verb_is_any(q, reports))
        return KC__AUTHZ_ALLOW;
    if (kc_str_is(subresource, "eviction") && kc_str_is(q->a->verb, "create"))
        return KC__AUTHZ_ALLOW;
    if (!kc_str_empty(subresource))
        return KC__AUTHZ_NO_OPINION;
    if (kc_str_is(q->a->verb, "get"))
        return get_one(q, type);
    if (verb_is_any(q, lists))
        return list_pods(q, type);
    return verb_is_any(q, writes) ? KC__AUTHZ_ALLOW : KC__AUTHZ_NO_OPINION;
}

/* ---- decisions ---- */

static const struct node_resource {
    const char *group, *resource;
    kc__authz_decision (*decide)(const node_request *q, kc__authz_object_type type);
    kc__authz_object_type type;
} resources[] = {
    {"", "secrets", read_namespaced, KC__AUTHZ_SECRET},
    {"", "configmaps", read_namespaced, KC__AUTHZ_CONFIG_MAP},
    {"", "persistentvolumeclaims", use_claim, KC__AUTHZ_VOLUME_CLAIM},
    {"", "persistentvolumes", get_one, KC__AUTHZ_VOLUME},
    {"resource.k8s.io", "resourceclaims", get_one, KC__AUTHZ_RESOURCE_CLAIM},
    {"storage.k8s.io", "volumeattachments", get_one, KC__AUTHZ_VOLUME_ATTACHMENT},
    {"", "serviceaccounts", use_account, KC__AUTHZ_SERVICE_ACCOUNT},
    {"coordination.k8s.io", "leases", use_lease, KC__AUTHZ_NODE},
    {"storage.k8s.io", "csinodes", use_csi_node, KC__AUTHZ_NODE},
    {"resource.k8s.io", "resourceslices", use_slice, KC__AUTHZ_RESOURCE_SLICE},
    {"", "nodes", use_node, KC__AUTHZ_NODE},
    {"", "pods", use_pod, KC__AUTHZ_POD},
};

static const struct node_resource *find_node_resource(const kc__authz_attributes *a)
{
    for (size_t i = 0; a->is_resource && i < KC_COUNT(resources); i++)
        if (kc_str_is(a->resource, resources[i].resource) &&
            kc_str_is(a->group, resources[i].group))
            return &resources[i];
    return NULL;
}

kc__authz_decision kc__authz_node_authorize(kc__authz_node *node, const kc__authz_attributes *a,
                                            kc_buf *reason)
{
    node_request q = {.authorizer = node, .a = a, .reason = reason};
    if (!kc__authz_node_identity(a->user, &q.node))
        return KC__AUTHZ_NO_OPINION;
    if (kc_str_empty(q.node))
        return no_opinion(&q, "unknown node for user \"%.*s\"", KC_ARG(a->user->name));
    const struct node_resource *r = find_node_resource(a);
    if (r)
        return r->decide(&q, r->type);
    kc__authz_attributes request = *a;
    request.verb_bit = kc__rbac_verb_bit(a->verb);
    return kc__rbac_rules_allow(node->rules, &request) ? KC__AUTHZ_ALLOW : KC__AUTHZ_NO_OPINION;
}

bool kc__authz_node_takes_long(kc__authz_node *node, const kc__user *user)
{
    kc_str name;
    return kc__authz_node_identity(user, &name) &&
           kc__authz_follower_is_far_behind(node->follower, FEW_CHANGES);
}
