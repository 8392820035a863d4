/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_text.c: the Prometheus text format, version 0.0.4.
 *
 *     # HELP name text
 *     # TYPE name counter
 *     name{label="value",…} 17
 *
 * Locks are held only to copy lists of pointers; their targets live as long as the registry, so the
 * text is built, and callbacks are called, without locks.
 */
#include "base/metrics_internal.h"
#include "kc/number.h"
#include "kc/utf8.h"

#include <inttypes.h>

typedef KC_VEC(kc_metric *) metric_list;

/* Escapes backslashes and newlines everywhere, and quotes inside quotes. Replaces invalid UTF-8
 * (possible only in a help text), since a reader would reject the whole output. */
static void put_escaped(kc_buf *out, kc_str text, bool quoted)
{
    while (text.n) {
        uint32_t c;
        size_t n = kc_utf8_next(text, &c);
        if (n == 0)
            kc_buf_puts(out, "\xef\xbf\xbd");
        else if (c == '\n')
            kc_buf_puts(out, "\\n");
        else if (c == '\\' || (c == '"' && quoted))
            kc_buf_printf(out, "\\%c", (char)c);
        else
            kc_buf_append(out, kc_str_sub(text, 0, n));
        text = kc_str_sub(text, n ? n : 1, text.n);
    }
}

static void put_label(kc_buf *out, char before, const char *name, kc_str value)
{
    kc_buf_printf(out, "%c%s=\"", before, name);
    put_escaped(out, value, true);
    kc_buf_putc(out, '"');
}

/* Appends name and labels of a line, including `le` if it is not empty, up to the space. */
static void put_sample(kc_buf *out, const kc_metric *metric, const char *suffix,
                       const kc__metrics_series *series, kc_str le)
{
    char before = '{';
    kc_buf_printf(out, "%s%s", metric->name, suffix);
    for (size_t i = 0; i < metric->n_labels; i++, before = ',')
        put_label(out, before, metric->labels[i].name, series->labels[i]);
    if (le.n) {
        put_label(out, before, "le", le);
        before = ',';
    }
    kc_buf_puts(out, before == ',' ? "} " : " ");
}

static void put_number(kc_buf *out, double value)
{
    kc_double_write(out, value, false);
    kc_buf_putc(out, '\n');
}

static void put_counter(kc_buf *out, const kc_metric *metric, const kc__metrics_series *series)
{
    const kc_counter *counter = series->value;
    put_sample(out, metric, "", series, (kc_str){0});
    if (atomic_load_explicit(&counter->rest, memory_order_relaxed) == 0)
        kc_buf_printf(out, "%" PRIu64 "\n",
                      atomic_load_explicit(&counter->whole, memory_order_relaxed));
    else
        put_number(out, kc_counter_value(counter));
}

static void put_gauge(kc_buf *out, const kc_metric *metric, const kc__metrics_series *series)
{
    put_sample(out, metric, "", series, (kc_str){0});
    put_number(out, kc_gauge_value(series->value));
}

static void put_callback(kc_buf *out, const kc_metric *metric, const kc__metrics_series *series)
{
    put_sample(out, metric, "", series, (kc_str){0});
    put_number(out, metric->read(metric->user));
}

static void put_histogram(kc_buf *out, const kc_metric *metric, const kc__metrics_series *series)
{
    const kc_histogram *histogram = series->value;
    kc_scoped(kc_buf) le = {0};
    uint64_t below = 0;
    for (size_t i = 0; i <= histogram->n_bounds; i++) {
        below += atomic_load_explicit(&histogram->counts[i], memory_order_relaxed);
        kc_buf_clear(&le);
        kc_double_write(&le, i < histogram->n_bounds ? histogram->bounds[i] : __builtin_inf(),
                        false);
        put_sample(out, metric, "_bucket", series, kc_buf_str(&le));
        kc_buf_printf(out, "%" PRIu64 "\n", below);
    }
    put_sample(out, metric, "_sum", series, (kc_str){0});
    put_number(out, kc_histogram_sum(histogram));
    put_sample(out, metric, "_count", series, (kc_str){0});
    kc_buf_printf(out, "%" PRIu64 "\n", below);
}

static const struct {
    const char *type;
    void (*put)(kc_buf *out, const kc_metric *metric, const kc__metrics_series *series);
} kinds[] = {
    [KC__METRICS_COUNTER] = {"counter", put_counter},
    [KC__METRICS_GAUGE] = {"gauge", put_gauge},
    [KC__METRICS_HISTOGRAM] = {"histogram", put_histogram},
    [KC__METRICS_CALLBACK] = {"gauge", put_callback},
};

/* While `writing` is held, series may be added but not removed. */
static void put_series(kc_buf *out, kc_metric *metric)
{
    kc__metrics_series_list all = {0};
    kc_locked (&metric->mutex)
        kc_vec_each (&metric->series, series)
            kc_vec_push(&all, *series);
    if (all.n && *metric->help) {
        kc_buf_printf(out, "# HELP %s ", metric->name);
        put_escaped(out, kc_cstr(metric->help), false);
        kc_buf_putc(out, '\n');
    }
    if (all.n)
        kc_buf_printf(out, "# TYPE %s %s\n", metric->name, kinds[metric->kind].type);
    kc_vec_each (&all, series)
        kinds[metric->kind].put(out, metric, *series);
    kc_vec_done(&all);
}

static void put_metric(kc_buf *out, kc_metric *metric)
{
    kc_locked (&metric->writing)
        put_series(out, metric);
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(kc_metric *const *)a)->name, (*(kc_metric *const *)b)->name);
}

void kc_metrics_write(kc_metrics *metrics, kc_buf *out)
{
    metric_list all = {0};
    kc__metrics_before_write(metrics);
    kc_locked (&metrics->mutex)
        kc_map_each (&metrics->by_name, entry)
            kc_vec_push(&all, (kc_metric *)entry->value);
    kc_vec_sort(&all, by_name);
    kc_vec_each (&all, metric)
        put_metric(out, *metric);
    kc_vec_done(&all);
}
