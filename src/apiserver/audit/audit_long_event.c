/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_long_event.c: see audit_long_event.h.
 *
 * The server sends compact JSON unless a client asks for YAML or indented text, so the usual body
 * is inserted as it is. Every other body is parsed and written again.
 */
#include "apiserver/audit/audit_long_event.h"

#include "apiserver/audit/audit_internal.h"

kc__audit_long_event *kc__audit_long_event_new(_Atomic size_t *total, bool omit_managed_fields)
{
    kc__audit_long_event *event = kc_new(kc__audit_long_event);
    kc_ref_init(&event->refs);
    event->total = total;
    event->omit_managed_fields = omit_managed_fields;
    return event;
}

kc__audit_long_event *kc__audit_long_event_ref(kc__audit_long_event *event)
{
    kc_ref_add(&event->refs);
    return event;
}

static void drop_captured_body(kc__audit_long_event *event)
{
    atomic_fetch_sub(event->total, event->body.n);
    kc_buf_done(&event->body);
}

kc__audit_long_event *kc__audit_long_event_unref(kc__audit_long_event *event)
{
    if (!event || !kc_ref_drop(&event->refs))
        return NULL;
    drop_captured_body(event);
    kc_buf_done(&event->json);
    kc_buf_done(&event->short_json);
    free(event);
    return NULL;
}

bool kc__audit_long_event_append(kc__audit_long_event *event, kc_str bytes)
{
    const size_t before = atomic_fetch_add(event->total, bytes.n);
    if (event->body.n + bytes.n <= KC__AUDIT_MAX_BODY && before + bytes.n <= KC__AUDIT_MAX_BODIES) {
        kc_buf_append(&event->body, bytes);
        return true;
    }
    atomic_fetch_sub(event->total, bytes.n);
    drop_captured_body(event);
    return false;
}

size_t kc__audit_long_event_size(const kc__audit_long_event *event)
{
    return event->json.n + event->short_json.n + event->body.n;
}

/* Whether the body can be inserted without parsing it. */
static bool is_compact(const kc__audit_long_event *event)
{
    return !event->omit_managed_fields && kc_str_starts(kc_buf_str(&event->body), KC_STR("{\""));
}

static void write_captured_body(const kc__audit_long_event *event, kc_buf *out)
{
    kc_buf_puts(out, ",\"responseObject\":");
    if (is_compact(event))
        kc_buf_append(out, kc_str_trim(kc_buf_str(&event->body)));
    else if (!kc__audit_write_object(out, kc_buf_str(&event->body), event->omit_managed_fields))
        out->n -= strlen(",\"responseObject\":");
}

bool kc__audit_long_event_write(const kc__audit_long_event *event, size_t most, kc_buf *out)
{
    const size_t before = out->n;
    const kc_str json = kc_buf_str(&event->json);
    kc_buf_reserve(out, kc__audit_long_event_size(event));
    kc_buf_append(out, kc_str_sub(json, 0, event->object_at));
    write_captured_body(event, out);
    kc_buf_append(out, kc_str_sub(json, event->object_at, json.n));
    if (!most || out->n - before <= most)
        return true;
    out->n = before;
    if (event->short_json.n > most)
        return false;
    kc_buf_append(out, kc_buf_str(&event->short_json));
    return true;
}
