/* SPDX-License-Identifier: Apache-2.0 */
/* Match conditions of authorization webhooks. */
#include "apiserver/authz/match_conditions.h"
#include "apiserver/authz/authz_selectors.h"
#include "kc/json.h"
#include "testing.h"

#include <stdarg.h>

static kc__authz_conditions *compile_texts(const char *first, const char *second)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_scoped(kc_buf) json = {0};
    kc_buf_puts(&json, "[{\"expression\":");
    kc_json_quote(&json, kc_cstr(first));
    if (second) {
        kc_buf_puts(&json, "},{\"expression\":");
        kc_json_quote(&json, kc_cstr(second));
    }
    kc_buf_puts(&json, "}]");
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&json), NULL, NULL);
    kc__authz_conditions *conditions =
        kc__authz_conditions_compile(kc_view_root(view), "w", &errors);
    if (errors.list.n)
        fail_msg("%s: %s", errors.list.items[0].field, errors.list.items[0].body);
    return conditions;
}

static kc__authz_match match_both(const char *first, const char *second,
                                  const kc__authz_attributes *a, bool on_worker, kc_buf *problems)
{
    kc__authz_conditions *conditions = compile_texts(first, second);
    const kc__authz_match match = kc__authz_conditions_evaluate(conditions, a, on_worker, problems);
    kc__authz_conditions_unref(conditions);
    return match;
}

static bool matches(const char *expression, const kc__authz_attributes *a)
{
    kc_scoped(kc_buf) problems = {0};
    const kc__authz_match match = match_both(expression, NULL, a, false, &problems);
    if (match != KC__AUTHZ_MATCHES && match != KC__AUTHZ_EXCLUDED)
        fail_msg("%s: %s", expression, kc_buf_cstr(&problems));
    return match == KC__AUTHZ_MATCHES;
}

static const kc_str groups[] = {KC_STR_INIT("dev"), KC_STR_INIT("system:authenticated")},
                    values[] = {KC_STR_INIT("x"), KC_STR_INIT("y")};
static const kc__user_extra extra[] = {{KC_STR_INIT("example.com/k"), values, 2}};
static const kc__user alice = {
    .name = KC_STR_INIT("alice"), .groups = groups, .n_groups = 2, .extra = extra, .n_extra = 1};
static const kc__authz_attributes list_pods = {.user = &alice,
                                               .verb = KC_STR_INIT("list"),
                                               .is_resource = true,
                                               .version = KC_STR_INIT("v1"),
                                               .resource = KC_STR_INIT("pods"),
                                               .ns = KC_STR_INIT("prod")};
static const kc__authz_attributes get_metrics = {
    .user = &alice, .verb = KC_STR_INIT("get"), .path = KC_STR_INIT("/metrics")};

static void request_has_the_attributes_of_a_resource(void **state)
{
    (void)state;
    assert_true(matches("has(request.resourceAttributes)", &list_pods));
    assert_false(matches("has(request.nonResourceAttributes)", &list_pods));
    assert_true(matches("request.resourceAttributes.namespace == 'prod' && "
                        "request.resourceAttributes.verb in ['list', 'watch']",
                        &list_pods));
    /* Empty members are there. */
    assert_true(matches("has(request.resourceAttributes.name) && "
                        "request.resourceAttributes.group == '' && request.uid == ''",
                        &list_pods));
    assert_false(matches("has(request.resourceAttributes.labelSelector)", &list_pods));
}

static void request_has_the_attributes_of_a_path(void **state)
{
    (void)state;
    assert_true(matches("request.nonResourceAttributes.path.startsWith('/met') && "
                        "request.nonResourceAttributes.verb == 'get'",
                        &get_metrics));
    assert_false(matches("has(request.resourceAttributes)", &get_metrics));
}

static void request_has_the_user(void **state)
{
    (void)state;
    const kc__user nameless = {.name = KC_STR("bob")};
    const kc__authz_attributes a = {.user = &nameless, .path = KC_STR("/")};
    assert_true(matches("request.user == 'alice' && 'dev' in request.groups && "
                        "!('ops' in request.groups)",
                        &list_pods));
    assert_true(matches("request.extra['example.com/k'] == ['x', 'y']", &list_pods));
    assert_true(matches("request.groups == [] && request.extra.size() == 0", &a));
}

static void request_has_the_requirements_of_selectors(void **state)
{
    (void)state;
    kc__authz_attributes a = list_pods;
    kc_scoped(kc__authz_selectors) selectors = {0};
    kc__authz_selectors_parse(&selectors, KC_STR("spec.nodeName=n1"), KC_STR("app in (web),x"));
    kc__authz_select(&a, &selectors);
    assert_true(matches("request.resourceAttributes.fieldSelector.requirements.exists(r, r.key == "
                        "'spec.nodeName' && r.operator == 'In' && r.values == ['n1'])",
                        &a));
    assert_true(matches("request.resourceAttributes.labelSelector.requirements.exists(r, r.key == "
                        "'x' && r.operator == 'Exists' && r.values == [])",
                        &a));
    assert_true(matches("request.resourceAttributes.?fieldSelector.hasValue()", &a));
    assert_false(matches("has(request.resourceAttributes.fieldSelector.rawSelector)", &a));
}

static void false_condition_excludes_whatever_else_fails(void **state)
{
    (void)state;
    kc_scoped(kc_buf) problems = {0};
    const char *failing = "request.resourceAttributes.name == 'a'";
    assert_int_equal(match_both(failing, "request.user == 'bob'", &get_metrics, false, &problems),
                     KC__AUTHZ_EXCLUDED);
    kc_buf_clear(&problems);
    assert_int_equal(match_both(failing, "request.user == 'alice'", &get_metrics, false, &problems),
                     KC__AUTHZ_FAILED);
    assert_string_equal(kc_buf_cstr(&problems),
                        "cel evaluation error: expression 'request.resourceAttributes.name == 'a'' "
                        "resulted in error: no such key: resourceAttributes");
}

static void expensive_condition_is_left_to_a_worker(void **state)
{
    (void)state;
    enum { MANY = 120 };
    kc_str many[MANY];
    kc_scoped(kc_buf) problems = {0};
    for (size_t i = 0; i < MANY; i++)
        many[i] = KC_STR("a-group-with-a-long-name");
    const kc__user user = {.name = KC_STR("alice"), .groups = many, .n_groups = MANY};
    const kc__authz_attributes a = {.user = &user, .path = KC_STR("/")};
    const char *pairs = "!request.groups.exists(g, request.groups.exists(h, g != h))";
    assert_int_equal(match_both(pairs, NULL, &a, false, &problems), KC__AUTHZ_TOO_LONG);
    assert_int_equal(match_both(pairs, NULL, &a, true, &problems), KC__AUTHZ_MATCHES);
    assert_int_equal(problems.n, 0);
}

TESTS(request_has_the_attributes_of_a_resource, request_has_the_attributes_of_a_path,
      request_has_the_user, request_has_the_requirements_of_selectors,
      false_condition_excludes_whatever_else_fails, expensive_condition_is_left_to_a_worker)
