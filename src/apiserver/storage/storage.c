/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage.c: what all backends of storage.h share: the limits of an operation, in one place, so
 * that a key one backend takes is a key every backend takes.
 *
 * NUL is kept out of keys for the sake of backends that end a key with it; no name of an object
 * holds one.
 */
#include "apiserver/storage/storage.h"

const char *kc_storage_op_problem(const kc_storage_op *op)
{
    if (op->key.n == 0)
        return "the key is empty";
    if (op->key.n > KC_STORAGE_MAX_KEY)
        return "the key is longer than 1000 bytes";
    if (kc_str_find(op->key, '\0') >= 0)
        return "the key holds a NUL byte";
    if (op->verb == KC_STORAGE_PUT && op->value.n > KC_STORAGE_MAX_VALUE)
        return "the value is longer than 16 MiB";
    return NULL;
}
