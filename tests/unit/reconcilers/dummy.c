/* SPDX-License-Identifier: Apache-2.0 */
/* Dummies: their status follows, in time. */
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

static void it_has_followed(kc_testenv *env)
{
    assert_says(env, &dummy_kind, "dummy-one", "status.data", "hello");
    assert_says(env, &dummy_kind, "dummy-one", "status.dueTime", "");
}

static const story follows = {.reconcilers = "dummy",
                              .before = definition,
                              .event = sample,
                              .takes = 20 * KC_SECOND,
                              .end = it_has_followed};

static void its_status_follows(void **state)
{
    (void)state;
    it_ends_well(&follows);
}

static void not_before_it_is_time(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&follows, 1);
    story_event(&follows, env);
    settle(env);
    assert_says(env, &dummy_kind, "dummy-one", "status.data", "");
    kc_testenv_advance(env, 1900 * KC_MILLISECOND);
    assert_says(env, &dummy_kind, "dummy-one", "status.data", "");
    kc_testenv_advance(env, 1200 * KC_MILLISECOND);
    assert_says(env, &dummy_kind, "dummy-one", "status.data", "hello");
}

static void a_change_begins_anew(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&follows, 1);
    story_event(&follows, env);
    kc_testenv_advance(env, 1500 * KC_MILLISECOND);
    patch_it(env, &dummy_kind, "dummy-one", "{'spec':{'data':'other'}}");
    kc_testenv_advance(env, 1500 * KC_MILLISECOND);
    assert_says(env, &dummy_kind, "dummy-one", "status.data", "");
    kc_testenv_advance(env, 2 * KC_SECOND);
    assert_says(env, &dummy_kind, "dummy-one", "status.data", "other");
}

static void without_a_time_it_follows_at_once(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&follows, 1);
    kc_auto(kc_object) *made =
        make(env, "{'apiVersion':'demo.wukong.com/v1','kind':'Dummy',"
                  "'metadata':{'name':'now','namespace':'default'},'spec':{'data':'x'}}");
    settle(env);
    assert_says(env, &dummy_kind, "now", "status.data", "x");
}

static void it_survives_everything(void **state)
{
    (void)state;
    it_survives_a_crash_after_any_write(&follows);
    it_survives_a_stale_cache(&follows);
    it_survives_missed_events(&follows);
    it_survives_a_bad_network(&follows);
}

TESTS(its_status_follows, not_before_it_is_time, a_change_begins_anew,
      without_a_time_it_follows_at_once, it_survives_everything)
