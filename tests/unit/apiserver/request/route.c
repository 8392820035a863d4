/* SPDX-License-Identifier: Apache-2.0 */
/* route.c: routing of paths, and the responses to unknown ones. */
#include "api_testing.h"

#define MAPS        "/api/v1/namespaces/default/configmaps"
#define NO_RESOURCE "the server could not find the requested resource"
#define NO_METHOD   "the server does not allow this method on the requested resource"

static void every_response_has_the_common_headers(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char *const targets[] = {MAPS, MAPS "/x", "/version", "/nowhere", "/healthz"};
    for (size_t i = 0; i < KC_COUNT(targets); i++) {
        const reply *r = api_get(a, targets[i]);
        assert_string_equal(r_header(r, "Cache-Control"), "no-cache, private");
        assert_int_equal(strlen(r_header(r, "Audit-Id")), 36);
    }
    const reply *r = SEND(a, "GET", MAPS, .headers = {"Audit-Id: mine"});
    assert_string_equal(r_header(r, "Audit-Id"), "mine");
}

static void unknown_path_returns_plain_404(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char *const targets[] = {"/nowhere", "/favicon.ico", "/apis/nobody.example.com",
                                          "/apis/nobody.example.com/v1/foos", "//api/v1"};
    for (size_t i = 0; i < KC_COUNT(targets); i++) {
        const reply *r = api_get(a, targets[i]);
        assert_code(r, 404);
        assert_string_equal(r->body, "404 page not found\n");
        assert_string_equal(r->type, "text/plain; charset=utf-8");
        assert_string_equal(r_header(r, "X-Content-Type-Options"), "nosniff");
    }
}

static void unknown_resource_of_a_group_returns_status_404(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char *const targets[] = {
        "/api/v2",
        "/api/v1/foos",
        "/apis/apps/v9",
        "/apis/apps/v9/deployments",
        "/api/v1/namespaces/default/foos/x",
        "/api/v1/namespaces/default/nodes",
        "/api/v1/configmaps/x",
        MAPS "/x/foo",
        MAPS "/x/y/z",
        "/api//v1/namespaces",
        "/api/v1/../v1/namespaces",
    };
    for (size_t i = 0; i < KC_COUNT(targets); i++) {
        const reply *r = api_get(a, targets[i]);
        assert_status(r, 404, "NotFound", NO_RESOURCE);
        assert_at(r, "details", "{}");
    }
}

static void unsupported_methods_return_405(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char *const requests[][2] = {
        {"HEAD", MAPS},
        {"OPTIONS", MAPS "/x"},
        {"POST", MAPS "/x"},
        {"PATCH", MAPS},
        {"POST", "/version"},
        {"POST", "/api"},
        {"DELETE", "/api/v1"},
        {"POST", "/api/v1/watch/namespaces/default/configmaps"},
        {"GET", "/apis/authorization.k8s.io/v1/subjectaccessreviews"},
        {"DELETE", "/api/v1/namespaces/default/status"},
    };
    for (size_t i = 0; i < KC_COUNT(requests); i++)
        assert_code(SEND(a, requests[i][0], requests[i][1]), 405);
    assert_status(SEND(a, "PATCH", MAPS), 405, "MethodNotAllowed", NO_METHOD);
}

static void trailing_slash_is_ignored(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    api_post(a, MAPS, "{'metadata':{'name':'a'}}");
    assert_code(api_get(a, MAPS "/"), 200);
    assert_code(api_get(a, MAPS "/a/"), 200);
    assert_code(api_get(a, "/api/v1/"), 200);
    assert_code(api_get(a, "/healthz/"), 404);
}

static void encoded_name_in_path_is_one_segment(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    api_post(a, MAPS, "{'metadata':{'name':'a'}}");
    assert_code(api_get(a, MAPS "/%61"), 200);
    assert_status(api_get(a, MAPS "/a%25b"), 400, "BadRequest",
                  "Name parameter invalid: \"a%b\": may not contain '%'");
    assert_status(api_get(a, MAPS "/a%20b"), 404, "NotFound", "configmaps \"a b\" not found");
    assert_code(api_get(a, MAPS "/a%2Fb"), 404);
}

static void watch_of_one_name_is_a_get(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    api_post(a, MAPS, "{'metadata':{'name':'a'}}");
    assert_at(api_get(a, MAPS "/a?watch=1"), "kind", "ConfigMap");
}

TESTS(every_response_has_the_common_headers, unknown_path_returns_plain_404,
      unknown_resource_of_a_group_returns_status_404, unsupported_methods_return_405,
      trailing_slash_is_ignored, encoded_name_in_path_is_one_segment, watch_of_one_name_is_a_get)
