/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_registry.h: keeps the compiled admission policies of a server up to date, and writes the
 * status of ValidatingAdmissionPolicies.
 *
 *     const kc__admission_policy_set *set = kc__admission_policies_current(policies, &held);
 *     if (!set)
 *         return KC__REST_NEXT;                                       no policy is in effect
 *
 * A thread of its own compiles, so a policy takes effect a few milliseconds after its write is
 * acknowledged, and no request waits for a compilation.
 */
#ifndef KC_APISERVER_ADMISSION_POLICY_REGISTRY_H
#define KC_APISERVER_ADMISSION_POLICY_REGISTRY_H

#include "apiserver/admission/policies/policy_metrics.h"
#include "apiserver/admission/policies/policy_set.h"
#include "apiserver/call/catalog.h"
#include "apiserver/store/store.h"
#include "kc/clock.h"
#include "kc/log.h"

typedef struct kc__admission_policies kc__admission_policies;

/* Memory of compiled policies; those beyond are not compiled, and fail when they are evaluated. */
#define KC__ADMISSION_POLICIES_BYTES ((size_t)6 << 20)

/* Borrowed members must outlive the registry. All are required, except `log`. */
typedef struct kc__admission_policies_opts {
    kc__store *store;
    kc__rest_catalog_slot *catalog; /* For the types of objects. */
    struct kc__resource_topology_cache *topologies;
    const kc_clock *clock;
    kc_log *log;
    kc_metrics *metrics;
    size_t max_bytes; /* Defaults to KC__ADMISSION_POLICIES_BYTES. */
    /* Called when others are in effect, on any thread; must not block. Defaults to nothing. */
    void (*published)(void *user);
    void *user; /* Of `published`. */
} kc__admission_policies_opts;

/* Compiles the stored policies. NULL on error. Starts no thread yet. */
kc__admission_policies *kc__admission_policies_new(const kc__admission_policies_opts *opts,
                                                   kc_error *err);
/* Starts to follow changes, on a loop of the caller, which must run until
 * kc__admission_policies_stop has returned, or, with NULL, on one of its own. 0 or negative.
 * Blocks; not from a loop's thread. */
int kc__admission_policies_start(kc__admission_policies *policies, kc__loop *loop, kc_error *err);
/* Ends the thread's work, while the store is open. NULL is allowed. */
void kc__admission_policies_stop(kc__admission_policies *policies);
/* After the store was closed. NULL is allowed; returns NULL. */
kc__admission_policies *kc__admission_policies_free(kc__admission_policies *policies);

/* The policies in effect; NULL: none. *held is the caller's last result, a reference that the
 * caller keeps between calls and drops at the end; each thread has its own. Costs a load and a
 * comparison while policies do not change. */
const kc__admission_policy_set *kc__admission_policies_current(kc__admission_policies *policies,
                                                               kc__admission_policy_set **held);
const kc__admission_policy_metrics *kc__admission_policies_metrics(
    const kc__admission_policies *policies);
/* The environment in which expressions are compiled. */
const kc__expression_env *kc__admission_policies_env(const kc__admission_policies *policies);

#endif
