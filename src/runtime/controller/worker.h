/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.h: the internals of a controller, shared by its files:
 *
 *     controller.c            its parts, start and stop
 *     worker_pool.c           starts worker threads when there is work, ends them when idle
 *     worker.c                takes keys, calls the reconciler, handles its result
 *     worker_crash.c          handles a recovered crash: quarantine, pausing
 *     controller_metrics.c    controller_runtime_*
 *
 * in addition to enqueue.c and handler.c (from changes to keys), guard.c (crashes), deadlines.c
 * (timeouts), hot_loop.c (keys that are reconciled too often), failures.c (keys that failed),
 * quarantine.c (keys that crashed).
 */
#ifndef KC_RUNTIME_WORKER_H
#define KC_RUNTIME_WORKER_H

#include "runtime/controller/controller_internal.h"
#include "runtime/controller/deadlines.h"
#include "runtime/controller/failures.h"
#include "runtime/controller/hot_loop.h"
#include "runtime/crash/guard.h"
#include "runtime/crash/quarantine.h"
#include "runtime/executor/executor.h"
#include "runtime/queue/queue_internal.h"

typedef enum kc__worker_result_label {
    KC__WORKER_RESULT_SUCCESS,
    KC__WORKER_RESULT_ERROR,
    KC__WORKER_RESULT_REQUEUE,
    KC__WORKER_RESULT_REQUEUE_AFTER,
    KC__WORKER_RESULTS,
} kc__worker_result_label;

/* NULL handles count nothing. */
typedef struct kc__controller_metrics {
    kc_counter *total[KC__WORKER_RESULTS];
    kc_counter *errors, *terminal, *panics, *timeouts, *loops;
    kc_histogram *time;
    kc_gauge *workers, *active, *quarantined, *paused;
} kc__controller_metrics;

/* All series exist from the start, at zero. `registry` may be NULL. */
void kc__controller_metrics_init(kc__controller_metrics *metrics, kc_metrics *registry,
                                 const char *name);

/* The workers of a running controller (worker_pool.c). Zeroed: none. */
typedef struct kc__worker_pool {
    struct kc__worker *workers; /* Array of n, each with its state. */
    size_t n;
    kc_cancel *stop;    /* The token of the run. */
    kc__serial *serial; /* Starts workers, and keeps the time of delayed keys. NULL: not started. */
    kc_mutex mutex;     /* Guards the states of the workers, and the next field. */
    size_t running;
} kc__worker_pool;

/* One run of a controller. */
typedef struct kc__controller_run_state {
    kc_cancel_hook on_stop;
    kc_cancel *stop;
    size_t started; /* Number of sources started. */
} kc__controller_run_state;

struct kc_controller {
    kc__controller_env env;
    char *name;
    char *field_manager; /* NULL: the client's. */
    const kc_kind *kind;
    kc_reconcile_fn *reconcile;
    void *user;
    void (*on_start)(void *user); /* May be NULL. */
    int n_workers;
    int64_t timeout, sync_timeout;
    bool without_leader_election, crash_recovery;
    kc_predicate *predicate; /* For all kinds. */
    KC_VEC(kc_source *) sources;
    kc_queue *queue;
    kc__hotloop_table *loops; /* NULL: detection is off. */
    kc__failures *failures;
    kc__quarantine *quarantine; /* The manager's, or its own. */
    bool owns_quarantine;
    uint64_t code; /* kc__quarantine_code of the reconciler. */
    _Atomic int crashes;
    _Atomic bool paused; /* After too many crashes: keys are dropped until the next start. */
    kc_log *log;         /* Includes the controller's name. */
    kc_rand rand;
    kc__controller_metrics metrics;
    kc__executor *executor;     /* The cache's, or its own. */
    kc__executor *own_executor; /* NULL if it has a cache. */
    kc__deadlines deadlines;    /* Of the run, if there is a timeout. */
    kc__worker_pool pool;       /* Of the run. */
    kc__controller_run_state run;
    _Atomic bool running;
};

typedef enum kc__worker_state {
    KC__WORKER_FREE,
    KC__WORKER_RUNS,
    KC__WORKER_ENDED
} kc__worker_state;

/* A worker thread and everything it needs for a call, created once. */
typedef struct kc__worker {
    kc_controller *controller;
    kc__worker_state state; /* Guarded by the mutex of the pool. */
    kc_cancel *stop;        /* The controller's token. */
    kc_thread *thread;
    kc_rand rand;
    kc_log *log;
    kc__guard guard;
    kc_context ctx; /* Its client and token are reused until the token has fired. */
    /* The current call; here, and not on the stack, so that these fields survive a crash. */
    const kc_request *request;
    kc_result result;
    kc_error err;
    bool crashed;
    uint64_t version; /* Version of the object before the call, if the key is known to crash;
                         otherwise 0. */
} kc__worker;

/* Starts the thread: it takes keys until the queue has been empty for KC__WORKER_IDLE, or is shut
 * down; then it calls kc__worker_pool_worker_ended. 0, or negative if no thread can be started. */
int kc__worker_start(kc__worker *worker, kc_controller *controller, kc_cancel *stop, kc_error *err);
/* Blocks until it has ended. Does nothing if it was not started. */
void kc__worker_join(kc__worker *worker);
#define KC__WORKER_IDLE (5 * KC_SECOND)

/* ---- worker_pool.c ---- */

/* Enables workers: from now on they start when the queue has keys, up to the controller's limit. */
void kc__worker_pool_start(kc_controller *controller, kc_cancel *stop);
/* Call it after the queue was shut down: waits until all workers have ended. Does nothing if the
 * pool was not started. */
void kc__worker_pool_stop(kc_controller *controller);
/* Called last by a worker's thread. */
void kc__worker_pool_worker_ended(kc__worker *worker);

/* ---- worker_crash.c ---- */

/* Number of crashes of one controller in one process after which it is paused. */
enum { KC__CONTROLLER_CRASHES = 8 };

/* Whether the key may be reconciled: it is not in quarantine, and the controller is not paused. */
bool kc__worker_admits(kc__worker *worker, const kc_queue_item *item);
/* The call crashed with description `what`: records it, and sets the worker's result and error. */
void kc__worker_crashed(kc__worker *worker, const char *what);
/* The call returned without a crash. */
void kc__worker_returned(kc__worker *worker);

#endif
