/* SPDX-License-Identifier: Apache-2.0 */
/* workload_conditions.c: see workload_conditions.h. Functions build new lists and never change one
 * in place: the status that was read stays as it was. */
#include "common/workload_conditions.h"

kc_workload_condition *kc__common_conditions_get(const kc__common_conditions *conditions,
                                                 const char *type)
{
    for (size_t i = 0; i < conditions->n; i++)
        if (strcmp(conditions->items[i].type, type) == 0)
            return &conditions->items[i];
    return NULL;
}

/* Copies the list without conditions of the type, with room for one more. */
static void leave_out(kc__common_conditions *c, const char *type)
{
    kc_workload_condition *kept = kc_arena_calloc(c->arena, c->n + 1, sizeof(*kept));
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->items[i].type, type) != 0)
            kept[n++] = c->items[i];
    c->items = kept;
    c->n = n;
}

static char *common_workload_conditions_copy(kc__common_conditions *c, const char *text)
{
    return kc_arena_strndup(c->arena, text, strlen(text));
}

void kc__common_conditions_set(kc__common_conditions *conditions,
                               const kc__common_condition *condition)
{
    const kc_workload_condition *current = kc__common_conditions_get(conditions, condition->type);
    const bool same_status = current && strcmp(current->status, condition->status) == 0;
    if (same_status && strcmp(current->reason ? current->reason : "", condition->reason) == 0)
        return;
    const kc_workload_condition set = {
        .type = common_workload_conditions_copy(conditions, condition->type),
        .status = common_workload_conditions_copy(conditions, condition->status),
        .reason = common_workload_conditions_copy(conditions, condition->reason),
        .message = common_workload_conditions_copy(conditions, condition->message),
        .last_update_time = {condition->updated},
        .last_transition_time = {same_status ? current->last_transition_time.at
                                             : condition->changed},
    };
    leave_out(conditions, condition->type);
    conditions->items[conditions->n++] = set;
}

void kc__common_conditions_remove(kc__common_conditions *conditions, const char *type)
{
    if (kc__common_conditions_get(conditions, type))
        leave_out(conditions, type);
}
