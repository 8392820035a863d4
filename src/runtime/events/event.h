/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h: a recorded event on its way to the server, and its encoding in both API versions:
 * core/v1 and events.k8s.io/v1.
 */
#ifndef KC_RUNTIME_EVENTS_EVENT_H
#define KC_RUNTIME_EVENTS_EVENT_H

#include "kc/recorder.h"
#include "kc/time.h"

/* An ObjectReference. */
typedef struct kc__recorder_object_ref {
    kc_str api_version, kind, ns, name, uid, resource_version, field_path;
} kc__recorder_object_ref;

typedef struct kc__recorder_note {
    kc_dlist_link link;
    kc_arena arena;                         /* Owns all strings. */
    kc__recorder_object_ref about, related; /* `related` without a kind: none. */
    kc_str type, reason, action, message;
    const char *const *annotations; /* "name=value", NULL-terminated; may be NULL. */
    kc_str component, host;
    kc_recorder *owner; /* The recorder in whose queue it is counted. */
    kc_time at;
    /* Set by the correlator. */
    kc_str name;
    kc_time first;
    int64_t count;
} kc__recorder_note;

/* Copies everything. */
kc__recorder_note *kc__recorder_note_new(const kc_recorder_event_opts *opts, kc_str component,
                                         kc_str host, kc_time at);
kc__recorder_note *kc__recorder_note_free(kc__recorder_note *note);
KC_AUTO_DEFINE(kc__recorder_note, kc__recorder_note_free)

/* The namespace of the Event object. */
kc_str kc__recorder_note_namespace(const kc__recorder_note *note);
/* Sets a unique name: the object's name and the time in hexadecimal digits. */
void kc__recorder_note_rename(kc__recorder_note *note);

/* Encodes the Event. With `series` count and last time are written as a series. */
void kc__recorder_note_write_core(const kc__recorder_note *note, kc_buf *out);
void kc__recorder_note_write_v1(const kc__recorder_note *note, bool series, kc_buf *out);
/* A merge patch with the changes since it was last sent. */
void kc__recorder_note_patch_core(const kc__recorder_note *note, kc_buf *out);
void kc__recorder_note_patch_v1(const kc__recorder_note *note, kc_buf *out);

#endif
