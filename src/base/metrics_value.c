/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_value.c: the hot path of metrics: atomic numbers, no locks.
 *
 * Relaxed order suffices: each number is independent. A histogram's count is the sum of its
 * buckets, so that the two always agree.
 */
#include "base/metrics_internal.h"

#include <assert.h>
#include <math.h>

static void add_metric_value(_Atomic double *to, double by)
{
    double before = atomic_load_explicit(to, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(to, &before, before + by, memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
}

void kc_counter_inc(kc_counter *counter)
{
    if (counter)
        atomic_fetch_add_explicit(&counter->whole, 1, memory_order_relaxed);
}

void kc_counter_add(kc_counter *counter, double by)
{
    assert(by >= 0);
    if (!counter)
        return;
    if (by < 0x1p53 && by == floor(by))
        atomic_fetch_add_explicit(&counter->whole, (uint64_t)by, memory_order_relaxed);
    else
        add_metric_value(&counter->rest, by);
}

double kc_counter_value(const kc_counter *counter)
{
    return counter ? (double)atomic_load_explicit(&counter->whole, memory_order_relaxed) +
                         atomic_load_explicit(&counter->rest, memory_order_relaxed)
                   : 0;
}

void kc_gauge_set(kc_gauge *gauge, double value)
{
    if (gauge)
        atomic_store_explicit(&gauge->value, value, memory_order_relaxed);
}

void kc_gauge_add(kc_gauge *gauge, double by)
{
    if (gauge)
        add_metric_value(&gauge->value, by);
}

double kc_gauge_value(const kc_gauge *gauge)
{
    return gauge ? atomic_load_explicit(&gauge->value, memory_order_relaxed) : 0;
}

/* The first bucket whose bound is not below the value. NaN belongs to no bound, so to +Inf. */
static size_t bucket_of(const kc_histogram *histogram, double value)
{
    size_t from = 0, to = histogram->n_bounds;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (histogram->bounds[middle] >= value)
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

void kc_histogram_observe(kc_histogram *histogram, double value)
{
    if (!histogram)
        return;
    atomic_fetch_add_explicit(&histogram->counts[bucket_of(histogram, value)], 1,
                              memory_order_relaxed);
    add_metric_value(&histogram->sum, value);
}

void kc_histogram_observe_duration(kc_histogram *histogram, int64_t ns)
{
    kc_histogram_observe(histogram, (double)ns / 1e9);
}

uint64_t kc_histogram_count(const kc_histogram *histogram)
{
    uint64_t n = 0;
    for (size_t i = 0; histogram && i <= histogram->n_bounds; i++)
        n += atomic_load_explicit(&histogram->counts[i], memory_order_relaxed);
    return n;
}

double kc_histogram_sum(const kc_histogram *histogram)
{
    return histogram ? atomic_load_explicit(&histogram->sum, memory_order_relaxed) : 0;
}

void kc__metrics_value_reset(const kc_metric *metric, void *value)
{
    kc_counter *counter = value;
    kc_gauge *gauge = value;
    kc_histogram *histogram = value;
    switch (metric->kind) {
    case KC__METRICS_COUNTER:
        atomic_store(&counter->whole, 0);
        atomic_store(&counter->rest, 0);
        return;
    case KC__METRICS_GAUGE:
    case KC__METRICS_CALLBACK: atomic_store(&gauge->value, 0); return;
    case KC__METRICS_HISTOGRAM:
        atomic_store(&histogram->sum, 0);
        for (size_t i = 0; i <= histogram->n_bounds; i++)
            atomic_store(&histogram->counts[i], 0);
    }
}
