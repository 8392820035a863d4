/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflector_internal.h: shared by the files of the reflector: the state machine (reflector.c) and
 * the functions of its states for listing (reflector_list.c) and watching (reflector_watch.c).
 */
#ifndef KC_RUNTIME_REFLECTOR_INTERNAL_H
#define KC_RUNTIME_REFLECTOR_INTERNAL_H

#include "client/rest/client_stream.h"
#include "kc/thread.h"
#include "runtime/cache/backoff.h"
#include "runtime/cache/reflector.h"

typedef enum kc__reflector_state {
    KC__REFLECTOR_LIST,       /* Starts a list: streamed, or plain. */
    KC__REFLECTOR_STREAM,     /* Requests a streamed list. */
    KC__REFLECTOR_STREAMING,  /* Reads a streamed list. */
    KC__REFLECTOR_PLAIN,      /* Requests a plain list. */
    KC__REFLECTOR_LISTING,    /* Reads a plain list. */
    KC__REFLECTOR_WATCH,      /* Requests a watch. */
    KC__REFLECTOR_WATCHING,   /* Reads a watch, including one that a streamed list became. */
    KC__REFLECTOR_CLOSING,    /* Waits for the end of the stream; continues with `after`. */
    KC__REFLECTOR_BACKING_OFF /* Waits until `resume_at`; continues with `after`. */
} kc__reflector_state;

struct kc__reflector {
    kc__reflector_opts opts;

    /* Used only in steps. */
    kc__reflector_state state;
    kc__reflector_state after; /* The state after CLOSING and BACKING_OFF. */
    int64_t resume_at;         /* The end of BACKING_OFF. */
    bool backs_off;            /* Back off after CLOSING. */
    bool ending;
    kc__client_stream *stream; /* NULL in states without a stream. */
    size_t budget;             /* Changes that this step may still push. */
    kc__backoff backoff;
    kc_buf last; /* Everything up to this resourceVersion has been pushed. Empty: none yet. */
    bool last_unavailable; /* The server does not have `last` (any more, or yet). */
    uint64_t newest;       /* Revision of the newest object of an aborted list. */
    bool plain;            /* The server does not stream lists. */
    size_t n_lists, n_watches;

    /* The current list. */
    int64_t stream_deadline; /* When a streamed list is abandoned. */
    kc_error stream_failure; /* The error of the last attempt to stream. */
    kc_buf list_version;     /* Requested resourceVersion: "" is the newest state, "0" any. */
    bool list_pages;         /* Requested in pages. */
    size_t n_listed;         /* Objects received so far. */

    /* The current watch. */
    int64_t watch_began; /* Before the request was sent: some proxies delay the response headers
                            until the first event. */
    int64_t watch_over;  /* The server should have ended the watch by then. */
    int64_t quiet_since; /* When the last event arrived. */
    size_t n_events;
    bool watch_open;

    kc_mutex mutex; /* Guards all fields below. No lock is taken under it. */
    kc_error failure;
    bool stalled;
    int64_t last_received; /* When the server last sent something. */
};

/* A function of a state returns a time, like kc__reflector_step, or this: the state has changed,
 * continue at once. */
#define KC__REFLECTOR_GO_ON INT64_C(-1)
/* The step has used up its budget: run again, after other tasks. */
#define KC__REFLECTOR_NOW INT64_C(0)

/* ---- reflector.c ---- */

/* Sets the next state; returns KC__REFLECTOR_GO_ON. */
int64_t kc__reflector_go(kc__reflector *r, kc__reflector_state state);
/* Closes the stream first; the second also backs off, after a failed attempt. */
int64_t kc__reflector_close(kc__reflector *r, kc__reflector_state after);
int64_t kc__reflector_close_and_back_off(kc__reflector *r, kc__reflector_state after);

/* The server has sent something: an event, a bookmark, a list. */
void kc__reflector_note_activity(kc__reflector *r);
void kc__reflector_stalled(kc__reflector *r);
/* Stores the error for kc__reflector_failure, and logs it. */
void kc__reflector_failed(kc__reflector *r, const char *doing, const kc_error *why);
void kc__reflector_note_success(kc__reflector *r);

/* Everything up to this resourceVersion has been pushed. */
void kc__reflector_set_revision(kc__reflector *r, kc_str resource_version);
/* Notes that the stream gives objects of a server in the same process. */
void kc__reflector_note_shared(kc__reflector *r, bool shared);
/* Takes ownership of the reference; applies the transform unless the object is shared with the
 * server. `revision` as in a delta. */
void kc__reflector_push(kc__reflector *r, kc__fifo_delta_type type, kc_object *object, bool shared,
                        uint64_t revision);
/* Whether an object is of the requested kind. */
bool kc__reflector_is_ours(const kc__reflector *r, const kc_object *object);

/* ---- reflector_list.c: the functions of states ---- */

int64_t kc__reflector_begin_list(kc__reflector *r);
int64_t kc__reflector_begin_stream(kc__reflector *r);
int64_t kc__reflector_read_stream(kc__reflector *r);
int64_t kc__reflector_begin_plain(kc__reflector *r);
int64_t kc__reflector_read_plain(kc__reflector *r);

/* ---- reflector_watch.c ---- */

int64_t kc__reflector_begin_watch(kc__reflector *r);
int64_t kc__reflector_read_watch(kc__reflector *r);
/* Starts a watch at a resourceVersion; with `initial`, the existing objects are sent first. */
void kc__reflector_open(kc__reflector *r, const char *resource_version, bool initial);
/* The streamed list is complete: its stream continues as a watch. */
int64_t kc__reflector_follow_stream(kc__reflector *r);

/* ---- errors ---- */

/* 410: the requested revision is compacted. */
bool kc__reflector_is_expired(const kc_error *err);
/* The server has not reached the requested revision yet. */
bool kc__reflector_is_too_large_version(const kc_error *err);
/* The request is valid, but the server is down or busy. */
bool kc__reflector_is_retriable(const kc_error *err);

#endif
