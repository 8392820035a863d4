/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_index.c: which indexes a kind is to have, said before its informer starts.
 *
 * They are the cache's and live as long as it; informers hold what they need of them.
 */
#include "runtime/cache_internal.h"

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
        if (kc__same_kind(it->kind, kind))
            kc_vec_push(ret, (kc__index_def){it->name, it->fn, it->path, it->user});
}

/* Under the mutex. */
static int check_free(const kc_cache *cache, const kc_kind *kind, const char *name, kc_error *err)
{
    const kc_informer *informer = kc__cache_find(cache, kind, KC__WANT_OBJECTS);
    if (informer && kc__informer_started(informer))
        return kc_error_set(err, KC_CONFLICT, "the informer of %s has started without index \"%s\"",
                            kind->plural, name);
    bool taken = strcmp(name, kc__index_namespace.name) == 0;
    kc_vec_each (&cache->indexes, it)
        taken |= kc__same_kind(it->kind, kind) && strcmp(it->name, name) == 0;
    return taken ? kc_error_set(err, KC_CONFLICT, "%s have an index \"%s\" already", kind->plural,
                                name)
                 : 0;
}

/* Takes what `index` holds. */
static int add(kc_cache *cache, kc__cache_index *index, kc_error *err)
{
    int failed = 0;
    kc_locked (&cache->mutex) {
        failed = check_free(cache, index->kind, index->name, err);
        if (failed == 0)
            kc_vec_push(&cache->indexes, *index);
    }
    if (failed < 0)
        index_done(index);
    return failed;
}

int kc_cache_index(kc_cache *cache, const kc_kind *kind, const char *name, kc_index_fn *fn,
                   void *user, kc_error *err)
{
    kc__cache_index index = {.kind = kind, .name = kc_strdup(name), .fn = fn, .user = user};
    return add(cache, &index, err);
}

int kc_cache_index_path(kc_cache *cache, const kc_kind *kind, const char *path, kc_error *err)
{
    kc_path *parsed = kc_path_parse(kc_cstr(path), err);
    if (!parsed)
        return kc_error_wrap(err, "index %s by %s", kind->plural, path);
    kc__cache_index index = {.kind = kind, .name = kc_strdup(path), .path = parsed};
    return add(cache, &index, err);
}
