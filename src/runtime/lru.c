/* SPDX-License-Identifier: Apache-2.0 */
/* lru.c: a map for finding and a list for forgetting; an entry is one block with key and value. */
#include "runtime/lru.h"

#include <stdalign.h>

typedef struct entry {
    kc_link link;
    size_t key_size;
    alignas(max_align_t) char value[]; /* The key's text follows it. */
} entry;

void kc__lru_init(kc__lru *lru, size_t limit, size_t size, void (*done)(void *value))
{
    *lru = (kc__lru){.limit = limit, .size = size, .done = done};
    kc_list_init(&lru->used);
}

static kc_str key_of(const kc__lru *lru, const entry *e)
{
    return kc_str_of(e->value + lru->size, e->key_size);
}

static void drop(kc__lru *lru, entry *e)
{
    kc_map_remove(&lru->by_key, key_of(lru, e));
    kc_list_remove(&e->link);
    if (lru->done)
        lru->done(e->value);
    free(e);
}

void kc__lru_done(kc__lru *lru)
{
    kc_list_each (&lru->used, entry, link, e)
        drop(lru, e);
    kc_map_done(&lru->by_key);
}

static entry *add(kc__lru *lru, kc_str key)
{
    entry *e = kc_calloc(1, sizeof(entry) + lru->size + key.n);
    e->key_size = key.n;
    memcpy(e->value + lru->size, key.p, key.n);
    kc_map_put(&lru->by_key, key_of(lru, e), e);
    return e;
}

void *kc__lru_get(kc__lru *lru, kc_str key)
{
    entry *e = kc_map_get(&lru->by_key, key);
    if (!e) {
        if (lru->by_key.n >= lru->limit)
            drop(lru, kc_container_of(kc_list_first(&lru->used), entry, link));
        e = add(lru, key);
    }
    kc_list_remove(&e->link);
    kc_list_push(&lru->used, &e->link);
    return e->value;
}

void *kc__lru_peek(const kc__lru *lru, kc_str key)
{
    entry *e = kc_map_get(&lru->by_key, key);
    return e ? e->value : NULL;
}

void kc__lru_remove(kc__lru *lru, kc_str key)
{
    entry *e = kc_map_get(&lru->by_key, key);
    if (e)
        drop(lru, e);
}
