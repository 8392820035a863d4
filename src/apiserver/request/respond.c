/* SPDX-License-Identifier: Apache-2.0 */
/*
 * respond.c: the phase `answered`, and the responses of verbs and endpoints.
 *
 * An object in the stored form needs no encoding: the stored bytes are the body, and the response
 * holds a reference until they are sent. Every other form (metadata only, tables, YAML, indented
 * text) is rendered from them.
 */
#include "apiserver/audit/audit.h"
#include "apiserver/call/call_conversion.h"
#include "apiserver/kinds/conversion.h"
#include "apiserver/request/outgoing.h"
#include "apiserver/request/phases.h"
#include "apiserver/request/render.h"
#include "apiserver/request/request_log.h"
#include "apiserver/request/unservable.h"
#include "kc/codec.h"
#include "object/model/status.h"

/* Limits of warnings: their number, the length of one if all together are too long, and the total
 * length above which they are truncated. Warnings beyond the limits are dropped. */
enum {
    MAX_WARNINGS = 100,
    LONG_WARNING = 256,
    ALL_WARNINGS = 4096,
    MAX_HEADERS = MAX_WARNINGS + 8
};

/* 299 - "text", as a quoted string. */
static kc_str warning_text(kc_arena *arena, kc_str text)
{
    kc_scoped(kc_buf) out = {0};
    kc_buf_puts(&out, "299 - \"");
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"' || text.p[i] == '\\')
            kc_buf_putc(&out, '\\');
        kc_buf_putc(&out, (unsigned char)text.p[i] < 0x20 ? ' ' : text.p[i]);
    }
    kc_buf_putc(&out, '"');
    return kc_arena_str(arena, kc_buf_str(&out));
}

/* Whether the warnings must be truncated. */
static bool are_too_long(const kc__rest_call *call)
{
    size_t all = 0;
    for (size_t i = 0; i < call->warnings.n; i++)
        all += call->warnings.items[i].n;
    return all > ALL_WARNINGS;
}

/* Truncates at a character boundary. */
static kc_str shortened(kc_str text)
{
    size_t n = KC_MIN(text.n, (size_t)LONG_WARNING);
    while (n < text.n && n > 0 && ((unsigned char)text.p[n] & 0xC0) == 0x80)
        n--;
    return kc_str_sub(text, 0, n);
}

static size_t add_warnings(kc__rest_call *call, kc__http_header *out)
{
    size_t n = 0, all = 0;
    bool cut = are_too_long(call);
    for (size_t i = 0; i < call->warnings.n && n < MAX_WARNINGS; i++) {
        kc_str text = call->warnings.items[i];
        if (cut)
            text = shortened(text);
        if ((all += text.n) > ALL_WARNINGS)
            break;
        out[n++] = (kc__http_header){KC_STR("Warning"), warning_text(call->arena, text)};
    }
    return n;
}

static size_t common_headers(kc__rest_call *call, kc__http_header *out)
{
    size_t n = 0;
    out[n++] = (kc__http_header){KC_STR("Audit-Id"), call->audit_id};
    out[n++] = (kc__http_header){KC_STR("Cache-Control"), KC_STR("no-cache, private")};
    n += add_warnings(call, out + n);
    if (call->error.retry_after_seconds)
        out[n++] = (kc__http_header){
            KC_STR("Retry-After"),
            kc_cstr(kc_arena_printf(call->arena, "%d", call->error.retry_after_seconds))};
    if (call->forbidden)
        out[n++] = (kc__http_header){KC_STR("X-Content-Type-Options"), KC_STR("nosniff")};
    return n;
}

/* Adds the headers that every response has, and ends the call. */
kc__rest_verdict kc__rest_respond_bytes(kc__rest_call *call, kc__http_response *response)
{
    if (kc__rest_call_keep_response(call, response))
        return KC__REST_DONE;
    kc__http_header headers[MAX_HEADERS];
    size_t n = common_headers(call, headers);
    for (size_t i = 0; i < response->n_headers && n < MAX_HEADERS; i++) {
        bool replaces = kc_str_eq_nocase(response->headers[i].name, KC_STR("Cache-Control"));
        headers[replaces ? 1 : n] = response->headers[i];
        n += !replaces;
    }
    response->headers = headers;
    response->n_headers = n;
    call->status = response->status;
    kc__audit_response(call, response);
    kc__rest_log_request(call, response);
    kc__exchange *x = call->x;
    kc__rest_call_done(call);
    kc__exchange_respond(x, response);
    return KC__REST_DONE;
}

kc__rest_verdict kc__rest_respond_text(kc__rest_call *call, int status, kc_str type, kc_str text)
{
    return kc__rest_respond_bytes(
        call, &(kc__http_response){.status = status, .type = type, .body = text, .gzip = true});
}

kc__rest_verdict kc__rest_respond_json(kc__rest_call *call, int status, kc_str json)
{
    kc_scoped(kc_buf) out = {0};
    if (call->form.yaml || call->form.pretty)
        kc__rest_render_readable(&call->form, json, &out);
    if (out.n)
        return kc__rest_respond_owned_text(call, status, kc__rest_format_type(&call->form), &out);
    return kc__rest_respond_text(call, status, kc__rest_format_type(&call->form), json);
}

/* The deletion is committed: a DELETE that only marked the object reports success. Other requests
 * fail. */
static kc__rest_verdict answer_unservable(kc__rest_call *call, int status, const kc_object *object)
{
    if (call->verb != &kc__rest_verb_delete)
        return kc__rest_respond_error(call);
    kc_error_done(&call->error);
    return kc__rest_respond_deleted(call, status, object);
}

kc__rest_verdict kc__rest_respond_object(kc__rest_call *call, int status, const kc_object *object)
{
    const kc__rest_format *form = &call->form;
    if (form->as == KC__REST_AS_OBJECT && !form->yaml && !form->pretty) {
        bool shown = call->as_shown && object == call->current;
        kc_object *held =
            shown ? kc_object_ref(object)
                  : kc__rest_show_stored(call->api, call->request_resource, object, &call->error);
        if (!held)
            return answer_unservable(call, status, object);
        return kc__rest_respond_owned_object(call, status, held);
    }
    kc_scoped(kc_buf) json = {0};
    kc__rest_renderer renderer = kc__rest_renderer_of(call);
    if (kc__rest_render_one(&renderer, &json, object, &call->error) < 0)
        return answer_unservable(call, status, object);
    if (!form->yaml && !form->pretty)
        return kc__rest_respond_owned_text(call, status, kc__rest_format_type(form), &json);
    return kc__rest_respond_json(call, status, kc_buf_str(&json));
}

kc__rest_verdict kc__rest_respond_error(kc__rest_call *call)
{
    kc_scoped(kc_buf) json = {0};
    call->form = kc__rest_negotiate_status(&call->x->request, &call->query);
    if (call->denial.n)
        return kc__rest_respond_json(call, call->error.code, call->denial);
    kc__status_write(
        &json, &call->error,
        &(kc__status_opts){.details = call->bare_details, .continue_token = call->continue_token});
    return kc__rest_respond_json(call, call->error.code, kc_buf_str(&json));
}

kc__rest_verdict kc__rest_respond_deleted(kc__rest_call *call, int status, const kc_object *object)
{
    kc_scoped(kc_buf) json = {0};
    kc__status_write_success(&json, kc_cstr(call->resource->group), kc_cstr(call->resource->plural),
                             kc_object_name(object), kc_object_uid(object));
    return kc__rest_respond_json(call, status, kc_buf_str(&json));
}

kc__rest_verdict kc__rest_respond_success(kc__rest_call *call, int status)
{
    const char *json = kc_arena_printf(call->arena,
                                       "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{}"
                                       ",\"status\":\"Success\",\"code\":%d}",
                                       status);
    return kc__rest_respond_json(call, status, kc_cstr(json));
}

/* The headers of Go's HTTP server, so that a browser treats the body as plain text. */
kc__rest_verdict kc__rest_respond_page_not_found(kc__rest_call *call)
{
    return kc__rest_respond_bytes(
        call, &(kc__http_response){.status = 404,
                                   .type = KC_STR("text/plain; charset=utf-8"),
                                   .headers = &(kc__http_header){KC_STR("X-Content-Type-Options"),
                                                                 KC_STR("nosniff")},
                                   .n_headers = 1,
                                   .body = KC_STR("404 page not found\n")});
}

/* Waits until a conversion webhook has converted the object that a write has stored. Metadata
 * needs no conversion, nor does the Status of a removed object. */
static kc__rest_verdict await_written(kc__rest_call *call)
{
    const bool shown = call->verb->mutates && call->current && !call->removes && !call->as_shown &&
                       call->form.as != KC__REST_AS_PARTIAL;
    return shown ? kc__rest_convert_stored(call, call->resource, call->current) : KC__REST_NEXT;
}

kc__rest_verdict kc__rest_phase_answered(kc__rest_call *call)
{
    if (call->endpoint)
        return call->endpoint->respond(call);
    kc__rest_verdict verdict = await_written(call);
    if (verdict == KC__REST_FAIL && call->verb == &kc__rest_verb_delete) {
        kc__rest_conversion_forgive(call);
        return kc__rest_respond_deleted(call, 200, call->current);
    }
    return verdict == KC__REST_NEXT ? call->verb->respond(call) : verdict;
}
