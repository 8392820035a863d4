/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informer.h: what the cache asks of an informer. (Its users' side is kc/cache.h.)
 */
#ifndef KC_RUNTIME_INFORMER_H
#define KC_RUNTIME_INFORMER_H

#include "kc/cache.h"
#include "kc/field_selector.h"
#include "kc/selector.h"
#include "runtime/index.h"
#include "runtime/object_store.h"

typedef struct kc__informer_opts {
    kc_cache *cache; /* May be NULL: then nobody counts its users. */
    kc_client *client;
    const kc_kind *kind;           /* Lives as long. */
    const char *const *namespaces; /* End with NULL; NULL: all. */
    const char *labels, *fields;
    kc_transform *transform;
    void *transform_user;
    bool metadata_only;
    uint64_t not_older; /* The first list must show this revision. */
    int64_t resync, list_deadline, stall;
    bool plain_lists;
    const kc_clock *clock;
    kc_rand rand;
    kc_log *log;
    kc_metrics *metrics;
} kc__informer_opts;

/* NULL when a selector is none. */
kc_informer *kc__informer_new(const kc__informer_opts *opts, kc_error *err);
/* Once. `indexes` beside that of namespaces; their names and paths live as long. */
int kc__informer_start(kc_informer *informer, const kc__index_def *indexes, size_t n_indexes,
                       kc_error *err);
/* Blocks until its threads have ended; again: nothing. */
void kc__informer_stop(kc_informer *informer);
/* Stops it. NULL is allowed; returns NULL. */
kc_informer *kc__informer_free(kc_informer *informer);

kc_cache *kc__informer_cache(const kc_informer *informer);
bool kc__informer_metadata_only(const kc_informer *informer);
bool kc__informer_started(const kc_informer *informer);
/* Waits until the first list can be read. KC_TIMEOUT says what is in the way. */
int kc__informer_await(kc_informer *informer, int64_t timeout, kc_cancel *cancel, kc_error *err);
/* 0 when none of its watches is stalled. */
int kc__informer_check(kc_informer *informer, kc_error *err);

/* ---- reading ---- */

typedef struct kc__cache_query {
    kc_str ns; /* Empty: all. */
    const kc_selector *labels;
    const kc_field_selector *fields;
    const kc_fields *field_paths;
    kc_str index; /* p == NULL: none. */
    kc_str value;
    size_t limit; /* SIZE_MAX: none. */
} kc__cache_query;

/* Whether the namespace is among those kept (an empty one: whether all are). */
bool kc__informer_keeps(const kc_informer *informer, kc_str ns);
/* A reference, or NULL. */
kc_object *kc__informer_get(kc_informer *informer, kc_key key);
/* KC_BAD_REQUEST when there is no such index. */
int kc__informer_list(kc_informer *informer, const kc__cache_query *query, kc__object_vec *ret,
                      uint64_t *ret_revision, kc_error *err);
bool kc__informer_has_index(const kc_informer *informer, kc_str name);

/* A client has written; see kc_reader_ops. */
void kc__informer_wrote(kc_informer *informer, const kc_object *object, bool deleted);

#endif
