/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follower.h: keeps an index of stored objects up to date. The indexes of RBAC (rbac.c) and of the
 * Node authorizer (node_authorizer.c) follow the store through it.
 *
 *     kc__authz_follower_lock(follower);        the index contains every acknowledged write
 *     … read the index …
 *     kc__authz_follower_unlock(follower);
 *
 * The first reader after a change brings the index up to date, not the change itself: it compares
 * the snapshots before and after (kc__cow_diff) and sets the entries that differ. So a request that
 * follows the response to a write always sees the write, and any other reader compares one number
 * for each resource.
 */
#ifndef KC_APISERVER_AUTHZ_FOLLOWER_H
#define KC_APISERVER_AUTHZ_FOLLOWER_H

#include "apiserver/store/store.h"

/* Sets or, with NULL, removes an object of the index. The key is its key in the store:
 * "namespace/name" or "name". Runs under the write lock. */
typedef void kc__authz_follow_fn(void *index, kc_str key, const kc_object *object);

/* A resource that the index is made of. */
typedef struct kc__authz_source {
    const char *group, *resource;
    kc__authz_follow_fn *set;
} kc__authz_source;

typedef struct kc__authz_follower kc__authz_follower;

enum { KC__AUTHZ_MAX_SOURCES = 4 };

typedef struct kc__authz_follower_opts {
    kc__store *store;
    const kc__authz_source *sources; /* At most KC__AUTHZ_MAX_SOURCES. Borrowed. */
    size_t n_sources;
    void *index;                       /* Passed to the functions of the sources. */
    const size_t *bytes;               /* Memory of the index, as its functions maintain it. */
    const char *metric, *metric_help;  /* A gauge of these bytes. */
    struct kc__memory_account *memory; /* Accounts for them. Defaults to none. */
    kc_metrics *metrics;               /* Defaults to none. */
} kc__authz_follower_opts;

/* Reads all objects. NULL if the metric cannot be registered. */
kc__authz_follower *kc__authz_follower_new(const kc__authz_follower_opts *opts, kc_error *err);
/* The index still exists, and is freed afterwards. NULL is allowed; returns NULL. */
kc__authz_follower *kc__authz_follower_free(kc__authz_follower *follower);

/* Takes the read lock, with the index up to date. Any thread. */
void kc__authz_follower_lock(kc__authz_follower *follower);
void kc__authz_follower_unlock(kc__authz_follower *follower);

/* Whether kc__authz_follower_lock may take long: more than `changes` objects have changed, or
 * another thread is processing changes. Any thread. */
bool kc__authz_follower_is_far_behind(kc__authz_follower *follower, size_t changes);

#endif
