/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rand.h: random numbers that can be repeated.
 *
 *     kc_rand rand;
 *     kc_rand_seed(&rand, 7);                      the same numbers in every run, on every machine
 *     int64_t wait = kc_rand_jitter(&rand, KC_SECOND, 0.1);
 *
 * A value, passed down from whoever owns the seed: the command seeds from the operating system, a
 * simulation from a number it can print. Good for jitter, sampling and tests; not for secrets. Not
 * for several threads at a time: give each its own with kc_rand_split.
 */
#ifndef KC_RAND_H
#define KC_RAND_H

#include "kc/mem.h"

typedef struct kc_rand {
    uint64_t state[4]; /* Never all zero: must be seeded before use. */
} kc_rand;

void kc_rand_seed(kc_rand *rand, uint64_t seed);
/* From the operating system: another sequence each time. */
void kc_rand_seed_os(kc_rand *rand);
/* Another generator, whose numbers have nothing to do with those that follow here. */
kc_rand kc_rand_split(kc_rand *rand);

uint64_t kc_rand_u64(kc_rand *rand);
/* From 0 up to n - 1, each as likely as the others. n must not be 0. */
uint64_t kc_rand_below(kc_rand *rand, uint64_t n);
/* From 0 up to, not including, 1. */
double kc_rand_double(kc_rand *rand);
void kc_rand_bytes(kc_rand *rand, void *ret_bytes, size_t n);

/*
 * A duration between `duration` and duration * (1 + factor), as Kubernetes' wait.Jitter: a factor
 * of 0 or less means 1. What would not fit is INT64_MAX.
 */
int64_t kc_rand_jitter(kc_rand *rand, int64_t duration, double factor);

/* Puts n items of `size` bytes each in a random order, each order as likely as the others. */
void kc_rand_shuffle(kc_rand *rand, void *items, size_t n, size_t size);

#endif
