/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conditions.c: edits status.conditions, a list that holds at most one condition of each type.
 *
 * Members are written in the field order of metav1.Condition, so that the JSON equals that of a Go
 * program. Other members of a condition (lastProbeTime, for example) are preserved.
 */
#include "kc/conditions.h"

#include "kc/time.h"
#include "kc/view.h"

static const kc_str STATUS = KC_STR_INIT("status"), CONDITIONS = KC_STR_INIT("conditions"),
                    TYPE = KC_STR_INIT("type"), REASON = KC_STR_INIT("reason"),
                    MESSAGE = KC_STR_INIT("message"), OBSERVED = KC_STR_INIT("observedGeneration"),
                    TRANSITION = KC_STR_INIT("lastTransitionTime");

static kc_node *conditions_find(const kc_node *list, kc_str type, size_t *ret_index)
{
    size_t i = 0;
    kc_node_each_item (list, item) {
        if (kc_str_eq(kc_node_as_str(kc_node_get(item, TYPE)), type)) {
            *ret_index = i;
            return item;
        }
        i++;
    }
    return NULL;
}

static kc_node *conditions_of_local(kc_edit *edit)
{
    kc_node *status = kc_node_ensure_object(edit, kc_edit_root(edit), STATUS);
    kc_node *list = kc_node_get(status, CONDITIONS);
    if (kc_node_type(list) == KC_JSON_ARRAY)
        return list;
    list = kc_node_array(edit);
    kc_node_set(edit, status, CONDITIONS, list);
    return list;
}

static bool conditions_set_text(kc_edit *edit, kc_node *condition, kc_str name, kc_str value)
{
    const kc_node *now = kc_node_get(condition, name);
    if (kc_node_type(now) == KC_JSON_STRING && kc_str_eq(kc_node_as_str(now), value))
        return false;
    kc_node_set(edit, condition, name, kc_node_str(edit, value));
    return true;
}

static bool set_generation(kc_edit *edit, kc_node *condition, int64_t generation)
{
    int64_t now;
    if (!generation ||
        (kc_node_as_i64(kc_node_get(condition, OBSERVED), &now) && now == generation))
        return false;
    kc_node_set(edit, condition, OBSERVED, kc_node_i64(edit, generation));
    return true;
}

static kc_node *conditions_add(kc_edit *edit, kc_node *list, kc_str type)
{
    kc_node *condition = kc_node_object(edit);
    kc_node_add(edit, condition, TYPE, kc_node_str(edit, type));
    kc_node_append(list, condition);
    return condition;
}

bool kc_condition_set(kc_edit *edit, const kc_clock *clock, const kc_condition *condition)
{
    size_t at;
    kc_node *list = conditions_of_local(edit), *c = conditions_find(list, condition->type, &at);
    if (!c)
        c = conditions_add(edit, list, condition->type);
    bool moved = conditions_set_text(edit, c, STATUS, condition->status);
    bool changed = set_generation(edit, c, condition->observed_generation) || moved;
    if (moved) {
        char text[KC_TIME_TEXT];
        conditions_set_text(edit, c, TRANSITION, kc_time_print(kc_clock_wall(clock), text));
    }
    changed = conditions_set_text(edit, c, REASON, condition->reason) || changed;
    return conditions_set_text(edit, c, MESSAGE, condition->message) || changed;
}

bool kc_condition_remove(kc_edit *edit, kc_str type)
{
    size_t at;
    kc_node *list = kc_node_get(kc_node_get(kc_edit_root(edit), STATUS), CONDITIONS);
    if (!conditions_find(list, type, &at))
        return false;
    kc_node_remove_at(list, at);
    return true;
}

static const kc_value *condition_in(const kc_view *view, kc_str type)
{
    kc_value_each_item (kc_value_get(kc_value_get(kc_view_root(view), "status"), "conditions"), c)
        if (kc_str_eq(kc_value_as_str(kc_value_get(c, "type")), type))
            return c;
    return NULL;
}

bool kc_condition_get(const kc_object *object, kc_str type, kc_arena *arena, kc_condition *ret)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *c = condition_in(view, type);
    if (!c)
        return false;
    *ret = (kc_condition){
        .type = kc_arena_str(arena, kc_value_as_str(kc_value_get(c, "type"))),
        .status = kc_arena_str(arena, kc_value_as_str(kc_value_get(c, "status"))),
        .reason = kc_arena_str(arena, kc_value_as_str(kc_value_get(c, "reason"))),
        .message = kc_arena_str(arena, kc_value_as_str(kc_value_get(c, "message"))),
        .observed_generation = kc_value_as_i64_or(kc_value_get(c, "observedGeneration"), 0),
        .last_transition =
            kc_arena_str(arena, kc_value_as_str(kc_value_get(c, "lastTransitionTime"))),
    };
    return true;
}

bool kc_condition_is(const kc_object *object, kc_str type, kc_str status)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    return kc_str_eq(kc_value_as_str(kc_value_get(condition_in(view, type), "status")), status);
}
