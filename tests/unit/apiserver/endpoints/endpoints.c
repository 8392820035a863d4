/* SPDX-License-Identifier: Apache-2.0 */
/* endpoints.c: non-resource endpoints: discovery, health, version, metrics. */
#include "api_testing.h"

#define AGGREGATED "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

static void healthy_server_returns_ok(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char *const targets[] = {
        "/healthz", "/livez", "/readyz", "/healthz/ping", "/readyz/storage", "/livez?exclude=ping"};
    for (size_t i = 0; i < KC_COUNT(targets); i++) {
        const reply *r = api_get(a, targets[i]);
        assert_code(r, 200);
        assert_string_equal(r->body, "ok");
        assert_string_equal(r->type, "text/plain; charset=utf-8");
    }
    assert_string_equal(r_header(api_get(a, "/healthz"), "X-Content-Type-Options"), "nosniff");
    assert_code(api_get(a, "/healthz/nothing"), 404);
}

static void verbose_health_lists_every_check(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_string_equal(api_get(a, "/livez?verbose")->body, "[+]ping ok\nlivez check passed\n");
    assert_string_equal(api_get(a, "/healthz?verbose&exclude=storage")->body,
                        "[+]ping ok\n[+]storage excluded: ok\nhealthz check passed\n");
}

static void draining_server_is_live_but_not_ready(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    api_drain(a);
    const reply *r = api_get(a, "/readyz");
    assert_code(r, 500);
    assert_contains(r->body, "[-]shutdown failed: reason withheld\nreadyz check failed\n");
    assert_code(api_get(a, "/livez"), 200);
}

static void version_is_1_34(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = api_get(a, "/version");
    assert_at(r, "major", "1");
    assert_at(r, "minor", "34");
    assert_contains(r_text(r, "gitVersion"), "v1.34");
}

static void root_lists_paths(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_at(api_get(a, "/"), "paths[0]", "/api");
}

static void metrics_count_requests(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    api_get(a, "/api/v1/namespaces");
    const reply *r = api_get(a, "/metrics");
    assert_string_equal(r->type, "text/plain; version=0.0.4; charset=utf-8");
    assert_contains(r->body, "apiserver_request_total");
}

static void discovery_endpoints_return_their_kinds(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_at(api_get(a, "/api"), "kind", "APIVersions");
    assert_at(api_get(a, "/apis"), "kind", "APIGroupList");
    assert_at(api_get(a, "/apis/apps"), "kind", "APIGroup");
    assert_at(api_get(a, "/apis/apps/v1"), "kind", "APIResourceList");
    assert_at(api_get(a, "/api/v1"), "groupVersion", "v1");
    assert_null(r_header(api_get(a, "/api"), "Vary"));
}

static void discovery_is_served_as_yaml_and_indented_json(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = SEND(a, "GET", "/apis/apps", .accept = "application/yaml");
    assert_string_equal(r->type, "application/yaml");
    assert_contains(r->body, "kind: APIGroup\nname: apps\n");
    assert_contains(SEND(a, "GET", "/api", .agent = "curl/8")->body, "{\n  \"kind\"");
    assert_code(SEND(a, "GET", "/api/v1", .accept = "text/plain"), 406);
}

static void aggregated_discovery_with_matching_etag_returns_304(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = SEND(a, "GET", "/apis", .accept = AGGREGATED ",application/json");
    assert_string_equal(r->type, AGGREGATED);
    assert_string_equal(r_header(r, "Vary"), "Accept");
    assert_string_equal(r_header(r, "Cache-Control"), "public");
    r = SEND(a, "GET", "/apis", .accept = AGGREGATED,
             .headers = {text(a, "If-None-Match: %s", r_header(r, "ETag"))});
    assert_code(r, 304);
    assert_int_equal(r->length, 0);
}

static void v2beta1_aggregated_discovery_falls_back_to_list(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r =
        SEND(a, "GET", "/apis",
             .accept = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
                       "application/json");
    assert_at(r, "kind", "APIGroupList");
}

TESTS(healthy_server_returns_ok, verbose_health_lists_every_check,
      draining_server_is_live_but_not_ready, version_is_1_34, root_lists_paths,
      metrics_count_requests, discovery_endpoints_return_their_kinds,
      discovery_is_served_as_yaml_and_indented_json,
      aggregated_discovery_with_matching_etag_returns_304,
      v2beta1_aggregated_discovery_falls_back_to_list)
