/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage.c: code shared by all backends of storage.h: the limits of an operation and of a group,
 * in one place, so that every backend accepts the same batches; and functions composed of other
 * functions of the contract.
 *
 * Keys contain no NUL, for backends that terminate a key with one; no object name contains a NUL.
 */
#include "apiserver/storage/storage.h"

#include "apiserver/storage/stored_key.h"

kc_str kc__storage_outside_key(const kc__storage *storage, kc_str key, kc_buf *room)
{
    const kc_str root = KC_STR(KC__STORAGE_KEY_ROOT);
    if (!storage->root || kc_str_is(root, storage->root) || !kc_str_starts(key, root))
        return key;
    kc_buf_clear(room);
    kc_buf_puts(room, storage->root);
    kc_buf_append(room, kc_str_sub(key, root.n, key.n));
    return kc_buf_str(room);
}

const char *kc__storage_op_problem(const kc__storage_op *op)
{
    if (op->key.n == 0)
        return "the key is empty";
    if (op->key.n > KC__STORAGE_MAX_KEY)
        return "the key is longer than 1000 bytes";
    if (kc_str_find(op->key, '\0') >= 0)
        return "the key contains a NUL byte";
    if (op->verb == KC__STORAGE_PUT && op->value.n > KC__STORAGE_MAX_VALUE)
        return "the value is longer than 16 MiB";
    return NULL;
}

size_t kc__storage_group_size(const kc__storage_op *ops, size_t n_ops)
{
    size_t n = 1;
    while (n < n_ops && ops[n].joined)
        n++;
    return n;
}

const char *kc__storage_group_problem(const kc__storage_op *ops, size_t n_ops)
{
    if (n_ops > KC__STORAGE_MAX_GROUP)
        return "the group has more than 64 operations";
    for (size_t i = 1; i < n_ops; i++)
        for (size_t j = 0; j < i; j++)
            if (kc_str_eq(ops[i].key, ops[j].key))
                return "the group has two operations on one key";
    return NULL;
}

int kc__storage_load(kc__storage *storage, kc__storage_entry_fn *each, void *user,
                     kc__storage_state *ret_state, kc_error *err)
{
    return kc__storage_list(storage, &(kc__storage_list_opts){0}, each, user, ret_state, err);
}

int kc__storage_history(kc__storage *storage, uint64_t since, kc__storage_event_fn *each,
                        void *user, kc_error *err)
{
    const kc__storage_watch_opts opts = {.since = since, .event = each, .user = user};
    kc__storage_watch *watch = NULL;
    const int failed = kc__storage_watch_start(storage, &opts, &watch, err);
    kc__storage_watch_stop(storage, watch);
    return failed;
}
