/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preempt.c: DefaultPreemption. For each node where other pods block the pod: check whether it fits
 * without all pods of lower priority. Then add these back one by one, those whose disruption budget
 * would be violated first and important ones before others, as long as the pod still fits. The rest
 * are the victims on that node. The node with the least costly victims is chosen:
 *
 *     fewest violated budgets; lowest priority of the highest victim; lowest sum of priorities;
 *     fewest victims; latest start of the highest victims; first in order
 *
 * The simulation runs on the cluster itself: pods are removed from their node and added back, so
 * that every plugin sees the hypothetical state. In a large cluster only 100 nodes, or a tenth, are
 * tried.
 */
#include "scheduler/preempt.h"

#include "kc/view.h"
#include "scheduler/diagnosis.h"

enum { LEAST_CANDIDATES = 100, CANDIDATES_PERCENT = 10 };

#define NO_VICTIMS  "No preemption victims found for incoming pod"
#define NOT_HELPFUL "Preemption is not helpful for scheduling"

void kc__sched_preemption_done(kc__sched_preemption *p)
{
    kc_vec_done(&p->victims);
    free(p->message);
    *p = (kc__sched_preemption){0};
}

/* ---- budgets ---- */

typedef struct budget {
    kc_view *view;
    kc_str ns;
    kc_selector *selector;
    int64_t allowed;
} budget;

typedef struct sched_preempt_attempt {
    kc__sched_cluster *cluster;
    kc__sched_pod *place;
    int64_t now, wall;
    KC_VEC(budget) budgets;
    kc__sched_diagnosis reasons; /* Nodes on which preemption does not help. */
    size_t tried;                /* Their number. */
} sched_preempt_attempt;

static void read_budgets(sched_preempt_attempt *a)
{
    kc_vec_each (&a->cluster->budgets, object) {
        kc_view *view = kc_view_of(*object);
        const kc_value *root = kc_view_root(view);
        kc_vec_push(
            &a->budgets,
            (budget){.view = view,
                     .ns = kc_object_namespace(*object),
                     .selector = kc_selector_of(kc_value_nested(root, "spec.selector"), NULL),
                     .allowed = kc_value_as_i64_or(
                         kc_value_nested(root, "status.disruptionsAllowed"), 0)});
    }
}

static void budgets_done(sched_preempt_attempt *a)
{
    kc_vec_each (&a->budgets, b) {
        kc_view_free(b->view);
        kc_selector_free(b->selector);
    }
    kc_vec_done(&a->budgets);
}

static bool is_protected(const budget *b, const kc__sched_demand *d)
{
    return b->selector && kc_str_eq(b->ns, d->key.ns) && !kc_selector_is_everything(b->selector) &&
           kc_selector_match(b->selector, d->object) &&
           !kc_value_get_str(kc_value_nested(kc_view_root(b->view), "status.disruptedPods"),
                             d->key.name);
}

/* Decrements each budget that covers the pod. */
static bool violates(int64_t *allowed, const sched_preempt_attempt *a, const kc__sched_demand *d)
{
    bool violated = false;
    for (size_t i = 0; i < a->budgets.n; i++)
        if (is_protected(&a->budgets.items[i], d) && --allowed[i] < 0)
            violated = true;
    return violated;
}

/* ---- victims on a node ---- */

typedef struct sched_preempt_candidate {
    kc__sched_node *host;
    kc__sched_victims victims; /* Most important first. */
    size_t violations;
} sched_preempt_candidate;

static int64_t start_of(const kc__sched_pod *p, int64_t wall)
{
    return p->demand->started ? p->demand->started : wall;
}

static int by_importance(const void *x, const void *y)
{
    const kc__sched_pod *a = *(kc__sched_pod *const *)x, *b = *(kc__sched_pod *const *)y;
    if (a->demand->priority != b->demand->priority)
        return a->demand->priority > b->demand->priority ? -1 : 1;
    const int64_t s = start_of(a, INT64_MAX), t = start_of(b, INT64_MAX);
    if (s != t)
        return s < t ? -1 : 1;
    return strcmp(a->key, b->key);
}

static bool sched_preempt_fits(sched_preempt_attempt *a, kc__sched_node *host,
                               kc__sched_reasons *why)
{
    kc_scoped(kc_arena) arena = {0};
    kc__sched_cycle c;
    uint32_t ignored = 0;
    const bool begun =
        kc__sched_cycle_begin(&c, a->cluster, a->place->demand, &arena, a->now, &ignored);
    const bool fit = begun && kc__sched_cycle_filter(&c, host, why, &ignored) == KC__SCHED_FITS;
    kc__sched_cycle_end(&c);
    return fit;
}

static void put_back(sched_preempt_attempt *a, kc__sched_pod *pod, const kc__sched_node *host)
{
    kc__sched_pod_assign(a->cluster, pod, kc_cstr(host->name));
}

/* Adds pods back where possible; the others are victims. */
static void reprieve(sched_preempt_attempt *a, const kc__sched_victims *all, const bool *violating,
                     bool which, sched_preempt_candidate *to)
{
    for (size_t i = 0; i < all->n; i++) {
        if (violating[i] != which)
            continue;
        put_back(a, all->items[i], to->host);
        if (sched_preempt_fits(a, to->host, NULL))
            continue;
        kc__sched_pod_unassign(a->cluster, all->items[i]);
        kc_vec_push(&to->victims, all->items[i]);
        to->violations += which;
    }
}

static void select_victims(sched_preempt_attempt *a, const kc__sched_victims *all,
                           sched_preempt_candidate *ret)
{
    kc_scoped(kc_arena) arena = {0};
    int64_t *allowed = kc_arena_calloc(&arena, a->budgets.n + 1, sizeof(int64_t));
    bool *violating = kc_arena_calloc(&arena, all->n, sizeof(bool));
    for (size_t i = 0; i < a->budgets.n; i++)
        allowed[i] = a->budgets.items[i].allowed;
    for (size_t i = 0; i < all->n; i++)
        violating[i] = violates(allowed, a, all->items[i]->demand);
    reprieve(a, all, violating, true, ret);
    reprieve(a, all, violating, false, ret);
    kc_vec_each (&ret->victims, victim)
        put_back(a, *victim, ret->host);
    kc_vec_sort(&ret->victims, by_importance);
}

static void take_lesser(sched_preempt_attempt *a, kc__sched_node *host, kc__sched_victims *ret)
{
    kc_dlist_each (&host->pods, kc__sched_pod, on_host, pod)
        if (pod->demand->priority < a->place->demand->priority)
            kc_vec_push(ret, pod);
    kc_vec_sort(ret, by_importance);
    kc_vec_each (ret, pod)
        kc__sched_pod_unassign(a->cluster, *pod);
}

/* True with a candidate if preemption makes room there. */
static bool try_host(sched_preempt_attempt *a, kc__sched_node *host, sched_preempt_candidate *ret)
{
    kc__sched_victims all = {0};
    kc__sched_reasons why = {0};
    *ret = (sched_preempt_candidate){.host = host};
    take_lesser(a, host, &all);
    const bool fit = all.n && sched_preempt_fits(a, host, &why);
    if (fit) {
        select_victims(a, &all, ret);
    } else {
        kc_vec_each (&all, pod)
            put_back(a, *pod, host);
        if (!all.n)
            kc__sched_reasons_add(&why, NO_VICTIMS);
        for (size_t i = 0; i < why.n; i++)
            kc__sched_diagnosis_add(&a->reasons, why.texts[i], 1);
        a->tried++;
    }
    kc_vec_done(&all);
    return fit && ret->victims.n;
}

/* ---- best candidate ---- */

static int64_t sum_of_priorities(const sched_preempt_candidate *c)
{
    int64_t sum = 0;
    kc_vec_each (&c->victims, v)
        sum += (int64_t)(*v)->demand->priority + INT32_MAX + 1;
    return sum;
}

/* Among the victims of the highest priority. */
static int64_t earliest_start(const sched_preempt_candidate *c, int64_t wall)
{
    int64_t earliest = INT64_MAX;
    kc_vec_each (&c->victims, v)
        if ((*v)->demand->priority == c->victims.items[0]->demand->priority)
            earliest = KC_MIN(earliest, start_of(*v, wall));
    return earliest;
}

static bool is_better(const sched_preempt_candidate *x, const sched_preempt_candidate *y,
                      int64_t wall)
{
    if (x->violations != y->violations)
        return x->violations < y->violations;
    const int32_t p = x->victims.items[0]->demand->priority,
                  q = y->victims.items[0]->demand->priority;
    if (p != q)
        return p < q;
    const int64_t s = sum_of_priorities(x), t = sum_of_priorities(y);
    if (s != t)
        return s < t;
    if (x->victims.n != y->victims.n)
        return x->victims.n < y->victims.n;
    return earliest_start(x, wall) > earliest_start(y, wall);
}

static void find_best(sched_preempt_attempt *a, const kc__sched_decision *decision, kc_rand *rand,
                      sched_preempt_candidate *best)
{
    const size_t n = decision->contested.n;
    const size_t enough = KC_MIN(n, KC_MAX(n * CANDIDATES_PERCENT / 100, (size_t)LEAST_CANDIDATES));
    const size_t offset = n ? (size_t)kc_rand_below(rand, n) : 0;
    size_t found = 0;
    for (size_t i = 0; i < n && found < enough; i++) {
        sched_preempt_candidate c;
        if (!try_host(a, decision->contested.items[(offset + i) % n], &c)) {
            kc_vec_done(&c.victims);
            continue;
        }
        found++;
        if (!best->host || is_better(&c, best, a->wall)) {
            kc_vec_done(&best->victims);
            *best = c;
        } else {
            kc_vec_done(&c.victims);
        }
    }
}

/* ---- eligibility ---- */

static const char *not_eligible(const kc__sched_pod *place)
{
    if (place->demand->wants->never_preempts)
        return "not eligible due to preemptionPolicy=Never.";
    if (!place->nominated)
        return NULL;
    kc_dlist_each (&place->nominated->pods, kc__sched_pod, on_host, pod)
        if (pod->demand->priority < place->demand->priority && pod->demand->preempted)
            return "not eligible due to a terminating pod on the nominated node.";
    return NULL;
}

void kc__sched_preempt(kc__sched_cluster *cluster, kc__sched_pod *place,
                       const kc__sched_decision *decision, kc_rand *rand, int64_t now, int64_t wall,
                       kc__sched_preemption *ret)
{
    const char *why_not = not_eligible(place);
    if (why_not) {
        ret->message = kc_strdup(why_not);
        return;
    }
    sched_preempt_attempt a = {.cluster = cluster, .place = place, .now = now, .wall = wall};
    sched_preempt_candidate best = {0};
    if (kc__sched_cluster_has_lesser(cluster, place->demand->priority)) {
        read_budgets(&a);
        find_best(&a, decision, rand, &best);
    } else {
        a.tried = decision->contested.n;
        kc__sched_diagnosis_add(&a.reasons, NO_VICTIMS, a.tried);
    }
    ret->host = best.host;
    ret->victims = best.victims;
    ret->not_useful = !best.host;
    if (!best.host) {
        kc__sched_diagnosis_add(&a.reasons, NOT_HELPFUL, cluster->ready.n - a.tried);
        ret->message = kc__sched_diagnosis_text(&a.reasons, cluster->ready.n);
    }
    budgets_done(&a);
    kc__sched_diagnosis_done(&a.reasons);
}
