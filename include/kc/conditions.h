/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conditions.h: status.conditions by Kubernetes' rules: one condition of each type, whose
 * lastTransitionTime changes only when its status changes.
 */
#ifndef KC_CONDITIONS_H
#define KC_CONDITIONS_H

#include "kc/api.h"
#include "kc/arena.h"
#include "kc/clock.h"
#include "kc/edit.h"

typedef struct kc_condition {
    kc_str type, status, reason, message; /* status: "True", "False", "Unknown". */
    int64_t observed_generation;          /* 0: not set. */
    kc_str last_transition;               /* Only when reading; kc_condition_set sets it. */
} kc_condition;

/* Sets a condition in status.conditions of the edit's root. True if something changed. */
bool kc_condition_set(kc_edit *edit, const kc_clock *clock, const kc_condition *condition);
bool kc_condition_remove(kc_edit *edit, kc_str type);
/* Reads a condition of an object; the strings live as long as the arena. False when it is absent.
 */
bool kc_condition_get(const kc_object *object, kc_str type, kc_arena *arena, kc_condition *ret);
bool kc_condition_is(const kc_object *object, kc_str type, kc_str status);
static inline bool kc_condition_true(const kc_object *object, kc_str type)
{
    return kc_condition_is(object, type, KC_STR("True"));
}

/* Sets a condition in the list of a generated struct (api.h), which grows in `arena`:
 * &robot->status.conditions, &robot->status.n_conditions, robot->metadata.arena. Copies the strings
 * of `condition`. True if something changed. */
bool kc_status_condition_set(kc_status_condition **items, size_t *n, kc_arena *arena,
                             const kc_clock *clock, const kc_status_condition *condition);

/* The apply configuration of a condition, for robot_apply_status (typed.h). lastTransitionTime is
 * that of the condition of the same type in `items`, if it has the same status; now otherwise. The
 * result refers to `condition` and its strings. */
kc_status_condition_apply_config kc_status_condition_config(const kc_status_condition *items,
                                                            size_t n, const kc_clock *clock,
                                                            kc_status_condition *condition);

#endif
