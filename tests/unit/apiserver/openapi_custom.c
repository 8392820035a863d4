/* SPDX-License-Identifier: Apache-2.0 */
/* openapi_custom.c: documents of resources that bring their schemas. */
#include "apiserver/crd/crd_type.h"
#include "openapi_testing.h"

static const kc__group custom_groups[] = {
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
                                                 .verbs = KC__ALL_VERBS}};

static kc_str robot_schema(const kc__resource *resource, void *user)
{
    assert_string_equal(resource->kind, "Robot");
    return kc_cstr(user);
}

static fixture with_robots(const char *schema)
{
    fixture f = of_kinds(&(kc__kinds_opts){.groups = custom_groups,
                                           .n_groups = KC_COUNT(custom_groups),
                                           .resources = custom_resources,
                                           .n_resources = KC_COUNT(custom_resources)});
    f.openapi = kc__openapi_free(f.openapi);
    f.openapi =
        kc__openapi_new(&(kc__openapi_source){.schema = robot_schema, .user = (void *)schema});
    return f;
}

#define ROBOT   "components.schemas['com.example.v1.Robot']"
#define ROBOT_2 "definitions['com.example.v1.Robot']"

static void a_custom_resource_brings_its_schema(void **state)
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

static void a_custom_object_has_what_every_object_has(void **state)
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

static void so_has_an_embedded_one(void **state)
{
    (void)state;
    kc_scoped(fixture) f = with_robots(
        "{\"type\":\"object\",\"properties\":{\"part\":{\"type\":\"object\",\"required\":[\"kind\",\"a\"],"
        "\"x-kubernetes-embedded-resource\":true}}}");
    read_v3(&f, "example.com", "v1");
    ASSERT_AT(ROBOT ".properties.part.properties.kind.type", "\"string\"");
    ASSERT_AT(ROBOT ".properties.part.required", "[\"a\",\"kind\",\"apiVersion\"]");
}

static void version_2_leaves_out_what_its_clients_do_not_know(void **state)
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

static void in_version_2_an_object_with_any_fields_names_none(void **state)
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

static bool knows(fixture *f, const char *group)
{
    char hash[KC__OPENAPI_HASH];
    return kc__openapi_v3_hash(f->openapi, f->kinds, kc_cstr(group), KC_STR("v1"), hash);
}

/* The built-in resources, and some of our own behind them. */
static kc__kinds *builtin_and(const kc__resource *more, size_t n)
{
    kc__group groups[64];
    kc__resource resources[256];
    assert_true(kc__n_builtin_groups < KC_COUNT(groups));
    assert_true(kc__n_builtin_resources + n <= KC_COUNT(resources));
    memcpy(groups, kc__builtin_groups, kc__n_builtin_groups * sizeof(groups[0]));
    groups[kc__n_builtin_groups] = custom_groups[1];
    memcpy(resources, kc__builtin_resources, kc__n_builtin_resources * sizeof(resources[0]));
    memcpy(resources + kc__n_builtin_resources, more, n * sizeof(resources[0]));
    return kc__kinds_new(&(kc__kinds_opts){.groups = groups,
                                           .n_groups = kc__n_builtin_groups + 1,
                                           .resources = resources,
                                           .n_resources = kc__n_builtin_resources + n,
                                           .find_type = kc__type_find});
}

static void a_custom_resource_more_changes_one_document(void **state)
{
    (void)state;
    kc_scoped(fixture) f = {.kinds = builtin_and(custom_resources, 1),
                            .openapi = kc__openapi_new(&(kc__openapi_source){
                                .schema = robot_schema, .user = (void *)"{\"type\":\"object\"}"})};
    kc_auto(kc__openapi_document) *before = kc__openapi_index(f.openapi, f.kinds);
    kc__resource more[] = {custom_resources[0], custom_resources[0]};
    more[1].plural = "sensors";
    kc__kinds_unref(f.kinds);
    f.kinds = builtin_and(more, 2);
    kc_auto(kc__openapi_document) *apps =
        kc__openapi_v3(f.openapi, f.kinds, KC_STR("apps"), KC_STR("v1"));
    assert_true(knows(&f, ""));
    assert_false(knows(&f, "example.com"));
    kc_auto(kc__openapi_document) *after = kc__openapi_index(f.openapi, f.kinds);
    assert_true(kc_str_contains(kc__openapi_body(before), kc__openapi_hash(apps)));
    assert_true(kc_str_contains(kc__openapi_body(after), kc__openapi_hash(apps)));
    assert_false(kc_str_eq(kc__openapi_hash(before), kc__openapi_hash(after)));
}

/* A source whose schemas are where their resources have another text. */
static kc_str schema_beside(const kc__resource *resource, void *user)
{
    (void)user;
    return kc_cstr(resource->singular);
}

static void another_schema_makes_another_document(void **state)
{
    (void)state;
    kc__resource robot = custom_resources[0];
    robot.singular = "{\"type\":\"object\"}";
    kc_scoped(fixture) f = {.kinds = builtin_and(&robot, 1),
                            .openapi =
                                kc__openapi_new(&(kc__openapi_source){.schema = schema_beside})};
    kc__openapi_document_unref(kc__openapi_index(f.openapi, f.kinds));
    assert_true(knows(&f, "example.com"));
    robot.singular = "{\"type\":\"object\",\"properties\":{}}";
    kc__kinds_unref(f.kinds);
    f.kinds = builtin_and(&robot, 1);
    kc__openapi_document_unref(kc__openapi_v3(f.openapi, f.kinds, KC_STR("apps"), KC_STR("v1")));
    assert_true(knows(&f, "batch"));
    assert_false(knows(&f, "example.com"));
}

static void a_custom_resource_has_no_strategic_patches(void **state)
{
    (void)state;
    kc_scoped(fixture) f = with_robots("{\"type\":\"object\"}");
    read_v3(&f, "example.com", "v1");
#define ROBOT_PATCH "paths['/apis/example.com/v1/namespaces/{namespace}/robots/{name}'].patch"
    assert_string_not_equal(
        at(&f, ROBOT_PATCH ".requestBody.content['application/merge-patch+json']"), "");
    ASSERT_AT(ROBOT_PATCH ".requestBody.content['application/strategic-merge-patch+json']", "");
}

static void one_without_a_schema_is_any_object(void **state)
{
    (void)state;
    kc_scoped(fixture) f = with_robots("");
    read_v3(&f, "example.com", "v1");
    ASSERT_AT(ROBOT ".type", "\"object\"");
    ASSERT_AT(ROBOT ".properties", "");
    read_v2(&f);
    ASSERT_AT(ROBOT_2 ".type", "\"object\"");
}

TESTS(a_custom_resource_brings_its_schema, a_custom_object_has_what_every_object_has,
      so_has_an_embedded_one, version_2_leaves_out_what_its_clients_do_not_know,
      in_version_2_an_object_with_any_fields_names_none,
      a_custom_resource_more_changes_one_document, another_schema_makes_another_document,
      a_custom_resource_has_no_strategic_patches, one_without_a_schema_is_any_object)
