/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rate_limit.h: the delay of a failed key before its retry.
 *
 *     kc_rate_limiter *limiter = kc_rate_limiter_max_of(
 *         kc_rate_limiter_exponential(5 * KC_MILLISECOND, 1000 * KC_SECOND),
 *         kc_rate_limiter_bucket(clock, 10, 100));
 *
 * Limiters compose; the receiver takes ownership. Delays are those of client-go: the n-th failure
 * in a row (from 0) waits base * 2^n up to a cap; a bucket reserves tokens, so it delays and never
 * rejects. All functions are thread-safe.
 */
#ifndef KC_RATE_LIMIT_H
#define KC_RATE_LIMIT_H

#include "kc/clock.h"
#include "kc/meta.h"
#include "kc/rand.h"

typedef struct kc_rate_limiter kc_rate_limiter;

/* The delay of this key now; counts one more failure. */
int64_t kc_rate_limiter_when(kc_rate_limiter *limiter, kc_key key);
/* Resets the failures of a key that has succeeded. */
void kc_rate_limiter_forget(kc_rate_limiter *limiter, kc_key key);
/* Failures of the key since the last reset. */
int kc_rate_limiter_num_requeues(kc_rate_limiter *limiter, kc_key key);
/* NULL is allowed; returns NULL. */
kc_rate_limiter *kc_rate_limiter_free(kc_rate_limiter *limiter);
KC_AUTO_DEFINE(kc_rate_limiter, kc_rate_limiter_free)

/* Per key. Zeros mean 5 ms and 1000 s. */
kc_rate_limiter *kc_rate_limiter_exponential(int64_t base, int64_t cap);
/* `fast` for the first `tries`, then `slow`. */
kc_rate_limiter *kc_rate_limiter_fast_slow(int64_t fast, int64_t slow, int tries);
/* For all keys together: qps on average, `burst` at once. NULL clock: the real one. */
kc_rate_limiter *kc_rate_limiter_bucket(const kc_clock *clock, double qps, int burst);
/* The longer delay of the two; takes ownership of both. */
kc_rate_limiter *kc_rate_limiter_max_of(kc_rate_limiter *a, kc_rate_limiter *b);
/* Adds random jitter up to `factor` (kc_rand_jitter); takes ownership. */
kc_rate_limiter *kc_rate_limiter_jitter(kc_rate_limiter *limiter, double factor, kc_rand rand);

/* A custom limiter; only `when` is required. */
typedef struct kc_rate_limiter_ops {
    int64_t (*when)(void *state, kc_key key);
    void (*forget)(void *state, kc_key key);
    int (*failures)(void *state, kc_key key);
    void (*free)(void *state);
} kc_rate_limiter_ops;
kc_rate_limiter *kc_rate_limiter_new(const kc_rate_limiter_ops *ops, void *state);

#endif
