/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.c: an array of entries in the order of insertion, and an open-addressed table of positions
 * in it.
 *
 *     slots    [ 0 │ 3 │ 0 │ 1 │ 0 │ 2 │ 0 │ 0 ]        0: free; else position + 1
 *     entries  [ a │ b │ c ]
 *
 * A removed entry stays as a tombstone (value NULL) until the next growth, which rebuilds both
 * arrays. The key of a tombstone is never read: its owner may have freed it. So a key that is
 * inserted again gets a new entry at the end and a new slot; each entry has at most one slot, and
 * half of the slots stay free.
 *
 * The hash of each map is seeded from the operating system, so that a client cannot choose
 * colliding keys; no visible behaviour depends on it.
 */
#include "kc/map.h"

#include <assert.h>
#include <sys/random.h>

void kc_map_done(kc_map *map)
{
    if (!map)
        return;
    free(map->entries);
    free(map->slots);
    *map = (kc_map){0};
}

void kc_map_clear(kc_map *map)
{
    if (map->slots)
        memset(map->slots, 0, (map->slots_mask + 1) * sizeof(*map->slots));
    map->n = map->used = 0;
}

/* The slot of the key, or the free slot where it would be inserted. There always is a free one. */
static uint32_t *slot_of(const kc_map *map, kc_str key, uint64_t hash)
{
    for (size_t i = hash & map->slots_mask;; i = (i + 1) & map->slots_mask) {
        uint32_t at = map->slots[i];
        if (!at)
            return &map->slots[i];
        const kc_map_entry *entry = &map->entries[at - 1];
        if (entry->value && entry->hash == hash && kc_str_eq(entry->key, key))
            return &map->slots[i];
    }
}

static kc_map_entry *entry_at(const kc_map *map, const uint32_t *slot)
{
    return *slot ? &map->entries[*slot - 1] : NULL;
}

static void drop_tombstones(kc_map *map)
{
    size_t kept = 0;
    for (size_t i = 0; i < map->used; i++)
        if (map->entries[i].value)
            map->entries[kept++] = map->entries[i];
    map->used = kept;
}

/* Makes room for one more entry, with at most half of the slots taken. */
static void make_room(kc_map *map)
{
    if (map->used < map->cap)
        return;
    drop_tombstones(map);
    if (!map->slots && getrandom(&map->seed, sizeof(map->seed), GRND_NONBLOCK) < 0)
        map->seed = (uintptr_t)map;
    size_t cap = KC_MAX((size_t)8, map->used >= map->cap / 2 ? map->cap * 2 : map->cap);
    assert(cap < UINT32_MAX / 2);
    map->entries = kc_reallocarray(map->entries, cap, sizeof(*map->entries));
    map->cap = cap;
    free(map->slots);
    map->slots = kc_calloc(cap * 2, sizeof(*map->slots));
    map->slots_mask = cap * 2 - 1;
    for (size_t i = 0; i < map->used; i++)
        *slot_of(map, map->entries[i].key, map->entries[i].hash) = (uint32_t)i + 1;
}

void *kc_map_get(const kc_map *map, kc_str key)
{
    if (!map->n)
        return NULL;
    const kc_map_entry *entry = entry_at(map, slot_of(map, key, kc_str_hash(key, map->seed)));
    return entry ? entry->value : NULL;
}

void *kc_map_put(kc_map *map, kc_str key, void *value)
{
    assert(value);
    make_room(map);
    assert(map->entries);
    uint64_t hash = kc_str_hash(key, map->seed);
    uint32_t *slot = slot_of(map, key, hash);
    kc_map_entry *entry = entry_at(map, slot);
    if (entry) {
        void *old = entry->value;
        entry->key = key; /* The old key may be part of the old value. */
        entry->value = value;
        return old;
    }
    map->entries[map->used++] = (kc_map_entry){key, value, hash};
    *slot = (uint32_t)map->used;
    map->n++;
    return NULL;
}

void *kc_map_remove(kc_map *map, kc_str key)
{
    if (!map->n)
        return NULL;
    kc_map_entry *entry = entry_at(map, slot_of(map, key, kc_str_hash(key, map->seed)));
    if (!entry)
        return NULL;
    void *old = entry->value;
    entry->value = NULL;
    map->n--;
    return old;
}
