/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflector.h: lists a kind, watches it from there, and pushes the deltas into a fifo, for as long
 * as it runs, across failures of the server and the connection.
 *
 * A reflector has no thread. It is a state machine that its owner, an informer, steps: once at
 * first, after `wake` was called, and at the time that the last step returned.
 */
#ifndef KC_RUNTIME_REFLECTOR_H
#define KC_RUNTIME_REFLECTOR_H

#include "kc/cache.h"
#include "runtime/cache/cache_metrics.h"
#include "runtime/cache/fifo.h"
#include "runtime/cache/scope.h"

typedef struct kc__reflector kc__reflector;

/* Everything belongs to the caller and must outlive the reflector. */
typedef struct kc__reflector_opts {
    kc_client *client;
    const kc_kind *kind;
    const kc__cache_scope *scope;
    bool metadata_only;
    kc_transform_fn
        *transform; /* Not applied to objects shared with a server in the same process if it is
                       kc_transform_strip_managed_fields: a copy would take more memory. */
    void *transform_user;
    _Atomic bool *shares; /* Set when objects are shared with a server in the same process. May be
                             NULL. */
    kc__fifo *fifo;
    uint32_t origin;    /* Passed on in each delta. */
    uint64_t not_older; /* The first list must be at least this revision. 0: any. */
    int64_t list_deadline, watch_stall_timeout;
    bool plain_lists;
    const kc_clock *clock;
    kc_rand rand;
    kc_log *log;
    kc__cache_metrics metrics;
    void (*wake)(void *user); /* A step is due. Any thread; must not block. */
    void *wake_user;
} kc__reflector_opts;

/* Copies the options. */
kc__reflector *kc__reflector_new(const kc__reflector_opts *opts);
/* The reflector must have ended, or never been stepped. NULL is allowed; returns NULL. */
kc__reflector *kc__reflector_free(kc__reflector *reflector);

/* Does what is possible now and returns when to step again: a time of the clock, possibly in the
 * past; KC_FOREVER: only after `wake`. Pushes about a thousand changes at most. */
int64_t kc__reflector_step(kc__reflector *reflector);
/* Ends the reflector: true when it has ended; until then call it again after each `wake`. Steps
 * have no effect any more. */
bool kc__reflector_end(kc__reflector *reflector);

/* The error of the last attempt to list or watch; false if it succeeded. Any thread. */
bool kc__reflector_failure(kc__reflector *reflector, kc_error *ret);
/* 0 if the server has sent something within the allowed time. Any thread. */
int kc__reflector_check(kc__reflector *reflector, kc_error *err);
/* Updates the staleness metric. Any thread. */
void kc__reflector_show_staleness(kc__reflector *reflector);

#endif
