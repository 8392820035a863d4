/* SPDX-License-Identifier: Apache-2.0 */
/* The service account `default` that every namespace has. */
#include "story_testing.h"

static bool has_account(kc_testenv *env, const char *ns)
{
    kc_auto(kc_object) *account = kc_client_get(kc_testenv_client(env), &kc_kind_service_account,
                                                KC_KEY(ns, "default"), NULL, NULL);
    return account;
}

static void make_namespace(kc_testenv *env, const char *name)
{
    kc_autofree char *json =
        kc_asprintf("{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'%s'}}", name);
    kc_auto(kc_object) *made = make(env, json);
}

static void two_namespaces(kc_testenv *env)
{
    make_namespace(env, "one");
    make_namespace(env, "two");
}

static void both_have_one(kc_testenv *env)
{
    assert_true(has_account(env, "one"));
    assert_true(has_account(env, "two"));
    assert_true(has_account(env, "default"));
}

static const story accounts = {
    .controllers = {.names = "serviceaccount", .workers = 2},
    .event = two_namespaces,
    .takes = 20 * KC_SECOND,
    .end = both_have_one,
};

static void every_namespace_gets_one(void **state)
{
    (void)state;
    it_ends_well(&accounts);
}

static void it_is_made_again_when_it_was_deleted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&accounts, 1);
    settle(env);
    assert_true(has_account(env, "default"));
    assert_int_equal(kc_client_delete(kc_testenv_client(env), &kc_kind_service_account,
                                      KC_KEY("default", "default"), NULL, NULL),
                     0);
    assert_false(has_account(env, "default"));
    settle(env);
    assert_true(has_account(env, "default"));
}

static void what_people_put_into_it_stays(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    make_namespace(env, "one");
    kc_auto(kc_object) *made =
        make(env, "{'apiVersion':'v1','kind':'ServiceAccount','metadata':{'name':'default',"
                  "'namespace':'one'},'imagePullSecrets':[{'name':'registry'}]}");
    story_add(&accounts, kc_testenv_manager(env));
    settle(env);
    kc_auto(kc_object) *now = kc_client_get(kc_testenv_client(env), &kc_kind_service_account,
                                            KC_KEY("one", "default"), NULL, NULL);
    assert_true(kc_object_revision(now) == kc_object_revision(made));
}

static void a_namespace_that_is_being_deleted_gets_none(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    make_namespace(env, "one");
    assert_int_equal(kc_client_delete(kc_testenv_client(env), &kc_kind_namespace,
                                      KC_KEY(NULL, "one"), NULL, NULL),
                     0);
    story_add(&accounts, kc_testenv_manager(env));
    settle(env);
    assert_true(has_account(env, "default"));
    assert_false(has_account(env, "one"));
}

static void it_runs_in_real_time_too(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&accounts, 0);
    two_namespaces(env);
    settle(env);
    both_have_one(env);
}

static void it_survives_faults(void **state)
{
    (void)state;
    it_survives_a_crash_after_any_write(&accounts);
    it_survives_a_stale_cache(&accounts);
    it_survives_missed_events(&accounts);
    it_survives_a_bad_network(&accounts);
}

TESTS(every_namespace_gets_one, it_is_made_again_when_it_was_deleted, what_people_put_into_it_stays,
      a_namespace_that_is_being_deleted_gets_none, it_survives_faults, it_runs_in_real_time_too)
