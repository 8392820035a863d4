/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_metrics.c: see pod_metrics.h. Pods and containers are not among the labels: their number has
 * no bound.
 */
#include "pods/pod_metrics.h"

static void count_running(kc_metrics_hook *hook)
{
    kc__pod_metrics *m = kc_container_of(hook, kc__pod_metrics, hook);
    kc__nodes *nodes = (kc__nodes *)m->nodes;
    int64_t n = 0;
    kc_locked (&nodes->mutex)
        for (size_t i = 0; i < nodes->n; i++)
            n += nodes->items[i].pods;
    kc_gauge_set(m->running, (double)n);
}

static kc_metric *by_container_type(kc_metrics *registry, const char *name, const char *help,
                                    kc_counter *ret[2], kc_error *err)
{
    kc_metric *metric = kc_metrics_counter(
        registry,
        &(kc_metric_opts){
            .name = name,
            .help = help,
            .labels = {{"container_type", KC_LABEL_VALUES("container", "init_container")}}},
        err);
    ret[0] = kc_counter_of(metric, KC_STR("container"));
    ret[1] = kc_counter_of(metric, KC_STR("init_container"));
    return metric;
}

static kc_metric *make_probes(kc__pod_metrics *m, kc_metrics *registry, kc_error *err)
{
    static const char *const types[] = {"Startup", "Liveness", "Readiness"};
    kc_metric *metric = kc_metrics_counter(
        registry,
        &(kc_metric_opts){
            .name = "prober_probe_total",
            .help = "Probes of containers by type and result.",
            .labels = {{"probe_type", KC_LABEL_VALUES("Startup", "Liveness", "Readiness")},
                       {"result", KC_LABEL_VALUES("failed", "successful")}}},
        err);
    for (size_t i = 0; i < KC__PROBES; i++) {
        m->probed[i][0] = kc_counter_of(metric, kc_cstr(types[i]), KC_STR("failed"));
        m->probed[i][1] = kc_counter_of(metric, kc_cstr(types[i]), KC_STR("successful"));
    }
    return metric;
}

static kc_metric *make_durations(kc__pod_metrics *m, kc_metrics *registry, kc_error *err)
{
    double buckets[12];
    kc_buckets_exponential(0.005, 2.5, KC_COUNT(buckets), buckets);
    kc_metric *metric = kc_metrics_histogram(
        registry,
        &(kc_metric_opts){.name = "kubelet_pod_start_duration_seconds",
                          .help = "From seeing a pod for the first time to its running.",
                          .buckets = buckets,
                          .n_buckets = KC_COUNT(buckets)},
        err);
    m->start_duration = kc_histogram_of(metric);
    return metric;
}

int kc__pod_metrics_init(kc__pod_metrics *m, kc_metrics *registry, const kc__nodes *nodes,
                         kc_error *err)
{
    if (!registry)
        return 0;
    kc_metric *running = kc_metrics_gauge(
        registry, &(kc_metric_opts){.name = "kubelet_running_pods", .help = "Pods of our nodes."},
        err);
    m->running = kc_gauge_of(running);
    m->rejected = kc_metrics_counter(registry,
                                     &(kc_metric_opts){.name = "kubelet_admission_rejections_total",
                                                       .help = "Pods that did not fit their node.",
                                                       .labels = {{"reason", .max_values = 50}}},
                                     err);
    if (!running || !m->rejected || !make_durations(m, registry, err) ||
        !make_probes(m, registry, err) ||
        !by_container_type(registry, "kubelet_started_containers_total", "Containers started.",
                           m->started, err) ||
        !by_container_type(registry, "kubelet_started_containers_errors_total",
                           "Containers that could not be started.", m->not_started, err))
        return -1;
    m->registry = registry;
    m->nodes = nodes;
    m->hook.before = count_running;
    kc_metrics_hang(registry, &m->hook);
    return 0;
}

void kc__pod_metrics_done(kc__pod_metrics *m)
{
    if (m->registry)
        kc_metrics_unhang(m->registry, &m->hook);
}
