/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_metrics.c: the metrics of the journal: how much it holds, and when it was folded.
 *
 * The gauges describe the journal as the last operation left it. Every function of the contract
 * that writes sets them before it returns, so reading the metrics takes no lock of the store. A
 * fold counts only if the journal held changes: a large batch that goes directly to LMDB, and a
 * fold that only drops history, do not count.
 *
 * To add a metric: a field of kc__storage_file_metrics, a line here, and a line in docs/limits.md.
 */
#include "apiserver/storage/file/file_internal.h"

#define PREFIX "kc_store_journal_"

static kc_gauge *journal_gauge(kc_metrics *registry, const char *name, const char *help,
                               kc_error *err)
{
    return kc_metric_gauge(
        kc_metrics_gauge(registry, &(kc_metric_opts){.name = name, .help = help}, err));
}

int kc__storage_file_metrics_init(kc__storage_file *file, kc_error *err)
{
    kc_metrics *registry = file->opts.metrics;
    if (!registry)
        return 0;
    const kc__storage_file_metrics m = {
        .changes = journal_gauge(registry, PREFIX "changes",
                                 "Changes in the journal that are not in the main file yet.", err),
        .bytes = journal_gauge(registry, PREFIX "bytes",
                               "Bytes of the journal that hold these changes.", err),
        .last_fold = journal_gauge(
            registry, PREFIX "last_fold_timestamp_seconds",
            "Unix time at which the journal was last folded into the main file; 0: not since the "
            "start.",
            err),
        .folds = kc_metric_counter(kc_metrics_counter(
            registry,
            &(kc_metric_opts){.name = PREFIX "folds_total",
                              .help = "Times the journal was folded into the main file."},
            err)),
    };
    if (!m.changes || !m.bytes || !m.last_fold || !m.folds)
        return kc_error_wrap(err, "metrics of the journal");
    file->metrics = m;
    kc_gauge_set(m.last_fold, 0);
    return 0;
}

void kc__storage_file_metrics_update(const kc__storage_file *file)
{
    kc_gauge_set(file->metrics.changes, (double)file->pending.changes.n);
    kc_gauge_set(file->metrics.bytes, (double)file->pending.end);
}

void kc__storage_file_metrics_folded(const kc__storage_file *file)
{
    kc_counter_inc(file->metrics.folds);
    kc_gauge_set(file->metrics.last_fold, (double)kc_clock_wall(file->opts.clock) / KC_SECOND);
}
