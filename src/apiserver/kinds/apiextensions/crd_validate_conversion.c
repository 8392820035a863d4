/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_validate_conversion.c: validates the conversion strategy of a CRD: None, or Webhook with a
 * client config that the server can call. Fields are named as in Kubernetes' internal form
 * (spec.conversion.webhookClientConfig).
 */
#include "apiserver/kinds/admissionregistration/ca_bundle.h"
#include "apiserver/kinds/admissionregistration/webhook_url.h"
#include "apiserver/kinds/apiextensions/crd_internal.h"
#include "apiserver/kinds/apiextensions/crd_validate_internal.h"
#include "kc/map.h"
#include "object/gofmt/go_json.h"
#include "object/gofmt/go_quote.h"

#include <stdio.h>

static bool is_given(const kc_value *value)
{
    return value && kc_value_type(value) != KC_JSON_NULL;
}

static void wrong_url(kc_field_error_type type, kc_str shown, const char *detail, void *user)
{
    if (type == KC_FIELD_REQUIRED)
        kc__crd_required(user, "url", detail);
    else
        kc__crd_invalid(user, "url", shown, detail);
}

static void check_url(kc__crd_check *c, kc_str url)
{
    kc__hook_url_check(url, wrong_url, c);
}

static void check_segments(kc__crd_check *c, kc_str path)
{
    kc_str rest = kc_str_sub(path, 1, path.n - kc_str_ends(path, KC_STR("/")));
    char detail[512];
    for (size_t i = 0; rest.p; i++) {
        const char *messages[KC_NAME_MESSAGES];
        kc_str step = kc_str_cut(&rest, '/');
        size_t n = step.n ? kc_name_check(KC_NAME_DNS_SUBDOMAIN, step, messages) : 0;
        if (!step.n) {
            snprintf(detail, sizeof(detail), "segment[%zu] may not be empty", i);
            kc__crd_invalid(c, "path", path, detail);
        }
        for (size_t m = 0; m < n; m++) {
            snprintf(detail, sizeof(detail), "segment[%zu]: %s", i, messages[m]);
            kc__crd_invalid(c, "path", path, detail);
        }
        if (kc_field_errors_is_full(c->errors))
            return;
    }
}

static void check_service(kc__crd_check *c, const kc_value *service)
{
    /* Kubernetes passes the two fields in the wrong order, so each error names the other field. */
    if (!kc_value_as_str(kc_value_get(service, "namespace")).n)
        kc__crd_required(c, "name", "");
    if (!kc_value_as_str(kc_value_get(service, "name")).n)
        kc__crd_required(c, "namespace", "");
    int64_t port = kc_value_as_i64_or(kc_value_get(service, "port"), 443);
    if (port < 1 || port > UINT16_MAX) {
        size_t before = kc__crd_enter(c, ".port");
        kc_field_errors_add_value(c->errors, KC_FIELD_INVALID, kc_buf_cstr(&c->path),
                                  kc_value_get(service, "port"),
                                  "port is not valid: must be between 1 and 65535, inclusive");
        kc__crd_leave(c, before);
    }
    kc_str path = kc_value_as_str(kc_value_get(service, "path"));
    if (!path.n || kc_str_is(path, "/"))
        return;
    if (kc_str_is(path, "//")) {
        kc__crd_invalid(c, "path", path, "segment[0] may not be empty");
        return;
    }
    if (path.p[0] != '/')
        kc__crd_invalid(c, "path", path, "must start with a '/'");
    check_segments(c, path);
}

static void check_client(kc__crd_check *c, const kc_value *client)
{
    const kc_value *url = kc_value_get(client, "url"), *service = kc_value_get(client, "service");
    if (is_given(url) == is_given(service)) {
        kc__crd_required(c, "webhookClientConfig", "exactly one of url or service is required");
        return;
    }
    size_t before = kc__crd_enter(c, ".webhookClientConfig");
    if (is_given(url)) {
        check_url(c, kc_value_as_str(url));
    } else {
        kc__crd_enter(c, ".service");
        check_service(c, service);
    }
    kc__crd_leave(c, before);
}

static kc_str ca_bundle_of(const kc_value *crd)
{
    return kc_value_as_str(
        kc_value_nested(kc_value_get(crd, "spec"), "conversion.webhook.clientConfig.caBundle"));
}

/* An invalid bundle is accepted until the CRD is established, and where there was one before. */
static bool may_have_invalid_bundle(const kc__crd_check *c)
{
    return !c->old || !kc__crd_condition_is_true(c->old, "Established") ||
           !kc__hook_bundle_check(ca_bundle_of(c->old), NULL);
}

static void check_bundle(kc__crd_check *c)
{
    kc_scoped(kc_buf) why = {0};
    const kc_str bundle = ca_bundle_of(c->crd);
    if (kc__hook_bundle_check(bundle, &why) || may_have_invalid_bundle(c))
        return;
    size_t before = kc__crd_enter(c, ".webhookClientConfig");
    kc__crd_invalid(c, "caBundle", bundle, kc_buf_cstr(&why));
    kc__crd_leave(c, before);
}

static bool is_known_review(kc_str version)
{
    return kc_str_is(version, "v1") || kc_str_is(version, "v1beta1");
}

/* An old CRD without any known review version may keep that state. */
static bool must_know_review(const kc__crd_check *c)
{
    const kc_value *old =
        kc_value_get(kc_value_get(kc_value_get(c->old, "spec"), "conversion"), "webhook");
    const kc_value *reviews = kc_value_get(old, "conversionReviewVersions");
    kc_value_each_item (reviews, version)
        if (is_known_review(kc_value_as_str(version)))
            return true;
    return kc_value_len(reviews) == 0;
}

static void check_reviews(kc__crd_check *c, const kc_value *reviews)
{
    kc_scoped(kc_map) seen = {0};
    bool known = false;
    size_t i = 0;
    size_t before = kc__crd_enter(c, ".conversionReviewVersions");
    if (!kc_value_len(reviews))
        kc__crd_required(c, "", "");
    kc_value_each_item (reviews, version) {
        kc_str name = kc_value_as_str(version);
        size_t list = kc__crd_enter(c, "[%zu]", i++);
        if (kc_map_put(&seen, name, c))
            kc__crd_invalid(c, "", name, "duplicate version");
        else
            kc_validate_name(c->errors, kc_buf_cstr(&c->path), KC_NAME_DNS_1035_LABEL, name);
        known |= is_known_review(name);
        kc__crd_leave(c, list);
    }
    if (kc_value_len(reviews) && !known && must_know_review(c))
        kc_field_errors_add_value(c->errors, KC_FIELD_INVALID, kc_buf_cstr(&c->path), reviews,
                                  "must include at least one of v1, v1beta1");
    kc__crd_leave(c, before);
}

void kc__crd_check_conversion(kc__crd_check *c)
{
    static const char *const strategies[] = {"None", "Webhook", NULL};
    static const char not_webhook[] = "should not be set when strategy is not set to Webhook";
    const kc_value *conversion = kc_value_get(c->spec, "conversion"),
                   *hook = kc_value_get(conversion, "webhook");
    kc_str strategy = kc_value_as_str(kc_value_get(conversion, "strategy"));
    if (kc_value_type(conversion) != KC_JSON_OBJECT)
        return;
    size_t before = kc__crd_enter(c, ".conversion");
    if (!kc_str_is(strategy, "None") &&
        kc_value_as_bool(kc_value_get(c->spec, "preserveUnknownFields"), false))
        kc__crd_invalid(c, "strategy", strategy,
                        "must be None if spec.preserveUnknownFields is true");
    kc__crd_check_word(c, "strategy", strategy, strategies);
    const kc_value *client = kc_value_get(hook, "clientConfig");
    const kc_value *reviews = kc_value_get(hook, "conversionReviewVersions");
    if (kc_str_is(strategy, "Webhook")) {
        if (is_given(client)) {
            check_client(c, client);
            check_bundle(c);
        } else {
            kc__crd_required(c, "webhookClientConfig", "required when strategy is set to Webhook");
        }
        check_reviews(c, reviews);
    } else {
        if (is_given(client))
            kc__crd_forbidden(c, "webhookClientConfig", not_webhook);
        if (kc_value_len(reviews))
            kc__crd_forbidden(c, "conversionReviewVersions", not_webhook);
    }
    kc__crd_leave(c, before);
}
