/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_load.c: loads the storage into memory: every object into the tree of its resource, and then
 * the history into the rings (load_history.c).
 *
 * The stored value is the object's text including its resourceVersion, as the committer predicted
 * it. If it differs from the storage's revision, the latter wins and is spliced in.
 *
 * Runs on one thread, before any other thread uses the store.
 */
#include "apiserver/storage/stored_key.h"
#include "apiserver/storage/stored_marker.h"
#include "apiserver/store/store_internal.h"

typedef struct store_loading {
    kc__store *store;
    kc__watch_cache *cache; /* Cache of the previous key: keys arrive in order. */
    kc_buf plain;           /* The decrypted value. */
    kc_error *err;
} store_loading;

static void store_loading_done(store_loading *l)
{
    kc_buf_done(&l->plain);
}

kc__watch_cache *kc__store_cache_of_key(kc__store *store, kc_str stored_key, kc_error *err)
{
    const kc_str prefix = kc__storage_key_prefix(stored_key);
    if (!prefix.n || prefix.n == stored_key.n) {
        kc_error_set(err, KC_STORE_READ_ERROR, "the stored key \"%.*s\" names no object",
                     KC_ARG(stored_key));
        return NULL;
    }
    if (!kc__store_owns(store, prefix)) {
        kc_error_set(err, KC_NOT_FOUND, "\"%.*s\" belongs to another storage", KC_ARG(stored_key));
        return NULL;
    }
    return kc__store_find_cache(store, prefix);
}

/* The same, usually without a lookup: keys arrive in order. */
static kc__watch_cache *cache_of(store_loading *l, kc_str stored_key)
{
    if (!l->cache || !kc_str_starts(stored_key, l->cache->prefix))
        l->cache = kc__store_cache_of_key(l->store, stored_key, l->err);
    return l->cache;
}

static kc_str key_in(const kc__watch_cache *cache, kc_str stored_key)
{
    return kc__store_key_in(cache, stored_key);
}

/* An object that cannot be decrypted does not keep the server from starting: it is recorded, and
 * requests for it fail. */
static int add_entry(const kc__storage_entry *entry, void *user)
{
    store_loading *l = user;
    kc_scoped(kc_error) why = {0};
    kc_str plain;
    bool stale = false;
    if (kc__storage_marker_is_key(entry->key))
        return kc__storage_marker_refuse(entry->value, l->err);
    kc__watch_cache *cache = cache_of(l, entry->key);
    if (!cache && !l->store->storage->backend->exclusive) {
        kc_error_done(l->err); /* Another program's key. */
        return 0;
    }
    if (!cache)
        return kc_error_result(l->err);
    kc_buf_clear(&l->plain);
    if (kc__store_form_open(cache, entry->key, entry->value, &l->plain, &plain, &stale, &why) < 0) {
        kc__store_form_is_unreadable(cache, entry->key, &why);
        return 0;
    }
    if (stale)
        kc__store_form_is_stale(cache, key_in(cache, entry->key));
    kc_auto(kc_object) *object =
        kc__store_value_read(cache, entry->key, plain, entry->revision, &why);
    if (!object && !l->store->storage->backend->exclusive) {
        kc__store_form_is_unreadable(cache, entry->key, &why);
        return 0;
    }
    if (!object)
        return kc_error_move(l->err, &why);
    kc_auto(kc_object) *replaced = kc__cow_tree_put(cache->tree, key_in(cache, entry->key), object);
    assert(!replaced);
    return 0;
}

int kc__store_load(kc__store *store, kc_error *err)
{
    kc_scoped(store_loading) l = {.store = store, .err = err};
    kc__storage_state state = {0};
    int failed = kc__storage_load(store->storage, add_entry, &l, &state, err);
    if (failed)
        return failed;
    atomic_store(&store->revision, state.revision);
    failed = kc__store_load_history(store, &state, err);
    kc_vec_each (&store->by_number, cache)
        kc__cow_tree_publish((*cache)->tree, state.revision);
    return failed;
}
