/* SPDX-License-Identifier: Apache-2.0 */
/* rest_delete_collection.c: DELETE of what a list would show. */
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

static void what_is_selected_goes_and_is_shown(void **state)
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

static void a_name_selects_one(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    assert_string_equal(r_names(api_delete(a, MAPS "?fieldSelector=metadata.name%3Da", NULL)), "a");
    assert_string_equal(r_names(api_get(a, MAPS)), "b c d");
}

static void a_limit_leaves_the_rest_for_later(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    const reply *r = api_delete(a, MAPS "?limit=1", NULL);
    assert_string_equal(r_names(r), "a");
    assert_string_not_equal(r_text(r, "metadata.continue"), "");
    assert_string_equal(r_names(api_get(a, MAPS)), "b c d");
}

static void a_dry_run_deletes_nothing(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    assert_string_equal(r_names(api_delete(a, MAPS "?dryRun=All", NULL)), "a b c d");
    assert_string_equal(r_names(api_get(a, MAPS)), "a b c d");
}

static void preconditions_hold_for_each(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    assert_code(api_delete(a, MAPS, "{'preconditions':{'uid':'x'}}"), 409);
    assert_string_equal(r_names(api_get(a, MAPS)), "a b c d");
}

static void what_is_wrong_with_it_is_said(void **state)
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

static void a_policy_is_for_each(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    api_delete(a, MAPS "?labelSelector=g%3D2", "{'propagationPolicy':'Foreground'}");
    assert_at(api_get(a, MAPS "/c"), "metadata.finalizers", "[\"foregroundDeletion\"]");
}

static void many_go_at_once(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    for (int i = 0; i < 300; i++)
        api_post(a, MAPS, text(a, "{'metadata':{'name':'m%03d'}}", i));
    assert_int_equal(r_count(api_delete(a, MAPS, NULL), "items"), 300);
    assert_int_equal(r_count(api_get(a, MAPS), "items"), 0);
}

TESTS(what_is_selected_goes_and_is_shown, a_name_selects_one, a_limit_leaves_the_rest_for_later,
      a_dry_run_deletes_nothing, preconditions_hold_for_each, what_is_wrong_with_it_is_said,
      a_policy_is_for_each, many_go_at_once)
