/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_metrics.h: the metrics of a cache, per kind.
 */
#ifndef KC_RUNTIME_CACHE_METRICS_H
#define KC_RUNTIME_CACHE_METRICS_H

#include "kc/kind.h"
#include "kc/metrics.h"

/* The series of one kind. A zeroed struct counts nothing. */
typedef struct kc__cache_metrics {
    kc_gauge *objects;
    kc_gauge *staleness;
    kc_counter *relists, *watch_restarts, *stalls, *expired_writes;
    char *resource; /* The value of the label. */
    kc_metric *held[8];
    size_t n_held;
} kc__cache_metrics;

/* `metrics` may be NULL. */
void kc__cache_metrics_init(kc__cache_metrics *ret, kc_metrics *metrics, const kc_kind *kind);
/* The series are removed with the last user of the kind. */
void kc__cache_metrics_done(kc__cache_metrics *metrics);

#endif
