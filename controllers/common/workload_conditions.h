/* SPDX-License-Identifier: Apache-2.0 */
/* workload_conditions.h: the conditions of Deployments and ReplicaSets, at most one of each
 * type. */
#ifndef KC_CONTROLLERS_WORKLOAD_CONDITIONS_H
#define KC_CONTROLLERS_WORKLOAD_CONDITIONS_H

#include "api/apps_v1/workload_types.h"

typedef struct kc__common_conditions {
    kc_workload_condition *items;
    size_t n;
    kc_arena *arena; /* Owns lists that grow. */
} kc__common_conditions;

typedef struct kc__common_condition {
    const char *type, *status, *reason, *message;
    kc_time updated, changed; /* lastUpdateTime (0: none) and lastTransitionTime. */
} kc__common_condition;

/* NULL if there is none. */
kc_workload_condition *kc__common_conditions_get(const kc__common_conditions *conditions,
                                                 const char *type);
/*
 * Appends a condition and removes the previous one of its type. A condition with the same status
 * and reason stays unchanged; one with the same status keeps its lastTransitionTime. Texts are
 * copied.
 */
void kc__common_conditions_set(kc__common_conditions *conditions,
                               const kc__common_condition *condition);
void kc__common_conditions_remove(kc__common_conditions *conditions, const char *type);

#endif
