/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_internal.h: what the files of the cache share: its life (cache.c), its informers
 * (cache_informers.c), its indexes (cache_index.c), reading (cache_reader.c).
 */
#ifndef KC_RUNTIME_CACHE_INTERNAL_H
#define KC_RUNTIME_CACHE_INTERNAL_H

#include "kc/map.h"
#include "runtime/informer.h"

/* An index of a kind that users may ask for. */
typedef struct kc__cache_index {
    const kc_kind *kind;
    char *name;
    kc_index_fn *fn;
    void *user;
    kc_path *path;
} kc__cache_index;

typedef struct kc__written {
    uint64_t revision;
    char kind[]; /* "group/version/kind" */
} kc__written;

struct kc_cache {
    kc_cache_opts opts; /* What it points to is copied, below or in place. */
    kc_client *client;
    kc_log *log;
    kc_reader reader;

    kc_mutex mutex; /* Guards all below. An informer's is locked under it, never the reverse. */
    kc_rand rand;
    bool started, stopped;
    KC_VEC(kc_informer *) informers;
    KC_VEC(kc__cache_index) indexes;
    kc_map written; /* By kind: the revision of the newest own write. */
};

/* ---- cache.c ---- */

bool kc__same_kind(const kc_kind *a, const kc_kind *b);
/* What the options say of a kind: its exception, or a zeroed one. */
kc_cache_kind_opts kc__cache_kind_opts(const kc_cache *cache, const kc_kind *kind);

/* ---- cache_informers.c ---- */

typedef enum kc__cache_want {
    KC__WANT_OBJECTS,
    KC__WANT_METADATA, /* Either will do. */
} kc__cache_want;

/* The informer there is, or NULL. Under the mutex. */
kc_informer *kc__cache_find(const kc_cache *cache, const kc_kind *kind, kc__cache_want want);
/* For a read: one use; it is started if it must be, and then stays. */
kc_informer *kc__cache_use(kc_cache *cache, const kc_kind *kind, kc__cache_want want,
                           kc_error *err);
/* One more user of it. Under the mutex; kc_informer_release ends it. */
kc_informer *kc__informer_use(kc_informer *informer);
/* Starts one. Under the mutex. */
int kc__cache_start_informer(kc_cache *cache, kc_informer *informer, kc_error *err);

/* ---- cache_index.c ---- */

/* Appends those of a kind. Under the mutex. */
typedef KC_VEC(kc__index_def) kc__index_defs;
void kc__cache_indexes_of(const kc_cache *cache, const kc_kind *kind, kc__index_defs *ret);
void kc__cache_indexes_done(kc_cache *cache);

/* ---- cache_reader.c ---- */

extern const kc_reader_ops kc__cache_reader_ops;
/* The newest revision this program wrote of a kind; 0: none. Under the mutex.
 */
uint64_t kc__cache_written(const kc_cache *cache, const kc_kind *kind);
void kc__cache_written_done(kc_cache *cache);

#endif
