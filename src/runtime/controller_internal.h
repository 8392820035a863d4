/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controller_internal.h: a controller as the manager sees it. kc_controller_new and
 * kc_controller_remove of controller.h are the manager's (manager.c): they make one of these and
 * put it in a group, which runs it on a thread.
 */
#ifndef KC_RUNTIME_CONTROLLER_INTERNAL_H
#define KC_RUNTIME_CONTROLLER_INTERNAL_H

#include "kc/controller.h"

/* All of it outlives the controller. */
typedef struct kc__controller_env {
    kc_manager *manager; /* Only handed back; NULL in tests. */
    kc_client *client;   /* Reads from the cache. */
    kc_cache *cache;
    struct kc_recorder *recorder;
    kc_log *log;
    kc_metrics *metrics;
    const kc_clock *clock;
    kc_rand *rand; /* Split from. */
} kc__controller_env;

/* Takes predicates, sources and limiter of the options over, also on failure. NULL on error. */
kc_controller *kc__controller_create(const kc__controller_env *env, const kc_controller_opts *opts,
                                     kc_error *err);
/* Not while it runs. NULL is allowed; returns NULL. */
kc_controller *kc__controller_free(kc_controller *controller);

/*
 * Runs it (the user is the controller): starts its sources, waits until they are synced (an error
 * when that takes longer than sync_timeout), lets workers work until `stop` fires, waits for the
 * calls under way. Blocks. May be called again after it returned (leadership lost and won again):
 * keys that waited are dropped, and come again with the first list.
 */
int kc__controller_run(kc_cancel *stop, void *controller, kc_error *err);

/* Whether it runs only where the manager leads. */
bool kc__controller_leads(const kc_controller *controller);
kc_manager *kc__controller_manager(const kc_controller *controller);
/* Sources are synced and workers work. */
bool kc__controller_running(const kc_controller *controller);
/* Its queue, its calls under way, what loops: a JSON object for /debug/queue. */
void kc__controller_write(kc_controller *controller, kc_buf *out);

#endif
