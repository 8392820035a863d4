/* SPDX-License-Identifier: Apache-2.0 */
/* workload_conditions.h: the conditions of deployments and replica sets, one of each type. */
#ifndef KC_CONTROLLERS_WORKLOAD_CONDITIONS_H
#define KC_CONTROLLERS_WORKLOAD_CONDITIONS_H

#include "api/apps_v1/workload_types.h"

typedef struct kc__conditions {
    kc_workload_condition *items;
    size_t n;
    kc_arena *arena; /* Of lists that grow. */
} kc__conditions;

typedef struct kc__condition {
    const char *type, *status, *reason, *message;
    kc_time updated, changed; /* lastUpdateTime (0: not said) and lastTransitionTime. */
} kc__condition;

/* NULL when there is none. */
kc_workload_condition *kc__conditions_get(const kc__conditions *conditions, const char *type);
/*
 * Adds it at the end, in place of the one of its type. One with the same status and reason stays as
 * it is; one with the same status keeps its lastTransitionTime. Texts are copied.
 */
void kc__conditions_set(kc__conditions *conditions, const kc__condition *condition);
void kc__conditions_remove(kc__conditions *conditions, const char *type);

#endif
