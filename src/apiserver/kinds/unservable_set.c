/* SPDX-License-Identifier: Apache-2.0 */
/* unservable_set.c: a small set of keys under a mutex, which is locked only when a read fails. */
#include "apiserver/kinds/unservable_set.h"

#include "kc/arena.h"
#include "kc/map.h"
#include "kc/thread.h"

struct kc__resource_unservable_set {
    kc_mutex mutex; /* Guards the rest. A leaf in the lock order. */
    kc_map keys;
    kc_arena arena;
};

kc__resource_unservable_set *kc__resource_unservable_set_new(void)
{
    kc__resource_unservable_set *set = kc_new(kc__resource_unservable_set);
    kc_mutex_init(&set->mutex);
    return set;
}

kc__resource_unservable_set *kc__resource_unservable_set_free(kc__resource_unservable_set *set)
{
    if (!set)
        return NULL;
    kc_map_done(&set->keys);
    kc_arena_done(&set->arena);
    kc_mutex_done(&set->mutex);
    free(set);
    return NULL;
}

bool kc__resource_unservable_set_add(kc__resource_unservable_set *set, kc_str ns, kc_str name)
{
    bool added = false;
    kc_autofree char *key = kc_asprintf("%.*s/%.*s", KC_ARG(ns), KC_ARG(name));
    kc_locked (&set->mutex) {
        added = set->keys.n < KC__CRD_UNSERVABLE_MAX && !kc_map_get(&set->keys, kc_cstr(key));
        if (added)
            kc_map_put(&set->keys, kc_arena_str(&set->arena, kc_cstr(key)), set);
    }
    return added;
}

size_t kc__resource_unservable_set_count(kc__resource_unservable_set *set)
{
    size_t n = 0;
    kc_locked (&set->mutex)
        n = set->keys.n;
    return n;
}
