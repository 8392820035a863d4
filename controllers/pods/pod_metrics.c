/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_metrics.c: see pod_metrics.h. Pods and containers are not labels: their number is unbounded.
 */
#include "pods/pod_metrics.h"

static void count_running(kc_metrics_hook *hook)
{
    kc__pod_metrics *m = kc_container_of(hook, kc__pod_metrics, hook);
    kc__pods_nodes *nodes = (kc__pods_nodes *)m->nodes;
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
    ret[0] = kc_metric_counter(metric, KC_STR("container"));
    ret[1] = kc_metric_counter(metric, KC_STR("init_container"));
    return metric;
}

static kc_metric *make_probes(kc__pod_metrics *m, kc_metrics *registry, kc_error *err)
{
    static const char *const types[] = {"Startup", "Liveness", "Readiness"};
    kc_metric *metric = kc_metrics_counter(
        registry,
        &(kc_metric_opts){
            .name = "prober_probe_total",
            .help = "Number of container probes by type and result.",
            .labels = {{"probe_type", KC_LABEL_VALUES("Startup", "Liveness", "Readiness")},
                       {"result", KC_LABEL_VALUES("failed", "successful")}}},
        err);
    for (size_t i = 0; i < KC__POD_PROBE_TYPES; i++) {
        m->probed[i][0] = kc_metric_counter(metric, kc_cstr(types[i]), KC_STR("failed"));
        m->probed[i][1] = kc_metric_counter(metric, kc_cstr(types[i]), KC_STR("successful"));
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
                          .help = "Seconds from first seeing a pod to its status Running.",
                          .buckets = buckets,
                          .n_buckets = KC_COUNT(buckets)},
        err);
    m->start_duration = kc_metric_histogram(metric);
    return metric;
}

int kc__pod_metrics_init(kc__pod_metrics *m, kc_metrics *registry, const kc__pods_nodes *nodes,
                         kc_error *err)
{
    if (!registry)
        return 0;
    kc_metric *running = kc_metrics_gauge(registry,
                                          &(kc_metric_opts){.name = "kubelet_running_pods",
                                                            .help = "Number of pods on "
                                                                    "this process's "
                                                                    "nodes."},
                                          err);
    m->running = kc_metric_gauge(running);
    m->rejected = kc_metrics_counter(registry,
                                     &(kc_metric_opts){.name = "kubelet_admission_rejections_total",
                                                       .help = "Number of pods rejected at "
                                                               "admission by their node.",
                                                       .labels = {{"reason", .max_values = 50}}},
                                     err);
    m->evicted = kc_metrics_counter(
        registry,
        &(kc_metric_opts){.name = "kubelet_evictions",
                          .help = "Number of pods evicted because they exceeded a local storage "
                                  "limit.",
                          .labels = {{"eviction_signal",
                                      KC_LABEL_VALUES("emptydirfs.limit", "ephemeralpodfs.limit",
                                                      "ephemeralcontainerfs.limit")}}},
        err);
    if (!running || !m->rejected || !m->evicted || !make_durations(m, registry, err) ||
        !make_probes(m, registry, err) ||
        !by_container_type(registry, "kubelet_started_containers_total",
                           "Number of containers "
                           "started.",
                           m->started, err) ||
        !by_container_type(registry, "kubelet_started_containers_errors_total",
                           "Number of containers that failed to start.", m->not_started, err))
        return kc_error_result(err);
    m->registry = registry;
    m->nodes = nodes;
    m->hook.before = count_running;
    kc_metrics_add_hook(registry, &m->hook);
    return 0;
}

void kc__pod_metrics_done(kc__pod_metrics *m)
{
    if (m->registry)
        kc_metrics_remove_hook(m->registry, &m->hook);
}
