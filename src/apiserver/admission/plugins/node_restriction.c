/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_restriction.c: recognizes the writes of nodes, and checks those of Nodes, leases, CSINodes,
 * ResourceSlices and PersistentVolumeClaims. Pods, tokens and certificates have files of their own.
 * Order and messages of the checks are those of Kubernetes v1.34.
 *
 * A write is checked before the server has set its own fields: what the node has sent counts.
 *
 * To add a resource: a row of `restricted`.
 */
#include "apiserver/admission/plugins/node_restriction.h"

#include "apiserver/admission/plugins/node_restriction_internal.h"
#include "apiserver/authz/authz.h"
#include "apiserver/authz/node_identity.h"
#include "apiserver/kinds/internal_form.h"
#include "kc/diff.h"
#include "kc/edit.h"
#include "kc/vec.h"

#define NODE_LEASES      "kube-node-lease"
#define NODE_RESTRICTION "node-restriction.kubernetes.io"

static const kc_equal_opts semantic = {.empty_is_absent = true};

/* ---- what the files share ---- */

const char *kc__admission_node_operation_name(const kc__admission_node_write *w)
{
    static const char *const names[] = {[KC__ADMISSION_NODE_CREATE] = "CREATE",
                                        [KC__ADMISSION_NODE_UPDATE] = "UPDATE",
                                        [KC__ADMISSION_NODE_DELETE] = "DELETE"};
    return names[w->operation];
}

/* The message of a lister, which names the kind instead of the resource. */
static kc__rest_verdict find_object(kc__rest_call *call, const char *plural, const char *kind,
                                    kc_str key, kc_str name, kc_object **ret)
{
    *ret = kc__watch_cache_get(kc__admission_objects(call, "", plural), key);
    if (*ret)
        return KC__REST_NEXT;
    kc__rest_fail(call, KC_NOT_FOUND, "%s \"%.*s\" not found", kind, KC_ARG(name));
    kc_error_about(&call->error, (kc_str){0}, kc_cstr(kind), name);
    return KC__REST_FAIL;
}

kc__rest_verdict kc__admission_node_find_pod(const kc__admission_node_write *w, kc_str name,
                                             kc_object **ret)
{
    return find_object(w->call, "pods", "pod", kc__rest_key_of(w->call, name), name, ret);
}

kc__rest_verdict kc__admission_node_find_own(const kc__admission_node_write *w, kc_object **ret)
{
    return find_object(w->call, "nodes", "node", w->node, w->node, ret);
}

/* ---- labels of nodes ---- */

static kc_str label_namespace(kc_str key)
{
    kc_str rest = key;
    const kc_str ns = kc_str_cut(&rest, '/');
    return ns.n < key.n ? ns : (kc_str){0};
}

/* Whether a domain is one of the list, or below one. */
static bool is_in_domain(kc_str ns, const char *const *domains)
{
    for (; *domains; domains++) {
        const kc_str domain = kc_cstr(*domains);
        if (kc_str_eq(ns, domain) ||
            (ns.n > domain.n && ns.p[ns.n - domain.n - 1] == '.' && kc_str_ends(ns, domain)))
            return true;
    }
    return false;
}

static bool is_forbidden_label(kc_str key)
{
    static const char *const reserved[] = {NODE_RESTRICTION, NULL},
                             *const system[] = {"kubernetes.io", "k8s.io", NULL},
                             *const kubelet[] = {"kubelet.kubernetes.io", "node.kubernetes.io",
                                                 NULL},
                             *const known[] = {"kubernetes.io/hostname",
                                               "topology.kubernetes.io/zone",
                                               "topology.kubernetes.io/region",
                                               "failure-domain.beta.kubernetes.io/zone",
                                               "failure-domain.beta.kubernetes.io/region",
                                               "beta.kubernetes.io/instance-type",
                                               "node.kubernetes.io/instance-type",
                                               "kubernetes.io/os",
                                               "kubernetes.io/arch",
                                               "beta.kubernetes.io/os",
                                               "beta.kubernetes.io/arch",
                                               NULL};
    const kc_str ns = label_namespace(key);
    if (is_in_domain(ns, reserved))
        return true;
    return is_in_domain(ns, system) && !kc_str_is_any(key, known) && !is_in_domain(ns, kubelet);
}

typedef KC_VEC(kc_str) label_keys;

/* Adds the forbidden labels of `labels` that have another value in `others`. */
static void find_changed_labels(const kc_value *labels, const kc_value *others, bool removed_only,
                                label_keys *keys)
{
    kc_value_each_member (labels, key, value) {
        const kc_value *other = kc_value_get_str(others, key);
        const bool changed = removed_only ? !other : !other || !kc_value_equal(value, other, NULL);
        if (changed && is_forbidden_label(key))
            kc_vec_push(keys, key);
    }
}

static int compare_keys(const void *a, const void *b)
{
    return kc_str_cmp(*(const kc_str *)a, *(const kc_str *)b);
}

/* Appends the labels that the node must not change, in order. */
static void list_forbidden_labels(const kc__admission_node_write *w, kc_buf *out)
{
    const kc_value *labels = kc_value_nested(w->object, "metadata.labels"),
                   *old = kc_value_nested(w->old, "metadata.labels");
    label_keys keys = {0};
    find_changed_labels(labels, old, false, &keys);
    find_changed_labels(old, labels, true, &keys);
    if (keys.n)
        qsort(keys.items, keys.n, sizeof(*keys.items), compare_keys);
    for (size_t i = 0; i < keys.n; i++)
        kc_buf_printf(out, "%s%.*s", i ? ", " : "", KC_ARG(keys.items[i]));
    kc_vec_done(&keys);
}

/* ---- Nodes ---- */

static kc__rest_verdict check_new_node(const kc__admission_node_write *w)
{
    kc_scoped(kc_buf) labels = {0};
    if (kc_value_type(kc_value_nested(w->object, "spec.configSource")) == KC_JSON_OBJECT)
        return kc__admission_forbid(
            w->call, "node \"%.*s\" is not allowed to create pods with a non-nil configSource",
            KC_ARG(w->node));
    list_forbidden_labels(w, &labels);
    if (labels.n)
        return kc__admission_forbid(w->call,
                                    "node \"%.*s\" is not allowed to set the following labels: %s",
                                    KC_ARG(w->node), kc_buf_cstr(&labels));
    return KC__REST_NEXT;
}

static bool node_changes(const kc__admission_node_write *w, const char *path)
{
    return !kc_value_equal(kc_value_nested(w->object, path), kc_value_nested(w->old, path),
                           &semantic);
}

static kc__rest_verdict check_changed_node(const kc__admission_node_write *w)
{
    kc_scoped(kc_buf) labels = {0};
    if (kc_value_type(kc_value_nested(w->object, "spec.configSource")) == KC_JSON_OBJECT &&
        node_changes(w, "spec.configSource"))
        return kc__admission_forbid(
            w->call,
            "node \"%.*s\" is not allowed to update configSource to a new non-nil configSource",
            KC_ARG(w->node));
    if (node_changes(w, "spec.taints"))
        return kc__admission_forbid(w->call, "node \"%.*s\" is not allowed to modify taints",
                                    KC_ARG(w->node));
    if (node_changes(w, "metadata.ownerReferences"))
        return kc__admission_forbid(
            w->call, "node \"%.*s\" is not allowed to modify ownerReferences", KC_ARG(w->node));
    list_forbidden_labels(w, &labels);
    if (labels.n)
        return kc__admission_forbid(w->call, "is not allowed to modify labels: %s",
                                    kc_buf_cstr(&labels));
    return KC__REST_NEXT;
}

static kc__rest_verdict check_node(const kc__admission_node_write *w)
{
    if (!kc_str_eq(w->name, w->node))
        return kc__admission_forbid(w->call, "node \"%.*s\" is not allowed to modify node \"%.*s\"",
                                    KC_ARG(w->node), KC_ARG(w->name));
    switch (w->operation) {
    case KC__ADMISSION_NODE_CREATE: return check_new_node(w);
    case KC__ADMISSION_NODE_UPDATE: return check_changed_node(w);
    default: return KC__REST_NEXT;
    }
}

/* ---- objects with the name of the node, or in its possession ---- */

static kc__rest_verdict check_lease(const kc__admission_node_write *w)
{
    if (!kc_str_is(w->call->info.ns, NODE_LEASES))
        return kc__admission_forbid(w->call, "can only access leases in the \"" NODE_LEASES
                                             "\" system namespace");
    if (!kc_str_eq(w->name, w->node))
        return kc__admission_forbid(
            w->call, "can only access node lease with the same name as the requesting node");
    return KC__REST_NEXT;
}

static kc__rest_verdict check_csi_node(const kc__admission_node_write *w)
{
    if (!kc_str_eq(w->name, w->node))
        return kc__admission_forbid(
            w->call, "can only access CSINode with the same name as the requesting node");
    return KC__REST_NEXT;
}

static kc__rest_verdict check_slice(const kc__admission_node_write *w)
{
    const bool creates = w->operation == KC__ADMISSION_NODE_CREATE;
    if (w->operation == KC__ADMISSION_NODE_UPDATE)
        return KC__REST_NEXT;
    const kc_value *node = kc_value_nested(creates ? w->object : w->old, "spec.nodeName");
    if (!kc_str_eq(kc_value_as_str(node), w->node))
        return kc__admission_forbid(
            w->call, "can only %s ResourceSlice with the same NodeName as the requesting node",
            creates ? "create" : "delete");
    return KC__REST_NEXT;
}

/* ---- claims ---- */

/* The claim without the fields that a node may change, and without those that the server sets. As
 * an internal object of Kubernetes it has no kind. */
static kc_object *without_node_fields(const kc_value *claim, kc_error *err)
{
    static const char *const own[] = {"capacity", "conditions", "allocatedResourceStatuses",
                                      "allocatedResources"};
    kc_auto(kc_edit) *edit = kc_edit_of_value(claim);
    kc_node *root = kc_edit_root(edit), *metadata = kc_node_get(root, KC_STR("metadata")),
            *status = kc_node_get(root, KC_STR("status"));
    kc_node_remove(root, KC_STR("kind"));
    kc_node_remove(root, KC_STR("apiVersion"));
    kc_node_remove(metadata, KC_STR("resourceVersion"));
    kc_node_remove(metadata, KC_STR("managedFields"));
    for (size_t i = 0; i < KC_COUNT(own); i++)
        kc_node_remove(status, kc_cstr(own[i]));
    return kc_edit_freeze(edit, err);
}

static kc__rest_verdict check_claim_status(const kc__admission_node_write *w)
{
    kc__rest_call *call = w->call;
    kc_auto(kc_object) *before = without_node_fields(w->old, &call->error);
    kc_auto(kc_object) *after = before ? without_node_fields(w->object, &call->error) : NULL;
    if (!after)
        return KC__REST_FAIL;
    if (kc_object_equal(before, after, &semantic))
        return KC__REST_NEXT;
    kc_auto(kc_view) *old = kc_view_of(before), *new = kc_view_of(after);
    return kc__admission_forbid(
        call,
        "node \"%.*s\" is not allowed to update fields other than status.quantity and "
        "status.conditions: %s",
        KC_ARG(w->node),
        kc__internal_form_diff("io.k8s.api.core.v1.PersistentVolumeClaim", kc_view_root(old),
                               kc_view_root(new), call->arena));
}

static kc__rest_verdict check_claim(const kc__admission_node_write *w)
{
    if (strcmp(w->subresource, "status") != 0)
        return kc__admission_forbid(w->call, "may only update PVC status");
    if (w->operation != KC__ADMISSION_NODE_UPDATE)
        return kc__admission_forbid(w->call, "unexpected operation \"%s\"",
                                    kc__admission_node_operation_name(w));
    return check_claim_status(w);
}

/* ---- the plugin ---- */

typedef kc__rest_verdict check_write_fn(const kc__admission_node_write *w);

static const struct {
    const char *storage;
    check_write_fn *check;
} restricted[] = {
    {"core/pods", kc__admission_node_pod},
    {"core/nodes", check_node},
    {"core/persistentvolumeclaims", check_claim},
    {"core/serviceaccounts", kc__admission_node_token},
    {"coordination.k8s.io/leases", check_lease},
    {"storage.k8s.io/csinodes", check_csi_node},
    {"resource.k8s.io/resourceslices", check_slice},
    {"certificates.k8s.io/certificatesigningrequests", kc__admission_node_certificate},
};

static check_write_fn *find_check(const kc__rest_call *call)
{
    for (size_t i = 0; call->resource->storage && i < KC_COUNT(restricted); i++)
        if (!strcmp(call->resource->storage, restricted[i].storage))
            return restricted[i].check;
    return NULL;
}

/* Begins to check a write. False: the user is no node, or may do it. *ret_verdict is then the
 * result. */
static bool is_write_of_node(kc__rest_call *call, kc__admission_node_write *w,
                             kc__rest_verdict *ret_verdict)
{
    *ret_verdict = KC__REST_NEXT;
    if (!kc__authz_node_identity(&call->user, &w->node))
        return false;
    if (kc_str_empty(w->node)) {
        *ret_verdict = kc__admission_forbid(call, "could not determine node from user \"%.*s\"",
                                            KC_ARG(call->user.name));
        return false;
    }
    w->call = call;
    w->subresource = call->subresource ? call->subresource->name : "";
    w->name = call->info.named ? call->info.name : (kc_str){0};
    return find_check(call);
}

static bool deletes_object(const kc__rest_call *call)
{
    return call->verb->bit & KC__VERB_DELETE;
}

kc__rest_verdict kc__admission_node_restriction(kc__rest_call *call)
{
    kc__admission_node_write w = {0};
    kc__rest_verdict verdict;
    if (call->verb->replaces_object || call->verb->bit & KC__VERB_DELETE_COLLECTION ||
        !is_write_of_node(call, &w, &verdict))
        return call->verb->replaces_object ? KC__REST_NEXT : verdict;
    const kc_object *object = NULL;
    if (!deletes_object(call) &&
        !(object = kc__draft_freeze(&call->draft, call->resource, &call->error)))
        return KC__REST_FAIL;
    kc_auto(kc_view) *view = object ? kc_view_of(object) : NULL;
    kc_auto(kc_view) *old = call->current ? kc_view_of(call->current) : NULL;
    w.object = view ? kc_view_root(view) : NULL;
    w.old = old ? kc_view_root(old) : NULL;
    if (!call->info.named) /* A generated name is none yet. */
        w.name = kc_value_as_str(kc_value_nested(w.object, "metadata.name"));
    w.operation = !object ? KC__ADMISSION_NODE_DELETE
                  : old   ? KC__ADMISSION_NODE_UPDATE
                          : KC__ADMISSION_NODE_CREATE;
    return find_check(call)(&w);
}

kc__rest_verdict kc__admission_node_restriction_body(kc__rest_call *call)
{
    kc__admission_node_write w = {.operation = KC__ADMISSION_NODE_CREATE};
    kc__rest_verdict verdict;
    if (!is_write_of_node(call, &w, &verdict))
        return verdict;
    if (kc__authz_has_webhook(call->api->authz) && !call->on_worker)
        return KC__REST_ON_WORKER; /* It may have to wait for the webhook. */
    kc_auto(kc_view) *view = kc_view_of(call->subresource_body);
    w.object = kc_view_root(view);
    return find_check(call)(&w);
}

kc__rest_verdict kc__admission_node_restriction_deletion(kc__rest_call *call,
                                                         const kc_object *object)
{
    kc__admission_node_write w = {.operation = KC__ADMISSION_NODE_DELETE};
    kc__rest_verdict verdict;
    if (!is_write_of_node(call, &w, &verdict))
        return verdict;
    kc_auto(kc_view) *old = kc_view_of(object);
    w.old = kc_view_root(old);
    return find_check(call)(&w);
}
