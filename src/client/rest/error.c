/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.c: converts error responses to kc_error.
 *
 * An API server responds with a Status: reason, message, details with causes. A proxy or an
 * overloaded server responds with a page of its own or an empty body: then the HTTP status decides,
 * and the readable text of the page is added. Both may carry Retry-After.
 */
#include "client/rest/client_internal.h"
#include "http/message/header.h"
#include "kc/utf8.h"
#include "kc/view.h"

/* Limit of the quoted part of a page. */
enum { MAX_QUOTE = 300, MAX_CAUSES = 1000 };

/* Meaning of an HTTP status without a Status; same wording as client-go. */
static const struct client_error_meaning {
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

static struct client_error_meaning meaning_of(int code, const char *method)
{
    for (size_t i = 0; i < KC_COUNT(meanings); i++)
        if (meanings[i].code == code) {
            struct client_error_meaning m = meanings[i];
            if (code == 409 && method && !strcmp(method, "POST"))
                m.reason = KC_ALREADY_EXISTS;
            return m;
        }
    return (struct client_error_meaning){code, code >= 500 ? KC_INTERNAL : KC_UNKNOWN,
                                         "the server responded with a status we do not know"};
}

/* ---- a Status ---- */

static void client_error_copy(char **to, const kc_value *value)
{
    if (kc_value_as_str(value).n) {
        free(*to);
        *to = kc_str_dup(kc_value_as_str(value));
    }
}

static void copy_details(kc_error *err, const kc_value *details)
{
    size_t n = 0;
    client_error_copy(&err->group, kc_value_get(details, "group"));
    client_error_copy(&err->kind, kc_value_get(details, "kind"));
    client_error_copy(&err->name, kc_value_get(details, "name"));
    client_error_copy(&err->uid, kc_value_get(details, "uid"));
    const int64_t seconds = kc_value_as_i64_or(kc_value_get(details, "retryAfterSeconds"), 0);
    err->retry_after_seconds = (int)KC_MAX(0, KC_MIN(seconds, INT32_MAX));
    kc_value_each_item (kc_value_get(details, "causes"), cause)
        if (n++ < MAX_CAUSES)
            kc_error_add_cause(err, kc_value_as_cstr(kc_value_get(cause, "reason"), ""),
                               kc_value_as_str(kc_value_get(cause, "field")),
                               kc_value_as_str(kc_value_get(cause, "message")));
}

static int from_status(const kc_value *status, int code, const char *method, kc_error *err)
{
    const int body_code = (int)kc_value_as_i64_or(kc_value_get(status, "code"), 0);
    code = body_code >= 400 && body_code < 600 ? body_code : code;
    const struct client_error_meaning m = meaning_of(code, method);
    const kc_str reason = kc_value_as_str(kc_value_get(status, "reason"));
    const kc_str message = kc_value_as_str(kc_value_get(status, "message"));
    kc_reason known = reason.n ? kc_reason_from(reason) : KC_UNKNOWN;
    if (known == KC_UNKNOWN)
        known = m.reason;
    const int r = kc_error_set(err, known, "%.*s", KC_ARG(message.n ? message : kc_cstr(m.text)));
    if (!err)
        return r;
    err->code = code;
    copy_details(err, kc_value_get(status, "details"));
    return r;
}

int kc__client_error_from_status(const kc_object *status, int code, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_of(status);
    return from_status(kc_view_root(view), code, NULL, err);
}

int kc__client_bad_response(kc_error *err, const char *what)
{
    if (err && err->reason == KC_BAD_REQUEST) {
        err->reason = KC_INTERNAL;
        err->code = kc_reason_code(KC_INTERNAL);
    }
    return kc_error_wrap(err, "%s", what);
}

/* ---- other bodies ---- */

/* Appends the readable text of the page as one line. */
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
    const struct client_error_meaning m = meaning_of(code, method);
    kc_scoped(kc_buf) quoted = {0};
    quote_page(&quoted, page);
    const int r =
        quoted.n ? kc_error_set(err, m.reason, "%s (%d): %s", m.text, code, kc_buf_cstr(&quoted))
                 : kc_error_set(err, m.reason, "%s (%d)", m.text, code);
    if (err)
        err->code = code;
    return r;
}

int kc__client_error_of_body(const char *method, int status, kc_str body, kc_str retry_after,
                             kc_error *err)
{
    int seconds;
    kc_auto(kc_view) *view = kc_view_parse(body, NULL, NULL);
    const kc_value *root = view ? kc_view_root(view) : NULL;
    const int r = kc_str_is(kc_value_as_str(kc_value_get(root, "kind")), "Status")
                      ? from_status(root, status, method, err)
                      : from_page(status, method, body, err);
    if (err && kc__http_retry_after(retry_after, &seconds))
        err->retry_after_seconds = seconds;
    return r;
}

int kc__client_error_from_response(const char *method, kc_http_response *response, kc_error *err)
{
    kc_scoped(kc_buf) body = {.limit = KC__MAX_ERROR_BODY};
    kc__client_read_body(response, &body, NULL); /* A partial body is better than none. */
    return kc__client_error_of_body(method, response->status, kc_buf_str(&body),
                                    kc_http_response_field(response, KC_STR("retry-after")), err);
}
