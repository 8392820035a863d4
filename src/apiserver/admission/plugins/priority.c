/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priority.c: implements the admission plugin Priority.
 *
 * A pod's PriorityClass determines its priority and preemption policy. A pod without a class gets
 * those of the global default class, or priority 0. The two classes for system pods always exist. A
 * second global default is rejected; where a race created two, the one with the lower value counts.
 */
#include "apiserver/admission/plugins/priority.h"

#include "apiserver/admission/chain/plugin_request.h"
#include "apiserver/kinds/defaults.h"

typedef struct priority {
    kc_str class;
    int64_t value;
    kc_str policy;
} priority;

/* ---- PriorityClass ---- */

static kc__watch_cache *priority_classes(const kc__rest_call *call)
{
    return kc__admission_objects(call, "scheduling.k8s.io", "priorityclasses");
}

static void read_class(kc__rest_call *call, const kc_object *object, priority *ret)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *root = kc_view_root(view), *policy = kc_value_get(root, "preemptionPolicy");
    ret->class = kc_arena_str(call->arena, kc_object_name(object));
    ret->value = kc_value_as_i64_or(kc_value_get(root, "value"), 0);
    ret->policy = policy ? kc_arena_str(call->arena, kc_value_as_str(policy)) : KC_STR("");
}

static bool find_class(kc__rest_call *call, kc_str name, priority *ret)
{
    kc_auto(kc_object) *object = kc__watch_cache_get(priority_classes(call), name);
    bool cluster = kc_str_is(name, "system-cluster-critical");
    if (object)
        read_class(call, object, ret);
    else if (cluster || kc_str_is(name, "system-node-critical"))
        *ret = (priority){name, cluster ? 2000000000 : 2000001000, KC_STR("PreemptLowerPriority")};
    else
        return false;
    return true;
}

static bool is_global_default(const kc_object *object)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    return kc_value_as_bool(kc_value_get(kc_view_root(view), "globalDefault"), false);
}

/* The default class with the lowest value. False: there is none. The number of classes is small. */
static bool find_default_class(kc__rest_call *call, priority *ret)
{
    uint64_t revision;
    kc_auto(kc__cow_snapshot) *all = kc__watch_cache_snapshot(priority_classes(call), &revision);
    kc__cow_iter it = kc__cow_iter_start(all, NULL);
    bool found = false;
    while (kc__cow_iter_next(&it)) {
        priority one;
        if (!is_global_default(it.object))
            continue;
        read_class(call, it.object, &one);
        if (!found || one.value < ret->value)
            *ret = one;
        found = true;
    }
    return found;
}

/* ---- pods ---- */

static kc__rest_verdict check_sent_priority(kc__rest_call *call, const kc_node *spec,
                                            const priority *p)
{
    const kc_str policy = kc__defaults_node_text(spec, "preemptionPolicy");
    int64_t sent;
    if (kc_node_as_i64(kc_node_get(spec, KC_STR("priority")), &sent) && sent != p->value)
        return kc__admission_forbid(call,
                                    "the integer value of priority (%lld) must not be provided in "
                                    "pod spec; priority admission controller computed %lld from "
                                    "the given PriorityClass name",
                                    (long long)sent, (long long)p->value);
    if (p->policy.n && policy.n && !kc_str_eq(policy, p->policy))
        return kc__admission_forbid(
            call,
            "the string value of PreemptionPolicy (%.*s) must not be provided in pod spec; "
            "priority admission controller computed %.*s from the given PriorityClass name",
            KC_ARG(policy), KC_ARG(p->policy));
    return KC__REST_NEXT;
}

static kc__rest_verdict set_priority(kc__rest_call *call, kc_edit *edit, kc_node *spec)
{
    priority p = {.policy = KC_STR("PreemptLowerPriority")};
    const kc_str name = kc__defaults_node_text(spec, "priorityClassName");
    if (!name.n)
        find_default_class(call, &p);
    else if (!find_class(call, name, &p))
        return kc__admission_forbid(call, "no PriorityClass with name %.*s was found",
                                    KC_ARG(name));
    const kc__rest_verdict verdict = check_sent_priority(call, spec, &p);
    if (verdict != KC__REST_NEXT)
        return verdict;
    if (!name.n && p.class.n)
        kc_node_set(edit, spec, KC_STR("priorityClassName"), kc_node_str(edit, p.class));
    kc_node_set(edit, spec, KC_STR("priority"), kc_node_i64(edit, p.value));
    if (p.policy.n)
        kc_node_set(edit, spec, KC_STR("preemptionPolicy"), kc_node_str(edit, p.policy));
    return KC__REST_NEXT;
}

/* An update that omits the values set at creation does not clear them. */
static void keep_priority(kc__rest_call *call, kc_edit *edit, kc_node *spec)
{
    static const char *const names[] = {"priority", "preemptionPolicy"};
    kc_auto(kc_view) *view = kc_view_of(call->current);
    const kc_value *old = kc_value_get(kc_view_root(view), "spec");
    for (size_t i = 0; i < KC_COUNT(names); i++)
        if (kc__defaults_node_absent(spec, names[i]) && kc_value_get(old, names[i]))
            kc_node_set(edit, spec, kc_cstr(names[i]),
                        kc_node_from_value(edit, kc_value_get(old, names[i])));
}

kc__rest_verdict kc__admission_priority_mutate(kc__rest_call *call)
{
    if (!kc__admission_writes(call, "core/pods", NULL))
        return KC__REST_NEXT;
    kc_edit *edit = kc__draft_edit(&call->draft);
    kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    if (!call->current)
        return set_priority(call, edit, spec);
    keep_priority(call, edit, spec);
    return KC__REST_NEXT;
}

/* ---- classes ---- */

kc__rest_verdict kc__admission_priority_validate(kc__rest_call *call)
{
    priority existing;
    if (!kc__admission_writes(call, "scheduling.k8s.io/priorityclasses", NULL) ||
        !is_global_default(call->proposed) || !find_default_class(call, &existing))
        return KC__REST_NEXT;
    if (call->current && kc_str_eq(existing.class, kc_object_name(call->proposed)))
        return KC__REST_NEXT;
    return kc__admission_forbid(
        call, "PriorityClass %.*s is already marked as default. Only one default can exist",
        KC_ARG(existing.class));
}
