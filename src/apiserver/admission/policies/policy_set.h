/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_set.h: all policies that are in effect, with their bindings: an immutable snapshot that
 * requests read.
 */
#ifndef KC_APISERVER_ADMISSION_POLICY_SET_H
#define KC_APISERVER_ADMISSION_POLICY_SET_H

#include "apiserver/admission/policies/policy.h"
#include "apiserver/store/cow_tree.h"
#include "kc/vec.h"

/* A policy and its bindings, sorted by name; at least one. */
typedef struct kc__admission_bound_policy {
    kc__admission_policy *policy;
    KC_VEC(kc__admission_binding *) bindings;
} kc__admission_bound_policy;

typedef KC_VEC(kc__admission_bound_policy) kc__admission_bound_policies;

/* Reference-counted. The policies of each kind are sorted by name. */
typedef struct kc__admission_policy_set {
    kc_ref refs;
    kc__admission_bound_policies validating, mutating;
    size_t memory; /* Bytes of compiled policies. */
} kc__admission_policy_set;

/* The stored objects of the four kinds; each may be NULL. */
typedef struct kc__admission_policy_sources {
    const kc__cow_snapshot *validating, *validating_bindings, *mutating, *mutating_bindings;
} kc__admission_policy_sources;

/* Compiles the policies that have a binding. Takes those that did not change, apart from their
 * status, from `before`, which may be NULL. */
kc__admission_policy_set *kc__admission_policy_set_new(const kc__expression_env *env,
                                                       const kc__admission_policy_sources *sources,
                                                       const kc__admission_policy_set *before,
                                                       size_t budget);
kc__admission_policy_set *kc__admission_policy_set_ref(kc__admission_policy_set *set);
kc__admission_policy_set *kc__admission_policy_set_unref(kc__admission_policy_set *set);
KC_AUTO_DEFINE(kc__admission_policy_set, kc__admission_policy_set_unref)

#endif
