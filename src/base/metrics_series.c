/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_series.c: finds the series of label values.
 *
 * Each value is first mapped to one that its label allows (itself, or "other"); then the series is
 * looked up by all values joined. So the number of series of a metric is bounded by the product of
 * what its labels allow, plus one each for "other". A new series is inserted into the sorted list
 * at once: that is rare, and output needs no sorting.
 */
#include "base/metrics_internal.h"
#include "kc/utf8.h"

#include <assert.h>

/* Separates joined values. No value contains it, since it is not valid UTF-8. */
enum { SEPARATOR = '\xff' };

bool kc__metrics_label_value_ok(kc_str value)
{
    uint32_t c;
    if (value.n > KC_METRIC_MAX_VALUE)
        return false;
    for (size_t at = 0, n; at < value.n; at += n) {
        n = kc_utf8_next(kc_str_sub(value, at, value.n), &c);
        if (n == 0)
            return false;
    }
    return true;
}

kc_str kc__metrics_label_admit(kc__metrics_label *label, kc_str value)
{
    const kc_str *known = kc_map_get(&label->known, value);
    if (known)
        return *known;
    if (label->closed || label->known.n >= label->max_values ||
        !kc__metrics_label_value_ok(value) || kc_str_is(value, "other"))
        return KC_STR("other");
    kc__metrics_label_value *kept = kc_alloc(sizeof(*kept) + value.n);
    kept->text = kc_str_of(kept->bytes, value.n);
    kept->holds = 0;
    if (value.n)
        memcpy(kept->bytes, value.p, value.n);
    kc_map_put(&label->known, kept->text, kept);
    return kept->text;
}

static int compare_series(const kc_metric *metric, const kc_str *a, const kc_str *b)
{
    int order = 0;
    for (size_t i = 0; i < metric->n_labels && order == 0; i++)
        order = kc_str_cmp(a[i], b[i]);
    return order;
}

static void insert_sorted(kc_metric *metric, kc__metrics_series *series)
{
    size_t from = 0, to = metric->series.n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (compare_series(metric, metric->series.items[middle]->labels, series->labels) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    kc_vec_push(&metric->series, series);
    kc__metrics_series **at = &metric->series.items[from];
    memmove(at + 1, at, (metric->series.n - 1 - from) * sizeof(*at));
    *at = series;
}

static void *new_value(kc_metric *metric)
{
    kc_arena *memory = &metric->memory;
    if (metric->spare.n) {
        void *spare = kc_vec_pop(&metric->spare);
        kc__metrics_value_reset(metric, spare);
        return spare;
    }
    if (metric->kind == KC__METRICS_COUNTER)
        return kc_arena_new(memory, kc_counter);
    if (metric->kind != KC__METRICS_HISTOGRAM)
        return kc_arena_new(memory, kc_gauge);
    size_t counts = (metric->n_buckets + 1) * sizeof(_Atomic uint64_t);
    kc_histogram *histogram = kc_arena_calloc(memory, 1, sizeof(kc_histogram) + counts);
    histogram->bounds = metric->buckets;
    histogram->n_bounds = metric->n_buckets;
    return histogram;
}

static kc__metrics_series *new_series(kc_metric *metric, const kc_str *values, kc_str joined)
{
    kc__metrics_series *series = kc_alloc(sizeof(*series) + metric->n_labels * sizeof(kc_str));
    for (size_t i = 0; i < metric->n_labels; i++)
        series->labels[i] = values[i];
    series->value = new_value(metric);
    series->joined = kc_str_of(kc_alloc(joined.n + 1), joined.n);
    memcpy((char *)series->joined.p, joined.p, joined.n);
    kc_map_put(&metric->by_values, series->joined, series);
    insert_sorted(metric, series);
    return series;
}

void kc__metrics_series_free(kc__metrics_series *series)
{
    free((char *)series->joined.p);
    free(series);
}

static kc__metrics_series *find_series(kc_metric *metric, const kc_str *values)
{
    kc_str known[KC_METRIC_MAX_LABELS];
    char joined[KC_METRIC_MAX_LABELS * (KC_METRIC_MAX_VALUE + 1)];
    size_t n = 0;
    for (size_t i = 0; i < metric->n_labels; i++) {
        known[i] = kc__metrics_label_admit(&metric->labels[i], values[i]);
        if (known[i].n)
            memcpy(joined + n, known[i].p, known[i].n);
        n += known[i].n;
        joined[n++] = SEPARATOR;
    }
    kc__metrics_series *series = kc_map_get(&metric->by_values, kc_str_of(joined, n));
    return series ? series : new_series(metric, known, kc_str_of(joined, n));
}

void *kc__metrics_series_value(kc_metric *metric, const kc_str *values, size_t n)
{
    void *value = NULL;
    assert(n == metric->n_labels && "one value per label");
    (void)n;
    kc_locked (&metric->mutex)
        value = find_series(metric, values)->value;
    return value;
}

static void *series_label_value_of(kc_metric *metric, kc__metrics_kind kind, const kc_str *values,
                                   size_t n)
{
    if (!metric)
        return NULL;
    assert(metric->kind == kind && "the metric has another type");
    (void)kind;
    return kc__metrics_series_value(metric, values, n);
}

kc_counter *kc__metrics_counter_of(kc_metric *metric, const kc_str *values, size_t n)
{
    return series_label_value_of(metric, KC__METRICS_COUNTER, values, n);
}

kc_gauge *kc__metrics_gauge_of(kc_metric *metric, const kc_str *values, size_t n)
{
    return series_label_value_of(metric, KC__METRICS_GAUGE, values, n);
}

kc_histogram *kc__metrics_histogram_of(kc_metric *metric, const kc_str *values, size_t n)
{
    return series_label_value_of(metric, KC__METRICS_HISTOGRAM, values, n);
}
