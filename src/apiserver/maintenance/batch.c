/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.c: batches of puts. A batch ends after a number of keys or bytes: memory is bounded, and
 * one sync of the disk stores many objects.
 */
#include "apiserver/maintenance/batch.h"

#include "apiserver/maintenance/marker.h"
#include "apiserver/maintenance/object_keys.h"

enum { BATCH_KEYS = 1024 };
#define BATCH_BYTES ((size_t)4 << 20)

void kc__maintenance_batch_done(kc__maintenance_batch *batch)
{
    kc_vec_done(&batch->ops);
    kc_arena_done(&batch->arena);
}

void kc__maintenance_batch_put(kc__maintenance_batch *batch, kc_str key, kc_str value)
{
    kc_vec_push(&batch->ops, ((kc__storage_op){.verb = KC__STORAGE_PUT,
                                               .key = kc_arena_str(&batch->arena, key),
                                               .expected = KC__STORAGE_ANY,
                                               .value = kc_arena_str(&batch->arena, value),
                                               .ttl = kc__maintenance_ttl(key, batch->event_ttl)}));
    batch->bytes += value.n;
}

bool kc__maintenance_batch_is_full(const kc__maintenance_batch *batch)
{
    return batch->ops.n >= BATCH_KEYS || batch->bytes >= BATCH_BYTES;
}

int kc__maintenance_batch_commit(kc__maintenance_batch *batch, kc__storage *storage, kc_error *err)
{
    const int failed =
        batch->ops.n ? kc__maintenance_commit(storage, batch->ops.items, batch->ops.n, err) : 0;
    kc_vec_clear(&batch->ops);
    kc_arena_clear(&batch->arena);
    batch->bytes = 0;
    return failed;
}
