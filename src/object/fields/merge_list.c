/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge_list.c: merges associative lists.
 *
 * Items of both lists are merged with each other; the others are kept. The order is upstream's: the
 * items of the configuration stay in its order, and items of the live list stay at their place
 * between them, as far as both orders agree.
 *
 *     live [a b c d], configuration [c x a]  ──▶  [b c d x a]
 *
 * All elements are first numbered, so that the loop below compares numbers. Lists with the same
 * elements in the same order, the common case, need no numbers: the configuration has no
 * duplicates, so neither has the live list.
 */
#include "object/fields/merge_internal.h"

/* All items with one element. */
typedef struct group {
    const kc_value *live, *config; /* NULL for none; a null for duplicates in the live list. */
    uint32_t live_at;
    bool merged;
} group;

typedef struct list_merge {
    kc__fields_merging *m;
    const kc__fields_type *type;
    group *groups;
    uint32_t *live, *config; /* The group of each item. */
    const kc_value **live_items;
    size_t n_live, n_config;
    size_t shared; /* Position in the configuration of the next item that both lists have. */
    size_t written;
} list_merge;

static const kc_value null_item = {.tag = YYJSON_TYPE_NULL};

static void number_item(list_merge *l, const kc__fields_item *item, uint32_t number)
{
    group *g = &l->groups[number];
    if (item->right) {
        l->config[item->at] = number;
        g->config = g->config ? g->config : item->value;
        return;
    }
    l->live[item->at] = number;
    l->live_items[item->at] = item->value;
    g->live = g->live ? &null_item : item->value;
    g->live_at = item->at;
}

static void number_items(list_merge *l, const kc_value *live, const kc_value *config)
{
    kc_arena *arena = l->m->arena;
    kc__fields_items items = kc__fields_items_of(arena, l->type, live, config);
    uint32_t number = 0;
    l->n_live = kc__fields_len(live);
    l->n_config = kc__fields_len(config);
    l->groups = kc_arena_calloc(arena, items.n + 1, sizeof(*l->groups));
    l->live = kc_arena_alloc(arena, (l->n_live + 1) * sizeof(*l->live));
    l->live_items = kc_arena_alloc(arena, (l->n_live + 1) * sizeof(*l->live_items));
    l->config = kc_arena_alloc(arena, (l->n_config + 1) * sizeof(*l->config));
    for (size_t at = 0, n; at < items.n; at += n, number++) {
        n = kc__fields_items_group(&items, at);
        for (size_t i = 0; i < n; i++)
            number_item(l, &items.sorted[at + i], number);
    }
}

/* Moves to the next item of the configuration, from `from`, that the live list has, too. */
static void find_shared(list_merge *l, size_t from)
{
    while (from < l->n_config && !l->groups[l->config[from]].live)
        from++;
    l->shared = from;
}

static void keep_live(list_merge *l, size_t at)
{
    l->m->changed |= l->written++ != at;
    kc__fields_out_copy(&l->m->out, l->live_items[at]);
}

static void take_config(list_merge *l, size_t at)
{
    group *g = &l->groups[l->config[at]];
    l->m->changed |= !g->live || l->written != g->live_at;
    l->written++;
    g->merged = true;
    kc__fields_merge_values(l->m, l->type->items, g->live, g->config);
    if (l->shared == at)
        find_shared(l, at + 1);
}

static void merge_items(list_merge *l)
{
    size_t i = 0, j = 0;
    while (i < l->n_live || j < l->n_config) {
        const group *g = i < l->n_live ? &l->groups[l->live[i]] : NULL;
        if (g && j < l->n_config && l->live[i] == l->config[j]) {
            take_config(l, j++);
            i++;
            continue;
        }
        /* An item of both lists whose turn comes later. */
        if (g && j < l->n_config && g->config && l->shared < l->n_config &&
            l->config[l->shared] != l->live[i]) {
            i++;
            continue;
        }
        if (g && !g->config) {
            keep_live(l, i++);
            continue;
        }
        if (g && g->merged)
            i++;
        if (j < l->n_config)
            take_config(l, j++);
    }
}

/* See kc__fields_merge_notes. */
static bool is_uncertain(const list_merge *l)
{
    bool several = l->type->n_keys > 1;
    for (uint32_t i = 0; i < l->type->n_keys; i++)
        several |= l->type->keys[i].default_value != NULL;
    for (size_t i = 0; i < l->n_live; i++) {
        const group *g = &l->groups[l->live[i]];
        if (g->live == &null_item || (several && !g->config))
            return true;
    }
    return false;
}

static bool has_same_elements(const kc__fields_type *type, const kc_value *live,
                              const kc_value *config)
{
    const kc_value *other = config ? config + 1 : NULL;
    if (!live || !config || kc__fields_len(live) != kc__fields_len(config))
        return false;
    kc__fields_each_item(live, item)
    {
        if (!kc__fields_items_match(type, item, other))
            return false;
        other = kc__fields_after(other);
    }
    return true;
}

static void merge_in_parallel(kc__fields_merging *m, const kc__fields_type *type,
                              const kc_value *live, const kc_value *config)
{
    size_t at = kc__fields_out_begin(&m->out, false);
    const kc_value *other = config + 1;
    kc__fields_each_item(live, item)
    {
        kc__fields_merge_values(m, type->items, item, other);
        other = kc__fields_after(other);
    }
    kc__fields_out_end(&m->out, at, kc__fields_len(live));
}

void kc__fields_merge_lists(kc__fields_merging *m, const kc__fields_type *type,
                            const kc_value *live, const kc_value *config)
{
    if (has_same_elements(type, live, config)) {
        merge_in_parallel(m, type, live, config);
        return;
    }
    list_merge l = {.m = m, .type = type};
    size_t at = kc__fields_out_begin(&m->out, false);
    number_items(&l, live, config);
    m->notes.uncertain |= is_uncertain(&l);
    find_shared(&l, 0);
    merge_items(&l);
    m->changed |= l.written != l.n_live;
    kc__fields_out_end(&m->out, at, l.written);
}
