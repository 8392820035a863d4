/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overrides.c: resources that are stored in another storage (--etcd-servers-overrides): Events,
 * whose many short-lived writes should not burden the storage of everything else.
 *
 *     store ──▶ storage            all resources, except …
 *       └─ other ──▶ storage       … those of `elsewhere`: "/registry/events/"
 *
 * A storage has one revision, so a storage of its own means a store of its own, with its own
 * replica and hubs. A watch cache knows its store, so it routes reads, watches and
 * writes. kc__store_watch_cache(store, prefix) returns the cache of the other store.
 *
 * Keys of such resources that are still in the first storage are ignored, and so is everything else
 * in the other one.
 *
 * Writes of both stores cannot be one group: an object that is stored elsewhere charges no quota
 * when it is written (kc__store_is_elsewhere).
 */
#include "apiserver/store/store_internal.h"

bool kc__store_owns(const kc__store *store, kc_str prefix)
{
    if (kc_map_get(&store->elsewhere, prefix))
        return false;
    for (size_t i = 0; i < store->opts.n_only; i++)
        if (kc_str_eq(store->opts.only[i], prefix))
            return true;
    return store->opts.n_only == 0;
}

bool kc__store_is_elsewhere(const kc__store *store, const kc__watch_cache *cache)
{
    return cache->store != store;
}

int kc__store_overrides_open(kc__store *store, kc_error *err)
{
    const kc__store_opts *o = &store->opts;
    for (size_t i = 0; i < o->n_overrides; i++) {
        const kc__store_override *override = &o->overrides[i];
        kc__store_opts opts = *o;
        opts.storage = override->storage;
        opts.only = override->prefixes;
        opts.n_only = override->n_prefixes;
        opts.overrides = NULL;
        opts.n_overrides = 0;
        store->n_taken++;
        kc__store *other = kc__store_open_with(&opts, &store->metrics, err);
        if (!other)
            return kc_error_result(err);
        kc_vec_push(&store->others, other);
        for (size_t j = 0; j < override->n_prefixes; j++)
            kc_map_put(&store->elsewhere, override->prefixes[j], other);
    }
    return 0;
}

void kc__store_overrides_close(kc__store *store)
{
    kc_vec_each (&store->others, other)
        kc__store_close(*other);
    kc_vec_clear(&store->others);
}

void kc__store_overrides_done(kc__store *store)
{
    kc__store_overrides_close(store);
    for (size_t i = store->n_taken; i < store->opts.n_overrides; i++)
        kc__storage_close(store->opts.overrides[i].storage);
    kc_vec_done(&store->others);
    kc_map_done(&store->elsewhere);
}
