/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rand.c: xoshiro256** by Blackman and Vigna: four words of state, some shifts, passes the
 * statistical test suites. Its authors recommend to fill the state with splitmix64, so that seeds
 * that differ in one bit yield unrelated sequences and no seed yields the zero state.
 *
 * The numbers that each function draws are part of its contract, because a simulation is repeated
 * from its seed: a change here changes every recorded run. Bytes are little-endian on every
 * machine.
 */
#include "kc/rand.h"

#include <assert.h>
#include <endian.h>
#include <sys/random.h>
#include <time.h>

static uint64_t splitmix64(uint64_t *x)
{
    uint64_t z = *x += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void kc_rand_seed(kc_rand *rand, uint64_t seed)
{
    for (size_t i = 0; i < KC_COUNT(rand->state); i++)
        rand->state[i] = splitmix64(&seed);
}

void kc_rand_seed_os(kc_rand *rand)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed)) {
        /* Only where the system call is forbidden. These numbers guard no secret, so the time
         * suffices. */
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        seed = (uint64_t)now.tv_nsec ^ ((uint64_t)now.tv_sec << 32) ^ (uintptr_t)rand;
    }
    kc_rand_seed(rand, seed);
}

kc_rand kc_rand_split(kc_rand *rand)
{
    kc_rand other;
    kc_rand_seed(&other, kc_rand_u64(rand));
    return other;
}

static uint64_t rotate_left(uint64_t x, int by)
{
    return (x << by) | (x >> (64 - by));
}

uint64_t kc_rand_u64(kc_rand *rand)
{
    uint64_t *s = rand->state;
    assert(s[0] | s[1] | s[2] | s[3]);
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

/*
 * Lemire's method: the upper half of a product with n is below n, and is uniform if the 2^64 mod n
 * draws with the smallest lower halves are repeated. The division is needed only in the rare case
 * that the lower half is below n.
 */
uint64_t kc_rand_below(kc_rand *rand, uint64_t n)
{
    assert(n > 0);
    __uint128_t product = (__uint128_t)kc_rand_u64(rand) * n;
    if ((uint64_t)product < n) {
        uint64_t uneven = (0 - n) % n;
        while ((uint64_t)product < uneven)
            product = (__uint128_t)kc_rand_u64(rand) * n;
    }
    return (uint64_t)(product >> 64);
}

double kc_rand_double(kc_rand *rand)
{
    return (double)(kc_rand_u64(rand) >> 11) * 0x1p-53;
}

void kc_rand_bytes(kc_rand *rand, void *ret_bytes, size_t n)
{
    char *to = ret_bytes;
    while (n) {
        uint64_t word = htole64(kc_rand_u64(rand));
        size_t part = KC_MIN(n, sizeof(word));
        memcpy(to, &word, part);
        to += part;
        n -= part;
    }
}

int64_t kc_rand_jitter(kc_rand *rand, int64_t duration, double factor)
{
    if (!(factor > 0))
        factor = 1;
    double extra = kc_rand_double(rand) * factor * (double)duration;
    int64_t sum;
    if (!(extra < 0x1p63 && extra > -0x1p63) ||
        __builtin_add_overflow(duration, (int64_t)extra, &sum))
        return duration < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

static void swap(char *a, char *b, size_t size)
{
    char saved[64];
    while (size) {
        size_t part = KC_MIN(size, sizeof(saved));
        memcpy(saved, a, part);
        memcpy(a, b, part);
        memcpy(b, saved, part);
        a += part;
        b += part;
        size -= part;
    }
}

void kc_rand_shuffle(kc_rand *rand, void *items, size_t n, size_t size)
{
    char *base = items;
    for (size_t left = n; left > 1; left--) {
        size_t chosen = kc_rand_below(rand, left);
        if (chosen != left - 1)
            swap(base + chosen * size, base + (left - 1) * size, size);
    }
}
