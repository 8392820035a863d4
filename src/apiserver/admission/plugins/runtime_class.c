/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_class.c: implements the admission plugin RuntimeClass. The class of a new pod sets the
 * pod's overhead, adds to its node selector, and merges its tolerations with those of the pod. A
 * pod whose class does not exist, or with another overhead than that of its class, is rejected.
 */
#include "apiserver/admission/plugins/runtime_class.h"

#include "apiserver/admission/chain/plugin_request.h"
#include "apiserver/admission/plugins/tolerations.h"
#include "apiserver/kinds/defaults.h"
#include "kc/quantity.h"

enum { MANY_TOLERATIONS = 100 }; /* Their merge takes up to 0.1 ms. */

#define OTHER_OVERHEAD "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"

/* Reads the class of that name into *ret_view; NULL: the pod names none. */
static kc__rest_verdict read_runtime_class(kc__rest_call *call, kc_str name, kc_view **ret_view)
{
    if (!name.p)
        return KC__REST_NEXT;
    kc_auto(kc_object) *object =
        kc__watch_cache_get(kc__admission_objects(call, "node.k8s.io", "runtimeclasses"), name);
    if (!object)
        return kc__admission_forbid(call, "pod rejected: RuntimeClass \"%.*s\" not found",
                                    KC_ARG(name));
    *ret_view = kc_view_of(object);
    return KC__REST_NEXT;
}

/* ---- overhead ---- */

static bool is_same_amount(kc_str a, kc_str b)
{
    kc_quantity x, y;
    return kc_quantity_parse(a, &x, NULL) == 0 && kc_quantity_parse(b, &y, NULL) == 0 &&
           kc_quantity_cmp(x, y) == 0;
}

/* Whether two lists of resources are equal; the amounts may be written differently. */
static bool is_same_overhead(const kc_value *a, const kc_value *b)
{
    if (kc_value_len(a) != kc_value_len(b))
        return false;
    kc_value_each_member (a, name, amount)
        if (!is_same_amount(kc_value_as_str(amount), kc_value_as_str(kc_value_get_str(b, name))))
            return false;
    return true;
}

static kc__rest_verdict set_overhead(kc__rest_call *call, kc_edit *edit, kc_node *spec,
                                     const kc_value *class)
{
    const kc_value *fixed = kc_value_nested(class, "overhead.podFixed");
    const kc_node *sent = kc_node_get(spec, KC_STR("overhead"));
    if (!kc_value_get(class, "overhead"))
        return KC__REST_NEXT;
    if (kc_node_len(sent) && kc_node_len(sent) != kc_value_len(fixed))
        return kc__admission_forbid(call, OTHER_OVERHEAD);
    kc_node_each_member (sent, name, amount)
        if (!is_same_amount(kc_node_as_str(amount), kc_value_as_str(kc_value_get_str(fixed, name))))
            return kc__admission_forbid(call, OTHER_OVERHEAD);
    if (fixed)
        kc_node_set(edit, spec, KC_STR("overhead"), kc_node_from_value(edit, fixed));
    return KC__REST_NEXT;
}

/* ---- scheduling ---- */

static kc__rest_verdict add_node_selector(kc__rest_call *call, kc_edit *edit, kc_node *spec,
                                          const kc_value *selector)
{
    if (!kc_value_len(selector))
        return KC__REST_NEXT;
    kc_node *own = kc_node_ensure_object(edit, spec, KC_STR("nodeSelector"));
    kc_value_each_member (selector, key, value) {
        const kc_node *sent = kc_node_get(own, key);
        const kc_str wanted = kc_value_as_str(value), is = kc_node_as_str(sent);
        if (sent && !kc_str_eq(is, wanted))
            return kc__admission_forbid(call,
                                        "conflict: runtimeClass.scheduling.nodeSelector[%.*s] = "
                                        "%.*s; pod.spec.nodeSelector[%.*s] = %.*s",
                                        KC_ARG(key), KC_ARG(wanted), KC_ARG(key), KC_ARG(is));
        kc_node_set(edit, own, key, kc_node_str(edit, wanted));
    }
    return KC__REST_NEXT;
}

kc__rest_verdict kc__admission_runtime_class_mutate(kc__rest_call *call)
{
    if (!kc__admission_creates(call, "core/pods"))
        return KC__REST_NEXT;
    kc_edit *edit = kc__draft_edit(&call->draft);
    kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    kc_auto(kc_view) *view = NULL;
    kc__rest_verdict verdict = read_runtime_class(
        call, kc_node_as_str(kc_node_get(spec, KC_STR("runtimeClassName"))), &view);
    if (verdict != KC__REST_NEXT || !view)
        return verdict;
    if (kc__admission_needs_worker(call, kc_node_len(kc_node_get(spec, KC_STR("tolerations"))) >
                                             MANY_TOLERATIONS))
        return KC__REST_ON_WORKER;
    const kc_value *class = kc_view_root(view);
    verdict = set_overhead(call, edit, spec, class);
    if (verdict == KC__REST_NEXT)
        verdict =
            add_node_selector(call, edit, spec, kc_value_nested(class, "scheduling.nodeSelector"));
    if (verdict == KC__REST_NEXT && kc_value_get(class, "scheduling"))
        kc__admission_merge_tolerations(edit, spec,
                                        kc_value_nested(class, "scheduling.tolerations"));
    return verdict;
}

kc__rest_verdict kc__admission_runtime_class_validate(kc__rest_call *call)
{
    if (!kc__admission_creates(call, "core/pods"))
        return KC__REST_NEXT;
    kc_auto(kc_view) *view = NULL;
    kc_auto(kc_view) *pod = kc_view_of(call->proposed);
    const kc_value *spec = kc_value_get(kc_view_root(pod), "spec"),
                   *overhead = kc_value_get(spec, "overhead");
    kc__rest_verdict verdict =
        read_runtime_class(call, kc_value_as_str(kc_value_get(spec, "runtimeClassName")), &view);
    if (verdict != KC__REST_NEXT)
        return verdict;
    const kc_value *defined = view ? kc_value_get(kc_view_root(view), "overhead") : NULL;
    if (defined && !is_same_overhead(kc_value_get(defined, "podFixed"), overhead))
        return kc__admission_forbid(call, OTHER_OVERHEAD);
    if (!defined && overhead)
        return kc__admission_forbid(call, "pod rejected: Pod Overhead set without corresponding "
                                          "RuntimeClass defined Overhead");
    return KC__REST_NEXT;
}
