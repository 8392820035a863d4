/* SPDX-License-Identifier: Apache-2.0 */
/* options.c: the parameters of requests. */
#include "api_testing.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

static void invalid_options_return_422_with_causes(void **state)
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

static void error_names_the_options_kind_of_the_verb(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_at(api_put(a, MAPS "/a?dryRun=x", "{}"), "details.kind", "UpdateOptions");
    assert_at(api_patch(a, MAPS "/a?dryRun=x", "{}"), "details.kind", "PatchOptions");
    assert_at(api_delete(a, MAPS "/a?dryRun=x", NULL), "details.kind", "DeleteOptions");
    assert_at(api_get(a, MAPS "?sendInitialEvents=1"), "details.kind", "ListOptions");
}

static void force_without_apply_is_forbidden(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_status(
        api_patch(a, MAPS "/a?force=false", "{}"), 422, "Invalid",
        "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified "
        "for non-apply patch");
}

static void unknown_parameters_are_ignored(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(api_get(a, MAPS "?foo=bar&%zz=1"), 200);
}

static void invalid_numbers_return_bad_request(void **state)
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

static void resource_version_match_without_version_is_forbidden(void **state)
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

static void timeout_must_be_a_duration(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_status(api_get(a, MAPS "?timeout=x"), 400, "BadRequest",
                  "invalid timeout specified in the request URL - time: invalid duration \"x\"");
    assert_code(api_get(a, MAPS "?timeout=5s"), 200);
    assert_code(api_post(a, MAPS "?timeout=100h", "{'metadata':{'name':'a'}}"), 201);
}

TESTS(invalid_options_return_422_with_causes, error_names_the_options_kind_of_the_verb,
      force_without_apply_is_forbidden, unknown_parameters_are_ignored,
      invalid_numbers_return_bad_request, resource_version_match_without_version_is_forbidden,
      timeout_must_be_a_duration)
