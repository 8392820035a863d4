/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_request.c: sets the curl options of a request. Caller-supplied text that becomes part of the
 * request (target, names, values) is checked here: no byte of it can end a line or be
 * misinterpreted by curl's URL parser.
 *
 * Header lines are curl_slist nodes in the transfer's arena; the last of them points to the lines
 * that all requests share.
 */
#include "client/transport/transport_http_internal.h"

#include "kc/ascii.h"

#define SET(x, option, value) curl_easy_setopt((x)->handle->easy, CURLOPT_##option, value)

bool kc__client_transport_request_is_slow(const kc_http_request *request)
{
    const ptrdiff_t query = kc_str_find(request->target, '?');
    const kc_str text =
        query < 0 ? (kc_str){0} : kc_str_sub(request->target, (size_t)query, request->target.n);
    return kc_str_contains(text, KC_STR("watch=")) || kc_str_contains(text, KC_STR("limit=")) ||
           kc_str_contains(text, KC_STR("follow="));
}

/* ---- checks ---- */

static int transport_request_check_target(kc_str target, kc_error *err)
{
    if (!target.n || target.p[0] != '/')
        return kc_error_set(err, KC_BAD_REQUEST, "a request target must begin with '/': \"%.*s\"",
                            KC_ARG(target));
    if (target.n > KC__CLIENT_TRANSPORT_MAX_TARGET)
        return kc_error_set(err, KC_TOO_LARGE, "a request target of %zu bytes is too long",
                            target.n);
    for (size_t i = 0; i < target.n; i++)
        if (target.p[i] <= ' ' || target.p[i] > '~' || target.p[i] == '#')
            return kc_error_set(err, KC_BAD_REQUEST,
                                "byte %zu of the request target is not escaped", i);
    return 0;
}

static bool is_token(kc_str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!kc_is_alnum(name.p[i]) && !strchr("!#$%&'*+-.^_`|~", name.p[i]))
            return false;
    return name.n > 0;
}

static bool is_value(kc_str value)
{
    for (size_t i = 0; i < value.n; i++)
        if (value.p[i] == '\r' || value.p[i] == '\n' || value.p[i] == '\0')
            return false;
    return true;
}

static int check_fields(const kc_http_request *request, kc_error *err)
{
    for (size_t i = 0; i < request->n_fields; i++) {
        const kc_http_field *field = &request->fields[i];
        if (!is_token(field->name) || !is_value(field->value))
            return kc_error_set(err, KC_BAD_REQUEST, "invalid header field \"%.*s\"",
                                KC_ARG(field->name));
    }
    return 0;
}

static bool has_field(const kc_http_request *request, const char *name)
{
    for (size_t i = 0; i < request->n_fields; i++)
        if (kc_str_eq_nocase(request->fields[i].name, kc_cstr(name)))
            return true;
    return false;
}

/* ---- header lines ---- */

struct curl_slist *kc__client_transport_header_line(kc_arena *arena, kc_str name, kc_str value,
                                                    struct curl_slist *next)
{
    struct curl_slist *node = kc_arena_new(arena, struct curl_slist);
    /* curl sends an empty value for "Name;"; "Name:" would remove the field. */
    node->data = value.n ? kc_arena_printf(arena, "%.*s: %.*s", KC_ARG(name), KC_ARG(value))
                         : kc_arena_printf(arena, "%.*s;", KC_ARG(name));
    node->next = next;
    return node;
}

static struct curl_slist *without_line(kc_arena *arena, const char *name, struct curl_slist *next)
{
    struct curl_slist *node = kc_arena_new(arena, struct curl_slist);
    node->data = kc_arena_printf(arena, "%s:", name);
    node->next = next;
    return node;
}

/* Asks the server to impersonate the user of the request. */
static struct curl_slist *lines_of_user(kc_arena *arena, const kc_client_user *user,
                                        struct curl_slist *next)
{
    for (size_t i = 0; user->groups && user->groups[i]; i++)
        next = kc__client_transport_header_line(arena, KC_STR("Impersonate-Group"),
                                                kc_cstr(user->groups[i]), next);
    return kc__client_transport_header_line(arena, KC_STR("Impersonate-User"), kc_cstr(user->name),
                                            next);
}

static struct curl_slist *lines_of(kc__client_transport_transfer *x, const kc_http_request *request)
{
    const bool acts = request->as || has_field(request, "impersonate-user");
    struct curl_slist *lines = acts ? x->http->fixed : x->http->impersonate;
    if (request->as)
        lines = lines_of_user(&x->arena, request->as, lines);
    const char *authorization = x->credential->authorization;
    if (authorization && !has_field(request, "authorization"))
        lines = kc__client_transport_header_line(&x->arena, KC_STR("Authorization"),
                                                 kc_cstr(authorization), lines);
    if (request->body.n && !has_field(request, "content-type"))
        lines = without_line(&x->arena, "Content-Type", lines);
    for (size_t i = request->n_fields; i--;)
        lines = kc__client_transport_header_line(&x->arena, request->fields[i].name,
                                                 request->fields[i].value, lines);
    return lines;
}

/* ---- method and body ---- */

static bool transport_request_equals(const char *method, const char *other)
{
    return !strcmp(method, other);
}

/* The body is copied, so that a caller that gives up does not have to wait for the loop's
 * thread. */
static void set_body(kc__client_transport_transfer *x, kc_str body)
{
    const kc_str copy = body.n ? kc_arena_str(&x->arena, body) : KC_STR("");
    SET(x, POST, 1L);
    SET(x, POSTFIELDSIZE_LARGE, (curl_off_t)copy.n);
    SET(x, POSTFIELDS, copy.p);
}

static void set_method(kc__client_transport_transfer *x, const kc_http_request *request)
{
    const char *method = request->method;
    const bool reads = transport_request_equals(method, "GET") ||
                       transport_request_equals(method, "HEAD") ||
                       transport_request_equals(method, "OPTIONS");
    x->replayable = reads;
    SET(x, HTTPGET, 1L);
    SET(x, CUSTOMREQUEST, NULL);
    if (transport_request_equals(method, "HEAD")) {
        SET(x, NOBODY, 1L);
        return;
    }
    if (request->body.n || transport_request_equals(method, "POST") ||
        transport_request_equals(method, "PUT") || transport_request_equals(method, "PATCH"))
        set_body(x, request->body);
    if (!transport_request_equals(method, "GET") || request->body.n)
        SET(x, CUSTOMREQUEST, x->method);
}

int kc__client_transport_transfer_prepare(kc__client_transport_transfer *x,
                                          const kc_http_request *request, kc_error *err)
{
    if (transport_request_check_target(request->target, err) < 0 || check_fields(request, err) < 0)
        return kc_error_result(err);
    if (!is_token(kc_cstr(request->method)))
        return kc_error_set(err, KC_BAD_REQUEST, "invalid method \"%s\"", request->method);
    const char *url = kc_arena_printf(&x->arena, "%s%.*s", x->http->base, KC_ARG(request->target));
    x->requested_gzip =
        !x->http->loopback && !x->http->config->no_gzip && !has_field(request, "accept-encoding");
    SET(x, URL, url);
    SET(x, ACCEPT_ENCODING, x->requested_gzip ? "gzip" : NULL);
    SET(x, HTTPHEADER, lines_of(x, request));
    SET(x, HEADERDATA, x);
    SET(x, WRITEDATA, x);
    SET(x, PREREQDATA, x);
    set_method(x, request);
    return 0;
}
