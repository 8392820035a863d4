/* SPDX-License-Identifier: Apache-2.0 */
/* Bananas: a phase machine from beginning to end, and when things go wrong. */
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

static void it_has_arrived(kc_testenv *env)
{
    kc_auto(kc_object) *fruit = look_up(env, &banana_kind, "banana-one");
    assert_says(env, &banana_kind, "banana-one", "status.phase", "Success");
    assert_says(env, &banana_kind, "banana-one", "status.state.Init.done", "true");
    assert_says(env, &banana_kind, "banana-one", "status.state.Migrate.done", "true");
    assert_says(env, &banana_kind, "banana-one", "status.state.Migrate.state.moved", "3");
    assert_true(kc_object_label_is(fruit, KC_STR(KC_PHASE_LABEL), KC_STR("Success")));
    assert_false(kc_object_has_finalizer(fruit, KC_STR(KC_PHASE_FINALIZER)));
}

static const story arrives = {.reconcilers = "banana",
                              .before = definition,
                              .event = sample,
                              .takes = 20 * KC_SECOND,
                              .end = it_has_arrived};

static void it_goes_through_its_phases(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&arrives, 1);
    story_event(&arrives, env);
    settle(env);
    assert_says(env, &banana_kind, "banana-one", "status.phase", "Migrate");
    kc_auto(kc_object) *fruit = look_up(env, &banana_kind, "banana-one");
    assert_true(kc_object_label_is(fruit, KC_STR(KC_PHASE_LABEL), KC_STR("Migrate")));
    assert_true(kc_object_has_finalizer(fruit, KC_STR(KC_PHASE_FINALIZER)));
    kc_testenv_advance(env, 4 * KC_SECOND);
    settle(env);
    it_has_arrived(env);
    assert_int_equal(events_told(env, "PhaseSucceeded", "Migrate ended in Success"), 1);
}

static void one_that_is_there_already_fails(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&arrives, 1);
    sample(env);
    patch_it(env, &banana_kind, "banana-one", "{'spec':{'dest':'ecuador'}}");
    settle(env);
    kc_testenv_advance(env, 10 * KC_SECOND);
    settle(env);
    assert_says(env, &banana_kind, "banana-one", "status.phase", "Fail");
    assert_says(env, &banana_kind, "banana-one", "status.state.Migrate.error",
                "ecuador is where it is already");
    assert_int_equal(events_told(env, "PhaseFailed", "ecuador is where it is already"), 1);
}

static void equal_seeds_give_equal_runs(void **state)
{
    (void)state;
    uint64_t prints[2];
    for (size_t i = 0; i < 2; i++) {
        kc_auto(kc_testenv) *env = story_begin(&arrives, 42);
        kc_testenv_fault(env, &(kc_fault_opts){KC_FAULT_LOST_ANSWER, .chance = 0.3});
        story_event(&arrives, env);
        story_pass(&arrives, env, arrives.takes);
        prints[i] = kc_testenv_fingerprint(env);
    }
    assert_true(prints[0] == prints[1]);
}

static void it_survives_everything(void **state)
{
    (void)state;
    it_survives_a_crash_after_any_write(&arrives);
    it_survives_a_stale_cache(&arrives);
    it_survives_missed_events(&arrives);
    it_survives_a_bad_network(&arrives);
}

TESTS(it_goes_through_its_phases, one_that_is_there_already_fails, equal_seeds_give_equal_runs,
      it_survives_everything)
