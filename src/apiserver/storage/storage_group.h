/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_group.h: runs a batch group by group, for backends that compare and apply one operation
 * at a time and can undo the newest ones.
 */
#ifndef KC_APISERVER_STORAGE_GROUP_H
#define KC_APISERVER_STORAGE_GROUP_H

#include "apiserver/storage/storage.h"

typedef struct kc__storage_group_ops {
    /* Compares one valid operation and, if its expectation holds, applies it. A return value other
     * than 0 is an error of the backend and ends the batch. */
    int (*run)(void *user, const kc__storage_op *op, kc__storage_result *ret_result);
    /* Undoes the newest `n` applied operations. */
    void (*undo)(void *user, size_t n);
} kc__storage_group_ops;

/* Returns 0, or the return value of `run`: the caller must then undo the applied operations. */
int kc__storage_run_groups(const kc__storage_op *ops, size_t n_ops, kc__storage_result *ret_results,
                           const kc__storage_group_ops *with, void *user);

#endif
