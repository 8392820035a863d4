/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h: a hash map from strings to pointers that keeps the order of insertion.
 *
 *     kc_scoped(kc_map) by_name = {0};
 *     kc_map_put(&by_name, kc_object_name(pod), pod);
 *     kc_map_each(&by_name, entry)
 *         printf("%.*s\n", KC_ARG(entry->key));
 *
 * A zeroed map is ready. Keys are borrowed: they must live, unchanged, as long as their entry, and
 * may be freed once it is removed; the caller owns the values. Iteration is in the order of
 * insertion, independent of hashes: two runs with the same input behave the same. Not thread-safe.
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
    size_t n; /* Number of entries. */
    kc_map_entry *entries;
    size_t used, cap;  /* Of entries, removed ones included. */
    uint32_t *slots;   /* Positions in entries, plus one. */
    size_t slots_mask; /* Number of slots - 1, a power of two minus one. */
    uint64_t seed;     /* Chosen at the first insertion. */
} kc_map;

void kc_map_done(kc_map *map);
/* Removes all entries and keeps the memory. */
void kc_map_clear(kc_map *map);

/* The value, or NULL. */
void *kc_map_get(const kc_map *map, kc_str key);
/* Sets a value, which must not be NULL. Returns the replaced value, or NULL. The entry keeps its
 * position and takes the new key, so a key may be part of its value. */
void *kc_map_put(kc_map *map, kc_str key, void *value);
/* Returns the removed value, or NULL. Allowed for the current entry of kc_map_each. */
void *kc_map_remove(kc_map *map, kc_str key);

/* Runs the block for each kc_map_entry *, in order of insertion. The block must not insert. */
#define kc_map_each(map, it)                                \
    for (kc_map_entry *it = kc__map_entry_from(map, 0); it; \
         it = kc__map_entry_from(map, (size_t)(it - (map)->entries) + 1))

/* The first entry at or after `at` that was not removed, or NULL. */
static inline kc_map_entry *kc__map_entry_from(const kc_map *map, size_t at)
{
    while (at < map->used && !map->entries[at].value)
        at++;
    return at < map->used ? &map->entries[at] : NULL;
}

#endif
