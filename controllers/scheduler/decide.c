/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide.c: selects the node. Runs all filters over the nodes until enough are feasible, then all
 * scores over those, and picks one of the best at random.
 *
 * In a large cluster not every node is visited: from 100 nodes on, a fraction of feasible nodes is
 * enough (half at first, down to 5 %), and the next decision starts where this one ended, so that
 * all nodes get their turn. This follows kube-scheduler.
 */
#include "scheduler/cycle.h"
#include "scheduler/diagnosis.h"

enum { ENOUGH = 100, LEAST_PERCENT = 5 };

void kc__sched_decision_done(kc__sched_decision *d)
{
    free(d->message);
    kc_vec_done(&d->contested);
    *d = (kc__sched_decision){0};
}

/* ---- cycles ---- */

bool kc__sched_cycle_begin(kc__sched_cycle *c, kc__sched_cluster *cluster,
                           const kc__sched_demand *demand, kc_arena *arena, int64_t now,
                           uint32_t *ret_refused_by)
{
    *c = (kc__sched_cycle){.cluster = cluster, .demand = demand, .arena = arena, .now = now};
    for (size_t i = 0; i < kc__sched_n_plugins; i++)
        if (kc__sched_plugins[i].prepare && !kc__sched_plugins[i].prepare(c)) {
            *ret_refused_by |= 1u << i;
            return false;
        }
    return true;
}

void kc__sched_cycle_end(kc__sched_cycle *c)
{
    kc_vec_done(&c->forbidden_own);
    kc_vec_done(&c->forbidden_by);
    kc_vec_done(&c->preferred);
}

static kc__sched_filter_code run_filters(kc__sched_cycle *c, const kc__sched_node *host,
                                         kc__sched_reasons *why, uint32_t *ret_refused_by)
{
    for (size_t i = 0; i < kc__sched_n_plugins; i++) {
        const kc__sched_filter_code code = kc__sched_plugins[i].filter
                                               ? kc__sched_plugins[i].filter(c, host, why)
                                               : KC__SCHED_FITS;
        if (code != KC__SCHED_FITS) {
            *ret_refused_by |= 1u << i;
            return code;
        }
    }
    return KC__SCHED_FITS;
}

static void reserve_nominated(kc__sched_node *host, const kc__sched_demand *demand, int times)
{
    kc_vec_each (&host->nominated, place)
        if ((*place)->demand != demand && !(*place)->host &&
            (*place)->demand->priority >= demand->priority)
            kc__sched_node_reserve(host, (*place)->demand, times);
}

kc__sched_filter_code kc__sched_cycle_filter(kc__sched_cycle *c, kc__sched_node *host,
                                             kc__sched_reasons *why, uint32_t *ret_refused_by)
{
    if (!host->nominated.n)
        return run_filters(c, host, why, ret_refused_by);
    reserve_nominated(host, c->demand, 1);
    const kc__sched_filter_code code = run_filters(c, host, why, ret_refused_by);
    reserve_nominated(host, c->demand, -1);
    return code;
}

bool kc__sched_fits_alone(kc__sched_cluster *cluster, const kc__sched_demand *demand,
                          const kc__sched_node *host)
{
    kc__sched_cycle c = {.cluster = cluster, .demand = demand};
    for (size_t i = 0; i < kc__sched_n_plugins; i++)
        if (kc__sched_plugins[i].filter && !kc__sched_plugins[i].prepare &&
            kc__sched_plugins[i].filter(&c, host, NULL) != KC__SCHED_FITS)
            return false;
    return true;
}

/* ---- filtering ---- */

static size_t enough_of(size_t n_hosts)
{
    if (n_hosts < ENOUGH)
        return n_hosts;
    const size_t percent = n_hosts / 125 < 50 - LEAST_PERCENT ? 50 - n_hosts / 125 : LEAST_PERCENT;
    return KC_MAX(n_hosts * percent / 100, (size_t)ENOUGH);
}

static void sched_decide_inspect(kc__sched_cycle *c, kc__sched_node *host,
                                 kc__sched_diagnosis *seen, kc__sched_decision *ret)
{
    kc__sched_reasons why = {0};
    const kc__sched_filter_code code = kc__sched_cycle_filter(c, host, &why, &ret->refused_by);
    ret->evaluated++;
    if (code == KC__SCHED_FITS) {
        c->feasible[c->n_feasible++] = host;
        return;
    }
    for (size_t i = 0; i < why.n; i++)
        kc__sched_diagnosis_add(seen, why.texts[i], 1);
    if (code == KC__SCHED_UNFIT)
        kc_vec_push(&ret->contested, host);
}

static void filter(kc__sched_cycle *c, kc__sched_decision *ret)
{
    kc__sched_cluster *cluster = c->cluster;
    const size_t n = cluster->ready.n, enough = enough_of(n), start = cluster->next_start % n;
    kc_scoped(kc__sched_diagnosis) seen = {0};
    for (size_t i = 0; i < n && c->n_feasible < enough; i++)
        sched_decide_inspect(c, cluster->ready.items[(start + i) % n], &seen, ret);
    cluster->next_start = (start + ret->evaluated) % n;
    if (!c->n_feasible)
        ret->message = kc__sched_diagnosis_text(&seen, n);
}

/* ---- scoring ---- */

static void score_with(kc__sched_cycle *c, const kc__sched_plugin *p, int64_t *scratch,
                       int64_t *totals)
{
    if (p->prepare_score && !p->prepare_score(c))
        return;
    for (size_t i = 0; i < c->n_feasible; i++)
        scratch[i] = p->score(c, c->feasible[i]);
    if (p->normalize)
        p->normalize(c, scratch, c->n_feasible);
    for (size_t i = 0; i < c->n_feasible; i++)
        totals[i] += p->weight * scratch[i];
}

/* Reservoir sampling: each of n equal nodes is chosen with probability 1/n. */
static kc__sched_node *pick(const kc__sched_cycle *c, const int64_t *totals, kc_rand *rand)
{
    size_t best = 0, equal = 1;
    for (size_t i = 1; i < c->n_feasible; i++) {
        if (totals[i] > totals[best]) {
            best = i;
            equal = 1;
        } else if (totals[i] == totals[best] && kc_rand_below(rand, ++equal) == 0) {
            best = i;
        }
    }
    return c->feasible[best];
}

static kc__sched_node *sched_decide_choose(kc__sched_cycle *c, kc_rand *rand)
{
    if (c->n_feasible == 1)
        return c->feasible[0];
    int64_t *totals = kc_arena_calloc(c->arena, c->n_feasible, sizeof(int64_t));
    int64_t *scratch = kc_arena_calloc(c->arena, c->n_feasible, sizeof(int64_t));
    for (size_t i = 0; i < kc__sched_n_plugins; i++)
        if (kc__sched_plugins[i].score)
            score_with(c, &kc__sched_plugins[i], scratch, totals);
    return pick(c, totals, rand);
}

/* ---- decision ---- */

/* The pod is nominated to this node. */
static bool fits_where_nominated(kc__sched_cycle *c, kc__sched_pod *place)
{
    uint32_t ignored = 0;
    return place->nominated && place->nominated->node &&
           kc__sched_cycle_filter(c, place->nominated, NULL, &ignored) == KC__SCHED_FITS;
}

static void sched_decide_decide(kc__sched_cycle *c, kc__sched_pod *place, kc_rand *rand,
                                kc__sched_decision *ret)
{
    if (fits_where_nominated(c, place)) {
        ret->host = place->nominated;
        ret->evaluated = ret->feasible = 1;
        return;
    }
    c->feasible = kc_arena_calloc(c->arena, c->cluster->ready.n, sizeof(kc__sched_node *));
    filter(c, ret);
    ret->feasible = c->n_feasible;
    if (c->n_feasible)
        ret->host = sched_decide_choose(c, rand);
}

void kc__sched_decide(kc__sched_cluster *cluster, kc__sched_pod *place, kc_rand *rand, int64_t now,
                      kc__sched_decision *ret)
{
    if (!cluster->ready.n) {
        ret->refused_by = ~UINT32_C(0);
        ret->message = kc_strdup("no nodes available to schedule pods");
        return;
    }
    kc_scoped(kc_arena) arena = {0};
    kc__sched_cycle c;
    if (kc__sched_cycle_begin(&c, cluster, place->demand, &arena, now, &ret->refused_by))
        sched_decide_decide(&c, place, rand, ret);
    else
        ret->message = kc_asprintf("0/%zu nodes are available: %s.", cluster->ready.n, c.refusal);
    kc__sched_cycle_end(&c);
}
