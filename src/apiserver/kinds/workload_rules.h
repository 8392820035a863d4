/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload_rules.h: what kinds that make pods from a template have in common.
 */
#ifndef KC_APISERVER_WORKLOAD_RULES_H
#define KC_APISERVER_WORKLOAD_RULES_H

#include "apiserver/kinds/pod_rules.h"

/* spec.selector is there and not empty; `what` names the kind: "empty selector is invalid for
 * deployment". */
void kc__check_workload_selector(const kc__place *spec, const char *what);
/* The labels of spec.template satisfy spec.selector. False, and `unreadable` is said, when that is
 * none. */
bool kc__check_selector_matches(const kc__place *spec, const char *unreadable);
/* Pods that shall always run: they start again, and have no deadline. */
void kc__check_runs_on(const kc__place *template, const char *what);

/* Members of a status that count pods: none is below 0 … */
void kc__check_counts(const kc__place *status, const char *const *members);
/* … and none of these exceeds status.replicas; available ones are ready. */
void kc__check_counts_within(const kc__place *status, const char *const *members,
                             const char *beyond_ready);

#endif
