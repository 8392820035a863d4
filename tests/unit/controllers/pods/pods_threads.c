/* SPDX-License-Identifier: Apache-2.0 */
/* The pod runner with real threads and the real clock, for sanitizers. */
#include "pods_testing.h"

enum { NODES = 3, PODS = 60 };

static void make_pods(kc_testenv *env)
{
    for (int i = 0; i < PODS; i++) {
        kc_autofree char *text = kc_asprintf(
            "{'apiVersion':'v1','kind':'Pod','metadata':{'namespace':'default','name':'p%d',"
            "'annotations':{'" KC__PODS_SIMULATE "start-delay':'%dms','" KC__PODS_SIMULATE
            "stop-delay':'5ms'}},'spec':{'nodeName':'simulated-%d','containers':[{'name':'main',"
            "'image':'x','readinessProbe':{'tcpSocket':{'port':80}},'envFrom':[{'configMapRef':{"
            "'name':'m','optional':true}}]}]}}",
            i, i % 20, i % NODES);
        kc_auto(kc_object) *pod = make(env, text);
    }
}

static size_t count_running(kc_testenv *env)
{
    kc_object_list pods = {0};
    size_t n = 0;
    assert_int_equal(kc_client_list(kc_testenv_client(env), &kc_kind_pod, NULL, &pods, NULL), 0);
    for (size_t i = 0; i < pods.n; i++) {
        kc_autofree char *phase = text_at(pods.items[i], "status.phase");
        n += !strcmp(phase, "Running");
    }
    kc_object_list_done(&pods);
    return n;
}

static size_t count_pods(kc_testenv *env)
{
    kc_object_list pods = {0};
    assert_int_equal(kc_client_list(kc_testenv_client(env), &kc_kind_pod, NULL, &pods, NULL), 0);
    const size_t n = pods.n;
    kc_object_list_done(&pods);
    return n;
}

/* Within a minute and a half. */
static void wait_for(kc_testenv *env, size_t (*count)(kc_testenv *), size_t wanted)
{
    for (int i = 0; i < 9000 && count(env) != wanted; i++)
        kc_testenv_advance(env, 10 * KC_MILLISECOND);
    assert_int_equal(count(env), wanted);
}

static void pods_are_created_and_deleted_during_changes(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(0, &(kc_pods_opts){.nodes = NODES});
    make_pods(env);
    kc_auto(kc_object) *map = make(env, CONFIG_MAP("m"));
    wait_for(env, count_running, PODS);
    for (int i = 0; i < PODS; i++) {
        kc_autofree char *name = kc_asprintf("p%d", i);
        remove_pod(env, name);
    }
    wait_for(env, count_pods, 0);
}

static void runner_can_stop_at_any_time(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        kc_auto(kc_testenv) *env = with_nodes(0, &(kc_pods_opts){.nodes = NODES});
        make_pods(env);
        kc_testenv_advance(env, i * 3 * KC_MILLISECOND);
    }
}

TESTS(pods_are_created_and_deleted_during_changes, runner_can_stop_at_any_time)
