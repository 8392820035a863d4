/* SPDX-License-Identifier: Apache-2.0 */
/* custom.c: OpenAPI documents of custom resources. */
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "openapi_testing.h"

static const kc__resource_group custom_groups[] = {
    {"", (const char *const[]){"v1", NULL}},
    {"example.com", (const char *const[]){"v1", NULL}},
};
static const kc__resource custom_resources[] = {{.group = "example.com",
                                                 .version = "v1",
                                                 .plural = "robots",
                                                 .singular = "robot",
                                                 .kind = "Robot",
                                                 .list_kind = "RobotList",
                                                 .namespaced = true,
                                                 .verbs = KC__VERB_ALL}};

static kc__resource robot_with(const char *schema)
{
    kc__resource robot = custom_resources[0];
    robot.schema = kc_cstr(schema);
    return robot;
}

static fixture with_robots(const char *schema)
{
    kc__resource robot = robot_with(schema);
    return of_kinds(&(kc__registry_opts){.groups = custom_groups,
                                         .n_groups = KC_COUNT(custom_groups),
                                         .resources = &robot,
                                         .n_resources = 1});
}

#define ROBOT   "components.schemas['com.example.v1.Robot']"
#define ROBOT_2 "definitions['com.example.v1.Robot']"

static void custom_resource_schema_is_published(void **state)
{
    (void)state;
    kc_scoped(fixture) f = with_robots("{\"type\":\"object\",\"properties\":{\"legs\":{\"type\":"
                                       "\"integer\"}}}");
    read_v3(&f, "example.com", "v1");
    ASSERT_AT(ROBOT ".properties.legs.type", "\"integer\"");
    ASSERT_AT(ROBOT ".x-kubernetes-group-version-kind",
              "[{\"group\":\"example.com\",\"kind\":\"Robot\",\"version\":\"v1\"}]");
    ASSERT_AT("components.schemas['com.example.v1.RobotList'].properties.items.items",
              "{\"$ref\":\"#/components/schemas/com.example.v1.Robot\"}");
    ASSERT_AT("paths['/apis/example.com/v1/namespaces/{namespace}/robots'].get.operationId",
              "\"listExampleComV1NamespacedRobot\"");
}

static void custom_schema_has_kind_and_metadata(void **state)
{
    (void)state;
    kc_scoped(fixture) f =
        with_robots("{\"type\":\"object\",\"properties\":{\"metadata\":{\"type\":"
                    "\"object\"},\"legs\":{\"type\":\"integer\"}}}");
    read_v3(&f, "example.com", "v1");
    ASSERT_AT(ROBOT ".properties.kind.type", "\"string\"");
    assert_string_not_equal(at(&f, ROBOT ".properties.apiVersion.description"), "");
    ASSERT_AT(ROBOT ".properties.metadata.allOf", "[" META_REF("ObjectMeta") "]");
    assert_string_not_equal(at(&f, SHARED("apis.meta.v1.ObjectMeta")), "");
    ASSERT_AT("components.schemas['com.example.v1.RobotList'].properties.metadata.allOf",
              "[" META_REF("ListMeta") "]");
}

static void embedded_resource_has_kind_and_metadata(void **state)
{
    (void)state;
    kc_scoped(fixture) f = with_robots(
        "{\"type\":\"object\",\"properties\":{\"part\":{\"type\":\"object\",\"required\":[\"kind\",\"a\"],"
        "\"x-kubernetes-embedded-resource\":true}}}");
    read_v3(&f, "example.com", "v1");
    ASSERT_AT(ROBOT ".properties.part.properties.kind.type", "\"string\"");
    ASSERT_AT(ROBOT ".properties.part.required", "[\"a\",\"kind\",\"apiVersion\"]");
}

static void v2_omits_unsupported_schema_parts(void **state)
{
    (void)state;
    kc_scoped(fixture) f = with_robots(
        "{\"type\":\"object\",\"required\":[\"name\",\"size\"],\"properties\":{"
        "\"name\":{\"type\":\"string\",\"nullable\":true},"
        "\"size\":{\"type\":\"integer\",\"oneOf\":[{\"minimum\":1}],\"maximum\":3},"
        "\"any\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true,"
        "\"properties\":{\"a\":{\"type\":\"string\"}}},"
        "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"nullable\":true}}}}");
    read_v2(&f);
    ASSERT_AT(ROBOT_2 ".required", "[\"size\"]");
    ASSERT_AT(ROBOT_2 ".properties.name", "{}");
    ASSERT_AT(ROBOT_2 ".properties.size", "{\"type\":\"integer\",\"maximum\":3}");
    ASSERT_AT(ROBOT_2 ".properties.any", "{\"x-kubernetes-preserve-unknown-fields\":true}");
    ASSERT_AT(ROBOT_2 ".properties.tags", "{\"type\":\"array\",\"items\":{}}");
    read_v3(&f, "example.com", "v1");
    ASSERT_AT(ROBOT ".properties.name", "{\"type\":\"string\",\"nullable\":true}");
    ASSERT_AT(ROBOT ".required", "[\"name\",\"size\"]");
}

static void v2_object_with_unknown_fields_has_no_properties(void **state)
{
    (void)state;
    kc_scoped(fixture) f =
        with_robots("{\"type\":\"object\",\"properties\":{\"legs\":{\"type\":"
                    "\"integer\"}},\"x-kubernetes-preserve-unknown-fields\":true}");
    read_v2(&f);
    ASSERT_AT(ROBOT_2 ".type", "\"object\"");
    ASSERT_AT(ROBOT_2 ".properties", "");
    read_v3(&f, "example.com", "v1");
    ASSERT_AT(ROBOT ".properties.legs.type", "\"integer\"");
}

static bool has_hash(fixture *f, const char *group)
{
    char hash[KC__OPENAPI_HASH];
    return kc__openapi_v3_hash(f->openapi, f->kinds, kc_cstr(group), KC_STR("v1"), hash);
}

/* The built-in resources, and some of our own behind them. */
static kc__registry *builtin_and(const kc__resource *more, size_t n)
{
    kc__resource_group groups[64];
    kc__resource resources[256];
    assert_true(kc__resource_n_builtin_groups < KC_COUNT(groups));
    assert_true(kc__resource_n_builtins + n <= KC_COUNT(resources));
    memcpy(groups, kc__resource_builtin_groups, kc__resource_n_builtin_groups * sizeof(groups[0]));
    groups[kc__resource_n_builtin_groups] = custom_groups[1];
    memcpy(resources, kc__resource_builtins, kc__resource_n_builtins * sizeof(resources[0]));
    memcpy(resources + kc__resource_n_builtins, more, n * sizeof(resources[0]));
    return kc__registry_new(&(kc__registry_opts){.groups = groups,
                                                 .n_groups = kc__resource_n_builtin_groups + 1,
                                                 .resources = resources,
                                                 .n_resources = kc__resource_n_builtins + n,
                                                 .find_type = kc__crd_type_find});
}

static void additional_custom_resource_changes_one_document(void **state)
{
    (void)state;
    const kc__resource robot = robot_with("{\"type\":\"object\"}");
    kc_scoped(fixture) f = {.kinds = builtin_and(&robot, 1), .openapi = kc__openapi_new(NULL)};
    kc_auto(kc__openapi_document) *before = kc__openapi_index(f.openapi, f.kinds);
    kc__resource more[] = {robot, robot};
    more[1].plural = "sensors";
    kc__registry_unref(f.kinds);
    f.kinds = builtin_and(more, 2);
    kc_auto(kc__openapi_document) *apps =
        kc__openapi_v3(f.openapi, f.kinds, KC_STR("apps"), KC_STR("v1"));
    assert_true(has_hash(&f, ""));
    assert_false(has_hash(&f, "example.com"));
    kc_auto(kc__openapi_document) *after = kc__openapi_index(f.openapi, f.kinds);
    assert_true(kc_str_contains(kc__openapi_body(before), kc__openapi_hash(apps)));
    assert_true(kc_str_contains(kc__openapi_body(after), kc__openapi_hash(apps)));
    assert_false(kc_str_eq(kc__openapi_hash(before), kc__openapi_hash(after)));
}

static void changed_schema_invalidates_its_document_only(void **state)
{
    (void)state;
    kc__resource robot = robot_with("{\"type\":\"object\"}");
    kc_scoped(fixture) f = {.kinds = builtin_and(&robot, 1), .openapi = kc__openapi_new(NULL)};
    kc__openapi_document_unref(kc__openapi_index(f.openapi, f.kinds));
    assert_true(has_hash(&f, "example.com"));
    robot.schema = KC_STR("{\"type\":\"object\",\"properties\":{}}");
    kc__registry_unref(f.kinds);
    f.kinds = builtin_and(&robot, 1);
    kc__openapi_document_unref(kc__openapi_v3(f.openapi, f.kinds, KC_STR("apps"), KC_STR("v1")));
    assert_true(has_hash(&f, "batch"));
    assert_false(has_hash(&f, "example.com"));
}

static void custom_resource_has_no_strategic_merge_patch(void **state)
{
    (void)state;
    kc_scoped(fixture) f = with_robots("{\"type\":\"object\"}");
    read_v3(&f, "example.com", "v1");
#define ROBOT_PATCH "paths['/apis/example.com/v1/namespaces/{namespace}/robots/{name}'].patch"
    assert_string_not_equal(
        at(&f, ROBOT_PATCH ".requestBody.content['application/merge-patch+json']"), "");
    ASSERT_AT(ROBOT_PATCH ".requestBody.content['application/strategic-merge-patch+json']", "");
}

static void custom_resource_without_schema_is_any_object(void **state)
{
    (void)state;
    kc_scoped(fixture) f = with_robots("");
    read_v3(&f, "example.com", "v1");
    ASSERT_AT(ROBOT ".type", "\"object\"");
    ASSERT_AT(ROBOT ".properties", "");
    read_v2(&f);
    ASSERT_AT(ROBOT_2 ".type", "\"object\"");
}

TESTS(custom_resource_schema_is_published, custom_schema_has_kind_and_metadata,
      embedded_resource_has_kind_and_metadata, v2_omits_unsupported_schema_parts,
      v2_object_with_unknown_fields_has_no_properties,
      additional_custom_resource_changes_one_document, changed_schema_invalidates_its_document_only,
      custom_resource_has_no_strategic_merge_patch, custom_resource_without_schema_is_any_object)
