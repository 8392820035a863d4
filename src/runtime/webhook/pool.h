/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h: the threads that run the hooks of a webhook server. Hooks may block, an event loop may
 * not: an exchange goes from its loop to one of these threads and back.
 */
#ifndef KC_RUNTIME_WEBHOOK_POOL_H
#define KC_RUNTIME_WEBHOOK_POOL_H

#include "http/server/exchange.h"
#include "runtime/webhook/webhook_handler.h"

typedef struct kc__webhook_pool kc__webhook_pool;

typedef struct kc__webhook_pool_opts {
    size_t workers;
    bool crash_recovery; /* A crash ends the call; otherwise the process. */
    kc_log *log;
    const kc_clock *clock;
} kc__webhook_pool_opts;

/* Threads start with the first calls, up to `workers`. */
kc__webhook_pool *kc__webhook_pool_start(const kc__webhook_pool_opts *opts);
/* When it returns, every submitted exchange is answered or its response is on its way. NULL is
 * allowed; returns NULL. */
kc__webhook_pool *kc__webhook_pool_stop(kc__webhook_pool *pool);

/* Answers the exchange, later, or at once if too many calls wait. Call it on the loop's thread. */
void kc__webhook_pool_submit(kc__webhook_pool *pool, const kc__webhook_handler *hook,
                             kc__exchange *x);

#endif
