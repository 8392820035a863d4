/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_rules_metrics.c: the metrics of compiled CEL rules: their number, and their memory.
 *
 * Rules grow after they are compiled: patterns cache states of their automata. So a scrape computes
 * the memory. The controller's loop replaces the list of rules when it publishes resources; a
 * scrape takes references to the rules of the list and reads them without the lock.
 */
#include "apiserver/crd/crd_rules_metrics.h"

/* ---- references ---- */

static void drop_rules(kc__crd_rules_list *list)
{
    kc_vec_each (list, rules)
        kc_cel_rules_unref(*rules);
    kc_vec_done(list);
}

static kc__crd_rules_list copy_rules(kc__crd_rules_metrics *m)
{
    kc__crd_rules_list copy = {0};
    kc_locked (&m->lock)
        kc_vec_each (&m->published, rules)
            kc_vec_push(&copy, kc_cel_rules_ref(*rules));
    return copy;
}

/* Versions with equal schemas share their rules. */
static bool has_earlier_version(const kc__custom *versions, size_t i)
{
    for (size_t before = 0; before < i; before++)
        if (versions[before].rules == versions[i].rules)
            return true;
    return false;
}

void kc__crd_rules_list_add(kc__crd_rules_list *list, const kc__crd *crd)
{
    size_t n;
    const kc__custom *versions = kc__crd_versions(crd, &n);
    for (size_t i = 0; i < n; i++)
        if (versions[i].rules && !has_earlier_version(versions, i))
            kc_vec_push(list, kc_cel_rules_ref(versions[i].rules));
}

void kc__crd_rules_metrics_replace(kc__crd_rules_metrics *m, kc__crd_rules_list *list)
{
    kc__crd_rules_list before = {0};
    kc_locked (&m->lock) {
        before = m->published;
        m->published = *list;
    }
    *list = (kc__crd_rules_list){0};
    drop_rules(&before);
}

/* ---- metrics ---- */

static void measure_rules(kc_metrics_hook *hook)
{
    kc__crd_rules_metrics *m = kc_container_of(hook, kc__crd_rules_metrics, hook);
    kc__crd_rules_list list = copy_rules(m);
    size_t count = 0, memory = 0;
    kc_vec_each (&list, rules) {
        count += kc_cel_rules_count(*rules);
        memory += kc_cel_rules_memory(*rules);
    }
    drop_rules(&list);
    kc_gauge_set(m->count, (double)count);
    kc_gauge_set(m->memory, (double)memory);
}

int kc__crd_rules_metrics_init(kc__crd_rules_metrics *m, kc_metrics *metrics, kc_error *err)
{
    *m = (kc__crd_rules_metrics){.registry = metrics, .hook.before = measure_rules};
    kc_mutex_init(&m->lock);
    if (!metrics)
        return 0;
    kc_metric *count = kc_metrics_gauge(
        metrics,
        &(kc_metric_opts){.name = "kc_cel_rules", .help = "Compiled CEL rules of served CRDs."},
        err);
    kc_metric *memory = kc_metrics_gauge(
        metrics,
        &(kc_metric_opts){.name = "kc_cel_rules_memory_bytes",
                          .help = "Memory of the compiled CEL rules of served CRDs, cached states "
                                  "of regular expressions included."},
        err);
    if (!count || !memory)
        return kc_error_result(err);
    m->count = kc_metric_gauge(count);
    m->memory = kc_metric_gauge(memory);
    kc_metrics_add_hook(metrics, &m->hook);
    return 0;
}

void kc__crd_rules_metrics_done(kc__crd_rules_metrics *m)
{
    if (m->memory)
        kc_metrics_remove_hook(m->registry, &m->hook);
    drop_rules(&m->published);
    kc_mutex_done(&m->lock);
}
