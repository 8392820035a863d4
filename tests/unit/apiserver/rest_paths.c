/* SPDX-License-Identifier: Apache-2.0 */
/* rest_paths.c: where things are, and what is said where nothing is. */
#include "api_testing.h"

#define MAPS        "/api/v1/namespaces/default/configmaps"
#define NO_RESOURCE "the server could not find the requested resource"
#define NO_METHOD   "the server does not allow this method on the requested resource"

static void every_answer_has_its_headers(void **state)
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

static void what_belongs_to_nobody_is_plain_text(void **state)
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

static void what_a_group_does_not_have_is_a_status(void **state)
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

static void methods_nobody_has_are_not_allowed(void **state)
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

static void a_trailing_slash_means_the_same(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    api_post(a, MAPS, "{'metadata':{'name':'a'}}");
    assert_code(api_get(a, MAPS "/"), 200);
    assert_code(api_get(a, MAPS "/a/"), 200);
    assert_code(api_get(a, "/api/v1/"), 200);
    assert_code(api_get(a, "/healthz/"), 404);
}

static void a_name_in_a_path_is_a_segment(void **state)
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

static void watching_one_name_is_getting_it(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    api_post(a, MAPS, "{'metadata':{'name':'a'}}");
    assert_at(api_get(a, MAPS "/a?watch=1"), "kind", "ConfigMap");
}

TESTS(every_answer_has_its_headers, what_belongs_to_nobody_is_plain_text,
      what_a_group_does_not_have_is_a_status, methods_nobody_has_are_not_allowed,
      a_trailing_slash_means_the_same, a_name_in_a_path_is_a_segment,
      watching_one_name_is_getting_it)
