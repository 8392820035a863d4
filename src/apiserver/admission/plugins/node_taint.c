/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_taint.c: implements the admission plugin TaintNodesByCondition. A new Node gets the
 * not-ready taint, so that no pod is scheduled on it before it is ready; the node lifecycle
 * controller removes the taint.
 */
#include "apiserver/admission/plugins/node_taint.h"

#include "apiserver/admission/chain/plugin_request.h"
#include "apiserver/kinds/defaults.h"

#define NOT_READY "node.kubernetes.io/not-ready"

static bool has_not_ready_taint(const kc_node *taints)
{
    kc_node_each_item (taints, item)
        if (kc_str_is(kc__defaults_node_text(item, "key"), NOT_READY) &&
            kc_str_is(kc__defaults_node_text(item, "effect"), "NoSchedule"))
            return true;
    return false;
}

kc__rest_verdict kc__admission_node_taint(kc__rest_call *call)
{
    if (!kc__admission_creates(call, "core/nodes"))
        return KC__REST_NEXT;
    kc_edit *edit = kc__draft_edit(&call->draft);
    kc_node *spec = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("spec")),
            *taints = kc_node_get(spec, KC_STR("taints")), *taint = kc_node_object(edit);
    if (has_not_ready_taint(taints))
        return KC__REST_NEXT;
    if (kc_node_type(taints) != KC_JSON_ARRAY) {
        taints = kc_node_array(edit);
        kc_node_set(edit, spec, KC_STR("taints"), taints);
    }
    kc_node_set(edit, taint, KC_STR("key"), kc_node_str(edit, KC_STR(NOT_READY)));
    kc_node_set(edit, taint, KC_STR("effect"), kc_node_str(edit, KC_STR("NoSchedule")));
    kc_node_append(taints, taint);
    return KC__REST_NEXT;
}
