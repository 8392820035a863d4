/* SPDX-License-Identifier: Apache-2.0 */
/* The taint of new nodes. */
#include "api_testing.h"

static void new_node_has_not_ready_taint(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_at(api_post(a, "/api/v1/nodes", "{'metadata':{'name':'a'}}"), "spec.taints",
              "[{\"key\":\"node.kubernetes.io/not-ready\",\"effect\":\"NoSchedule\"}]");
    assert_at(api_post(a, "/api/v1/nodes",
                       "{'metadata':{'name':'b'},'spec':{'taints':[{'key':"
                       "'node.kubernetes.io/not-ready','effect':'NoSchedule'}]}}"),
              "spec.taints",
              "[{\"key\":\"node.kubernetes.io/not-ready\",\"effect\":\"NoSchedule\"}]");
}

static void removed_taint_is_not_restored(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(api_post(a, "/api/v1/nodes", "{'metadata':{'name':'a'}}"), 201);
    assert_at(api_patch(a, "/api/v1/nodes/a", "{'spec':{'taints':null}}"), "spec.taints", "");
}

TESTS(new_node_has_not_ready_taint, removed_taint_is_not_restored)
