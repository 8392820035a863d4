/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.c: the metrics of kube-scheduler that dashboards use, with their names, labels and
 * buckets. Handles are resolved once; without a registry they are NULL and do nothing. To add a
 * metric: a handle in kc__sched_metrics, its registration here.
 */
#include "scheduler/engine.h"

#define PROFILE KC_STR(KC__SCHED_SCHEDULER_NAME)

static const char *const outcomes[] = {"scheduled", "unschedulable", "error", NULL};
static const char *const queues[] = {"active", "backoff", "unschedulable", "gated", NULL};
static const char *const profiles[] = {KC__SCHED_SCHEDULER_NAME, NULL};

static int init_attempts(kc__sched_metrics *m, kc_metrics *metrics, kc_error *err)
{
    double buckets[15];
    kc_buckets_exponential(0.001, 2, KC_COUNT(buckets), buckets);
    kc_metric *attempts = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "scheduler_schedule_attempts_total",
                          .help = "Number of attempts to schedule pods, by the result.",
                          .labels = {{"profile", profiles}, {"result", outcomes}}},
        err);
    kc_metric *durations = kc_metrics_histogram(
        metrics,
        &(kc_metric_opts){.name = "scheduler_scheduling_attempt_duration_seconds",
                          .help = "Scheduling attempt latency in seconds.",
                          .labels = {{"profile", profiles}, {"result", outcomes}},
                          .buckets = buckets,
                          .n_buckets = KC_COUNT(buckets)},
        err);
    if (!attempts || !durations)
        return kc_error_result(err);
    for (size_t i = 0; i < KC_COUNT(m->attempts); i++) {
        m->attempts[i] = kc_metric_counter(attempts, PROFILE, kc_cstr(outcomes[i]));
        m->durations[i] = kc_metric_histogram(durations, PROFILE, kc_cstr(outcomes[i]));
    }
    return 0;
}

static int init_queues(kc__sched_metrics *m, kc_metrics *metrics, kc_error *err)
{
    double buckets[20];
    kc_buckets_exponential(0.01, 2, KC_COUNT(buckets), buckets);
    kc_metric *pending =
        kc_metrics_gauge(metrics,
                         &(kc_metric_opts){.name = "scheduler_pending_pods",
                                           .help = "Number of pending pods, by the queue.",
                                           .labels = {{"queue", queues}}},
                         err);
    m->sli = kc_metrics_histogram(
        metrics,
        &(kc_metric_opts){.name = "scheduler_pod_scheduling_sli_duration_seconds",
                          .help = "E2e latency for a pod being scheduled, from entering the "
                                  "scheduling queue to binding.",
                          .labels = {{"attempts", .max_values = 20}},
                          .buckets = buckets,
                          .n_buckets = KC_COUNT(buckets)},
        err);
    if (!pending || !m->sli)
        return kc_error_result(err);
    for (size_t i = 0; i < KC_COUNT(m->pending); i++)
        m->pending[i] = kc_metric_gauge(pending, kc_cstr(queues[i]));
    return 0;
}

static int init_preemption(kc__sched_metrics *m, kc_metrics *metrics, kc_error *err)
{
    double buckets[7];
    kc_buckets_exponential(1, 2, KC_COUNT(buckets), buckets);
    kc_metric *attempts = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "scheduler_preemption_attempts_total",
                          .help = "Total preemption attempts in the cluster till now."},
        err);
    kc_metric *victims =
        kc_metrics_histogram(metrics,
                             &(kc_metric_opts){.name = "scheduler_preemption_victims",
                                               .help = "Number of selected preemption victims.",
                                               .buckets = buckets,
                                               .n_buckets = KC_COUNT(buckets)},
                             err);
    if (!attempts || !victims)
        return kc_error_result(err);
    m->preemptions = kc_metric_counter(attempts);
    m->victims = kc_metric_histogram(victims);
    return 0;
}

int kc__sched_metrics_init(kc__sched_metrics *m, kc_metrics *metrics, kc_error *err)
{
    if (!metrics)
        return 0;
    return init_attempts(m, metrics, err) < 0 || init_queues(m, metrics, err) < 0 ||
                   init_preemption(m, metrics, err) < 0
               ? kc_error_result(err)
               : 0;
}

void kc__sched_metrics_attempt(const kc__sched_metrics *m, kc__sched_outcome outcome, int64_t took)
{
    kc_counter_inc(m->attempts[outcome]);
    kc_histogram_observe_duration(m->durations[outcome], took);
}

void kc__sched_metrics_pending(const kc__sched_metrics *m, const kc__sched_queue *q)
{
    kc_gauge_set(m->pending[0], (double)q->active.n);
    kc_gauge_set(m->pending[1], (double)q->backing_off.n);
    kc_gauge_set(m->pending[2], (double)q->n_stuck);
    kc_gauge_set(m->pending[3], (double)q->n_gated);
}

void kc__sched_metrics_bound(const kc__sched_metrics *m, int attempts, int64_t took)
{
    kc_autofree char *text = attempts < 16 ? kc_asprintf("%d", attempts) : kc_strdup("16+");
    kc_histogram_observe_duration(kc_metric_histogram(m->sli, kc_cstr(text)), took);
}
