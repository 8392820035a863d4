/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_rules.c: validates the client config of a webhook: a URL, or a Service of the cluster.
 */
#include "apiserver/kinds/admissionregistration/webhook_rules.h"

#include "apiserver/kinds/admissionregistration/webhook_url.h"

static void wrong(kc_field_error_type type, kc_str shown, const char *detail, void *user)
{
    if (type == KC_FIELD_REQUIRED)
        kc__location_error(user, type, "%s", detail);
    else
        kc__location_error_text(user, type, shown, detail);
}

static void check_url(const kc__location *url)
{
    kc__hook_url_check(kc__location_text(url), wrong, (void *)url);
}

static void check_path(const kc__location *path)
{
    kc_str rest = kc__location_text(path);
    const char *messages[KC_NAME_MESSAGES];
    if (!rest.n || kc_str_is(rest, "/"))
        return;
    if (rest.p[0] != '/')
        kc__location_error(path, KC_FIELD_INVALID, "must start with a '/'");
    rest = kc_str_sub(rest, 1, rest.n);
    if (rest.n > 1 && kc_str_ends(rest, KC_STR("/")))
        rest = kc_str_sub(rest, 0, rest.n - 1);
    for (size_t i = 0; rest.p; i++) {
        kc_str step = kc_str_cut(&rest, '/');
        size_t n = step.n ? kc_name_check(KC_NAME_DNS_SUBDOMAIN, step, messages) : 0;
        if (!step.n)
            kc__location_error(path, KC_FIELD_INVALID, "segment[%zu] may not be empty", i);
        for (size_t m = 0; m < n; m++)
            kc__location_error(path, KC_FIELD_INVALID, "segment[%zu]: %s", i, messages[m]);
    }
}

static void check_port(const kc__location *port)
{
    if (kc__location_number(port) < 1 || kc__location_number(port) > 65535)
        kc__location_error_number(port,
                                  "port is not valid: must be between 1 and 65535, inclusive");
}

static const kc__validate_rule service_[] = {
    {"name", .required = ""},
    {"namespace", .required = ""},
    {"port", .code = check_port},
    {"path", .code = check_path},
};
static const kc__validate_rule_table service = KC__VALIDATE_RULES(service_);

void kc__validate_webhook_client(const kc__location *config)
{
    kc__location url = kc__location_member(config, "url"),
                 service_ref = kc__location_member(config, "service");
    if (!url.value == !service_ref.value)
        kc__location_error(config, KC_FIELD_REQUIRED, "exactly one of url or service is required");
    else if (url.value)
        check_url(&url);
    else
        kc__validate_by_rules(&service, &service_ref);
}
