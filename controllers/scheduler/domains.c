/* SPDX-License-Identifier: Apache-2.0 */
/*
 * domains.c: topology domains. For each topology key in use: the value of that label as a small
 * number, by node. A number is reused when no node has its value any more; so the tables of a
 * decision, which have one entry per number, stay short.
 */
#include "scheduler/cluster.h"

static void sched_domains_release(kc__sched_domains *d, size_t slot)
{
    const int32_t id = d->of.items[slot];
    d->of.items[slot] = -1;
    if (id < 0 || --d->users.items[id])
        return;
    kc_map_remove(&d->ids, kc_cstr(d->values.items[id]));
    free(d->values.items[id]);
    d->values.items[id] = NULL;
    kc_vec_push(&d->spare, id);
}

static int32_t free_id(kc__sched_domains *d)
{
    if (d->spare.n)
        return kc_vec_pop(&d->spare);
    kc_vec_push(&d->values, NULL);
    kc_vec_push(&d->users, 0);
    return (int32_t)d->values.n - 1;
}

static int32_t id_of(kc__sched_domains *d, kc_str value)
{
    const uintptr_t known = (uintptr_t)kc_map_get(&d->ids, value);
    if (known)
        return (int32_t)known - 1;
    const int32_t id = free_id(d);
    d->values.items[id] = kc_str_dup(value);
    kc_map_put(&d->ids, kc_cstr(d->values.items[id]), (void *)((uintptr_t)id + 1));
    return id;
}

static void update_one(kc__sched_domains *d, const kc__sched_node *host)
{
    kc_scoped(kc_arena) arena = {0};
    while (d->of.n <= host->slot)
        kc_vec_push(&d->of, -1);
    const kc_str value =
        host->node ? kc_object_label(host->node, kc_cstr(d->key), &arena) : (kc_str){0};
    const int32_t id = value.p ? id_of(d, value) : -1;
    if (id >= 0)
        d->users.items[id]++;
    sched_domains_release(d, host->slot);
    d->of.items[host->slot] = id;
}

void kc__sched_domains_update(kc__sched_cluster *cluster, const kc__sched_node *host)
{
    kc_map_each (&cluster->domains, entry)
        update_one(entry->value, host);
}

const kc__sched_domains *kc__sched_cluster_domains(kc__sched_cluster *cluster, const char *key)
{
    kc__sched_domains *d = kc_map_get(&cluster->domains, kc_cstr(key));
    if (d)
        return d;
    d = kc_new(kc__sched_domains);
    d->key = kc_strdup(key);
    kc_map_put(&cluster->domains, kc_cstr(d->key), d);
    for (size_t i = 0; i < cluster->slots.n; i++)
        kc_vec_push(&d->of, -1);
    kc_vec_each (&cluster->ready, host)
        update_one(d, *host);
    return d;
}

static void domains_free(kc__sched_domains *d)
{
    kc_vec_each (&d->values, value)
        free(*value);
    kc_vec_done(&d->values);
    kc_vec_done(&d->users);
    kc_vec_done(&d->spare);
    kc_vec_done(&d->of);
    kc_map_done(&d->ids);
    free(d->key);
    free(d);
}

void kc__sched_domains_done(kc__sched_cluster *cluster)
{
    kc_map_each (&cluster->domains, entry)
        domains_free(entry->value);
    kc_map_done(&cluster->domains);
}
