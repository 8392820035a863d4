/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each line is an object, as a server might send it: nodes, namespaces, budgets, assigned pods and
 * pending pods, for which a node is chosen, with preemption if necessary. The simulation must
 * change nothing, and after the removal of all pods no state of them may remain.
 */
#include "fuzzing.h"

#include "scheduler/cycle.h"
#include "scheduler/preempt.h"

typedef struct world {
    kc__sched_cluster cluster;
    kc_rand rand;
    int64_t now;
} world;

static void seek_node(world *w, kc__sched_pod *place)
{
    kc_scoped(kc__sched_decision) d = {0};
    kc_scoped(kc__sched_preemption) p = {0};
    kc__sched_decide(&w->cluster, place, &w->rand, ++w->now, &d);
    assert(!d.host != !d.message);
    if (d.host) {
        kc__sched_pod_assign(&w->cluster, place, kc_cstr(d.host->name));
        return;
    }
    const size_t anchors = w->cluster.anchors.n, pod_terms = w->cluster.pod_terms.n;
    if (w->cluster.ready.n)
        kc__sched_preempt(&w->cluster, place, &d, &w->rand, w->now, 0, &p);
    assert(pod_terms == w->cluster.pod_terms.n && anchors <= w->cluster.anchors.n);
}

static void add_pod(world *w, const kc_object *pod)
{
    kc__sched_demand *d = kc__sched_demand_of(pod, &w->cluster.terms, NULL);
    if (!d)
        return;
    const bool has_node = d->node, finished = d->finished;
    kc_scoped(kc_buf) key = {0};
    kc_key_write(&key, d->key);
    kc__sched_pod *old = kc__sched_cluster_pod(&w->cluster, kc_buf_str(&key));
    if (old)
        kc__sched_cluster_remove_pod(&w->cluster, old);
    kc__sched_pod *place = kc__sched_cluster_set_pod(&w->cluster, d);
    if (finished)
        kc__sched_cluster_remove_pod(&w->cluster, place);
    else if (has_node)
        kc__sched_pod_assign(&w->cluster, place, kc_cstr(d->node));
    else
        seek_node(w, place);
}

static void add(world *w, const kc_object *object)
{
    const kc_str kind = kc_object_kind(object);
    if (kc_str_is(kind, "Node"))
        kc__sched_cluster_set_node(&w->cluster, object, NULL);
    else if (kc_str_is(kind, "Namespace"))
        kc__sched_cluster_set_namespace(&w->cluster, kc_object_name(object), object);
    else if (kc_str_is(kind, "PodDisruptionBudget"))
        kc__sched_cluster_set_budget(&w->cluster, kc_object_key(object), object);
    else
        add_pod(w, object);
}

static void remove_all_pods(kc__sched_cluster *c)
{
    kc_map_each (&c->places, entry)
        kc__sched_cluster_remove_pod(c, entry->value);
    kc__sched_cluster_forget_tallies(c, INT64_MAX);
    assert(!c->anchors.n && !c->pod_terms.n && !c->ranks.n && !c->terms.by_text.n);
    kc_vec_each (&c->ready, host)
        assert(!(*host)->n_pods && !(*host)->ports.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_str rest = kc_str_of((const char *)data, size);
    world w = {.now = 1};
    kc_rand_seed(&w.rand, 7);
    kc__sched_cluster_init(&w.cluster);
    for (int lines = 0; rest.p && lines < 64; lines++) {
        kc_auto(kc_object) *object = kc_object_parse(kc_str_cut(&rest, '\n'), NULL, NULL);
        if (object)
            add(&w, object);
    }
    remove_all_pods(&w.cluster);
    kc__sched_cluster_done(&w.cluster);
    return 0;
}
