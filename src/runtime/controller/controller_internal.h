/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controller_internal.h: a controller as the manager sees it. kc_controller_new and
 * kc_controller_remove of controller.h are implemented by the manager (manager.c): they create a
 * controller and put it in a runnable group.
 */
#ifndef KC_RUNTIME_CONTROLLER_INTERNAL_H
#define KC_RUNTIME_CONTROLLER_INTERNAL_H

#include "kc/controller.h"

/* Everything in it must outlive the controller. */
typedef struct kc__controller_env {
    kc_manager *manager; /* Only returned by accessors; NULL in tests. */
    kc_client *client;   /* Reads from the cache. */
    kc_cache *cache;
    struct kc_recorder *recorder;
    kc_log *log;
    kc_metrics *metrics;
    const kc_clock *clock;
    kc_rand *rand; /* The source from which the controller's generator is split. */
    kc_crash_journal *crash_journal;   /* NULL: none. */
    struct kc__quarantine *quarantine; /* Defaults to its own, in memory. */
} kc__controller_env;

/* Takes ownership of predicates, sources and limiter of the options, also on failure. NULL on
 * error. */
kc_controller *kc__controller_create(const kc__controller_env *env, const kc_controller_opts *opts,
                                     kc_error *err);
/* Must not be called while it runs. NULL is allowed; returns NULL. */
kc_controller *kc__controller_free(kc_controller *controller);

/* Starts the controller (`user` is the controller): starts its sources, waits until they are
 * synced (an error after sync_timeout) and lets workers run. Blocks until then. KC_RUN_PARKED if
 * it runs: kc__controller_end ends it, after `stop` fired. 0 if it was stopped meanwhile, negative
 * on error: then it has ended. May be called again after the end (lease lost and acquired again):
 * waiting keys are dropped, and are added again by the first list. */
int kc__controller_begin(kc_cancel *stop, void *controller, kc_error *err);
/* Fires the tokens of its calls and waits for them. */
void kc__controller_end(void *controller);

/* Whether it runs only while the manager leads. */
bool kc__controller_needs_leader(const kc_controller *controller);
kc_manager *kc__controller_manager(const kc_controller *controller);
/* Sources are synced and workers run. */
bool kc__controller_running(const kc_controller *controller);
/* It has stopped reconciling after too many crashes. */
bool kc__controller_paused(const kc_controller *controller);
/* Writes its queue, its calls in progress and its hot loops: a JSON object for /debug/queue. */
void kc__controller_write(kc_controller *controller, kc_buf *out);

#endif
