/* SPDX-License-Identifier: Apache-2.0 */
/*
 * action.c: user actions on a machine that has failed, waits or must be undone. Each adds an entry
 * to status.audit, of which the newest are kept.
 */
#include "phase/phase_internal.h"

enum { MAX_AUDIT = 50 };

static const char *const names[] = {
    [KC_PHASE_RESET] = "reset",
    [KC_PHASE_REVERT] = "revert",
    [KC_PHASE_CONTINUE] = "continue",
    [KC_PHASE_PURGE] = "purge",
};

bool kc_phase_action_of(kc_str name, kc_phase_action *ret)
{
    for (size_t i = 0; i < KC_COUNT(names); i++)
        if (kc_str_is(name, names[i])) {
            *ret = (kc_phase_action)i;
            return true;
        }
    return false;
}

const char *kc_phase_action_name(kc_phase_action action)
{
    return names[action];
}

typedef struct phase_action_act {
    const kc_phase_machine *machine;
    const kc_value *root;
    kc_str phase;
    kc_edit *edit;
    const kc_clock *clock;
} phase_action_act;

static void phase_action_set_phase(phase_action_act *a, const char *phase)
{
    kc_edit_set_nested(a->edit, "status.phase", kc_node_str(a->edit, kc_cstr(phase)));
}

/* ---- reset ---- */

/* Clears the result of the phase; its state and completed steps stay. */
static void reopen(kc_node *record)
{
    static const char *const ends[] = {"done", "failed", "fatal", "error", "endTime"};
    for (size_t i = 0; i < KC_COUNT(ends); i++)
        kc_node_remove(record, kc_cstr(ends[i]));
}

static int reset(phase_action_act *a, kc_error *err)
{
    const kc_phase_def *failed = kc__phase_find_failing_to(a->machine, a->phase);
    if (!failed)
        return kc_error_set(err, KC_CONFLICT, "phase %.*s is not a failed phase", KC_ARG(a->phase));
    kc_node *record = kc__phase_record(a->edit, kc_cstr(failed->name));
    reopen(record);
    kc_node_each_member (kc_node_get(record, KC_STR("steps")), name, step) {
        (void)name;
        if (kc_node_as_bool(kc_node_get(step, KC_STR("failed")), false))
            reopen(step);
    }
    phase_action_set_phase(a, failed->name);
    return 0;
}

/* ---- revert ---- */

static int revert(phase_action_act *a, kc_error *err)
{
    const kc_phase_def *before = kc__phase_find_failing_to(a->machine, a->phase);
    before = before ? before : kc__phase_before(a->machine, a->phase);
    if (!before)
        return kc_error_set(err, KC_CONFLICT, "phase %.*s has no previous phase", KC_ARG(a->phase));
    kc__phase_record_remove(a->edit, a->phase);
    kc__phase_record_remove(a->edit, kc_cstr(before->name));
    phase_action_set_phase(a, before->name);
    return 0;
}

/* ---- continue ---- */

static int phase_action_go_on(phase_action_act *a, kc_error *err)
{
    const kc_phase_def *phase = kc__phase_find(a->machine, a->phase);
    const kc_value *record = kc__phase_record_of(a->root, a->phase);
    if (!phase || !phase->pause || kc_value_as_bool(kc_value_get(record, "continued"), false))
        return kc_error_set(err, KC_CONFLICT, "not waiting in phase %.*s", KC_ARG(a->phase));
    kc_node_set(a->edit, kc__phase_record(a->edit, a->phase), KC_STR("continued"),
                kc_node_bool(a->edit, true));
    phase_action_set_phase(a, phase->name);
    return 0;
}

/* ---- purge ---- */

static int purge(phase_action_act *a, kc_error *err)
{
    (void)err;
    kc_node_remove(kc_node_get(kc_edit_root(a->edit), KC_STR("status")), KC_STR("state"));
    phase_action_set_phase(a, a->machine->initial);
    return 0;
}

/* ---- audit ---- */

static void phase_action_put_text(kc_edit *edit, kc_node *line, kc_str name, const char *text)
{
    if (text && *text)
        kc_node_add(edit, line, name, kc_node_str(edit, kc_cstr(text)));
}

static void put_audit(phase_action_act *a, const kc_phase_action_request *order)
{
    kc_node *status = kc_node_ensure_object(a->edit, kc_edit_root(a->edit), KC_STR("status"));
    if (!kc_node_get(status, KC_STR("audit")))
        kc_node_set(a->edit, status, KC_STR("audit"), kc_node_array(a->edit));
    kc_node *audit = kc_node_get(status, KC_STR("audit")), *line = kc_node_object(a->edit);
    kc_node_add(a->edit, line, KC_STR("time"), kc__phase_timestamp(a->edit, a->clock));
    phase_action_put_text(a->edit, line, KC_STR("action"), names[order->action]);
    kc_node_add(a->edit, line, KC_STR("phase"), kc_node_str(a->edit, a->phase));
    phase_action_put_text(a->edit, line, KC_STR("user"), order->user);
    phase_action_put_text(a->edit, line, KC_STR("id"), order->id);
    kc_node_append(audit, line);
    while (kc_node_len(audit) > MAX_AUDIT)
        kc_node_remove_at(audit, 0);
}

bool kc_phase_action_was_applied(const kc_value *root, kc_str id)
{
    kc_value_each_item (kc_value_nested(root, "status.audit"), line)
        if (kc_str_eq(kc_value_as_str(kc_value_get(line, "id")), id))
            return true;
    return false;
}

kc_object *kc_phase_apply_action(const kc_phase_machine *machine, const kc_object *object,
                                 const kc_phase_action_request *order, const kc_clock *clock,
                                 kc_error *err)
{
    static int (*const acts[])(phase_action_act *a, kc_error *err) = {
        [KC_PHASE_RESET] = reset,
        [KC_PHASE_REVERT] = revert,
        [KC_PHASE_CONTINUE] = phase_action_go_on,
        [KC_PHASE_PURGE] = purge,
    };
    kc_auto(kc_view) *view = kc_view_of(object);
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    phase_action_act a = {
        .machine = machine, .root = kc_view_root(view), .edit = edit, .clock = clock};
    a.phase = kc_phase_of(machine, a.root);
    if (acts[order->action](&a, err) < 0) {
        kc_error_wrap(err, "cannot %s", names[order->action]);
        return NULL;
    }
    put_audit(&a, order);
    return kc_edit_freeze(edit, err);
}
