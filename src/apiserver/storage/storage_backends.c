/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_backends.c: the table of backends. Commands and the embedded server select one by name.
 * Only code for what one backend has names its table: the flags of etcd (cmd/kc/etcd_options.c,
 * etcd_overrides.c) and the commands on a store (maintenance/location.c, restore.c,
 * cmd/kc/store_rewrite.c).
 *
 * To add a backend: write its table, add a row, and, if it is exclusive, run
 * tests/include/storage_contract.h over it.
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
