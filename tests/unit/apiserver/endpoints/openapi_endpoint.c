/* SPDX-License-Identifier: Apache-2.0 */
/* openapi_endpoint.c: /openapi/v2, /openapi/v3 and the documents below it. */
#include "api_testing.h"

#define APPS     "/openapi/v3/apis/apps/v1"
#define PROTOBUF "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

/* Where the index says that the document of apps/v1 is. */
static const char *url_of_apps(api *a)
{
    const reply *r = api_get(a, "/openapi/v3");
    assert_int_equal(r->status, 200);
    return r_text(r, "paths['apis/apps/v1'].serverRelativeURL");
}

static void index_links_to_immutable_documents(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true});
    const char *url = url_of_apps(a);
    assert_true(kc_str_starts(kc_cstr(url), KC_STR(APPS "?hash=")));
    const reply *r = api_get(a, url);
    assert_int_equal(r->status, 200);
    assert_string_equal(r->type, "application/json");
    assert_string_equal(r_header(r, "Cache-Control"), "public, immutable");
    assert_string_equal(r_header(r, "Expires"), "Sat, 02 Jan 2027 03:04:05 GMT");
    assert_string_equal(r_header(r, "Vary"), "Accept");
    assert_string_equal(r_header(r, "ETag"), text(a, "\"%s\"", url + strlen(APPS "?hash=")));
    assert_at(r, "openapi", "3.0.0");
}

static void document_without_hash_is_not_cacheable(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = api_get(a, APPS);
    assert_int_equal(r->status, 200);
    assert_string_equal(r_header(r, "Cache-Control"), "no-cache, private");
    assert_null(r_header(r, "Expires"));
    assert_non_null(r_header(r, "ETag"));
}

static void wrong_hash_redirects_to_the_current_one(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = api_get(a, APPS "?hash=0123");
    assert_int_equal(r->status, 301);
    assert_string_equal(r_header(r, "Location"), url_of_apps(a));
    assert_int_equal(api_get(a, r_header(r, "Location"))->status, 200);
}

static void matching_etag_returns_304(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const char *const targets[] = {"/openapi/v3", APPS, "/openapi/v2", url_of_apps(a)};
    for (size_t i = 0; i < KC_COUNT(targets); i++) {
        const char *etag = r_header(api_get(a, targets[i]), "ETag");
        const reply *more_writes =
            SEND(a, "GET", targets[i], .headers = {text(a, "If-None-Match: %s", etag)});
        assert_int_equal(more_writes->status, 304);
        assert_int_equal(more_writes->length, 0);
        assert_string_equal(r_header(more_writes, "ETag"), etag);
        const reply *other = SEND(a, "GET", targets[i], .headers = {"If-None-Match: \"x\""});
        assert_int_equal(other->status, 200);
    }
}

static void hashes_survive_restart(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const char *url = url_of_apps(a);
    api_restart(a);
    assert_string_equal(url_of_apps(a), url);
}

static void unknown_path_returns_404(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char *const targets[] = {"/openapi/v3/apis/apps/v7", "/openapi/v3/api/v2",
                                          "/openapi/v3/apis", "/openapi/v3/apis/apps/v1/more",
                                          "/openapi/v3/other/apps/v1"};
    for (size_t i = 0; i < KC_COUNT(targets); i++) {
        const reply *r = api_get(a, targets[i]);
        assert_int_equal(r->status, 404);
        assert_string_equal(r->body, "404 page not found\n");
    }
}

static void v2_is_served_as_json_or_protobuf(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_at(api_get(a, "/openapi/v2"), "swagger", "2.0");
    static const char *const media_types[] = {
        PROTOBUF, "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"};
    for (size_t i = 0; i < KC_COUNT(media_types); i++) {
        const reply *r = SEND(a, "GET", "/openapi/v2", .accept = media_types[i]);
        assert_int_equal(r->status, 200);
        assert_string_equal(r->type, PROTOBUF);
        assert_string_equal(r_header(r, "ETag"), r_header(api_get(a, "/openapi/v2"), "ETag"));
    }
}

static void other_media_types_return_406(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_int_equal(SEND(a, "GET", "/openapi/v2", .accept = "text/html")->status, 406);
    assert_int_equal(SEND(a, "GET", APPS, .accept = PROTOBUF)->status, 406);
    assert_int_equal(SEND(a, "GET", APPS, .accept = PROTOBUF ", application/json;q=0.5")->status,
                     200);
}

TESTS(index_links_to_immutable_documents, document_without_hash_is_not_cacheable,
      wrong_hash_redirects_to_the_current_one, matching_etag_returns_304, hashes_survive_restart,
      unknown_path_returns_404, v2_is_served_as_json_or_protobuf, other_media_types_return_406)
