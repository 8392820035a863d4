/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_note.h: an event on its way from who says it to the server, as text of both kinds: core/v1
 * and events.k8s.io/v1.
 */
#ifndef KC_RUNTIME_EVENT_NOTE_H
#define KC_RUNTIME_EVENT_NOTE_H

#include "kc/recorder.h"
#include "kc/time.h"

/* An ObjectReference. */
typedef struct kc__event_ref {
    kc_str api_version, kind, ns, name, uid, resource_version, field_path;
} kc__event_ref;

typedef struct kc__event_note {
    kc_link link;
    kc_arena arena;               /* All texts are here. */
    kc__event_ref about, related; /* `related` without a kind: none. */
    kc_str type, reason, action, message;
    const char *const *annotations; /* "name=value", end with NULL; may be NULL. */
    kc_str component, host;
    kc_recorder *said_by; /* Among whose notes it waits. */
    kc_time at;
    /* What correlating finds out. */
    kc_str name;
    kc_time first;
    int64_t count;
} kc__event_note;

/* Copies everything. */
kc__event_note *kc__event_note_new(const kc_event_opts *opts, kc_str component, kc_str host,
                                   kc_time at);
kc__event_note *kc__event_note_free(kc__event_note *note);
KC_AUTO_DEFINE(kc__event_note, kc__event_note_free)

/* The namespace the Event lives in. */
kc_str kc__event_note_namespace(const kc__event_note *note);
/* Gives it a name of its own: the object's, and the time in hexadecimal digits. */
void kc__event_note_rename(kc__event_note *note);

/* The Event as text. With `series` the count and last time are written as a series. */
void kc__event_note_write_core(const kc__event_note *note, kc_buf *out);
void kc__event_note_write_v1(const kc__event_note *note, bool series, kc_buf *out);
/* What has changed since it was last sent, as a merge patch. */
void kc__event_note_patch_core(const kc__event_note *note, kc_buf *out);
void kc__event_note_patch_v1(const kc__event_note *note, kc_buf *out);

#endif
