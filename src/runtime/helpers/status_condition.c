/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status_condition.c: conditions in the list of a typed struct, with the rules of conditions.c: one
 * condition of each type, and lastTransitionTime changes only with the status.
 */
#include "kc/conditions.h"

static bool status_condition_is_equal(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool status_condition_set_text(char **to, const char *text, kc_arena *arena)
{
    if (status_condition_is_equal(*to, text))
        return false;
    *to = kc_arena_strndup(arena, text ? text : "", text ? strlen(text) : 0);
    return true;
}

static const kc_status_condition *status_condition_find(const kc_status_condition *items, size_t n,
                                                        const char *type)
{
    for (size_t i = 0; i < n; i++)
        if (status_condition_is_equal(items[i].type, type))
            return &items[i];
    return NULL;
}

/* Appends an empty condition. */
static kc_status_condition *status_condition_append(kc_status_condition **items, size_t *n,
                                                    kc_arena *arena)
{
    kc_status_condition *more = kc_arena_alloc(arena, (*n + 1) * sizeof(*more));
    if (*n)
        memcpy(more, *items, *n * sizeof(*more));
    more[*n] = (kc_status_condition){0};
    *items = more;
    return &more[(*n)++];
}

bool kc_status_condition_set(kc_status_condition **items, size_t *n, kc_arena *arena,
                             const kc_clock *clock, const kc_status_condition *condition)
{
    kc_status_condition *c =
        (kc_status_condition *)status_condition_find(*items, *n, condition->type);
    if (!c)
        c = status_condition_append(items, n, arena);
    bool changed = status_condition_set_text(&c->type, condition->type, arena);
    if (status_condition_set_text(&c->status, condition->status, arena)) {
        c->last_transition_time.at = kc_clock_wall(clock);
        changed = true;
    }
    changed |= status_condition_set_text(&c->reason, condition->reason, arena);
    changed |= status_condition_set_text(&c->message, condition->message, arena);
    if (condition->observed_generation &&
        c->observed_generation != condition->observed_generation) {
        c->observed_generation = condition->observed_generation;
        changed = true;
    }
    return changed;
}

kc_status_condition_apply_config kc_status_condition_config(const kc_status_condition *items,
                                                            size_t n, const kc_clock *clock,
                                                            kc_status_condition *condition)
{
    const kc_status_condition *old = status_condition_find(items, n, condition->type);
    const bool moved = !old || !status_condition_is_equal(old->status, condition->status);
    return (kc_status_condition_apply_config){
        .type = condition->type,
        .status = condition->status,
        .observed_generation =
            condition->observed_generation ? &condition->observed_generation : NULL,
        .last_transition_time.at = moved ? kc_clock_wall(clock) : old->last_transition_time.at,
        .reason = condition->reason,
        .message = condition->message ? condition->message : "",
    };
}
