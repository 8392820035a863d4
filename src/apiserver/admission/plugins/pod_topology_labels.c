/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_topology_labels.c: implements the admission plugin PodTopologyLabels. A Binding gets the
 * labels topology.kubernetes.io/zone and /region of its node, and the pod gets the labels of the
 * Binding (subresources/bind.c). A pod that is created with a node gets them at once. A node that
 * does not exist, or has no such label, changes nothing.
 *
 * Kubernetes 1.34 lists the plugin among those that are on, but its feature gate
 * (PodTopologyLabelsAdmission) is off. Here --enable-admission-plugins turns it on.
 */
#include "apiserver/admission/plugins/pod_topology_labels.h"

#include "apiserver/admission/chain/plugin_request.h"
#include "apiserver/kinds/defaults.h"

static const char *const topology_keys[] = {"topology.kubernetes.io/zone",
                                            "topology.kubernetes.io/region"};

static bool has_topology(const kc_value *labels)
{
    for (size_t i = 0; i < KC_COUNT(topology_keys); i++)
        if (kc_value_get(labels, topology_keys[i]))
            return true;
    return false;
}

static void copy_topology(kc_edit *edit, const kc_value *labels)
{
    kc_node *metadata = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("metadata"));
    kc_node *own = kc_node_ensure_object(edit, metadata, KC_STR("labels"));
    for (size_t i = 0; i < KC_COUNT(topology_keys); i++) {
        const kc_value *value = kc_value_get(labels, topology_keys[i]);
        if (value)
            kc_node_set(edit, own, kc_cstr(topology_keys[i]), kc_node_from_value(edit, value));
    }
}

/* The labels of a node, in *ret_view; NULL if it has no topology. */
static const kc_value *topology_of_node(const kc__rest_call *call, kc_str name, kc_view **ret_view)
{
    kc_auto(kc_object) *node =
        name.n ? kc__watch_cache_get(kc__admission_objects(call, "", "nodes"), name) : NULL;
    if (!node)
        return NULL;
    *ret_view = kc_view_of(node);
    const kc_value *labels = kc_value_nested(kc_view_root(*ret_view), "metadata.labels");
    return has_topology(labels) ? labels : NULL;
}

kc__rest_verdict kc__admission_topology_labels_mutate(kc__rest_call *call)
{
    if (!kc__admission_creates(call, "core/pods"))
        return KC__REST_NEXT;
    kc_auto(kc_view) *node = NULL;
    kc_edit *edit = kc__draft_edit(&call->draft);
    const kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    const kc_value *labels =
        topology_of_node(call, kc__defaults_node_text(spec, "nodeName"), &node);
    if (labels)
        copy_topology(edit, labels);
    return KC__REST_NEXT;
}

/* Runs again on its own result, which it does not change. */
kc__rest_verdict kc__admission_topology_labels_body(kc__rest_call *call)
{
    if (!call->subresource_body || !call->subresource ||
        strcmp(call->subresource->name, "binding") != 0)
        return KC__REST_NEXT;
    call->copies_labels = true;
    kc_auto(kc_view) *binding = kc_view_of(call->subresource_body), *node = NULL;
    const kc_value *target = kc_value_get(kc_view_root(binding), "target");
    if (!kc_str_is(kc_value_as_str(kc_value_get(target, "kind")), "Node"))
        return KC__REST_NEXT;
    const kc_value *labels =
        topology_of_node(call, kc_value_as_str(kc_value_get(target, "name")), &node);
    if (!labels)
        return KC__REST_NEXT;
    kc_auto(kc_edit) *edit = kc_edit_of(call->subresource_body);
    copy_topology(edit, labels);
    kc_object *changed = kc_edit_freeze(edit, &call->error);
    if (!changed)
        return KC__REST_FAIL;
    kc_object_unref(call->subresource_body);
    call->subresource_body = changed;
    return KC__REST_NEXT;
}
