/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated nodes, and the pods on them, in virtual time. */
#include "plane_testing.h"
#include "testing.h"
#include <stdio.h>

#include "kc/controllers.h"
#include "kc/view.h"

#define POD(name, more, spec)                                                                  \
    "{'apiVersion':'v1','kind':'Pod','metadata':{'namespace':'default','name':'" name "'" more \
    "},'spec':{'nodeName':'simulated-0','containers':[{'name':'main','image':'x'}]" spec "}}"

static kc_testenv *with_nodes(uint64_t seed, const kc_pods_opts *pods)
{
    kc_testenv *env = plane(seed);
    kc_controllers_opts opts = {.names = "pods"};
    kc_scoped(kc_error) err = {0};
    if (pods)
        opts.pods = *pods;
    opts.pods.mode = KC_PODS_SIMULATE;
    OK(kc_controllers_add(kc_testenv_manager(env), &opts, &err), &err);
    OK(kc_testenv_run(env, &err), &err);
    kc_testenv_advance(env, 100 * KC_MILLISECOND);
    return env;
}

static kc_object *look_at(kc_testenv *env, const kc_kind *kind, const char *ns, const char *name)
{
    return kc_client_get(kc_testenv_client(env), kind, KC_KEY(ns, name), NULL, NULL);
}

/* A text in an object's JSON. */
static bool has(const kc_object *object, const char *text)
{
    return object && strstr(kc_object_json(object).p, text);
}

static void a_node_registers_and_renews_its_lease(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, &(kc_pods_opts){.nodes = 2});
    kc_auto(kc_object) *node = look_at(env, &kc_kind_node, "", "simulated-1");
    assert_true(has(node, "\"kubernetes.io/hostname\":\"simulated-1\""));
    assert_true(has(node, "\"reason\":\"KubeletReady\""));
    kc_auto(kc_object) *lease = look_at(env, &kc_kind_lease, "kube-node-lease", "simulated-1");
    assert_non_null(lease);
    kc_testenv_advance(env, 30 * KC_SECOND);
    kc_auto(kc_object) *later = look_at(env, &kc_kind_lease, "kube-node-lease", "simulated-1");
    assert_true(kc_object_revision(later) > kc_object_revision(lease));
}

static void a_bound_pod_becomes_running_and_ready(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made = make(env, POD("a", "", ""));
    settle(env);
    kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, "a");
    fprintf(stderr, "%s\n", strstr(kc_object_json(pod).p, "status\":{"));
    assert_true(has(pod, "\"phase\":\"Running\""));
}

static void a_deleted_pod_goes(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made = make(env, POD("a", "", ""));
    settle(env);
    kc_scoped(kc_error) err = {0};
    OK(kc_client_delete(kc_testenv_client(env), &kc_kind_pod, KC_KEY("default", "a"), NULL, &err),
       &err);
    settle(env);
    kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, "a");
    assert_null(pod);
}

TESTS(a_node_registers_and_renews_its_lease, a_bound_pod_becomes_running_and_ready,
      a_deleted_pod_goes)
