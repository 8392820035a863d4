/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_error.c: what a server says of a failure, as an error.
 *
 * A server answers with a Status: reason, message, details with causes. A proxy, or a server that
 * cannot go on, answers with a page of its own, or nothing: then the HTTP status decides, and what
 * can be read of the page is added. Both carry Retry-After.
 */
#include "client/client_internal.h"
#include "http/header.h"
#include "kc/utf8.h"
#include "kc/view.h"

/* Of a body that tells an error. */
#define MAX_BODY ((size_t)1 << 20)
/* Of a page that is quoted. */
enum { MAX_QUOTE = 300, MAX_CAUSES = 1000 };

/* What a status means where nobody says more; in the words of client-go. */
static const struct meaning {
    int code;
    kc_reason reason;
    const char *text;
} meanings[] = {
    {400, KC_BAD_REQUEST, "the server rejected our request for an unknown reason"},
    {401, KC_UNAUTHORIZED, "the server has asked for the client to provide credentials"},
    {403, KC_FORBIDDEN, "forbidden"},
    {404, KC_NOT_FOUND, "the server could not find the requested resource"},
    {405, KC_METHOD_NOT_ALLOWED, "the server does not allow this method on the requested resource"},
    {406, KC_NOT_ACCEPTABLE,
     "the server was unable to respond with a content type that the client supports"},
    {409, KC_CONFLICT, "the server reported a conflict"},
    {410, KC_GONE, "the requested resource is gone"},
    {413, KC_TOO_LARGE, "the request is too large"},
    {415, KC_UNSUPPORTED_MEDIA_TYPE, "the body of the request was in an unknown format"},
    {422, KC_INVALID, "the server rejected our request due to an error in our request"},
    {429, KC_TOO_MANY_REQUESTS,
     "the server has received too many requests and has asked us to try again later"},
    {500, KC_INTERNAL, "an error on the server has prevented the request from succeeding"},
    {503, KC_SERVICE_UNAVAILABLE, "the server is currently unable to handle the request"},
    {504, KC_TIMEOUT,
     "the server was unable to return a response in the time allotted, but may still be processing the request"},
};

static struct meaning meaning_of(int code, const char *method)
{
    for (size_t i = 0; i < KC_COUNT(meanings); i++)
        if (meanings[i].code == code) {
            struct meaning m = meanings[i];
            if (code == 409 && method && !strcmp(method, "POST"))
                m.reason = KC_ALREADY_EXISTS;
            return m;
        }
    return (struct meaning){code, code >= 500 ? KC_INTERNAL : KC_UNKNOWN,
                            "the server responded with a status we do not know"};
}

/* ---- a Status ---- */

static void copy(char **to, const kc_value *value)
{
    if (kc_as_str(value).n) {
        free(*to);
        *to = kc_str_dup(kc_as_str(value));
    }
}

static void copy_details(kc_error *err, const kc_value *details)
{
    size_t n = 0;
    copy(&err->group, kc_get(details, "group"));
    copy(&err->kind, kc_get(details, "kind"));
    copy(&err->name, kc_get(details, "name"));
    copy(&err->uid, kc_get(details, "uid"));
    const int64_t seconds = kc_as_i64_or(kc_get(details, "retryAfterSeconds"), 0);
    err->retry_after_seconds = (int)KC_MAX(0, KC_MIN(seconds, INT32_MAX));
    kc_items (kc_get(details, "causes"), cause)
        if (n++ < MAX_CAUSES)
            kc_error_add_cause(err, kc_as_cstr(kc_get(cause, "reason"), ""),
                               kc_as_str(kc_get(cause, "field")),
                               kc_as_str(kc_get(cause, "message")));
}

static int from_status(const kc_value *status, int code, const char *method, kc_error *err)
{
    const int said = (int)kc_as_i64_or(kc_get(status, "code"), 0);
    code = said >= 400 && said < 600 ? said : code;
    const struct meaning m = meaning_of(code, method);
    const kc_str reason = kc_as_str(kc_get(status, "reason"));
    const kc_str message = kc_as_str(kc_get(status, "message"));
    kc_reason known = reason.n ? kc_reason_from(reason) : KC_UNKNOWN;
    if (known == KC_UNKNOWN)
        known = m.reason;
    const int r = kc_error_set(err, known, "%.*s", KC_ARG(message.n ? message : kc_cstr(m.text)));
    if (!err)
        return r;
    err->code = code;
    copy_details(err, kc_get(status, "details"));
    return r;
}

int kc__error_of_status(const kc_object *status, int code, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_of(status);
    return from_status(kc_view_root(view), code, NULL, err);
}

int kc__bad_answer(kc_error *err, const char *what)
{
    if (err && err->reason == KC_BAD_REQUEST) {
        err->reason = KC_INTERNAL;
        err->code = kc_reason_code(KC_INTERNAL);
    }
    return kc_error_wrap(err, "%s", what);
}

/* ---- anything else ---- */

/* One line of what can be read. */
static void quote_page(kc_buf *out, kc_str page)
{
    kc_str text = kc_str_trim(page);
    const bool cut = text.n > MAX_QUOTE;
    text.n = KC_MIN(text.n, (size_t)MAX_QUOTE);
    for (size_t i = 0; i < text.n; i++) {
        const char c = text.p[i];
        kc_buf_putc(out, c >= ' ' && c <= '~' ? c : ' ');
    }
    kc_buf_puts(out, cut ? "…" : "");
}

static int from_page(int code, const char *method, kc_str page, kc_error *err)
{
    const struct meaning m = meaning_of(code, method);
    kc_scoped(kc_buf) quoted = {0};
    quote_page(&quoted, page);
    const int r =
        quoted.n ? kc_error_set(err, m.reason, "%s (%d): %s", m.text, code, kc_buf_cstr(&quoted))
                 : kc_error_set(err, m.reason, "%s (%d)", m.text, code);
    if (err)
        err->code = code;
    return r;
}

int kc__error_of_answer(const char *method, kc_http_response *response, kc_error *err)
{
    kc_scoped(kc_buf) body = {.limit = MAX_BODY};
    int seconds;
    const int status = response->status;
    kc__read_all(response, &body, NULL); /* What came of it is better than nothing. */
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&body), NULL, NULL);
    const kc_value *root = view ? kc_view_root(view) : NULL;
    const int r = kc_str_is(kc_as_str(kc_get(root, "kind")), "Status")
                      ? from_status(root, status, method, err)
                      : from_page(status, method, kc_buf_str(&body), err);
    if (err && kc__retry_after(kc_http_field_of(response, KC_STR("retry-after")), &seconds))
        err->retry_after_seconds = seconds;
    return r;
}
