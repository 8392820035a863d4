/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h: counters, gauges and histograms, written in Prometheus' text format.
 *
 *     kc_metric *requests = kc_metrics_counter(metrics, &(kc_metric_opts){
 *         .name = "apiserver_request_total",
 *         .help = "Requests by verb and resource.",
 *         .labels = {{"verb", KC_LABEL_VALUES("get", "list", "watch")},
 *                    {"resource", .max_values = 200}},
 *     }, err);
 *     kc_counter *gets = kc_counter_of(requests, KC_STR("get"), resource);
 *     kc_counter_inc(gets);
 *
 * A metric is registered once and then has one series for each combination of label values. What a
 * label can say is closed at registration: either its values are listed, or at most max_values
 * different ones are taken as they come. Any other value (also one that is not UTF-8, or longer
 * than KC_METRIC_MAX_VALUE) counts as "other". So whatever clients send, memory and output are
 * bounded.
 *
 * To find a series takes a short lock; keep the handle where it is hot. Using a handle takes none.
 * Handles live as long as the registry. A NULL metric gives a NULL handle, and a NULL handle counts
 * nothing. All functions may be called from any thread.
 */
#ifndef KC_METRICS_H
#define KC_METRICS_H

#include "kc/buf.h"
#include "kc/error.h"
#include "kc/list.h"

#define KC_METRIC_MAX_LABELS  8
#define KC_METRIC_MAX_VALUE   256 /* Bytes of a label's value. */
#define KC_METRIC_MAX_BUCKETS 100

#define KC_METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

typedef struct kc_metrics kc_metrics; /* A registry. */
typedef struct kc_metric kc_metric;   /* A metric with all its series. */
typedef struct kc_counter kc_counter;
typedef struct kc_gauge kc_gauge;
typedef struct kc_histogram kc_histogram;

kc_metrics *kc_metrics_new(void);
/* Frees all metrics and series. NULL is allowed. Returns NULL. */
kc_metrics *kc_metrics_free(kc_metrics *metrics);
KC_AUTO_DEFINE(kc_metrics, kc_metrics_free)

/* ---- registering ---- */

#define KC_LABEL_VALUES(...) ((const char *const[]){__VA_ARGS__, NULL})

typedef struct kc_metric_label {
    const char *name;          /* [a-zA-Z_][a-zA-Z0-9_]*, not starting with "__". */
    const char *const *values; /* All there are, with a NULL at the end. */
    size_t max_values;         /* Instead of values: how many different ones there may be. */
} kc_metric_label;

/* All of it is copied. */
typedef struct kc_metric_opts {
    const char *name;                             /* [a-zA-Z_:][a-zA-Z0-9_:]* */
    const char *help;                             /* Defaults to none. */
    kc_metric_label labels[KC_METRIC_MAX_LABELS]; /* Up to the first without a name. */
    const double *buckets; /* Of a histogram: upper bounds, ascending, +Inf is added.
                            * Defaults to kc_default_buckets. */
    size_t n_buckets;
} kc_metric_opts;

/*
 * Registers a metric, or gives the one that is registered already with the same definition. NULL,
 * and an error, if the definition is not valid or the name is taken by another one. Belongs to the
 * registry.
 */
kc_metric *kc_metrics_counter(kc_metrics *metrics, const kc_metric_opts *opts, kc_error *err);
kc_metric *kc_metrics_gauge(kc_metrics *metrics, const kc_metric_opts *opts, kc_error *err);
kc_metric *kc_metrics_histogram(kc_metrics *metrics, const kc_metric_opts *opts, kc_error *err);
/* A gauge without labels that asks for its value when it is written; `read` is called without a
 * lock, by whoever writes, and must be usable as long as the registry is. */
kc_metric *kc_metrics_gauge_callback(kc_metrics *metrics, const kc_metric_opts *opts,
                                     double (*read)(void *user), void *user, kc_error *err);

/* Prometheus' own defaults, for seconds of a network service: 5 ms to 10 s. */
enum { KC_DEFAULT_BUCKETS = 11 };
extern const double kc_default_buckets[KC_DEFAULT_BUCKETS];
/* start, start * factor, … n of them. start must be above 0, factor above 1. */
void kc_buckets_exponential(double start, double factor, size_t n, double *ret_buckets);

/* ---- series ---- */

/*
 * kc_counter_of(metric, values…): the series with these label values, each a kc_str, as many as the
 * metric has labels and in their order. Made when it is not there. It is a bug to ask a metric for
 * another type than its own.
 */
#define kc_counter_of(metric, ...)   kc__counter_of(metric, KC__LABELS(__VA_ARGS__))
#define kc_gauge_of(metric, ...)     kc__gauge_of(metric, KC__LABELS(__VA_ARGS__))
#define kc_histogram_of(metric, ...) kc__histogram_of(metric, KC__LABELS(__VA_ARGS__))

void kc_counter_inc(kc_counter *counter);
/* By a number that is not negative. */
void kc_counter_add(kc_counter *counter, double by);
double kc_counter_value(const kc_counter *counter);

void kc_gauge_set(kc_gauge *gauge, double value);
void kc_gauge_add(kc_gauge *gauge, double by);
static inline void kc_gauge_inc(kc_gauge *gauge)
{
    kc_gauge_add(gauge, 1);
}
static inline void kc_gauge_dec(kc_gauge *gauge)
{
    kc_gauge_add(gauge, -1);
}
double kc_gauge_value(const kc_gauge *gauge);

void kc_histogram_observe(kc_histogram *histogram, double value);
/* Nanoseconds (clock.h), observed as seconds. */
void kc_histogram_observe_duration(kc_histogram *histogram, int64_t ns);
uint64_t kc_histogram_count(const kc_histogram *histogram);
double kc_histogram_sum(const kc_histogram *histogram);

/* ---- writing ---- */

/*
 * For gauges that are only worth computing when somebody looks: `before` is called by whoever
 * writes, just before, one hook at a time. It sets gauges; it must neither block nor touch the
 * hooks. Lives inside whoever hangs it.
 */
typedef struct kc_metrics_hook {
    void (*before)(struct kc_metrics_hook *hook);
    kc_link link; /* Private. */
} kc_metrics_hook;

void kc_metrics_hang(kc_metrics *metrics, kc_metrics_hook *hook);
/* After it `before` is not running and will not. */
void kc_metrics_unhang(kc_metrics *metrics, kc_metrics_hook *hook);

/*
 * Appends everything: metrics by name, series by label values. A metric without series is left out.
 * Numbers that change meanwhile are each read once; an observation may be in a histogram's buckets
 * and not yet in its sum.
 */
void kc_metrics_write(kc_metrics *metrics, kc_buf *out);

/* ---- behind the macros ---- */

#define KC__LABELS(...)                                   \
    (const kc_str[]){{0} __VA_OPT__(, ) __VA_ARGS__} + 1, \
        sizeof((const kc_str[]){{0} __VA_OPT__(, ) __VA_ARGS__}) / sizeof(kc_str) - 1

kc_counter *kc__counter_of(kc_metric *metric, const kc_str *values, size_t n);
kc_gauge *kc__gauge_of(kc_metric *metric, const kc_str *values, size_t n);
kc_histogram *kc__histogram_of(kc_metric *metric, const kc_str *values, size_t n);

#endif
