/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a condition of an object with a watch. */
#include "plane_testing.h"

#include "kc/wait.h"

static void condition_already_met_returns_at_once(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_auto(kc_object) *made = make(env, CONFIG_MAP("a")), *seen = NULL;
    kc_scoped(kc_error) err = {0};
    OK(kc_wait_for(kc_testenv_client(env), &kc_kind_config_map, KC_KEY("default", "a"),
                   kc_until_exists, NULL, KC_SECOND, &seen, &err),
       &err);
    assert_str(kc_object_name(seen), "a");
}

static void wait_times_out(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_scoped(kc_error) err = {0};
    int64_t before = kc_clock_now(kc_testenv_clock(env));
    assert_true(kc_wait_for(kc_testenv_client(env), &kc_kind_config_map, KC_KEY("default", "a"),
                            kc_until_exists, NULL, 30 * KC_SECOND, NULL, &err) < 0);
    assert_error(&err, KC_TIMEOUT, "timed out waiting for ConfigMap a");
    assert_int_equal(kc_clock_now(kc_testenv_clock(env)), before + 30 * KC_SECOND);
}

static void act_later(void *user)
{
    kc_testenv *env = user;
    kc_clock_sleep(kc_testenv_clock(env), 5 * KC_SECOND);
    kc_auto(kc_object) *made = make(env, CONFIG_MAP("a"));
    kc_clock_sleep(kc_testenv_clock(env), 5 * KC_SECOND);
    kc_client_delete(kc_testenv_client(env), &kc_kind_config_map, KC_KEY("default", "a"), NULL,
                     NULL);
}

static void wait_returns_when_the_condition_is_met(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(2);
    kc_client *client = kc_testenv_client(env);
    kc_scoped(kc_error) err = {0};
    int64_t before = kc_clock_now(kc_testenv_clock(env));
    kc_thread *thread = kc_thread_start("actor", act_later, env, NULL);
    OK(kc_wait_for(client, &kc_kind_config_map, KC_KEY("default", "a"), kc_until_exists, NULL, 0,
                   NULL, &err),
       &err);
    assert_int_equal(kc_clock_now(kc_testenv_clock(env)), before + 5 * KC_SECOND);
    kc_object *gone = NULL;
    OK(kc_wait_for(client, &kc_kind_config_map, KC_KEY("default", "a"), kc_until_gone, NULL, 0,
                   &gone, &err),
       &err);
    assert_null(gone);
    assert_int_equal(kc_clock_now(kc_testenv_clock(env)), before + 10 * KC_SECOND);
    kc_thread_join(thread);
}

TESTS(condition_already_met_returns_at_once, wait_times_out, wait_returns_when_the_condition_is_met)
