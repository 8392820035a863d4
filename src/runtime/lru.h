/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lru.h: a bounded table that forgets what was used longest ago. Values are blocks of one size that
 * live in it, zeroed at first. Not for several threads at a time.
 */
#ifndef KC_RUNTIME_LRU_H
#define KC_RUNTIME_LRU_H

#include "kc/list.h"
#include "kc/map.h"

typedef struct kc__lru {
    size_t limit;              /* Entries it keeps. */
    size_t size;               /* Bytes of a value. */
    void (*done)(void *value); /* Releases what a value holds; may be NULL. */
    kc_map by_key;
    kc_list used; /* Longest ago first. */
} kc__lru;

void kc__lru_init(kc__lru *lru, size_t limit, size_t size, void (*done)(void *value));
void kc__lru_done(kc__lru *lru);
/* The value of a key, made if it is not there; valid until the next call. Never NULL. */
void *kc__lru_get(kc__lru *lru, kc_str key);
/* NULL if it is not there; does not count as use. */
void *kc__lru_peek(const kc__lru *lru, kc_str key);
void kc__lru_remove(kc__lru *lru, kc_str key);

#endif
