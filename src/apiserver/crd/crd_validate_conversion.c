/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_validate_conversion.c: how objects get from one version to another: not at all, or by a
 * webhook, of which Kubernetes wants an address it can call. Fields are named as in its inner form
 * (spec.conversion.webhookClientConfig).
 */
#include "apiserver/crd/crd_validate_internal.h"
#include "kc/map.h"
#include "object/go_json.h"
#include "object/go_quote.h"

#include <stdio.h>

#define FORM "; desired format: https://host[/path]"

static bool is_given(const kc_value *value)
{
    return value && kc_type_of(value) != KC_NULL;
}

/* A URL taken apart as far as its rules need it. */
static void check_url(kc__crd_check *c, kc_str url)
{
    kc_str rest = url, scheme = {0}, host = {0}, user = {0};
    ptrdiff_t at = kc_str_find(rest, '#');
    kc_str fragment = at < 0 ? (kc_str){0} : kc_str_sub(rest, (size_t)at + 1, rest.n);
    rest = at < 0 ? rest : kc_str_sub(rest, 0, (size_t)at);
    at = kc_str_find(rest, '?');
    kc_str query = at < 0 ? (kc_str){0} : kc_str_sub(rest, (size_t)at + 1, rest.n);
    rest = at < 0 ? rest : kc_str_sub(rest, 0, (size_t)at);
    at = kc_str_find(rest, ':');
    if (at > 0 && kc_str_find(kc_str_sub(rest, 0, (size_t)at), '/') < 0) {
        scheme = kc_str_sub(rest, 0, (size_t)at);
        rest = kc_str_sub(rest, (size_t)at + 1, rest.n);
    }
    if (kc_str_starts(rest, KC_STR("//"))) {
        host = kc_str_sub(rest, 2, rest.n);
        host = kc_str_cut(&host, '/');
        at = kc_str_rfind(host, '@');
        user = at < 0 ? (kc_str){0} : kc_str_sub(host, 0, (size_t)at);
        host = at < 0 ? host : kc_str_sub(host, (size_t)at + 1, host.n);
    }
    if (!kc_str_is(scheme, "https"))
        kc__crd_invalid(c, "url", scheme, "'https' is the only allowed URL scheme" FORM);
    if (!host.n)
        kc__crd_invalid(c, "url", host, "host must be specified" FORM);
    if (user.p)
        kc__crd_invalid(c, "url", user, "user information is not permitted in the URL");
    if (fragment.n)
        kc__crd_invalid(c, "url", fragment, "fragments are not permitted in the URL");
    if (query.n)
        kc__crd_invalid(c, "url", query, "query parameters are not permitted in the URL");
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
    /* Kubernetes hands the two over in the wrong order, so each error names the other's field. */
    if (!kc_as_str(kc_get(service, "namespace")).n)
        kc__crd_required(c, "name", "");
    if (!kc_as_str(kc_get(service, "name")).n)
        kc__crd_required(c, "namespace", "");
    int64_t port = kc_as_i64_or(kc_get(service, "port"), 443);
    if (port < 1 || port > UINT16_MAX) {
        size_t before = kc__crd_enter(c, ".port");
        kc_field_errors_add_value(c->errors, KC_FIELD_INVALID, kc_buf_cstr(&c->path),
                                  kc_get(service, "port"),
                                  "port is not valid: must be between 1 and 65535, inclusive");
        kc__crd_leave(c, before);
    }
    kc_str path = kc_as_str(kc_get(service, "path"));
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
    const kc_value *url = kc_get(client, "url"), *service = kc_get(client, "service");
    if (is_given(url) == is_given(service)) {
        kc__crd_required(c, "webhookClientConfig", "exactly one of url or service is required");
        return;
    }
    size_t before = kc__crd_enter(c, ".webhookClientConfig");
    if (is_given(url)) {
        check_url(c, kc_as_str(url));
    } else {
        kc__crd_enter(c, ".service");
        check_service(c, service);
    }
    kc__crd_leave(c, before);
}

static bool is_known_review(kc_str version)
{
    return kc_str_is(version, "v1") || kc_str_is(version, "v1beta1");
}

/* What was there before without one we know may go on so. */
static bool must_know_review(const kc__crd_check *c)
{
    const kc_value *old = kc_get(kc_get(kc_get(c->old, "spec"), "conversion"), "webhook");
    const kc_value *reviews = kc_get(old, "conversionReviewVersions");
    kc_items (reviews, version)
        if (is_known_review(kc_as_str(version)))
            return true;
    return kc_len(reviews) == 0;
}

static void check_reviews(kc__crd_check *c, const kc_value *reviews)
{
    kc_scoped(kc_map) seen = {0};
    bool known = false;
    size_t i = 0;
    size_t before = kc__crd_enter(c, ".conversionReviewVersions");
    if (!kc_len(reviews))
        kc__crd_required(c, "", "");
    kc_items (reviews, version) {
        kc_str name = kc_as_str(version);
        size_t list = kc__crd_enter(c, "[%zu]", i++);
        if (kc_map_put(&seen, name, c))
            kc__crd_invalid(c, "", name, "duplicate version");
        else
            kc_validate_name(c->errors, kc_buf_cstr(&c->path), KC_NAME_DNS_1035_LABEL, name);
        known |= is_known_review(name);
        kc__crd_leave(c, list);
    }
    if (kc_len(reviews) && !known && must_know_review(c))
        kc_field_errors_add_value(c->errors, KC_FIELD_INVALID, kc_buf_cstr(&c->path), reviews,
                                  "must include at least one of v1, v1beta1");
    kc__crd_leave(c, before);
}

void kc__crd_check_conversion(kc__crd_check *c)
{
    static const char *const strategies[] = {"None", "Webhook", NULL};
    static const char unasked[] = "should not be set when strategy is not set to Webhook";
    const kc_value *conversion = kc_get(c->spec, "conversion"),
                   *hook = kc_get(conversion, "webhook");
    kc_str strategy = kc_as_str(kc_get(conversion, "strategy"));
    if (kc_type_of(conversion) != KC_OBJECT)
        return;
    size_t before = kc__crd_enter(c, ".conversion");
    if (!kc_str_is(strategy, "None") && kc_as_bool(kc_get(c->spec, "preserveUnknownFields"), false))
        kc__crd_invalid(c, "strategy", strategy,
                        "must be None if spec.preserveUnknownFields is true");
    kc__crd_check_word(c, "strategy", strategy, strategies);
    const kc_value *client = kc_get(hook, "clientConfig");
    const kc_value *reviews = kc_get(hook, "conversionReviewVersions");
    if (kc_str_is(strategy, "Webhook")) {
        if (is_given(client))
            check_client(c, client);
        else
            kc__crd_required(c, "webhookClientConfig", "required when strategy is set to Webhook");
        check_reviews(c, reviews);
    } else {
        if (is_given(client))
            kc__crd_forbidden(c, "webhookClientConfig", unasked);
        if (kc_len(reviews))
            kc__crd_forbidden(c, "conversionReviewVersions", unasked);
    }
    kc__crd_leave(c, before);
}
