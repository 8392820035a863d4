/* SPDX-License-Identifier: Apache-2.0 */
/* Dummies: the status follows the spec after a delay. */
#include "reconciler_testing.h"

#include "api/demo_v1/zz_generated.h"

static void definition(kc_testenv *env)
{
    apply_file(env, "../manifests/dummy/demo.wukong.com_dummies.yaml");
}

static void sample(kc_testenv *env)
{
    apply_file(env, "../manifests/dummy/cr.yaml");
}

static void assert_status_follows(kc_testenv *env)
{
    assert_field_is(env, &dummy_kind, "dummy-one", "status.data", "hello");
    assert_field_is(env, &dummy_kind, "dummy-one", "status.dueTime", "");
}

static const scenario follows = {.reconcilers = "dummy",
                                 .before = definition,
                                 .event = sample,
                                 .takes = 20 * KC_SECOND,
                                 .end = assert_status_follows};

static void status_follows_spec(void **state)
{
    (void)state;
    scenario_converges(&follows);
}

static void status_is_not_written_before_the_delay(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&follows, 1);
    scenario_event(&follows, env);
    settle(env);
    assert_field_is(env, &dummy_kind, "dummy-one", "status.data", "");
    kc_testenv_advance(env, 1900 * KC_MILLISECOND);
    assert_field_is(env, &dummy_kind, "dummy-one", "status.data", "");
    kc_testenv_advance(env, 1200 * KC_MILLISECOND);
    assert_field_is(env, &dummy_kind, "dummy-one", "status.data", "hello");
}

static void changed_spec_restarts_the_delay(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&follows, 1);
    scenario_event(&follows, env);
    kc_testenv_advance(env, 1500 * KC_MILLISECOND);
    patch_object(env, &dummy_kind, "dummy-one", "{'spec':{'data':'other'}}");
    kc_testenv_advance(env, 1500 * KC_MILLISECOND);
    assert_field_is(env, &dummy_kind, "dummy-one", "status.data", "");
    kc_testenv_advance(env, 2 * KC_SECOND);
    assert_field_is(env, &dummy_kind, "dummy-one", "status.data", "other");
}

static void dummy_without_delay_is_updated_at_once(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&follows, 1);
    kc_auto(kc_object) *made =
        make(env, "{'apiVersion':'demo.wukong.com/v1','kind':'Dummy',"
                  "'metadata':{'name':'now','namespace':'default'},'spec':{'data':'x'}}");
    settle(env);
    assert_field_is(env, &dummy_kind, "now", "status.data", "x");
}

static void converges_under_faults(void **state)
{
    (void)state;
    scenario_converges_after_crashes(&follows);
    scenario_converges_with_stale_cache(&follows);
    scenario_converges_with_missed_events(&follows);
    scenario_converges_with_bad_network(&follows);
}

TESTS(status_follows_spec, status_is_not_written_before_the_delay, changed_spec_restarts_the_delay,
      dummy_without_delay_is_updated_at_once, converges_under_faults)
