/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_backend.h: the backend that keeps everything in memory: for tests, simulations and servers
 * whose objects may be lost.
 *
 *     kc__storage_memory *memory = kc__storage_memory_new();
 *     kc__storage_open(&kc__storage_memory_backend, &(kc__storage_opts){.memory = memory},
 *                      &storage, err);
 *
 * The stored data is in a kc__storage_memory, which takes the role of the disk: closing a store and
 * opening it again over the same one finds everything. "Durable" means as long as it lives.
 */
#ifndef KC_APISERVER_STORAGE_MEMORY_H
#define KC_APISERVER_STORAGE_MEMORY_H

#include "apiserver/storage/storage.h"

extern const kc__storage_backend kc__storage_memory_backend;

typedef struct kc__storage_memory kc__storage_memory;

kc__storage_memory *kc__storage_memory_new(void);
/* No store may be open over it. NULL is allowed; returns NULL. */
kc__storage_memory *kc__storage_memory_free(kc__storage_memory *memory);
KC_AUTO_DEFINE(kc__storage_memory, kc__storage_memory_free)

#endif
