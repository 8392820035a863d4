/* SPDX-License-Identifier: Apache-2.0 */
/* Many dependents of one owner: one request for each, and none twice. */
#include "garbage_testing.h"

enum { MANY = SEEDS_OF(5000) };

static void make_many(kc_testenv *env)
{
    kc_auto(kc_object) *owner = map(env, "owner", NO_OWNERS);
    for (int i = 0; i < MANY; i++) {
        kc_autofree char *name = kc_asprintf("child-%d", i);
        kc_object_unref(map(env, name, OWNERS(owner)));
    }
}

/* Requests that clients have made, from what they log: two at most are of the test itself. */
typedef struct requests {
    size_t deletes, patches, gets;
    size_t small_at; /* How many deletes there were when that of "small-child" came. */
} requests;

static void count_line(kc_str line, void *user)
{
    requests *n = user;
    if (!kc_str_contains(line, KC_STR("\"msg\":\"request\"")) ||
        !kc_str_contains(line, KC_STR("/configmaps/")))
        return;
    if (kc_str_contains(line, KC_STR("/small-child")))
        n->small_at = n->deletes;
    n->deletes += kc_str_contains(line, KC_STR("\"method\":\"DELETE\""));
    n->patches += kc_str_contains(line, KC_STR("\"method\":\"PATCH\""));
    n->gets += kc_str_contains(line, KC_STR("\"method\":\"GET\""));
}

static size_t count_maps(kc_testenv *env)
{
    kc_scoped(kc_object_list) list = {0};
    kc_scoped(kc_error) err = {0};
    OK(kc_client_list(kc_testenv_client(env), &kc_kind_config_map,
                      &(kc_list_opts){.ns = "default", .metadata_only = true}, &list, &err),
       &err);
    return list.n;
}

static void settle_many(kc_testenv *env)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_testenv_settle_within(env, 10 * KC_MINUTE, &err), &err);
}

static kc_log *log_into(requests *n)
{
    return kc_log_new(&(kc_log_opts){
        .level = KC_LOG_DEBUG, .format = KC_LOG_JSON, .write = count_line, .user = n});
}

static kc_testenv *logged(kc_log *log)
{
    kc_testenv *env = kc_testenv_start(&(kc_testenv_opts){.seed = 1, .log = log}, NULL);
    add_collector(kc_testenv_manager(env));
    return env;
}

/* What is left of them, and the requests that took. */
static size_t left_after(const char *propagation, requests *ret)
{
    kc_auto(kc_log) *log = log_into(ret);
    kc_auto(kc_testenv) *env = logged(log);
    make_many(env);
    settle_many(env);
    *ret = (requests){0};
    remove_map(env, "owner", propagation);
    settle_many(env);
    return count_maps(env);
}

static void assert_about(size_t actual, size_t expected)
{
    if (actual < expected || actual > expected + 3)
        fail_msg("%zu requests, not %zu", actual, expected);
}

static void background_deletion_sends_one_request_per_dependent(void **state)
{
    (void)state;
    requests n;
    assert_int_equal(left_after("Background", &n), 0);
    assert_about(n.deletes, MANY);
    assert_about(n.gets, 1);
}

static void foreground_deletion_sends_one_request_per_dependent(void **state)
{
    (void)state;
    requests n;
    assert_int_equal(left_after("Foreground", &n), 0);
    assert_about(n.deletes, MANY);
    assert_about(n.patches, 1);
    assert_about(n.gets, 1);
}

static void orphaning_sends_one_request_per_dependent(void **state)
{
    (void)state;
    requests n;
    assert_int_equal(left_after("Orphan", &n), MANY);
    assert_about(n.deletes, 0);
    assert_about(n.patches, MANY + 1);
    assert_about(n.gets, 1);
}

static void large_deletion_does_not_delay_another_namespace(void **state)
{
    (void)state;
    requests n = {0};
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_log) *log = log_into(&n);
    kc_auto(kc_testenv) *env = logged(log);
    kc_object_unref(
        make(env, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'small'}}"));
    kc_auto(kc_object) *owner =
        make_owned(env, "v1 ConfigMap", "small", "small-owner", NO_OWNERS, true);
    kc_object_unref(make_owned(env, "v1 ConfigMap", "small", "small-child", OWNERS(owner), true));
    make_many(env);
    settle_many(env);
    n = (requests){0};
    remove_map(env, "owner", "Background");
    OK(kc_client_delete(kc_testenv_client(env), &kc_kind_config_map, KC_KEY("small", "small-owner"),
                        NULL, &err),
       &err);
    settle_many(env);
    assert_true(n.deletes > MANY);
    assert_true(n.small_at && n.small_at < MANY / 2);
}

TESTS(large_deletion_does_not_delay_another_namespace,
      background_deletion_sends_one_request_per_dependent,
      foreground_deletion_sends_one_request_per_dependent,
      orphaning_sends_one_request_per_dependent)
