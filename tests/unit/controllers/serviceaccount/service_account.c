/* SPDX-License-Identifier: Apache-2.0 */
/* The service account `default` that every namespace has. */
#include "scenario_testing.h"

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

static void create_two_namespaces(kc_testenv *env)
{
    make_namespace(env, "one");
    make_namespace(env, "two");
}

static void assert_both_have_one(kc_testenv *env)
{
    assert_true(has_account(env, "one"));
    assert_true(has_account(env, "two"));
    assert_true(has_account(env, "default"));
}

static const scenario accounts = {
    .controllers = {.names = "serviceaccount", .workers = 2},
    .event = create_two_namespaces,
    .takes = 20 * KC_SECOND,
    .end = assert_both_have_one,
};

static void every_namespace_gets_a_service_account(void **state)
{
    (void)state;
    scenario_converges(&accounts);
}

static void deleted_service_account_is_recreated(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&accounts, 1);
    settle(env);
    assert_true(has_account(env, "default"));
    assert_int_equal(kc_client_delete(kc_testenv_client(env), &kc_kind_service_account,
                                      KC_KEY("default", "default"), NULL, NULL),
                     0);
    assert_false(has_account(env, "default"));
    settle(env);
    assert_true(has_account(env, "default"));
}

static void existing_service_account_is_unchanged(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    make_namespace(env, "one");
    kc_auto(kc_object) *made =
        make(env, "{'apiVersion':'v1','kind':'ServiceAccount','metadata':{'name':'default',"
                  "'namespace':'one'},'imagePullSecrets':[{'name':'registry'}]}");
    scenario_add(&accounts, kc_testenv_manager(env));
    settle(env);
    kc_auto(kc_object) *now = kc_client_get(kc_testenv_client(env), &kc_kind_service_account,
                                            KC_KEY("one", "default"), NULL, NULL);
    assert_true(kc_object_revision(now) == kc_object_revision(made));
}

static void terminating_namespace_gets_no_service_account(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    make_namespace(env, "one");
    assert_int_equal(kc_client_delete(kc_testenv_client(env), &kc_kind_namespace,
                                      KC_KEY(NULL, "one"), NULL, NULL),
                     0);
    scenario_add(&accounts, kc_testenv_manager(env));
    settle(env);
    assert_true(has_account(env, "default"));
    assert_false(has_account(env, "one"));
}

static void works_with_real_clock_and_threads(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&accounts, 0);
    create_two_namespaces(env);
    settle(env);
    assert_both_have_one(env);
}

static void converges_under_faults(void **state)
{
    (void)state;
    scenario_converges_after_crashes(&accounts);
    scenario_converges_with_stale_cache(&accounts);
    scenario_converges_with_missed_events(&accounts);
    scenario_converges_with_bad_network(&accounts);
}

TESTS(every_namespace_gets_a_service_account, deleted_service_account_is_recreated,
      existing_service_account_is_unchanged, terminating_namespace_gets_no_service_account,
      converges_under_faults, works_with_real_clock_and_threads)
