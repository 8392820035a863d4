/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expectations.c: ReplicaSets with a write of unknown outcome.
 *
 * The read-your-writes overlay shows every write that the server has confirmed, so a ReplicaSet
 * never counts a stale list after a confirmed write. If the response to a write is lost, the
 * outcome is unknown: the pod may exist and arrive with the watch later, and counting the cache
 * would create another one. The ReplicaSet then has an unmet expectation: its pods are listed from
 * the server (replicas.c) until the cache shows the same ones.
 */
#include "replicaset/replica_set.h"

void kc__rs_expectations_init(kc__rs_expectations *expectations)
{
    *expectations = (kc__rs_expectations){0};
    kc_mutex_init(&expectations->mutex);
}

void kc__rs_expectations_done(kc__rs_expectations *expectations)
{
    kc_map_each (&expectations->keys, entry)
        free(entry->value);
    kc_map_done(&expectations->keys);
    kc_mutex_done(&expectations->mutex);
}

bool kc__rs_expectations_has(kc__rs_expectations *expectations, kc_key set)
{
    bool has = false;
    kc_scoped(kc_buf) text = {0};
    kc_key_write(&text, set);
    kc_locked (&expectations->mutex)
        has = kc_map_get(&expectations->keys, kc_buf_str(&text)) != NULL;
    return has;
}

void kc__rs_expectations_put(kc__rs_expectations *expectations, kc_key set)
{
    kc_scoped(kc_buf) text = {0};
    kc_key_write(&text, set);
    const size_t n = text.n;
    char *key = kc_buf_take(&text);
    kc_locked (&expectations->mutex)
        key = kc_map_put(&expectations->keys, kc_str_of(key, n), key);
    free(key);
}

void kc__rs_expectations_remove(kc__rs_expectations *expectations, kc_key set)
{
    char *key = NULL;
    kc_scoped(kc_buf) text = {0};
    kc_key_write(&text, set);
    kc_locked (&expectations->mutex)
        key = kc_map_remove(&expectations->keys, kc_buf_str(&text));
    free(key);
}

/* A 4xx response means the write was refused; without a code the request was not sent
 * (transport.h). */
bool kc__rs_has_expectations(const kc_error *err)
{
    return err->code >= 500;
}
