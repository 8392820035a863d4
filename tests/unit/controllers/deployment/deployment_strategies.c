/* SPDX-License-Identifier: Apache-2.0 */
/* Rollout strategies: each step, within the limits. */
#include "workload_testing.h"

#include "common/template.h"

#define DEPLOYMENT &kc_kind_deployment
#define SET        &kc_kind_replica_set
#define POD        &kc_kind_pod
#define BOTH       "deployment,replicaset"

static kc_testenv *with_deployment(uint64_t seed, int replicas, const char *more)
{
    kc_testenv *env = workloads(seed, BOTH);
    make_deployment_with(env, "web", replicas, more);
    run_to_end(env);
    return env;
}

/* What the set whose pods have this image should have; -1 when there is none. */
static int64_t size_of(kc_testenv *env, const char *image)
{
    kc_scoped(kc_object_list) sets = all_of(env, SET);
    kc_autofree char *part = kc_asprintf("\"image\":\"%s\"", image);
    for (size_t i = 0; i < sets.n; i++)
        if (strstr(kc_object_json(sets.items[i]).p, part))
            return number_at(sets.items[i], "spec.replicas");
    return -1;
}

#define assert_sizes(env, old, new)                   \
    do {                                              \
        assert_int_equal(size_of(env, "web:1"), old); \
        assert_int_equal(size_of(env, "web:2"), new); \
    } while (0)

/* ---- rolling ---- */

static void surge_comes_first_with_zero_max_unavailable(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env =
        with_deployment(1, 3, "'strategy':{'rollingUpdate':{'maxSurge':1,'maxUnavailable':0}}");
    set_image(env, "web", "web:2");
    settle(env);
    assert_sizes(env, 3, 1);
    run_pods(env);
    settle(env);
    assert_sizes(env, 2, 2);
    run_pods(env);
    settle(env);
    assert_sizes(env, 1, 3);
    run_pods(env);
    settle(env);
    assert_sizes(env, 0, 3);
}

static void pods_are_deleted_first_with_zero_max_surge(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env =
        with_deployment(2, 4, "'strategy':{'rollingUpdate':{'maxSurge':0,'maxUnavailable':2}}");
    set_image(env, "web", "web:2");
    settle(env);
    assert_sizes(env, 2, 2);
    run_pods(env);
    settle(env);
    assert_sizes(env, 0, 4);
}

static void percentages_round_surge_up_and_unavailable_down(void **state)
{
    (void)state;
    /* 25 % of 10: a surge of 3, and 2 missing. */
    kc_auto(kc_testenv) *env = with_deployment(3, 10, "");
    set_image(env, "web", "web:2");
    settle(env);
    assert_sizes(env, 8, 5);
}

static void zero_surge_and_unavailable_allow_one_unavailable(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env =
        with_deployment(4, 3, "'strategy':{'rollingUpdate':{'maxSurge':0,'maxUnavailable':'10%'}}");
    set_image(env, "web", "web:2");
    settle(env);
    assert_sizes(env, 2, 1);
}

static void unavailable_old_pods_are_deleted_first(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env =
        with_deployment(5, 4, "'strategy':{'rollingUpdate':{'maxSurge':0,'maxUnavailable':1}}");
    kc_scoped(kc_object_list) pods = all_of(env, POD);
    set_pod(env, kc_object_name(pods.items[2]), "Running", false);
    settle(env);
    set_image(env, "web", "web:2");
    settle(env);
    assert_sizes(env, 3, 1);
    assert_null(
        kc_client_get(kc_testenv_client(env), POD, kc_object_key(pods.items[2]), NULL, NULL));
    assert_int_equal(number_of(env, DEPLOYMENT, "web", "status.availableReplicas"), 3);
}

static void pods_that_never_get_ready_keep_the_old_ones(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_deployment(6, 8, "");
    set_image(env, "web", "web:2");
    settle(env);
    kc_testenv_advance(env, KC_HOUR);
    assert_int_equal(number_of(env, DEPLOYMENT, "web", "status.availableReplicas"), 6);
    assert_sizes(env, 6, 4);
    set_image(env, "web", "web:3"); /* Those of web:2 were never available: they go at once. */
    settle(env);
    assert_sizes(env, 6, 0);
    assert_int_equal(size_of(env, "web:3"), 4);
    run_to_end(env);
    assert_int_equal(size_of(env, "web:3"), 8);
    assert_sizes(env, 0, 0);
}

static void min_ready_seconds_delay_the_rollout(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = workloads(7, BOTH);
    make_deployment_with(
        env, "web", 2,
        "'minReadySeconds':10,'strategy':{'rollingUpdate':{'maxSurge':1,'maxUnavailable':0}}");
    run_to_end(env);
    kc_testenv_advance(env, 12 * KC_SECOND);
    set_image(env, "web", "web:2");
    settle(env);
    run_pods(env);
    settle(env);
    kc_testenv_advance(env, 8 * KC_SECOND);
    assert_sizes(env, 2, 1);
    kc_testenv_advance(env, 4 * KC_SECOND);
    assert_sizes(env, 1, 2);
}

static void min_ready_seconds_are_copied_to_the_current_replica_set(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_deployment(8, 1, "");
    patch_with(env, DEPLOYMENT, KC_STR("web"), NULL, "{'spec':{'minReadySeconds':42}}");
    settle(env);
    kc_scoped(kc_object_list) sets = all_of(env, SET);
    assert_int_equal(sets.n, 1);
    assert_int_equal(number_at(sets.items[0], "spec.minReadySeconds"), 42);
}

/* ---- scaling during a rollout ---- */

static void scale_up_during_rollout_is_proportional(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env =
        with_deployment(9, 10, "'strategy':{'rollingUpdate':{'maxSurge':3,'maxUnavailable':2}}");
    set_image(env, "web", "web:2");
    settle(env);
    assert_sizes(env, 8, 5);
    scale_to(env, DEPLOYMENT, "web", 15);
    settle(env);
    assert_sizes(env, 11, 7); /* 18 of 13. */
    run_to_end(env);
    assert_sizes(env, 0, 15);
}

static void scale_down_during_rollout_is_proportional(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env =
        with_deployment(10, 10, "'strategy':{'rollingUpdate':{'maxSurge':3,'maxUnavailable':2}}");
    set_image(env, "web", "web:2");
    settle(env);
    scale_to(env, DEPLOYMENT, "web", 5);
    settle(env);
    assert_int_equal(size_of(env, "web:1") + size_of(env, "web:2") <= 8, 1);
    assert_true(size_of(env, "web:2") >= 3);
    scale_to(env, DEPLOYMENT, "web", 0);
    run_to_end(env);
    assert_sizes(env, 0, 0);
    assert_int_equal(count_of(env, POD), 0);
}

/* ---- recreating ---- */

static void recreate_deletes_all_old_pods_first(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_deployment(11, 3, "'strategy':{'type':'Recreate'}");
    kc_scoped(kc_object_list) pods = all_of(env, POD);
    for (size_t i = 0; i < pods.n; i++)
        bind_pod(env, kc_object_name(pods.items[i]), "a-node");
    set_image(env, "web", "web:2");
    settle(env);
    assert_sizes(env, 0, -1); /* They are being deleted, and still run. */
    assert_int_equal(count_of(env, POD), 3);
    kc_client_delete(kc_testenv_client(env), POD, kc_object_key(pods.items[0]),
                     &(kc_delete_opts){.immediately = true}, NULL);
    settle(env);
    assert_sizes(env, 0, -1);
    for (size_t i = 1; i < pods.n; i++)
        kc_client_delete(kc_testenv_client(env), POD, kc_object_key(pods.items[i]),
                         &(kc_delete_opts){.immediately = true}, NULL);
    settle(env);
    assert_sizes(env, 0, 3);
    run_to_end(env);
    assert_int_equal(number_of(env, DEPLOYMENT, "web", "status.availableReplicas"), 3);
}

static void recreate_does_not_wait_for_terminated_pods(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_deployment(12, 2, "'strategy':{'type':'Recreate'}");
    kc_scoped(kc_object_list) pods = all_of(env, POD);
    set_pod(env, kc_object_name(pods.items[0]), "Failed", false);
    run_to_end(env);
    set_image(env, "web", "web:2");
    run_to_end(env);
    assert_sizes(env, 0, 2);
    assert_int_equal(count_of(env, POD), 3);
}

/* ---- templates ---- */

static void equivalent_templates_have_equal_text(void **state)
{
    (void)state;
    kc_autofree char *a = kc__common_template_text(
        KC_STR("{\"metadata\":{\"creationTimestamp\":null,\"labels\":{\"a\":\"1\",\"b\":\"2\"}},"
               "\"spec\":{\"x\":1,\"y\":[{\"p\":true,\"q\":\"r\"}],\"volumes\":[]}}"));
    kc_autofree char *b = kc__common_template_text(
        KC_STR("{\"spec\":{\"y\":[{\"q\":\"r\",\"p\":true}],\"x\":1},\"metadata\":{\"labels\":{"
               "\"b\":\"2\",\"pod-template-hash\":\"xyz\",\"a\":\"1\"},\"annotations\":{}}}"));
    kc_autofree char *c = kc__common_template_text(
        KC_STR("{\"metadata\":{\"labels\":{\"a\":\"1\",\"b\":\"2\"}},\"spec\":{\"x\":2,\"y\":[{"
               "\"p\":true,\"q\":\"r\"}]}}"));
    assert_string_equal(a, b);
    assert_string_not_equal(a, c);
}

static void template_hash_is_stable_and_depends_on_collision_count(void **state)
{
    (void)state;
    char one[KC__COMMON_HASH_TEXT], two[KC__COMMON_HASH_TEXT];
    assert_str(kc__common_template_hash(KC_STR(""), -1, one), "65bb57b6b5");
    kc__common_template_hash(KC_STR("a"), -1, one);
    kc__common_template_hash(KC_STR("a"), 0, two);
    assert_string_not_equal(one, two);
    assert_int_equal(strspn(one, "bcdfghjklmnpqrstvwxz2456789"), strlen(one));
}

TESTS(surge_comes_first_with_zero_max_unavailable, pods_are_deleted_first_with_zero_max_surge,
      percentages_round_surge_up_and_unavailable_down,
      zero_surge_and_unavailable_allow_one_unavailable, unavailable_old_pods_are_deleted_first,
      pods_that_never_get_ready_keep_the_old_ones, min_ready_seconds_delay_the_rollout,
      min_ready_seconds_are_copied_to_the_current_replica_set,
      scale_up_during_rollout_is_proportional, scale_down_during_rollout_is_proportional,
      recreate_deletes_all_old_pods_first, recreate_does_not_wait_for_terminated_pods,
      equivalent_templates_have_equal_text, template_hash_is_stable_and_depends_on_collision_count)
