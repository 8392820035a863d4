/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_series.c: from label values to a series.
 *
 * Each value first becomes one its label may have (itself, or "other"); only then is the series
 * looked up, by all values joined. So the number of series of a metric is bounded by the product of
 * what its labels allow, plus one each for "other". A new series is put in the sorted list at once:
 * that happens rarely, and writing needs no sorting.
 */
#include "base/metrics_internal.h"
#include "kc/utf8.h"

#include <assert.h>

/* Between joined values. Not in any value, since it is not in any UTF-8. */
enum { SEPARATOR = '\xff' };

bool kc__label_value_ok(kc_str value)
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

/* The value as the label knows it. */
static kc_str admitted(kc_metric *metric, kc__label *label, kc_str value)
{
    const kc_str *known = kc_map_get(&label->known, value);
    if (known)
        return *known;
    if (label->closed || label->known.n >= label->max_values || !kc__label_value_ok(value) ||
        kc_str_is(value, "other"))
        return KC_STR("other");
    kc_str *kept = kc_arena_new(&metric->memory, kc_str);
    *kept = kc_arena_str(&metric->memory, value);
    kc_map_put(&label->known, *kept, kept);
    return *kept;
}

static int compare(const kc_metric *metric, const kc_str *a, const kc_str *b)
{
    int order = 0;
    for (size_t i = 0; i < metric->n_labels && order == 0; i++)
        order = kc_str_cmp(a[i], b[i]);
    return order;
}

static void insert_sorted(kc_metric *metric, kc__series *series)
{
    size_t from = 0, to = metric->series.n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (compare(metric, metric->series.items[middle]->labels, series->labels) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    kc_vec_push(&metric->series, series);
    kc__series **at = &metric->series.items[from];
    memmove(at + 1, at, (metric->series.n - 1 - from) * sizeof(*at));
    *at = series;
}

static void *new_value(kc_metric *metric)
{
    kc_arena *memory = &metric->memory;
    if (metric->kind == KC__COUNTER)
        return kc_arena_new(memory, kc_counter);
    if (metric->kind != KC__HISTOGRAM)
        return kc_arena_new(memory, kc_gauge);
    size_t counts = (metric->n_buckets + 1) * sizeof(_Atomic uint64_t);
    kc_histogram *histogram = kc_arena_calloc(memory, 1, sizeof(kc_histogram) + counts);
    histogram->bounds = metric->buckets;
    histogram->n_bounds = metric->n_buckets;
    return histogram;
}

static kc__series *new_series(kc_metric *metric, const kc_str *values, kc_str joined)
{
    kc_arena *memory = &metric->memory;
    kc__series *series = kc_arena_new(memory, kc__series);
    kc_str *labels = kc_arena_calloc(memory, metric->n_labels, sizeof(*labels));
    for (size_t i = 0; i < metric->n_labels; i++)
        labels[i] = values[i];
    series->labels = labels;
    series->value = new_value(metric);
    kc_map_put(&metric->by_values, kc_arena_str(memory, joined), series);
    insert_sorted(metric, series);
    return series;
}

static kc__series *find(kc_metric *metric, const kc_str *values)
{
    kc_str known[KC_METRIC_MAX_LABELS];
    char joined[KC_METRIC_MAX_LABELS * (KC_METRIC_MAX_VALUE + 1)];
    size_t n = 0;
    for (size_t i = 0; i < metric->n_labels; i++) {
        known[i] = admitted(metric, &metric->labels[i], values[i]);
        if (known[i].n)
            memcpy(joined + n, known[i].p, known[i].n);
        n += known[i].n;
        joined[n++] = SEPARATOR;
    }
    kc__series *series = kc_map_get(&metric->by_values, kc_str_of(joined, n));
    return series ? series : new_series(metric, known, kc_str_of(joined, n));
}

kc__series *kc__series_of(kc_metric *metric, const kc_str *values, size_t n)
{
    kc__series *series = NULL;
    assert(n == metric->n_labels && "a value for each label");
    (void)n;
    kc_locked (&metric->mutex)
        series = find(metric, values);
    return series;
}

static void *value_of(kc_metric *metric, kc__metric_kind kind, const kc_str *values, size_t n)
{
    if (!metric)
        return NULL;
    assert(metric->kind == kind && "a metric of another type");
    (void)kind;
    return kc__series_of(metric, values, n)->value;
}

kc_counter *kc__counter_of(kc_metric *metric, const kc_str *values, size_t n)
{
    return value_of(metric, KC__COUNTER, values, n);
}

kc_gauge *kc__gauge_of(kc_metric *metric, const kc_str *values, size_t n)
{
    return value_of(metric, KC__GAUGE, values, n);
}

kc_histogram *kc__histogram_of(kc_metric *metric, const kc_str *values, size_t n)
{
    return value_of(metric, KC__HISTOGRAM, values, n);
}
