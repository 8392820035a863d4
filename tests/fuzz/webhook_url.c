/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text is refused with a reason, or is a URL whose parts lie within it: no control character
 * outside of the fragment, and no space or slash in the host.
 */
#include "fuzzing.h"

#include "apiserver/kinds/admissionregistration/webhook_url.h"
#include "object/gofmt/go_url.h"

static void check_inside(kc_str part, kc_str text)
{
    assert(!part.n || (part.p >= text.p && part.p + part.n <= text.p + text.n));
}

static void check_parts(const kc__go_url *u, kc_str text)
{
    check_inside(u->scheme, text);
    check_inside(u->user, text);
    check_inside(u->host, text);
    check_inside(u->path, text);
    check_inside(u->query, text);
    check_inside(u->fragment, text);
    for (size_t i = 0; i < u->host.n; i++)
        assert(u->host.p[i] != '/' && u->host.p[i] != ' ' && (unsigned char)u->host.p[i] > 0x1F);
    for (size_t i = 0; i < u->path.n; i++)
        assert((unsigned char)u->path.p[i] > 0x1F && u->path.p[i] != 0x7F);
    assert(!u->host.n || !u->path.n || u->path.p[0] == '/');
}

/* What a request URI is written as is one again, and is written the same. */
static void check_request(kc_str text)
{
    kc__go_url u = {0}, again = {0};
    kc_scoped(kc_buf) why = {0}, first = {0}, second = {0};
    if (!kc__go_url_parse(text, KC__GO_URL_REQUEST, &u, &why) ||
        !kc__go_url_parse(text, KC__GO_URL_REFERENCE, &u, &why))
        return;
    kc__go_url_write(&u, &first);
    bool parsed = kc__go_url_parse(kc_buf_str(&first), KC__GO_URL_REFERENCE, &again, &why);
    assert(parsed);
    kc__go_url_write(&again, &second);
    assert(kc_str_eq(kc_buf_str(&first), kc_buf_str(&second)));
}

static void count_wrong(kc_field_error_type type, kc_str shown, const char *detail, void *user)
{
    assert(*detail && (type == KC_FIELD_INVALID || type == KC_FIELD_REQUIRED));
    (void)shown;
    ++*(int *)user;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const kc_str text = kc_str_of((const char *)data, size);
    kc__go_url u = {0};
    kc_scoped(kc_buf) why = {0};
    int n_wrong = 0;
    const bool parsed = kc__go_url_parse(text, KC__GO_URL_REFERENCE, &u, &why);
    assert(parsed == (why.n == 0));
    if (parsed)
        check_parts(&u, text);
    check_request(text);
    kc__hook_url_check(text, count_wrong, &n_wrong);
    assert(parsed || n_wrong == 1);
    if (!n_wrong)
        assert(size > 8 && u.host.n && !u.has_user && !u.query.n && !u.fragment.n);
    return 0;
}
