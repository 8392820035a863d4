/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controller_metrics.c: controller_runtime_*, with the names, labels and buckets of
 * controller-runtime, and kc_controller_* of our own: keys in a hot loop, keys in quarantine.
 */
#include "runtime/controller/worker.h"

enum { MAX_CONTROLLERS = 1000 };

#define CONTROLLER_LABEL {"controller", .max_values = MAX_CONTROLLERS}

static const char *const results[KC__WORKER_RESULTS] = {
    [KC__WORKER_RESULT_SUCCESS] = "success",
    [KC__WORKER_RESULT_ERROR] = "error",
    [KC__WORKER_RESULT_REQUEUE] = "requeue",
    [KC__WORKER_RESULT_REQUEUE_AFTER] = "requeue_after",
};

static const double time_buckets[] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3,  0.35,
                                      0.4,   0.45, 0.5,   0.6,  0.7, 0.8,  0.9, 1.0,  1.25, 1.5,
                                      1.75,  2.0,  2.5,   3.0,  3.5, 4.0,  4.5, 5,    6,    7,
                                      8,     9,    10,    15,   20,  25,   30,  40,   50,   60};

static kc_counter *controller_metrics_counter(kc_metrics *registry, kc_str name, const char *metric,
                                              const char *help)
{
    const kc_metric_opts opts = {.name = metric, .help = help, .labels = {CONTROLLER_LABEL}};
    return kc_metric_counter(kc_metrics_counter(registry, &opts, NULL), name);
}

static kc_gauge *controller_metrics_gauge(kc_metrics *registry, kc_str name, const char *metric,
                                          const char *help)
{
    const kc_metric_opts opts = {.name = metric, .help = help, .labels = {CONTROLLER_LABEL}};
    return kc_metric_gauge(kc_metrics_gauge(registry, &opts, NULL), name);
}

static void init_total(kc__controller_metrics *m, kc_metrics *registry, kc_str name)
{
    const kc_metric_opts opts = {
        .name = "controller_runtime_reconcile_total",
        .help = "Total number of reconciliations per controller",
        .labels = {CONTROLLER_LABEL,
                   {"result", KC_LABEL_VALUES("success", "error", "requeue", "requeue_after")}},
    };
    kc_metric *metric = kc_metrics_counter(registry, &opts, NULL);
    for (size_t i = 0; i < KC__WORKER_RESULTS; i++)
        m->total[i] = kc_metric_counter(metric, name, kc_cstr(results[i]));
}

static void init_time(kc__controller_metrics *m, kc_metrics *registry, kc_str name)
{
    const kc_metric_opts opts = {
        .name = "controller_runtime_reconcile_time_seconds",
        .help = "Length of time per reconciliation per controller",
        .labels = {CONTROLLER_LABEL},
        .buckets = time_buckets,
        .n_buckets = KC_COUNT(time_buckets),
    };
    m->time = kc_metric_histogram(kc_metrics_histogram(registry, &opts, NULL), name);
}

void kc__controller_metrics_init(kc__controller_metrics *m, kc_metrics *registry, const char *text)
{
    kc_str name = kc_cstr(text);
    if (!registry)
        return;
    init_total(m, registry, name);
    init_time(m, registry, name);
    m->errors =
        controller_metrics_counter(registry, name, "controller_runtime_reconcile_errors_total",
                                   "Total number of reconciliation errors per controller");
    m->terminal = controller_metrics_counter(
        registry, name, "controller_runtime_terminal_reconcile_errors_total",
        "Total number of terminal reconciliation errors per controller");
    m->panics =
        controller_metrics_counter(registry, name, "controller_runtime_reconcile_panics_total",
                                   "Total number of reconciliation panics per controller");
    m->timeouts =
        controller_metrics_counter(registry, name, "controller_runtime_reconcile_timeouts_total",
                                   "Total number of reconciliation timeouts per controller");
    m->loops =
        controller_metrics_counter(registry, name, "kc_controller_hot_loops_total",
                                   "Keys that were reconciled in a loop, once a minute each");
    m->workers =
        controller_metrics_gauge(registry, name, "controller_runtime_max_concurrent_reconciles",
                                 "Maximum number of concurrent reconciles per controller");
    m->quarantined =
        controller_metrics_gauge(registry, name, "kc_controller_quarantined_keys",
                                 "Keys that are not reconciled because their reconcile crashed");
    m->paused = controller_metrics_gauge(registry, name, "kc_controller_paused",
                                         "1 when the controller is paused after repeated panics");
    m->active = controller_metrics_gauge(registry, name, "controller_runtime_active_workers",
                                         "Number of currently used workers per controller");
}
