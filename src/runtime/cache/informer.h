/* SPDX-License-Identifier: Apache-2.0 */
/* informer.h: the informer as the cache uses it. The public interface is kc/cache.h. */
#ifndef KC_RUNTIME_INFORMER_H
#define KC_RUNTIME_INFORMER_H

#include "kc/cache.h"
#include "kc/field_selector.h"
#include "kc/selector.h"
#include "runtime/cache/index.h"
#include "runtime/cache/object_store.h"
#include "runtime/executor/executor.h"

typedef struct kc__informer_opts {
    kc_cache *cache; /* Counts the informer's users. May be NULL. */
    kc_client *client;
    const kc_kind *kind;           /* Must outlive the informer. */
    const char *const *namespaces; /* NULL-terminated; NULL: all namespaces. */
    const char *labels, *fields;
    kc_transform_fn *transform;
    void *transform_user;
    bool metadata_only;
    uint64_t not_older; /* The first list must be at least this revision. */
    int64_t resync, list_deadline, watch_stall_timeout;
    bool plain_lists;
    const kc_clock *clock;
    kc_rand rand;
    kc_log *log;
    kc_metrics *metrics;
} kc__informer_opts;

/* NULL if a selector is invalid. */
kc_informer *kc__informer_new(const kc__informer_opts *opts, kc_error *err);
/* Call it once. The executor must outlive the running informer. `indexes` are in addition to the
 * namespace index; their names and paths must outlive the informer. */
void kc__informer_start(kc_informer *informer, kc__executor *executor, const kc__index_def *indexes,
                        size_t n_indexes);
/* Blocks until the last step has ended; a second call does nothing. */
void kc__informer_stop(kc_informer *informer);
/* Stops it first. NULL is allowed; returns NULL. */
kc_informer *kc__informer_free(kc_informer *informer);

kc_cache *kc__informer_cache(const kc_informer *informer);
bool kc__informer_metadata_only(const kc_informer *informer);
bool kc__informer_started(const kc_informer *informer);
/* Waits until the first list can be read. KC_TIMEOUT includes what prevented it. */
int kc__informer_await(kc_informer *informer, int64_t timeout, kc_cancel *cancel, kc_error *err);
/* 0 if none of its watches is stalled. */
int kc__informer_check(kc_informer *informer, kc_error *err);

/* ---- reads ---- */

typedef struct kc__cache_query {
    kc_str ns; /* Empty: all namespaces. */
    const kc_selector *labels;
    const kc_field_selector *fields;
    const kc_fields *field_paths;
    kc_str index; /* p == NULL: none. */
    kc_str value;
    size_t limit; /* SIZE_MAX: none. */
} kc__cache_query;

/* Whether the namespace is cached (empty: whether all are). */
bool kc__informer_has_namespace(const kc_informer *informer, kc_str ns);
/* A reference, or NULL. */
kc_object *kc__informer_get(kc_informer *informer, kc_key key);
/* KC_BAD_REQUEST if the index does not exist. */
int kc__informer_list(kc_informer *informer, const kc__cache_query *query,
                      kc__cache_object_vec *ret, uint64_t *ret_revision, kc_error *err);
bool kc__informer_has_index(const kc_informer *informer, kc_str name);

/* Reports a client's own write; see kc_reader_ops. */
void kc__informer_note_write(kc_informer *informer, const kc_object *object, bool deleted);

#endif
