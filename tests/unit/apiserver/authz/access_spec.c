/* SPDX-License-Identifier: Apache-2.0 */
/* The reviews that an authorization webhook receives. */
#include "apiserver/authz/access_spec.h"
#include "apiserver/authz/authz_selectors.h"
#include "testing.h"

static const char *spec_of(const kc__authz_attributes *a, kc__authz_spec_form form)
{
    static char text[1000];
    kc_scoped(kc_buf) out = {0};
    kc__authz_spec_write(&out, a, form);
    assert_true(out.n < sizeof(text));
    memcpy(text, kc_buf_cstr(&out), out.n + 1);
    return text;
}

static void resource_request_has_attributes_and_user(void **state)
{
    (void)state;
    const kc_str groups[] = {KC_STR("dev"), KC_STR("system:authenticated")},
                 values[] = {KC_STR("x")};
    const kc__user_extra extra[] = {{KC_STR("b"), values, 1}, {KC_STR("a"), values, 1}};
    const kc__user user = {.name = KC_STR("alice"),
                           .uid = KC_STR("7"),
                           .groups = groups,
                           .n_groups = 2,
                           .extra = extra,
                           .n_extra = 2};
    const kc__authz_attributes a = {.user = &user,
                                    .verb = KC_STR("get"),
                                    .is_resource = true,
                                    .group = KC_STR("apps"),
                                    .version = KC_STR("v1"),
                                    .resource = KC_STR("deployments"),
                                    .subresource = KC_STR("scale"),
                                    .ns = KC_STR("default"),
                                    .name = KC_STR("web")};
    assert_string_equal(
        spec_of(&a, KC__AUTHZ_SPEC_V1),
        "{\"resourceAttributes\":{\"namespace\":\"default\",\"verb\":\"get\",\"group\":\"apps\","
        "\"version\":\"v1\",\"resource\":\"deployments\",\"subresource\":\"scale\",\"name\":"
        "\"web\"},\"user\":\"alice\",\"groups\":[\"dev\",\"system:authenticated\"],\"extra\":{"
        "\"a\":[\"x\"],\"b\":[\"x\"]},\"uid\":\"7\"}");
    assert_non_null(strstr(spec_of(&a, KC__AUTHZ_SPEC_V1BETA1),
                           ",\"group\":[\"dev\",\"system:authenticated\"]"));
}

static void path_has_path_and_verb(void **state)
{
    (void)state;
    const kc__user user = {.name = KC_STR("alice")};
    const kc__authz_attributes a = {
        .user = &user, .verb = KC_STR("get"), .path = KC_STR("/metrics")};
    assert_string_equal(spec_of(&a, KC__AUTHZ_SPEC_V1),
                        "{\"nonResourceAttributes\":{\"path\":\"/metrics\",\"verb\":\"get\"},"
                        "\"user\":\"alice\"}");
}

static void selectors_are_requirements(void **state)
{
    (void)state;
    const kc__user user = {.name = KC_STR("alice")};
    kc__authz_attributes a = {
        .user = &user, .verb = KC_STR("list"), .is_resource = true, .resource = KC_STR("pods")};
    kc_scoped(kc__authz_selectors) selectors = {0};
    kc__authz_selectors_parse(&selectors, KC_STR("spec.nodeName=n1,status.phase!=Failed"),
                              KC_STR("a=b,c in (d,e),!f,g,h>5"));
    kc__authz_select(&a, &selectors);
    assert_string_equal(
        spec_of(&a, KC__AUTHZ_SPEC_V1),
        "{\"resourceAttributes\":{\"verb\":\"list\",\"resource\":\"pods\",\"fieldSelector\":{"
        "\"requirements\":[{\"key\":\"spec.nodeName\",\"operator\":\"In\",\"values\":[\"n1\"]},{"
        "\"key\":\"status.phase\",\"operator\":\"NotIn\",\"values\":[\"Failed\"]}]},"
        "\"labelSelector\":{\"requirements\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":["
        "\"b\"]},{\"key\":\"c\",\"operator\":\"In\",\"values\":[\"d\",\"e\"]},{\"key\":\"f\","
        "\"operator\":\"DoesNotExist\"},{\"key\":\"g\",\"operator\":\"Exists\"}]}},\"user\":"
        "\"alice\"}");
}

TESTS(resource_request_has_attributes_and_user, path_has_path_and_verb, selectors_are_requirements)
