/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each line is an object, as a server might send it: nodes, namespaces, budgets, pods on nodes and
 * pods that wait, for which a node is sought, at others' cost if need be. Trying must change
 * nothing, and when all pods are gone nothing may be left of them.
 */
#include "fuzzing.h"

#include "scheduler/cycle.h"
#include "scheduler/preempt.h"

typedef struct world {
    kc__cluster cluster;
    kc_rand rand;
    int64_t now;
} world;

static void seek_node(world *w, kc__place *place)
{
    kc_scoped(kc__decision) d = {0};
    kc_scoped(kc__preemption) p = {0};
    kc__decide(&w->cluster, place, &w->rand, ++w->now, &d);
    assert(!d.host != !d.message);
    if (d.host) {
        kc__place_put(&w->cluster, place, kc_cstr(d.host->name));
        return;
    }
    const size_t anchors = w->cluster.anchors.n, wishes = w->cluster.wishes.n;
    if (w->cluster.ready.n)
        kc__preempt(&w->cluster, place, &d, &w->rand, w->now, 0, &p);
    assert(wishes == w->cluster.wishes.n && anchors <= w->cluster.anchors.n);
}

static void add_pod(world *w, const kc_object *pod)
{
    kc__demand *d = kc__demand_of(pod, &w->cluster.terms, NULL);
    if (!d)
        return;
    const bool has_node = d->node, finished = d->finished;
    kc_scoped(kc_buf) key = {0};
    kc_key_write(&key, d->key);
    kc__place *old = kc__cluster_place(&w->cluster, kc_buf_str(&key));
    if (old)
        kc__cluster_remove_pod(&w->cluster, old);
    kc__place *place = kc__cluster_set_pod(&w->cluster, d);
    if (finished)
        kc__cluster_remove_pod(&w->cluster, place);
    else if (has_node)
        kc__place_put(&w->cluster, place, kc_cstr(d->node));
    else
        seek_node(w, place);
}

static void add(world *w, const kc_object *object)
{
    const kc_str kind = kc_object_kind(object);
    if (kc_str_is(kind, "Node"))
        kc__cluster_set_node(&w->cluster, object, NULL);
    else if (kc_str_is(kind, "Namespace"))
        kc__cluster_set_namespace(&w->cluster, kc_object_name(object), object);
    else if (kc_str_is(kind, "PodDisruptionBudget"))
        kc__cluster_set_budget(&w->cluster, kc_object_key(object), object);
    else
        add_pod(w, object);
}

static void remove_all_pods(kc__cluster *c)
{
    kc_map_each (&c->places, entry)
        kc__cluster_remove_pod(c, entry->value);
    kc__cluster_forget_tallies(c, INT64_MAX);
    assert(!c->anchors.n && !c->wishes.n && !c->ranks.n && !c->terms.by_text.n);
    kc_vec_each (&c->ready, host)
        assert(!(*host)->n_pods && !(*host)->ports.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_str rest = kc_str_of((const char *)data, size);
    world w = {.now = 1};
    kc_rand_seed(&w.rand, 7);
    kc__cluster_init(&w.cluster);
    for (int lines = 0; rest.p && lines < 64; lines++) {
        kc_auto(kc_object) *object = kc_object_parse(kc_str_cut(&rest, '\n'), NULL, NULL);
        if (object)
            add(&w, object);
    }
    remove_all_pods(&w.cluster);
    kc__cluster_done(&w.cluster);
    return 0;
}
