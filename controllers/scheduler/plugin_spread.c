/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_spread.c: PodTopologySpread: spreads matching pods over zones, racks or nodes. A domain
 * may have at most maxSkew more of them than the domain with the fewest; as a preference, fewer is
 * better.
 *
 * counts.c provides the number of matching pods on each node; a decision adds them up by domain
 * over the eligible nodes: those with all topology labels that match the pod's node affinity.
 */
#include "scheduler/cycle.h"

#include <math.h>

#define HOSTNAME "kubernetes.io/hostname"
#define REFUSED  "node(s) didn't match pod topology spread constraints"

static bool is_hostname(const kc__sched_spread_state *s)
{
    return !strcmp(s->spread->term->key, HOSTNAME);
}

/* ---- both kinds ---- */

static void open_state(kc__sched_cycle *c, const kc__sched_spread *spread,
                       kc__sched_spread_state *ret)
{
    kc__sched_term *term = spread->term;
    const kc__sched_domains *domains = kc__sched_cluster_domains(c->cluster, term->key);
    *ret = (kc__sched_spread_state){
        .spread = spread,
        .tally = kc__sched_cluster_tally(c->cluster, &term, 1, c->now),
        .in = {domains, kc_arena_calloc(c->arena, domains->values.n + 1, sizeof(int64_t))},
        .counts = kc_arena_calloc(c->arena, domains->values.n + 1, sizeof(bool))};
}

static kc__sched_spread_state *open_states(kc__sched_cycle *c, bool hard, size_t *ret_n)
{
    const kc__sched_wants *w = c->demand->wants;
    kc__sched_spread_state *states = NULL;
    size_t n = 0;
    kc_vec_each (&w->spreads, s) {
        if (s->hard != hard)
            continue;
        if (!states)
            states = kc_arena_calloc(c->arena, w->spreads.n, sizeof(*states));
        open_state(c, s, &states[n++]);
    }
    *ret_n = n;
    return states;
}

static bool has_all_labels(const kc__sched_spread_state *states, size_t n,
                           const kc__sched_node *host)
{
    for (size_t i = 0; i < n; i++)
        if (kc__sched_domain_of(states[i].in.domains, host) < 0)
            return false;
    return true;
}

/* Node inclusion policies. */
static bool counts(kc__sched_cycle *c, const kc__sched_spread *s, const kc__sched_node *host)
{
    return (s->ignore_affinity || kc__sched_cycle_wants(c, host)) &&
           (!s->honor_taints || !kc__sched_untolerated(c->demand->wants->pod, host));
}

/* ---- DoNotSchedule ---- */

static void sum_host(kc__sched_cycle *c, const kc__sched_node *host)
{
    if (!has_all_labels(c->hard, c->n_hard, host))
        return;
    for (size_t i = 0; i < c->n_hard; i++) {
        kc__sched_spread_state *s = &c->hard[i];
        const int32_t id = kc__sched_domain_of(s->in.domains, host);
        if (!counts(c, s->spread, host))
            continue;
        s->in.sums[id] += kc__sched_count_at(&s->tally->counts, host->slot);
        s->counts[id] = true;
    }
}

/* Fewer domains than minDomains: the minimum counts as 0. */
static void find_least(kc__sched_spread_state *s)
{
    int64_t least = INT64_MAX, n = 0;
    for (size_t id = 0; id < s->in.domains->values.n; id++)
        if (s->counts[id]) {
            least = KC_MIN(least, s->in.sums[id]);
            n++;
        }
    s->least = n < s->spread->min_domains ? 0 : least;
}

bool kc__sched_prepare_spread(kc__sched_cycle *c)
{
    c->hard = open_states(c, true, &c->n_hard);
    if (!c->n_hard)
        return true;
    kc_vec_each (&c->cluster->ready, host)
        sum_host(c, *host);
    for (size_t i = 0; i < c->n_hard; i++)
        find_least(&c->hard[i]);
    return true;
}

kc__sched_filter_code kc__sched_filter_spread(kc__sched_cycle *c, const kc__sched_node *host,
                                              kc__sched_reasons *why)
{
    for (size_t i = 0; i < c->n_hard; i++) {
        const kc__sched_spread_state *s = &c->hard[i];
        const int32_t id = kc__sched_domain_of(s->in.domains, host);
        if (id < 0) {
            kc__sched_reasons_add(why, REFUSED " (missing required label)");
            return KC__SCHED_UNRESOLVABLE;
        }
        const int64_t here = s->counts[id] ? s->in.sums[id] : 0;
        if (here + s->spread->counts_itself - s->least > s->spread->max_skew) {
            kc__sched_reasons_add(why, REFUSED);
            return KC__SCHED_UNFIT;
        }
    }
    return KC__SCHED_FITS;
}

/* ---- ScheduleAnyway ---- */

/* Default constraints: a node without a zone label is spread by its name alone. */
static bool is_scored(const kc__sched_cycle *c, const kc__sched_node *host)
{
    return c->demand->wants->default_spread || has_all_labels(c->soft, c->n_soft, host);
}

/* The candidate domains; their number determines the weight of one more pod. */
static void open_domains(kc__sched_cycle *c)
{
    size_t scored = 0;
    size_t *sizes = kc_arena_calloc(c->arena, c->n_soft, sizeof(size_t));
    for (size_t f = 0; f < c->n_feasible; f++) {
        if (!is_scored(c, c->feasible[f]))
            continue;
        scored++;
        for (size_t i = 0; i < c->n_soft; i++) {
            const int32_t id = kc__sched_domain_of(c->soft[i].in.domains, c->feasible[f]);
            if (id >= 0 && !c->soft[i].counts[id])
                sizes[i]++;
            if (id >= 0)
                c->soft[i].counts[id] = true;
        }
    }
    for (size_t i = 0; i < c->n_soft; i++)
        c->soft[i].weight = log((double)(is_hostname(&c->soft[i]) ? scored : sizes[i]) + 2);
}

static void sum_soft(kc__sched_cycle *c, const kc__sched_node *host)
{
    if (!is_scored(c, host))
        return;
    for (size_t i = 0; i < c->n_soft; i++) {
        kc__sched_spread_state *s = &c->soft[i];
        const int32_t id = kc__sched_domain_of(s->in.domains, host);
        if (id >= 0 && s->counts[id] && counts(c, s->spread, host))
            s->in.sums[id] += kc__sched_count_at(&s->tally->counts, host->slot);
    }
}

bool kc__sched_prepare_score_spread(kc__sched_cycle *c)
{
    c->soft = open_states(c, false, &c->n_soft);
    if (!c->n_soft)
        return false;
    open_domains(c);
    kc_vec_each (&c->cluster->ready, host)
        sum_soft(c, *host);
    return true;
}

int64_t kc__sched_score_spread(kc__sched_cycle *c, const kc__sched_node *host)
{
    double score = 0;
    if (!is_scored(c, host))
        return 0;
    for (size_t i = 0; i < c->n_soft; i++) {
        const kc__sched_spread_state *s = &c->soft[i];
        const int32_t id = kc__sched_domain_of(s->in.domains, host);
        if (id < 0)
            continue;
        const int64_t n =
            is_hostname(s) ? kc__sched_count_at(&s->tally->counts, host->slot) : s->in.sums[id];
        score += (double)n * s->weight + s->spread->max_skew - 1;
    }
    return (int64_t)round(score);
}

void kc__sched_normalize_spread(kc__sched_cycle *c, int64_t *scores, size_t n)
{
    int64_t least = INT64_MAX, most = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_scored(c, c->feasible[i]))
            continue;
        least = KC_MIN(least, scores[i]);
        most = KC_MAX(most, scores[i]);
    }
    for (size_t i = 0; i < n; i++) {
        if (!is_scored(c, c->feasible[i]))
            scores[i] = 0;
        else
            scores[i] = most ? KC__SCHED_MAX_SCORE * (most + least - scores[i]) / most
                             : KC__SCHED_MAX_SCORE;
    }
}
