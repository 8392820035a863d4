/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry.c: the place where the snapshot of now stands.
 *
 * Readers that come once take a reference under the lock. Loops, which come for every request, keep
 * their reference and only compare pointers: whoever holds a snapshot keeps its address from being
 * used again, so the same address is the same snapshot. A loop may for a moment see the old one
 * after a replacement; it sees the new one at the latest with the first message that it gets from
 * the thread that replaced it.
 */
#include "apiserver/kinds/registry.h"
#include "kc/thread.h"

struct kc__registry {
    kc_mutex mutex; /* Guards taking and exchanging `now`. Taken last, nothing is under it. */
    _Atomic(kc__kinds *) now; /* May be compared, but not followed, without the lock. */
};

kc__registry *kc__registry_new(kc__kinds *kinds)
{
    kc__registry *registry = kc_new(kc__registry);
    kc_mutex_init(&registry->mutex);
    atomic_init(&registry->now, kinds);
    return registry;
}

kc__registry *kc__registry_free(kc__registry *registry)
{
    if (!registry)
        return NULL;
    kc__kinds_unref(atomic_load(&registry->now));
    kc_mutex_done(&registry->mutex);
    free(registry);
    return NULL;
}

void kc__registry_replace(kc__registry *registry, kc__kinds *kinds)
{
    kc__kinds *before = NULL;
    kc_locked (&registry->mutex)
        before = atomic_exchange(&registry->now, kinds);
    kc__kinds_unref(before); /* May free it: not under the lock. */
}

kc__kinds *kc__registry_snapshot(kc__registry *registry)
{
    kc__kinds *kinds = NULL;
    kc_locked (&registry->mutex)
        kinds = kc__kinds_ref(atomic_load(&registry->now));
    return kinds;
}

const kc__kinds *kc__registry_current(kc__registry *registry, kc__kinds **held)
{
    if (*held == atomic_load_explicit(&registry->now, memory_order_acquire))
        return *held;
    kc__kinds *before = *held;
    *held = kc__registry_snapshot(registry);
    kc__kinds_unref(before);
    return *held;
}
