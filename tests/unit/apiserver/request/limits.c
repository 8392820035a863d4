/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c: requests that are refused because of their size, their number, or short memory. */
#include "api_testing.h"

#include "apiserver/request/outgoing.h"
#include "kc/yaml.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

enum { KIB = 1024 };

/* So many bytes of text. */
static const char *filled(api *a, size_t n)
{
    kc_scoped(kc_buf) out = {0};
    for (size_t i = 0; i < n; i++)
        kc_buf_putc(&out, 'x');
    return text(a, "%s", kc_buf_cstr(&out));
}

static const reply *make(api *a, const char *name, size_t n)
{
    return api_post(a, MAPS,
                    text(a, "{'metadata':{'name':'%s'},'data':{'k':'%s'}}", name, filled(a, n)));
}

/* ---- selectors ---- */

static void long_selector_returns_bad_request(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const char *fits = filled(a, 16 * KIB - 2), *name = "metadata.name%3D";
    assert_code(api_get(a, text(a, MAPS "?fieldSelector=%s%s", name, filled(a, 16000))), 200);
    assert_status(api_get(a, text(a, MAPS "?labelSelector=a%%3D%sx", fits)), 400, "BadRequest",
                  "labelSelector has 16385 bytes: the limit is 16384");
    assert_status(api_get(a, text(a, MAPS "?watch=1&fieldSelector=a%%3D%sx", fits)), 400,
                  "BadRequest", "fieldSelector has 16385 bytes: the limit is 16384");
}

static void selector_with_too_many_requirements_returns_bad_request(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    kc_scoped(kc_buf) keys = {0}, values = {0};
    for (int i = 0; i < 257; i++)
        kc_buf_printf(&keys, "%sk%d", i ? "," : "", i);
    for (int i = 0; i < 1025; i++)
        kc_buf_printf(&values, "%sv%d", i ? "," : "", i);
    assert_status(api_get(a, text(a, MAPS "?labelSelector=%s", kc_buf_cstr(&keys))), 400,
                  "BadRequest", "labelSelector has 257 requirements: the limit is 256");
    assert_status(api_get(a, text(a, MAPS "?labelSelector=k+in+(%s)", kc_buf_cstr(&values))), 400,
                  "BadRequest", "labelSelector has 1025 values: the limit is 1024");
}

/* ---- objects ---- */

static void object_beyond_limit_is_refused_with_both_sizes(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.server.max_object_bytes = 10 * KIB});
    assert_code(make(a, "a", 9 * KIB), 201);
    const reply *r = make(a, "b", 11 * KIB);
    assert_code(r, 413);
    assert_at(r, "reason", "RequestEntityTooLarge");
    assert_contains(r_text(r, "message"), "etcdserver: request is too large: the object has ");
    assert_contains(r_text(r, "message"), ", limit is 10240");
    assert_code(api_get(a, MAPS "/b"), 404);
    const char *more = text(a, "{'data':{'l':'%s'}}", filled(a, 2 * KIB));
    assert_code(api_patch(a, MAPS "/a", more), 413);
    assert_code(api_patch(a, MAPS "/a?dryRun=All", more), 413);
}

static void object_limit_defaults_to_1536_kib(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_int_equal(api_inside(a)->max_object_bytes, 1536 * KIB);
}

static void object_above_lowered_limit_can_shrink_and_be_deleted(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(make(a, "a", 40 * KIB), 201);
    assert_code(api_patch(a, MAPS "/a", "{'metadata':{'finalizers':['example.com/x']}}"), 200);
    api_inside(a)->max_object_bytes = 10 * KIB;
    assert_code(api_patch(a, MAPS "/a", "{'metadata':{'labels':{'a':'b'}}}"), 200);
    assert_code(api_patch(a, MAPS "/a", text(a, "{'data':{'l':'%s'}}", filled(a, 5 * KIB))), 413);
    assert_code(api_delete(a, MAPS "/a", NULL), 200);
    assert_code(api_patch(a, MAPS "/a", "{'metadata':{'finalizers':null}}"), 200);
    assert_code(api_get(a, MAPS "/a"), 404);
}

static void json_patch_that_grows_beyond_limit_ends_early(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(make(a, "a", 400 * KIB), 201);
    kc_scoped(kc_buf) patch = {0};
    for (int i = 0; i < 7; i++)
        kc_buf_printf(&patch, "%c{'op':'copy','from':'/data/k','path':'/data/k%d'}", i ? ',' : '[',
                      i);
    kc_buf_puts(&patch, "]");
    const reply *r =
        SEND(a, "PATCH", MAPS "/a", kc_buf_cstr(&patch), .type = "application/json-patch+json");
    assert_code(r, 413);
    assert_contains(r_text(r, "message"), "exceeds the limit of 3145728 bytes");
}

/* ---- watches ---- */

static void watches_of_a_user_beyond_limit_return_429(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.server.max_watches_per_user = 2});
    watch *first = WATCH(a, MAPS "?watch=1"), *second = WATCH(a, MAPS "?watch=1");
    const reply *r = api_get(a, MAPS "?watch=1");
    assert_status(r, 429, "TooManyRequests",
                  "user \"system:anonymous\" has too many open watches: the limit is 2");
    assert_string_equal(r_header(r, "Retry-After"), "10");
    watch_close(first);
    watch *third = WATCH(a, MAPS "?watch=1");
    assert_code(third, 200);
    watch_close(second);
}

/* ---- short memory ---- */

static void expect_short(const reply *r)
{
    assert_code(r, 429);
    assert_at(r, "reason", "TooManyRequests");
    assert_string_equal(r_header(r, "Retry-After"), "1");
}

static void heavy_requests_above_soft_limit_are_refused_and_light_ones_served(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true,
                                            .server.memory_soft_limit = 1,
                                            .server.memory_hard_limit = (size_t)1 << 40});
    assert_code(make(a, "a", 100), 201);
    assert_code(api_get(a, MAPS "/a"), 200);
    assert_code(api_get(a, MAPS "?limit=10"), 200);
    expect_short(api_get(a, MAPS));
    expect_short(api_get(a, MAPS "?watch=1"));
    expect_short(make(a, "b", 70 * KIB));
    expect_short(api_post(a, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "{}"));
    assert_code(api_get(a, "/readyz"), 200);
    assert_contains(api_get(a, "/readyz?verbose")->body,
                    "[+]memory ok: above the soft limit, large requests are refused\n");
    assert_code(api_delete(a, MAPS "/a", NULL), 200);
}

static void only_exempt_requests_are_served_above_hard_limit(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){
        .virtual_time = true, .server.memory_soft_limit = 1, .server.memory_hard_limit = 1});
    expect_short(make(a, "a", 100));
    expect_short(api_get(a, MAPS "?limit=10"));
    assert_code(api_get(a, "/api/v1/namespaces/default"), 200);
    assert_code(api_delete(a, MAPS "/a", NULL), 404);
    assert_code(api_post(a, "/apis/coordination.k8s.io/v1/namespaces/default/leases",
                         "{'metadata':{'name':'l'}}"),
                201);
    const reply *r = api_get(a, "/readyz");
    assert_code(r, 500);
    assert_contains(r->body, "[-]memory failed");
    assert_code(api_get(a, "/livez"), 200);
}

static void make_some(api *a)
{
    for (int i = 0; i < 10; i++)
        make(a, text(a, "m%d", i), 100 * KIB);
}

/* Reads on to the end. */
static bool is_aborted(watch *w)
{
    watch_resume(w);
    while (watch_line(w))
        ;
    return w->aborted;
}

static void cancelled_responses_end_aborted(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_some(a);
    watch *list = WATCH(a, MAPS, .stall_after = 1);
    watch *yaml = WATCH(a, MAPS "/m1", .accept = "application/yaml", .stall_after = 1);
    watch *object = WATCH(a, MAPS "/m2", .stall_after = 1);
    kc__rest_api_shed(api_inside(a), SIZE_MAX / 2);
    assert_true(is_aborted(yaml));
    assert_true(is_aborted(object));
    assert_false(is_aborted(list)); /* It reads the newest state and holds nothing of its own. */
    assert_int_equal(kc__governor_counted(api_inside(a)->governor, KC__MEMORY_RESPONSES), 0);
}

static void list_of_revoked_snapshot_ends_aborted(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_some(a);
    watch *list = WATCH(a, MAPS, .stall_after = 1);
    watch *initial = WATCH(a, MAPS "?watch=1", .stall_after = 1);
    /* The committer revokes holds after a write is answered, and before the next one. */
    for (int i = 0; api_metric(a, "kc_store_snapshot_readers_ended_total") < 2; i++) {
        kc__store_revoke_holds(api_inside(a)->store);
        assert_code(make(a, text(a, "n%d", i), 10), 201);
    }
    assert_code(make(a, "last", 10), 201);
    assert_true(is_aborted(list));
    assert_false(is_aborted(initial));
    assert_null(strstr(initial->body, "m9"));
}

/* ---- readable lists ---- */

static const char *json_as(api *a, const reply *json, bool yaml)
{
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc_view) *view = kc_view_parse(kc_cstr(json->body), NULL, NULL);
    if (yaml)
        kc_yaml_write(&out, kc_view_root(view));
    else
        kc_json_write_pretty(&out, kc_view_root(view));
    return text(a, "%s", kc_buf_cstr(&out));
}

static void expect_readable(api *a, const char *target, const char *as)
{
    const char *yaml = text(a, "application/yaml%s", as), *json = text(a, "application/json%s", as);
    const reply *plain = SEND(a, "GET", target, .accept = json);
    const reply *readable = SEND(a, "GET", target, .accept = yaml);
    assert_code(plain, 200);
    assert_string_equal(readable->type, "application/yaml");
    assert_string_equal(readable->body, json_as(a, plain, true));
    const char *pretty = text(a, "%s%cpretty=true", target, strchr(target, '?') ? '&' : '?');
    assert_string_equal(SEND(a, "GET", pretty, .accept = json)->body, json_as(a, plain, false));
}

static void yaml_and_indented_lists_equal_the_json_list(void **state)
{
    (void)state;
    static const char *const forms[] = {"", ";as=Table;g=meta.k8s.io;v=v1",
                                        ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"};
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true});
    for (size_t i = 0; i < KC_COUNT(forms); i++)
        expect_readable(a, "/api/v1/namespaces/default/secrets", forms[i]); /* Empty. */
    for (int i = 0; i < 60; i++)
        assert_code(api_post(a, MAPS,
                             text(a,
                                  "{'metadata':{'name':'m%d','annotations':{'items':'\\nitems: "
                                  "[]\\n'}},'data':{'k':'a\\nb: c\\n','e':'','n':'%s'}}",
                                  i, filled(a, (size_t)i * 40))),
                    201);
    for (size_t i = 0; i < KC_COUNT(forms); i++) {
        expect_readable(a, MAPS, forms[i]);
        expect_readable(a, MAPS "?limit=7", forms[i]);
        expect_readable(a, MAPS "?fieldSelector=metadata.name%3Dm7", forms[i]);
    }
}

TESTS(long_selector_returns_bad_request, selector_with_too_many_requirements_returns_bad_request,
      object_beyond_limit_is_refused_with_both_sizes, object_limit_defaults_to_1536_kib,
      object_above_lowered_limit_can_shrink_and_be_deleted,
      json_patch_that_grows_beyond_limit_ends_early, watches_of_a_user_beyond_limit_return_429,
      heavy_requests_above_soft_limit_are_refused_and_light_ones_served,
      only_exempt_requests_are_served_above_hard_limit, cancelled_responses_end_aborted,
      list_of_revoked_snapshot_ends_aborted, yaml_and_indented_lists_equal_the_json_list)
