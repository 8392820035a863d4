/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_metrics.c: the metrics of caches. To add one: a field in kc__cache_metrics and a row here.
 *
 * Their label is the resource with its group ("deployments.apps"); kinds beyond KINDS_MAX share the
 * label "other".
 */
#include "runtime/cache/cache_metrics.h"

enum { KINDS_MAX = 500 };

#define LABEL "resource"

static kc_metric_opts described(const char *name, const char *help)
{
    return (kc_metric_opts){
        .name = name, .help = help, .labels = {{LABEL, .max_values = KINDS_MAX}}};
}

/* Several informers may share the series of one resource. */
static kc_counter *cache_metrics_counter(kc__cache_metrics *m, kc_metrics *metrics,
                                         const char *name, const char *help)
{
    kc_metric_opts opts = described(name, help);
    kc_metric *metric = m->held[m->n_held++] = kc_metrics_counter(metrics, &opts, NULL);
    kc_metric_ref_label(metric, LABEL, kc_cstr(m->resource));
    return kc_metric_counter(metric, kc_cstr(m->resource));
}

static kc_gauge *cache_metrics_gauge(kc__cache_metrics *m, kc_metrics *metrics, const char *name,
                                     const char *help)
{
    kc_metric_opts opts = described(name, help);
    kc_metric *metric = m->held[m->n_held++] = kc_metrics_gauge(metrics, &opts, NULL);
    kc_metric_ref_label(metric, LABEL, kc_cstr(m->resource));
    return kc_metric_gauge(metric, kc_cstr(m->resource));
}

void kc__cache_metrics_init(kc__cache_metrics *m, kc_metrics *metrics, const kc_kind *kind)
{
    *m = (kc__cache_metrics){0};
    if (!metrics)
        return;
    kc_scoped(kc_buf) text = {0};
    kc_group_resource_write(&text,
                            (kc_group_resource){kc_cstr(kind->group), kc_cstr(kind->plural)});
    m->resource = kc_buf_take(&text);
    m->objects = cache_metrics_gauge(m, metrics, "kc_cache_objects", "Objects in the cache.");
    m->staleness = cache_metrics_gauge(m, metrics, "kc_cache_staleness_seconds",
                                       "Seconds since the watch delivered an event or a bookmark.");
    m->relists = cache_metrics_counter(m, metrics, "kc_cache_relists_total",
                                       "Relists: lists after the first.");
    m->watch_restarts = cache_metrics_counter(m, metrics, "kc_cache_watch_restarts_total",
                                              "Watch restarts: watches after the first.");
    m->stalls = cache_metrics_counter(m, metrics, "kc_cache_watch_stalls_total",
                                      "Watches restarted because they stalled.");
    m->expired_writes = cache_metrics_counter(
        m, metrics, "kc_cache_own_writes_expired_total",
        "Own writes that expired in the overlay before the watch delivered them.");
}

void kc__cache_metrics_done(kc__cache_metrics *m)
{
    for (size_t i = 0; i < m->n_held; i++)
        kc_metric_unref_label(m->held[i], LABEL, kc_cstr(m->resource));
    free(m->resource);
    *m = (kc__cache_metrics){0};
}
