/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_url.c: validates the URL of a webhook as Kubernetes does: https, a host, an optional port
 * and path, and nothing else. The server connects to this URL, so a write with a URL that other
 * parsers could read differently (control characters, spaces, an invalid port, broken escapes) is
 * rejected. kc__go_url_parse reads it as Go does.
 */
#include "apiserver/kinds/admissionregistration/webhook_url.h"

#include "kc/ascii.h"
#include "object/gofmt/go_url.h"

#define FORM "; desired format: https://host[/path]"

void kc__hook_url_check(kc_str text, kc__hook_url_error_fn *wrong, void *user)
{
    kc__go_url u;
    kc_scoped(kc_buf) why = {0};
    if (!kc__go_url_parse(text, KC__GO_URL_REFERENCE, &u, &why)) {
        kc_autofree char *detail =
            kc_asprintf("url must be a valid URL: %s" FORM, kc_buf_cstr(&why));
        wrong(KC_FIELD_REQUIRED, (kc_str){0}, detail, user);
        return;
    }
    kc_scoped(kc_buf) scheme = {0};
    for (size_t i = 0; i < u.scheme.n; i++)
        kc_buf_putc(&scheme, kc_lower(u.scheme.p[i]));
    if (!kc_str_is(kc_buf_str(&scheme), "https"))
        wrong(KC_FIELD_INVALID, kc_buf_str(&scheme), "'https' is the only allowed URL scheme" FORM,
              user);
    if (!u.host.n)
        wrong(KC_FIELD_INVALID, KC_STR(""), "host must be specified" FORM, user);
    if (u.has_user)
        wrong(KC_FIELD_INVALID, u.user, "user information is not permitted in the URL", user);
    if (u.fragment.n)
        wrong(KC_FIELD_INVALID, u.fragment, "fragments are not permitted in the URL", user);
    if (u.query.n)
        wrong(KC_FIELD_INVALID, u.query, "query parameters are not permitted in the URL", user);
}
