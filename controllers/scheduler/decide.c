/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide.c: which host. All filters over the hosts, until enough will do; all scores over those;
 * one of the best, by chance.
 *
 * In a large cluster not every host is looked at: from 100 on, a part of them that will do is
 * enough (half at first, down to 5 %), and the next decision begins where this one ended, so that
 * all get their turn. As upstream.
 */
#include "scheduler/cycle.h"
#include "scheduler/why_not.h"

enum { ENOUGH = 100, LEAST_PERCENT = 5 };

void kc__decision_done(kc__decision *d)
{
    free(d->message);
    kc_vec_done(&d->contested);
    *d = (kc__decision){0};
}

/* ---- cycles ---- */

bool kc__cycle_begin(kc__cycle *c, kc__cluster *cluster, const kc__demand *demand, kc_arena *arena,
                     int64_t now, uint32_t *ret_refused_by)
{
    *c = (kc__cycle){.cluster = cluster, .demand = demand, .arena = arena, .now = now};
    for (size_t i = 0; i < kc__n_plugins; i++)
        if (kc__plugins[i].prepare && !kc__plugins[i].prepare(c)) {
            *ret_refused_by |= 1u << i;
            return false;
        }
    return true;
}

void kc__cycle_end(kc__cycle *c)
{
    kc_vec_done(&c->forbidden_own);
    kc_vec_done(&c->forbidden_by);
    kc_vec_done(&c->liked);
}

static kc__code run_filters(kc__cycle *c, const kc__host *host, kc__reasons *why,
                            uint32_t *ret_refused_by)
{
    for (size_t i = 0; i < kc__n_plugins; i++) {
        const kc__code code =
            kc__plugins[i].filter ? kc__plugins[i].filter(c, host, why) : KC__FITS;
        if (code != KC__FITS) {
            *ret_refused_by |= 1u << i;
            return code;
        }
    }
    return KC__FITS;
}

static void reserve_nominated(kc__host *host, const kc__demand *demand, int times)
{
    kc_vec_each (&host->nominated, place)
        if ((*place)->demand != demand && !(*place)->host &&
            (*place)->demand->priority >= demand->priority)
            kc__host_reserve(host, (*place)->demand, times);
}

kc__code kc__cycle_filter(kc__cycle *c, kc__host *host, kc__reasons *why, uint32_t *ret_refused_by)
{
    if (!host->nominated.n)
        return run_filters(c, host, why, ret_refused_by);
    reserve_nominated(host, c->demand, 1);
    const kc__code code = run_filters(c, host, why, ret_refused_by);
    reserve_nominated(host, c->demand, -1);
    return code;
}

bool kc__fits_alone(kc__cluster *cluster, const kc__demand *demand, const kc__host *host)
{
    kc__cycle c = {.cluster = cluster, .demand = demand};
    for (size_t i = 0; i < kc__n_plugins; i++)
        if (kc__plugins[i].filter && !kc__plugins[i].prepare &&
            kc__plugins[i].filter(&c, host, NULL) != KC__FITS)
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

static void look_at(kc__cycle *c, kc__host *host, kc__why_not *seen, kc__decision *ret)
{
    kc__reasons why = {0};
    const kc__code code = kc__cycle_filter(c, host, &why, &ret->refused_by);
    ret->evaluated++;
    if (code == KC__FITS) {
        c->feasible[c->n_feasible++] = host;
        return;
    }
    for (size_t i = 0; i < why.n; i++)
        kc__why_not_add(seen, why.texts[i], 1);
    if (code == KC__NOT_NOW)
        kc_vec_push(&ret->contested, host);
}

static void filter(kc__cycle *c, kc__decision *ret)
{
    kc__cluster *cluster = c->cluster;
    const size_t n = cluster->ready.n, enough = enough_of(n), start = cluster->next_start % n;
    kc_scoped(kc__why_not) seen = {0};
    for (size_t i = 0; i < n && c->n_feasible < enough; i++)
        look_at(c, cluster->ready.items[(start + i) % n], &seen, ret);
    cluster->next_start = (start + ret->evaluated) % n;
    if (!c->n_feasible)
        ret->message = kc__why_not_say(&seen, n);
}

/* ---- scoring ---- */

static void score_with(kc__cycle *c, const kc__plugin *p, int64_t *scratch, int64_t *totals)
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

/* One of the best: of n that are equal, each is taken with a chance of 1/n. */
static kc__host *pick(const kc__cycle *c, const int64_t *totals, kc_rand *rand)
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

static kc__host *choose(kc__cycle *c, kc_rand *rand)
{
    if (c->n_feasible == 1)
        return c->feasible[0];
    int64_t *totals = kc_arena_calloc(c->arena, c->n_feasible, sizeof(int64_t));
    int64_t *scratch = kc_arena_calloc(c->arena, c->n_feasible, sizeof(int64_t));
    for (size_t i = 0; i < kc__n_plugins; i++)
        if (kc__plugins[i].score)
            score_with(c, &kc__plugins[i], scratch, totals);
    return pick(c, totals, rand);
}

/* ---- all of it ---- */

/* Room was made for it there. */
static bool fits_where_nominated(kc__cycle *c, kc__place *place)
{
    uint32_t ignored = 0;
    return place->nominated && place->nominated->node &&
           kc__cycle_filter(c, place->nominated, NULL, &ignored) == KC__FITS;
}

static void decide(kc__cycle *c, kc__place *place, kc_rand *rand, kc__decision *ret)
{
    if (fits_where_nominated(c, place)) {
        ret->host = place->nominated;
        ret->evaluated = ret->feasible = 1;
        return;
    }
    c->feasible = kc_arena_calloc(c->arena, c->cluster->ready.n, sizeof(kc__host *));
    filter(c, ret);
    ret->feasible = c->n_feasible;
    if (c->n_feasible)
        ret->host = choose(c, rand);
}

void kc__decide(kc__cluster *cluster, kc__place *place, kc_rand *rand, int64_t now,
                kc__decision *ret)
{
    if (!cluster->ready.n) {
        ret->refused_by = ~UINT32_C(0);
        ret->message = kc_strdup("no nodes available to schedule pods");
        return;
    }
    kc_scoped(kc_arena) arena = {0};
    kc__cycle c;
    if (kc__cycle_begin(&c, cluster, place->demand, &arena, now, &ret->refused_by))
        decide(&c, place, rand, ret);
    else
        ret->message = kc_asprintf("0/%zu nodes are available: %s.", cluster->ready.n, c.refusal);
    kc__cycle_end(&c);
}
