/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_pod_affinity.c: InterPodAffinity: required and preferred affinity and anti-affinity of the
 * pod to other pods, and of assigned pods to it.
 *
 * The first pod of a group with affinity to itself would wait forever: if no pod matches yet and
 * the pod matches its own terms, any node with the topology labels fits.
 */
#include "scheduler/cycle.h"

static kc__sched_domain_sums open_sums(kc__sched_cycle *c, const char *key)
{
    const kc__sched_domains *domains = kc__sched_cluster_domains(c->cluster, key);
    return (kc__sched_domain_sums){
        domains, kc_arena_calloc(c->arena, domains->values.n + 1, sizeof(int64_t))};
}

/* The sums of the list for this topology, created if missing. */
static kc__sched_domain_sums *sums_for(kc__sched_cycle *c, kc__sched_sums_list *list,
                                       const char *key)
{
    kc_vec_each (list, s)
        if (!strcmp(s->domains->key, key))
            return s;
    kc_vec_push(list, open_sums(c, key));
    return kc_vec_last(list);
}

static bool add_counts(const kc__sched_cycle *c, const kc__sched_counts *counts, int64_t weight,
                       kc__sched_domain_sums *to)
{
    bool any = false;
    kc_vec_each (&c->cluster->ready, host) {
        const uint32_t n = kc__sched_count_at(counts, (*host)->slot);
        const int32_t id = n ? kc__sched_domain_of(to->domains, *host) : -1;
        if (id < 0)
            continue;
        to->sums[id] += weight * n;
        any = true;
    }
    return any;
}

/* ---- filter ---- */

static size_t count_rules(const kc__sched_demand *d, kc__sched_rule_kind kind)
{
    size_t n = 0;
    kc_vec_each (&d->rules, rule)
        n += rule->kind == kind;
    return n;
}

/* Only pods that match all of its terms count. */
static void prepare_near(kc__sched_cycle *c)
{
    const kc__sched_demand *d = c->demand;
    c->n_near = count_rules(d, KC__SCHED_REQUIRE);
    c->near_any = false;
    if (!c->n_near)
        return;
    kc__sched_term **terms = kc_arena_calloc(c->arena, c->n_near, sizeof(*terms));
    size_t n = 0;
    kc_vec_each (&d->rules, rule)
        if (rule->kind == KC__SCHED_REQUIRE)
            terms[n++] = rule->term;
    const kc__sched_tally *tally = kc__sched_cluster_tally(c->cluster, terms, n, c->now);
    const kc__sched_labelled self = kc__sched_cluster_labelled(c->cluster, d);
    c->near = kc_arena_calloc(c->arena, n, sizeof(*c->near));
    c->near_itself = true;
    for (size_t i = 0; i < n; i++) {
        c->near[i] = open_sums(c, terms[i]->key);
        c->near_any = add_counts(c, &tally->counts, 1, &c->near[i]) || c->near_any;
        c->near_itself = c->near_itself && kc__sched_term_matches(terms[i], &self);
    }
}

static void forbid_by(const kc__sched_pod_term *pod_term, void *user)
{
    kc__sched_cycle *c = user;
    if (pod_term->rule.kind == KC__SCHED_FORBID)
        add_counts(c, &pod_term->counts, 1,
                   sums_for(c, &c->forbidden_by, pod_term->rule.term->key));
}

bool kc__sched_prepare_pod_affinity(kc__sched_cycle *c)
{
    prepare_near(c);
    kc_vec_each (&c->demand->rules, rule) {
        if (rule->kind != KC__SCHED_FORBID)
            continue;
        const kc__sched_tally *tally = kc__sched_cluster_tally(c->cluster, &rule->term, 1, c->now);
        add_counts(c, &tally->counts, 1, sums_for(c, &c->forbidden_own, rule->term->key));
    }
    kc__sched_cluster_pod_terms(c->cluster, c->demand, forbid_by, c);
    return true;
}

static bool sched_plugin_relations_is_near(const kc__sched_cycle *c, const kc__sched_node *host)
{
    bool all = true;
    for (size_t i = 0; i < c->n_near; i++) {
        const int32_t id = kc__sched_domain_of(c->near[i].domains, host);
        if (id < 0)
            return false;
        all = all && c->near[i].sums[id] > 0;
    }
    return all || (!c->near_any && c->near_itself);
}

static bool is_forbidden(const kc__sched_sums_list *list, const kc__sched_node *host)
{
    kc_vec_each (list, s) {
        const int32_t id = kc__sched_domain_of(s->domains, host);
        if (id >= 0 && s->sums[id] > 0)
            return true;
    }
    return false;
}

kc__sched_filter_code kc__sched_filter_pod_affinity(kc__sched_cycle *c, const kc__sched_node *host,
                                                    kc__sched_reasons *why)
{
    if (c->n_near && !sched_plugin_relations_is_near(c, host)) {
        kc__sched_reasons_add(why, "node(s) didn't match pod affinity rules");
        return KC__SCHED_UNRESOLVABLE;
    }
    if (is_forbidden(&c->forbidden_own, host)) {
        kc__sched_reasons_add(why, "node(s) didn't match pod anti-affinity rules");
        return KC__SCHED_UNFIT;
    }
    if (is_forbidden(&c->forbidden_by, host)) {
        kc__sched_reasons_add(why, "node(s) didn't satisfy existing pods anti-affinity rules");
        return KC__SCHED_UNFIT;
    }
    return KC__SCHED_FITS;
}

/* ---- score ---- */

/* Hard affinity of assigned pods also adds to the score, with a small weight. */
enum { HARD_WEIGHT = 1 };

static void like_by(const kc__sched_pod_term *pod_term, void *user)
{
    kc__sched_cycle *c = user;
    if (pod_term->rule.kind == KC__SCHED_FORBID)
        return;
    const int64_t weight =
        pod_term->rule.kind == KC__SCHED_REQUIRE ? HARD_WEIGHT : pod_term->rule.weight;
    add_counts(c, &pod_term->counts, weight, sums_for(c, &c->preferred, pod_term->rule.term->key));
}

bool kc__sched_prepare_score_pod_affinity(kc__sched_cycle *c)
{
    kc_vec_each (&c->demand->rules, rule) {
        if (rule->kind != KC__SCHED_PREFER)
            continue;
        const kc__sched_tally *tally = kc__sched_cluster_tally(c->cluster, &rule->term, 1, c->now);
        add_counts(c, &tally->counts, rule->weight, sums_for(c, &c->preferred, rule->term->key));
    }
    kc__sched_cluster_pod_terms(c->cluster, c->demand, like_by, c);
    return c->preferred.n;
}

int64_t kc__sched_score_pod_affinity(kc__sched_cycle *c, const kc__sched_node *host)
{
    int64_t score = 0;
    kc_vec_each (&c->preferred, s) {
        const int32_t id = kc__sched_domain_of(s->domains, host);
        score += id < 0 ? 0 : s->sums[id];
    }
    return score;
}

void kc__sched_normalize_pod_affinity(kc__sched_cycle *c, int64_t *scores, size_t n)
{
    (void)c;
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        least = KC_MIN(least, scores[i]);
        most = KC_MAX(most, scores[i]);
    }
    for (size_t i = 0; i < n; i++)
        scores[i] = most == least ? 0
                                  : (int64_t)(KC__SCHED_MAX_SCORE * ((double)(scores[i] - least) /
                                                                     (double)(most - least)));
}
