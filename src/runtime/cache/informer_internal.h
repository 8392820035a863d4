/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informer_internal.h: shared by the files of the informer: lifecycle (informer.c), steps
 * (informer_pump.c), event handlers (event_handler.c), reads (informer_read.c) and own writes
 * (informer_write.c).
 */
#ifndef KC_RUNTIME_INFORMER_INTERNAL_H
#define KC_RUNTIME_INFORMER_INTERNAL_H

#include "runtime/cache/informer.h"
#include "runtime/cache/overlay.h"
#include "runtime/cache/reflector.h"
#include "runtime/executor/executor.h"

/* One namespace, or all: the source of one reflector's deltas. */
typedef struct kc__informer_source {
    kc__cache_scope scope; /* Immutable. */
    kc__reflector *reflector;
    /* Guarded by the informer's mutex. */
    uint64_t revision; /* The store contains everything up to it. */
    bool synced;       /* The first list is in the store. Written only in steps. */
    kc__overlay own;
} kc__informer_source;

typedef KC_VEC(kc_event_handler *) kc__informer_handlers;

struct kc_informer {
    kc__informer_opts opts;
    _Atomic unsigned users; /* Increases, and becomes 0, only with the cache's mutex held. */
    kc__informer_source *origins;
    size_t n_origins;
    kc__cache_metrics metrics;
    kc_metrics_hook staleness; /* Registered with opts.metrics. */

    /* Used only in steps, or without a lock when the informer does not run. */
    kc__fifo fifo;
    kc__fifo_deltas batch;
    kc__informer_handlers active;
    kc__index_values before, after;
    size_t n_synced; /* Synced origins. */

    _Atomic bool shares_objects;    /* The server is in this process; its objects are not copied. */
    _Atomic bool listeners_changed; /* `joining` is not empty, or a handler is marked as removed. */
    /* Set once, with the mutex held, and read without: every read of the cache checks one. */
    _Atomic bool started;
    _Atomic bool readable; /* The first lists are in the store. */
    _Atomic bool synced;   /* And the event handlers have been called for them. */

    kc_mutex mutex;     /* Guards all fields below, and the guarded fields of the origins. Only the
                           executor's mutex is locked under it. */
    kc_cond changed;    /* readable, synced or running changed, or a handler was detached. */
    kc__serial *serial; /* Set from start to stop. */
    kc__cache_store store; /* Only steps change it, so steps read it without the lock. */
    kc__informer_handlers joining;
    bool stopping;
    bool running; /* From start until the end of the last step. */
};

struct kc_event_handler {
    kc_informer *informer;
    const kc_event_handler_ops *ops;
    void *user;
    int64_t resync; /* 0: never. */
    _Atomic bool removed, synced;
    bool detached;       /* Steps do not use it any more. Guarded by the informer's mutex. */
    int64_t next_resync; /* Used only in steps. */
};

/* The origin of a namespace; NULL if the namespace is not cached. */
kc__informer_source *kc__informer_reflector_for(kc_informer *informer, kc_str ns);

/* Schedules a step. Any thread, without the mutex held. */
void kc__informer_wake(kc_informer *informer);

/* ---- informer_pump.c ---- */

/* A step of the serial task; `user` is the informer. */
int64_t kc__informer_step(void *user);

/* ---- event_handler.c: all in steps ---- */

/* Drops handlers marked as removed; sends new handlers their initial adds. */
void kc__informer_handlers_update(kc_informer *informer);
void kc__informer_handlers_added(kc_informer *informer, const kc_object *object, bool initial);
void kc__informer_handlers_updated(kc_informer *informer, const kc_object *old,
                                   const kc_object *object);
void kc__informer_handlers_deleted(kc_informer *informer, const kc_object *object,
                                   bool state_unknown);
void kc__informer_handlers_synced(kc_informer *informer);
/* When the next resync of a handler is due; KC_FOREVER: never. */
int64_t kc__informer_handlers_next_resync(const kc_informer *informer);
/* Resyncs the handlers that are due. */
void kc__informer_handlers_resync(kc_informer *informer);

#endif
