/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_index.c: registration of the indexes of a kind, before its informer starts.
 *
 * The cache owns the index definitions for its whole life; informers refer to what they need.
 */
#include "runtime/cache/cache_internal.h"

static void index_done(kc__cache_index *index)
{
    free(index->name);
    kc_path_free(index->path);
}

void kc__cache_indexes_done(kc_cache *cache)
{
    kc_vec_each (&cache->indexes, index)
        index_done(index);
    kc_vec_done(&cache->indexes);
}

void kc__cache_indexes_of(const kc_cache *cache, const kc_kind *kind, kc__index_defs *ret)
{
    kc_vec_each (&cache->indexes, it)
        if (kc__cache_same_kind(it->kind, kind))
            kc_vec_push(ret, (kc__index_def){it->name, it->fn, it->path, it->user});
}

/* Call it with the mutex held. */
static int cache_index_check_free(const kc_cache *cache, const kc_kind *kind, const char *name,
                                  kc_error *err)
{
    const kc_informer *informer = kc__cache_find(cache, kind, KC__CACHE_WANT_OBJECTS);
    if (informer && kc__informer_started(informer))
        return kc_error_set(err, KC_CONFLICT, "the informer of %s has started without index \"%s\"",
                            kind->plural, name);
    bool taken = strcmp(name, kc__index_namespace.name) == 0;
    kc_vec_each (&cache->indexes, it)
        taken |= kc__cache_same_kind(it->kind, kind) && strcmp(it->name, name) == 0;
    return taken ? kc_error_set(err, KC_CONFLICT, "%s already has an index \"%s\"", kind->plural,
                                name)
                 : 0;
}

/* Takes ownership of what `index` holds. */
static int cache_index_add(kc_cache *cache, kc__cache_index *index, kc_error *err)
{
    int failed = 0;
    kc_locked (&cache->mutex) {
        failed = cache_index_check_free(cache, index->kind, index->name, err);
        if (failed == 0)
            kc_vec_push(&cache->indexes, *index);
    }
    if (failed < 0)
        index_done(index);
    return failed;
}

int kc_cache_add_index(kc_cache *cache, const kc_kind *kind, const char *name, kc_index_fn *fn,
                       void *user, kc_error *err)
{
    kc__cache_index index = {.kind = kind, .name = kc_strdup(name), .fn = fn, .user = user};
    return cache_index_add(cache, &index, err);
}

int kc_cache_add_path_index(kc_cache *cache, const kc_kind *kind, const char *path, kc_error *err)
{
    kc_path *parsed = kc_path_parse(kc_cstr(path), err);
    if (!parsed)
        return kc_error_wrap(err, "index %s by %s", kind->plural, path);
    kc__cache_index index = {.kind = kind, .name = kc_strdup(path), .path = parsed};
    return cache_index_add(cache, &index, err);
}
