/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extended_tolerations.c: implements the admission plugin ExtendedResourceToleration. A pod that
 * requests an extended resource tolerates the taint of that name, by which its nodes are kept free
 * of other pods.
 */
#include "apiserver/admission/plugins/extended_tolerations.h"

#include "apiserver/admission/chain/plugin_request.h"
#include "apiserver/kinds/defaults.h"
#include "kc/quota.h"

typedef KC_VEC(kc_str) extended_names;

static void add_extended_names(const kc_node *containers, extended_names *ret)
{
    kc_node_each_item (containers, container) {
        const kc_node *requests =
            kc_node_get(kc_node_get(container, KC_STR("resources")), KC_STR("requests"));
        kc_node_each_member (requests, name, amount) {
            (void)amount;
            if (kc_quota_is_extended_resource(name))
                kc_vec_push(ret, name);
        }
    }
}

static bool is_same_toleration(const kc_node *toleration, kc_str key)
{
    return kc_str_eq(kc__defaults_node_text(toleration, "key"), key) &&
           kc_str_is(kc__defaults_node_text(toleration, "effect"), "NoSchedule") &&
           kc_str_is(kc__defaults_node_text(toleration, "operator"), "Exists") &&
           !kc__defaults_node_text(toleration, "value").n;
}

static void add_extended_toleration(kc_edit *edit, kc_node *spec, kc_str key)
{
    kc_node *list = kc_node_get(spec, KC_STR("tolerations")), *one = kc_node_object(edit);
    if (kc_node_type(list) != KC_JSON_ARRAY) {
        list = kc_node_array(edit);
        kc_node_set(edit, spec, KC_STR("tolerations"), list);
    }
    kc_node_each_item (list, toleration)
        if (is_same_toleration(toleration, key))
            return;
    kc_node_set(edit, one, KC_STR("key"), kc_node_str(edit, key));
    kc_node_set(edit, one, KC_STR("operator"), kc_node_str(edit, KC_STR("Exists")));
    kc_node_set(edit, one, KC_STR("effect"), kc_node_str(edit, KC_STR("NoSchedule")));
    kc_node_append(list, one);
}

kc__rest_verdict kc__admission_extended_tolerations(kc__rest_call *call)
{
    extended_names names = {0};
    if (!kc__admission_writes(call, "core/pods", NULL))
        return KC__REST_NEXT;
    kc_edit *edit = kc__draft_edit(&call->draft);
    kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    add_extended_names(kc_node_get(spec, KC_STR("containers")), &names);
    add_extended_names(kc_node_get(spec, KC_STR("initContainers")), &names);
    kc_vec_sort(&names, kc_str_compare);
    kc_vec_each (&names, name)
        add_extended_toleration(edit, spec, *name);
    kc_vec_done(&names);
    return KC__REST_NEXT;
}
