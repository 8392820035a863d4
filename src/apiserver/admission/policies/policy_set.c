/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_set.c: builds the set of policies in effect from the stored objects.
 *
 * A policy without a binding has no effect and is not compiled. A set takes over what did not
 * change: a policy if uid and generation are the same (a status changes neither), a binding if its
 * stored object is the same.
 */
#include "apiserver/admission/policies/policy_set.h"

/* One kind of policies while its part of a set is built. */
typedef struct set_builder {
    const kc__expression_env *env;
    bool mutates;
    size_t budget;
    kc__admission_policy_set *set;
    kc_map policies_before; /* kc__admission_policy by name. */
    kc_map bindings_before; /* kc__admission_binding by name. */
    kc_map bindings;        /* Of a policy, by its name: kc__admission_bound_policy. */
} set_builder;

static void index_before(set_builder *b, const kc__admission_bound_policies *before)
{
    kc_vec_each (before, bound) {
        kc_map_put(&b->policies_before, bound->policy->name, bound->policy);
        kc_vec_each (&bound->bindings, binding)
            kc_map_put(&b->bindings_before, (*binding)->name, *binding);
    }
}

static kc__admission_binding *binding_of(set_builder *b, const kc_object *object)
{
    kc__admission_binding *before = kc_map_get(&b->bindings_before, kc_object_name(object));
    return before && before->object == object ? kc__admission_binding_ref(before)
                                              : kc__admission_binding_new(object);
}

static void collect_bindings(set_builder *b, const kc__cow_snapshot *stored)
{
    if (!stored)
        return;
    kc__cow_iter at = kc__cow_iter_start(stored, NULL);
    while (kc__cow_iter_next(&at)) {
        kc__admission_binding *binding = binding_of(b, at.object);
        kc__admission_bound_policy *bound = kc_map_get(&b->bindings, binding->policy);
        if (!bound) {
            bound = kc_new(kc__admission_bound_policy);
            kc_map_put(&b->bindings, binding->policy, bound);
        }
        kc_vec_push(&bound->bindings, binding);
    }
}

static kc__admission_policy *policy_of(set_builder *b, const kc_object *object)
{
    kc__admission_policy *before = kc_map_get(&b->policies_before, kc_object_name(object));
    if (before && before->generation == kc_object_generation(object) &&
        kc_str_eq(before->uid, kc_object_uid(object)))
        return kc__admission_policy_ref(before);
    const size_t used = b->set->memory;
    return kc__admission_policy_new(b->env, object, b->mutates,
                                    used < b->budget ? b->budget - used : 0);
}

static void bind_policies(set_builder *b, const kc__cow_snapshot *stored,
                          kc__admission_bound_policies *ret)
{
    if (!stored)
        return;
    kc__cow_iter at = kc__cow_iter_start(stored, NULL);
    while (kc__cow_iter_next(&at)) {
        kc__admission_bound_policy *bound = kc_map_get(&b->bindings, kc_object_name(at.object));
        if (!bound)
            continue;
        bound->policy = policy_of(b, at.object);
        b->set->memory += bound->policy->memory;
        kc_vec_push(ret, *bound);
        *bound = (kc__admission_bound_policy){0};
    }
}

static void release_bindings(kc__admission_bound_policy *bound)
{
    kc_vec_each (&bound->bindings, binding)
        kc__admission_binding_unref(*binding);
    kc_vec_done(&bound->bindings);
}

static void set_builder_done(set_builder *b)
{
    kc_map_each (&b->bindings, at) {
        release_bindings(at->value); /* Those whose policy does not exist. */
        free(at->value);
    }
    kc_map_done(&b->bindings);
    kc_map_done(&b->policies_before);
    kc_map_done(&b->bindings_before);
}

kc__admission_policy_set *kc__admission_policy_set_new(const kc__expression_env *env,
                                                       const kc__admission_policy_sources *sources,
                                                       const kc__admission_policy_set *before,
                                                       size_t budget)
{
    kc__admission_policy_set *set = kc_new(kc__admission_policy_set);
    kc_ref_init(&set->refs);
    for (int mutates = 0; mutates < 2; mutates++) {
        set_builder b = {.env = env, .mutates = mutates, .budget = budget, .set = set};
        if (before)
            index_before(&b, mutates ? &before->mutating : &before->validating);
        collect_bindings(&b, mutates ? sources->mutating_bindings : sources->validating_bindings);
        bind_policies(&b, mutates ? sources->mutating : sources->validating,
                      mutates ? &set->mutating : &set->validating);
        set_builder_done(&b);
    }
    return set;
}

kc__admission_policy_set *kc__admission_policy_set_ref(kc__admission_policy_set *set)
{
    kc_ref_add(&set->refs);
    return set;
}

static void release_policies(kc__admission_bound_policies *list)
{
    kc_vec_each (list, bound) {
        kc__admission_policy_unref(bound->policy);
        release_bindings(bound);
    }
    kc_vec_done(list);
}

kc__admission_policy_set *kc__admission_policy_set_unref(kc__admission_policy_set *set)
{
    if (!set || !kc_ref_drop(&set->refs))
        return NULL;
    release_policies(&set->validating);
    release_policies(&set->mutating);
    free(set);
    return NULL;
}
