/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Phase machines as controllers: what they write, which actions users have, and that a crash at any
 * time does not change the result.
 */
#include "reconciler_testing.h"

/* ---- a machine ---- */

static const kc_kind trip_kind = {.group = "test.kubecontroller.io",
                                  .version = "v1",
                                  .kind = "Trip",
                                  .plural = "trips",
                                  .singular = "trip",
                                  .namespaced = true};

static const char definition[] =
    "apiVersion: apiextensions.k8s.io/v1\n"
    "kind: CustomResourceDefinition\n"
    "metadata: {name: trips.test.kubecontroller.io}\n"
    "spec:\n"
    "  group: test.kubecontroller.io\n"
    "  names: {kind: Trip, plural: trips, singular: trip, listKind: TripList}\n"
    "  scope: Namespaced\n"
    "  versions:\n"
    "  - name: v1\n"
    "    served: true\n"
    "    storage: true\n"
    "    subresources: {status: {}}\n"
    "    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}\n";

static _Atomic int packed, driven, rested, arrived;
static int furthest; /* The phase a trip was last seen in. */

static kc_phase_result pack(kc_phase_call *call, kc_error *err)
{
    const kc_context *ctx = call->context;
    (void)err;
    assert_non_null(ctx->client);
    packed++;
    return KC_PHASE_DONE;
}

static kc_phase_result drive(kc_phase_call *call, kc_error *err)
{
    driven++;
    if (kc_value_as_bool(kc_value_nested(call->root, "spec.flat"), false)) {
        kc_error_set(err, KC_INVALID, "a flat tyre");
        return KC_PHASE_FAIL;
    }
    return KC_PHASE_DONE;
}

static kc_phase_result rest(kc_phase_call *call, kc_error *err)
{
    (void)err;
    rested++;
    /* Says something new each time, so that every call is a write. */
    kc_phase_progress(call, rested, 100);
    return kc_value_as_bool(kc_value_nested(call->root, "spec.tired"), false) ? KC_PHASE_STAY
                                                                              : KC_PHASE_DONE;
}

static kc_phase_result arrive(kc_phase_call *call, kc_error *err)
{
    (void)call;
    (void)err;
    arrived++;
    return KC_PHASE_DONE;
}

static KC_PHASE_MACHINE(trip) = {
    .kind = &trip_kind,
    .initial = "Pack",
    .phases = KC_PHASES({"Pack", pack, .next = "Drive"},
                        {"Drive", KC_SERIAL(drive, rest), .next = "Arrive", .failed = "Stranded"},
                        {"Arrive", arrive, .next = "Home", .pause = true}),
    .terminal = KC_NAMES("Home", "Stranded"),
};

KC_RECONCILER(trip) = {.machine = &trip_machine};

/* ---- phase machine with parallel steps ---- */

static const kc_kind convoy_kind = {.group = "test.kubecontroller.io",
                                    .version = "v1",
                                    .kind = "Convoy",
                                    .plural = "convoys",
                                    .singular = "convoy",
                                    .namespaced = true};

static const char convoy_definition[] =
    "apiVersion: apiextensions.k8s.io/v1\n"
    "kind: CustomResourceDefinition\n"
    "metadata: {name: convoys.test.kubecontroller.io}\n"
    "spec:\n"
    "  group: test.kubecontroller.io\n"
    "  names: {kind: Convoy, plural: convoys, singular: convoy, listKind: ConvoyList}\n"
    "  scope: Namespaced\n"
    "  versions:\n"
    "  - name: v1\n"
    "    served: true\n"
    "    storage: true\n"
    "    %s\n"
    "    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}\n";

static kc_phase_result slow(kc_phase_call *call, kc_error *err)
{
    (void)err;
    kc_cancel_sleep_until(call->cancel, call->clock, kc_clock_deadline(call->clock, KC_SECOND));
    driven++;
    return KC_PHASE_DONE;
}

static kc_phase_result slower(kc_phase_call *call, kc_error *err)
{
    (void)err;
    kc_cancel_sleep_until(call->cancel, call->clock, kc_clock_deadline(call->clock, 2 * KC_SECOND));
    driven++;
    return KC_PHASE_DONE;
}

static KC_PHASE_MACHINE(convoy) = {
    .kind = &convoy_kind,
    .initial = "Drive",
    .phases = KC_PHASES({"Drive", KC_PARALLEL(slow, slower), .next = "There"}),
    .terminal = KC_NAMES("There"),
};

KC_RECONCILER(convoy) = {.machine = &convoy_machine};

/* ---- messages ---- */

static void define(kc_testenv *env)
{
    kc_scoped(kc_error) err = {0};
    packed = driven = rested = arrived = furthest = 0;
    OK(kc_testenv_apply(env, kc_cstr(definition), &err), &err);
}

static void begin_with(kc_testenv *env, const char *spec)
{
    kc_autofree char *json = kc_asprintf("{'apiVersion':'test.kubecontroller.io/v1','kind':'Trip',"
                                         "'metadata':{'name':'one','namespace':'default'},"
                                         "'spec':{%s}}",
                                         spec);
    kc_auto(kc_object) *made = make(env, json);
}

static const scenario plain = {.reconcilers = "trip", .before = define};

static kc_testenv *trip_with(const char *spec)
{
    kc_testenv *env = scenario_begin(&plain, 1);
    begin_with(env, spec);
    settle(env);
    return env;
}

static void order(kc_testenv *env, const char *word)
{
    kc_autofree char *patch = kc_asprintf("{'metadata':{'annotations':{'" KC_PHASE_ACTION "':'%s',"
                                          "'" KC_PHASE_ACTION_BY "':'ann'}}}",
                                          word);
    patch_object(env, &trip_kind, "one", patch);
}

static void run_action(kc_testenv *env, const char *word)
{
    order(env, word);
    settle(env);
    kc_auto(kc_object) *trip = look_up(env, &trip_kind, "one");
    if (trip)
        assert_false(kc_object_has_annotation(trip, KC_STR(KC_PHASE_ACTION)));
}

#define assert_phase(env, phase) assert_field_is(env, &trip_kind, "one", "status.phase", phase)

static void assert_meta(kc_testenv *env, const char *label, bool held)
{
    kc_auto(kc_object) *trip = look_up(env, &trip_kind, "one");
    assert_true(kc_object_label_is(trip, KC_STR(KC_PHASE_LABEL), kc_cstr(label)));
    assert_int_equal(kc_object_has_finalizer(trip, KC_STR(KC_PHASE_FINALIZER)), held);
}

static void delete_trip(kc_testenv *env)
{
    assert_int_equal(
        kc_client_delete(kc_testenv_client(env), &trip_kind, KC_KEY("default", "one"), NULL, NULL),
        0);
    settle(env);
}

/* ---- phases ---- */

static void pausing_phase_waits_for_continue(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = trip_with("");
    assert_phase(env, "Arrive");
    assert_meta(env, "Arrive", true);
    assert_int_equal(arrived, 0);
    run_action(env, "continue");
    assert_phase(env, "Home");
    assert_meta(env, "Home", false);
    assert_int_equal(count_recorded_events(env, "ActionDone", "continue: from Arrive to Arrive"),
                     1);
    assert_int_equal(count_recorded_events(env, "PhaseSucceeded", "Arrive ended in Home"), 1);
    assert_int_equal(packed + driven + rested + arrived, 4);
}

static void own_writes_do_not_restart_the_phase(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = trip_with("'tired':true");
    assert_phase(env, "Drive");
    assert_int_equal(rested, 1);
    kc_testenv_advance(env, 11 * KC_SECOND);
    assert_int_equal(rested, 3);
    assert_int_equal(driven, 1);
    patch_object(env, &trip_kind, "one", "{'spec':{'tired':false}}");
    settle(env);
    assert_phase(env, "Arrive");
    assert_int_equal(rested, 4);
}

static void paused_object_waits_until_unpaused(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = trip_with("'paused':true");
    kc_testenv_advance(env, KC_MINUTE);
    assert_phase(env, "Pack");
    assert_int_equal(packed, 0);
    patch_object(env, &trip_kind, "one", "{'spec':{'paused':false}}");
    settle(env);
    assert_phase(env, "Arrive");
}

static void failed_phase_reports_its_error(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = trip_with("'flat':true");
    assert_phase(env, "Stranded");
    assert_meta(env, "Stranded", false);
    assert_int_equal(
        count_recorded_events(env, "PhaseFailed", "Drive ended in Stranded: drive: a flat tyre"),
        1);
    kc_scoped(kc_buf) metrics = {0};
    kc_metrics_write(kc_manager_metrics(kc_testenv_manager(env)), &metrics);
    assert_contains(kc_buf_cstr(&metrics),
                    "kc_phase_transitions_total{reconciler=\"trip\",phase=\"Stranded\"} 1");
}

static void unknown_phase_is_a_terminal_error(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_testenv) *env = trip_with("");
    kc_auto(kc_object) *trip =
        kc_client_patch(kc_testenv_client(env), &trip_kind, KC_KEY("default", "one"),
                        KC_PATCH_MERGE, KC_STR("{\"status\":{\"phase\":\"Nowhere\"}}"),
                        &(kc_write_opts){.subresource = "status"}, &err);
    OK(trip ? 0 : -1, &err);
    patch_object(env, &trip_kind, "one", "{'spec':{'x':1}}");
    settle(env);
    assert_int_equal(count_recorded_events(env, "UnknownPhase", "unknown phase \"Nowhere\""), 1);
}

/* ---- user actions ---- */

static void reset_retries_the_failed_phase(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = trip_with("'flat':true");
    patch_object(env, &trip_kind, "one", "{'spec':{'flat':false}}");
    settle(env);
    assert_phase(env, "Stranded");
    run_action(env, "reset");
    assert_phase(env, "Arrive");
    assert_meta(env, "Arrive", true);
    assert_int_equal(packed, 1);
    assert_int_equal(driven, 2);
    assert_field_is(env, &trip_kind, "one", "status.state.Drive.done", "true");
    kc_autofree char *audit = text_of(env, &trip_kind, "one", "status.audit");
    assert_contains(audit, "\"action\":\"reset\",\"phase\":\"Stranded\",\"user\":\"ann\"");
}

static void revert_goes_back_one_phase(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = trip_with("");
    run_action(env, "revert");
    assert_phase(env, "Arrive");
    assert_int_equal(packed, 1);
    assert_int_equal(driven, 2);
    assert_int_equal(rested, 2);
}

static void purge_restarts_from_the_initial_phase(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = trip_with("'flat':true");
    run_action(env, "purge");
    assert_phase(env, "Stranded");
    assert_int_equal(packed, 2);
    assert_int_equal(driven, 2);
}

static void impossible_action_records_a_warning(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = trip_with("");
    run_action(env, "reset");
    assert_phase(env, "Arrive");
    assert_int_equal(count_recorded_events(env, "ActionRefused", "cannot reset: phase Arrive"), 1);
    run_action(env, "rest");
    assert_int_equal(count_recorded_events(env, "ActionRefused", "unknown action \"rest\""), 1);
    run_action(env, "jump");
    assert_int_equal(
        count_recorded_events(env, "ActionRefused", "supported actions: reset, revert"), 1);
}

/* ---- deleting ---- */

static void object_in_terminal_phase_is_deleted_at_once(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = trip_with("'flat':true");
    delete_trip(env);
    assert_null(look_up(env, &trip_kind, "one"));
}

static void object_in_progress_is_deleted_after_its_end(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = trip_with("'tired':true");
    delete_trip(env);
    assert_phase(env, "Drive");
    patch_object(env, &trip_kind, "one", "{'spec':{'tired':false}}");
    settle(env);
    assert_phase(env, "Arrive");
    run_action(env, "continue");
    assert_null(look_up(env, &trip_kind, "one"));
    assert_int_equal(arrived, 1);
}

static void purge_deletes_a_terminating_object(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = trip_with("'tired':true");
    delete_trip(env);
    run_action(env, "purge");
    assert_null(look_up(env, &trip_kind, "one"));
    assert_int_equal(arrived, 0);
}

/* ---- concurrency ---- */

static kc_testenv *convoy_with(const char *subresources)
{
    kc_scoped(kc_error) err = {0};
    kc_testenv *env = plane(1);
    kc_autofree char *yaml = kc_asprintf(convoy_definition, subresources);
    driven = 0;
    OK(kc_testenv_apply(env, kc_cstr(yaml), &err), &err);
    OK(kc_reconcilers_add(kc_testenv_manager(env), "convoy", &err), &err);
    OK(kc_testenv_run(env, &err), &err);
    kc_auto(kc_object) *made = make(env, "{'apiVersion':'test.kubecontroller.io/v1',"
                                         "'kind':'Convoy','metadata':{'name':'one',"
                                         "'namespace':'default'}}");
    return env;
}

static void steps_run_in_parallel(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = convoy_with("subresources: {status: {}}");
    kc_testenv_advance(env, 2100 * KC_MILLISECOND);
    settle(env);
    assert_field_is(env, &convoy_kind, "one", "status.phase", "There");
    assert_int_equal(driven, 2);
}

static void kind_without_status_subresource_is_reported(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = convoy_with("");
    kc_testenv_advance(env, 5 * KC_SECOND);
    assert_field_is(env, &convoy_kind, "one", "status", "");
    kc_scoped(kc_error) err = {0};
    assert_true(kc_testenv_settle_within(env, KC_SECOND, &err) < 0);
    assert_contains(kc_error_text(&err), "does kind Convoy have a status subresource?");
}

/* ---- other writers ---- */

static void conflict_is_retried_with_the_current_object(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&plain, 1);
    kc_testenv_fault(
        env,
        &(kc_fault_opts){.fault = KC_FAULT_CONFLICT, .chance = 1, .times = 5, .kind = &trip_kind});
    begin_with(env, "");
    settle(env);
    assert_phase(env, "Arrive");
    assert_int_equal(kc_testenv_faults(env, KC_FAULT_CONFLICT), 5);
}

/* ---- ending at any moment ---- */

static void begin_trip(kc_testenv *env)
{
    begin_with(env, "");
}

/* It never goes back. */
static void look_at_phase(kc_str phase)
{
    static const char *const phases[] = {"Pack", "Drive", "Arrive", "Home", NULL};
    int rank = 0;
    while (phases[rank] && !kc_str_is(phase, phases[rank]))
        rank++;
    assert_true(rank >= furthest);
    furthest = rank;
}

/* Continues once it waits. */
static void continue_trip(kc_testenv *env)
{
    kc_auto(kc_object) *trip = look_up(env, &trip_kind, "one");
    if (!trip)
        return;
    kc_auto(kc_view) *view = kc_view_of(trip);
    const kc_value *root = kc_view_root(view);
    const kc_str phase = kc_phase_of(&trip_machine, root);
    look_at_phase(phase);
    if (kc_str_is(phase, "Arrive") && !kc_value_nested(root, "status.audit") &&
        !kc_object_has_annotation(trip, KC_STR(KC_PHASE_ACTION)))
        order(env, "continue");
}

static void assert_home_with_every_step_once(kc_testenv *env)
{
    assert_phase(env, "Home");
    assert_meta(env, "Home", false);
    assert_field_is(env, &trip_kind, "one", "status.state.Pack.done", "true");
    assert_field_is(env, &trip_kind, "one", "status.state.Drive.steps.drive.done", "true");
    assert_field_is(env, &trip_kind, "one", "status.state.Drive.steps.rest.done", "true");
    assert_field_is(env, &trip_kind, "one", "status.state.Arrive.done", "true");
    assert_true(packed >= 1 && driven >= 1 && rested >= 1 && arrived >= 1);
    kc_auto(kc_object) *trip = look_up(env, &trip_kind, "one");
    kc_auto(kc_view) *view = kc_view_of(trip);
    assert_int_equal(kc_value_len(kc_value_nested(kc_view_root(view), "status.audit")), 1);
    assert_false(kc_object_has_annotation(trip, KC_STR(KC_PHASE_ACTION)));
}

static const scenario home = {.reconcilers = "trip",
                              .before = define,
                              .event = begin_trip,
                              .outside = continue_trip,
                              .takes = 20 * KC_SECOND,
                              .end = assert_home_with_every_step_once};

static void a_crash_after_any_write_resumes_at_the_same_phase(void **state)
{
    (void)state;
    scenario_converges(&home);
    scenario_converges_after_crashes(&home);
}

static void stale_caches_missed_events_and_bad_networks_change_nothing(void **state)
{
    (void)state;
    scenario_converges_with_stale_cache(&home);
    scenario_converges_with_missed_events(&home);
    scenario_converges_with_bad_network(&home);
}

/* Back exactly one phase, wherever the program ends in between. */
static void begin_waiting_trip(kc_testenv *env)
{
    define(env);
    begin_with(env, "");
}

static void revert_trip(kc_testenv *env)
{
    assert_phase(env, "Arrive");
    order(env, "revert");
}

static void assert_reverted_once(kc_testenv *env)
{
    kc_auto(kc_object) *trip = look_up(env, &trip_kind, "one");
    kc_auto(kc_view) *view = kc_view_of(trip);
    assert_int_equal(kc_value_len(kc_value_nested(kc_view_root(view), "status.audit")), 1);
    assert_false(kc_object_has_annotation(trip, KC_STR(KC_PHASE_ACTION)));
    assert_phase(env, "Arrive");
}

static const scenario reverts = {.reconcilers = "trip",
                                 .before = begin_waiting_trip,
                                 .event = revert_trip,
                                 .takes = 20 * KC_SECOND,
                                 .end = assert_reverted_once};

static void action_is_executed_once(void **state)
{
    (void)state;
    /* The first writes are of the trip itself: its event wants it to wait already. */
    for (size_t writes = 1; writes < 12; writes++) {
        kc_scoped(kc_error) err = {0};
        kc_auto(kc_testenv) *env = scenario_begin(&reverts, writes);
        settle(env);
        kc_testenv_crash_after(env, writes);
        revert_trip(env);
        scenario_advance(&reverts, env, reverts.takes);
        if (kc_testenv_crashed(env)) {
            kc_manager *next = kc_testenv_restart(env, &err);
            OK(next ? 0 : -1, &err);
            scenario_add(&reverts, next);
            OK(kc_testenv_run(env, &err), &err);
        }
        settle(env);
        assert_reverted_once(env);
        assert_int_equal(packed, 1);
    }
}

TESTS(pausing_phase_waits_for_continue, own_writes_do_not_restart_the_phase,
      paused_object_waits_until_unpaused, failed_phase_reports_its_error,
      unknown_phase_is_a_terminal_error, reset_retries_the_failed_phase, revert_goes_back_one_phase,
      purge_restarts_from_the_initial_phase, impossible_action_records_a_warning,
      object_in_terminal_phase_is_deleted_at_once, object_in_progress_is_deleted_after_its_end,
      purge_deletes_a_terminating_object, steps_run_in_parallel,
      kind_without_status_subresource_is_reported, conflict_is_retried_with_the_current_object,
      a_crash_after_any_write_resumes_at_the_same_phase,
      stale_caches_missed_events_and_bad_networks_change_nothing, action_is_executed_once)
