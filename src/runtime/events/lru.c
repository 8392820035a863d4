/* SPDX-License-Identifier: Apache-2.0 */
/* lru.c: a map for lookup and a list for eviction; an entry is one allocation with key and
 * value. */
#include "runtime/events/lru.h"

#include <stdalign.h>

typedef struct lru_entry {
    kc_dlist_link link;
    size_t key_size;
    alignas(max_align_t) char value[]; /* The key's bytes follow it. */
} lru_entry;

void kc__lru_init(kc__lru *lru, size_t limit, size_t size, void (*done)(void *value))
{
    *lru = (kc__lru){.limit = limit, .size = size, .done = done};
    kc_dlist_init(&lru->used);
}

static kc_str lru_key_of(const kc__lru *lru, const lru_entry *e)
{
    return kc_str_of(e->value + lru->size, e->key_size);
}

static void lru_drop(kc__lru *lru, lru_entry *e)
{
    kc_map_remove(&lru->by_key, lru_key_of(lru, e));
    kc_dlist_remove(&e->link);
    if (lru->done)
        lru->done(e->value);
    free(e);
}

void kc__lru_done(kc__lru *lru)
{
    kc_dlist_each (&lru->used, lru_entry, link, e)
        lru_drop(lru, e);
    kc_map_done(&lru->by_key);
}

static lru_entry *lru_add(kc__lru *lru, kc_str key)
{
    lru_entry *e = kc_calloc(1, sizeof(lru_entry) + lru->size + key.n);
    e->key_size = key.n;
    memcpy(e->value + lru->size, key.p, key.n);
    kc_map_put(&lru->by_key, lru_key_of(lru, e), e);
    return e;
}

void *kc__lru_get(kc__lru *lru, kc_str key)
{
    lru_entry *e = kc_map_get(&lru->by_key, key);
    if (!e) {
        if (lru->by_key.n >= lru->limit)
            lru_drop(lru, kc_container_of(kc_dlist_first(&lru->used), lru_entry, link));
        e = lru_add(lru, key);
    }
    kc_dlist_remove(&e->link);
    kc_dlist_push(&lru->used, &e->link);
    return e->value;
}
