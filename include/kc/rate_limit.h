/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rate_limit.h: how long a failed key waits before it is tried again.
 *
 *     kc_limiter *limiter = kc_limiter_max(
 *         kc_limiter_exponential(5 * KC_MILLISECOND, 1000 * KC_SECOND),
 *         kc_limiter_bucket(clock, 10, 100));
 *
 * Limiters are built of each other; whoever is given one frees it. Times are those of client-go:
 * the n-th failure in a row (from 0) waits base * 2^n up to a cap; a bucket reserves tokens, so it
 * delays and never refuses. All functions may be called from any thread.
 */
#ifndef KC_RATE_LIMIT_H
#define KC_RATE_LIMIT_H

#include "kc/clock.h"
#include "kc/meta.h"
#include "kc/rand.h"

typedef struct kc_limiter kc_limiter;

/* How long this key has to wait now; counts it as one failure more. */
int64_t kc_limiter_when(kc_limiter *limiter, kc_key key);
/* The key has succeeded: its failures are forgotten. */
void kc_limiter_forget(kc_limiter *limiter, kc_key key);
/* Failures of the key since then. */
int kc_limiter_failures(kc_limiter *limiter, kc_key key);
/* NULL is allowed; returns NULL. */
kc_limiter *kc_limiter_free(kc_limiter *limiter);
KC_AUTO_DEFINE(kc_limiter, kc_limiter_free)

/* Each key by itself. Zeroes mean 5 ms and 1000 s. */
kc_limiter *kc_limiter_exponential(int64_t base, int64_t cap);
/* `fast` for the first `tries`, then `slow`. */
kc_limiter *kc_limiter_fast_slow(int64_t fast, int64_t slow, int tries);
/* All keys together: qps on average, `burst` at once. NULL clock: the real one. */
kc_limiter *kc_limiter_bucket(const kc_clock *clock, double qps, int burst);
/* The longer of the two; takes both over. */
kc_limiter *kc_limiter_max(kc_limiter *a, kc_limiter *b);
/* Up to `factor` longer, by chance (kc_rand_jitter); takes the limiter over. */
kc_limiter *kc_limiter_jitter(kc_limiter *limiter, double factor, kc_rand rand);

/* A limiter of one's own; only `when` is needed. */
typedef struct kc_limiter_ops {
    int64_t (*when)(void *state, kc_key key);
    void (*forget)(void *state, kc_key key);
    int (*failures)(void *state, kc_key key);
    void (*free)(void *state);
} kc_limiter_ops;
kc_limiter *kc_limiter_new(const kc_limiter_ops *ops, void *state);

#endif
