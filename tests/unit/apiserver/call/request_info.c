/* SPDX-License-Identifier: Apache-2.0 */
/* request_info.c: verb, resource, namespace and name of a request. */
#include "testing.h"

#include "apiserver/call/request_info.h"

typedef struct parsed {
    kc_arena arena;
    kc__rest_request_info info;
    char text[512];
} parsed;

static void parsed_done(parsed *a)
{
    kc_arena_done(&a->arena);
}

static parsed parse_request(const char *method, const char *target)
{
    parsed a = {0};
    kc__http_request request = {.method = kc_cstr(method)};
    kc__query query;
    assert_int_equal(kc__target_parse(kc_cstr(target), NULL, &a.arena, &request.target, NULL), 0);
    assert_int_equal(kc__query_parse(request.target.query, NULL, &a.arena, &query, NULL), 0);
    kc__rest_request_info_of(&request, &query, &a.arena, &a.info);
    return a;
}

/* "verb group/version namespace resource name subresource rest", "-" for what is empty. */
static void is(const char *method, const char *target, const char *expected)
{
    kc_scoped(parsed) a = parse_request(method, target);
    kc_scoped(kc_buf) out = {0};
    const kc__rest_request_info *i = &a.info;
    kc_str parts[] = {i->group, i->version, i->ns, i->resource, i->name, i->subresource, i->rest};
    kc_buf_puts(&out, *i->verb ? i->verb : "-");
    for (size_t at = 0; i->is_resource && at < KC_COUNT(parts); at++)
        kc_buf_printf(&out, " %.*s", KC_ARG(kc_str_empty(parts[at]) ? KC_STR("-") : parts[at]));
    assert_string_equal(kc_buf_cstr(&out), expected);
}

static void verb_of_non_resource_path_is_its_method(void **state)
{
    (void)state;
    is("GET", "/version", "get");
    is("POST", "/", "post");
    is("GET", "/api", "get");
    is("GET", "/api/v1", "get");
    is("GET", "/apis/apps", "get");
    is("GET", "/apis/apps/v1", "get");
    is("HEAD", "/healthz/ping", "head");
}

static void collection_methods_map_to_verbs(void **state)
{
    (void)state;
    is("GET", "/api/v1/pods", "list - v1 - pods - - -");
    is("HEAD", "/api/v1/pods", "list - v1 - pods - - -");
    is("POST", "/api/v1/namespaces/a/pods", "create - v1 a pods - - -");
    is("DELETE", "/apis/apps/v1/namespaces/a/deployments",
       "deletecollection apps v1 a deployments - - -");
}

static void object_methods_map_to_verbs(void **state)
{
    (void)state;
    is("GET", "/api/v1/namespaces/a/pods/b", "get - v1 a pods b - -");
    is("PUT", "/api/v1/nodes/b", "update - v1 - nodes b - -");
    is("PATCH", "/api/v1/nodes/b/status", "patch - v1 - nodes b status -");
    is("DELETE", "/api/v1/nodes/b", "delete - v1 - nodes b - -");
    is("GET", "/api/v1/namespaces/a/pods/b/proxy/x/y", "get - v1 a pods b proxy x");
}

static void namespace_path_is_a_resource(void **state)
{
    (void)state;
    is("GET", "/api/v1/namespaces", "list - v1 - namespaces - - -");
    is("GET", "/api/v1/namespaces/a", "get - v1 a namespaces a - -");
    is("GET", "/api/v1/namespaces/a/status", "get - v1 a namespaces a status -");
    is("PUT", "/api/v1/namespaces/a/finalize", "update - v1 a namespaces a finalize -");
    is("GET", "/api/v1/namespaces/a/pods", "list - v1 a pods - - -");
}

static void watch_parameter_on_collection_is_watch_verb(void **state)
{
    (void)state;
    is("GET", "/api/v1/pods?watch=1", "watch - v1 - pods - - -");
    is("GET", "/api/v1/pods?watch=true", "watch - v1 - pods - - -");
    is("GET", "/api/v1/pods?watch", "watch - v1 - pods - - -");
    is("GET", "/api/v1/pods?watch=false", "list - v1 - pods - - -");
    is("GET", "/api/v1/pods?watch=0", "list - v1 - pods - - -");
    is("GET", "/api/v1/namespaces/a/pods/b?watch=1", "get - v1 a pods b - -");
}

static void deprecated_watch_prefix_is_watch_verb(void **state)
{
    (void)state;
    is("GET", "/api/v1/watch/pods", "watch - v1 - pods - - -");
    is("GET", "/api/v1/watch/namespaces/a/pods/b", "watch - v1 a pods b - -");
    is("GET", "/apis/apps/v1/watch/deployments", "watch apps v1 - deployments - - -");
}

static void selector_of_one_name_sets_the_name(void **state)
{
    (void)state;
    is("GET", "/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Db",
       "list - v1 a pods b - -");
    is("GET", "/api/v1/pods?watch=1&fieldSelector=metadata.name%3Db", "watch - v1 - pods b - -");
    is("GET", "/api/v1/pods?fieldSelector=metadata.name!%3Db", "list - v1 - pods - - -");
    is("GET", "/api/v1/pods?fieldSelector=metadata.name%3Da%2Fb", "list - v1 - pods - - -");
    kc_scoped(parsed) a = parse_request("GET", "/api/v1/pods?fieldSelector=metadata.name%3Db");
    assert_false(a.info.named);
}

static void unknown_method_has_no_verb(void **state)
{
    (void)state;
    is("BREW", "/api/v1/pods", "- - v1 - pods - - -");
    is("BREW", "/coffee", "brew");
}

TESTS(verb_of_non_resource_path_is_its_method, collection_methods_map_to_verbs,
      object_methods_map_to_verbs, namespace_path_is_a_resource,
      watch_parameter_on_collection_is_watch_verb, deprecated_watch_prefix_is_watch_verb,
      selector_of_one_name_sets_the_name, unknown_method_has_no_verb)
