/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controller.h: a controller: the kinds it watches and its reconcile function.
 *
 *     kc_controller_new(manager, &(kc_controller_opts){
 *         .kind = &robot_kind,
 *         .owns = KC_KINDS(&kc_kind_deployment),
 *         .watches = KC_WATCHES({.kind = &kc_kind_config_map, .map = robots_of_config}),
 *         .reconcile = reconcile, .workers = 2,
 *     }, err);
 *
 * A change of an object of `kind` enqueues its own key. A change of an owned object enqueues the
 * key of its controller owner. A change of another watched object enqueues the keys that a map
 * function returns. The manager starts the controller: first its caches, then `workers` threads.
 */
#ifndef KC_CONTROLLER_H
#define KC_CONTROLLER_H

#include "kc/manager.h"
#include "kc/predicate.h"
#include "kc/reconcile.h"
#include "kc/source.h"

typedef struct kc_controller kc_controller;

/* Adds keys for an object, through kc_enqueue. Called for the old and for the new state of an
 * update; keys that both name are added once. On a thread of the cache: must not block. */
typedef struct kc_enqueuer kc_enqueuer;
void kc_enqueue(kc_enqueuer *to, kc_key key);
typedef void kc_map_to_keys_fn(const kc_object *object, kc_enqueuer *to, void *user);

typedef struct kc_watch_spec {
    const kc_kind *kind;
    /* Which key is enqueued: the first of these that is set. None set: the object's own key. */
    kc_map_to_keys_fn *map;
    void *map_user;
    /* The key of its controller owner, if that is of this kind (any version); */
    const kc_kind *owner;
    bool any_owner;          /* and the keys of owners that are not its controller. */
    kc_predicate *predicate; /* The controller takes ownership. */
    bool metadata_only;
    bool high_priority; /* Initial adds and resyncs have priority 0, too. */
    int64_t after;      /* Delay between a change and the enqueue. Defaults to none. */
    int64_t resync;     /* Period of resyncs. Defaults to the cache's; -1: never. */
} kc_watch_spec;

#define KC_KINDS(...)   ((const kc_kind *const[]){__VA_ARGS__, NULL})
#define KC_WATCHES(...) ((const kc_watch_spec[]){__VA_ARGS__, {0}})
#define KC_SOURCES(...) ((kc_source *[]){__VA_ARGS__, NULL})

/* A source of the events of any informer, for example of another cache or another cluster. `how`
 * says which key is enqueued (its kind is the informer's). The informer must live as long as the
 * controller. */
kc_source *kc_source_informer(kc_informer *informer, const kc_watch_spec *how);

/* Arrays are copied. The controller takes ownership of predicates and sources, also on failure. */
typedef struct kc_controller_opts {
    const char *name;      /* For logs and metrics; unique. Defaults to the kind in lower case. */
    const char *component; /* Source of recorded events. Defaults to the manager's name. */
    const char *field_manager; /* Of writes through ctx->client, and of events. Defaults to the
                                  manager's name. */
    const kc_kind *kind;       /* May be NULL if there are watches or sources. */
    kc_predicate *kind_predicate;
    const kc_kind *const *owns;   /* KC_KINDS(…) */
    const kc_watch_spec *watches; /* KC_WATCHES(…) */
    kc_source *const *sources;    /* KC_SOURCES(…); predicates do not apply to them. */
    kc_predicate *predicate;      /* For all kinds, evaluated before their own. */
    kc_reconcile_fn *reconcile;
    void *user;
    /* Called with `user` at each start, before the first key. Drop state of the previous term here:
     * another process may have led in between. Must not block. Defaults to nothing. */
    void (*on_start)(void *user);
    int workers;                  /* Defaults to 1. */
    int64_t timeout;              /* Of one reconcile: ctx->cancel fires then. Defaults to none. */
    int64_t resync;               /* Period of resyncs of `kind`: see kc_watch_spec. */
    kc_rate_limiter *limiter;     /* The controller takes ownership. Defaults to the queue's. */
    bool fair;                    /* See queue.h. */
    bool without_leader_election; /* Runs without the lease, too. */
    /* The user of the reconciler's requests: its writes, and reads that the cache does not serve.
     * See kc_http_request. Must outlive the manager. Defaults to the user of the manager's client.
     */
    const kc_client_user *act_as;
    bool crash_recovery;  /* A crash of a reconcile does not end the process: see below.
                           * Defaults to off. */
    const void *code;     /* An address in the reconciler's code. When the file that contains it
                           * changes, crashes of the old code are forgotten. Defaults to `reconcile`. */
    int64_t sync_timeout; /* Defaults to 2 min. */
    int hot_loop; /* Reconciles of one key per minute above which the controller logs a hot loop,
                   * with its causes, once a minute. Defaults to 300; -1: never. */
} kc_controller_opts;

/*
 * Crashes. A reconcile crashes when it calls kc_reconcile_abort(), fails an assert(), calls
 * abort(), or raises SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGTRAP on its worker thread (stack
 * overflow included). By default a crash ends the process, after one report on standard error: the
 * signal, the controller, the key and the stack. With a crash journal (crash_journal.h) the key is
 * quarantined at the next start.
 *
 * Crash recovery (`crash_recovery`). A crash counts as a failed reconcile: the controller logs the
 * key and the location of the crash as a panic, increments
 * controller_runtime_reconcile_panics_total, and retries the key later. The worker continues. It is
 * for programs that run code of others, such as plugins, and must go on serving.
 *
 * The quarantine. A key whose reconcile crashed twice at the same version of its object, or ended
 * the process, is not reconciled again until the object changes (other than in its status) or the
 * file of the code changes. An Event on the object reports it (ReconcileQuarantined),
 * kc_controller_quarantined_keys counts it, /debug/queue lists it. A controller without a kind
 * releases the key after ten minutes. With a crash journal the quarantine survives a restart. After
 * eight crashes in one process the controller pauses until the next start: it drops its keys,
 * /healthz reports it, and kc_controller_paused is 1.
 *
 * Recovery is a chance to finish, not safety. C cannot undo these effects: held locks (also of the
 * runtime, the client or malloc, if the crash is inside them: other threads may then block
 * forever), unreleased memory and files (kc_auto does not run), and memory that was overwritten
 * before the crash. Recovery does not cover crashes of threads that the reconciler started, signals
 * that were sent, and crashes in event handlers, predicates and map functions: those end the
 * process.
 *
 * While workers run, the runtime owns the process's handlers of these signals; it calls the
 * previous handlers for signals that it does not recover from. In a build with sanitizers signals
 * are left to them: there is no report, and recovery covers only kc_reconcile_abort().
 */
/* Ends the reconcile with a reason and does not return. Ends the process unless the reconcile has
 * crash recovery. */
_Noreturn void kc_reconcile_abort(const char *fmt, ...) KC_PRINTF(1, 2);

/* Adds a controller to the manager, which owns it. If the manager runs, the controller starts at
 * once. NULL on error; also when `manager` is NULL or `err` is already set, which then stays: an
 * earlier call (kc_manager_new, a predicate in the options) has failed. So setup is one chain of
 * calls. */
kc_controller *kc_controller_new(kc_manager *manager, const kc_controller_opts *opts,
                                 kc_error *err);
/* Stops and frees one controller; its watches end unless another controller uses them. Blocks until
 * running reconciles have returned. */
void kc_controller_remove(kc_controller *controller);

const char *kc_controller_name(const kc_controller *controller);
/* The queue, to inspect it and to add keys in tests. */
kc_queue *kc_controller_queue(kc_controller *controller);

#endif
