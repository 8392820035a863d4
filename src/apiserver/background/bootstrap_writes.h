/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bootstrap_writes.h: writes that the server itself makes, most of them while it starts.
 *
 *     kc__bootstrap_writes writes;
 *     kc__bootstrap_writes_init(&writes, api);
 *     kc__bootstrap_writes_put(&writes, cache, key, object, KC__STORAGE_ABSENT);
 *     …
 *     return kc__bootstrap_writes_wait(&writes, err);
 *
 * The committer stores them in batches, in the order of submission. Used before requests are
 * served, on the thread that starts the server, and later on threads other than event loops.
 */
#ifndef KC_APISERVER_BOOTSTRAP_WRITES_H
#define KC_APISERVER_BOOTSTRAP_WRITES_H

#include "apiserver/call/call.h"
#include "kc/thread.h"

typedef struct kc__bootstrap_writes {
    kc__rest_api *api;
    kc_latch latch;
    KC_VEC(struct bootstrap_write *) list;
} kc__bootstrap_writes;

void kc__bootstrap_writes_init(kc__bootstrap_writes *writes, kc__rest_api *api);
/* Submits a write of the object, whose reference it takes over. `expected` as in
 * kc__store_write. */
void kc__bootstrap_writes_put(kc__bootstrap_writes *writes, kc__watch_cache *cache, kc_str key,
                              kc_object *object, uint64_t expected);
/* The same, whatever is stored; a shared storage deletes the key after so many seconds. */
void kc__bootstrap_writes_put_for(kc__bootstrap_writes *writes, kc__watch_cache *cache, kc_str key,
                                  kc_object *object, int64_t seconds);
void kc__bootstrap_writes_delete(kc__bootstrap_writes *writes, kc__watch_cache *cache, kc_str key,
                                 uint64_t expected);
/* Waits for all of them and releases everything. The first error, with the key; a conflict is
 * none. */
int kc__bootstrap_writes_wait(kc__bootstrap_writes *writes, kc_error *err);

/* The members of metadata that a new object gets: uid, resourceVersion, creationTimestamp, each
 * preceded by a comma. `generation` 0: none. Before requests are served. */
void kc__bootstrap_system_fields(kc__rest_api *api, int generation, kc_buf *out);

#endif
