/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.h: limits the bytes of requests that the connections of one server may buffer.
 *
 *     kc__http_charge charge = {0};                            of one request
 *     if (!kc__http_charge_set(budget, &charge, buf.cap))      the buffer grew
 *         refuse with 429
 *     kc__http_charge_end(budget, &charge);                    the buffers are freed
 *
 * Each charge has one payer: at first the budget of unauthenticated requests, and once the request
 * is authenticated the share of its user in the budget of requests in flight.
 */
#ifndef KC_HTTP_BUDGET_H
#define KC_HTTP_BUDGET_H

#include "kc/metrics.h"
#include "kc/str.h"

/* A head up to this size is never charged: it is part of the cost of a connection, and it lets a
 * client authenticate while the budget of unauthenticated requests is exhausted. */
#define KC__HTTP_FREE_HEAD ((size_t)4 << 10)

typedef struct kc__http_budget kc__http_budget;
typedef struct kc__http_budget_share kc__http_budget_share;

typedef struct kc__http_budget_opts {
    size_t unauthenticated; /* Bytes of all requests that are not authenticated (yet). Defaults to
                               16 MiB. */
    size_t in_flight;       /* Bytes of all authenticated requests. Defaults to 256 MiB. */
    size_t per_user;        /* Bytes of one user, of these. Defaults to a quarter of in_flight. */
} kc__http_budget_opts;

/* The caller frees it after the last charge has ended. */
kc__http_budget *kc__http_budget_new(const kc__http_budget_opts *opts, kc_metrics *metrics);
/* NULL is allowed; returns NULL. */
kc__http_budget *kc__http_budget_free(kc__http_budget *budget);

/* The part of the budget that one request holds. Zero-initialized it is empty. */
typedef struct kc__http_charge {
    kc__http_budget_share *user_share; /* NULL: the budget of unauthenticated requests. */
    size_t bytes;
} kc__http_charge;

/* Safe to call from any thread; a NULL budget is unlimited. */

/* Sets the size of the request. Returns false, with nothing changed, if it grew beyond the
 * budget. */
bool kc__http_charge_set(kc__http_budget *budget, kc__http_charge *charge, size_t bytes);
/* The request is authenticated: `user` is the payer from now on. An empty user stands for all
 * requests of a server without authentication, which are limited by in_flight alone. Returns
 * false if the share is exhausted; the charge is then empty. */
bool kc__http_charge_to_user(kc__http_budget *budget, kc__http_charge *charge, kc_str user);
/* Releases the charge. */
void kc__http_charge_end(kc__http_budget *budget, kc__http_charge *charge);

#endif
