/* SPDX-License-Identifier: Apache-2.0 */
/* resource_ops.c: the contract of resource operations, for both tables of them. */
#include "apiserver/kinds/resource_ops.h"
#include "apiserver/crd/crd_resource.h"
#include "apiserver/crd/custom_ops.h"
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "apiserver/kinds/conversion.h"
#include "apiserver/kinds/registry.h"
#include "apiserver/kinds/scale_values.h"
#include "apiserver/printing/table.h"
#include "testing.h"

static const kc__resource_ops *const tables[] = {&kc__builtin_resource_ops,
                                                 &kc__custom_resource_ops};

#define DELETING                                                                                  \
    ",'conditions':[{'type':'Established','status':'True'},{'type':'Terminating','status':'True'" \
    "}]"

/* Robots of one version whose spec has a default, a scale and a selectable field. */
static kc__crd *robots_with(const char *mode, const char *conditions)
{
    kc_scoped(kc_buf) json = {0};
    kc_buf_printf(
        &json,
        "{'metadata':{'name':'robots.x.io','uid':'u'},'spec':{'group':'x.io','scope':'Namespaced',"
        "'versions':[{'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type'"
        ":'object','properties':{'spec':{'type':'object','properties':{'replicas':{'type':"
        "'integer'},'mode':{'type':'string','default':'%s'}}}}}},'subresources':{'scale':{"
        "'specReplicasPath':'.spec.replicas','statusReplicasPath':'.status.replicas'}},"
        "'selectableFields':[{'jsonPath':'.spec.mode'}]}]},'status':{'acceptedNames':{'plural':"
        "'robots','singular':'robot','kind':'Robot','listKind':'RobotList'}%s}}",
        mode, conditions);
    kc_auto(kc_object) *definition = object_of(kc_buf_cstr(&json));
    kc_scoped(kc_error) err = {0};
    kc__crd *crd = kc__crd_compile(definition, NULL, &err);
    if (!crd)
        fail_msg("%s", kc_error_text(&err));
    return crd;
}

static const kc__resource *robots_of(const kc__crd *crd)
{
    return &kc__crd_resources(crd)->resources[0];
}

static const kc__resource *deployments_of(const kc__registry *kinds)
{
    const kc__resource *found =
        kc__registry_find(kinds, KC_STR("apps"), KC_STR("v1"), KC_STR("deployments"));
    assert_non_null(found);
    return found;
}

/* ---- tables ---- */

static void every_table_has_the_required_operations(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(tables); i++) {
        assert_non_null(tables[i]->to_stored);
        assert_non_null(tables[i]->from_stored);
        assert_non_null(tables[i]->read_scale);
        assert_non_null(tables[i]->write_scale);
        assert_non_null(tables[i]->set_field_error);
    }
}

static void verb_order_names_each_verb_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(tables); i++) {
        unsigned seen = 0;
        for (size_t v = 0; v < KC__N_VERBS; v++)
            seen |= 1u << tables[i]->verb_order[v];
        assert_int_equal(seen, KC__VERB_ALL);
    }
}

/* ---- registration ---- */

static void registered_resource_without_ops_gets_builtin_ops(void **state)
{
    (void)state;
    kc_auto(kc__registry) *kinds = kc__registry_new(NULL);
    size_t n;
    const kc__resource *resources = kc__registry_resources(kinds, &n);
    for (size_t i = 0; i < n; i++) {
        assert_ptr_equal(resources[i].ops, &kc__builtin_resource_ops);
        assert_int_equal(resources[i].accepted_verbs, resources[i].verbs);
    }
}

/* The router relies on it: a resource without storage answers 405 to all but reviews. */
static void builtin_resource_is_stored_iff_it_can_be_read_and_created(void **state)
{
    (void)state;
    for (size_t i = 0; i < kc__resource_n_builtins; i++) {
        const kc__resource *r = &kc__resource_builtins[i];
        bool both = r->verbs & KC__VERB_GET && r->verbs & KC__VERB_CREATE;
        assert_int_equal(both, r->storage != NULL);
    }
}

static void custom_resource_has_the_properties_of_its_crd(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = robots_with("slow", "");
    const kc__resource *r = robots_of(crd);
    assert_ptr_equal(r->ops, &kc__custom_resource_ops);
    assert_true(kc_str_contains(r->schema, KC_STR("\"mode\"")));
    assert_string_equal(r->selectable[0], "spec.mode");
    assert_true(kc_fields_has(r->fields, KC_STR("spec.mode")));
    assert_ptr_equal(kc__print_scale_columns(r), &kc__print_custom_scale_columns);
    assert_non_null(r->unservable);
    assert_false(r->preserves_unknown_fields);
}

static void terminating_crd_hides_write_verbs_and_accepts_them(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = robots_with("slow", DELETING);
    const kc__resource *r = robots_of(crd);
    assert_int_equal(r->verbs & (KC__VERB_CREATE | KC__VERB_UPDATE | KC__VERB_PATCH), 0);
    assert_int_equal(r->accepted_verbs, KC__VERB_ALL);
}

/* ---- reading ---- */

static void builtin_read_returns_the_stored_object(void **state)
{
    (void)state;
    kc_auto(kc__registry) *kinds = kc__registry_new(NULL);
    kc_auto(kc_object) *stored = object_of("{'kind':'Deployment','apiVersion':'apps/v1'}");
    kc_auto(kc_object) *shown = kc__convert_from_stored(deployments_of(kinds), stored, NULL);
    assert_ptr_equal(shown, stored);
    assert_false(kc__builtin_resource_ops.transforms_on_read);
}

static void custom_read_applies_defaults(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = robots_with("slow", "");
    kc_auto(kc_object) *stored =
        object_of("{'apiVersion':'x.io/v1','kind':'Robot','metadata':{'name':'r'},'spec':{}}");
    kc_auto(kc_object) *shown = kc__convert_from_stored(robots_of(crd), stored, NULL);
    assert_object_json(shown, "{\"apiVersion\":\"x.io/v1\",\"kind\":\"Robot\",\"metadata\":{"
                              "\"name\":\"r\"},\"spec\":{\"mode\":\"slow\"}}");
    assert_true(kc__custom_resource_ops.transforms_on_read);
}

/* ---- scale ---- */

static void assert_scales(const kc__resource *resource, const char *json)
{
    kc_auto(kc_object) *object = object_of(json);
    kc_auto(kc_object) *wanted = object_of("{'spec':{'replicas':7}}");
    kc_auto(kc_object) *scaled = kc__scale_apply_to(resource, object, wanted, NULL);
    assert_non_null(scaled);
    kc_auto(kc_object) *scale = kc__scale_of(resource, scaled, true, NULL);
    assert_non_null(scale);
    kc_auto(kc_view) *view = kc_view_of(scale);
    assert_int_equal(
        kc_value_as_i64_or(kc_value_get(kc_value_get(kc_view_root(view), "spec"), "replicas"), 0),
        7);
    assert_int_equal(
        kc_value_as_i64_or(kc_value_get(kc_value_get(kc_view_root(view), "status"), "replicas"), 0),
        2);
}

static void written_scale_is_read_back(void **state)
{
    (void)state;
    kc_auto(kc__registry) *kinds = kc__registry_new(NULL);
    kc_auto(kc__crd) *crd = robots_with("slow", "");
    assert_scales(deployments_of(kinds), "{'metadata':{'name':'d'},'spec':{'replicas':1,'selector'"
                                         ":{'matchLabels':{'a':'b'}}},'status':{'replicas':2}}");
    assert_scales(robots_of(crd),
                  "{'metadata':{'name':'r'},'spec':{'replicas':1},'status':{'replicas':2}}");
}

/* ---- lifetime ---- */

static void resource_serves_alike_until_its_crd_changes(void **state)
{
    (void)state;
    kc_auto(kc__crd) *crd = robots_with("slow", ""), *same = robots_with("slow", ""),
                     *other = robots_with("fast", "");
    assert_true(kc__resource_serves_alike(robots_of(crd), robots_of(same)));
    assert_false(kc__resource_serves_alike(robots_of(crd), robots_of(other)));
    assert_false(kc__resource_serves_alike(robots_of(crd), NULL));
}

static void builtin_resource_serves_alike_in_every_registry(void **state)
{
    (void)state;
    kc_auto(kc__registry) *before = kc__registry_new(NULL), *after = kc__registry_new(NULL);
    kc_auto(kc__crd) *crd = robots_with("slow", "");
    assert_true(kc__resource_serves_alike(deployments_of(before), deployments_of(after)));
    assert_false(kc__resource_serves_alike(deployments_of(before), robots_of(crd)));
}

TESTS(every_table_has_the_required_operations, verb_order_names_each_verb_once,
      registered_resource_without_ops_gets_builtin_ops,
      builtin_resource_is_stored_iff_it_can_be_read_and_created,
      custom_resource_has_the_properties_of_its_crd,
      terminating_crd_hides_write_verbs_and_accepts_them, builtin_read_returns_the_stored_object,
      custom_read_applies_defaults, written_scale_is_read_back,
      resource_serves_alike_until_its_crd_changes, builtin_resource_serves_alike_in_every_registry)
