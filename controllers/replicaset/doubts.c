/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doubts.c: sets of which a write may or may not have been carried out.
 *
 * The cache shows at once what the server said it did, so a set never counts on an old list after a
 * write that was answered. When the answer is lost, nobody knows: the pod may be there and come
 * with the watch, later. Counting on the cache would then make another one. So the set is in doubt:
 * while it is, its pods are asked from the server itself (replicas.c), until the cache shows the
 * same ones.
 */
#include "replicaset/replica_set.h"

void kc__doubts_init(kc__doubts *doubts)
{
    *doubts = (kc__doubts){0};
    kc_mutex_init(&doubts->mutex);
}

void kc__doubts_done(kc__doubts *doubts)
{
    kc_map_each (&doubts->keys, entry)
        free(entry->value);
    kc_map_done(&doubts->keys);
    kc_mutex_done(&doubts->mutex);
}

bool kc__doubts_has(kc__doubts *doubts, kc_key set)
{
    bool has = false;
    kc_scoped(kc_buf) text = {0};
    kc_key_write(&text, set);
    kc_locked (&doubts->mutex)
        has = kc_map_get(&doubts->keys, kc_buf_str(&text)) != NULL;
    return has;
}

void kc__doubts_put(kc__doubts *doubts, kc_key set)
{
    kc_scoped(kc_buf) text = {0};
    kc_key_write(&text, set);
    const size_t n = text.n;
    char *key = kc_buf_take(&text);
    kc_locked (&doubts->mutex)
        key = kc_map_put(&doubts->keys, kc_str_of(key, n), key);
    free(key);
}

void kc__doubts_remove(kc__doubts *doubts, kc_key set)
{
    char *key = NULL;
    kc_scoped(kc_buf) text = {0};
    kc_key_write(&text, set);
    kc_locked (&doubts->mutex)
        key = kc_map_remove(&doubts->keys, kc_buf_str(&text));
    free(key);
}

/* Whoever says 4xx has refused; without a code the request did not even get there (transport.h). */
bool kc__rs_is_doubtful(const kc_error *err)
{
    return err->code >= 500;
}
