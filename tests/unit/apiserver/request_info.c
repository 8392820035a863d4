/* SPDX-License-Identifier: Apache-2.0 */
/* request_info.c: what a request is for. */
#include "testing.h"

#include "apiserver/rest/request_info.h"

typedef struct asked {
    kc_arena arena;
    kc__request_info info;
    char text[512];
} asked;

static void asked_done(asked *a)
{
    kc_arena_done(&a->arena);
}

static asked ask(const char *method, const char *target)
{
    asked a = {0};
    kc__request request = {.method = kc_cstr(method)};
    kc__query query;
    assert_int_equal(kc__target_parse(kc_cstr(target), NULL, &a.arena, &request.target, NULL), 0);
    assert_int_equal(kc__query_parse(request.target.query, NULL, &a.arena, &query, NULL), 0);
    kc__request_info_of(&request, &query, &a.arena, &a.info);
    return a;
}

/* "verb group/version namespace resource name subresource rest", "-" for what is empty. */
static void is(const char *method, const char *target, const char *expected)
{
    kc_scoped(asked) a = ask(method, target);
    kc_scoped(kc_buf) out = {0};
    const kc__request_info *i = &a.info;
    kc_str parts[] = {i->group, i->version, i->ns, i->resource, i->name, i->subresource, i->rest};
    kc_buf_puts(&out, *i->verb ? i->verb : "-");
    for (size_t at = 0; i->is_resource && at < KC_COUNT(parts); at++)
        kc_buf_printf(&out, " %.*s", KC_ARG(kc_str_empty(parts[at]) ? KC_STR("-") : parts[at]));
    assert_string_equal(kc_buf_cstr(&out), expected);
}

static void a_path_that_is_no_resource_has_its_method(void **state)
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

static void collections_are_listed_created_in_and_deleted(void **state)
{
    (void)state;
    is("GET", "/api/v1/pods", "list - v1 - pods - - -");
    is("HEAD", "/api/v1/pods", "list - v1 - pods - - -");
    is("POST", "/api/v1/namespaces/a/pods", "create - v1 a pods - - -");
    is("DELETE", "/apis/apps/v1/namespaces/a/deployments",
       "deletecollection apps v1 a deployments - - -");
}

static void objects_are_got_and_changed(void **state)
{
    (void)state;
    is("GET", "/api/v1/namespaces/a/pods/b", "get - v1 a pods b - -");
    is("PUT", "/api/v1/nodes/b", "update - v1 - nodes b - -");
    is("PATCH", "/api/v1/nodes/b/status", "patch - v1 - nodes b status -");
    is("DELETE", "/api/v1/nodes/b", "delete - v1 - nodes b - -");
    is("GET", "/api/v1/namespaces/a/pods/b/proxy/x/y", "get - v1 a pods b proxy x");
}

static void a_namespace_is_itself_a_resource(void **state)
{
    (void)state;
    is("GET", "/api/v1/namespaces", "list - v1 - namespaces - - -");
    is("GET", "/api/v1/namespaces/a", "get - v1 a namespaces a - -");
    is("GET", "/api/v1/namespaces/a/status", "get - v1 a namespaces a status -");
    is("PUT", "/api/v1/namespaces/a/finalize", "update - v1 a namespaces a finalize -");
    is("GET", "/api/v1/namespaces/a/pods", "list - v1 a pods - - -");
}

static void a_collection_is_watched_by_a_parameter(void **state)
{
    (void)state;
    is("GET", "/api/v1/pods?watch=1", "watch - v1 - pods - - -");
    is("GET", "/api/v1/pods?watch=true", "watch - v1 - pods - - -");
    is("GET", "/api/v1/pods?watch", "watch - v1 - pods - - -");
    is("GET", "/api/v1/pods?watch=false", "list - v1 - pods - - -");
    is("GET", "/api/v1/pods?watch=0", "list - v1 - pods - - -");
    is("GET", "/api/v1/namespaces/a/pods/b?watch=1", "get - v1 a pods b - -");
}

static void the_old_prefix_watches_too(void **state)
{
    (void)state;
    is("GET", "/api/v1/watch/pods", "watch - v1 - pods - - -");
    is("GET", "/api/v1/watch/namespaces/a/pods/b", "watch - v1 a pods b - -");
    is("GET", "/apis/apps/v1/watch/deployments", "watch apps v1 - deployments - - -");
}

static void a_selector_of_one_name_names_the_object(void **state)
{
    (void)state;
    is("GET", "/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Db",
       "list - v1 a pods b - -");
    is("GET", "/api/v1/pods?watch=1&fieldSelector=metadata.name%3Db", "watch - v1 - pods b - -");
    is("GET", "/api/v1/pods?fieldSelector=metadata.name!%3Db", "list - v1 - pods - - -");
    is("GET", "/api/v1/pods?fieldSelector=metadata.name%3Da%2Fb", "list - v1 - pods - - -");
    kc_scoped(asked) a = ask("GET", "/api/v1/pods?fieldSelector=metadata.name%3Db");
    assert_false(a.info.named);
}

static void a_method_nobody_knows_is_no_verb(void **state)
{
    (void)state;
    is("BREW", "/api/v1/pods", "- - v1 - pods - - -");
    is("BREW", "/coffee", "brew");
}

TESTS(a_path_that_is_no_resource_has_its_method, collections_are_listed_created_in_and_deleted,
      objects_are_got_and_changed, a_namespace_is_itself_a_resource,
      a_collection_is_watched_by_a_parameter, the_old_prefix_watches_too,
      a_selector_of_one_name_names_the_object, a_method_nobody_knows_is_no_verb)
