/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h: counters, gauges and histograms, written in the Prometheus text format.
 *
 *     kc_metric *requests = kc_metrics_counter(metrics, &(kc_metric_opts){
 *         .name = "apiserver_request_total",
 *         .help = "Requests by verb and resource.",
 *         .labels = {{"verb", KC_LABEL_VALUES("get", "list", "watch")},
 *                    {"resource", .max_values = 200}},
 *     }, err);
 *     kc_counter *gets = kc_metric_counter(requests, KC_STR("get"), resource);
 *     kc_counter_inc(gets);
 *
 * A metric is registered once and has one series for each combination of label values. Registration
 * bounds the values of a label: they are either listed, or at most max_values distinct ones are
 * accepted. Any other value (also one that is not UTF-8, or longer than KC_METRIC_MAX_VALUE) counts
 * as "other". So memory and output are bounded whatever clients send.
 *
 * kc_metric_retain_labels and kc_metric_delete_label remove obsolete values of an open label with
 * their series, which makes room for new values.
 *
 * Finding a series takes a short lock: keep the handle in hot code. Using a handle takes no lock.
 * Handles live as long as the registry. A NULL metric yields a NULL handle, which counts nothing.
 * All functions are thread-safe.
 */
#ifndef KC_METRICS_H
#define KC_METRICS_H

#include "kc/buf.h"
#include "kc/dlist.h"
#include "kc/error.h"

#define KC_METRIC_MAX_LABELS  8
#define KC_METRIC_MAX_VALUE   256 /* Bytes of a label value. */
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

/* ---- registration ---- */

#define KC_LABEL_VALUES(...) ((const char *const[]){__VA_ARGS__, NULL})

typedef struct kc_metric_label {
    const char *name;          /* [a-zA-Z_][a-zA-Z0-9_]*, not starting with "__". */
    const char *const *values; /* The allowed values, ended by NULL. */
    size_t max_values;         /* Instead of values: the maximum number of distinct ones. */
} kc_metric_label;

/* Everything is copied. */
typedef struct kc_metric_opts {
    const char *name;                             /* [a-zA-Z_:][a-zA-Z0-9_:]* */
    const char *help;                             /* Defaults to none. */
    kc_metric_label labels[KC_METRIC_MAX_LABELS]; /* Ends at the first without a name. */
    const double *buckets; /* Upper bounds of a histogram, ascending; +Inf is added. Defaults to
                            * kc_default_buckets. */
    size_t n_buckets;
} kc_metric_opts;

/*
 * Registers a metric, or returns the one already registered with the same definition. NULL, with an
 * error, if the definition is invalid or differs from the registered one. The registry owns it.
 */
kc_metric *kc_metrics_counter(kc_metrics *metrics, const kc_metric_opts *opts, kc_error *err);
kc_metric *kc_metrics_gauge(kc_metrics *metrics, const kc_metric_opts *opts, kc_error *err);
kc_metric *kc_metrics_histogram(kc_metrics *metrics, const kc_metric_opts *opts, kc_error *err);
/* A gauge without labels whose value `read` computes during kc_metrics_write, on the writing
 * thread, without a lock. `read` must stay callable as long as the registry exists. */
kc_metric *kc_metrics_gauge_callback(kc_metrics *metrics, const kc_metric_opts *opts,
                                     double (*read)(void *user), void *user, kc_error *err);

/* Prometheus' default buckets, for the latency of a network service in seconds: 5 ms to 10 s. */
enum { KC_DEFAULT_BUCKETS = 11 };
extern const double kc_default_buckets[KC_DEFAULT_BUCKETS];
/* start, start * factor, … n of them. start must be above 0, factor above 1. */
void kc_buckets_exponential(double start, double factor, size_t n, double *ret_buckets);

/* ---- series ---- */

/*
 * kc_metric_counter(metric, values…): the series with these label values: one kc_str per label, in
 * their order. Creates the series if needed. Requesting a type other than the metric's own is a
 * bug.
 */
#define kc_metric_counter(metric, ...) \
    kc__metrics_counter_of(metric, KC__METRICS_LABELS(__VA_ARGS__))
#define kc_metric_gauge(metric, ...) kc__metrics_gauge_of(metric, KC__METRICS_LABELS(__VA_ARGS__))
#define kc_metric_histogram(metric, ...) \
    kc__metrics_histogram_of(metric, KC__METRICS_LABELS(__VA_ARGS__))

void kc_counter_inc(kc_counter *counter);
/* `by` must not be negative. */
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

/*
 * Removes the series of obsolete label values: of a label with max_values, every value for which
 * `keep` is false. Handles of removed series stay valid memory, but may then count for another
 * series: do not use them any more. `keep` is called under a lock: it must neither block nor use
 * the metric. A NULL metric is allowed. Any thread.
 */
void kc_metric_retain_labels(kc_metric *metric, const char *label,
                             bool (*keep)(kc_str value, void *user), void *user);
/* The same for one value. */
void kc_metric_delete_label(kc_metric *metric, const char *label, kc_str value);
/* Reference counts for values with several users: each user takes a reference before it requests a
 * series, and the last release removes the value. The functions above do not remove referenced
 * values. NULL is allowed. */
void kc_metric_ref_label(kc_metric *metric, const char *label, kc_str value);
void kc_metric_unref_label(kc_metric *metric, const char *label, kc_str value);

/* ---- output ---- */

/*
 * For gauges that are only computed on demand: kc_metrics_write calls `before` first, one hook at a
 * time. The hook sets gauges; it must neither block nor change the list of hooks. Embedded in the
 * caller's struct.
 */
typedef struct kc_metrics_hook {
    void (*before)(struct kc_metrics_hook *hook);
    kc_dlist_link link; /* Private. */
} kc_metrics_hook;

void kc_metrics_add_hook(kc_metrics *metrics, kc_metrics_hook *hook);
/* After it returns, `before` is not running and will not run. */
void kc_metrics_remove_hook(kc_metrics *metrics, kc_metrics_hook *hook);

/*
 * Appends all metrics, sorted by name, and series, sorted by label values. Skips metrics without
 * series. Each number is read once; an observation may be in a histogram's buckets and not yet in
 * its sum.
 */
void kc_metrics_write(kc_metrics *metrics, kc_buf *out);

/* ---- implementation of the macros ---- */

#define KC__METRICS_LABELS(...)                           \
    (const kc_str[]){{0} __VA_OPT__(, ) __VA_ARGS__} + 1, \
        sizeof((const kc_str[]){{0} __VA_OPT__(, ) __VA_ARGS__}) / sizeof(kc_str) - 1

kc_counter *kc__metrics_counter_of(kc_metric *metric, const kc_str *values, size_t n);
kc_gauge *kc__metrics_gauge_of(kc_metric *metric, const kc_str *values, size_t n);
kc_histogram *kc__metrics_histogram_of(kc_metric *metric, const kc_str *values, size_t n);

#endif
