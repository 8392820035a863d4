/* SPDX-License-Identifier: Apache-2.0 */
/* workload_conditions.c: see workload_conditions.h. Lists are made anew, never changed in place:
 * the status they came from stays as it was read. */
#include "common/workload_conditions.h"

kc_workload_condition *kc__conditions_get(const kc__conditions *conditions, const char *type)
{
    for (size_t i = 0; i < conditions->n; i++)
        if (strcmp(conditions->items[i].type, type) == 0)
            return &conditions->items[i];
    return NULL;
}

/* Without those of the type, and with room for one more. */
static void leave_out(kc__conditions *c, const char *type)
{
    kc_workload_condition *kept = kc_arena_calloc(c->arena, c->n + 1, sizeof(*kept));
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->items[i].type, type) != 0)
            kept[n++] = c->items[i];
    c->items = kept;
    c->n = n;
}

static char *copy(kc__conditions *c, const char *text)
{
    return kc_arena_strndup(c->arena, text, strlen(text));
}

void kc__conditions_set(kc__conditions *conditions, const kc__condition *condition)
{
    const kc_workload_condition *current = kc__conditions_get(conditions, condition->type);
    const bool same_status = current && strcmp(current->status, condition->status) == 0;
    if (same_status && strcmp(current->reason ? current->reason : "", condition->reason) == 0)
        return;
    const kc_workload_condition set = {
        .type = copy(conditions, condition->type),
        .status = copy(conditions, condition->status),
        .reason = copy(conditions, condition->reason),
        .message = copy(conditions, condition->message),
        .last_update_time = {condition->updated},
        .last_transition_time = {same_status ? current->last_transition_time.at
                                             : condition->changed},
    };
    leave_out(conditions, condition->type);
    conditions->items[conditions->n++] = set;
}

void kc__conditions_remove(kc__conditions *conditions, const char *type)
{
    if (kc__conditions_get(conditions, type))
        leave_out(conditions, type);
}
