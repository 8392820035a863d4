/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflector.h: lists a kind, watches it from there, and pushes what it learns into a fifo, for as
 * long as it runs, whatever happens to the server and the way to it.
 */
#ifndef KC_RUNTIME_REFLECTOR_H
#define KC_RUNTIME_REFLECTOR_H

#include "kc/cache.h"
#include "runtime/cache_metrics.h"
#include "runtime/fifo.h"
#include "runtime/scope.h"

typedef struct kc__reflector kc__reflector;

/* All of it is the caller's and lives as long as the reflector. */
typedef struct kc__reflector_opts {
    kc_client *client;
    const kc_kind *kind;
    const kc__scope *scope;
    bool metadata_only;
    kc_transform *transform;
    void *transform_user;
    kc__fifo *fifo;
    uint32_t origin;    /* Given to the fifo. */
    uint64_t not_older; /* The first list must show this revision. 0: any will do. */
    int64_t list_deadline, stall;
    bool plain_lists;
    const kc_clock *clock;
    kc_rand rand;
    kc_log *log;
    kc__cache_metrics metrics;
} kc__reflector_opts;

/* Copies the options. */
kc__reflector *kc__reflector_new(const kc__reflector_opts *opts);
int kc__reflector_start(kc__reflector *reflector, kc_error *err);
/* Tells it to end, and does not wait. */
void kc__reflector_cancel(kc__reflector *reflector);
/* Waits until its thread has ended. The fifo is closed, or it may wait for room for ever. */
void kc__reflector_join(kc__reflector *reflector);
/* Has been joined, or never ran. NULL is allowed; returns NULL. */
kc__reflector *kc__reflector_free(kc__reflector *reflector);

/* What the last attempt to list or watch failed with; false if it did not. Any thread. */
bool kc__reflector_failure(kc__reflector *reflector, kc_error *ret);
/* 0 when something was heard of the server within the time allowed. Any thread. */
int kc__reflector_check(kc__reflector *reflector, kc_error *err);

#endif
