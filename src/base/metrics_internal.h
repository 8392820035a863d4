/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_internal.h: the inside of a metric, shared by the files of metrics:
 *
 *     metrics.c            the registry: definitions, their checks, who has which name
 *     metrics_series.c     from label values to a series
 *     metrics_value.c      counting, without locks
 *     metrics_text.c       writing it all down
 */
#ifndef KC_BASE_METRICS_INTERNAL_H
#define KC_BASE_METRICS_INTERNAL_H

#include "kc/arena.h"
#include "kc/map.h"
#include "kc/metrics.h"
#include "kc/thread.h"
#include "kc/vec.h"

typedef enum kc__metric_kind {
    KC__COUNTER,
    KC__GAUGE,
    KC__HISTOGRAM,
    KC__CALLBACK, /* A gauge that is read by a function. */
} kc__metric_kind;

/* Two numbers, because most counters count by one: those are exact and cost one instruction. */
struct kc_counter {
    _Atomic uint64_t whole;
    _Atomic double rest;
};

struct kc_gauge {
    _Atomic double value;
};

struct kc_histogram {
    const double *bounds; /* The metric's. */
    size_t n_bounds;
    _Atomic double sum;
    _Atomic uint64_t counts[]; /* One for each bound, and one for +Inf. Not cumulative. */
};

typedef struct kc__label {
    const char *name;
    bool closed;
    size_t max_values; /* 0 for a closed one. */
    kc_map known;      /* Values, listed or seen so far: a kc_str each, which is its key too. The
                        * metric's mutex guards it, unless the label is closed. */
} kc__label;

typedef struct kc__series {
    const kc_str *labels; /* As many as the metric has. */
    void *value;          /* kc_counter, kc_gauge or kc_histogram. */
} kc__series;

typedef KC_VEC(kc__series *) kc__series_list;

/* What stands before the mutex does not change once the metric is registered, except for what is
 * known of open labels. */
struct kc_metric {
    kc__metric_kind kind;
    const char *name, *help;
    size_t n_labels;
    size_t n_buckets;
    double *buckets;
    double (*read)(void *user);
    void *user;
    kc__label labels[KC_METRIC_MAX_LABELS];
    kc_mutex mutex;         /* Guards what follows. Never held with the registry's. */
    kc_arena memory;        /* Everything the metric points to. */
    kc_map by_values;       /* kc__series, by their values joined. */
    kc__series_list series; /* In the order of their values. */
};

struct kc_metrics {
    kc_mutex mutex;       /* Guards by_name. */
    kc_map by_name;       /* kc_metric. None is removed before the registry is freed. */
    kc_mutex hooks_mutex; /* Guards hooks, and is held while they run. Taken first. */
    kc_list hooks;        /* Of kc_metrics_hook. */
};

/* Runs the hooks. */
void kc__metrics_before_write(kc_metrics *metrics);
/* Whether a label may have this value at all. */
bool kc__label_value_ok(kc_str value);
/* The series of these values. */
kc__series *kc__series_of(kc_metric *metric, const kc_str *values, size_t n);

#endif
