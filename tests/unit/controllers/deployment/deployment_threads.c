/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deployments with the real clock and threads: for what a simulation cannot show, and for
 * sanitizers.
 */
#include "workload_testing.h"

#define DEPLOYMENT &kc_kind_deployment
#define POD        &kc_kind_pod

static void named(kc_testenv *env, int i, int replicas)
{
    kc_autofree char *json = kc_asprintf(
        "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'web-%d','namespace':"
        "'default'},'spec':{'replicas':%d,'selector':{'matchLabels':{'app':'web-%d'}},'template':{"
        "'metadata':{'labels':{'app':'web-%d'}},'spec':{'containers':[{'name':'web','image':"
        "'web:1'}]}}}}",
        i, replicas, i, i);
    kc_object_unref(make(env, json));
}

static void many_deployments_roll_out_concurrently(void **state)
{
    (void)state;
    enum { MANY = 8, REPLICAS = 12 };
    kc_auto(kc_testenv) *env = workloads(0, "deployment,replicaset");
    for (int i = 0; i < MANY; i++)
        named(env, i, REPLICAS);
    run_to_end(env);
    assert_int_equal(count_of(env, POD), MANY * REPLICAS);
    for (int i = 0; i < MANY; i++) {
        kc_autofree char *name = kc_asprintf("web-%d", i);
        set_image(env, name, "web:2");
    }
    run_to_end(env);
    assert_int_equal(count_of(env, POD), MANY * REPLICAS);
    for (int i = 0; i < MANY; i++) {
        kc_autofree char *name = kc_asprintf("web-%d", i);
        assert_int_equal(number_of(env, DEPLOYMENT, name, "status.updatedReplicas"), REPLICAS);
        assert_int_equal(number_of(env, DEPLOYMENT, name, "status.availableReplicas"), REPLICAS);
        scale_to(env, DEPLOYMENT, name, 0);
    }
    run_to_end(env);
    assert_int_equal(count_of(env, POD), 0);
}

TESTS(many_deployments_roll_out_concurrently)
