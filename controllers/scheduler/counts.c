/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counts.c: keeps the number of pods that match a term, for each node; see cluster.h.
 *
 *     anchor "app=web" ─▶ mentions:  assigned pods that have this label
 *                      ─▶ tallies:   counts of pods for terms that require it
 *                      ─▶ pod terms: terms of assigned pods that require it
 *
 * A pod that is added to or removed from a node visits the anchors of its labels and updates the
 * tallies there that it matches. A new tally counts the mentions of its anchor. A decision finds
 * the pod terms that concern its pod at the anchors of the pod's labels. Terms that require no
 * single label value are registered at `loose`, where every pod is.
 */
#include "scheduler/cluster.h"

#include "kc/buf.h"

enum { MAX_TALLIES = 20000 };

/* ---- anchors ---- */

static void anchor_init(kc__sched_anchor *anchor)
{
    kc_dlist_init(&anchor->mentions);
    kc_dlist_init(&anchor->tallies);
    kc_dlist_init(&anchor->pod_terms);
}

static kc__sched_anchor *anchor_of(kc__sched_cluster *c, kc_str text)
{
    kc__sched_anchor *anchor = kc_map_get(&c->anchors, text);
    if (anchor)
        return anchor;
    anchor = kc_new(kc__sched_anchor);
    anchor->text = kc_str_dup(text);
    anchor_init(anchor);
    kc_map_put(&c->anchors, kc_cstr(anchor->text), anchor);
    return anchor;
}

static void drop_if_unused(kc__sched_cluster *c, kc__sched_anchor *anchor)
{
    if (anchor == &c->loose || !kc_dlist_empty(&anchor->mentions) ||
        !kc_dlist_empty(&anchor->tallies) || !kc_dlist_empty(&anchor->pod_terms))
        return;
    kc_map_remove(&c->anchors, kc_cstr(anchor->text));
    free(anchor->text);
    free(anchor);
}

static kc__sched_anchor *anchor_of_term(kc__sched_cluster *c, const kc__sched_term *term)
{
    kc_scoped(kc_buf) text = {0};
    return kc__sched_term_anchor(term, &text) ? anchor_of(c, kc_buf_str(&text)) : &c->loose;
}

/* ---- counting ---- */

static void sched_counts_count(kc__sched_counts *counts, uint64_t *total, size_t slot, int by)
{
    while (counts->n <= slot)
        kc_vec_push(counts, 0);
    counts->items[slot] += (uint32_t)by;
    *total += (uint64_t)by;
}

static bool tally_matches(const kc__sched_tally *tally, const kc__sched_labelled *pod)
{
    for (size_t i = 0; i < tally->n_terms; i++)
        if (!kc__sched_term_matches(tally->terms[i], pod))
            return false;
    return true;
}

static void count_at_anchor(kc__sched_cluster *c, kc__sched_anchor *anchor,
                            const kc__sched_pod *place, int by)
{
    const kc__sched_labelled pod = kc__sched_cluster_labelled(c, place->demand);
    kc_dlist_each (&anchor->tallies, kc__sched_tally, link, tally)
        if (tally_matches(tally, &pod))
            sched_counts_count(&tally->counts, &tally->total, place->host->slot, by);
}

/* ---- pod terms ---- */

static void pod_term_text(kc_buf *out, const kc__sched_rule *rule)
{
    kc_buf_printf(out, "%d %d\n", (int)rule->kind, rule->weight);
    kc_buf_puts(out, rule->term->text);
}

static kc__sched_pod_term *pod_term_of(kc__sched_cluster *c, const kc__sched_rule *rule)
{
    kc_scoped(kc_buf) text = {0};
    pod_term_text(&text, rule);
    kc__sched_pod_term *pod_term = kc_map_get(&c->pod_terms, kc_buf_str(&text));
    if (pod_term)
        return pod_term;
    pod_term = kc_new(kc__sched_pod_term);
    pod_term->text = kc_buf_take(&text);
    pod_term->rule = *rule;
    kc__sched_term_ref(rule->term);
    kc_dlist_push(&anchor_of_term(c, rule->term)->pod_terms, &pod_term->link);
    kc_map_put(&c->pod_terms, kc_cstr(pod_term->text), pod_term);
    return pod_term;
}

static void pod_term_free(kc__sched_cluster *c, kc__sched_pod_term *pod_term)
{
    kc__sched_anchor *anchor = anchor_of_term(c, pod_term->rule.term);
    kc_dlist_remove(&pod_term->link);
    drop_if_unused(c, anchor);
    kc_map_remove(&c->pod_terms, kc_cstr(pod_term->text));
    kc__sched_term_unref(pod_term->rule.term);
    kc_vec_done(&pod_term->counts);
    free(pod_term->text);
    free(pod_term);
}

static void enter_pod_terms(kc__sched_cluster *c, kc__sched_pod *place)
{
    kc_vec_each (&place->demand->rules, rule) {
        kc__sched_pod_term *pod_term = pod_term_of(c, rule);
        sched_counts_count(&pod_term->counts, &pod_term->total, place->host->slot, 1);
        kc_vec_push(&place->pod_terms, pod_term);
    }
}

static void leave_pod_terms(kc__sched_cluster *c, kc__sched_pod *place)
{
    kc_vec_each (&place->pod_terms, pod_term) {
        sched_counts_count(&(*pod_term)->counts, &(*pod_term)->total, place->host->slot, -1);
        if (!(*pod_term)->total)
            pod_term_free(c, *pod_term);
    }
    kc_vec_done(&place->pod_terms);
}

static void each_pod_term_at(const kc__sched_anchor *anchor, const kc__sched_labelled *pod,
                             void (*each)(const kc__sched_pod_term *pod_term, void *user),
                             void *user)
{
    if (!anchor)
        return;
    kc_dlist_each (&anchor->pod_terms, kc__sched_pod_term, link, pod_term)
        if (kc__sched_term_matches(pod_term->rule.term, pod))
            each(pod_term, user);
}

void kc__sched_cluster_pod_terms(kc__sched_cluster *c, const kc__sched_demand *demand,
                                 void (*each)(const kc__sched_pod_term *pod_term, void *user),
                                 void *user)
{
    if (!c->pod_terms.n)
        return;
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_buf) text = {0};
    const kc__sched_labelled pod = kc__sched_cluster_labelled(c, demand);
    kc_meta_iter at = kc_object_labels(demand->object, &arena);
    kc_str key, value;
    while (kc_meta_next_pair(&at, &key, &value)) {
        kc_buf_clear(&text);
        kc__sched_anchor_of_label(&text, key, value);
        each_pod_term_at(kc_map_get(&c->anchors, kc_buf_str(&text)), &pod, each, user);
    }
    each_pod_term_at(&c->loose, &pod, each, user);
}

/* ---- mentions ---- */

static void mention(kc__sched_cluster *c, kc__sched_pod *place, kc__sched_anchor *anchor)
{
    kc__sched_mention *m = &place->mentions[place->n_mentions++];
    *m = (kc__sched_mention){.anchor = anchor, .place = place};
    kc_dlist_push(&anchor->mentions, &m->link);
    count_at_anchor(c, anchor, place, 1);
}

static size_t count_labels(const kc_object *object)
{
    kc_scoped(kc_arena) arena = {0};
    kc_meta_iter at = kc_object_labels(object, &arena);
    kc_str key, value;
    size_t n = 0;
    while (kc_meta_next_pair(&at, &key, &value))
        n++;
    return n;
}

void kc__sched_counts_enter(kc__sched_cluster *c, kc__sched_pod *place)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_buf) text = {0};
    const kc__sched_demand *d = place->demand;
    place->mentions = kc_calloc(count_labels(d->object) + 2, sizeof(kc__sched_mention));
    kc_meta_iter at = kc_object_labels(d->object, &arena);
    kc_str key, value;
    while (kc_meta_next_pair(&at, &key, &value)) {
        kc_buf_clear(&text);
        kc__sched_anchor_of_label(&text, key, value);
        mention(c, place, anchor_of(c, kc_buf_str(&text)));
    }
    kc_buf_clear(&text);
    kc__sched_anchor_of_owner(&text, d->owner);
    if (d->owner.n)
        mention(c, place, anchor_of(c, kc_buf_str(&text)));
    mention(c, place, &c->loose);
    enter_pod_terms(c, place);
}

void kc__sched_counts_leave(kc__sched_cluster *c, kc__sched_pod *place)
{
    leave_pod_terms(c, place);
    for (size_t i = 0; i < place->n_mentions; i++) {
        kc__sched_mention *m = &place->mentions[i];
        count_at_anchor(c, m->anchor, place, -1);
        kc_dlist_remove(&m->link);
        drop_if_unused(c, m->anchor);
    }
    free(place->mentions);
    place->mentions = NULL;
    place->n_mentions = 0;
}

/* ---- tallies ---- */

static void tally_free(kc__sched_cluster *c, kc__sched_tally *tally)
{
    kc__sched_anchor *anchor = anchor_of_term(c, tally->terms[0]);
    kc_dlist_remove(&tally->link);
    drop_if_unused(c, anchor);
    kc_map_remove(&c->tallies, kc_cstr(tally->text));
    for (size_t i = 0; i < tally->n_terms; i++)
        kc__sched_term_unref(tally->terms[i]);
    free(tally->terms);
    kc_vec_done(&tally->counts);
    free(tally->text);
    free(tally);
}

void kc__sched_cluster_forget_tallies(kc__sched_cluster *c, int64_t before)
{
    kc_map_each (&c->tallies, entry) {
        kc__sched_tally *tally = entry->value;
        if (tally->used_at < before)
            tally_free(c, tally);
    }
}

static bool looks_at_namespaces(const kc__sched_tally *tally)
{
    for (size_t i = 0; i < tally->n_terms; i++)
        if (tally->terms[i]->namespaces)
            return true;
    return false;
}

/* The tallies count by the old labels and are dropped. */
void kc__sched_counts_namespaces_change(kc__sched_cluster *c)
{
    kc_map_each (&c->tallies, entry) {
        kc__sched_tally *tally = entry->value;
        if (looks_at_namespaces(tally))
            tally_free(c, tally);
    }
}

static kc__sched_tally *tally_new(kc__sched_cluster *c, char *text, kc__sched_term *const *terms,
                                  size_t n)
{
    kc__sched_tally *tally = kc_new(kc__sched_tally);
    tally->text = text;
    tally->terms = kc_calloc(n, sizeof(*tally->terms));
    tally->n_terms = n;
    for (size_t i = 0; i < n; i++)
        tally->terms[i] = kc__sched_term_ref(terms[i]);
    kc__sched_anchor *anchor = anchor_of_term(c, terms[0]);
    kc_dlist_each (&anchor->mentions, kc__sched_mention, link, m) {
        const kc__sched_labelled pod = kc__sched_cluster_labelled(c, m->place->demand);
        if (tally_matches(tally, &pod))
            sched_counts_count(&tally->counts, &tally->total, m->place->host->slot, 1);
    }
    kc_dlist_push(&anchor->tallies, &tally->link);
    kc_map_put(&c->tallies, kc_cstr(tally->text), tally);
    return tally;
}

const kc__sched_tally *kc__sched_cluster_tally(kc__sched_cluster *c, kc__sched_term *const *terms,
                                               size_t n, int64_t now)
{
    kc_scoped(kc_buf) text = {0};
    for (size_t i = 0; i < n; i++) {
        kc_buf_puts(&text, terms[i]->text);
        kc_buf_putc(&text, '\f');
    }
    kc__sched_tally *tally = kc_map_get(&c->tallies, kc_buf_str(&text));
    if (!tally && c->tallies.n >= MAX_TALLIES)
        kc__sched_cluster_forget_tallies(c, now);
    if (!tally)
        tally = tally_new(c, kc_buf_take(&text), terms, n);
    tally->used_at = now;
    return tally;
}

void kc__sched_counts_init(kc__sched_cluster *c)
{
    anchor_init(&c->loose);
}

void kc__sched_counts_done(kc__sched_cluster *c)
{
    kc__sched_cluster_forget_tallies(c, INT64_MAX);
    kc_map_done(&c->tallies);
    kc_map_done(&c->pod_terms);
    kc_map_done(&c->anchors);
}
