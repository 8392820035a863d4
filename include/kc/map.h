/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h: a hash map from text to pointers that remembers the order of insertion.
 *
 *     kc_scoped(kc_map) by_name = {0};
 *     kc_map_put(&by_name, kc_object_name(pod), pod);
 *     kc_map_each(&by_name, entry)
 *         printf("%.*s\n", KC_ARG(entry->key));
 *
 * A zeroed map is ready. Keys are borrowed: they must live, unchanged, as long as their entry;
 * values are the caller's. Iteration goes in the order of insertion and so does not depend on
 * hashes: two runs with the same input do the same. Not for several threads at a time.
 */
#ifndef KC_MAP_H
#define KC_MAP_H

#include "kc/str.h"

typedef struct kc_map_entry {
    kc_str key;
    void *value; /* NULL in a removed entry, which loops skip. */
    uint64_t hash;
} kc_map_entry;

typedef struct kc_map {
    size_t n; /* Entries in it. */
    kc_map_entry *entries;
    size_t used, cap;  /* Of entries, removed ones included. */
    uint32_t *slots;   /* Positions in entries, plus one. */
    size_t slots_mask; /* Number of slots - 1, a power of two minus one. */
    uint64_t seed;     /* Chosen at the first insertion. */
} kc_map;

void kc_map_done(kc_map *map);
/* Removes all entries, keeps the memory. */
void kc_map_clear(kc_map *map);

/* The value, or NULL. */
void *kc_map_get(const kc_map *map, kc_str key);
/* Sets a value, which must not be NULL. Returns the one it replaces (whose key is kept), or NULL.
 */
void *kc_map_put(kc_map *map, kc_str key, void *value);
/* Returns the value removed, or NULL. May be called for the current entry of kc_map_each. */
void *kc_map_remove(kc_map *map, kc_str key);

/* Runs the block for each kc_map_entry *, in order of insertion. Nothing may be put meanwhile. */
#define kc_map_each(map, it)                                                         \
    for (kc_map_entry *it = (map)->entries, *it##_end_ = it ? it + (map)->used : it; \
         it != it##_end_; it++)                                                      \
        if (it->value)

#endif
