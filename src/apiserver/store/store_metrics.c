/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_metrics.c: what the committer counts. To add one: a handle in kc__store_metrics, a line
 * here, and a line where it happens.
 */
#include "apiserver/store/store_internal.h"

#define PREFIX "kc_store_"

static kc_counter *counter(kc_metrics *registry, const char *name, const char *help, kc_error *err)
{
    return kc_counter_of(
        kc_metrics_counter(registry, &(kc_metric_opts){.name = name, .help = help}, err));
}

static kc_gauge *gauge(kc_metrics *registry, const char *name, const char *help, kc_error *err)
{
    return kc_gauge_of(
        kc_metrics_gauge(registry, &(kc_metric_opts){.name = name, .help = help}, err));
}

/* From `start`, doubling ten times. */
static kc_histogram *histogram(kc_metrics *registry, const char *name, const char *help,
                               double start, kc_error *err)
{
    double buckets[10];
    kc_buckets_exponential(start, 2, KC_COUNT(buckets), buckets);
    const kc_metric_opts opts = {
        .name = name, .help = help, .buckets = buckets, .n_buckets = KC_COUNT(buckets)};
    return kc_histogram_of(kc_metrics_histogram(registry, &opts, err));
}

int kc__store_metrics_init(kc__store_metrics *ret_metrics, kc_metrics *registry, kc_error *err)
{
    if (!registry)
        return 0;
    const kc__store_metrics m = {
        .took = histogram(registry, PREFIX "commit_duration_seconds",
                          "Time until a batch of changes was durable.", 0.0001, err),
        .changes = histogram(registry, PREFIX "commit_changes", "Changes of a batch.", 1, err),
        .conflicts = counter(registry, PREFIX "conflicts_total",
                             "Writes whose expectation did not hold.", err),
        .failures = counter(registry, PREFIX "commit_failures_total",
                            "Batches that could not be stored.", err),
        .events = gauge(registry, PREFIX "events", "Recent events that are remembered.", err),
        .event_bytes = gauge(registry, PREFIX "event_bytes",
                             "Bytes held only for the sake of recent events.", err),
    };
    if (!m.took || !m.changes || !m.conflicts || !m.failures || !m.events || !m.event_bytes)
        return kc_error_wrap(err, "cannot count what the store does");
    *ret_metrics = m;
    return 0;
}
