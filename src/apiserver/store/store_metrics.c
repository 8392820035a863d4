/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_metrics.c: the committer's metrics. To add one: a field of kc__store_metrics, a line here,
 * and a line where it is observed.
 */
#include "apiserver/store/store_internal.h"

#define PREFIX "kc_store_"

static kc_counter *counter(kc_metrics *registry, const char *name, const char *help, kc_error *err)
{
    return kc_metric_counter(
        kc_metrics_counter(registry, &(kc_metric_opts){.name = name, .help = help}, err));
}

static kc_gauge *gauge(kc_metrics *registry, const char *name, const char *help, kc_error *err)
{
    return kc_metric_gauge(
        kc_metrics_gauge(registry, &(kc_metric_opts){.name = name, .help = help}, err));
}

/* Ten buckets that double from `start`. */
static kc_histogram *histogram(kc_metrics *registry, const char *name, const char *help,
                               double start, kc_error *err)
{
    double buckets[10];
    kc_buckets_exponential(start, 2, KC_COUNT(buckets), buckets);
    const kc_metric_opts opts = {
        .name = name, .help = help, .buckets = buckets, .n_buckets = KC_COUNT(buckets)};
    return kc_metric_histogram(kc_metrics_histogram(registry, &opts, err));
}

int kc__store_metrics_init(kc__store_metrics *ret_metrics, kc_metrics *registry, kc_error *err)
{
    if (!registry)
        return 0;
    const kc__store_metrics m = {
        .took = histogram(registry, PREFIX "commit_duration_seconds",
                          "Time until a batch is durable.", 0.0001, err),
        .changes = histogram(registry, PREFIX "commit_changes", "Changes per batch.", 1, err),
        .conflicts = counter(registry, PREFIX "conflicts_total",
                             "Writes that failed their precondition.", err),
        .failures = counter(registry, PREFIX "commit_failures_total",
                            "Batches that failed to commit.", err),
        .recoveries =
            counter(registry, PREFIX "recoveries_total",
                    "Times the storage was reopened after a write of unknown outcome.", err),
        .events = gauge(registry, PREFIX "events", "Recent events in memory.", err),
        .event_bytes =
            gauge(registry, PREFIX "event_bytes", "Bytes held only by recent events.", err),
        .inbox_bytes = gauge(registry, PREFIX "inbox_bytes",
                             "Bytes of events of a shared storage that wait to be applied.", err),
        .inbox_waits = counter(
            registry, PREFIX "inbox_waits_total",
            "Times the connection to a shared storage was not read because too many of its events "
            "waited to be applied.",
            err),
        .snapshots = gauge(registry, PREFIX "snapshots",
                           "Old snapshots held by list pages and readers.", err),
        .snapshot_bytes = gauge(registry, PREFIX "snapshot_bytes",
                                "Upper bound of the bytes held only by old snapshots.", err),
        .watch_caches = gauge(registry, PREFIX "watch_caches",
                              "Resources whose objects or events are in memory.", err),
        .ended_readers =
            counter(registry, PREFIX "snapshot_readers_ended_total",
                    "Lists aborted because old snapshots exceeded the memory limit.", err),
        .expired_pages =
            counter(registry, PREFIX "snapshot_pages_expired_total",
                    "List pages dropped because old snapshots exceeded the memory limit.", err),
        .past_reads = counter(registry, PREFIX "past_reads_total",
                              "Older states read from a shared storage for list pages.", err),
        .past_refused = counter(registry, PREFIX "past_reads_refused_total",
                                "Older states not read because too many lists waited.", err),
    };
    if (!m.took || !m.changes || !m.conflicts || !m.failures || !m.recoveries || !m.events ||
        !m.event_bytes || !m.inbox_bytes || !m.inbox_waits || !m.snapshots || !m.snapshot_bytes ||
        !m.watch_caches || !m.ended_readers || !m.expired_pages || !m.past_reads || !m.past_refused)
        return kc_error_wrap(err, "store metrics");
    *ret_metrics = m;
    return 0;
}
