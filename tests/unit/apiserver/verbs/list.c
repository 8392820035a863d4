/* SPDX-License-Identifier: Apache-2.0 */
/* list.c: lists: selectors, pages, versions. */
#include "api_testing.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

static api *with_objects(void)
{
    api *a = api_start(NULL);
    for (char name = 'a'; name <= 'f'; name++)
        assert_code(api_post(a, MAPS,
                             text(a, "{'metadata':{'name':'%c','labels':{'o':'%s'}}}", name,
                                  name % 2 ? "x" : "y")),
                    201);
    api_post(a, "/api/v1/namespaces/kube-public/configmaps",
             "{'metadata':{'name':'a','labels':{'o':'x'}}}");
    return a;
}

static void assert_names(api *a, const char *query, const char *names)
{
    const reply *r = api_get(a, text(a, MAPS "%s", query));
    assert_code(r, 200);
    assert_string_equal(r_names(r), names);
}

static void empty_list_has_kind_and_no_items(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = api_get(a, MAPS);
    assert_at(r, "kind", "ConfigMapList");
    assert_at(r, "items", "[]");
    assert_names(a, "?labelSelector=absent", "");
}

static void list_is_sorted_and_items_have_no_kind(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    assert_names(a, "", "a b c d e f");
    const reply *r = api_get(a, MAPS);
    assert_at(r, "items[0].kind", "");
    assert_at(r, "items[0].metadata.namespace", "default");
}

static void label_selector_filters_the_list(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    assert_names(a, "?labelSelector=o%3Dx", "a c e");
    assert_names(a, "?labelSelector=o+notin+(x)", "b d f");
    assert_names(a, "?labelSelector=!o", "");
    assert_names(a, "?labelSelector=", "a b c d e f");
}

static void field_selector_filters_the_list(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    assert_names(a, "?fieldSelector=metadata.name%3Db", "b");
    assert_names(a, "?fieldSelector=metadata.name!%3Db", "a c d e f");
    assert_names(a, "?fieldSelector=metadata.name%3Da,metadata.name%3Db", "");
    assert_names(a, "?fieldSelector=metadata.namespace%3Dkube-public", "");
    assert_names(a, "?fieldSelector=metadata.name%3Db&labelSelector=o%3Dx", "");
    const reply *r = api_get(a, "/api/v1/configmaps?fieldSelector=metadata.name%3Da");
    assert_int_equal(r_count(r, "items"), 2);
    assert_status(api_get(a, MAPS "?fieldSelector=data.k%3Dv"), 400, "BadRequest",
                  "\"data.k\" is not a known field selector: only \"metadata.name\", "
                  "\"metadata.namespace\"");
    assert_status(api_get(a, "/api/v1/pods?fieldSelector=spec.image%3Dv"), 400, "BadRequest",
                  "field label not supported: spec.image");
}

static void pages_show_the_snapshot_of_the_first(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    const reply *first = api_get(a, MAPS "?limit=2");
    assert_string_equal(r_names(first), "a b");
    assert_at(first, "metadata.remainingItemCount", "4");
    api_delete(a, MAPS "/c", NULL);
    api_post(a, MAPS, "{'metadata':{'name':'bb'}}");
    const reply *second =
        api_get(a, text(a, MAPS "?limit=2&continue=%s", r_text(first, "metadata.continue")));
    assert_string_equal(r_names(second), "c d");
    assert_at(second, "metadata.resourceVersion", r_text(first, "metadata.resourceVersion"));
    const reply *last =
        api_get(a, text(a, MAPS "?limit=2&continue=%s", r_text(second, "metadata.continue")));
    assert_string_equal(r_names(last), "e f");
    assert_at(last, "metadata.continue", "");
    assert_at(last, "metadata.remainingItemCount", "");
}

static void pages_continue_after_restart(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    const char *token = r_text(api_get(a, MAPS "?limit=4"), "metadata.continue");
    api_delete(a, MAPS "/e", NULL);
    api_restart(a);
    assert_names(a, text(a, "?continue=%s", token), "e f");
}

static void page_of_a_selection_has_no_remaining_count(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    const reply *r = api_get(a, MAPS "?limit=1&labelSelector=o%3Dx");
    assert_string_equal(r_names(r), "a");
    assert_at(r, "metadata.remainingItemCount", "");
    assert_string_not_equal(r_text(r, "metadata.continue"), "");
}

static void pages_of_all_namespaces_follow_key_order(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    const reply *r = api_get(a, "/api/v1/configmaps?limit=5");
    assert_string_equal(r_names(r), "a b c d e");
    r = api_get(a,
                text(a, "/api/v1/configmaps?limit=5&continue=%s", r_text(r, "metadata.continue")));
    assert_string_equal(r_names(r), "f a");
    assert_at(r, "items[1].metadata.namespace", "kube-public");
}

static void list_at_resource_version_zero_ignores_limit(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    assert_names(a, "?resourceVersion=0&limit=2", "a b c d e f");
}

static void resource_version_selects_the_snapshot(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    const char *then = r_text(api_get(a, MAPS), "metadata.resourceVersion");
    api_delete(a, MAPS "/a", NULL);
    assert_names(a, text(a, "?resourceVersion=%s&resourceVersionMatch=Exact", then), "a b c d e f");
    assert_names(a, text(a, "?resourceVersion=%s&limit=1", then), "a");
    assert_names(a, text(a, "?resourceVersion=%s", then), "b c d e f");
    assert_names(a, text(a, "?resourceVersion=%s&resourceVersionMatch=NotOlderThan&limit=1", then),
                 "b");
}

static void future_resource_version_returns_504(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    static const char *const queries[] = {"", "&limit=1", "&resourceVersionMatch=Exact",
                                          "&resourceVersionMatch=NotOlderThan"};
    for (size_t i = 0; i < KC_COUNT(queries); i++) {
        const reply *r = api_get(a, text(a, MAPS "?resourceVersion=999%s", queries[i]));
        assert_code(r, 504);
        assert_at(r, "reason", "Timeout");
        assert_contains(r_text(r, "message"),
                        "Timeout: Too large resource version: 999, current: ");
        assert_at(r, "details.causes[0].reason", "ResourceVersionTooLarge");
        assert_at(r, "details.retryAfterSeconds", "1");
        assert_string_equal(r_header(r, "Retry-After"), "1");
    }
    assert_code(api_get(a, MAPS "/a?resourceVersion=999"), 504);
}

static void invalid_resource_version_is_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    assert_status(api_get(a, MAPS "?resourceVersion=x"), 400, "BadRequest",
                  "invalid resource version: resourceVersion: Invalid value: \"x\": "
                  "strconv.ParseUint: parsing \"x\": invalid syntax");
    assert_status(
        api_get(a, MAPS "/a?resourceVersion=x"), 500, "",
        "resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": invalid "
        "syntax");
}

static void continue_with_resource_version_is_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = with_objects();
    const char *token = r_text(api_get(a, MAPS "?limit=1"), "metadata.continue");
    assert_status(api_get(a, text(a, MAPS "?continue=%s&resourceVersion=3", token)), 400,
                  "BadRequest", "specifying resource version is not allowed when using continue");
}

TESTS(empty_list_has_kind_and_no_items, list_is_sorted_and_items_have_no_kind,
      label_selector_filters_the_list, field_selector_filters_the_list,
      pages_show_the_snapshot_of_the_first, pages_continue_after_restart,
      page_of_a_selection_has_no_remaining_count, pages_of_all_namespaces_follow_key_order,
      list_at_resource_version_zero_ignores_limit, resource_version_selects_the_snapshot,
      future_resource_version_returns_504, invalid_resource_version_is_refused,
      continue_with_resource_version_is_refused)
