/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_retain.c: removes the series of obsolete label values, such as those of a resource whose
 * CRD was deleted. Otherwise a client that creates and deletes CRDs would exhaust the values of a
 * label, and /metrics would grow to its limit and stay there.
 *
 * The number itself (a counter's memory) is not freed, since a thread may be about to count with
 * it: the next new series reuses it. So memory is bounded by the maximum number of series at any
 * time.
 */
#include "base/metrics_internal.h"

static kc__metrics_label *find_label(kc_metric *metric, const char *name, size_t *ret_at)
{
    for (size_t i = 0; i < metric->n_labels; i++)
        if (strcmp(metric->labels[i].name, name) == 0) {
            *ret_at = i;
            return &metric->labels[i];
        }
    return NULL;
}

/* Removes series of values that the label no longer knows. "other" is not one of its values. */
static void drop_series(kc_metric *metric, const kc__metrics_label *label, size_t at)
{
    size_t kept = 0;
    for (size_t i = 0; i < metric->series.n; i++) {
        kc__metrics_series *series = metric->series.items[i];
        const kc_str value = series->labels[at];
        if (kc_str_is(value, "other") || kc_map_get(&label->known, value)) {
            metric->series.items[kept++] = series;
            continue;
        }
        kc_map_remove(&metric->by_values, series->joined);
        kc_vec_push(&metric->spare, series->value);
        kc__metrics_series_free(series);
    }
    metric->series.n = kept;
}

/* Both mutexes are held. Frees the texts last: series point to them. */
static void retain(kc_metric *metric, kc__metrics_label *label, size_t at,
                   bool (*keep)(kc_str value, void *user), void *user)
{
    KC_VEC(void *) gone = {0};
    kc_map_each (&label->known, entry)
        if (!((const kc__metrics_label_value *)entry->value)->holds && !keep(entry->key, user))
            kc_vec_push(&gone, kc_map_remove(&label->known, entry->key));
    if (gone.n)
        drop_series(metric, label, at);
    kc_vec_each (&gone, text)
        free(*text);
    kc_vec_done(&gone);
}

void kc_metric_retain_labels(kc_metric *metric, const char *name,
                             bool (*keep)(kc_str value, void *user), void *user)
{
    size_t at = 0;
    kc__metrics_label *label = metric ? find_label(metric, name, &at) : NULL;
    if (!label || label->closed)
        return;
    kc_locked (&metric->writing)
        kc_locked (&metric->mutex)
            retain(metric, label, at, keep, user);
}

static bool is_another(kc_str value, void *user)
{
    return !kc_str_eq(value, *(const kc_str *)user);
}

void kc_metric_delete_label(kc_metric *metric, const char *label, kc_str value)
{
    kc_metric_retain_labels(metric, label, is_another, &value);
}

/* ---- reference-counted values ---- */

static kc__metrics_label *open_label(kc_metric *metric, const char *name)
{
    size_t at = 0;
    kc__metrics_label *label = metric ? find_label(metric, name, &at) : NULL;
    return label && !label->closed ? label : NULL;
}

void kc_metric_ref_label(kc_metric *metric, const char *name, kc_str value)
{
    kc__metrics_label *label = open_label(metric, name);
    if (!label)
        return;
    kc_locked (&metric->mutex) {
        kc__metrics_label_admit(label, value);
        kc__metrics_label_value *known = kc_map_get(&label->known, value);
        if (known)
            known->holds++;
    }
}

void kc_metric_unref_label(kc_metric *metric, const char *name, kc_str value)
{
    kc__metrics_label *label = open_label(metric, name);
    bool last = false;
    if (!label)
        return;
    kc_locked (&metric->mutex) {
        kc__metrics_label_value *known = kc_map_get(&label->known, value);
        last = known && known->holds && --known->holds == 0;
    }
    if (last)
        kc_metric_delete_label(metric, name, value);
}
