/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preempt.c: DefaultPreemption. On each host where other pods are in the way: without all pods of
 * lower priority, would it fit? Then they are put back one by one, those whose disruption budget
 * would be violated first, the more important before the less, as long as it still fits. What
 * cannot be put back are the victims there. The host whose victims are missed least is chosen:
 *
 *     fewest violated budgets; lowest priority of the highest victim; lowest sum of priorities;
 *     fewest victims; the highest ones started last; the first
 *
 * It is tried out on the cluster itself: pods are taken from their host and put back, so that every
 * plugin sees what it would see. In a large cluster not all hosts are tried: 100, or a tenth.
 */
#include "scheduler/preempt.h"

#include "kc/view.h"
#include "scheduler/why_not.h"

enum { LEAST_CANDIDATES = 100, CANDIDATES_PERCENT = 10 };

#define NO_VICTIMS  "No preemption victims found for incoming pod"
#define NOT_HELPFUL "Preemption is not helpful for scheduling"

void kc__preemption_done(kc__preemption *p)
{
    kc_vec_done(&p->victims);
    free(p->message);
    *p = (kc__preemption){0};
}

/* ---- budgets ---- */

typedef struct budget {
    kc_view *view;
    kc_str ns;
    kc_selector *selector;
    int64_t allowed;
} budget;

typedef struct attempt {
    kc__cluster *cluster;
    kc__place *place;
    int64_t now, wall;
    KC_VEC(budget) budgets;
    kc__why_not reasons; /* Of hosts where it would not help. */
    size_t tried;        /* How many those are. */
} attempt;

static void read_budgets(attempt *a)
{
    kc_vec_each (&a->cluster->budgets, object) {
        kc_view *view = kc_view_of(*object);
        const kc_value *root = kc_view_root(view);
        kc_vec_push(
            &a->budgets,
            (budget){.view = view,
                     .ns = kc_object_namespace(*object),
                     .selector = kc_selector_of(kc_dig(root, "spec.selector"), NULL),
                     .allowed = kc_as_i64_or(kc_dig(root, "status.disruptionsAllowed"), 0)});
    }
}

static void budgets_done(attempt *a)
{
    kc_vec_each (&a->budgets, b) {
        kc_view_free(b->view);
        kc_selector_free(b->selector);
    }
    kc_vec_done(&a->budgets);
}

static bool is_protected(const budget *b, const kc__demand *d)
{
    return b->selector && kc_str_eq(b->ns, d->key.ns) && !kc_selector_is_everything(b->selector) &&
           kc_selector_match(b->selector, d->object) &&
           !kc_get_str(kc_dig(kc_view_root(b->view), "status.disruptedPods"), d->key.name);
}

/* Takes one from each budget that covers the pod. */
static bool violates(int64_t *allowed, const attempt *a, const kc__demand *d)
{
    bool violated = false;
    for (size_t i = 0; i < a->budgets.n; i++)
        if (is_protected(&a->budgets.items[i], d) && --allowed[i] < 0)
            violated = true;
    return violated;
}

/* ---- victims on a host ---- */

typedef struct candidate {
    kc__host *host;
    kc__victims victims; /* The most important first. */
    size_t violations;
} candidate;

static int64_t start_of(const kc__place *p, int64_t wall)
{
    return p->demand->started ? p->demand->started : wall;
}

static int by_importance(const void *x, const void *y)
{
    const kc__place *a = *(kc__place *const *)x, *b = *(kc__place *const *)y;
    if (a->demand->priority != b->demand->priority)
        return a->demand->priority > b->demand->priority ? -1 : 1;
    const int64_t s = start_of(a, INT64_MAX), t = start_of(b, INT64_MAX);
    if (s != t)
        return s < t ? -1 : 1;
    return strcmp(a->key, b->key);
}

static bool fits(attempt *a, kc__host *host, kc__reasons *why)
{
    kc_scoped(kc_arena) arena = {0};
    kc__cycle c;
    uint32_t ignored = 0;
    const bool begun = kc__cycle_begin(&c, a->cluster, a->place->demand, &arena, a->now, &ignored);
    const bool fit = begun && kc__cycle_filter(&c, host, why, &ignored) == KC__FITS;
    kc__cycle_end(&c);
    return fit;
}

static void put_back(attempt *a, kc__place *pod, const kc__host *host)
{
    kc__place_put(a->cluster, pod, kc_cstr(host->name));
}

/* Puts back what can be; the others are victims. */
static void reprieve(attempt *a, const kc__victims *all, const bool *violating, bool which,
                     candidate *to)
{
    for (size_t i = 0; i < all->n; i++) {
        if (violating[i] != which)
            continue;
        put_back(a, all->items[i], to->host);
        if (fits(a, to->host, NULL))
            continue;
        kc__place_take(a->cluster, all->items[i]);
        kc_vec_push(&to->victims, all->items[i]);
        to->violations += which;
    }
}

static void select_victims(attempt *a, const kc__victims *all, candidate *ret)
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

static void take_lesser(attempt *a, kc__host *host, kc__victims *ret)
{
    kc_list_each (&host->pods, kc__place, on_host, pod)
        if (pod->demand->priority < a->place->demand->priority)
            kc_vec_push(ret, pod);
    kc_vec_sort(ret, by_importance);
    kc_vec_each (ret, pod)
        kc__place_take(a->cluster, *pod);
}

/* True, and a candidate, when room can be made there. */
static bool try_host(attempt *a, kc__host *host, candidate *ret)
{
    kc__victims all = {0};
    kc__reasons why = {0};
    *ret = (candidate){.host = host};
    take_lesser(a, host, &all);
    const bool fit = all.n && fits(a, host, &why);
    if (fit) {
        select_victims(a, &all, ret);
    } else {
        kc_vec_each (&all, pod)
            put_back(a, *pod, host);
        if (!all.n)
            kc__reasons_add(&why, NO_VICTIMS);
        for (size_t i = 0; i < why.n; i++)
            kc__why_not_add(&a->reasons, why.texts[i], 1);
        a->tried++;
    }
    kc_vec_done(&all);
    return fit && ret->victims.n;
}

/* ---- the best of them ---- */

static int64_t sum_of_priorities(const candidate *c)
{
    int64_t sum = 0;
    kc_vec_each (&c->victims, v)
        sum += (int64_t)(*v)->demand->priority + INT32_MAX + 1;
    return sum;
}

/* Of the victims of the highest priority. */
static int64_t earliest_start(const candidate *c, int64_t wall)
{
    int64_t earliest = INT64_MAX;
    kc_vec_each (&c->victims, v)
        if ((*v)->demand->priority == c->victims.items[0]->demand->priority)
            earliest = KC_MIN(earliest, start_of(*v, wall));
    return earliest;
}

static bool is_better(const candidate *x, const candidate *y, int64_t wall)
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

static void find_best(attempt *a, const kc__decision *decision, kc_rand *rand, candidate *best)
{
    const size_t n = decision->contested.n;
    const size_t enough = KC_MIN(n, KC_MAX(n * CANDIDATES_PERCENT / 100, (size_t)LEAST_CANDIDATES));
    const size_t offset = n ? (size_t)kc_rand_below(rand, n) : 0;
    size_t found = 0;
    for (size_t i = 0; i < n && found < enough; i++) {
        candidate c;
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

/* ---- whether at all ---- */

static const char *not_eligible(const kc__place *place)
{
    if (place->demand->wants->never_preempts)
        return "not eligible due to preemptionPolicy=Never.";
    if (!place->nominated)
        return NULL;
    kc_list_each (&place->nominated->pods, kc__place, on_host, pod)
        if (pod->demand->priority < place->demand->priority && pod->demand->preempted)
            return "not eligible due to a terminating pod on the nominated node.";
    return NULL;
}

void kc__preempt(kc__cluster *cluster, kc__place *place, const kc__decision *decision,
                 kc_rand *rand, int64_t now, int64_t wall, kc__preemption *ret)
{
    const char *why_not = not_eligible(place);
    if (why_not) {
        ret->message = kc_strdup(why_not);
        return;
    }
    attempt a = {.cluster = cluster, .place = place, .now = now, .wall = wall};
    candidate best = {0};
    if (kc__cluster_has_lesser(cluster, place->demand->priority)) {
        read_budgets(&a);
        find_best(&a, decision, rand, &best);
    } else {
        a.tried = decision->contested.n;
        kc__why_not_add(&a.reasons, NO_VICTIMS, a.tried);
    }
    ret->host = best.host;
    ret->victims = best.victims;
    ret->not_useful = !best.host;
    if (!best.host) {
        kc__why_not_add(&a.reasons, NOT_HELPFUL, cluster->ready.n - a.tried);
        ret->message = kc__why_not_say(&a.reasons, cluster->ready.n);
    }
    budgets_done(&a);
    kc__why_not_done(&a.reasons);
}
