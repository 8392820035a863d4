/* SPDX-License-Identifier: Apache-2.0 */
/* rest_options.c: the parameters of requests. */
#include "api_testing.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

static void options_that_are_not_allowed_are_invalid(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = api_post(a, MAPS "?dryRun=x&fieldValidation=y&fieldManager=a%0Ab", "{}");
    assert_status(r, 422, "Invalid",
                  "CreateOptions.meta.k8s.io \"\" is invalid: [fieldManager: Invalid value: "
                  "\"a\\nb\": invalid character U+000A (at position 1), dryRun: Unsupported value: "
                  "[\"x\"]: supported values: \"All\", fieldValidation: Unsupported value: \"y\": "
                  "supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"]");
    assert_at(r, "details.group", "meta.k8s.io");
    assert_at(r, "details.kind", "CreateOptions");
    assert_int_equal(r_count(r, "details.causes"), 3);
}

static void each_verb_has_its_options(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_at(api_put(a, MAPS "/a?dryRun=x", "{}"), "details.kind", "UpdateOptions");
    assert_at(api_patch(a, MAPS "/a?dryRun=x", "{}"), "details.kind", "PatchOptions");
    assert_at(api_delete(a, MAPS "/a?dryRun=x", NULL), "details.kind", "DeleteOptions");
    assert_at(api_get(a, MAPS "?sendInitialEvents=1"), "details.kind", "ListOptions");
}

static void only_an_apply_may_force(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_status(
        api_patch(a, MAPS "/a?force=false", "{}"), 422, "Invalid",
        "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified "
        "for non-apply patch");
}

static void parameters_nobody_knows_are_ignored(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(api_get(a, MAPS "?foo=bar&%zz=1"), 200);
}

static void numbers_must_be_numbers(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_status(api_get(a, MAPS "?limit=x"), 400, "BadRequest",
                  "strconv.ParseInt: parsing \"x\": invalid syntax");
    assert_status(api_get(a, MAPS "?limit=1&timeoutSeconds=y&labelSelector=%3D%3D"), 400,
                  "BadRequest", "strconv.ParseInt: parsing \"y\": invalid syntax");
    assert_code(api_get(a, MAPS "?limit=-1"), 200);
    assert_code(api_get(a, MAPS "?limit="), 400);
}

static void the_match_of_versions_has_rules(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const struct {
        const char *query, *message;
    } wrong[] = {
        {"resourceVersionMatch=Exact",
         "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion "
         "is provided"},
        {"resourceVersionMatch=Exact&resourceVersion=0",
         "resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for "
         "resourceVersion \"0\""},
        {"resourceVersionMatch=x&resourceVersion=1",
         "resourceVersionMatch: Unsupported value: \"x\": supported values: \"Exact\", "
         "\"NotOlderThan\", \"\""},
        {"sendInitialEvents=true",
         "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"},
        {"watch=1&resourceVersionMatch=NotOlderThan",
         "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless "
         "sendInitialEvents is provided"},
        {"watch=1&sendInitialEvents=true",
         "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch "
         "to NotOlderThan"},
    };
    for (size_t i = 0; i < KC_COUNT(wrong); i++)
        assert_status(api_get(a, text(a, MAPS "?%s", wrong[i].query)), 422, "Invalid",
                      text(a, "ListOptions.meta.k8s.io \"\" is invalid: %s", wrong[i].message));
}

static void a_timeout_is_a_duration(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_status(api_get(a, MAPS "?timeout=x"), 400, "BadRequest",
                  "invalid timeout specified in the request URL - time: invalid duration \"x\"");
    assert_code(api_get(a, MAPS "?timeout=5s"), 200);
    assert_code(api_post(a, MAPS "?timeout=100h", "{'metadata':{'name':'a'}}"), 201);
}

TESTS(options_that_are_not_allowed_are_invalid, each_verb_has_its_options, only_an_apply_may_force,
      parameters_nobody_knows_are_ignored, numbers_must_be_numbers, the_match_of_versions_has_rules,
      a_timeout_is_a_duration)
