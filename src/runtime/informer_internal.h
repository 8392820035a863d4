/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informer_internal.h: what the files of the informer share: its life (informer.c), its thread
 * (informer_pump.c), its listeners (listener.c), reading (informer_read.c) and own writes
 * (informer_wrote.c).
 */
#ifndef KC_RUNTIME_INFORMER_INTERNAL_H
#define KC_RUNTIME_INFORMER_INTERNAL_H

#include "runtime/informer.h"
#include "runtime/own_writes.h"
#include "runtime/reflector.h"

/* One namespace, or all: what one reflector brings. */
typedef struct kc__origin {
    kc__scope scope; /* Constant. */
    kc__reflector *reflector;
    /* Guarded by the informer's mutex. */
    uint64_t revision; /* Up to which the store shows everything. */
    bool synced;       /* Its first list is in the store. Written by the informer's thread. */
    kc__own_writes own;
} kc__origin;

typedef KC_VEC(kc_listener *) kc__listeners;

struct kc_informer {
    kc__informer_opts opts;
    unsigned users; /* Guarded by the cache's mutex. */
    kc__origin *origins;
    size_t n_origins;
    kc__cache_metrics metrics;
    kc__fifo *fifo;
    kc_thread *thread;

    /* Only its thread, or nobody once it does not run. */
    kc__listeners active;
    kc__values before, after;
    size_t n_synced; /* Origins. */

    _Atomic bool listeners_changed; /* `joining`, or somebody is to be removed. */

    kc_mutex mutex;  /* Guards all below, and what origins say. Nothing is locked under it. */
    kc_cond changed; /* readable, synced, running, a listener detached. */
    kc__store store; /* Only its thread changes it, and so reads it without the lock. */
    kc__listeners joining;
    bool started, running;
    bool readable; /* The first lists are in the store. */
    bool synced;   /* And the listeners were told. */
};

struct kc_listener {
    kc_informer *informer;
    const kc_listener_ops *ops;
    void *user;
    int64_t resync; /* 0: never. */
    _Atomic bool removed, synced;
    bool detached; /* The thread does not know it any more. Guarded by the informer's mutex. */
    int64_t next_resync; /* Only the informer's thread. */
};

/* The origin that brings a namespace; NULL when none does. */
kc__origin *kc__informer_origin(kc_informer *informer, kc_str ns);

/* ---- informer_pump.c ---- */

void kc__informer_run(void *informer);

/* ---- listener.c: all on the informer's thread ---- */

/* Lets go who is to be removed, greets who has come. */
void kc__listeners_update(kc_informer *informer);
void kc__listeners_added(kc_informer *informer, const kc_object *object, bool initial);
void kc__listeners_updated(kc_informer *informer, const kc_object *old, const kc_object *object);
void kc__listeners_deleted(kc_informer *informer, const kc_object *object, bool state_unknown);
void kc__listeners_synced(kc_informer *informer);
/* When somebody is to be told everything again; KC_FOREVER: never. */
int64_t kc__listeners_next_resync(const kc_informer *informer);
/* Tells those whose time it is. */
void kc__listeners_resync(kc_informer *informer);

#endif
