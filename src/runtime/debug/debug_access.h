/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_access.h: access control for the manager's pages other than health checks: /metrics,
 * /debug/queue.
 *
 *     a loopback client run by root or by our own user, without credentials ──▶ allowed
 *     a bearer token ──▶ TokenReview and SubjectAccessReview at the API server, cached
 *     anything else ──▶ 401
 */
#ifndef KC_RUNTIME_DEBUG_DEBUG_ACCESS_H
#define KC_RUNTIME_DEBUG_DEBUG_ACCESS_H

#include "http/server/exchange.h"
#include "kc/client.h"
#include "kc/log.h"

typedef struct kc__debug_access kc__debug_access;

typedef struct kc__debug_access_opts {
    kc_client *
        client; /* Sends reviews; must outlive the access checker. NULL: every token is rejected. */
    bool no_local; /* Loopback clients need a token too. */
    const kc_clock *clock;
    kc_log *log;
} kc__debug_access_opts;

kc__debug_access *kc__debug_access_new(const kc__debug_access_opts *opts);
/* Aborts reviews in progress; their exchanges are rejected. The loop must still be running. Blocks
 * until they have ended. NULL is allowed. */
void kc__debug_access_stop(kc__debug_access *access);
/* Call it after every exchange has been answered. NULL is allowed; returns NULL. */
kc__debug_access *kc__debug_access_free(kc__debug_access *access);

/* `status` 200: access is allowed. Otherwise the callback answers the exchange with `status` and
 * `text`. Called on the loop's thread. */
typedef void kc__debug_access_decided(kc__exchange *x, int status, const char *text, void *user);

/* Decides, immediately or later. Call it on the loop's thread; one kc__debug_access serves one
 * loop. */
void kc__debug_access_check(kc__debug_access *access, kc__exchange *x,
                            kc__debug_access_decided *decided, void *user);

#endif
