/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_status.h: writes the status of ValidatingAdmissionPolicies: warnings about expressions
 * that do not fit the types of the objects that a policy matches. Kubernetes runs this controller
 * in kube-controller-manager; here it is part of the server. Like there, the status is applied by
 * the manager "validatingadmissionpolicy-status", with force.
 */
#ifndef KC_APISERVER_ADMISSION_POLICY_STATUS_H
#define KC_APISERVER_ADMISSION_POLICY_STATUS_H

#include "apiserver/call/catalog.h"
#include "apiserver/kinds/admissionregistration/expressions.h"
#include "apiserver/kinds/topology.h"
#include "kc/clock.h"
#include "kc/log.h"

typedef struct kc__admission_policy_status kc__admission_policy_status;

/* Borrowed members must outlive the controller. */
typedef struct kc__admission_policy_status_opts {
    kc__store *store;
    kc__watch_cache *policies;
    kc__rest_catalog_slot *catalog;
    kc__resource_topology_cache *topologies; /* For metadata.managedFields. */
    const kc__expression_env *env;
    kc__loop *loop; /* All functions but new and free run on it. */
    kc_log *log;    /* May be NULL. */
    const kc_clock *clock;
} kc__admission_policy_status_opts;

kc__admission_policy_status *kc__admission_policy_status_new(
    const kc__admission_policy_status_opts *opts);
/* Checks the policies whose status is of an older generation, and writes their status. */
void kc__admission_policy_status_sync(kc__admission_policy_status *status);
/* Starts no more writes; those in flight may still complete. */
void kc__admission_policy_status_stop(kc__admission_policy_status *status);
/* After the store was closed. NULL is allowed; returns NULL. */
kc__admission_policy_status *kc__admission_policy_status_free(kc__admission_policy_status *status);

/* The warnings about a policy, as the JSON of status.typeChecking (policy_types.c). */
void kc__admission_policy_check_types(const kc__expression_env *env, const kc__registry *kinds,
                                      const kc_value *policy, kc_buf *ret);

#endif
