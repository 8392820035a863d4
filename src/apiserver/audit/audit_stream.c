/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_stream.c: the stage ResponseComplete of streamed responses: watches, long lists, large
 * objects, logs.
 *
 * The call ends when the response begins, so the event is written then, into a record of its own.
 * When the stream has ended, its timestamp is set.
 *
 * At the level RequestResponse the record also captures the body of a list or an object, as the
 * client reads it. A client that disconnects, and a body above the limits (audit_long_event.h),
 * leave an event without objects and with the annotation audit.k8s.io/truncated.
 */
#include "apiserver/audit/audit_internal.h"

typedef struct audit_stream {
    kc__rest_response_end end;
    kc__audit *audit;
    const kc_clock *clock;
    kc__audit_texts texts;
    kc__audit_long_event *captured; /* NULL: the body is not recorded. */
    bool overflown;                 /* `captured` has no body: it was too long. */
} audit_stream;

static void set_stage_time(kc_buf *json, size_t at, int64_t time)
{
    if (json->n)
        kc__audit_write_time(json->p + at, time);
}

/* Moves the texts into the event with the body, which the sinks complete. */
static void push_captured(audit_stream *s)
{
    kc__audit_long_event *event = s->captured;
    event->json = s->texts.json;
    event->object_at = s->texts.places.object;
    event->short_json = s->texts.short_json;
    s->texts.json = s->texts.short_json = (kc_buf){0};
    kc__audit_push_long(s->audit, event, &s->texts);
}

static void push_without_body(audit_stream *s)
{
    if (s->captured) {
        kc_buf_done(&s->texts.json);
        s->texts.json = s->texts.short_json;
        s->texts.short_json = (kc_buf){0};
    }
    kc__audit_push(s->audit, &s->texts, NULL);
}

static void audit_stream_ended(kc__rest_response_end *end)
{
    audit_stream *s = kc_container_of(end, audit_stream, end);
    const int64_t now = kc_clock_wall(s->clock);
    set_stage_time(&s->texts.json, s->texts.places.time, now);
    set_stage_time(&s->texts.short_json, s->texts.short_places.time, now);
    if (s->captured && end->whole && !s->overflown)
        push_captured(s);
    else
        push_without_body(s);
    kc__audit_long_event_unref(s->captured);
    kc__audit_texts_done(&s->texts);
    free(s);
}

static void capture_bytes(kc__rest_response_end *end, kc_str bytes)
{
    audit_stream *s = kc_container_of(end, audit_stream, end);
    if (s->overflown || kc__audit_long_event_append(s->captured, bytes))
        return;
    s->overflown = true;
    kc_counter_inc(kc_metric_counter(s->audit->errors, KC_STR("truncate")));
}

void kc__audit_finish_stream(kc__rest_call *call, kc__http_response *response,
                             const kc__audit_stage_of *stage, bool capture)
{
    const kc__audit_event *event = call->audit_event;
    audit_stream *s = kc_new(audit_stream);
    s->audit = event->audit;
    s->clock = call->api->clock;
    kc__audit_write_texts(s->audit, call, stage, capture, &s->texts);
    bool attached;
    if (capture) {
        s->captured = kc__audit_long_event_new(&s->audit->captured_bytes,
                                               event->decision.omit_managed_fields);
        attached =
            kc__rest_response_end_attach_copy(&s->end, response, audit_stream_ended, capture_bytes);
    } else {
        attached = kc__rest_response_end_attach(&s->end, response, audit_stream_ended);
    }
    if (!attached)
        audit_stream_ended(&s->end);
}
