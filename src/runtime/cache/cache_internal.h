/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_internal.h: shared by the files of the cache: lifecycle (cache.c), informers
 * (cache_informers.c), indexes (cache_index.c), reads (cache_reader.c).
 */
#ifndef KC_RUNTIME_CACHE_INTERNAL_H
#define KC_RUNTIME_CACHE_INTERNAL_H

#include "kc/map.h"
#include "runtime/cache/informer.h"

/* A registered index of a kind. */
typedef struct kc__cache_index {
    const kc_kind *kind;
    char *name;
    kc_index_fn *fn;
    void *user;
    kc_path *path;
} kc__cache_index;

typedef struct kc__cache_last_write {
    uint64_t revision;
    char kind[]; /* "group/version/kind" */
} kc__cache_last_write;

struct kc_cache {
    kc_cache_opts opts; /* Pointers in it are to copies, below or in place. */
    kc_client *client;
    kc_log *log;
    kc_reader reader;
    kc__executor *executor; /* Runs the steps of all informers. */

    kc_mutex mutex; /* Guards all fields below. An informer's mutex may be locked under it, never
                       the reverse. */
    kc_rand rand;
    bool started, stopped;
    KC_VEC(kc_informer *) informers;
    KC_VEC(kc__cache_index) indexes;
    kc_map written; /* By kind: the revision of the client's newest own write. */
};

/* ---- cache.c ---- */

/* The thread pool that runs the steps of the informers; controllers on this cache use it too. */
kc__executor *kc__cache_executor(kc_cache *cache);
bool kc__cache_same_kind(const kc_kind *a, const kc_kind *b);
/* The options of a kind: its entry in `opts.kinds`, or a zeroed struct. */
kc_cache_kind_opts kc__cache_kind_opts(const kc_cache *cache, const kc_kind *kind);

/* ---- cache_informers.c ---- */

typedef enum kc__cache_want {
    KC__CACHE_WANT_OBJECTS,
    KC__CACHE_WANT_METADATA, /* An informer of metadata or of full objects. */
} kc__cache_want;

/* The existing informer, or NULL. Call it with the mutex held. */
kc_informer *kc__cache_find(const kc_cache *cache, const kc_kind *kind, kc__cache_want want);
/* Adds a use, for a read. Starts the informer if necessary; the informer then stays. */
kc_informer *kc__cache_use(kc_cache *cache, const kc_kind *kind, kc__cache_want want,
                           kc_error *err);
/* Adds a use; kc_informer_release drops it. Call it with the mutex held. */
kc_informer *kc__informer_use(kc_informer *informer);
/* Starts an informer. Call it with the mutex held. */
void kc__cache_start_informer(kc_cache *cache, kc_informer *informer);

/* ---- cache_index.c ---- */

/* Appends the indexes of a kind. Call it with the mutex held. */
typedef KC_VEC(kc__index_def) kc__index_defs;
void kc__cache_indexes_of(const kc_cache *cache, const kc_kind *kind, kc__index_defs *ret);
void kc__cache_indexes_done(kc_cache *cache);

/* ---- cache_reader.c ---- */

extern const kc_reader_ops kc__cache_reader_ops;
/* The newest revision of a kind that this program wrote; 0: none. Call it with the mutex held. */
uint64_t kc__cache_written(const kc_cache *cache, const kc_kind *kind);
void kc__cache_written_done(kc_cache *cache);

#endif
