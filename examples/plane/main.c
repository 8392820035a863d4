/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plane: a whole control plane in a test: the real API server and the controllers of a cluster,
 * with a simulated node, in virtual time. A Deployment gets its pods, a deleted pod is replaced,
 * and dependents are deleted with their owner: tests of a controller can rely on all of it.
 */
#include "kc/controllers.h"
#include "kc/kinds.h"
#include "kc/testenv.h"
#include "kc/wait.h"

#include <stdio.h>

static const char web[] = "apiVersion: apps/v1\n"
                          "kind: Deployment\n"
                          "metadata: {name: web, namespace: default}\n"
                          "spec:\n"
                          "  replicas: 3\n"
                          "  selector: {matchLabels: {app: web}}\n"
                          "  template:\n"
                          "    metadata: {labels: {app: web}}\n"
                          "    spec: {containers: [{name: web, image: none}]}\n";

static size_t count_pods(kc_testenv *env, kc_object **ret_first)
{
    kc_object_list pods = {0};
    kc_client_list(kc_testenv_client(env), &kc_kind_pod, NULL, &pods, NULL);
    const size_t n = pods.n;
    if (ret_first && n)
        *ret_first = kc_object_ref(pods.items[0]);
    kc_object_list_done(&pods);
    return n;
}

static int settle(kc_testenv *env, const char *what, kc_error *err)
{
    if (kc_testenv_settle(env, err) < 0)
        return kc_error_result(err);
    printf("%s: %zu pods\n", what, count_pods(env, NULL));
    return 0;
}

static int play(kc_testenv *env, kc_error *err)
{
    kc_client *client = kc_testenv_client(env);
    if (kc_testenv_apply(env, kc_cstr(web), err) < 0 || settle(env, "created", err) < 0)
        return kc_error_result(err);
    kc_auto(kc_object) *first = NULL;
    count_pods(env, &first);
    if (kc_client_delete(client, &kc_kind_pod, kc_object_key(first), NULL, err) < 0 ||
        settle(env, "one deleted, and replaced", err) < 0)
        return kc_error_result(err);
    if (kc_client_delete(client, &kc_kind_deployment, KC_KEY("default", "web"), NULL, err) < 0)
        return kc_error_result(err);
    return settle(env, "its deployment deleted", err);
}

int main(void)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_testenv) *env = kc_testenv_start(&(kc_testenv_opts){.seed = 7}, &err);
    const kc_controllers_opts opts = {.pods.mode = KC_PODS_SIMULATE};
    if (!env || kc_controllers_add(kc_testenv_manager(env), &opts, &err) < 0 || play(env, &err) < 0)
        return kc_manager_exit(&err);
    return 0;
}
