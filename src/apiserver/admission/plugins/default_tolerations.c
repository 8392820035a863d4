/* SPDX-License-Identifier: Apache-2.0 */
/*
 * default_tolerations.c: implements the admission plugin DefaultTolerationSeconds. A pod stays on a
 * node that becomes not ready or unreachable for 300 seconds, or as long as flags say, unless it
 * has tolerations of its own for these taints.
 */
#include "apiserver/admission/plugins/default_tolerations.h"

#include "apiserver/admission/chain/plugin_config.h"
#include "apiserver/admission/chain/plugin_request.h"
#include "apiserver/kinds/defaults.h"

#define NOT_READY   "node.kubernetes.io/not-ready"
#define UNREACHABLE "node.kubernetes.io/unreachable"

/* Whether a toleration matches a taint with this key and keeps pods on the node. */
static bool tolerates(const kc_node *toleration, const char *key)
{
    kc_str own = kc__defaults_node_text(toleration, "key"),
           effect = kc__defaults_node_text(toleration, "effect");
    return (kc_str_is(own, key) || !own.n) && (kc_str_is(effect, "NoExecute") || !effect.n);
}

static void add_toleration(kc_edit *edit, kc_node *list, const char *key, int64_t seconds)
{
    kc_node *one = kc_node_object(edit);
    kc_node_each_item (list, item)
        if (tolerates(item, key))
            return;
    kc_node_set(edit, one, KC_STR("key"), kc_node_str(edit, kc_cstr(key)));
    kc_node_set(edit, one, KC_STR("operator"), kc_node_str(edit, KC_STR("Exists")));
    kc_node_set(edit, one, KC_STR("effect"), kc_node_str(edit, KC_STR("NoExecute")));
    kc_node_set(edit, one, KC_STR("tolerationSeconds"), kc_node_i64(edit, seconds));
    kc_node_append(list, one);
}

static kc__admission_default_toleration_seconds default_seconds(const kc__rest_call *call)
{
    const kc__admission_config *config = call->api->admission_config;
    if (config && config->default_tolerations.given)
        return config->default_tolerations;
    return (kc__admission_default_toleration_seconds){.not_ready = 300, .unreachable = 300};
}

kc__rest_verdict kc__admission_default_tolerations(kc__rest_call *call)
{
    if (!kc__admission_writes(call, "core/pods", NULL))
        return KC__REST_NEXT;
    kc_edit *edit = kc__draft_edit(&call->draft);
    kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec")),
            *list = kc_node_get(spec, KC_STR("tolerations"));
    if (kc_node_type(list) != KC_JSON_ARRAY) {
        list = kc_node_array(edit);
        kc_node_set(edit, spec, KC_STR("tolerations"), list);
    }
    const kc__admission_default_toleration_seconds seconds = default_seconds(call);
    add_toleration(edit, list, NOT_READY, seconds.not_ready);
    add_toleration(edit, list, UNREACHABLE, seconds.unreachable);
    return KC__REST_NEXT;
}
