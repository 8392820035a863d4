/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counts.c: how many pods match a term, on each host, kept current; see cluster.h.
 *
 *     anchor "app=web" ─▶ mentions: pods on hosts that have this label
 *                      ─▶ tallies:  counts of pods for terms that require it
 *                      ─▶ wishes:   terms of pods on hosts that require it
 *
 * A pod that comes to a host, or leaves it, goes over the anchors of its labels and touches the
 * tallies there that it matches. A new tally goes over the mentions of its anchor. A decision finds
 * the wishes that are about its pod at the anchors of the pod's labels. Terms without a label of
 * one certain value hang on `loose`, where every pod is.
 */
#include "scheduler/cluster.h"

#include "kc/buf.h"

enum { MAX_TALLIES = 20000 };

/* ---- anchors ---- */

static void anchor_init(kc__anchor *anchor)
{
    kc_list_init(&anchor->mentions);
    kc_list_init(&anchor->tallies);
    kc_list_init(&anchor->wishes);
}

static kc__anchor *anchor_of(kc__cluster *c, kc_str text)
{
    kc__anchor *anchor = kc_map_get(&c->anchors, text);
    if (anchor)
        return anchor;
    anchor = kc_new(kc__anchor);
    anchor->text = kc_str_dup(text);
    anchor_init(anchor);
    kc_map_put(&c->anchors, kc_cstr(anchor->text), anchor);
    return anchor;
}

static void drop_if_unused(kc__cluster *c, kc__anchor *anchor)
{
    if (anchor == &c->loose || !kc_list_empty(&anchor->mentions) ||
        !kc_list_empty(&anchor->tallies) || !kc_list_empty(&anchor->wishes))
        return;
    kc_map_remove(&c->anchors, kc_cstr(anchor->text));
    free(anchor->text);
    free(anchor);
}

static kc__anchor *anchor_of_term(kc__cluster *c, const kc__term *term)
{
    kc_scoped(kc_buf) text = {0};
    return kc__term_anchor(term, &text) ? anchor_of(c, kc_buf_str(&text)) : &c->loose;
}

/* ---- counting ---- */

static void count(kc__counts *counts, uint64_t *total, size_t slot, int by)
{
    while (counts->n <= slot)
        kc_vec_push(counts, 0);
    counts->items[slot] += (uint32_t)by;
    *total += (uint64_t)by;
}

static bool tally_matches(const kc__tally *tally, const kc__labelled *pod)
{
    for (size_t i = 0; i < tally->n_terms; i++)
        if (!kc__term_matches(tally->terms[i], pod))
            return false;
    return true;
}

static void count_at_anchor(kc__cluster *c, kc__anchor *anchor, const kc__place *place, int by)
{
    const kc__labelled pod = kc__cluster_labelled(c, place->demand);
    kc_list_each (&anchor->tallies, kc__tally, link, tally)
        if (tally_matches(tally, &pod))
            count(&tally->counts, &tally->total, place->host->slot, by);
}

/* ---- wishes ---- */

static void wish_text(kc_buf *out, const kc__rule *rule)
{
    kc_buf_printf(out, "%d %d\n", (int)rule->kind, rule->weight);
    kc_buf_puts(out, rule->term->text);
}

static kc__wish *wish_of(kc__cluster *c, const kc__rule *rule)
{
    kc_scoped(kc_buf) text = {0};
    wish_text(&text, rule);
    kc__wish *wish = kc_map_get(&c->wishes, kc_buf_str(&text));
    if (wish)
        return wish;
    wish = kc_new(kc__wish);
    wish->text = kc_buf_take(&text);
    wish->rule = *rule;
    kc__term_ref(rule->term);
    kc_list_push(&anchor_of_term(c, rule->term)->wishes, &wish->link);
    kc_map_put(&c->wishes, kc_cstr(wish->text), wish);
    return wish;
}

static void wish_free(kc__cluster *c, kc__wish *wish)
{
    kc__anchor *anchor = anchor_of_term(c, wish->rule.term);
    kc_list_remove(&wish->link);
    drop_if_unused(c, anchor);
    kc_map_remove(&c->wishes, kc_cstr(wish->text));
    kc__term_unref(wish->rule.term);
    kc_vec_done(&wish->counts);
    free(wish->text);
    free(wish);
}

static void enter_wishes(kc__cluster *c, kc__place *place)
{
    kc_vec_each (&place->demand->rules, rule) {
        kc__wish *wish = wish_of(c, rule);
        count(&wish->counts, &wish->total, place->host->slot, 1);
        kc_vec_push(&place->wishes, wish);
    }
}

static void leave_wishes(kc__cluster *c, kc__place *place)
{
    kc_vec_each (&place->wishes, wish) {
        count(&(*wish)->counts, &(*wish)->total, place->host->slot, -1);
        if (!(*wish)->total)
            wish_free(c, *wish);
    }
    kc_vec_done(&place->wishes);
}

static void each_wish_at(const kc__anchor *anchor, const kc__labelled *pod,
                         void (*each)(const kc__wish *wish, void *user), void *user)
{
    if (!anchor)
        return;
    kc_list_each (&anchor->wishes, kc__wish, link, wish)
        if (kc__term_matches(wish->rule.term, pod))
            each(wish, user);
}

void kc__cluster_wishes(kc__cluster *c, const kc__demand *demand,
                        void (*each)(const kc__wish *wish, void *user), void *user)
{
    if (!c->wishes.n)
        return;
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_buf) text = {0};
    const kc__labelled pod = kc__cluster_labelled(c, demand);
    kc_meta_iter at = kc_object_labels(demand->object, &arena);
    kc_str key, value;
    while (kc_meta_next_pair(&at, &key, &value)) {
        kc_buf_clear(&text);
        kc__anchor_of_label(&text, key, value);
        each_wish_at(kc_map_get(&c->anchors, kc_buf_str(&text)), &pod, each, user);
    }
    each_wish_at(&c->loose, &pod, each, user);
}

/* ---- mentions ---- */

static void mention(kc__cluster *c, kc__place *place, kc__anchor *anchor)
{
    kc__mention *m = &place->mentions[place->n_mentions++];
    *m = (kc__mention){.anchor = anchor, .place = place};
    kc_list_push(&anchor->mentions, &m->link);
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

void kc__counts_enter(kc__cluster *c, kc__place *place)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_buf) text = {0};
    const kc__demand *d = place->demand;
    place->mentions = kc_calloc(count_labels(d->object) + 2, sizeof(kc__mention));
    kc_meta_iter at = kc_object_labels(d->object, &arena);
    kc_str key, value;
    while (kc_meta_next_pair(&at, &key, &value)) {
        kc_buf_clear(&text);
        kc__anchor_of_label(&text, key, value);
        mention(c, place, anchor_of(c, kc_buf_str(&text)));
    }
    kc_buf_clear(&text);
    kc__anchor_of_owner(&text, d->owner);
    if (d->owner.n)
        mention(c, place, anchor_of(c, kc_buf_str(&text)));
    mention(c, place, &c->loose);
    enter_wishes(c, place);
}

void kc__counts_leave(kc__cluster *c, kc__place *place)
{
    leave_wishes(c, place);
    for (size_t i = 0; i < place->n_mentions; i++) {
        kc__mention *m = &place->mentions[i];
        count_at_anchor(c, m->anchor, place, -1);
        kc_list_remove(&m->link);
        drop_if_unused(c, m->anchor);
    }
    free(place->mentions);
    place->mentions = NULL;
    place->n_mentions = 0;
}

/* ---- tallies ---- */

static void tally_free(kc__cluster *c, kc__tally *tally)
{
    kc__anchor *anchor = anchor_of_term(c, tally->terms[0]);
    kc_list_remove(&tally->link);
    drop_if_unused(c, anchor);
    kc_map_remove(&c->tallies, kc_cstr(tally->text));
    for (size_t i = 0; i < tally->n_terms; i++)
        kc__term_unref(tally->terms[i]);
    free(tally->terms);
    kc_vec_done(&tally->counts);
    free(tally->text);
    free(tally);
}

void kc__cluster_forget_tallies(kc__cluster *c, int64_t before)
{
    kc_map_each (&c->tallies, entry) {
        kc__tally *tally = entry->value;
        if (tally->used_at < before)
            tally_free(c, tally);
    }
}

static bool looks_at_namespaces(const kc__tally *tally)
{
    for (size_t i = 0; i < tally->n_terms; i++)
        if (tally->terms[i]->namespaces)
            return true;
    return false;
}

/* They would go on with what they counted by the old labels. */
void kc__counts_namespaces_change(kc__cluster *c)
{
    kc_map_each (&c->tallies, entry) {
        kc__tally *tally = entry->value;
        if (looks_at_namespaces(tally))
            tally_free(c, tally);
    }
}

static kc__tally *tally_new(kc__cluster *c, char *text, kc__term *const *terms, size_t n)
{
    kc__tally *tally = kc_new(kc__tally);
    tally->text = text;
    tally->terms = kc_calloc(n, sizeof(*tally->terms));
    tally->n_terms = n;
    for (size_t i = 0; i < n; i++)
        tally->terms[i] = kc__term_ref(terms[i]);
    kc__anchor *anchor = anchor_of_term(c, terms[0]);
    kc_list_each (&anchor->mentions, kc__mention, link, m) {
        const kc__labelled pod = kc__cluster_labelled(c, m->place->demand);
        if (tally_matches(tally, &pod))
            count(&tally->counts, &tally->total, m->place->host->slot, 1);
    }
    kc_list_push(&anchor->tallies, &tally->link);
    kc_map_put(&c->tallies, kc_cstr(tally->text), tally);
    return tally;
}

const kc__tally *kc__cluster_tally(kc__cluster *c, kc__term *const *terms, size_t n, int64_t now)
{
    kc_scoped(kc_buf) text = {0};
    for (size_t i = 0; i < n; i++) {
        kc_buf_puts(&text, terms[i]->text);
        kc_buf_putc(&text, '\f');
    }
    kc__tally *tally = kc_map_get(&c->tallies, kc_buf_str(&text));
    if (!tally && c->tallies.n >= MAX_TALLIES)
        kc__cluster_forget_tallies(c, now);
    if (!tally)
        tally = tally_new(c, kc_buf_take(&text), terms, n);
    tally->used_at = now;
    return tally;
}

void kc__counts_init(kc__cluster *c)
{
    anchor_init(&c->loose);
}

void kc__counts_done(kc__cluster *c)
{
    kc__cluster_forget_tallies(c, INT64_MAX);
    kc_map_done(&c->tallies);
    kc_map_done(&c->wishes);
    kc_map_done(&c->anchors);
}
