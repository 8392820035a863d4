/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.c: workqueue_*, with the names, labels and buckets of controller-runtime.
 *
 * Counters are incremented where the event happens. How long keys have been processing, and which
 * delayed keys have become due, is computed when the metrics are written; client-go has a goroutine
 * for this that wakes twice a second.
 */
#include "runtime/queue/queue_internal.h"

enum {
    MAX_QUEUES = 1000,
    MAX_PRIORITIES = 25, /* Per queue; further ones share one series. */
};

#define QUEUE_LABELS                           \
    {"name", .max_values = MAX_QUEUES},        \
    {                                          \
        "controller", .max_values = MAX_QUEUES \
    }

static kc_metric *depth_metric(kc_metrics *registry)
{
    return kc_metrics_gauge(registry,
                            &(kc_metric_opts){
                                .name = "workqueue_depth",
                                .help = "Current depth of workqueue by workqueue and priority",
                                .labels = {QUEUE_LABELS, {"priority", .max_values = MAX_QUEUES}},
                            },
                            NULL);
}

static kc_counter *queue_metrics_counter(kc_queue *queue, const char *name, const char *help)
{
    kc_str label = kc_cstr(queue->name);
    const kc_metric_opts opts = {.name = name, .help = help, .labels = {QUEUE_LABELS}};
    return kc_metric_counter(kc_metrics_counter(queue->metrics.registry, &opts, NULL), label,
                             label);
}

static kc_gauge *queue_metrics_gauge(kc_queue *queue, const char *name, const char *help)
{
    kc_str label = kc_cstr(queue->name);
    const kc_metric_opts opts = {.name = name, .help = help, .labels = {QUEUE_LABELS}};
    return kc_metric_gauge(kc_metrics_gauge(queue->metrics.registry, &opts, NULL), label, label);
}

static kc_histogram *histogram(kc_queue *queue, const char *name, const char *help)
{
    kc_str label = kc_cstr(queue->name);
    double buckets[12];
    kc_buckets_exponential(10e-9, 10, KC_COUNT(buckets), buckets);
    const kc_metric_opts opts = {
        .name = name,
        .help = help,
        .labels = {QUEUE_LABELS},
        .buckets = buckets,
        .n_buckets = KC_COUNT(buckets),
    };
    return kc_metric_histogram(kc_metrics_histogram(queue->metrics.registry, &opts, NULL), label,
                               label);
}

static void refresh(kc_metrics_hook *hook)
{
    kc_queue *queue = kc_container_of(hook, kc_queue, metrics.hook);
    double sum = 0, longest = 0;
    kc_queue_count(queue); /* Moves due keys to ready. */
    kc_locked (&queue->mutex) {
        int64_t now = kc_clock_now(queue->clock);
        kc_dlist_each (&queue->processing, kc__queue_entry, working, entry) {
            double seconds = (double)(now - entry->started) / 1e9;
            sum += seconds;
            longest = KC_MAX(longest, seconds);
        }
    }
    kc_gauge_set(queue->metrics.unfinished, sum);
    kc_gauge_set(queue->metrics.longest, longest);
}

void kc__queue_metrics_init(kc_queue *queue, kc_metrics *registry)
{
    kc__queue_metrics *m = &queue->metrics;
    if (!registry)
        return;
    m->registry = registry;
    m->depth = depth_metric(registry);
    m->adds = queue_metrics_counter(queue, "workqueue_adds_total",
                                    "Total number of adds handled by workqueue");
    m->retries =
        queue_metrics_counter(queue, "workqueue_retries_total",
                              "Total number of items added to the workqueue with a non-zero delay");
    m->latency = histogram(queue, "workqueue_queue_duration_seconds",
                           "How long in seconds an item stays in workqueue before being requested");
    m->work = histogram(queue, "workqueue_work_duration_seconds",
                        "How long in seconds processing an item from workqueue takes.");
    m->unfinished =
        queue_metrics_gauge(queue, "workqueue_unfinished_work_seconds",
                            "How many seconds of work has been done that is in progress and hasn't "
                            "been observed by work_duration.");
    m->longest =
        queue_metrics_gauge(queue, "workqueue_longest_running_processor_seconds",
                            "How many seconds has the longest running processor for workqueue been "
                            "running.");
    m->hook.before = refresh;
    kc_metrics_add_hook(registry, &m->hook);
}

void kc__queue_metrics_done(kc_queue *queue)
{
    kc__queue_metrics *m = &queue->metrics;
    if (!m->registry)
        return;
    kc_metrics_remove_hook(m->registry, &m->hook);
    kc_gauge_set(m->unfinished, 0);
    kc_gauge_set(m->longest, 0);
}

kc_gauge *kc__queue_depth_gauge(kc_queue *queue, int priority)
{
    kc_str label = kc_cstr(queue->name);
    if (!queue->metrics.depth)
        return NULL;
    if (queue->ready.all.n > MAX_PRIORITIES)
        return kc_metric_gauge(queue->metrics.depth, label, label,
                               KC_STR("exceeded_cardinality_limit"));
    kc_autofree char *text = kc_asprintf("%d", priority);
    return kc_metric_gauge(queue->metrics.depth, label, label, kc_cstr(text));
}
