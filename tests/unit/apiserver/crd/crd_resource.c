/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/crd/crd_resource.h"
#include "apiserver/discovery/discovery.h"
#include "apiserver/kinds/registry.h"
#include "apiserver/printing/table.h"
#include "testing.h"

#include <stdio.h>

#define STATUS(names) "'status':{'acceptedNames':" names "}"
#define NAMES                                                                              \
    "{'plural':'robots','singular':'robot','shortNames':['rb'],'kind':'Robot','listKind':" \
    "'RobotList','categories':['all']}"
#define SCHEMA                                                                            \
    "'schema':{'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'object'," \
    "'properties':{'a':{'type':'string'}}}}}}"

/* Two versions that are served, one that is not; the last is stored. */
static const char robots[] =
    "{'apiVersion':'apiextensions.k8s.io/v1','metadata':{'name':'robots.x.io'},'spec':{'group':"
    "'x.io','scope':'Namespaced','versions':["
    "{'name':'v1alpha1','served':true,'deprecated':true," SCHEMA "},"
    "{'name':'v1beta1','served':false,'deprecated':true,'deprecationWarning':'gone'},"
    "{'name':'v1','served':true,'storage':true," SCHEMA ",'subresources':{'status':{},'scale':{"
    "'specReplicasPath':'.spec.replicas','statusReplicasPath':'.status.replicas',"
    "'labelSelectorPath':'.status.selector'}},'selectableFields':[{'jsonPath':'.spec.a'}],"
    "'additionalPrinterColumns':[{'name':'N','type':'integer','jsonPath':'.spec.n'},"
    "{'name':'F','type':'number','jsonPath':'.spec.f','description':'A number'},"
    "{'name':'B','type':'boolean','jsonPath':'.spec.b'},"
    "{'name':'S','type':'string','jsonPath':'.spec.s','priority':1},"
    "{'name':'D','type':'date','jsonPath':'.spec.d'},"
    "{'name':'X','type':'string','jsonPath':'.spec.list[*].x'}]}]}," STATUS(NAMES) "}";

static kc__crd *compiled(const char *json, const kc__crd *before)
{
    kc_auto(kc_object) *crd = object_of(json);
    kc_scoped(kc_error) err = {0};
    kc__crd *result = kc__crd_compile(crd, before, &err);
    if (!result)
        fail_msg("%s", kc_error_text(&err));
    return result;
}

static void each_served_version_is_a_resource(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = compiled(robots, NULL);
    const kc__resource_set *set = kc__crd_resources(crd);
    assert_int_equal(set->n, 2);
    const kc__resource *v1 = &set->resources[1];
    assert_string_equal(v1->group, "x.io");
    assert_string_equal(v1->version, "v1");
    assert_string_equal(v1->plural, "robots");
    assert_string_equal(v1->singular, "robot");
    assert_string_equal(v1->kind, "Robot");
    assert_string_equal(v1->list_kind, "RobotList");
    assert_string_equal(v1->short_names[0], "rb");
    assert_string_equal(v1->categories[0], "all");
    assert_string_equal(v1->storage, "x.io/robots");
    assert_string_equal(v1->storage_api_version, "x.io/v1");
    assert_true(v1->namespaced);
    assert_int_equal(v1->verbs, KC__VERB_ALL);
    assert_non_null(v1->strategy);
    assert_string_equal(v1->subresources[0].name, "status");
    assert_string_equal(v1->subresources[1].kind, "Scale");
    assert_null(v1->subresources[2].name);
    assert_null(set->resources[0].subresources);
}

static void every_version_can_be_read_even_if_not_served(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = compiled(robots, NULL);
    size_t n;
    const kc__custom *versions = kc__crd_versions(crd, &n);
    assert_int_equal(n, 3);
    assert_null(versions[1].schema);
    assert_ptr_equal(kc__crd_storage(crd), &versions[2]);
    assert_string_equal(versions[2].api_version, "x.io/v1");
    assert_true(versions[2].status && versions[2].scale && !versions[2].rules);
    assert_true(kc_fields_has(versions[2].fields, KC_STR("spec.a")));
    assert_false(kc_fields_has(versions[0].fields, KC_STR("spec.a")));
}

static void equal_schemas_are_shared(void **state)
{
    (void)state;
    kc_auto(kc__crd) *first = compiled(robots, NULL);
    kc_auto(kc__crd) *second = compiled(robots, first);
    size_t n;
    const kc__custom *a = kc__crd_versions(first, &n), *b = kc__crd_versions(second, &n);
    assert_ptr_equal(a[0].schema, a[2].schema);
    assert_ptr_equal(a[2].schema, b[2].schema);
}

static void deprecated_versions_have_a_warning(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = compiled(robots, NULL);
    size_t n;
    const kc__custom *versions = kc__crd_versions(crd, &n);
    assert_string_equal(versions[0].deprecation, "x.io/v1alpha1 Robot is deprecated; use x.io/v1 "
                                                 "Robot");
    assert_string_equal(versions[1].deprecation, "gone");
    assert_null(versions[2].deprecation);
}

static void terminating_crd_has_no_create_and_update_verbs(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = compiled(
        "{'spec':{'group':'x.io','versions':[{'name':'v1','served':true,'storage':true}]},"
        "'status':{'conditions':[{'type':'Terminating','status':'True'}],'acceptedNames':" NAMES
        "}}",
        NULL);
    assert_int_equal(
        kc__crd_resources(crd)->resources[0].verbs & (KC__VERB_CREATE | KC__VERB_UPDATE), 0);
}

static void crd_without_storage_version_does_not_compile(void **state)
{
    (void)state;
    kc_auto(kc_object) *crd = object_of("{'metadata':{'name':'a.b'},'spec':{}}");
    kc_scoped(kc_error) err = {0};
    assert_null(kc__crd_compile(crd, NULL, &err));
    assert_error(&err, KC_INVALID, "custom resource definition a.b: no storage version");
}

/* ---- columns ---- */

static char *row_of(const kc__crd *crd, const char *json)
{
    kc_auto(kc_object) *object = object_of(json);
    kc_buf out = {0};
    kc_time now;
    kc_time_parse(KC_STR("2026-01-02T00:00:00Z"), &now, NULL);
    kc__print_table table = {.columns = kc__print_columns_of(&kc__crd_resources(crd)->resources[1]),
                             .include = KC__PRINT_INCLUDE_NONE,
                             .now = now};
    kc__print_table_begin(&table, &out, NULL);
    kc_buf_clear(&out);
    kc__print_table_row(&table, &out, object);
    return kc_buf_take(&out);
}

static void column_cells_are_read_by_json_path(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = compiled(robots, NULL);
    kc_autofree char *row =
        row_of(crd, "{'metadata':{'name':'r'},'spec':{'n':2.7,'f':3,'b':true,'s':['x',{'y':1}],"
                    "'d':'2026-01-01T00:00:00Z','list':[{'x':'one'},{'x':'two'}]}}");
    assert_string_equal(row, "[{\"cells\":[\"r\",2,3,true,\"[\\\"x\\\",{\\\"y\\\":1}]\",\"24h\","
                             "\"one\"],\"object\":null}");
}

static void absent_or_mistyped_cells_are_null(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = compiled(robots, NULL);
    kc_autofree char *none = row_of(crd, "{'metadata':{'name':'r'}}");
    assert_string_equal(none, "[{\"cells\":[\"r\",null,null,null,null,null,null],\"object\":null}");
    kc_autofree char *other = row_of(crd, "{'metadata':{'name':'r'},'spec':{'n':'2','f':'x','b':1,"
                                          "'s':null,'d':'noon'}}");
    assert_string_equal(other, "[{\"cells\":[\"r\",null,null,null,\"<no value>\",\"<invalid>\","
                               "null],\"object\":null}");
}

static void columns_have_name_type_and_description(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = compiled(robots, NULL);
    const kc__print_columns *columns = kc__crd_resources(crd)->resources[1].columns;
    assert_int_equal(columns->n, 7);
    assert_string_equal(columns->list[1].description,
                        "Custom resource definition column (in JSONPath format): .spec.n");
    assert_string_equal(columns->list[2].description, "A number");
    assert_int_equal(columns->list[4].priority, 1);
    const kc__print_columns *none = kc__crd_resources(crd)->resources[0].columns;
    assert_int_equal(none->n, 2);
    assert_string_equal(none->list[1].name, "Age");
    assert_string_equal(none->list[1].type, "date");
}

static void column_with_invalid_path_ends_the_columns(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = compiled(
        "{'spec':{'group':'x.io','versions':[{'name':'v1','served':true,'storage':true,"
        "'additionalPrinterColumns':[{'name':'A','type':'string','jsonPath':'.a'},{'name':'B',"
        "'type':'string','jsonPath':'.b[?('},{'name':'C','type':'string','jsonPath':'.c'}]}]}}",
        NULL);
    const kc__print_columns *columns = kc__crd_resources(crd)->resources[0].columns;
    assert_int_equal(columns->n, 2);
    assert_string_equal(columns->list[1].name, "A");
}

static void selectable_field_path_may_contain_special_characters(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd =
        compiled("{'spec':{'group':'x.io','versions':[{'name':'v1','served':true,'storage':true,"
                 "'selectableFields':[{'jsonPath':'.spec.a b[\\\\'}]}]}}",
                 NULL);
    size_t n;
    const kc__custom *v1 = kc__crd_versions(crd, &n);
    kc_auto(kc_view) *view = view_of("{'spec':{'a b[\\\\':'x'}}");
    kc_scoped(kc_buf) scratch = {0};
    assert_str(kc_fields_value(v1->fields, kc_view_root(view), KC_STR("spec.a b[\\"), &scratch),
               "x");
}

/* ---- in a snapshot ---- */

static kc__crd *simple(const char *group, const char *versions)
{
    kc_scoped(kc_buf) json = {0};
    kc_buf_printf(&json, "{'spec':{'group':'%s','versions':[%s]}," STATUS(NAMES) "}", group,
                  versions);
    return compiled(kc_buf_cstr(&json), NULL);
}

#define V(name, storage) "{'name':'" name "','served':true,'storage':" storage "}"

static void custom_groups_are_listed_after_built_in_groups(void **state)
{
    (void)state;
    kc_auto(kc__crd) *ant = simple("ant.io", V("v1alpha1", "true")),
                     *zoo = simple("zoo.io", V("v1alpha1", "false") "," V("v1", "true")),
                     *bee = simple("bee.io", V("v1", "true"));
    const kc__resource_set *sets[] = {kc__crd_resources(ant), kc__crd_resources(zoo),
                                      kc__crd_resources(bee)};
    kc_auto(kc__registry) *kinds =
        kc__registry_new(&(kc__registry_opts){.additions = sets, .n_additions = 3});
    size_t n;
    const kc__registry_group *groups = kc__registry_groups(kinds, &n);
    assert_int_equal(n, kc__resource_n_builtin_groups + 3);
    assert_string_equal(groups[n - 3].name, "bee.io");
    assert_string_equal(groups[n - 2].name, "zoo.io");
    assert_string_equal(groups[n - 1].name, "ant.io");
}

static void versions_are_ordered_by_stability(void **state)
{
    (void)state;
    kc_auto(kc__crd) *zoo =
        simple("zoo.io", V("v1alpha1", "false") "," V("v10", "true") "," V("v2", "false") "," V(
                             "v2beta1", "false") "," V("foo", "false"));
    const kc__resource_set *sets[] = {kc__crd_resources(zoo)};
    kc_auto(kc__registry) *kinds =
        kc__registry_new(&(kc__registry_opts){.additions = sets, .n_additions = 1});
    const kc__registry_group *group = kc__registry_find_group(kinds, KC_STR("zoo.io"));
    static const char *const order[] = {"v10", "v2", "v2beta1", "v1alpha1", "foo"};
    assert_int_equal(group->n_versions, KC_COUNT(order));
    for (size_t i = 0; i < KC_COUNT(order); i++)
        assert_string_equal(group->versions[i].name, order[i]);
}

static void registry_keeps_released_crd(void **state)
{
    (void)state;
    kc__crd *bee = simple("bee.io", V("v1", "true"));
    const kc__resource_set *sets[] = {kc__crd_resources(bee)};
    kc_auto(kc__registry) *kinds =
        kc__registry_new(&(kc__registry_opts){.additions = sets, .n_additions = 1});
    kc__crd_unref(bee);
    const kc__resource *found =
        kc__registry_find(kinds, KC_STR("bee.io"), KC_STR("v1"), KC_STR("robots"));
    assert_string_equal(found->kind, "Robot");
    assert_string_equal(found->custom->api_version, "bee.io/v1");
    assert_ptr_equal(kc__registry_find_kind(kinds, KC_STR("bee.io"), KC_STR("v1"), KC_STR("Robot")),
                     found);
}

static void crds_of_one_group_share_its_versions(void **state)
{
    (void)state;
    kc_auto(kc__crd)
        *a = simple("x.io", V("v1", "true") "," V("v2", "false")),
        *b = compiled(
            "{'spec':{'group':'x.io','versions':[" V(
                "v2", "true") "]},'status':{'acceptedNames':{'plural':'bots','kind':'Bot'}}}",
            NULL);
    const kc__resource_set *sets[] = {kc__crd_resources(a), kc__crd_resources(b)};
    kc_auto(kc__registry) *kinds =
        kc__registry_new(&(kc__registry_opts){.additions = sets, .n_additions = 2});
    const kc__registry_version *v2 = kc__registry_find_version(kinds, KC_STR("x.io"), KC_STR("v2"));
    assert_int_equal(v2->n_resources, 2);
    assert_string_equal(v2->resources[0].plural, "bots");
    assert_string_equal(v2->resources[1].plural, "robots");
}

static void crd_in_built_in_group_does_not_compile(void **state)
{
    (void)state;
    static const char *const groups[] = {"events.k8s.io", "apiextensions.k8s.io",
                                         "resource.k8s.io"};
    for (size_t i = 0; i < KC_COUNT(groups); i++) {
        kc_scoped(kc_error) err = {0};
        kc_autofree char *json =
            kc_asprintf("{'spec':{'group':'%s','versions':[" V(
                            "v9", "true") "]},'status':{'acceptedNames':{"
                                          "'plural':'robots','kind':'Robot'}}}",
                        groups[i]);
        kc_auto(kc_object) *object = object_of(json);
        assert_null(kc__crd_compile(object, NULL, &err));
        assert_error(&err, KC_INVALID, "is served by a built-in API");
    }
}

static void compiled_resource_has_a_key_prefix_of_group_and_plural(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = simple("x.io", V("v1", "true"));
    assert_string_equal(kc__crd_resources(crd)->resources[0].key_prefix, "/registry/x.io/robots/");
}

static void discovery_lists_custom_resources(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = compiled(robots, NULL);
    const kc__resource_set *sets[] = {kc__crd_resources(crd)};
    kc_auto(kc__registry) *kinds =
        kc__registry_new(&(kc__registry_opts){.additions = sets, .n_additions = 1});
    kc_auto(kc__discovery) *discovery = kc__discovery_new(kinds, NULL);
    kc_scoped(kc_buf) body = {0};
    kc_buf_append(&body, kc__discovery_resources(discovery, KC_STR("x.io"), KC_STR("v1"))->body);
    assert_contains(kc_buf_cstr(&body),
                    "\"verbs\":[\"delete\",\"deletecollection\",\"get\",\"list\",\"patch\","
                    "\"create\",\"update\",\"watch\"],\"shortNames\":[\"rb\"],\"categories\":["
                    "\"all\"],\"storageVersionHash\":");
    assert_contains(kc_buf_cstr(&body), "{\"name\":\"robots/scale\",\"singularName\":\"\","
                                        "\"namespaced\":true,\"group\":\"autoscaling\","
                                        "\"version\":\"v1\",\"kind\":\"Scale\",\"verbs\":[\"get\","
                                        "\"patch\",\"update\"]}");
    kc_buf_clear(&body);
    kc_buf_append(&body, kc__discovery_aggregated_groups(discovery)->body);
    assert_contains(kc_buf_cstr(&body), "{\"resource\":\"robots\",\"responseKind\":{\"group\":"
                                        "\"x.io\",\"version\":\"v1\",\"kind\":\"Robot\"}");
    assert_contains(kc_buf_cstr(&body), "{\"subresource\":\"status\",\"responseKind\":{\"group\":"
                                        "\"x.io\",\"version\":\"v1\",\"kind\":\"Robot\"}");
}

TESTS(each_served_version_is_a_resource, every_version_can_be_read_even_if_not_served,
      equal_schemas_are_shared, deprecated_versions_have_a_warning,
      terminating_crd_has_no_create_and_update_verbs, crd_without_storage_version_does_not_compile,
      column_cells_are_read_by_json_path, absent_or_mistyped_cells_are_null,
      columns_have_name_type_and_description, column_with_invalid_path_ends_the_columns,
      selectable_field_path_may_contain_special_characters,
      custom_groups_are_listed_after_built_in_groups, versions_are_ordered_by_stability,
      registry_keeps_released_crd, crds_of_one_group_share_its_versions,
      crd_in_built_in_group_does_not_compile,
      compiled_resource_has_a_key_prefix_of_group_and_plural, discovery_lists_custom_resources)
