/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_pool.h: threads that answer the calls of a webhook server. Hooks may block, a loop may
 * not: an exchange goes from its loop to one of these threads and back.
 */
#ifndef KC_RUNTIME_WEBHOOK_POOL_H
#define KC_RUNTIME_WEBHOOK_POOL_H

#include "http/exchange.h"
#include "runtime/webhook_hook.h"

typedef struct kc__hook_pool kc__hook_pool;

typedef struct kc__hook_pool_opts {
    size_t workers;
    bool crash; /* Do not guard. */
    kc_log *log;
    const kc_clock *clock;
} kc__hook_pool_opts;

kc__hook_pool *kc__hook_pool_start(const kc__hook_pool_opts *opts, kc_error *err);
/* All it was given is answered by then, or about to be. NULL is allowed; returns NULL. */
kc__hook_pool *kc__hook_pool_stop(kc__hook_pool *pool);

/* Answers it, soon or at once: when too many wait. On the loop's thread. */
void kc__hook_pool_take(kc__hook_pool *pool, const kc__hook *hook, kc__exchange *x);

#endif
