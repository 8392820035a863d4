/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.h: the inside of a controller, shared by its files:
 *
 *     controller.c            what it is made of, starting and stopping
 *     worker.c                taking keys, calling the reconciler, what follows from its result
 *     controller_metrics.c    controller_runtime_*
 *
 * beside enqueue.c and handler.c (from changes to keys), guard.c (crashes), deadlines.c (calls that
 * take too long), hot_loop.c (keys that come too often), failures.c (keys that failed).
 */
#ifndef KC_RUNTIME_WORKER_H
#define KC_RUNTIME_WORKER_H

#include "runtime/controller_internal.h"
#include "runtime/deadlines.h"
#include "runtime/failures.h"
#include "runtime/guard.h"
#include "runtime/hot_loop.h"
#include "runtime/queue_internal.h"

typedef enum kc__result_label {
    KC__RESULT_SUCCESS,
    KC__RESULT_ERROR,
    KC__RESULT_REQUEUE,
    KC__RESULT_REQUEUE_AFTER,
    KC__RESULTS,
} kc__result_label;

/* NULL handles count nothing. */
typedef struct kc__controller_metrics {
    kc_counter *total[KC__RESULTS];
    kc_counter *errors, *terminal, *panics, *timeouts, *loops;
    kc_histogram *time;
    kc_gauge *workers, *active;
} kc__controller_metrics;

/* All series are there from the start, at zero. `registry` may be NULL. */
void kc__controller_metrics_init(kc__controller_metrics *metrics, kc_metrics *registry,
                                 const char *name);

struct kc_controller {
    kc__controller_env env;
    char *name;
    const kc_kind *kind;
    kc_reconcile_fn *reconcile;
    void *user;
    void (*begin)(void *user); /* May be NULL. */
    int n_workers;
    int64_t timeout, sync_timeout;
    bool without_election, crash;
    kc_predicate *predicate; /* Of all kinds. */
    KC_VEC(kc_source *) sources;
    kc_queue *queue;
    kc__loops *loops; /* NULL: not looked for. */
    kc__failures *failures;
    kc_log *log; /* Says the controller's name. */
    kc_rand rand;
    kc__controller_metrics metrics;
    kc__deadlines deadlines; /* Of the run, if there is a timeout. */
    _Atomic bool running;
};

/* A thread that works, and all it needs for a call, made once. */
typedef struct kc__worker {
    kc_controller *controller;
    kc_cancel *stop; /* The controller's. */
    kc_thread *thread;
    kc_rand rand;
    kc_log *log;
    kc__guard guard;
    kc_context ctx; /* Its client and token serve call after call, until the token has fired. */
    /* Of the call under way; here, and not on the stack, so that they outlive a crash. */
    const kc_request *request;
    kc_result result;
    kc_error err;
} kc__worker;

/* Its thread takes keys until the queue has none for good. 0, or negative when there is no thread.
 */
int kc__worker_start(kc__worker *worker, kc_controller *controller, kc_cancel *stop, kc_error *err);
/* Blocks until it has ended. Does nothing if it was not started. */
void kc__worker_join(kc__worker *worker);

#endif
