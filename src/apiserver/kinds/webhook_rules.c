/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_rules.c: where a webhook is: at a URL, or at a Service of the cluster.
 */
#include "apiserver/kinds/webhook_rules.h"

#define FORM "; desired format: https://host[/path]"

/* Takes what follows the first `c`; empty when there is none. */
static kc_str cut_after(kc_str *text, char c)
{
    kc_str rest = *text;
    *text = kc_str_cut(&rest, c);
    return rest;
}

/* The last @ parts a user from the host. */
static void check_host(const kc__place *url, kc_str host)
{
    size_t at = host.n;
    for (size_t i = 0; i < host.n; i++)
        at = host.p[i] == '@' ? i : at;
    kc_str user = at < host.n ? kc_str_sub(host, 0, at) : KC_STR("");
    host = at < host.n ? kc_str_sub(host, at + 1, host.n) : host;
    if (!host.n)
        kc__wrong_text(url, KC_FIELD_INVALID, host, "host must be specified" FORM);
    if (user.n)
        kc__wrong_text(url, KC_FIELD_INVALID, user, "user information is not permitted in the URL");
}

static void check_url(const kc__place *url)
{
    kc_str rest = kc__text(url), fragment = cut_after(&rest, '#'), query = cut_after(&rest, '?');
    kc_str after = rest, scheme = kc_str_cut(&after, ':');
    scheme = after.p ? scheme : KC_STR("");
    kc_str host = kc_str_starts(after, KC_STR("//")) ? kc_str_sub(after, 2, after.n) : KC_STR("");
    cut_after(&host, '/');
    if (!kc_str_is(scheme, "https"))
        kc__wrong_text(url, KC_FIELD_INVALID, scheme,
                       "'https' is the only allowed URL scheme" FORM);
    check_host(url, host);
    if (fragment.n)
        kc__wrong_text(url, KC_FIELD_INVALID, fragment, "fragments are not permitted in the URL");
    if (query.n)
        kc__wrong_text(url, KC_FIELD_INVALID, query,
                       "query parameters are not permitted in the URL");
}

static void check_path(const kc__place *path)
{
    kc_str rest = kc__text(path);
    const char *messages[KC_NAME_MESSAGES];
    if (!rest.n || kc_str_is(rest, "/"))
        return;
    if (rest.p[0] != '/')
        kc__wrong(path, KC_FIELD_INVALID, "must start with a '/'");
    rest = kc_str_sub(rest, 1, rest.n);
    if (rest.n > 1 && kc_str_ends(rest, KC_STR("/")))
        rest = kc_str_sub(rest, 0, rest.n - 1);
    for (size_t i = 0; rest.p; i++) {
        kc_str step = kc_str_cut(&rest, '/');
        size_t n = step.n ? kc_name_check(KC_NAME_DNS_SUBDOMAIN, step, messages) : 0;
        if (!step.n)
            kc__wrong(path, KC_FIELD_INVALID, "segment[%zu] may not be empty", i);
        for (size_t m = 0; m < n; m++)
            kc__wrong(path, KC_FIELD_INVALID, "segment[%zu]: %s", i, messages[m]);
    }
}

static void check_port(const kc__place *port)
{
    if (kc__number(port) < 1 || kc__number(port) > 65535)
        kc__wrong_number(port, "port is not valid: must be between 1 and 65535, inclusive");
}

static const kc__rule service_[] = {
    {"name", .required = ""},
    {"namespace", .required = ""},
    {"port", .code = check_port},
    {"path", .code = check_path},
};
static const kc__rules service = KC__RULES(service_);

void kc__check_webhook_client(const kc__place *config)
{
    kc__place url = kc__member(config, "url"), whom = kc__member(config, "service");
    if (!url.value == !whom.value)
        kc__wrong(config, KC_FIELD_REQUIRED, "exactly one of url or service is required");
    else if (url.value)
        check_url(&url);
    else
        kc__rules_check(&service, &whom);
}
