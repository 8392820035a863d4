/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload_rules.h: rules that kinds with a pod template share.
 */
#ifndef KC_APISERVER_WORKLOAD_RULES_H
#define KC_APISERVER_WORKLOAD_RULES_H

#include "apiserver/kinds/core/pod_rules.h"

/* spec.selector is required and must not be empty; `what` names the kind in the error: "empty
 * selector is invalid for deployment". */
void kc__validate_workload_selector(const kc__location *spec, const char *what);
/* The labels of spec.template must match spec.selector. Returns false, and reports `unreadable`,
 * if the selector is invalid. */
bool kc__validate_selector_matches(const kc__location *spec, const char *unreadable);
/* Pods must run forever: restartPolicy Always, no activeDeadlineSeconds. */
void kc__validate_runs_on(const kc__location *template, const char *what);

/* The members of a status that count pods must not be negative. */
void kc__validate_counts(const kc__location *status, const char *const *members);
/* None of the members may exceed status.replicas, and availableReplicas must not exceed
 * readyReplicas. */
void kc__validate_counts_within(const kc__location *status, const char *const *members,
                                const char *beyond_ready);

#endif
