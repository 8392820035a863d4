/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lru.h: a bounded table that evicts the least recently used entry. Values are embedded blocks of
 * one size, initially zeroed. Not thread-safe.
 */
#ifndef KC_RUNTIME_LRU_H
#define KC_RUNTIME_LRU_H

#include "kc/dlist.h"
#include "kc/map.h"

typedef struct kc__lru {
    size_t limit;              /* Maximum number of entries. */
    size_t size;               /* Bytes per value. */
    void (*done)(void *value); /* Releases what a value holds; may be NULL. */
    kc_map by_key;
    kc_dlist used; /* Least recently used first. */
} kc__lru;

void kc__lru_init(kc__lru *lru, size_t limit, size_t size, void (*done)(void *value));
void kc__lru_done(kc__lru *lru);
/* The value of a key, created if it does not exist; valid until the next call. Never NULL. */
void *kc__lru_get(kc__lru *lru, kc_str key);

#endif
