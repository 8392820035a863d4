/* SPDX-License-Identifier: Apache-2.0 */
/* delete_collection.c: DELETE of the objects that a list selects. */
#include "api_testing.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

static api *with_objects(void)
{
    static const char *const bodies[] = {
        "{'metadata':{'name':'a','labels':{'g':'1'}}}",
        "{'metadata':{'name':'b','labels':{'g':'1'},'finalizers':['example.com/f']}}",
        "{'metadata':{'name':'c','labels':{'g':'2'}}}",
        "{'metadata':{'name':'d'}}",
    };
    api *a = api_start(NULL);
    for (size_t i = 0; i < KC_COUNT(bodies); i++)
        assert_code(api_post(a, MAPS, bodies[i]), 201);
    return a;
}

static void selected_objects_are_deleted_and_returned(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    const reply *r = api_delete(a, MAPS "?labelSelector=g", NULL);
    assert_code(r, 200);
    assert_at(r, "kind", "ConfigMapList");
    assert_string_equal(r_names(r), "a b c");
    assert_string_equal(r_names(api_get(a, MAPS)), "b d");
    assert_string_not_equal(r_text(api_get(a, MAPS "/b"), "metadata.deletionTimestamp"), "");
}

static void field_selector_deletes_one_name(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    assert_string_equal(r_names(api_delete(a, MAPS "?fieldSelector=metadata.name%3Da", NULL)), "a");
    assert_string_equal(r_names(api_get(a, MAPS)), "b c d");
}

static void limit_returns_a_continue_token(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    const reply *r = api_delete(a, MAPS "?limit=1", NULL);
    assert_string_equal(r_names(r), "a");
    assert_string_not_equal(r_text(r, "metadata.continue"), "");
    assert_string_equal(r_names(api_get(a, MAPS)), "b c d");
}

static void dry_run_deletes_nothing(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    assert_string_equal(r_names(api_delete(a, MAPS "?dryRun=All", NULL)), "a b c d");
    assert_string_equal(r_names(api_get(a, MAPS)), "a b c d");
}

static void preconditions_apply_to_each_object(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    assert_code(api_delete(a, MAPS, "{'preconditions':{'uid':'x'}}"), 409);
    assert_string_equal(r_names(api_get(a, MAPS)), "a b c d");
}

static void invalid_options_are_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    assert_code(api_delete(a, MAPS "?labelSelector=%3D%3D", NULL), 400);
    assert_code(api_delete(a, MAPS "?fieldSelector=x%3Dy", NULL), 400);
    assert_code(api_delete(a, MAPS "?propagationPolicy=x", NULL), 422);
    assert_code(api_delete(a, MAPS "?resourceVersionMatch=Exact", NULL), 422);
    assert_code(api_delete(a, MAPS, "{'kind':'Foo','apiVersion':'v1'}"), 500);
    assert_code(api_delete(a, "/api/v1/configmaps", NULL), 405);
    assert_string_equal(r_names(api_get(a, MAPS)), "a b c d");
}

static void propagation_policy_applies_to_each_object(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    api_delete(a, MAPS "?labelSelector=g%3D2", "{'propagationPolicy':'Foreground'}");
    assert_at(api_get(a, MAPS "/c"), "metadata.finalizers", "[\"foregroundDeletion\"]");
}

static void three_hundred_objects_are_deleted(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    for (int i = 0; i < 300; i++)
        api_post(a, MAPS, text(a, "{'metadata':{'name':'m%03d'}}", i));
    assert_int_equal(r_count(api_delete(a, MAPS, NULL), "items"), 300);
    assert_int_equal(r_count(api_get(a, MAPS), "items"), 0);
}

TESTS(selected_objects_are_deleted_and_returned, field_selector_deletes_one_name,
      limit_returns_a_continue_token, dry_run_deletes_nothing, preconditions_apply_to_each_object,
      invalid_options_are_refused, propagation_policy_applies_to_each_object,
      three_hundred_objects_are_deleted)
