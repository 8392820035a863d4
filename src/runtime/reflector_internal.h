/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflector_internal.h: what the files of the reflector share: its state, and the three parts:
 * listing (reflector_list.c), watching (reflector_watch.c) and the loop around them (reflector.c).
 */
#ifndef KC_RUNTIME_REFLECTOR_INTERNAL_H
#define KC_RUNTIME_REFLECTOR_INTERNAL_H

#include "runtime/backoff.h"
#include "runtime/reflector.h"

struct kc__reflector {
    kc__reflector_opts opts;
    kc_client *client; /* Gives up when `cancel` fires. */
    kc_cancel *cancel;
    kc_thread *thread;

    /* Only its thread. */
    kc__backoff backoff;
    kc_buf last;           /* The resourceVersion up to which everything was pushed. Empty: none. */
    bool last_unavailable; /* The server does not have it (any more, or yet). */
    uint64_t newest;       /* Revision of the newest object of a list that broke off. */
    bool plain;            /* This server does not stream lists. */
    size_t n_lists, n_watches;
    int64_t watch_over; /* The server should have ended the watch by then. */
    kc__deltas pending; /* Of a list, pushed by the dozen. */

    kc_mutex mutex; /* Guards all below. Nothing is locked under it. */
    kc_error failure;
    bool stalled;
    int64_t heard; /* When something came last. */
};

/* ---- reflector.c ---- */

/* Something came: an event, a bookmark, a list. */
void kc__reflector_heard(kc__reflector *r);
void kc__reflector_stalled(kc__reflector *r);
/* Shows how long nothing has come. */
void kc__reflector_silent(kc__reflector *r);
/* Keeps the error for those who ask, and logs it. Does nothing when it was cancelled. */
void kc__reflector_failed(kc__reflector *r, const char *doing, const kc_error *why);
void kc__reflector_works(kc__reflector *r);
/* Waits before the next attempt. False when it was cancelled. */
bool kc__reflector_back_off(kc__reflector *r);

/* Everything up to this resourceVersion has been pushed. */
void kc__reflector_reached(kc__reflector *r, kc_str resource_version);
/* Takes the reference; transforms. `revision` as in a delta. */
bool kc__reflector_push(kc__reflector *r, kc__delta_type type, kc_object *object,
                        uint64_t revision);
/* The same, to be pushed with others; kc__reflector_flush pushes what waits. */
bool kc__reflector_collect(kc__reflector *r, kc__delta_type type, kc_object *object,
                           uint64_t revision);
bool kc__reflector_flush(kc__reflector *r);
/* Whether an object is of the kind that was asked for. */
bool kc__reflector_is_ours(const kc__reflector *r, const kc_object *object);

/* ---- reflector_list.c ---- */

/*
 * Makes the fifo hold what the server has. 0, and perhaps a watch that goes on from there: then
 * *ret_watch is not NULL.
 */
int kc__reflector_list(kc__reflector *r, kc_watch **ret_watch, kc_error *err);

/* ---- reflector_watch.c ---- */

/* Follows the watch (made here if it is NULL; taken), and those that follow it, until there must be
 * a list again or it is cancelled. */
void kc__reflector_watch(kc__reflector *r, kc_watch *watch);
/* A watch after a resourceVersion; with `initial`, what there is comes first. */
kc_watch *kc__reflector_open(kc__reflector *r, const char *resource_version, bool initial,
                             kc_error *err);

/* ---- errors ---- */

/* 410: what was asked for is not kept any more. */
bool kc__is_expired(const kc_error *err);
/* The server has not come so far yet. */
bool kc__is_too_large_version(const kc_error *err);
/* Nothing wrong with the request: the server is down or busy. */
bool kc__is_retriable(const kc_error *err);

#endif
