/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conditions.h: status.conditions, kept as Kubernetes keeps them: one of each type, whose
 * lastTransitionTime moves only when its status does.
 */
#ifndef KC_CONDITIONS_H
#define KC_CONDITIONS_H

#include "kc/api.h"
#include "kc/arena.h"
#include "kc/clock.h"
#include "kc/edit.h"

typedef struct kc_condition {
    kc_str type, status, reason, message; /* status: "True", "False", "Unknown". */
    int64_t observed_generation;          /* 0: not said. */
    kc_str last_transition;               /* When reading; set by kc_condition_set. */
} kc_condition;

/* In status.conditions of the edit's root. True if something changed. */
bool kc_condition_set(kc_edit *edit, const kc_clock *clock, const kc_condition *condition);
bool kc_condition_remove(kc_edit *edit, kc_str type);
/* Of an object; the texts live as long as the arena. False when it is not there. */
bool kc_condition_get(const kc_object *object, kc_str type, kc_arena *arena, kc_condition *ret);
bool kc_condition_is(const kc_object *object, kc_str type, kc_str status);
static inline bool kc_condition_true(const kc_object *object, kc_str type)
{
    return kc_condition_is(object, type, KC_STR("True"));
}

/* The same in a list of a struct (api.h), which grows in `arena`: &robot->status.conditions,
 * &robot->status.n_conditions, robot->metadata.arena. Texts of `condition` are copied. True if
 * something changed. */
bool kc_status_condition_set(kc_status_condition **items, size_t *n, kc_arena *arena,
                             const kc_clock *clock, const kc_status_condition *condition);

#endif
