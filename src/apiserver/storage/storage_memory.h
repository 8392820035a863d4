/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_memory.h: the backend that keeps everything in memory: for tests, simulations and servers
 * that nobody needs to find again.
 *
 *     kc__memory *memory = kc__memory_new();
 *     kc_storage_open(&kc_storage_memory, &(kc_storage_opts){.memory = memory}, &storage, err);
 *
 * What is stored lies in a kc__memory, which plays the disk: closing a store and opening it again
 * over the same one finds everything. "Durable" is as long as that lives.
 */
#ifndef KC_APISERVER_STORAGE_MEMORY_H
#define KC_APISERVER_STORAGE_MEMORY_H

#include "apiserver/storage/storage.h"

extern const kc_storage_backend kc_storage_memory;

typedef struct kc__memory kc__memory;

kc__memory *kc__memory_new(void);
/* No store is open over it. NULL is allowed; returns NULL. */
kc__memory *kc__memory_free(kc__memory *memory);
KC_AUTO_DEFINE(kc__memory, kc__memory_free)

#endif
