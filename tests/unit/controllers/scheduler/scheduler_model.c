/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Topology spread and affinity in random clusters, compared with a plain evaluation of the rules:
 * for every node, over all pods, without kept counts.
 */
#include "scheduler_testing.h"

enum { HOSTS = 7, PODS = 30, CLUSTERS = 150, APPS = 3, ZONES = 3, KINDS = 5 };

#define TERM(app) "{'topologyKey':'zone','labelSelector':{'matchLabels':{'app':'" app "'}}}"
#define APART                                                                                 \
    "'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[" TERM( \
        "a0") "]}}"
#define TOGETHER \
    "'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[" TERM("a1") "]}}"
#define SPREAD                                                                            \
    "'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'zone','whenUnsatisfiable':" \
    "'DoNotSchedule','labelSelector':{'matchLabels':{'app':'a0'}}}]"

static const char *const kinds[KINDS] = {"", APART, TOGETHER, SPREAD, ""};

/* What a pod is, for the rules. */
typedef struct known {
    kc__sched_pod *place;
    int kind, app;
} known;

typedef struct model {
    kc__sched_cluster c;
    known pods[PODS];
    size_t n;
} model;

static kc_str zone_of(const kc__sched_node *h, kc_arena *arena)
{
    return kc_object_label(h->node, KC_STR("zone"), arena);
}

static bool same_zone(const kc__sched_node *a, const kc__sched_node *b)
{
    kc_scoped(kc_arena) arena = {0};
    const kc_str x = zone_of(a, &arena), y = zone_of(b, &arena);
    return x.p && y.p && kc_str_eq(x, y);
}

/* Pods of an app in the zone of the host; with `kind` at least 0, of that kind only. */
static int count(const model *w, int app, int kind, const kc__sched_node *h)
{
    int n = 0;
    for (size_t i = 0; i < w->n; i++)
        n += (app < 0 || w->pods[i].app == app) && (kind < 0 || w->pods[i].kind == kind) &&
             same_zone(w->pods[i].place->host, h);
    return n;
}

static bool has_zone(const kc__sched_node *h)
{
    kc_scoped(kc_arena) arena = {0};
    return zone_of(h, &arena).p;
}

static bool any_near(const model *w, int app)
{
    kc_vec_each (&w->c.ready, h)
        if (has_zone(*h) && count(w, app, -1, *h))
            return true;
    return false;
}

static bool spread_allows(const model *w, int app, const kc__sched_node *h)
{
    int least = INT32_MAX;
    kc_vec_each (&w->c.ready, other)
        if (has_zone(*other))
            least = KC_MIN(least, count(w, 0, -1, *other));
    return has_zone(h) && count(w, 0, -1, h) + (app == 0) - least <= 1;
}

/* Whether a pod may come, as the rules say. */
static bool may_come(const model *w, int kind, int app, const kc__sched_node *h)
{
    if (app == 0 && has_zone(h) && count(w, -1, 1, h))
        return false; /* A pod of the zone repels a0. */
    switch (kind) {
    case 1: return !has_zone(h) || !count(w, 0, -1, h);
    case 2: return has_zone(h) && (count(w, 1, -1, h) || (app == 1 && !any_near(w, 1)));
    case 3: return spread_allows(w, app, h);
    default: return true;
    }
}

static void fill(model *w, kc_rand *rand)
{
    kc__sched_cluster_init(&w->c);
    w->n = 0;
    for (int i = 0; i < HOSTS; i++) {
        kc_autofree char *name = kc_asprintf("h%d", i);
        kc_autofree char *zone = kc_asprintf("'zone':'z%d'", (int)kc_rand_below(rand, ZONES));
        host(&w->c, name, kc_rand_below(rand, 6) ? zone : "", "", "'pods':'100'");
    }
    const size_t n = kc_rand_below(rand, PODS);
    while (w->n < n) {
        known *p = &w->pods[w->n];
        kc_autofree char *name = kc_asprintf("p%zu", w->n);
        kc_autofree char *on = kc_asprintf("h%d", (int)kc_rand_below(rand, HOSTS));
        p->kind = (int)kc_rand_below(rand, KINDS);
        p->app = (int)kc_rand_below(rand, APPS);
        kc_autofree char *labels = kc_asprintf("'app':'a%d'", p->app);
        p->place = place(&w->c, name, on, labels, kinds[p->kind]);
        w->n++;
    }
}

static void check(model *w, int kind, int app)
{
    kc_autofree char *labels = kc_asprintf("'app':'a%d'", app);
    kc__sched_pod *p = place(&w->c, "new", NULL, labels, kinds[kind]);
    kc_vec_each (&w->c.ready, h)
        if ((*why_not(&w->c, p, (*h)->name) == 0) != may_come(w, kind, app, *h))
            fail_msg("kind %d, app %d, on %s: \"%s\"", kind, app, (*h)->name,
                     why_not(&w->c, p, (*h)->name));
    kc__sched_cluster_remove_pod(&w->c, p);
}

static void tallied_filters_match_the_model(void **state)
{
    (void)state;
    kc_rand rand;
    kc_rand_seed(&rand, 3);
    for (int i = 0; i < CLUSTERS; i++) {
        model w;
        fill(&w, &rand);
        for (int kind = 0; kind < KINDS; kind++)
            for (int app = 0; app < APPS; app++)
                check(&w, kind, app);
        kc__sched_cluster_done(&w.c);
    }
}

TESTS(tallied_filters_match_the_model)
