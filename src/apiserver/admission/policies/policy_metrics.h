/* SPDX-License-Identifier: Apache-2.0 */
/* policy_metrics.h: metrics of admission policies and match conditions, as Kubernetes names them.
 */
#ifndef KC_APISERVER_ADMISSION_POLICY_METRICS_H
#define KC_APISERVER_ADMISSION_POLICY_METRICS_H

#include "kc/map.h"
#include "kc/metrics.h"

#include <stdatomic.h>

typedef struct kc__admission_policy_metrics {
    kc_metric *validating_checks, *validating_durations;
    kc_metric *mutating_checks, *mutating_durations;
    kc_metric *condition_errors, *condition_exclusions, *condition_durations;
    kc_gauge *policies, *memory;
} kc__admission_policy_metrics;

int kc__admission_policy_metrics_init(kc__admission_policy_metrics *m, kc_metrics *metrics,
                                      kc_error *err);

/* The enforced result of one validation: `action` is "allow", "deny", "warn" or "audit". */
typedef struct kc__admission_policy_check {
    kc_str policy, binding;
    const char *action; /* NULL for a mutation. */
    kc_str message;     /* Why it failed; empty: it did not. Decides about the label error_type. */
    int64_t took;
} kc__admission_policy_check;

void kc__admission_policy_count(const kc__admission_policy_metrics *m,
                                const kc__admission_policy_check *check);

/* Removes the series of all policies and bindings but these; both map names to anything. */
void kc__admission_policy_retain(const kc__admission_policy_metrics *m, const kc_map *policies,
                                 const kc_map *bindings);

/* A series that was looked up. A zeroed one is ready; any thread may use it. */
typedef struct kc__admission_series {
    _Atomic(kc_histogram *) found;
} kc__admission_series;

/* The match conditions of one policy or webhook. */
typedef struct kc__admission_condition_check {
    kc_str name;
    const char *kind, *type, *operation; /* "policy" or "webhook"; "validate", "admit", … */
    size_t n_errors;
    int64_t took;
    /* Keeps the series of the duration, for the next check with the same labels. May be NULL. */
    kc__admission_series *series;
} kc__admission_condition_check;

/* Counts failed conditions, and conditions that did not let the request match. */
void kc__admission_conditions_count(const kc__admission_policy_metrics *m,
                                    const kc__admission_condition_check *check);
void kc__admission_conditions_count_exclusion(const kc__admission_policy_metrics *m,
                                              const kc__admission_condition_check *check);

#endif
