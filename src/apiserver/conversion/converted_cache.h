/* SPDX-License-Identifier: Apache-2.0 */
/*
 * converted_cache.h: keeps the conversions of stored objects within a memory budget.
 *
 *     kc__remote_converted *pin = kc__converted_cache_pin(cache, key);          NULL: not kept
 *     …                                            pin->object is not evicted meanwhile
 *     kc__remote_converted_unpin(pin);
 *
 * A key identifies a revision of an object, a version, and the CRD with its spec
 * (kc__converted_key). The content of an entry never changes, so entries never become invalid;
 * those that are no longer used are evicted. Any thread.
 */
#ifndef KC_APISERVER_CONVERTED_CACHE_H
#define KC_APISERVER_CONVERTED_CACHE_H

#include "apiserver/governor/governor.h"
#include "apiserver/kinds/remote_conversion.h"
#include "kc/metrics.h"

typedef struct kc__converted_cache kc__converted_cache;

/* `limit` is in bytes; `memory` may be NULL. NULL on error. */
kc__converted_cache *kc__converted_cache_new(size_t limit, kc__memory_account *memory,
                                             kc_metrics *metrics, kc_error *err);
/* No entry may be pinned. NULL is allowed; returns NULL. */
kc__converted_cache *kc__converted_cache_free(kc__converted_cache *cache);

/* The object, with a reference for the caller. NULL: not kept. */
kc_object *kc__converted_cache_get(kc__converted_cache *cache, kc_str key);
/* NULL: not kept. */
kc__remote_converted *kc__converted_cache_pin(kc__converted_cache *cache, kc_str key);
/* Keeps an object and returns it pinned. If the key is already kept, returns that entry. */
kc__remote_converted *kc__converted_cache_add(kc__converted_cache *cache, kc_str key,
                                              const kc_object *object);
/* Evicts every entry that is not pinned. */
void kc__converted_cache_clear(kc__converted_cache *cache);

#endif
