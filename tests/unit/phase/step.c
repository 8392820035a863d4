/* SPDX-License-Identifier: Apache-2.0 */
/* step.c: objects on their way through the phases of a machine. */
#include "kc/json.h"

#include "phase_testing.h"

#include <stdatomic.h>

/* ---- scripted handlers ---- */

static struct {
    kc_phase_result first, second, work;
    kc_reason why;
    _Atomic int firsts, seconds, works;
    _Atomic bool cancelled;
    const char *target;
} script;

static void reset_handlers(void)
{
    memset(&script, 0, sizeof(script));
    script.first = script.second = script.work = KC_PHASE_DONE;
    script.why = KC_INVALID;
}

static kc_phase_result set_error(kc_phase_result verdict, kc_error *err)
{
    if (verdict == KC_PHASE_FAIL)
        kc_error_set(err, script.why, "so it is");
    return verdict;
}

static kc_phase_result work(kc_phase_call *call, kc_error *err)
{
    script.works++;
    if (script.target)
        kc_phase_goto(call, script.target);
    return set_error(script.work, err);
}

static kc_phase_result first(kc_phase_call *call, kc_error *err)
{
    (void)call;
    script.firsts++;
    return set_error(script.first, err);
}

static kc_phase_result second(kc_phase_call *call, kc_error *err)
{
    (void)call;
    script.seconds++;
    return set_error(script.second, err);
}

static kc_phase_result patient(kc_phase_call *call, kc_error *err)
{
    script.cancelled = !kc_cancel_sleep_until(call->cancel, kc_clock_real(),
                                              kc_clock_deadline(kc_clock_real(), 10 * KC_SECOND));
    return kc_error_set(err, KC_TIMEOUT, "given up") ? KC_PHASE_FAIL : KC_PHASE_DONE;
}

static KC_PHASE_MACHINE(banana) = {
    .kind = &banana_kind,
    .initial = "Pending",
    .phases = KC_PHASES({"Pending", work, .next = "Init"},
                        {"Init", work, .next = "Migrate", .failed = "InitFail"},
                        {"Migrate", KC_SERIAL(first, second), .next = "Success", .failed = "Fail"}),
    .terminal = KC_NAMES("Success", "InitFail", "Fail"),
};

static KC_PHASE_MACHINE(parallel) = {
    .kind = &banana_kind,
    .initial = "Go",
    .phases = KC_PHASES({"Go", KC_PARALLEL(first, second), .next = "Success", .failed = "Fail"}),
    .terminal = KC_NAMES("Success", "Fail"),
};

static KC_PHASE_MACHINE(impatient) = {
    .kind = &banana_kind,
    .initial = "Go",
    .phases = KC_PHASES({"Go", KC_PARALLEL(patient, second), .next = "Success", .failed = "Fail"}),
    .terminal = KC_NAMES("Success", "Fail"),
};

#define IN_MIGRATE BANANA ",'status':{'phase':'Migrate'}}"

/* ---- transport ---- */

static void object_passes_all_phases(void **state)
{
    (void)state;
    reset_handlers();
    kc_scoped(walk) w = walk_begin(&banana_machine, BANANA "}");
    walk_step(&w);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Init\"");
    assert_string_equal(walk_at(&w, "status.state.Pending"),
                        "{\"startTime\":\"2026-01-02T03:04:05Z\",\"endTime\":"
                        "\"2026-01-02T03:04:05Z\",\"done\":true}");
    walk_step(&w);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Migrate\"");
    walk_step(&w);
    walk_step(&w);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Success\"");
    assert_true(w.last.ended);
    const kc_object *end = w.object;
    walk_step(&w);
    assert_true(w.last.ended);
    assert_ptr_equal(w.object, end);
    assert_null(w.last.object);
    assert_int_equal(script.works, 2);
}

static void unfinished_phase_is_requeued(void **state)
{
    (void)state;
    reset_handlers();
    script.work = KC_PHASE_STAY;
    kc_scoped(walk) w = walk_begin(&banana_machine, BANANA "}");
    walk_step(&w);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Pending\"");
    assert_int_equal(w.last.after, 5 * KC_SECOND);
    walk_step(&w);
    assert_null(w.last.object); /* Nothing new: nothing is stored. */
    assert_int_equal(script.works, 2);
}

static void fatal_error_leads_to_the_failed_phase(void **state)
{
    (void)state;
    reset_handlers();
    script.work = KC_PHASE_FAIL;
    kc_scoped(walk) w = walk_begin(&banana_machine, BANANA ",'status':{'phase':'Init'}}");
    walk_step(&w);
    assert_string_equal(walk_at(&w, "status.phase"), "\"InitFail\"");
    assert_true(w.last.ended);
    assert_string_equal(walk_at(&w, "status.state.Init.error"), "\"so it is\"");
    assert_string_equal(walk_at(&w, "status.state.Init.fatal"), "true");
}

static void transient_error_is_recorded_and_retried(void **state)
{
    (void)state;
    reset_handlers();
    script.work = KC_PHASE_FAIL;
    script.why = KC_SERVICE_UNAVAILABLE;
    kc_scoped(walk) w = walk_begin(&banana_machine, BANANA ",'status':{'phase':'Init'}}");
    walk_step(&w);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Init\"");
    assert_string_equal(walk_at(&w, "status.state.Init.failed"), "true");
    assert_string_equal(walk_at(&w, "status.state.Init.done"), "");
    script.work = KC_PHASE_DONE;
    walk_step(&w);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Migrate\"");
    assert_string_equal(walk_at(&w, "status.state.Init.error"), "");
}

static void phase_without_failed_is_retried_forever(void **state)
{
    (void)state;
    reset_handlers();
    script.work = KC_PHASE_FAIL;
    kc_scoped(walk) w = walk_begin(&banana_machine, BANANA "}");
    walk_step(&w);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Pending\"");
    assert_false(w.last.ended);
    assert_int_equal(w.last.after, 5 * KC_SECOND);
}

static void handler_may_go_to_another_phase(void **state)
{
    (void)state;
    reset_handlers();
    script.target = "Migrate";
    kc_scoped(walk) w =
        walk_begin(&banana_machine, BANANA ",'status':{'state':{'Migrate':{'done':true}}}}");
    walk_step(&w);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Migrate\"");
    assert_string_equal(walk_at(&w, "status.state.Migrate"), ""); /* It begins anew. */
    script.target = "Nowhere";
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *lost = object_of(BANANA "}");
    kc_phase_step_result stepped = {0};
    assert_true(kc_phase_step(&banana_machine, lost, &(kc_phase_env){.clock = w.clock}, &stepped,
                              &err) < 0);
    assert_non_null(strstr(kc_error_text(&err), "unknown phase \"Nowhere\""));
}

static void unknown_phase_is_an_error(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *lost = object_of(BANANA ",'status':{'phase':'Ripe'}}");
    kc_phase_step_result stepped = {0};
    assert_true(kc_phase_step(&banana_machine, lost, &(kc_phase_env){.clock = kc_clock_real()},
                              &stepped, &err) < 0);
    assert_non_null(strstr(kc_error_text(&err), "unknown phase \"Ripe\""));
}

/* ---- steps ---- */

static void one_serial_step_runs_per_call(void **state)
{
    (void)state;
    reset_handlers();
    kc_scoped(walk) w = walk_begin(&banana_machine, IN_MIGRATE);
    walk_step(&w);
    assert_int_equal(script.firsts, 1);
    assert_int_equal(script.seconds, 0);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Migrate\"");
    assert_string_equal(walk_at(&w, "status.state.Migrate.steps.first.done"), "true");
    assert_int_equal(w.last.after, 0);
    walk_step(&w);
    assert_int_equal(script.firsts, 1);
    assert_int_equal(script.seconds, 1);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Success\"");
}

static void failed_serial_step_stops_the_others(void **state)
{
    (void)state;
    reset_handlers();
    script.first = KC_PHASE_FAIL;
    kc_scoped(walk) w = walk_begin(&banana_machine, IN_MIGRATE);
    walk_step(&w);
    assert_int_equal(script.seconds, 0);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Fail\"");
    assert_string_equal(walk_at(&w, "status.state.Migrate.error"), "\"first: so it is\"");
}

static void completed_parallel_steps_are_not_run_again(void **state)
{
    (void)state;
    reset_handlers();
    script.second = KC_PHASE_STAY;
    kc_scoped(walk) w = walk_begin(&parallel_machine, BANANA "}");
    walk_step(&w);
    walk_step(&w);
    assert_int_equal(script.firsts, 1);
    assert_int_equal(script.seconds, 2);
    script.second = KC_PHASE_DONE;
    walk_step(&w);
    assert_int_equal(script.firsts, 1);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Success\"");
}

static void fatal_error_does_not_cancel_the_caller(void **state)
{
    (void)state;
    reset_handlers();
    script.first = KC_PHASE_FAIL;
    kc_cancel *cancel = kc_cancel_new(NULL);
    kc_scoped(walk) w = walk_begin(&banana_machine, BANANA ",'status':{'phase':'Migrate'}}");
    kc_phase_step_result stepped = {0};
    assert_int_equal(kc_phase_step(w.machine, w.object,
                                   &(kc_phase_env){.clock = w.clock, .cancel = cancel}, &stepped,
                                   NULL),
                     0);
    assert_true(stepped.ended);
    assert_false(kc_cancel_fired(cancel));
    kc_object_unref(stepped.object);
    kc_cancel_unref(cancel);
}

static void fatal_error_cancels_parallel_steps(void **state)
{
    (void)state;
    reset_handlers();
    script.second = KC_PHASE_FAIL;
    kc_scoped(walk) w = walk_begin(&impatient_machine, BANANA "}");
    walk_step(&w);
    assert_true(script.cancelled);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Fail\"");
    assert_string_equal(walk_at(&w, "status.state.Go.error"), "\"second: so it is\"");
}

/* ---- responses of handlers ---- */

static kc_phase_result copy(kc_phase_call *call, kc_error *err)
{
    const int64_t n = kc_value_as_i64_or(kc_value_get(call->state, "n"), 0) + 1;
    kc_scoped(kc_buf) json = {0};
    kc_buf_printf(&json, "{\"n\":%lld}", (long long)n);
    kc_phase_progress(call, n, 3);
    kc_phase_warn(call, n == 2 ? "slow" : "");
    kc_phase_set_object(call, &(kc_phase_object){.id = "k1", .name = "one", .done = n > 1});
    if (n == 1)
        kc_phase_set_object(call, &(kc_phase_object){.id = "k2", .error = "locked"});
    assert_true(kc_phase_object_is_done(call, "k1") == (n > 1));
    assert_false(kc_phase_object_is_done(call, "k2"));
    kc_phase_requeue_after(call, KC_MINUTE);
    if (kc_phase_set_state(call, kc_buf_str(&json), err) < 0)
        return KC_PHASE_FAIL;
    return n < 3 ? KC_PHASE_STAY : KC_PHASE_DONE;
}

static KC_PHASE_MACHINE(copying) = {
    .kind = &banana_kind,
    .initial = "Copy",
    .phases = KC_PHASES({"Copy", copy, .next = "Done", .pause = true}),
    .terminal = KC_NAMES("Done"),
};

#define CONTINUED BANANA ",'status':{'phase':'Copy','state':{'Copy':{'continued':true}}}}"

static void state_of_a_handler_is_kept(void **state)
{
    (void)state;
    kc_scoped(walk) w = walk_begin(&copying_machine, CONTINUED);
    walk_step(&w);
    assert_int_equal(w.last.after, KC_MINUTE);
    assert_string_equal(walk_at(&w, "status.state.Copy.state"), "{\"n\":1}");
    assert_string_equal(walk_at(&w, "status.state.Copy.progress"), "{\"done\":1,\"total\":3}");
    walk_step(&w);
    assert_string_equal(walk_at(&w, "status.state.Copy.warning"), "\"slow\"");
    assert_string_equal(walk_at(&w, "status.state.Copy.objects"),
                        "[{\"id\":\"k1\",\"name\":\"one\",\"startTime\":\"2026-01-02T03:04:05Z\","
                        "\"done\":true,\"endTime\":\"2026-01-02T03:04:06Z\"},{\"id\":\"k2\","
                        "\"error\":\"locked\",\"startTime\":\"2026-01-02T03:04:05Z\"}]");
    walk_step(&w);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Done\"");
    assert_string_equal(walk_at(&w, "status.state.Copy.warning"), "");
}

/* ---- waiting ---- */

static void paused_object_is_unchanged(void **state)
{
    (void)state;
    reset_handlers();
    kc_scoped(walk) w = walk_begin(&banana_machine, BANANA ",'spec':{'paused':true}}");
    walk_step(&w);
    assert_true(w.last.waits);
    assert_int_equal(script.works, 0);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Pending\"");
}

static void pausing_phase_waits_for_continue(void **state)
{
    (void)state;
    kc_scoped(walk) w = walk_begin(&copying_machine, BANANA "}");
    walk_step(&w);
    assert_true(w.last.waits);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Copy\"");
}

static void barrier_holds_an_object_before_a_phase(void **state)
{
    (void)state;
    reset_handlers();
    kc_scoped(walk) w = walk_begin(
        &banana_machine, "{'apiVersion':'demo.wukong.com/v1','kind':'Banana','metadata':{'name':"
                         "'b','annotations':{'kubecontroller.io/reconciling-barrier':"
                         "'backup:Init'}}}");
    walk_step(&w);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Init\"");
    walk_step(&w);
    assert_true(w.last.waits);
    assert_int_equal(script.works, 1);
}

static void object_is_held_until_its_time(void **state)
{
    (void)state;
    reset_handlers();
    kc_scoped(walk) w = walk_begin(
        &banana_machine, "{'apiVersion':'demo.wukong.com/v1','kind':'Banana','metadata':{'name':"
                         "'b','annotations':{'kubecontroller.io/no-reconciling-before':"
                         "'1767323145'}}}");
    walk_step(&w);
    assert_int_equal(w.last.after, KC_MINUTE); /* The clock may be set in between. */
    kc_clock_advance(w.clock, KC_MINUTE);
    walk_step(&w);
    assert_in_range(w.last.after, 1, 40 * KC_SECOND);
    assert_int_equal(script.works, 0);
    kc_clock_advance(w.clock, 40 * KC_SECOND);
    walk_step(&w);
    assert_int_equal(script.works, 1);
}

static void invalid_hold_annotation_holds_the_object(void **state)
{
    (void)state;
    static const char *const annotations[] = {
        "'kubecontroller.io/no-reconciling-before':'2026-01-02T03:04:05Z'",
        "'kubecontroller.io/no-reconciling-before':'99999999999999999999'",
        "'kubecontroller.io/no-reconciling-before':'-9223372036854775807'",
        "'kubecontroller.io/reconciling-barrier':'Init'",
        "'kubecontroller.io/reconciling-barrier':'backup:Nowhere'",
    };
    for (size_t i = 0; i < KC_COUNT(annotations); i++) {
        reset_handlers();
        kc_autofree char *banana =
            kc_asprintf("{'apiVersion':'demo.wukong.com/v1','kind':'Banana','metadata':{'name':"
                        "'b','annotations':{%s}}}",
                        annotations[i]);
        kc_scoped(walk) w = walk_begin(&banana_machine, banana);
        walk_step(&w);
        assert_true(w.last.waits);
        assert_non_null(w.last.complaint);
        assert_int_equal(script.works, 0);
    }
}

TESTS(object_passes_all_phases, unfinished_phase_is_requeued, fatal_error_leads_to_the_failed_phase,
      transient_error_is_recorded_and_retried, phase_without_failed_is_retried_forever,
      handler_may_go_to_another_phase, unknown_phase_is_an_error, one_serial_step_runs_per_call,
      failed_serial_step_stops_the_others, completed_parallel_steps_are_not_run_again,
      fatal_error_does_not_cancel_the_caller, fatal_error_cancels_parallel_steps,
      state_of_a_handler_is_kept, paused_object_is_unchanged, pausing_phase_waits_for_continue,
      barrier_holds_an_object_before_a_phase, object_is_held_until_its_time,
      invalid_hold_annotation_holds_the_object)
