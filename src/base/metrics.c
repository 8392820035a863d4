/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.c: the registry of metrics: validation of definitions, and ownership of names.
 *
 * The registry first builds a metric from a definition and then compares it with the registered one
 * of that name, so that "the same definition" means equality in every respect. Names are never
 * released; a histogram also owns its derived names (x_bucket, x_sum, x_count).
 */
#include "base/metrics_internal.h"

#include <assert.h>
#include <math.h>

const double kc_default_buckets[KC_DEFAULT_BUCKETS] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                       0.5,   1,    2.5,   5,    10};

void kc_buckets_exponential(double start, double factor, size_t n, double *ret_buckets)
{
    assert(start > 0 && factor > 1);
    for (size_t i = 0; i < n; i++, start *= factor)
        ret_buckets[i] = start;
}

kc_metrics *kc_metrics_new(void)
{
    kc_metrics *metrics = kc_new(kc_metrics);
    kc_mutex_init(&metrics->mutex);
    kc_mutex_init(&metrics->hooks_mutex);
    kc_dlist_init(&metrics->hooks);
    return metrics;
}

void kc_metrics_add_hook(kc_metrics *metrics, kc_metrics_hook *hook)
{
    hook->link = (kc_dlist_link){0};
    kc_locked (&metrics->hooks_mutex)
        kc_dlist_push(&metrics->hooks, &hook->link);
}

void kc_metrics_remove_hook(kc_metrics *metrics, kc_metrics_hook *hook)
{
    kc_locked (&metrics->hooks_mutex)
        kc_dlist_remove(&hook->link);
}

void kc__metrics_before_write(kc_metrics *metrics)
{
    kc_locked (&metrics->hooks_mutex)
        kc_dlist_each (&metrics->hooks, kc_metrics_hook, link, hook)
            hook->before(hook);
}

static void label_done(kc__metrics_label *label)
{
    if (!label->closed)
        kc_map_each (&label->known, entry)
            free(entry->value);
    kc_map_done(&label->known);
}

static void metric_free(kc_metric *metric)
{
    if (!metric)
        return;
    for (size_t i = 0; i < metric->n_labels; i++)
        label_done(&metric->labels[i]);
    kc_map_done(&metric->by_values);
    kc_vec_each (&metric->series, series)
        kc__metrics_series_free(*series);
    kc_vec_done(&metric->series);
    kc_vec_done(&metric->spare);
    kc_arena_done(&metric->memory);
    kc_mutex_done(&metric->mutex);
    kc_mutex_done(&metric->writing);
    free(metric);
}
KC_AUTO_DEFINE(kc_metric, metric_free)

kc_metrics *kc_metrics_free(kc_metrics *metrics)
{
    if (!metrics)
        return NULL;
    kc_map_each (&metrics->by_name, entry)
        metric_free(entry->value);
    kc_map_done(&metrics->by_name);
    assert(kc_dlist_empty(&metrics->hooks));
    kc_mutex_done(&metrics->hooks_mutex);
    kc_mutex_done(&metrics->mutex);
    free(metrics);
    return NULL;
}

/* ---- validation of a definition ---- */

static bool is_name(const char *name, bool colons)
{
    for (const char *p = name; *p; p++) {
        bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_';
        bool digit = *p >= '0' && *p <= '9' && p != name;
        if (!letter && !digit && !(colons && *p == ':'))
            return false;
    }
    return *name != '\0';
}

static int check_metric_label(const kc_metric_opts *opts, size_t at, kc__metrics_kind kind,
                              kc_error *err)
{
    const kc_metric_label *label = &opts->labels[at];
    if (!is_name(label->name, false) || strncmp(label->name, "__", 2) == 0)
        return kc_error_set(err, KC_INVALID, "metric %s: \"%s\" is not a valid label name",
                            opts->name, label->name);
    if (kind == KC__METRICS_HISTOGRAM && strcmp(label->name, "le") == 0)
        return kc_error_set(err, KC_INVALID, "metric %s: a histogram reserves the label \"le\"",
                            opts->name);
    for (size_t i = 0; i < at; i++)
        if (strcmp(opts->labels[i].name, label->name) == 0)
            return kc_error_set(err, KC_INVALID, "metric %s: two labels are named \"%s\"",
                                opts->name, label->name);
    if (!label->values == !label->max_values)
        return kc_error_set(err, KC_INVALID,
                            "metric %s: label \"%s\" must have either values or max_values",
                            opts->name, label->name);
    for (size_t i = 0; label->values && label->values[i]; i++)
        if (!kc__metrics_label_value_ok(kc_cstr(label->values[i])))
            return kc_error_set(err, KC_INVALID,
                                "metric %s: value %zu of label \"%s\" is too long or not UTF-8",
                                opts->name, i, label->name);
    return 0;
}

static int check_buckets(const kc_metric_opts *opts, kc_error *err)
{
    if (opts->n_buckets > KC_METRIC_MAX_BUCKETS)
        return kc_error_set(err, KC_INVALID, "metric %s: more than %d buckets", opts->name,
                            KC_METRIC_MAX_BUCKETS);
    for (size_t i = 0; i < opts->n_buckets; i++)
        if (isnan(opts->buckets[i]) || (i && !(opts->buckets[i - 1] < opts->buckets[i])))
            return kc_error_set(err, KC_INVALID,
                                "metric %s: bucket %zu is not greater than the previous one",
                                opts->name, i);
    return 0;
}

static int check_metric_registration(const kc_metric_opts *opts, kc__metrics_kind kind,
                                     kc_error *err)
{
    if (!opts->name || !is_name(opts->name, true))
        return kc_error_set(err, KC_INVALID, "\"%s\" is not a valid metric name",
                            opts->name ? opts->name : "");
    if (kind != KC__METRICS_HISTOGRAM && opts->n_buckets)
        return kc_error_set(err, KC_INVALID, "metric %s: only a histogram has buckets", opts->name);
    if (kind == KC__METRICS_CALLBACK && opts->labels[0].name)
        return kc_error_set(err, KC_INVALID, "metric %s: a callback has no labels", opts->name);
    for (size_t i = 0; i < KC_METRIC_MAX_LABELS && opts->labels[i].name; i++) {
        int failed = check_metric_label(opts, i, kind, err);
        if (failed)
            return failed;
    }
    return check_buckets(opts, err);
}

/* ---- construction of a metric ---- */

static const char *copy(kc_metric *metric, const char *text)
{
    return kc_arena_strndup(&metric->memory, text, strlen(text));
}

static void add_label(kc_metric *metric, const kc_metric_label *from)
{
    kc__metrics_label *label = &metric->labels[metric->n_labels++];
    label->name = copy(metric, from->name);
    label->closed = from->values != NULL;
    label->max_values = from->max_values;
    for (size_t i = 0; from->values && from->values[i]; i++) {
        kc_str *value = kc_arena_new(&metric->memory, kc_str);
        *value = kc_cstr(copy(metric, from->values[i]));
        kc_map_put(&label->known, *value, value);
    }
}

static void add_buckets(kc_metric *metric, const kc_metric_opts *opts)
{
    const double *from = opts->n_buckets ? opts->buckets : kc_default_buckets;
    size_t n = opts->n_buckets ? opts->n_buckets : KC_DEFAULT_BUCKETS;
    if (isinf(from[n - 1]) && from[n - 1] > 0)
        n--; /* +Inf is implicit. */
    metric->n_buckets = n;
    metric->buckets = kc_arena_calloc(&metric->memory, n, sizeof(*from));
    for (size_t i = 0; i < n; i++)
        metric->buckets[i] = from[i];
}

static kc_metric *metric_new(const kc_metric_opts *opts, kc__metrics_kind kind)
{
    kc_metric *metric = kc_new(kc_metric);
    kc_mutex_init(&metric->mutex);
    kc_mutex_init(&metric->writing);
    metric->kind = kind;
    metric->name = copy(metric, opts->name);
    metric->help = copy(metric, opts->help ? opts->help : "");
    for (size_t i = 0; i < KC_METRIC_MAX_LABELS && opts->labels[i].name; i++)
        add_label(metric, &opts->labels[i]);
    if (kind == KC__METRICS_HISTOGRAM)
        add_buckets(metric, opts);
    return metric;
}

/* ---- names ---- */

static bool same_label(const kc__metrics_label *a, const kc__metrics_label *b)
{
    if (strcmp(a->name, b->name) != 0 || a->closed != b->closed || a->max_values != b->max_values ||
        (a->closed && a->known.n != b->known.n))
        return false;
    if (a->closed)
        kc_map_each (&a->known, entry)
            if (!kc_map_get(&b->known, entry->key))
                return false;
    return true;
}

static bool same_definition(const kc_metric *a, const kc_metric *b)
{
    if (a->kind != b->kind || strcmp(a->help, b->help) != 0 || a->n_labels != b->n_labels ||
        a->n_buckets != b->n_buckets || a->read != b->read || a->user != b->user)
        return false;
    for (size_t i = 0; i < a->n_labels; i++)
        if (!same_label(&a->labels[i], &b->labels[i]))
            return false;
    for (size_t i = 0; i < a->n_buckets; i++)
        if (a->buckets[i] != b->buckets[i])
            return false;
    return true;
}

/* The metric that writes one of the names of `metric`, or NULL. */
static const kc_metric *writes_same_name(const kc_map *by_name, const kc_metric *metric)
{
    static const char *const suffixes[] = {"_bucket", "_sum", "_count"};
    kc_str name = kc_cstr(metric->name);
    for (size_t i = 0; i < KC_COUNT(suffixes); i++) {
        kc_str suffix = kc_cstr(suffixes[i]);
        kc_autofree char *longer = kc_asprintf("%s%s", metric->name, suffixes[i]);
        const kc_metric *other =
            metric->kind == KC__METRICS_HISTOGRAM ? kc_map_get(by_name, kc_cstr(longer)) : NULL;
        if (other)
            return other;
        if (!kc_str_ends(name, suffix))
            continue;
        other = kc_map_get(by_name, kc_str_sub(name, 0, name.n - suffix.n));
        if (other && other->kind == KC__METRICS_HISTOGRAM)
            return other;
    }
    return NULL;
}

/* Registers the metric and returns it, or returns the equal one that is already registered. */
static kc_metric *enter_metric(kc_metrics *metrics, kc_metric **metric, kc_error *err)
{
    kc_metric *there = kc_map_get(&metrics->by_name, kc_cstr((*metric)->name));
    if (there && same_definition(there, *metric))
        return there;
    const kc_metric *other = there ? there : writes_same_name(&metrics->by_name, *metric);
    if (other) {
        kc_error_set(err, KC_ALREADY_EXISTS,
                     "metric %s: the name is taken by %s, which has another definition",
                     (*metric)->name, other->name);
        return NULL;
    }
    kc_map_put(&metrics->by_name, kc_cstr((*metric)->name), *metric);
    return kc_take(*metric);
}

static kc_metric *register_metric(kc_metrics *metrics, kc__metrics_kind kind,
                                  const kc_metric_opts *opts, double (*read)(void *user),
                                  void *user, kc_error *err)
{
    if (check_metric_registration(opts, kind, err) < 0)
        return NULL;
    kc_auto(kc_metric) *metric = metric_new(opts, kind);
    metric->read = read;
    metric->user = user;
    kc_metric *registered = NULL;
    kc_locked (&metrics->mutex)
        registered = enter_metric(metrics, &metric, err);
    /* A metric without labels exists from the start, at zero. */
    if (registered && registered->n_labels == 0)
        kc__metrics_series_value(registered, NULL, 0);
    return registered;
}

kc_metric *kc_metrics_counter(kc_metrics *metrics, const kc_metric_opts *opts, kc_error *err)
{
    return register_metric(metrics, KC__METRICS_COUNTER, opts, NULL, NULL, err);
}

kc_metric *kc_metrics_gauge(kc_metrics *metrics, const kc_metric_opts *opts, kc_error *err)
{
    return register_metric(metrics, KC__METRICS_GAUGE, opts, NULL, NULL, err);
}

kc_metric *kc_metrics_histogram(kc_metrics *metrics, const kc_metric_opts *opts, kc_error *err)
{
    return register_metric(metrics, KC__METRICS_HISTOGRAM, opts, NULL, NULL, err);
}

kc_metric *kc_metrics_gauge_callback(kc_metrics *metrics, const kc_metric_opts *opts,
                                     double (*read)(void *user), void *user, kc_error *err)
{
    return register_metric(metrics, KC__METRICS_CALLBACK, opts, read, user, err);
}
