/* SPDX-License-Identifier: Apache-2.0 */
/* step.c: objects on their way through phases. */
#include "kc/json.h"

#include "phase_testing.h"

#include <stdatomic.h>

/* ---- handlers that do as they are told ---- */

static struct {
    kc_phase_verdict first, second, work;
    kc_reason why;
    _Atomic int firsts, seconds, works;
    _Atomic bool cancelled;
    const char *target;
} told;

static void tell(void)
{
    memset(&told, 0, sizeof(told));
    told.first = told.second = told.work = KC_PHASE_DONE;
    told.why = KC_INVALID;
}

static kc_phase_verdict say(kc_phase_verdict verdict, kc_error *err)
{
    if (verdict == KC_PHASE_FAIL)
        kc_error_set(err, told.why, "so it is");
    return verdict;
}

static kc_phase_verdict work(kc_phase_call *call, kc_error *err)
{
    told.works++;
    if (told.target)
        kc_phase_goto(call, told.target);
    return say(told.work, err);
}

static kc_phase_verdict first(kc_phase_call *call, kc_error *err)
{
    (void)call;
    told.firsts++;
    return say(told.first, err);
}

static kc_phase_verdict second(kc_phase_call *call, kc_error *err)
{
    (void)call;
    told.seconds++;
    return say(told.second, err);
}

static kc_phase_verdict patient(kc_phase_call *call, kc_error *err)
{
    told.cancelled = !kc_cancel_sleep_until(call->cancel, kc_clock_real(),
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

/* ---- the way ---- */

static void an_object_goes_through_its_phases_to_the_end(void **state)
{
    (void)state;
    tell();
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
    assert_int_equal(told.works, 2);
}

static void a_phase_that_is_not_done_is_looked_at_again_later(void **state)
{
    (void)state;
    tell();
    told.work = KC_PHASE_STAY;
    kc_scoped(walk) w = walk_begin(&banana_machine, BANANA "}");
    walk_step(&w);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Pending\"");
    assert_int_equal(w.last.after, 5 * KC_SECOND);
    walk_step(&w);
    assert_null(w.last.object); /* Nothing new: nothing is stored. */
    assert_int_equal(told.works, 2);
}

static void a_fatal_error_leads_to_the_failed_phase(void **state)
{
    (void)state;
    tell();
    told.work = KC_PHASE_FAIL;
    kc_scoped(walk) w = walk_begin(&banana_machine, BANANA ",'status':{'phase':'Init'}}");
    walk_step(&w);
    assert_string_equal(walk_at(&w, "status.phase"), "\"InitFail\"");
    assert_true(w.last.ended);
    assert_string_equal(walk_at(&w, "status.state.Init.error"), "\"so it is\"");
    assert_string_equal(walk_at(&w, "status.state.Init.fatal"), "true");
}

static void an_error_that_may_pass_is_written_down_and_tried_again(void **state)
{
    (void)state;
    tell();
    told.work = KC_PHASE_FAIL;
    told.why = KC_SERVICE_UNAVAILABLE;
    kc_scoped(walk) w = walk_begin(&banana_machine, BANANA ",'status':{'phase':'Init'}}");
    walk_step(&w);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Init\"");
    assert_string_equal(walk_at(&w, "status.state.Init.failed"), "true");
    assert_string_equal(walk_at(&w, "status.state.Init.done"), "");
    told.work = KC_PHASE_DONE;
    walk_step(&w);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Migrate\"");
    assert_string_equal(walk_at(&w, "status.state.Init.error"), "");
}

static void a_phase_that_cannot_fail_is_tried_for_ever(void **state)
{
    (void)state;
    tell();
    told.work = KC_PHASE_FAIL;
    kc_scoped(walk) w = walk_begin(&banana_machine, BANANA "}");
    walk_step(&w);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Pending\"");
    assert_false(w.last.ended);
    assert_int_equal(w.last.after, 5 * KC_SECOND);
}

static void a_handler_may_go_elsewhere(void **state)
{
    (void)state;
    tell();
    told.target = "Migrate";
    kc_scoped(walk) w =
        walk_begin(&banana_machine, BANANA ",'status':{'state':{'Migrate':{'done':true}}}}");
    walk_step(&w);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Migrate\"");
    assert_string_equal(walk_at(&w, "status.state.Migrate"), ""); /* It begins anew. */
    told.target = "Nowhere";
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *lost = object_of(BANANA "}");
    kc_phase_stepped stepped = {0};
    assert_true(kc_phase_step(&banana_machine, lost, &(kc_phase_env){.clock = w.clock}, &stepped,
                              &err) < 0);
    assert_non_null(strstr(kc_error_text(&err), "\"Nowhere\", which is none"));
}

static void a_phase_of_another_machine_is_an_error(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *lost = object_of(BANANA ",'status':{'phase':'Ripe'}}");
    kc_phase_stepped stepped = {0};
    assert_true(kc_phase_step(&banana_machine, lost, &(kc_phase_env){.clock = kc_clock_real()},
                              &stepped, &err) < 0);
    assert_non_null(strstr(kc_error_text(&err), "\"Ripe\" is no phase"));
}

/* ---- steps ---- */

static void steps_run_one_in_each_call(void **state)
{
    (void)state;
    tell();
    kc_scoped(walk) w = walk_begin(&banana_machine, IN_MIGRATE);
    walk_step(&w);
    assert_int_equal(told.firsts, 1);
    assert_int_equal(told.seconds, 0);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Migrate\"");
    assert_string_equal(walk_at(&w, "status.state.Migrate.steps.first.done"), "true");
    assert_int_equal(w.last.after, 0);
    walk_step(&w);
    assert_int_equal(told.firsts, 1);
    assert_int_equal(told.seconds, 1);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Success\"");
}

static void the_first_failure_stops_steps_in_series(void **state)
{
    (void)state;
    tell();
    told.first = KC_PHASE_FAIL;
    kc_scoped(walk) w = walk_begin(&banana_machine, IN_MIGRATE);
    walk_step(&w);
    assert_int_equal(told.seconds, 0);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Fail\"");
    assert_string_equal(walk_at(&w, "status.state.Migrate.error"), "\"first: so it is\"");
}

static void steps_in_parallel_that_are_done_are_not_run_again(void **state)
{
    (void)state;
    tell();
    told.second = KC_PHASE_STAY;
    kc_scoped(walk) w = walk_begin(&parallel_machine, BANANA "}");
    walk_step(&w);
    walk_step(&w);
    assert_int_equal(told.firsts, 1);
    assert_int_equal(told.seconds, 2);
    told.second = KC_PHASE_DONE;
    walk_step(&w);
    assert_int_equal(told.firsts, 1);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Success\"");
}

static void a_fatal_failure_leaves_its_caller_alone(void **state)
{
    (void)state;
    tell();
    told.first = KC_PHASE_FAIL;
    kc_cancel *cancel = kc_cancel_new(NULL);
    kc_scoped(walk) w = walk_begin(&banana_machine, BANANA ",'status':{'phase':'Migrate'}}");
    kc_phase_stepped stepped = {0};
    assert_int_equal(kc_phase_step(w.machine, w.object,
                                   &(kc_phase_env){.clock = w.clock, .cancel = cancel}, &stepped,
                                   NULL),
                     0);
    assert_true(stepped.ended);
    assert_false(kc_cancel_fired(cancel));
    kc_object_unref(stepped.object);
    kc_cancel_unref(cancel);
}

static void the_first_fatal_failure_cancels_the_others(void **state)
{
    (void)state;
    tell();
    told.second = KC_PHASE_FAIL;
    kc_scoped(walk) w = walk_begin(&impatient_machine, BANANA "}");
    walk_step(&w);
    assert_true(told.cancelled);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Fail\"");
    assert_string_equal(walk_at(&w, "status.state.Go.error"), "\"second: so it is\"");
}

/* ---- what handlers say ---- */

static kc_phase_verdict copy(kc_phase_call *call, kc_error *err)
{
    const int64_t n = kc_as_i64_or(kc_get(call->state, "n"), 0) + 1;
    kc_scoped(kc_buf) json = {0};
    kc_buf_printf(&json, "{\"n\":%lld}", (long long)n);
    kc_phase_progress(call, n, 3);
    kc_phase_warn(call, n == 2 ? "slow" : "");
    kc_phase_set_object(call, &(kc_phase_object){.id = "k1", .name = "one", .done = n > 1});
    if (n == 1)
        kc_phase_set_object(call, &(kc_phase_object){.id = "k2", .error = "locked"});
    assert_true(kc_phase_object_is_done(call, "k1") == (n > 1));
    assert_false(kc_phase_object_is_done(call, "k2"));
    kc_phase_later(call, KC_MINUTE);
    if (kc_phase_keep(call, kc_buf_str(&json), err) < 0)
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

static void what_a_handler_keeps_it_finds_again(void **state)
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

static void a_paused_object_is_left_alone(void **state)
{
    (void)state;
    tell();
    kc_scoped(walk) w = walk_begin(&banana_machine, BANANA ",'spec':{'paused':true}}");
    walk_step(&w);
    assert_true(w.last.waits);
    assert_int_equal(told.works, 0);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Pending\"");
}

static void a_phase_that_pauses_waits_for_people(void **state)
{
    (void)state;
    kc_scoped(walk) w = walk_begin(&copying_machine, BANANA "}");
    walk_step(&w);
    assert_true(w.last.waits);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Copy\"");
}

static void a_barrier_holds_an_object_before_a_phase(void **state)
{
    (void)state;
    tell();
    kc_scoped(walk) w = walk_begin(
        &banana_machine, "{'apiVersion':'demo.wukong.com/v1','kind':'Banana','metadata':{'name':"
                         "'b','annotations':{'kubecontroller.io/reconciling-barrier':"
                         "'backup:Init'}}}");
    walk_step(&w);
    assert_string_equal(walk_at(&w, "status.phase"), "\"Init\"");
    walk_step(&w);
    assert_true(w.last.waits);
    assert_int_equal(told.works, 1);
}

static void an_object_is_not_looked_at_before_its_time(void **state)
{
    (void)state;
    tell();
    kc_scoped(walk) w = walk_begin(
        &banana_machine, "{'apiVersion':'demo.wukong.com/v1','kind':'Banana','metadata':{'name':"
                         "'b','annotations':{'kubecontroller.io/no-reconciling-before':"
                         "'1767323145'}}}");
    walk_step(&w);
    assert_int_equal(w.last.after, KC_MINUTE); /* The clock may be set in between. */
    kc_clock_advance(w.clock, KC_MINUTE);
    walk_step(&w);
    assert_in_range(w.last.after, 1, 40 * KC_SECOND);
    assert_int_equal(told.works, 0);
    kc_clock_advance(w.clock, 40 * KC_SECOND);
    walk_step(&w);
    assert_int_equal(told.works, 1);
}

static void what_is_meant_to_hold_it_holds_it_also_where_it_cannot_be_read(void **state)
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
        tell();
        kc_autofree char *banana =
            kc_asprintf("{'apiVersion':'demo.wukong.com/v1','kind':'Banana','metadata':{'name':"
                        "'b','annotations':{%s}}}",
                        annotations[i]);
        kc_scoped(walk) w = walk_begin(&banana_machine, banana);
        walk_step(&w);
        assert_true(w.last.waits);
        assert_non_null(w.last.complaint);
        assert_int_equal(told.works, 0);
    }
}

TESTS(an_object_goes_through_its_phases_to_the_end,
      a_phase_that_is_not_done_is_looked_at_again_later, a_fatal_error_leads_to_the_failed_phase,
      an_error_that_may_pass_is_written_down_and_tried_again,
      a_phase_that_cannot_fail_is_tried_for_ever, a_handler_may_go_elsewhere,
      a_phase_of_another_machine_is_an_error, steps_run_one_in_each_call,
      the_first_failure_stops_steps_in_series, steps_in_parallel_that_are_done_are_not_run_again,
      a_fatal_failure_leaves_its_caller_alone, the_first_fatal_failure_cancels_the_others,
      what_a_handler_keeps_it_finds_again, a_paused_object_is_left_alone,
      a_phase_that_pauses_waits_for_people, a_barrier_holds_an_object_before_a_phase,
      an_object_is_not_looked_at_before_its_time,
      what_is_meant_to_hold_it_holds_it_also_where_it_cannot_be_read)
