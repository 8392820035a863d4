/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_placement.c: what Kubernetes' admission plug-ins Priority and DefaultTolerationSeconds do.
 *
 * A pod's class gives it a number and says whether it may make others go; without one it has that
 * of the class marked as default, or 0. The two classes for the plane's own pods are always there.
 */
#include "apiserver/admission/pod_placement.h"

#include "apiserver/kinds/defaults.h"
#include "apiserver/rest/write.h"

typedef struct priority {
    kc_str class;
    int64_t value;
    kc_str policy;
} priority;

/* ---- the class ---- */

static void read_class(kc__call *call, const kc_object *object, priority *ret)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *root = kc_view_root(view), *policy = kc_get(root, "preemptionPolicy");
    ret->class = kc_arena_str(call->arena, kc_object_name(object));
    ret->value = kc_as_i64_or(kc_get(root, "value"), 0);
    ret->policy = policy ? kc_arena_str(call->arena, kc_as_str(policy)) : KC_STR("");
}

static bool find_class(kc__call *call, kc_str name, priority *ret)
{
    kc__cache *classes =
        kc__store_cache(call->api->store, KC_STR("/registry/scheduling.k8s.io/priorityclasses/"));
    kc_auto(kc_object) *object = kc__cache_get(classes, name);
    bool cluster = kc_str_is(name, "system-cluster-critical");
    if (object)
        read_class(call, object, ret);
    else if (cluster || kc_str_is(name, "system-node-critical"))
        *ret = (priority){name, cluster ? 2000000000 : 2000001000, KC_STR("PreemptLowerPriority")};
    else
        return false;
    return true;
}

/* The smallest of those marked as default. Classes are few. */
static void default_class(kc__call *call, priority *ret)
{
    kc__cache *classes =
        kc__store_cache(call->api->store, KC_STR("/registry/scheduling.k8s.io/priorityclasses/"));
    uint64_t revision;
    kc_auto(kc_cow_snapshot) *all = kc__cache_snapshot(classes, &revision);
    kc_cow_iter it = kc_cow_iter_start(all, NULL);
    bool found = false;
    *ret = (priority){.policy = KC_STR("PreemptLowerPriority")};
    while (kc_cow_iter_next(&it)) {
        priority one;
        kc_auto(kc_view) *view = kc_view_of(it.object);
        if (!kc_as_bool(kc_get(kc_view_root(view), "globalDefault"), false))
            continue;
        read_class(call, it.object, &one);
        if (!found || one.value < ret->value)
            *ret = one;
        found = true;
    }
}

static kc__verdict forbid(kc__call *call, const char *why)
{
    kc_str name = kc__proposed_name(call);
    kc__fail(call, KC_FORBIDDEN, "pods \"%.*s\" is forbidden: %s", KC_ARG(name), why);
    kc_error_about(&call->error, (kc_str){0}, KC_STR("pods"), name);
    return KC__FAIL;
}

static kc__verdict set_priority(kc__call *call, kc_edit *edit, kc_node *spec)
{
    priority p;
    int64_t given;
    kc_str name = kc__node_text(spec, "priorityClassName");
    if (!name.n)
        default_class(call, &p);
    else if (!find_class(call, name, &p))
        return forbid(call,
                      kc_arena_printf(call->arena, "no PriorityClass with name %.*s was found",
                                      KC_ARG(name)));
    if (kc_node_as_i64(kc_node_get(spec, KC_STR("priority")), &given) && given != p.value)
        return forbid(call,
                      kc_arena_printf(call->arena,
                                      "the integer value of priority (%lld) must not be provided "
                                      "in pod spec; priority admission controller computed %lld "
                                      "from the given PriorityClass name",
                                      (long long)given, (long long)p.value));
    if (!name.n && p.class.n)
        kc_node_set(edit, spec, KC_STR("priorityClassName"), kc_node_str(edit, p.class));
    kc_node_set(edit, spec, KC_STR("priority"), kc_node_i64(edit, p.value));
    if (p.policy.n && kc__node_absent(spec, "preemptionPolicy"))
        kc_node_set(edit, spec, KC_STR("preemptionPolicy"), kc_node_str(edit, p.policy));
    return KC__NEXT;
}

/* ---- tolerations ---- */

#define NOT_READY   "node.kubernetes.io/not-ready"
#define UNREACHABLE "node.kubernetes.io/unreachable"

/* Whether a toleration is about a taint with this key, and makes pods stay. */
static bool tolerates(const kc_node *toleration, const char *key)
{
    kc_str own = kc__node_text(toleration, "key"), effect = kc__node_text(toleration, "effect");
    return (kc_str_is(own, key) || !own.n) && (kc_str_is(effect, "NoExecute") || !effect.n);
}

static void add_toleration(kc_edit *edit, kc_node *list, const char *key)
{
    kc_node *one = kc_node_object(edit);
    kc_node_items (list, item)
        if (tolerates(item, key))
            return;
    kc_node_set(edit, one, KC_STR("key"), kc_node_str(edit, kc_cstr(key)));
    kc_node_set(edit, one, KC_STR("operator"), kc_node_str(edit, KC_STR("Exists")));
    kc_node_set(edit, one, KC_STR("effect"), kc_node_str(edit, KC_STR("NoExecute")));
    kc_node_set(edit, one, KC_STR("tolerationSeconds"), kc_node_i64(edit, 300));
    kc_node_append(list, one);
}

static void add_tolerations(kc_edit *edit, kc_node *spec)
{
    kc_node *list = kc_node_get(spec, KC_STR("tolerations"));
    if (!list) {
        list = kc_node_array(edit);
        kc_node_set(edit, spec, KC_STR("tolerations"), list);
    }
    add_toleration(edit, list, NOT_READY);
    add_toleration(edit, list, UNREACHABLE);
}

/* What was decided when the pod was made is not cleared later. */
static void keep_priority(kc__call *call, kc_edit *edit, kc_node *spec)
{
    static const char *const names[] = {"priority", "preemptionPolicy"};
    kc_auto(kc_view) *view = kc_view_of(call->current);
    const kc_value *old = kc_get(kc_view_root(view), "spec");
    for (size_t i = 0; i < KC_COUNT(names); i++)
        if (kc__node_absent(spec, names[i]) && kc_get(old, names[i]))
            kc_node_set(edit, spec, kc_cstr(names[i]), kc_node_copy(edit, kc_get(old, names[i])));
}

static bool concerns(const kc__call *call)
{
    return call->resource->storage && !strcmp(call->resource->storage, "core/pods") &&
           !call->subresource && !call->removes && call->verb->bit != KC__DELETE &&
           call->verb->bit != KC__DELETE_COLLECTION && call->proposed;
}

kc__verdict kc__admit_pod_placement(kc__call *call)
{
    if (!concerns(call))
        return KC__NEXT;
    kc_auto(kc_edit) *edit = kc_edit_of(call->proposed);
    kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    if (call->current)
        keep_priority(call, edit, spec);
    kc__verdict verdict = call->current ? KC__NEXT : set_priority(call, edit, spec);
    if (verdict != KC__NEXT)
        return verdict;
    add_tolerations(edit, spec);
    return kc__replace_proposed(call, edit);
}
