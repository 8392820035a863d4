/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the responses of admission and conversion webhooks share. */
#include "apiserver/webhook/webhook_response.h"

#include "testing.h"

static const kc__hook_member members[] = {{"uid", KC_JSON_STRING, "types.UID"},
                                          {"allowed", KC_JSON_BOOL, "bool"}};

static void members_of_another_type_are_rejected(void **state)
{
    (void)state;
    static const char *const valid[] = {"{}", "{'uid':null}", "{'uid':'u','allowed':true,'x':1}"};
    kc_scoped(kc_error) err = {0};
    for (size_t i = 0; i < KC_COUNT(valid); i++) {
        kc_auto(kc_view) *view = view_of(valid[i]);
        assert_int_equal(kc__hook_check_members(kc_view_root(view), "R.response", members, 2, &err),
                         0);
    }
    kc_auto(kc_view) *wrong = view_of("{'uid':'u','allowed':'yes'}");
    assert_true(kc__hook_check_members(kc_view_root(wrong), "R.response", members, 2, &err) < 0);
    assert_error(&err, KC_BAD_REQUEST,
                 "json: cannot unmarshal string into Go struct field R.response.allowed of type "
                 "bool");
}

static void review_must_have_version_and_kind(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *named = view_of("{'apiVersion':'g/v1','kind':'R'}");
    kc_auto(kc_view) *unnamed = view_of("{'apiVersion':'g/v1'}");
    assert_int_equal(kc__hook_check_named(kc_view_root(named), "g/v1, Kind=R", &err), 0);
    assert_true(kc__hook_check_named(kc_view_root(unnamed), "g/v1, Kind=R", &err) < 0);
    assert_error(&err, KC_INVALID, "expected webhook response of g/v1, Kind=R, got g/v1, Kind=");
}

static void response_must_have_the_uid_of_the_request(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *view = view_of("{'uid':'u'}");
    assert_int_equal(kc__hook_check_uid(kc_view_root(view), KC_STR("u"), &err), 0);
    assert_true(kc__hook_check_uid(kc_view_root(view), KC_STR("v"), &err) < 0);
    assert_error(&err, KC_INVALID, "expected response.uid=\"v\", got \"u\"");
}

TESTS(members_of_another_type_are_rejected, review_must_have_version_and_kind,
      response_must_have_the_uid_of_the_request)
