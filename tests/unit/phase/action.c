/* SPDX-License-Identifier: Apache-2.0 */
/* action.c: actions of users on phase machines, and how machines are shown. */
#include "kc/json.h"

#include "phase_testing.h"

static int runs;
static bool second_fails;

static kc_phase_result go(kc_phase_call *call, kc_error *err)
{
    (void)call;
    (void)err;
    runs++;
    return KC_PHASE_DONE;
}

static kc_phase_result first(kc_phase_call *call, kc_error *err)
{
    return go(call, err);
}

static kc_phase_result second(kc_phase_call *call, kc_error *err)
{
    runs += 100;
    kc_phase_warn(call, "careful");
    if (!second_fails)
        return KC_PHASE_DONE;
    kc_error_set(err, KC_INVALID, "no");
    return KC_PHASE_FAIL;
}

static KC_PHASE_MACHINE(redis) = {
    .name = "redismigration",
    .kind = &banana_kind,
    .initial = "Pending",
    .phases = KC_PHASES({"Pending", go, .next = "Approve", .desc = "Collecting"},
                        {"Approve", go, .next = "InFlight", .pause = true},
                        {"InFlight", KC_SERIAL(first, second), .next = "Succeeded",
                         .failed = "Failed"}),
    .terminal = KC_NAMES("Succeeded", "Failed"),
};

static void do_to(walk *w, kc_phase_action action)
{
    kc_scoped(kc_error) err = {0};
    kc_object *changed = kc_phase_apply_action(
        w->machine, w->object, &(kc_phase_action_request){action, "ann"}, w->clock, &err);
    if (!changed)
        fail_msg("%s", kc_error_text(&err));
    kc_object_unref(w->object);
    w->object = changed;
}

static void impossible(walk *w, kc_phase_action action, const char *why)
{
    kc_scoped(kc_error) err = {0};
    assert_null(kc_phase_apply_action(w->machine, w->object,
                                      &(kc_phase_action_request){action, "ann"}, w->clock, &err));
    assert_int_equal(err.reason, KC_CONFLICT);
    assert_string_equal(kc_error_text(&err), why);
}

static void fail_in_flight(walk *w)
{
    second_fails = true;
    walk_step(w);
    do_to(w, KC_PHASE_CONTINUE);
    for (int i = 0; i < 3; i++)
        walk_step(w);
    assert_string_equal(walk_at(w, "status.phase"), "\"Failed\"");
}

static void action_is_recognized_by_its_id(void **state)
{
    (void)state;
    kc_scoped(walk) w = walk_begin(&redis_machine, BANANA "}");
    const kc_phase_action_request order = {KC_PHASE_PURGE, .id = "417"};
    kc_auto(kc_object) *done = kc_phase_apply_action(w.machine, w.object, &order, w.clock, NULL);
    kc_auto(kc_view) *before = kc_view_of(w.object), *after = kc_view_of(done);
    assert_false(kc_phase_action_was_applied(kc_view_root(before), KC_STR("417")));
    assert_true(kc_phase_action_was_applied(kc_view_root(after), KC_STR("417")));
    assert_false(kc_phase_action_was_applied(kc_view_root(after), KC_STR("418")));
}

static void reset_retries_the_phase_and_keeps_completed_steps(void **state)
{
    (void)state;
    kc_scoped(walk) w = walk_begin(&redis_machine, BANANA "}");
    fail_in_flight(&w);
    do_to(&w, KC_PHASE_RESET);
    assert_string_equal(walk_at(&w, "status.phase"), "\"InFlight\"");
    runs = 0;
    second_fails = false;
    walk_step(&w);
    assert_int_equal(runs, 100);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Succeeded\"");
    assert_string_equal(walk_at(&w, "status.audit"),
                        "[{\"time\":\"2026-01-02T03:04:06Z\",\"action\":\"continue\",\"phase\":"
                        "\"Approve\",\"user\":\"ann\"},{\"time\":\"2026-01-02T03:04:09Z\","
                        "\"action\":\"reset\",\"phase\":\"Failed\",\"user\":\"ann\"}]");
}

static void revert_goes_back_and_drops_the_state(void **state)
{
    (void)state;
    kc_scoped(walk) w = walk_begin(&redis_machine, BANANA "}");
    fail_in_flight(&w);
    do_to(&w, KC_PHASE_REVERT);
    assert_string_equal(walk_at(&w, "status.phase"), "\"InFlight\"");
    assert_string_equal(walk_at(&w, "status.state.InFlight"), "");
    do_to(&w, KC_PHASE_REVERT);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Approve\"");
    walk_step(&w);
    assert_true(w.last.waits);
    do_to(&w, KC_PHASE_REVERT);
    impossible(&w, KC_PHASE_REVERT, "cannot revert: phase Pending has no previous phase");
}

static void purge_restarts_from_the_initial_phase(void **state)
{
    (void)state;
    kc_scoped(walk) w = walk_begin(&redis_machine, BANANA "}");
    fail_in_flight(&w);
    do_to(&w, KC_PHASE_PURGE);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Pending\"");
    assert_string_equal(walk_at(&w, "status.state"), "");
}

static void invalid_action_is_refused(void **state)
{
    (void)state;
    kc_scoped(walk) w = walk_begin(&redis_machine, BANANA "}");
    impossible(&w, KC_PHASE_RESET, "cannot reset: phase Pending is not a failed phase");
    impossible(&w, KC_PHASE_CONTINUE, "cannot continue: not waiting in phase Pending");
    kc_phase_action action;
    assert_true(kc_phase_action_of(KC_STR("revert"), &action));
    assert_string_equal(kc_phase_action_name(action), "revert");
    assert_false(kc_phase_action_of(KC_STR("undo"), &action));
}

static void audit_keeps_the_newest_entries(void **state)
{
    (void)state;
    kc_scoped(walk) w = walk_begin(&redis_machine, BANANA "}");
    for (int i = 0; i < 60; i++)
        do_to(&w, KC_PHASE_PURGE);
    kc_auto(kc_view) *view = kc_view_of(w.object);
    assert_int_equal(kc_value_len(kc_value_nested(kc_view_root(view), "status.audit")), 50);
}

static void view_shows_phase_and_steps(void **state)
{
    (void)state;
    kc_scoped(walk) w = walk_begin(&redis_machine, BANANA "}");
    kc_scoped(kc_buf) out = {0};
    fail_in_flight(&w);
    kc_phase_view(&redis_machine, w.object, &out);
    assert_string_equal(
        kc_buf_cstr(&out),
        "{\"phase\":\"Failed\",\"phases\":[{\"phase\":\"Pending\",\"desc\":\"Collecting\",\"result\":"
        "\"Succeeded\",\"timestamp\":\"2026-01-02T03:04:05Z\"},{\"phase\":\"Approve\",\"desc\":"
        "\"Approve\",\"result\":\"Succeeded\",\"timestamp\":\"2026-01-02T03:04:06Z\"},{\"phase\":"
        "\"InFlight\",\"desc\":\"InFlight\",\"result\":\"Failed\",\"timestamp\":"
        "\"2026-01-02T03:04:08Z\"},{\"phase\":\"Succeeded\",\"desc\":\"Succeeded\",\"result\":"
        "\"Pending\"}],\"detail\":{\"view\":\"checklist\",\"items\":[{\"phase\":\"first\",\"desc\":"
        "\"first\",\"result\":\"Succeeded\",\"timestamp\":\"2026-01-02T03:04:07Z\"},{\"phase\":"
        "\"second\",\"desc\":\"second\",\"result\":\"Failed\",\"timestamp\":"
        "\"2026-01-02T03:04:08Z\"}]}}");
    do_to(&w, KC_PHASE_RESET);
    second_fails = false;
    walk_step(&w);
    kc_buf_clear(&out);
    kc_phase_view(&redis_machine, w.object, &out);
    assert_non_null(strstr(kc_buf_cstr(&out), "\"result\":\"Warning\""));
    assert_non_null(strstr(kc_buf_cstr(&out), "\"detail\":{\"view\":\"none\"}"));
}

static void graph_is_written_as_dot_and_mermaid(void **state)
{
    (void)state;
    kc_scoped(kc_buf) dot = {0}, mermaid = {0};
    kc_phase_graph(&redis_machine, KC_PHASE_DOT, &dot);
    assert_string_equal(kc_buf_cstr(&dot),
                        "digraph redismigration {\n"
                        "  rankdir=LR;\n"
                        "  node [shape=box, style=rounded];\n"
                        "  start [shape=point];\n"
                        "  start -> \"Pending\";\n"
                        "  \"Pending\" -> \"Approve\";\n"
                        "  \"Approve\" -> \"InFlight\";\n"
                        "  \"InFlight\" [label=\"InFlight\\nfirst, second\"];\n"
                        "  \"InFlight\" -> \"Succeeded\";\n"
                        "  \"InFlight\" -> \"Failed\" [style=dashed, label=\"fails\"];\n"
                        "  \"Succeeded\" [peripheries=2];\n"
                        "  \"Failed\" [peripheries=2];\n"
                        "}\n");
    kc_phase_graph(&redis_machine, KC_PHASE_MERMAID, &mermaid);
    assert_non_null(strstr(kc_buf_cstr(&mermaid), "stateDiagram-v2\n    [*] --> Pending\n"));
    assert_non_null(strstr(kc_buf_cstr(&mermaid), "    InFlight --> Failed: fails\n"));
}

TESTS(action_is_recognized_by_its_id, reset_retries_the_phase_and_keeps_completed_steps,
      revert_goes_back_and_drops_the_state, purge_restarts_from_the_initial_phase,
      invalid_action_is_refused, audit_keeps_the_newest_entries, view_shows_phase_and_steps,
      graph_is_written_as_dot_and_mermaid)
