/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conditions.c: status conditions, a list with one condition per type. lastTransitionTime is the
 * time when the status last changed, not when it was last reported.
 */
#include "apiserver/kinds/conditions.h"

kc_node *kc__condition_new(kc_edit *edit, const char *type, const char *status, const char *reason)
{
    kc_node *condition = kc_node_object(edit);
    kc_node_add(edit, condition, KC_STR("type"), kc_node_str(edit, kc_cstr(type)));
    kc_node_add(edit, condition, KC_STR("status"), kc_node_str(edit, kc_cstr(status)));
    if (reason)
        kc_node_add(edit, condition, KC_STR("reason"), kc_node_str(edit, kc_cstr(reason)));
    return condition;
}

static kc_str text_in(const kc_node *object, const char *name)
{
    return kc_node_as_str(kc_node_get(object, kc_cstr(name)));
}

void kc__condition_put(kc_edit *edit, kc_node *object, kc_node *condition, kc_str now)
{
    kc_node *status = kc_node_ensure_object(edit, object, KC_STR("status"));
    kc_node *list = kc_node_get(status, KC_STR("conditions"));
    if (kc_node_type(list) != KC_JSON_ARRAY) {
        list = kc_node_array(edit);
        kc_node_set(edit, status, KC_STR("conditions"), list);
    }
    kc_node *since = kc_node_str(edit, now);
    size_t i = 0, at = kc_node_len(list);
    kc_node_each_item (list, other) {
        if (at == kc_node_len(list) &&
            kc_str_eq(text_in(other, "type"), text_in(condition, "type"))) {
            at = i;
            kc_node *before = kc_node_get(other, KC_STR("lastTransitionTime"));
            if (before && kc_str_eq(text_in(other, "status"), text_in(condition, "status")))
                since = kc_node_clone(edit, before);
        }
        i++;
    }
    kc_node_set(edit, condition, KC_STR("lastTransitionTime"), since);
    if (at < kc_node_len(list))
        kc_node_replace_at(list, at, condition);
    else
        kc_node_append(list, condition);
}

bool kc__condition_has_true(const kc_value *object, const char *type)
{
    kc_value_each_item (kc_value_get(kc_value_get(object, "status"), "conditions"), condition)
        if (kc_str_is(kc_value_as_str(kc_value_get(condition, "type")), type))
            return kc_str_is(kc_value_as_str(kc_value_get(condition, "status")), "True");
    return false;
}
