/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.c: sending what a call has come to.
 *
 * An object that the client takes as it is costs nothing to write: its stored bytes are the body,
 * and the answer holds a reference until they are sent. Everything else (metadata only, tables,
 * YAML, indented text) is made of them here.
 */
#include "apiserver/kinds/conversion.h"
#include "apiserver/rest/call.h"
#include "apiserver/rest/render.h"
#include "kc/codec.h"
#include "object/status.h"

/* Of warnings: how many at most, how long one may be where all together are too long, and when that
 * is. The rest is left out. */
enum {
    MAX_WARNINGS = 100,
    LONG_WARNING = 256,
    ALL_WARNINGS = 4096,
    MAX_HEADERS = MAX_WARNINGS + 8
};

/* 299 - "text", quoted as in any header. */
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

/* Whether they must be cut to fit. */
static bool are_too_long(const kc__call *call)
{
    size_t all = 0;
    for (size_t i = 0; i < call->warnings.n; i++)
        all += call->warnings.items[i].n;
    return all > ALL_WARNINGS;
}

/* Ends where a character does. */
static kc_str shortened(kc_str text)
{
    size_t n = KC_MIN(text.n, (size_t)LONG_WARNING);
    while (n < text.n && n > 0 && ((unsigned char)text.p[n] & 0xC0) == 0x80)
        n--;
    return kc_str_sub(text, 0, n);
}

static size_t add_warnings(kc__call *call, kc__header *out)
{
    size_t n = 0, all = 0;
    bool cut = are_too_long(call);
    for (size_t i = 0; i < call->warnings.n && n < MAX_WARNINGS; i++) {
        kc_str text = call->warnings.items[i];
        if (cut)
            text = shortened(text);
        if ((all += text.n) > ALL_WARNINGS)
            break;
        out[n++] = (kc__header){KC_STR("Warning"), warning_text(call->arena, text)};
    }
    return n;
}

static size_t common_headers(kc__call *call, kc__header *out)
{
    size_t n = 0;
    out[n++] = (kc__header){KC_STR("Audit-Id"), call->audit_id};
    out[n++] = (kc__header){KC_STR("Cache-Control"), KC_STR("no-cache, private")};
    n += add_warnings(call, out + n);
    if (call->error.retry_after_seconds)
        out[n++] = (kc__header){
            KC_STR("Retry-After"),
            kc_cstr(kc_arena_printf(call->arena, "%d", call->error.retry_after_seconds))};
    return n;
}

/* Adds the headers every answer has to those of this one, and ends the call with it. */
kc__verdict kc__answer_bytes(kc__call *call, kc__answer *answer)
{
    kc__header headers[MAX_HEADERS];
    size_t n = common_headers(call, headers);
    for (size_t i = 0; i < answer->n_headers && n < MAX_HEADERS; i++) {
        bool replaces = kc_str_eq_nocase(answer->headers[i].name, KC_STR("Cache-Control"));
        headers[replaces ? 1 : n] = answer->headers[i];
        n += !replaces;
    }
    answer->headers = headers;
    answer->n_headers = n;
    call->status = answer->status;
    kc__exchange *x = call->x;
    kc__call_done(call);
    kc__exchange_answer(x, answer);
    return KC__DONE;
}

kc__verdict kc__answer_text(kc__call *call, int status, kc_str type, kc_str text)
{
    return kc__answer_bytes(
        call, &(kc__answer){.status = status, .type = type, .body = text, .gzip = true});
}

kc__verdict kc__answer_json(kc__call *call, int status, kc_str json)
{
    kc_scoped(kc_buf) out = {0};
    if (call->form.yaml || call->form.pretty)
        kc__render_for_people(&call->form, json, &out);
    return kc__answer_text(
        call, status, call->form.yaml ? KC_STR("application/yaml") : KC_STR("application/json"),
        out.n ? kc_buf_str(&out) : json);
}

static void release_object(void *object)
{
    kc_object_unref(object);
}

kc__verdict kc__answer_object(kc__call *call, int status, const kc_object *object)
{
    const kc__form *form = &call->form;
    if (form->as == KC__AS_OBJECT && !form->yaml && !form->pretty) {
        bool shown = call->as_shown && object == call->current;
        kc_object *held = shown ? NULL : kc__from_stored(call->spoken, object, NULL);
        held = held ? held : kc_object_ref(object);
        return kc__answer_bytes(call, &(kc__answer){.status = status,
                                                    .type = KC_STR("application/json"),
                                                    .body = kc_object_json(held),
                                                    .owner = held,
                                                    .release = release_object,
                                                    .gzip = true});
    }
    kc_scoped(kc_buf) json = {0};
    kc__renderer renderer = kc__renderer_of(call);
    kc__render_one(&renderer, &json, object);
    return kc__answer_json(call, status, kc_buf_str(&json));
}

kc__verdict kc__answer_error(kc__call *call)
{
    kc_scoped(kc_buf) json = {0};
    call->form = kc__negotiate_status(&call->x->request, &call->query);
    if (call->denial.n)
        return kc__answer_json(call, call->error.code, call->denial);
    kc__status_write(
        &json, &call->error,
        &(kc__status_opts){.details = call->bare_details, .continue_token = call->continue_token});
    return kc__answer_json(call, call->error.code, kc_buf_str(&json));
}

kc__verdict kc__answer_deleted(kc__call *call, int status, const kc_object *object)
{
    kc_scoped(kc_buf) json = {0};
    kc__status_write_success(&json, kc_cstr(call->resource->group), kc_cstr(call->resource->plural),
                             kc_object_name(object), kc_object_uid(object));
    return kc__answer_json(call, status, kc_buf_str(&json));
}

kc__verdict kc__answer_success(kc__call *call, int status)
{
    const char *json = kc_arena_printf(call->arena,
                                       "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{}"
                                       ",\"status\":\"Success\",\"code\":%d}",
                                       status);
    return kc__answer_json(call, status, kc_cstr(json));
}

/* As Go's own web server says it, so that a browser takes it for text and nothing else. */
kc__verdict kc__answer_no_page(kc__call *call)
{
    return kc__answer_bytes(
        call,
        &(kc__answer){.status = 404,
                      .type = KC_STR("text/plain; charset=utf-8"),
                      .headers = &(kc__header){KC_STR("X-Content-Type-Options"), KC_STR("nosniff")},
                      .n_headers = 1,
                      .body = KC_STR("404 page not found\n")});
}

kc_str kc__call_now(kc__call *call, char out[KC_TIME_TEXT])
{
    return kc_time_print(kc_clock_wall(call->api->clock), out);
}
