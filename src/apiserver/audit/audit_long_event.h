/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_long_event.h: an event whose response body is long: a list, a large object.
 *
 *     loop      the bytes that the client reads ── copies ──▶ body
 *     sinks     json[0, object_at) + "responseObject" + body + rest of json ──▶ output
 *
 * The loop only copies bytes. The thread of each sink completes the event: it parses the body where
 * that is necessary (YAML, indented text, managedFields to omit) and decides about truncation.
 * Immutable once it was pushed to a sink; counted.
 */
#ifndef KC_APISERVER_AUDIT_LONG_EVENT_H
#define KC_APISERVER_AUDIT_LONG_EVENT_H

#include "kc/buf.h"
#include "kc/ref.h"

#include <stddef.h>

/* Bytes of one body, and of all bodies that are being captured or wait in sinks. Beyond either, the
 * event is recorded without bodies. */
#define KC__AUDIT_MAX_BODY   ((size_t)16 << 20)
#define KC__AUDIT_MAX_BODIES ((size_t)64 << 20)

typedef struct kc__audit_long_event {
    kc_ref refs;
    kc_buf json;       /* The event without responseObject, with its newline. */
    size_t object_at;  /* Where responseObject belongs in it. */
    kc_buf short_json; /* The event without objects, marked as truncated. */
    kc_buf body;       /* responseObject as it was sent. */
    bool omit_managed_fields;
    _Atomic size_t *total; /* Bytes of all bodies. */
} kc__audit_long_event;

/* `total` is borrowed and must outlive the event. */
kc__audit_long_event *kc__audit_long_event_new(_Atomic size_t *total, bool omit_managed_fields);
kc__audit_long_event *kc__audit_long_event_ref(kc__audit_long_event *event);
/* NULL is allowed; returns NULL. */
kc__audit_long_event *kc__audit_long_event_unref(kc__audit_long_event *event);

/* Appends bytes to the body. False, and the body is dropped: it is too long. Before the event is
 * pushed. */
bool kc__audit_long_event_append(kc__audit_long_event *event, kc_str bytes);

/* The bytes that the event takes in a sink. */
size_t kc__audit_long_event_size(const kc__audit_long_event *event);

/* Appends the complete event, a line; without objects if it would be longer than `most` (0: no
 * limit). False, and nothing is appended: it is longer even then. On the thread of a sink; takes
 * milliseconds for a body of megabytes. */
bool kc__audit_long_event_write(const kc__audit_long_event *event, size_t most, kc_buf *out);

#endif
