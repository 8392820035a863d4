/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_backends.c: the table of backends. Commands and the embedded server select one by name;
 * no other code names a backend.
 *
 * To add a backend: write its table, run tests/include/storage_contract.h over it, and add a row.
 */
#include "apiserver/storage/etcd/etcd_backend.h"
#include "apiserver/storage/file/file_backend.h"
#include "apiserver/storage/memory/memory_backend.h"

static const kc__storage_backend *const backends[] = {
    &kc__storage_file_backend,
    &kc__storage_memory_backend,
    &kc__storage_etcd_backend,
};

const kc__storage_backend *kc__storage_backend_at(size_t i)
{
    return i < KC_COUNT(backends) ? backends[i] : NULL;
}

const kc__storage_backend *kc__storage_backend_named(const char *name)
{
    for (size_t i = 0; i < KC_COUNT(backends); i++)
        if (strcmp(backends[i]->name, name) == 0)
            return backends[i];
    return NULL;
}
