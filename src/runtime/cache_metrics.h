/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_metrics.h: what a cache counts, for each kind.
 */
#ifndef KC_RUNTIME_CACHE_METRICS_H
#define KC_RUNTIME_CACHE_METRICS_H

#include "kc/kind.h"
#include "kc/metrics.h"

/* The series of one kind. Zeroed, it counts nothing. */
typedef struct kc__cache_metrics {
    kc_gauge *objects;
    kc_gauge *staleness;
    kc_counter *relists, *watch_restarts, *stalls, *expired_writes;
} kc__cache_metrics;

/* `metrics` may be NULL. */
kc__cache_metrics kc__cache_metrics_of(kc_metrics *metrics, const kc_kind *kind);

#endif
