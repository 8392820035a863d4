/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controller.h: a controller: what it watches, and the function that makes it so.
 *
 *     kc_controller_new(manager, &(kc_controller_opts){
 *         .kind = &robot_kind,
 *         .owns = KC_KINDS(&kc_kind_deployment),
 *         .watches = KC_WATCHES({.kind = &kc_kind_config_map, .map = robots_of_config}),
 *         .reconcile = reconcile, .workers = 2,
 *     }, err);
 *
 * Changes of `kind` add their own key; those of kinds it owns add the key of their controller;
 * those of other watches what a function makes of them. The manager starts it: caches first, then
 * `workers` threads.
 */
#ifndef KC_CONTROLLER_H
#define KC_CONTROLLER_H

#include "kc/manager.h"
#include "kc/predicate.h"
#include "kc/reconcile.h"
#include "kc/source.h"

typedef struct kc_controller kc_controller;

/* Adds keys for an object, through kc_enqueue. Called for the new and for the old state of an
 * update; keys that both name are added once. On the informer's thread: must not block. */
typedef struct kc_enqueuer kc_enqueuer;
void kc_enqueue(kc_enqueuer *to, kc_key key);
typedef void kc_map_fn(const kc_object *object, kc_enqueuer *to, void *user);

typedef struct kc_watch_kind {
    const kc_kind *kind;
    /* Whose key is added; the first that is set. All unset: its own. */
    kc_map_fn *map;
    void *map_user;
    const kc_kind *owner;    /* Of owner references to this kind (any version of it): */
    bool any_owner;          /* also of those that do not control it. */
    kc_predicate *predicate; /* Taken over. */
    bool metadata_only;
    bool high_priority; /* Also initial adds and resyncs have priority 0. */
} kc_watch_kind;

#define KC_KINDS(...)   ((const kc_kind *const[]){__VA_ARGS__, NULL})
#define KC_WATCHES(...) ((const kc_watch_kind[]){__VA_ARGS__, {0}})
#define KC_SOURCES(...) ((kc_source *[]){__VA_ARGS__, NULL})

/* Arrays are copied; predicates and sources are taken over, also on failure. */
typedef struct kc_controller_opts {
    const char *name;    /* Of logs and metrics; unique. Defaults to the kind in lower case. */
    const kc_kind *kind; /* May be NULL if there are watches or sources. */
    kc_predicate *kind_predicate;
    const kc_kind *const *owns;   /* KC_KINDS(…) */
    const kc_watch_kind *watches; /* KC_WATCHES(…) */
    kc_source *const *sources;    /* KC_SOURCES(…); predicates do not apply to them. */
    kc_predicate *predicate;      /* For all kinds, before their own. */
    kc_reconcile_fn *reconcile;
    void *user;
    int workers;           /* Defaults to 1. */
    int64_t timeout;       /* Of one call: ctx->cancel fires then. Defaults to none. */
    kc_limiter *limiter;   /* Taken over. Defaults to the queue's. */
    bool fair;             /* See queue.h. */
    bool without_election; /* Runs also where the manager does not lead. */
    bool crash;            /* Do not guard: see below. */
    int64_t sync_timeout;  /* Defaults to 2 min. */
    int hot_loop; /* Reconciles of one key in a minute above which it is said to loop. Defaults
                   * to 300; -1: never. */
} kc_controller_opts;

/*
 * The guard. A reconcile that fails an assertion of its own through kc_reconcile_abort(), or raises
 * SIGFPE, SIGSEGV, SIGBUS or SIGABRT on its own stack, ends as a failed one (counted in
 * controller_runtime_reconcile_panics_total) and the worker goes on. What C cannot give back: locks
 * it held, memory it had, memory it had already overwritten. So a guarded crash is logged with the
 * key, and the fifth in a process ends it. With `crash` the first does.
 */
_Noreturn void kc_reconcile_abort(const char *fmt, ...) KC_PRINTF(1, 2);

/* Belongs to the manager, which may be running: it then starts at once. NULL on error. */
kc_controller *kc_controller_new(kc_manager *manager, const kc_controller_opts *opts,
                                 kc_error *err);
/* Stops it alone, and frees it: its watches end where nobody else has them. Blocks until running
 * calls have returned. */
void kc_controller_remove(kc_controller *controller);

const char *kc_controller_name(const kc_controller *controller);
/* Its queue, for looking, and for adding from tests. */
kc_queue *kc_controller_queue(kc_controller *controller);

#endif
