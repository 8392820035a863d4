/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_metrics.c: the metrics of caches. To add one: a field in kc__cache_metrics and a row here.
 *
 * Their label is the resource with its group ("deployments.apps"); a program that caches more kinds
 * than KINDS_MAX counts the rest as "other".
 */
#include "runtime/cache_metrics.h"

enum { KINDS_MAX = 500 };

static kc_metric_opts described(const char *name, const char *help)
{
    return (kc_metric_opts){
        .name = name, .help = help, .labels = {{"resource", .max_values = KINDS_MAX}}};
}

static kc_counter *counter(kc_metrics *metrics, const char *name, const char *help, kc_str resource)
{
    kc_metric_opts opts = described(name, help);
    return kc_counter_of(kc_metrics_counter(metrics, &opts, NULL), resource);
}

static kc_gauge *gauge(kc_metrics *metrics, const char *name, const char *help, kc_str resource)
{
    kc_metric_opts opts = described(name, help);
    return kc_gauge_of(kc_metrics_gauge(metrics, &opts, NULL), resource);
}

kc__cache_metrics kc__cache_metrics_of(kc_metrics *metrics, const kc_kind *kind)
{
    if (!metrics)
        return (kc__cache_metrics){0};
    kc_scoped(kc_buf) text = {0};
    kc_group_resource_write(&text,
                            (kc_group_resource){kc_cstr(kind->group), kc_cstr(kind->plural)});
    const kc_str of = kc_buf_str(&text);
    return (kc__cache_metrics){
        .objects = gauge(metrics, "kc_cache_objects", "Objects kept.", of),
        .staleness = gauge(metrics, "kc_cache_staleness_seconds",
                           "How long the watch has brought nothing, not even a bookmark.", of),
        .relists = counter(metrics, "kc_cache_relists_total", "Lists after the first.", of),
        .watch_restarts =
            counter(metrics, "kc_cache_watch_restarts_total", "Watches after the first.", of),
        .stalls = counter(metrics, "kc_cache_watch_stalls_total",
                          "Watches given up because nothing came.", of),
        .expired_writes =
            counter(metrics, "kc_cache_own_writes_expired_total",
                    "Own writes that the watch did not show in time: reads went back.", of),
    };
}
