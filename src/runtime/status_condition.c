/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status_condition.c: conditions in the list of a struct, by the rules of conditions.c: one of each
 * type, and a time that moves only with its status.
 */
#include "kc/conditions.h"

static bool same(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool set_text(char **to, const char *text, kc_arena *arena)
{
    if (same(*to, text))
        return false;
    *to = kc_arena_strndup(arena, text ? text : "", text ? strlen(text) : 0);
    return true;
}

static kc_status_condition *find(kc_status_condition *items, size_t n, const char *type)
{
    for (size_t i = 0; i < n; i++)
        if (same(items[i].type, type))
            return &items[i];
    return NULL;
}

/* An empty one at the end. */
static kc_status_condition *append(kc_status_condition **items, size_t *n, kc_arena *arena)
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
    kc_status_condition *c = find(*items, *n, condition->type);
    if (!c)
        c = append(items, n, arena);
    bool changed = set_text(&c->type, condition->type, arena);
    if (set_text(&c->status, condition->status, arena)) {
        c->last_transition_time.at = kc_clock_wall(clock);
        changed = true;
    }
    changed |= set_text(&c->reason, condition->reason, arena);
    changed |= set_text(&c->message, condition->message, arena);
    if (condition->observed_generation &&
        c->observed_generation != condition->observed_generation) {
        c->observed_generation = condition->observed_generation;
        changed = true;
    }
    return changed;
}
