/* SPDX-License-Identifier: Apache-2.0 */
/* Bananas: a phase machine from beginning to end, and under faults. */
#include "reconciler_testing.h"

#include "api/demo_v1/zz_generated.h"

static void definition(kc_testenv *env)
{
    apply_file(env, "../manifests/banana/demo.wukong.com_bananas.yaml");
}

static void sample(kc_testenv *env)
{
    apply_file(env, "../manifests/banana/cr.yaml");
}

static void assert_arrived(kc_testenv *env)
{
    kc_auto(kc_object) *fruit = look_up(env, &banana_kind, "banana-one");
    assert_field_is(env, &banana_kind, "banana-one", "status.phase", "Success");
    assert_field_is(env, &banana_kind, "banana-one", "status.state.Init.done", "true");
    assert_field_is(env, &banana_kind, "banana-one", "status.state.Migrate.done", "true");
    assert_field_is(env, &banana_kind, "banana-one", "status.state.Migrate.state.moved", "3");
    assert_true(kc_object_label_is(fruit, KC_STR(KC_PHASE_LABEL), KC_STR("Success")));
    assert_false(kc_object_has_finalizer(fruit, KC_STR(KC_PHASE_FINALIZER)));
}

static const scenario arrives = {.reconcilers = "banana",
                                 .before = definition,
                                 .event = sample,
                                 .takes = 20 * KC_SECOND,
                                 .end = assert_arrived};

static void banana_passes_its_phases(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&arrives, 1);
    scenario_event(&arrives, env);
    settle(env);
    assert_field_is(env, &banana_kind, "banana-one", "status.phase", "Migrate");
    kc_auto(kc_object) *fruit = look_up(env, &banana_kind, "banana-one");
    assert_true(kc_object_label_is(fruit, KC_STR(KC_PHASE_LABEL), KC_STR("Migrate")));
    assert_true(kc_object_has_finalizer(fruit, KC_STR(KC_PHASE_FINALIZER)));
    kc_testenv_advance(env, 4 * KC_SECOND);
    settle(env);
    assert_arrived(env);
    assert_int_equal(count_recorded_events(env, "PhaseSucceeded", "Migrate ended in Success"), 1);
}

static void banana_already_at_destination_fails(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&arrives, 1);
    sample(env);
    patch_object(env, &banana_kind, "banana-one", "{'spec':{'dest':'ecuador'}}");
    settle(env);
    kc_testenv_advance(env, 10 * KC_SECOND);
    settle(env);
    assert_field_is(env, &banana_kind, "banana-one", "status.phase", "Fail");
    assert_field_is(env, &banana_kind, "banana-one", "status.state.Migrate.error",
                    "ecuador is already at its destination");
    assert_int_equal(
        count_recorded_events(env, "PhaseFailed", "ecuador is already at its destination"), 1);
}

static void equal_seeds_give_equal_runs(void **state)
{
    (void)state;
    uint64_t prints[2];
    for (size_t i = 0; i < 2; i++) {
        kc_auto(kc_testenv) *env = scenario_begin(&arrives, 42);
        kc_testenv_fault(env, &(kc_fault_opts){KC_FAULT_LOST_RESPONSE, .chance = 0.3});
        scenario_event(&arrives, env);
        scenario_advance(&arrives, env, arrives.takes);
        prints[i] = kc_testenv_fingerprint(env);
    }
    assert_true(prints[0] == prints[1]);
}

static void converges_under_faults(void **state)
{
    (void)state;
    scenario_converges_after_crashes(&arrives);
    scenario_converges_with_stale_cache(&arrives);
    scenario_converges_with_missed_events(&arrives);
    scenario_converges_with_bad_network(&arrives);
}

TESTS(banana_passes_its_phases, banana_already_at_destination_fails, equal_seeds_give_equal_runs,
      converges_under_faults)
