/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_times.h: how long a cache takes from nothing to synced. For the benchmarks of a cache over
 * HTTP and of one with its server in the process.
 *
 * A list that is read and thrown away is the measure: what a cache adds to it.
 */
#ifndef KC_BENCH_CACHE_TIMES_H
#define KC_BENCH_CACHE_TIMES_H

#include "kc/cache.h"

enum { BENCH_CACHED_OBJECTS = 53000 };

/* A cache of all ConfigMaps, synced by a streamed list, or by plain ones. */
kc_cache *bench_synced_cache(kc_client *client, bool plain, double *ret_seconds);
/* Measures lists, caches by a streamed list and caches by plain ones in turns; prints the medians.
 * `how` names the transport. */
void bench_cache_times(const char *how, kc_client *client);

/* Says what failed, and ends the program. */
_Noreturn void bench_cache_die(const char *what, const kc_error *err);

#endif
