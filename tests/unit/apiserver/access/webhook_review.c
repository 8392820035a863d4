/* SPDX-License-Identifier: Apache-2.0 */
/* Responses of webhooks that authenticate and authorize. */
#include "apiserver/access/webhook_review.h"

#include "testing.h"

static const kc__authn_review_expected expected = {"https://hook/x", "TokenReview",
                                                   "authentication.k8s.io/"};

static void assert_refused(kc__http_client_response response, const char *message)
{
    kc_scoped(kc_error) err = {0};
    assert_null(kc__authn_review_read(&response, &expected, &err));
    assert_string_equal(kc_error_text(&err), message);
}

static void assert_accepted(const char *body)
{
    const kc__http_client_response response = {.status = 201, .body = kc_cstr(body)};
    kc_auto(kc_view) *review = kc__authn_review_read(&response, &expected, NULL);
    assert_non_null(review);
    assert_true(kc_value_as_bool(kc_value_nested(kc_view_root(review), "status.x"), false));
}

static void review_is_accepted_with_and_without_its_kind(void **state)
{
    (void)state;
    assert_accepted("{\"status\":{\"x\":true}}");
    assert_accepted("{\"kind\":\"TokenReview\",\"apiVersion\":\"authentication.k8s.io/v1beta1\","
                    "\"status\":{\"x\":true}}");
}

static void other_responses_are_errors(void **state)
{
    (void)state;
    static const char *const others[] = {"[]", "{\"kind\":\"Pod\"}", "{\"apiVersion\":\"v1\"}"};
    assert_refused((kc__http_client_response){.error = "connect: connection refused"},
                   "Post \"https://hook/x\": connect: connection refused");
    assert_refused((kc__http_client_response){.status = 403},
                   "the webhook responded with status 403");
    for (size_t i = 0; i < KC_COUNT(others); i++)
        assert_refused((kc__http_client_response){.status = 200, .body = kc_cstr(others[i])},
                       "the webhook returned no TokenReview");
    const kc__http_client_response text = {.status = 200, .body = KC_STR("no")};
    assert_null(kc__authn_review_read(&text, &expected, NULL));
}

TESTS(review_is_accepted_with_and_without_its_kind, other_responses_are_errors)
