/* SPDX-License-Identifier: Apache-2.0 */
/* Extraction with the schemas of the real server, and how the client keeps them. */
#include "client_testing.h"

#include "kc/extract_applied.h"

#define ENTRY(manager, fields)                                                    \
    "{'manager':'" manager "','operation':'Apply','apiVersion':'apps/v1','time':" \
    "'2026-11-16T08:00:00Z','fieldsType':'FieldsV1','fieldsV1':" fields "}"
#define CONTAINERS                                                                         \
    "'containers':[{'name':'web','image':'nginx','ports':[{'containerPort':80,'protocol':" \
    "'TCP'}]},{'name':'side','image':'envoy'}]"
#define DEPLOYMENT(entries)                                                                     \
    "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'a','namespace':'default'," \
    "'uid':'u','resourceVersion':'7','managedFields':[" entries "]},'spec':{'replicas':3,"      \
    "'selector':{'matchLabels':{'app':'a'}},'template':{'metadata':{'labels':{'app':'a'}},"     \
    "'spec':{" CONTAINERS ",'restartPolicy':'Always'}}}}"
/* What a sidecar injector applies: one container. */
#define SIDECAR                                                                               \
    "{'f:spec':{'f:template':{'f:spec':{'f:containers':{'k:{\\'name\\':\\'side\\'}':{'.':{}," \
    "'f:image':{},'f:name':{}}}}}}}"

static kc_object *deployment(void)
{
    return object_of(
        DEPLOYMENT(ENTRY("robots", "{'f:spec':{'f:replicas':{}}}") "," ENTRY("tests", SIDECAR)));
}

static void lists_are_extracted_by_the_keys_of_the_schema(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *live = deployment();
    kc_auto(kc_object) *mine =
        kc_extract_applied(b->client, live, &(kc_extract_opts){.field_manager = "robots"}, &err);
    if (!mine)
        fail_msg("%s", kc_error_text(&err));
    assert_str(kc_object_json(mine),
               "{\"spec\":{\"replicas\":3},\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\","
               "\"metadata\":{\"name\":\"a\",\"namespace\":\"default\"}}");
    assert_string_equal(bench_sent(b, 0), "GET /openapi/v3/apis/apps/v1");
}

static void manager_defaults_to_that_of_the_client(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *live = deployment();
    kc_auto(kc_object) *mine = kc_extract_applied(b->client, live, NULL, &err);
    assert_contains(kc_object_json(mine).p,
                    "{\"spec\":{\"containers\":[{\"name\":\"side\",\"image\":\"envoy\"}]}}");
    kc_auto(kc_client) *bound =
        kc_client_with(b->client, &(kc_client_overrides){.field_manager = "robots"});
    kc_auto(kc_object) *other = kc_extract_applied(bound, live, NULL, &err);
    assert_contains(kc_object_json(other).p, "{\"spec\":{\"replicas\":3},");
}

static void object_without_managed_fields_is_refused(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *object = config_map("a", "v");
    assert_null(kc_extract_applied(b->client, object, NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "ConfigMap \"a\" has no managedFields");
    assert_int_equal(bench_count(b), 0);
}

static void schema_is_fetched_once_a_minute(void **state)
{
    (void)state;
    kc_clock *clock = kc_clock_virtual_new(0);
    kc_auto(bench) *b = bench_start_with((kc_client_opts){.clock = clock});
    kc_scoped(kc_error) err = {0};
    const kc_gvk apps = kc_kind_gvk(&kc_kind_deployment), core = kc_kind_gvk(&kc_kind_pod);
    kc_auto(kc_merge_schema) *one = kc_client_merge_schema(b->client, apps, &err);
    kc_auto(kc_merge_schema) *two = kc_client_merge_schema(b->client, apps, &err);
    assert_non_null(one);
    assert_ptr_equal(one, two);
    kc_auto(kc_merge_schema) *other = kc_client_merge_schema(b->client, core, &err);
    assert_ptr_not_equal(one, other);
    assert_int_equal(bench_count(b), 2);
    assert_string_equal(bench_sent(b, 1), "GET /openapi/v3/api/v1");
    kc_clock_advance(clock, 61 * KC_SECOND);
    kc_auto(kc_merge_schema) *later = kc_client_merge_schema(b->client, apps, &err);
    assert_ptr_not_equal(one, later);
    assert_int_equal(bench_count(b), 3);
}

/* The number of documents that a client keeps is bounded. */
static void oldest_schema_makes_room_for_a_new_one(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    static const char empty[] = "{'components':{'schemas':{}}}";
    char version[8];
    for (int i = 0; i < 40; i++) {
        snprintf(version, sizeof(version), "v%d", i);
        bench_script(b, &(scripted){.status = 200, .body = empty});
        kc_merge_schema_unref(kc_client_merge_schema(
            b->client, (kc_gvk){KC_STR("g"), kc_cstr(version), KC_STR("K")}, NULL));
    }
    assert_int_equal(bench_count(b), 40);
    kc_merge_schema_unref(
        kc_client_merge_schema(b->client, (kc_gvk){KC_STR("g"), KC_STR("v39"), KC_STR("K")}, NULL));
    assert_int_equal(bench_count(b), 40);
    bench_script(b, &(scripted){.status = 200, .body = empty});
    kc_merge_schema_unref(
        kc_client_merge_schema(b->client, (kc_gvk){KC_STR("g"), KC_STR("v0"), KC_STR("K")}, NULL));
    assert_int_equal(bench_count(b), 41);
}

static void kind_without_a_schema_is_not_found(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_error) err = {0}, missing = {0};
    kc_auto(kc_object) *object = object_of(
        "{'apiVersion':'apps/v1','kind':'Robot','metadata':{'name':'a','managedFields':[{}]}}");
    assert_null(kc_extract_applied(b->client, object, NULL, &err));
    assert_error(&err, KC_NOT_FOUND, "no schema of apps/v1, Kind=Robot");
    kc_auto(kc_object) *other = object_of(
        "{'apiVersion':'no.such/v1','kind':'Robot','metadata':{'name':'a','managedFields':[{}]}}");
    assert_null(kc_extract_applied(b->client, other, NULL, &missing));
    assert_error(&missing, KC_NOT_FOUND, "get the OpenAPI document");
}

static void invalid_group_or_version_is_not_sent(void **state)
{
    static const char *const versions[] = {"a/../b", "../v1", "a?b/v1", "g/v 1", "./v1", "%2e/v1"};
    (void)state;
    kc_auto(bench) *b = bench_start();
    for (size_t i = 0; i < KC_COUNT(versions); i++) {
        kc_scoped(kc_error) err = {0};
        kc_autofree char *json = kc_asprintf(
            "{'apiVersion':'%s','kind':'K','metadata':{'name':'a','managedFields':[{}]}}",
            versions[i]);
        kc_auto(kc_object) *object = object_of(json);
        assert_null(kc_extract_applied(b->client, object, NULL, &err));
        assert_error(&err, KC_BAD_REQUEST, "invalid group");
    }
    assert_int_equal(bench_count(b), 0);
}

static void document_that_is_not_openapi_is_an_error(void **state)
{
    static const char *const bodies[] = {"{}", "[]", "{'components':{'schemas':[]}}", "page"};
    (void)state;
    for (size_t i = 0; i < KC_COUNT(bodies); i++) {
        kc_auto(bench) *b = bench_start();
        kc_scoped(kc_error) err = {0};
        bench_script(b, &(scripted){.status = 200, .body = bodies[i]});
        assert_null(kc_client_merge_schema(b->client, kc_kind_gvk(&kc_kind_pod), &err));
        assert_contains(kc_error_text(&err), "/openapi/v3/api/v1: ");
    }
}

/* A program without a server has the schema from a file. */
static void schema_of_the_options_needs_no_client(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_error) err = {0}, none = {0}, unnamed = {0};
    kc_scoped(kc_buf) document = {0};
    assert_int_equal(kc_client_raw(b->client, "GET", KC_STR("/openapi/v2"), (kc_str){0},
                                   (kc_str){0}, &document, &err),
                     0);
    kc_auto(kc_merge_schema) *schema = kc_merge_schema_parse(kc_buf_str(&document), &err);
    if (!schema)
        fail_msg("%s", kc_error_text(&err));
    kc_auto(kc_object) *live = deployment();
    kc_auto(kc_object) *mine = kc_extract_applied(
        NULL, live, &(kc_extract_opts){.field_manager = "robots", .schema = schema}, &err);
    assert_contains(kc_object_json(mine).p, "{\"spec\":{\"replicas\":3},");
    assert_null(kc_extract_applied(NULL, live, &(kc_extract_opts){.field_manager = "x"}, &none));
    assert_error(&none, KC_BAD_REQUEST, "requires a client or a schema");
    assert_null(kc_extract_applied(NULL, live, &(kc_extract_opts){.schema = schema}, &unnamed));
    assert_error(&unnamed, KC_BAD_REQUEST, "requires a field manager");
}

TESTS(lists_are_extracted_by_the_keys_of_the_schema, manager_defaults_to_that_of_the_client,
      object_without_managed_fields_is_refused, schema_is_fetched_once_a_minute,
      oldest_schema_makes_room_for_a_new_one, kind_without_a_schema_is_not_found,
      invalid_group_or_version_is_not_sent, document_that_is_not_openapi_is_an_error,
      schema_of_the_options_needs_no_client)
