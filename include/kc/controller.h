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

/* Adds keys for an object, through kc_enqueue. Called for the old and for the new state of an
 * update; keys that both name are added once. On the informer's thread: must not block. */
typedef struct kc_enqueuer kc_enqueuer;
void kc_enqueue(kc_enqueuer *to, kc_key key);
typedef void kc_map_fn(const kc_object *object, kc_enqueuer *to, void *user);

typedef struct kc_watch_kind {
    const kc_kind *kind;
    /* Whose key is added; the first that is set. All unset: its own. */
    kc_map_fn *map;
    void *map_user;
    const kc_kind *owner;    /* Its controller's, if that is of this kind (any version of it): */
    bool any_owner;          /* and those of owners that do not control it. */
    kc_predicate *predicate; /* Taken over. */
    bool metadata_only;
    bool high_priority; /* Also initial adds and resyncs have priority 0. */
    int64_t after;      /* Keys are added so long after the change. Defaults to at once. */
    int64_t resync;     /* All come by again so often. Defaults to the cache's; -1: never. */
} kc_watch_kind;

#define KC_KINDS(...)   ((const kc_kind *const[]){__VA_ARGS__, NULL})
#define KC_WATCHES(...) ((const kc_watch_kind[]){__VA_ARGS__, {0}})
#define KC_SOURCES(...) ((kc_source *[]){__VA_ARGS__, NULL})

/* A source of what an informer of one's own sees: of another cache, of another cluster. `how` says
 * whose key is added (its kind is the informer's); the informer must be kept until the controller
 * is gone. */
kc_source *kc_source_informer(kc_informer *informer, const kc_watch_kind *how);

/* Arrays are copied; predicates and sources are taken over, also on failure. */
typedef struct kc_controller_opts {
    const char *name;      /* Of logs and metrics; unique. Defaults to the kind in lower case. */
    const char *component; /* Who says its events: their source. Defaults to the manager's name. */
    const kc_kind *kind;   /* May be NULL if there are watches or sources. */
    kc_predicate *kind_predicate;
    const kc_kind *const *owns;   /* KC_KINDS(…) */
    const kc_watch_kind *watches; /* KC_WATCHES(…) */
    kc_source *const *sources;    /* KC_SOURCES(…); predicates do not apply to them. */
    kc_predicate *predicate;      /* For all kinds, before their own. */
    kc_reconcile_fn *reconcile;
    void *user;
    /* Each time it starts, before its first key, with `user`: to forget what was true of the last
     * time, since another may have led in between. Must not block. Defaults to nothing. */
    void (*begin)(void *user);
    int workers;           /* Defaults to 1. */
    int64_t timeout;       /* Of one call: ctx->cancel fires then. Defaults to none. */
    int64_t resync;        /* All objects of `kind` come by again so often: see kc_watch_kind. */
    kc_limiter *limiter;   /* Taken over. Defaults to the queue's. */
    bool fair;             /* See queue.h. */
    bool without_election; /* Runs also where the manager does not lead. */
    bool crash;            /* Do not guard: see below. */
    int64_t sync_timeout;  /* Defaults to 2 min. */
    int hot_loop; /* Reconciles of one key in a minute above which it is said to loop: in the
                   * log, with what causes it, once a minute. Defaults to 300; -1: never. */
} kc_controller_opts;

/*
 * The guard. A reconcile that gives up through kc_reconcile_abort(), fails an assert(), calls
 * abort(), or raises SIGSEGV, SIGBUS or SIGFPE on the worker's own thread (an overflow of its stack
 * included) ends as a failed one: logged with its key as a panic, counted in
 * controller_runtime_reconcile_panics_total, tried again later; the worker goes on.
 *
 * That is a chance to finish, not safety. What C cannot give back: locks that were held (also of
 * the runtime, the client or malloc, if it crashed within: then somebody will wait for ever),
 * memory and files that were not yet released (kc_auto does not run), and whatever had been
 * overwritten before. Crashes of threads that the reconciler started, signals that somebody sent,
 * and crashes in handlers, predicates and map functions are not guarded. So the fifth guarded crash
 * in a process ends it, as if there were no guard; with `crash` the first does.
 *
 * While guarded controllers run, the process's handlers of these signals are the guard's; it calls
 * those that were there before for what is not its own. Built with sanitizers it leaves signals to
 * them, and catches kc_reconcile_abort() only.
 */
/* Says why, and does not return. Outside of a guarded reconcile it ends the process. */
_Noreturn void kc_reconcile_abort(const char *fmt, ...) KC_PRINTF(1, 2);

/* Belongs to the manager, which may be running: it then starts at once. NULL on error; also when
 * `manager` is NULL or `err` is set already, which then stays: kc_manager_new or something in the
 * options (a predicate that does not parse) has failed. So setting up is one chain of calls. */
kc_controller *kc_controller_new(kc_manager *manager, const kc_controller_opts *opts,
                                 kc_error *err);
/* Stops it alone, and frees it: its watches end where nobody else has them. Blocks until running
 * calls have returned. */
void kc_controller_remove(kc_controller *controller);

const char *kc_controller_name(const kc_controller *controller);
/* Its queue, for looking, and for adding from tests. */
kc_queue *kc_controller_queue(kc_controller *controller);

#endif
