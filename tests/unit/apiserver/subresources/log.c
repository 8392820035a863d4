/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.c: requests for logs that are refused before a node is contacted. Responses of nodes are
 * tested with a node (tests/unit/runtime/helpers/http_server.c, tests/e2e/logs.bats).
 */
#include "api_testing.h"

#define PODS "/api/v1/namespaces/default/pods"

static void make(api *a, const char *spec)
{
    assert_code(api_post(a, PODS, text(a, "{'metadata':{'name':'p'},'spec':{%s}}", spec)), 201);
}

#define ONE "'containers':[{'name':'c','image':'i'}]"
#define TWO                                                                                   \
    "'initContainers':[{'name':'first','image':'i'}],'containers':[{'name':'a','image':'i'}," \
    "{'name':'b','image':'i'}]"

static void log_of_unassigned_pod_is_empty(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, ONE);
    const reply *r = api_get(a, PODS "/p/log");
    assert_code(r, 204);
    assert_string_equal(r->body, "");
}

static void log_of_several_containers_needs_a_name(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, TWO);
    const reply *r = api_get(a, PODS "/p/log");
    assert_code(r, 400);
    assert_at(r, "message",
              "a container name must be specified for pod p, choose one of: [first a b]");
    assert_code(api_get(a, PODS "/p/log?container=first"), 204);
    r = api_get(a, PODS "/p/log?container=c");
    assert_code(r, 400);
    assert_at(r, "message", "container c is not valid for pod p");
}

static void invalid_log_options_return_422(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, ONE);
    const reply *r = api_get(a, PODS "/p/log?tailLines=-1&limitBytes=0&sinceSeconds=0");
    assert_code(r, 422);
    assert_at(r, "message",
              "PodLogOptions \"p\" is invalid: [tailLines: Invalid value: -1: must be greater than "
              "or equal to 0, limitBytes: Invalid value: 0: must be greater than 0, sinceSeconds: "
              "Invalid value: 0: must be greater than 0]");
    assert_code(api_get(a, PODS "/p/log?tailLines=many"), 400);
    assert_code(api_get(a, PODS "/p/log?sinceTime=yesterday"), 400);
    assert_code(api_get(a, PODS "/p/log?sinceTime=2026-01-02T03:04:05Z&sinceSeconds=5"), 422);
    assert_code(api_get(a, PODS "/p/log?stream=Stdout"), 422);
    assert_code(api_get(a, PODS "/nobody/log"), 404);
}

static void missing_node_is_named_in_404(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, ONE ",'nodeName':'gone'");
    const reply *r = api_get(a, PODS "/p/log");
    assert_code(r, 404);
    assert_at(r, "message", "nodes \"gone\" not found");
}

TESTS(log_of_unassigned_pod_is_empty, log_of_several_containers_needs_a_name,
      invalid_log_options_return_422, missing_node_is_named_in_404)
