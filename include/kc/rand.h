/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rand.h: reproducible random numbers.
 *
 *     kc_rand rand;
 *     kc_rand_seed(&rand, 7);                      the same numbers in every run, on every machine
 *     int64_t wait = kc_rand_jitter(&rand, KC_SECOND, 0.1);
 *
 * A generator is a value that its owner passes down: the command seeds it from the operating
 * system, a simulation from a number that it can print. For jitter, sampling and tests, not for
 * secrets. Not thread-safe: give each thread its own with kc_rand_split.
 */
#ifndef KC_RAND_H
#define KC_RAND_H

#include "kc/mem.h"

typedef struct kc_rand {
    uint64_t state[4]; /* Never all zero: must be seeded before use. */
} kc_rand;

void kc_rand_seed(kc_rand *rand, uint64_t seed);
/* Seeds from the operating system. */
void kc_rand_seed_os(kc_rand *rand);
/* A new generator whose numbers are independent of those that follow here. */
kc_rand kc_rand_split(kc_rand *rand);

uint64_t kc_rand_u64(kc_rand *rand);
/* Uniform in 0 … n - 1. n must not be 0. */
uint64_t kc_rand_below(kc_rand *rand, uint64_t n);
/* Uniform in [0, 1). */
double kc_rand_double(kc_rand *rand);
void kc_rand_bytes(kc_rand *rand, void *ret_bytes, size_t n);

/*
 * A random duration between `duration` and duration * (1 + factor), as Kubernetes' wait.Jitter: a
 * factor of 0 or less means 1. Saturates at INT64_MAX.
 */
int64_t kc_rand_jitter(kc_rand *rand, int64_t duration, double factor);

/* Shuffles n items of `size` bytes each; all orders are equally likely. */
void kc_rand_shuffle(kc_rand *rand, void *items, size_t n, size_t size);

#endif
