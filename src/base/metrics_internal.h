/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_internal.h: the internals of a metric, shared by these files:
 *
 *     metrics.c            the registry: definitions, their validation, names
 *     metrics_series.c     finds the series of label values
 *     metrics_retain.c     removes the series of obsolete values
 *     metrics_value.c      counting, without locks
 *     metrics_text.c       text output
 */
#ifndef KC_BASE_METRICS_INTERNAL_H
#define KC_BASE_METRICS_INTERNAL_H

#include "kc/arena.h"
#include "kc/map.h"
#include "kc/metrics.h"
#include "kc/thread.h"
#include "kc/vec.h"

typedef enum kc__metrics_kind {
    KC__METRICS_COUNTER,
    KC__METRICS_GAUGE,
    KC__METRICS_HISTOGRAM,
    KC__METRICS_CALLBACK, /* A gauge that a function reads. */
} kc__metrics_kind;

/* Two numbers, because most counters count by one: that one is exact and costs one instruction. */
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

/* A value of an open label, malloc'd with its text. */
typedef struct kc__metrics_label_value {
    kc_str text;  /* First member: values of closed labels are only a kc_str. */
    size_t holds; /* kc_metric_ref_label. */
    char bytes[];
} kc__metrics_label_value;

typedef struct kc__metrics_label {
    const char *name;
    bool closed;
    size_t max_values; /* 0 for a closed label. */
    kc_map known;      /* Known values: each a kc_str, which is also its key; for an open label a
                        * kc__metrics_label_value. The metric's mutex guards it, unless the label is
                        * closed. */
} kc__metrics_label;

/* Malloc'd. The metric owns its value and reuses it for another series when this one is removed. */
typedef struct kc__metrics_series {
    kc_str joined;   /* Its key in by_values; owned. */
    void *value;     /* kc_counter, kc_gauge or kc_histogram. */
    kc_str labels[]; /* One per label of the metric. */
} kc__metrics_series;

typedef KC_VEC(kc__metrics_series *) kc__metrics_series_list;

/* Members before the mutex do not change after registration, except the known values of open
 * labels. */
struct kc_metric {
    kc__metrics_kind kind;
    const char *name, *help;
    size_t n_labels;
    size_t n_buckets;
    double *buckets;
    double (*read)(void *user);
    void *user;
    kc__metrics_label labels[KC_METRIC_MAX_LABELS];
    kc_mutex mutex;   /* Guards what follows. Never held together with the registry's. */
    kc_arena memory;  /* Of everything the metric points to. */
    kc_map by_values; /* kc__metrics_series by their joined values. */
    kc__metrics_series_list series; /* Sorted by their values. */
    KC_VEC(void *) spare;           /* Values of removed series. */
    kc_mutex writing;               /* Held while series are written or removed. Taken first. */
};

struct kc_metrics {
    kc_mutex mutex;       /* Guards by_name. */
    kc_map by_name;       /* kc_metric. Never removed before the registry is freed. */
    kc_mutex hooks_mutex; /* Guards hooks; held while they run. Taken first. */
    kc_dlist hooks;       /* Of kc_metrics_hook. */
};

/* Runs the hooks. */
void kc__metrics_before_write(kc_metrics *metrics);
/* True if a label may have this value. */
bool kc__metrics_label_value_ok(kc_str value);
/* The value as the label knows it: itself, added if there is room, or "other". The metric's mutex
 * is held. */
kc_str kc__metrics_label_admit(kc__metrics_label *label, kc_str value);
/* The value of the series with these label values. */
void *kc__metrics_series_value(kc_metric *metric, const kc_str *values, size_t n);
/* Frees the series; the metric keeps its value. */
void kc__metrics_series_free(kc__metrics_series *series);
/* Resets a value to zero, of a histogram or any other metric. */
void kc__metrics_value_reset(const kc_metric *metric, void *value);

#endif
