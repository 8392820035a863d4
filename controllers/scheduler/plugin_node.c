/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_node.c: plugins that compare a pod with one node: NodeUnschedulable, TaintToleration,
 * NodeAffinity (with nodeSelector), NodePorts.
 */
#include "common/taints.h"
#include "scheduler/cycle.h"
#include "scheduler/texts.h"

/* ---- taints ---- */

bool kc__sched_tolerates(const kc_pod *pod, const kc__sched_taint *taint)
{
    const kc_taint plain = {
        .key = (char *)taint->key, .value = (char *)taint->value, .effect = (char *)taint->effect};
    return kc__common_find_toleration(pod, &plain);
}

const kc__sched_taint *kc__sched_untolerated(const kc_pod *pod, const kc__sched_node *host)
{
    kc_vec_each (&host->taints, t)
        if (t->refuses && !kc__sched_tolerates(pod, t))
            return t;
    return NULL;
}

kc__sched_filter_code kc__sched_filter_unschedulable(kc__sched_cycle *c, const kc__sched_node *host,
                                                     kc__sched_reasons *why)
{
    static const kc__sched_taint taint = {
        .key = "node.kubernetes.io/unschedulable", .value = "", .effect = "NoSchedule"};
    if (!host->unschedulable || kc__sched_tolerates(c->demand->wants->pod, &taint))
        return KC__SCHED_FITS;
    kc__sched_reasons_add(why, "node(s) were unschedulable");
    return KC__SCHED_UNRESOLVABLE;
}

kc__sched_filter_code kc__sched_filter_taints(kc__sched_cycle *c, const kc__sched_node *host,
                                              kc__sched_reasons *why)
{
    const kc__sched_taint *t = kc__sched_untolerated(c->demand->wants->pod, host);
    if (!t)
        return KC__SCHED_FITS;
    kc__sched_reasons_add(why, t->reason);
    return KC__SCHED_UNRESOLVABLE;
}

bool kc__sched_prepare_score_taints(kc__sched_cycle *c)
{
    for (size_t i = 0; i < c->n_feasible; i++)
        if (c->feasible[i]->taints.n)
            return true;
    return false;
}

/* Number of untolerated PreferNoSchedule taints. */
int64_t kc__sched_score_taints(kc__sched_cycle *c, const kc__sched_node *host)
{
    int64_t n = 0;
    kc_vec_each (&host->taints, t)
        n += !t->refuses && !kc__sched_tolerates(c->demand->wants->pod, t);
    return n;
}

/* ---- selectors and affinity ---- */

/* Every term names a node: then no other node is visited, and the message says so. */
static bool names_its_nodes(const kc__sched_wants *w)
{
    if (!w->restricted || !w->required.n)
        return false;
    kc_vec_each (&w->required, term) {
        bool named = false;
        for (size_t i = 0; i < term->n_fields; i++)
            named = named || kc__sched_text_is(term->fields[i].operator, "In");
        if (!named)
            return false;
    }
    return true;
}

static bool sched_plugin_node_is_named(const kc__sched_wants *w, const kc_object *node)
{
    kc_vec_each (&w->required, term)
        for (size_t i = 0; i < term->n_fields; i++)
            if (kc__sched_text_is(term->fields[i].operator, "In") && term->fields[i].n_values &&
                kc_str_is(kc_object_name(node), term->fields[i].values[0]))
                return true;
    return false;
}

bool kc__sched_cycle_wants(kc__sched_cycle *c, const kc__sched_node *host)
{
    enum { UNKNOWN, NO, YES };
    const kc__sched_wants *w = c->demand->wants;
    if (!w->node_selector && !w->restricted)
        return true;
    if (!c->arena)
        return kc__sched_wants_node(w, host->node);
    if (!c->wanted)
        c->wanted = kc_arena_calloc(c->arena, c->cluster->slots.n, 1);
    if (c->wanted[host->slot] == UNKNOWN)
        c->wanted[host->slot] = kc__sched_wants_node(w, host->node) ? YES : NO;
    return c->wanted[host->slot] == YES;
}

kc__sched_filter_code kc__sched_filter_affinity(kc__sched_cycle *c, const kc__sched_node *host,
                                                kc__sched_reasons *why)
{
    const kc__sched_wants *w = c->demand->wants;
    if (kc__sched_cycle_wants(c, host))
        return KC__SCHED_FITS;
    kc__sched_reasons_add(why, names_its_nodes(w) && !sched_plugin_node_is_named(w, host->node)
                                   ? "node(s) didn't satisfy plugin(s) [NodeAffinity]"
                                   : "node(s) didn't match Pod's node affinity/selector");
    return KC__SCHED_UNRESOLVABLE;
}

bool kc__sched_prepare_score_affinity(kc__sched_cycle *c)
{
    return c->demand->wants->preferred.n;
}

int64_t kc__sched_score_affinity(kc__sched_cycle *c, const kc__sched_node *host)
{
    int64_t score = 0;
    kc_vec_each (&c->demand->wants->preferred, term)
        if (kc__sched_node_term_matches(term, host->node))
            score += term->weight;
    return score;
}

/* ---- ports ---- */

static bool any_address(const char *ip)
{
    return !strcmp(ip, "0.0.0.0");
}

static bool clash(const kc__sched_port *a, const kc__sched_port *b)
{
    return a->port == b->port && !strcmp(a->protocol, b->protocol) &&
           (any_address(a->ip) || any_address(b->ip) || !strcmp(a->ip, b->ip));
}

kc__sched_filter_code kc__sched_filter_ports(kc__sched_cycle *c, const kc__sched_node *host,
                                             kc__sched_reasons *why)
{
    kc_vec_each (&c->demand->ports, wanted)
        kc_vec_each (&host->ports, used)
            if (clash(wanted, *used)) {
                kc__sched_reasons_add(why,
                                      "node(s) didn't have free ports for the requested pod ports");
                return KC__SCHED_UNFIT;
            }
    return KC__SCHED_FITS;
}
