/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_load.c: from the storage into memory: every object into the tree of its resource, and the
 * history into the rings, so that watches and pages go on across a restart.
 *
 * The value in the storage is the object's text with its resource version in it, as the committer
 * foresaw it; should it be another one, the storage's revision counts and is spliced in.
 *
 * Objects are shared: an event whose object is still the current one refers to the tree's, and the
 * `previous` of an event is the object of the event before on the same key. So history costs little
 * more than the objects it alone remembers. Its times are not known here; it is as old as the
 * process.
 *
 * One thread, before any other knows the store.
 */
#include "apiserver/store/store_internal.h"

typedef struct loading {
    kc__store *store;
    kc__cache *cache; /* Of the last key: keys come in order. */
    /* By the number of the cache: for each key the event on it that came last. */
    KC_VEC(kc_map) latest;
    kc_error *err;
} loading;

static void loading_done(loading *l)
{
    kc_vec_each (&l->latest, map) {
        kc_map_each (map, entry)
            kc__event_unref(entry->value);
        kc_map_done(map);
    }
    kc_vec_done(&l->latest);
}

static kc_map *latest_of(loading *l, const kc__cache *cache)
{
    while (l->latest.n <= cache->number)
        kc_vec_add(&l->latest);
    return &l->latest.items[cache->number];
}

/* The cache a stored key belongs to, NULL on error. */
static kc__cache *cache_of(loading *l, kc_str stored_key)
{
    const kc_str prefix = kc__cache_prefix_of(stored_key);
    if (!prefix.n || prefix.n == stored_key.n) {
        kc_error_set(l->err, KC_STORE_READ_ERROR, "the stored key \"%.*s\" names no object",
                     KC_ARG(stored_key));
        return NULL;
    }
    if (!l->cache || !kc_str_eq(l->cache->prefix, prefix))
        l->cache = kc__store_cache(l->store, prefix);
    return l->cache;
}

static kc_str key_in(const kc__cache *cache, kc_str stored_key)
{
    return kc_str_sub(stored_key, cache->prefix.n, stored_key.n);
}

/* NULL on error. */
static kc_object *object_of_value(loading *l, kc_str stored_key, kc_str value, uint64_t revision)
{
    const kc_json_opts opts = {.max_bytes = KC_STORAGE_MAX_VALUE};
    kc_object *object = kc_object_parse(value, &opts, l->err);
    if (!object) {
        kc_error_wrap(l->err, "the stored object \"%.*s\" cannot be read", KC_ARG(stored_key));
        return NULL;
    }
    if (kc_object_revision(object) == revision)
        return object;
    kc_object *revised = kc_object_with_revision(object, revision);
    kc_object_unref(object);
    return revised;
}

static int add_entry(const kc_storage_entry *entry, void *user)
{
    loading *l = user;
    kc__cache *cache = cache_of(l, entry->key);
    if (!cache)
        return -KC_STORE_READ_ERROR;
    kc_auto(kc_object) *object = object_of_value(l, entry->key, entry->value, entry->revision);
    if (!object)
        return -KC_STORE_READ_ERROR;
    kc_auto(kc_object) *replaced = kc_cow_tree_put(cache->tree, key_in(cache, entry->key), object);
    assert(!replaced);
    return 0;
}

/* What an event replaced: the object of the event before it, or a new one. NULL on error. */
static kc_object *previous_of(loading *l, const kc__cache *cache, const kc_storage_event *stored)
{
    const kc__event *before = kc_map_get(latest_of(l, cache), key_in(cache, stored->key));
    if (before && before->revision == stored->previous_revision)
        return kc_object_ref(before->object);
    return object_of_value(l, stored->key, stored->previous_value, stored->previous_revision);
}

/* What an event shows. NULL on error. */
static kc_object *shown_by(loading *l, const kc__cache *cache, const kc_storage_event *stored,
                           const kc_object *previous)
{
    if (stored->verb == KC_STORAGE_DELETE)
        return kc_object_with_revision(previous, stored->revision);
    const kc_object *current = kc_cow_tree_get(cache->tree, key_in(cache, stored->key));
    if (current && kc_object_revision(current) == stored->revision)
        return kc_object_ref(current);
    return object_of_value(l, stored->key, stored->value, stored->revision);
}

static kc__event *event_of(loading *l, const kc__cache *cache, const kc_storage_event *stored)
{
    kc_auto(kc_object) *previous = stored->previous_revision ? previous_of(l, cache, stored) : NULL;
    if (stored->previous_revision && !previous)
        return NULL;
    kc_auto(kc_object) *object = shown_by(l, cache, stored, previous);
    if (!object)
        return NULL;
    kc__event_type type = stored->verb == KC_STORAGE_DELETE ? KC__DELETED
                          : previous                        ? KC__MODIFIED
                                                            : KC__ADDED;
    return kc__event_new(type, stored->revision, key_in(cache, stored->key), object, previous);
}

static int add_event(const kc_storage_event *stored, void *user)
{
    loading *l = user;
    kc__store *store = l->store;
    kc__cache *cache = cache_of(l, stored->key);
    kc__event *event = cache ? event_of(l, cache, stored) : NULL;
    if (!event)
        return -KC_STORE_READ_ERROR;
    const int64_t now = kc_clock_now(store->opts.clock);
    kc__recent_add(&store->recent, cache, event, now);
    kc__recent_trim(&store->recent, now, store->opts.event_age, store->opts.event_bytes);
    kc__event_unref(kc_map_put(latest_of(l, cache), kc__event_key(event), event));
    return 0;
}

int kc__store_load(kc__store *store, kc_error *err)
{
    kc_scoped(loading) l = {.store = store, .err = err};
    kc_storage_state state = {0};
    int failed = kc_storage_load(store->storage, add_entry, &l, &state, err);
    if (failed)
        return failed;
    store->oldest = state.compacted;
    kc_vec_each (&store->by_number, cache) {
        (*cache)->ring.oldest = state.compacted;
        kc_cow_tree_publish((*cache)->tree, state.revision);
    }
    atomic_store(&store->revision, state.revision);
    return kc_storage_history(store->storage, state.compacted, add_event, &l, err);
}
