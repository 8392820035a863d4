/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_relations.c: InterPodAffinity: pods that must, must not, would rather or rather not be
 * where certain other pods are; and what pods that are there already say of the one that comes.
 *
 * The first of a group that wants to be together would wait for ever: where no pod matches yet, and
 * the pod matches its own terms, any node with the labels will do.
 */
#include "scheduler/cycle.h"

static kc__domain_sums open_sums(kc__cycle *c, const char *key)
{
    const kc__domains *domains = kc__cluster_domains(c->cluster, key);
    return (kc__domain_sums){domains,
                             kc_arena_calloc(c->arena, domains->values.n + 1, sizeof(int64_t))};
}

/* The one of the list for this topology, made if it is not there. */
static kc__domain_sums *sums_for(kc__cycle *c, kc__sums_list *list, const char *key)
{
    kc_vec_each (list, s)
        if (!strcmp(s->domains->key, key))
            return s;
    kc_vec_push(list, open_sums(c, key));
    return kc_vec_last(list);
}

static bool add_counts(const kc__cycle *c, const kc__counts *counts, int64_t weight,
                       kc__domain_sums *to)
{
    bool any = false;
    kc_vec_each (&c->cluster->ready, host) {
        const uint32_t n = kc__count_at(counts, (*host)->slot);
        const int32_t id = n ? kc__domain_of(to->domains, *host) : -1;
        if (id < 0)
            continue;
        to->sums[id] += weight * n;
        any = true;
    }
    return any;
}

/* ---- filter ---- */

static size_t count_rules(const kc__demand *d, kc__rule_kind kind)
{
    size_t n = 0;
    kc_vec_each (&d->rules, rule)
        n += rule->kind == kind;
    return n;
}

/* Pods count that match all of its terms. */
static void prepare_near(kc__cycle *c)
{
    const kc__demand *d = c->demand;
    c->n_near = count_rules(d, KC__REQUIRE);
    c->near_any = false;
    if (!c->n_near)
        return;
    kc__term **terms = kc_arena_calloc(c->arena, c->n_near, sizeof(*terms));
    size_t n = 0;
    kc_vec_each (&d->rules, rule)
        if (rule->kind == KC__REQUIRE)
            terms[n++] = rule->term;
    const kc__tally *tally = kc__cluster_tally(c->cluster, terms, n, c->now);
    const kc__labelled self = kc__cluster_labelled(c->cluster, d);
    c->near = kc_arena_calloc(c->arena, n, sizeof(*c->near));
    c->near_itself = true;
    for (size_t i = 0; i < n; i++) {
        c->near[i] = open_sums(c, terms[i]->key);
        c->near_any = add_counts(c, &tally->counts, 1, &c->near[i]) || c->near_any;
        c->near_itself = c->near_itself && kc__term_matches(terms[i], &self);
    }
}

static void forbid_by(const kc__wish *wish, void *user)
{
    kc__cycle *c = user;
    if (wish->rule.kind == KC__FORBID)
        add_counts(c, &wish->counts, 1, sums_for(c, &c->forbidden_by, wish->rule.term->key));
}

bool kc__prepare_relations(kc__cycle *c)
{
    prepare_near(c);
    kc_vec_each (&c->demand->rules, rule) {
        if (rule->kind != KC__FORBID)
            continue;
        const kc__tally *tally = kc__cluster_tally(c->cluster, &rule->term, 1, c->now);
        add_counts(c, &tally->counts, 1, sums_for(c, &c->forbidden_own, rule->term->key));
    }
    kc__cluster_wishes(c->cluster, c->demand, forbid_by, c);
    return true;
}

static bool is_near(const kc__cycle *c, const kc__host *host)
{
    bool all = true;
    for (size_t i = 0; i < c->n_near; i++) {
        const int32_t id = kc__domain_of(c->near[i].domains, host);
        if (id < 0)
            return false;
        all = all && c->near[i].sums[id] > 0;
    }
    return all || (!c->near_any && c->near_itself);
}

static bool is_forbidden(const kc__sums_list *list, const kc__host *host)
{
    kc_vec_each (list, s) {
        const int32_t id = kc__domain_of(s->domains, host);
        if (id >= 0 && s->sums[id] > 0)
            return true;
    }
    return false;
}

kc__code kc__filter_relations(kc__cycle *c, const kc__host *host, kc__reasons *why)
{
    if (c->n_near && !is_near(c, host)) {
        kc__reasons_add(why, "node(s) didn't match pod affinity rules");
        return KC__NEVER;
    }
    if (is_forbidden(&c->forbidden_own, host)) {
        kc__reasons_add(why, "node(s) didn't match pod anti-affinity rules");
        return KC__NOT_NOW;
    }
    if (is_forbidden(&c->forbidden_by, host)) {
        kc__reasons_add(why, "node(s) didn't satisfy existing pods anti-affinity rules");
        return KC__NOT_NOW;
    }
    return KC__FITS;
}

/* ---- score ---- */

/* A pod that must be near such pods is glad of one more, a little. */
enum { HARD_WEIGHT = 1 };

static void like_by(const kc__wish *wish, void *user)
{
    kc__cycle *c = user;
    if (wish->rule.kind == KC__FORBID)
        return;
    const int64_t weight = wish->rule.kind == KC__REQUIRE ? HARD_WEIGHT : wish->rule.weight;
    add_counts(c, &wish->counts, weight, sums_for(c, &c->liked, wish->rule.term->key));
}

bool kc__prepare_score_relations(kc__cycle *c)
{
    kc_vec_each (&c->demand->rules, rule) {
        if (rule->kind != KC__PREFER)
            continue;
        const kc__tally *tally = kc__cluster_tally(c->cluster, &rule->term, 1, c->now);
        add_counts(c, &tally->counts, rule->weight, sums_for(c, &c->liked, rule->term->key));
    }
    kc__cluster_wishes(c->cluster, c->demand, like_by, c);
    return c->liked.n;
}

int64_t kc__score_relations(kc__cycle *c, const kc__host *host)
{
    int64_t score = 0;
    kc_vec_each (&c->liked, s) {
        const int32_t id = kc__domain_of(s->domains, host);
        score += id < 0 ? 0 : s->sums[id];
    }
    return score;
}

void kc__normalize_relations(kc__cycle *c, int64_t *scores, size_t n)
{
    (void)c;
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        least = KC_MIN(least, scores[i]);
        most = KC_MAX(most, scores[i]);
    }
    for (size_t i = 0; i < n; i++)
        scores[i] =
            most == least
                ? 0
                : (int64_t)(KC__MAX_SCORE * ((double)(scores[i] - least) / (double)(most - least)));
}
