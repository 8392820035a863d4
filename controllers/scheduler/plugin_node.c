/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_node.c: what a pod and a node say of each other: NodeUnschedulable, TaintToleration,
 * NodeAffinity (with nodeSelector), NodePorts. Each looks at one host and nothing else.
 */
#include "common/taints.h"
#include "scheduler/cycle.h"
#include "scheduler/texts.h"

/* ---- taints ---- */

bool kc__tolerates(const kc_pod *pod, const kc__taint *taint)
{
    const kc_taint plain = {
        .key = (char *)taint->key, .value = (char *)taint->value, .effect = (char *)taint->effect};
    return kc__find_toleration(pod, &plain);
}

const kc__taint *kc__untolerated(const kc_pod *pod, const kc__host *host)
{
    kc_vec_each (&host->taints, t)
        if (t->refuses && !kc__tolerates(pod, t))
            return t;
    return NULL;
}

kc__code kc__filter_unschedulable(kc__cycle *c, const kc__host *host, kc__reasons *why)
{
    static const kc__taint taint = {
        .key = "node.kubernetes.io/unschedulable", .value = "", .effect = "NoSchedule"};
    if (!host->unschedulable || kc__tolerates(c->demand->wants->pod, &taint))
        return KC__FITS;
    kc__reasons_add(why, "node(s) were unschedulable");
    return KC__NEVER;
}

kc__code kc__filter_taints(kc__cycle *c, const kc__host *host, kc__reasons *why)
{
    const kc__taint *t = kc__untolerated(c->demand->wants->pod, host);
    if (!t)
        return KC__FITS;
    kc__reasons_add(why, t->reason);
    return KC__NEVER;
}

bool kc__prepare_score_taints(kc__cycle *c)
{
    for (size_t i = 0; i < c->n_feasible; i++)
        if (c->feasible[i]->taints.n)
            return true;
    return false;
}

/* How many taints say "rather not". */
int64_t kc__score_taints(kc__cycle *c, const kc__host *host)
{
    int64_t n = 0;
    kc_vec_each (&host->taints, t)
        n += !t->refuses && !kc__tolerates(c->demand->wants->pod, t);
    return n;
}

/* ---- selectors and affinity ---- */

/* Every term names its node: then all others are not even looked at, and that is what is said. */
static bool names_its_nodes(const kc__wants *w)
{
    if (!w->restricted || !w->required.n)
        return false;
    kc_vec_each (&w->required, term) {
        bool named = false;
        for (size_t i = 0; i < term->n_fields; i++)
            named = named || kc__says(term->fields[i].operator, "In");
        if (!named)
            return false;
    }
    return true;
}

static bool is_named(const kc__wants *w, const kc_object *node)
{
    kc_vec_each (&w->required, term)
        for (size_t i = 0; i < term->n_fields; i++)
            if (kc__says(term->fields[i].operator, "In") && term->fields[i].n_values &&
                kc_str_is(kc_object_name(node), term->fields[i].values[0]))
                return true;
    return false;
}

bool kc__cycle_wants(kc__cycle *c, const kc__host *host)
{
    enum { UNKNOWN, NO, YES };
    const kc__wants *w = c->demand->wants;
    if (!w->node_selector && !w->restricted)
        return true;
    if (!c->arena)
        return kc__wants_node(w, host->node);
    if (!c->wanted)
        c->wanted = kc_arena_calloc(c->arena, c->cluster->slots.n, 1);
    if (c->wanted[host->slot] == UNKNOWN)
        c->wanted[host->slot] = kc__wants_node(w, host->node) ? YES : NO;
    return c->wanted[host->slot] == YES;
}

kc__code kc__filter_affinity(kc__cycle *c, const kc__host *host, kc__reasons *why)
{
    const kc__wants *w = c->demand->wants;
    if (kc__cycle_wants(c, host))
        return KC__FITS;
    kc__reasons_add(why, names_its_nodes(w) && !is_named(w, host->node)
                             ? "node(s) didn't satisfy plugin(s) [NodeAffinity]"
                             : "node(s) didn't match Pod's node affinity/selector");
    return KC__NEVER;
}

bool kc__prepare_score_affinity(kc__cycle *c)
{
    return c->demand->wants->preferred.n;
}

int64_t kc__score_affinity(kc__cycle *c, const kc__host *host)
{
    int64_t score = 0;
    kc_vec_each (&c->demand->wants->preferred, term)
        if (kc__node_term_matches(term, host->node))
            score += term->weight;
    return score;
}

/* ---- ports ---- */

static bool any_address(const char *ip)
{
    return !strcmp(ip, "0.0.0.0");
}

static bool clash(const kc__port *a, const kc__port *b)
{
    return a->port == b->port && !strcmp(a->protocol, b->protocol) &&
           (any_address(a->ip) || any_address(b->ip) || !strcmp(a->ip, b->ip));
}

kc__code kc__filter_ports(kc__cycle *c, const kc__host *host, kc__reasons *why)
{
    kc_vec_each (&c->demand->ports, wanted)
        kc_vec_each (&host->ports, used)
            if (clash(wanted, *used)) {
                kc__reasons_add(why, "node(s) didn't have free ports for the requested pod ports");
                return KC__NOT_NOW;
            }
    return KC__FITS;
}
