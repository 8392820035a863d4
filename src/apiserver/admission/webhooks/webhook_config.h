/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_config.h: admission webhooks, compiled from their configurations. Pure: no network.
 *
 *     kc__admission_webhook_set *set = kc__admission_webhook_set_new(mutating, validating, before);
 *     for (size_t i = 0; i < set->mutating.n; i++) {
 *         const kc__admission_webhook *hook = set->mutating.items[i];
 *         if (kc__admission_match(&hook->criteria, &attributes, &as) == KC__ADMISSION_MATCH)
 *             …                         call it, with the object in the version `as`
 *     }
 */
#ifndef KC_APISERVER_HOOK_H
#define KC_APISERVER_HOOK_H

#include "apiserver/admission/chain/matching.h"
#include "apiserver/kinds/admissionregistration/webhook_target.h"
#include "apiserver/store/cow_tree.h"

/* The match conditions of a webhook, compiled when a request needs them first. */
typedef struct kc__admission_webhook_conditions kc__admission_webhook_conditions;

/* Strings belong to the configuration. */
typedef struct kc__admission_webhook {
    kc_str name, configuration; /* Of the webhook, and of the object that contains it. */
    kc__admission_criteria criteria;
    bool ignored;   /* failurePolicy Ignore: a failed call is ignored. */
    bool reinvoked; /* reinvocationPolicy IfNeeded: called again after another webhook changed
                   the object. */
    bool dry;       /* sideEffects None or NoneOnDryRun: called in dry runs. */
    kc__admission_webhook_conditions *conditions; /* Its matchConditions; NULL: none. */
    bool mutates;
    bool beta;       /* Receives AdmissionReviews of v1beta1; otherwise of v1. */
    int64_t timeout; /* Nanoseconds. */

    kc__hook_target target;
} kc__admission_webhook;

/* A compiled configuration. Immutable and reference-counted: consecutive sets share those that did
 * not change. */
typedef struct kc__admission_webhook_config kc__admission_webhook_config;

/* All webhooks in the order in which they are called: by configuration name, and within one
 * configuration in its order. Immutable and reference-counted. */
typedef struct kc__admission_webhook_set {
    kc_ref refs;
    KC_VEC(const kc__admission_webhook *) mutating, validating;
    /* The revisions of the configurations that the set contains; for the caller. */
    uint64_t mutating_at, validating_at;
    /* The configurations by name; private. */
    KC_VEC(kc__admission_webhook_config *) mutating_configs, validating_configs;
} kc__admission_webhook_set;

/* The webhooks of the stored configurations of both kinds; each may be NULL. Compiles only the
 * configurations that differ from those of the set `before`; NULL: all. */
kc__admission_webhook_set *kc__admission_webhook_set_new(const kc__cow_snapshot *mutating,
                                                         const kc__cow_snapshot *validating,
                                                         const kc__admission_webhook_set *before);
kc__admission_webhook_set *kc__admission_webhook_set_ref(kc__admission_webhook_set *set);
kc__admission_webhook_set *kc__admission_webhook_set_unref(kc__admission_webhook_set *set);
KC_AUTO_DEFINE(kc__admission_webhook_set, kc__admission_webhook_set_unref)

#endif
