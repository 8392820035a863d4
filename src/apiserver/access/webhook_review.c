/* SPDX-License-Identifier: Apache-2.0 */
/* webhook_review.c: checks the responses of webhooks that authenticate and authorize. */
#include "apiserver/access/webhook_review.h"

static bool is_expected_review(const kc_value *root, const kc__authn_review_expected *expected)
{
    const kc_str kind = kc_value_as_str(kc_value_get(root, "kind")),
                 version = kc_value_as_str(kc_value_get(root, "apiVersion"));
    return kc_value_type(root) == KC_JSON_OBJECT && (!kind.n || kc_str_is(kind, expected->kind)) &&
           (!version.n || kc_str_starts(version, kc_cstr(expected->group)));
}

kc_view *kc__authn_review_read(const kc__http_client_response *response,
                               const kc__authn_review_expected *expected, kc_error *err)
{
    if (!response->status) {
        kc_error_set(err, KC_SERVICE_UNAVAILABLE, "Post \"%s\": %s", expected->url,
                     response->error);
        return NULL;
    }
    if (!kc__http_client_succeeded(response)) {
        kc_error_set(err, KC_SERVICE_UNAVAILABLE, "the webhook responded with status %d",
                     response->status);
        return NULL;
    }
    kc_auto(kc_view) *view = kc_view_parse(response->body, NULL, err);
    if (view && !is_expected_review(kc_view_root(view), expected)) {
        kc_error_set(err, KC_INVALID, "the webhook returned no %s", expected->kind);
        return NULL;
    }
    return kc_take(view);
}
