/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_cap.c: bounds the number of entries of updates.
 *
 * Each client that updates an object leaves an entry, so an object that many write would grow
 * without end. Beyond KC__FIELDS_MAX_UPDATERS the oldest are merged: the first of a version stays
 * as it is until a second follows; then both become the entry "ancient-changes" of that version,
 * which has the time of the newest in it.
 */
#include "object/fields/managed_internal.h"

int kc__fields_owner_cmp_age(const kc__fields_owner *a, const kc__fields_owner *b)
{
    if (a->seconds != b->seconds)
        return a->seconds < b->seconds ? -1 : 1;
    return kc_str_cmp(a->id, b->id);
}

static int updaters_cmp(const void *a, const void *b)
{
    return kc__fields_owner_cmp_age(*(kc__fields_owner *const *)a, *(kc__fields_owner *const *)b);
}

/* A set that becomes part of a bucket. */
typedef struct merged_set {
    kc__fields_owner *bucket;
    const kc__fields_set *set;
} merged_set;

typedef struct capping {
    kc_arena *arena;
    kc_map by_id;       /* Entries that are left. */
    kc_map by_first;    /* The oldest entry of each version. */
    merged_set *merged; /* United at the end: one by one would copy the bucket for each. */
    size_t n_merged;
} capping;

static kc__fields_owner *bucket_of(capping *c, kc__fields_owner *first, kc_str version)
{
    kc__fields_owner bucket = {.manager = KC_STR("ancient-changes"), .version = version};
    bucket.id = kc__fields_owner_id(c->arena, &bucket);
    kc__fields_owner *existing = kc_map_get(&c->by_id, bucket.id);
    if (existing)
        return existing;
    /* The oldest entry becomes the bucket. */
    kc_map_remove(&c->by_id, first->id);
    first->id = bucket.id;
    first->manager = bucket.manager;
    first->subresource = (kc_str){0};
    kc_map_put(&c->by_id, first->id, first);
    return first;
}

/* True when the entry was merged into another one. */
static bool merge_updater(capping *c, kc__fields_owner *owner)
{
    kc_str version = owner->version;
    kc__fields_owner *first = kc_map_get(&c->by_first, version);
    if (!first) {
        kc_map_put(&c->by_first, version, owner);
        return false;
    }
    kc__fields_owner *bucket = bucket_of(c, first, version);
    kc_str time = owner->time;
    int64_t seconds = owner->seconds;
    c->merged[c->n_merged++] = (merged_set){bucket, owner->set};
    kc_map_remove(&c->by_id, owner->id);
    bucket->time = time;
    bucket->seconds = seconds;
    return true;
}

static int merged_sets_cmp(const void *a, const void *b)
{
    uintptr_t left = (uintptr_t)((const merged_set *)a)->bucket;
    uintptr_t right = (uintptr_t)((const merged_set *)b)->bucket;
    return left < right ? -1 : left > right;
}

static void unite_buckets(capping *c)
{
    const kc__fields_set **sets = kc_arena_alloc(c->arena, (c->n_merged + 1) * sizeof(*sets));
    qsort(c->merged, c->n_merged, sizeof(*c->merged), merged_sets_cmp);
    for (size_t i = 0; i < c->n_merged;) {
        kc__fields_owner *bucket = c->merged[i].bucket;
        size_t n = 0;
        sets[n++] = bucket->set;
        for (; i < c->n_merged && c->merged[i].bucket == bucket; i++)
            sets[n++] = c->merged[i].set;
        bucket->set = kc__fields_set_union_all(c->arena, sets, n);
    }
}

static void keep_left(kc__fields_managed *managed, const kc_map *by_id)
{
    size_t kept = 0;
    for (size_t i = 0; i < managed->owners.n; i++) {
        const kc__fields_owner *owner = &managed->owners.items[i];
        if (owner->applied || kc_map_get(by_id, owner->id) == owner)
            managed->owners.items[kept++] = *owner;
    }
    managed->owners.n = kept;
}

void kc__fields_managed_cap(kc__fields_managed *managed)
{
    size_t n = 0, left;
    kc__fields_owner **updaters =
        kc_arena_alloc(managed->arena, (managed->owners.n + 1) * sizeof(*updaters));
    kc_vec_each (&managed->owners, owner)
        if (!owner->applied)
            updaters[n++] = owner;
    if (n <= KC__FIELDS_MAX_UPDATERS)
        return;
    capping c = {.arena = managed->arena,
                 .merged = kc_arena_alloc(managed->arena, n * sizeof(merged_set))};
    qsort(updaters, n, sizeof(*updaters), updaters_cmp);
    for (size_t i = 0; i < n; i++)
        kc_map_put(&c.by_id, updaters[i]->id, updaters[i]);
    left = n;
    for (size_t i = 0; i < n && left > KC__FIELDS_MAX_UPDATERS; i++)
        left -= merge_updater(&c, updaters[i]);
    unite_buckets(&c);
    keep_left(managed, &c.by_id);
    kc_map_done(&c.by_id);
    kc_map_done(&c.by_first);
}
