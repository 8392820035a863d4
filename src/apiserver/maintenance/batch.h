/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h: copies of entries that are put into another store in one commit. */
#ifndef KC_APISERVER_MAINTENANCE_BATCH_H
#define KC_APISERVER_MAINTENANCE_BATCH_H

#include "apiserver/storage/storage.h"
#include "kc/arena.h"
#include "kc/vec.h"

/* Zero is empty. */
typedef struct kc__maintenance_batch {
    kc_arena arena;
    KC_VEC(kc__storage_op) ops;
    size_t bytes;
    int64_t event_ttl; /* Seconds after which etcd deletes Events. Defaults to 1 h. */
} kc__maintenance_batch;

void kc__maintenance_batch_done(kc__maintenance_batch *batch);
/* Adds a put, whatever the key has now. Copies. */
void kc__maintenance_batch_put(kc__maintenance_batch *batch, kc_str key, kc_str value);
/* Whether the batch should be committed before another put is added. */
bool kc__maintenance_batch_is_full(const kc__maintenance_batch *batch);
/* Commits the puts, all of which must be stored, and empties the batch. Blocks. */
int kc__maintenance_batch_commit(kc__maintenance_batch *batch, kc__storage *storage, kc_error *err);

#endif
