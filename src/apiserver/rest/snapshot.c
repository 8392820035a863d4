/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.c: making what is served, and exchanging it.
 *
 * Loops ask for every request, keep their reference, and only compare pointers: whoever holds a
 * snapshot keeps its address from being used again, so the same address is the same snapshot.
 */
#include "apiserver/rest/snapshot.h"

#include "apiserver/crd/crd_resource.h"
#include "apiserver/crd/crd_type.h"
#include "apiserver/discovery/discovery.h"
#include "apiserver/kinds/strategy.h"
#include "kc/thread.h"

/* ---- making one ---- */

static const kc__strategy *strategy_of(const kc__resource *resource)
{
    return kc__strategy_find(kc_cstr(resource->group),
                             resource->storage ? kc_cstr(resource->storage) : KC_STR(""));
}

static int serve_one(kc__store *store, const kc__resource *resource, kc__served *ret, kc_error *err)
{
    if (!resource->storage)
        return 0;
    kc_autofree char *prefix = kc_asprintf("/registry/%s/", resource->storage);
    ret->cache = kc__store_cache(store, kc_cstr(prefix));
    if (resource->custom) {
        ret->fields = resource->custom->fields;
        return 0;
    }
    ret->item_prefix =
        kc_cstr(kc_asprintf("{\"kind\":\"%s\",\"apiVersion\":\"%s%s%s\",", resource->kind,
                            resource->group, *resource->group ? "/" : "", resource->version));
    ret->own_fields =
        kc_fields_new(resource->strategy->selectable, resource->strategy->n_selectable, err);
    ret->fields = ret->own_fields;
    return ret->fields ? 0 : -1;
}

kc__snapshot *kc__snapshot_new(kc__store *store, const kc__resource_set *const *additions, size_t n,
                               kc_error *err)
{
    kc_auto(kc__snapshot) *made = kc_new(kc__snapshot);
    kc_ref_init(&made->refs);
    made->kinds = kc__kinds_new(&(kc__kinds_opts){.additions = additions,
                                                  .n_additions = n,
                                                  .find_type = kc__type_find,
                                                  .find_strategy = strategy_of});
    made->discovery = kc__discovery_new(made->kinds, NULL);
    const kc__resource *resources = kc__kinds_resources(made->kinds, &made->n_served);
    made->served = kc_calloc(made->n_served, sizeof(*made->served));
    for (size_t i = 0; i < made->n_served; i++)
        if (serve_one(store, &resources[i], &made->served[i], err) < 0)
            return NULL;
    return kc_take(made);
}

kc__snapshot *kc__snapshot_ref(const kc__snapshot *snapshot)
{
    kc__snapshot *counted = (kc__snapshot *)snapshot;
    kc_ref_add(&counted->refs);
    return counted;
}

kc__snapshot *kc__snapshot_unref(const kc__snapshot *snapshot)
{
    kc__snapshot *counted = (kc__snapshot *)snapshot;
    if (!counted || !kc_ref_drop(&counted->refs))
        return NULL;
    for (size_t i = 0; i < counted->n_served; i++) {
        kc_fields_free(counted->served[i].own_fields);
        free((char *)counted->served[i].item_prefix.p);
    }
    free(counted->served);
    kc__discovery_unref(counted->discovery);
    kc__kinds_unref(counted->kinds);
    free(counted);
    return NULL;
}

/* ---- the one of now ---- */

struct kc__snapshots {
    kc_mutex mutex; /* Guards taking and exchanging `now`. Taken last, nothing is under it. */
    _Atomic(kc__snapshot *) now; /* May be compared, but not followed, without the lock. */
};

kc__snapshots *kc__snapshots_new(kc__snapshot *first)
{
    kc__snapshots *snapshots = kc_new(kc__snapshots);
    kc_mutex_init(&snapshots->mutex);
    atomic_init(&snapshots->now, first);
    return snapshots;
}

kc__snapshots *kc__snapshots_free(kc__snapshots *snapshots)
{
    if (!snapshots)
        return NULL;
    kc__snapshot_unref(atomic_load(&snapshots->now));
    kc_mutex_done(&snapshots->mutex);
    free(snapshots);
    return NULL;
}

void kc__snapshots_replace(kc__snapshots *snapshots, kc__snapshot *next)
{
    kc__snapshot *before = NULL;
    kc_locked (&snapshots->mutex)
        before = atomic_exchange(&snapshots->now, next);
    kc__snapshot_unref(before); /* May free it: not under the lock. */
}

const kc__snapshot *kc__snapshots_current(kc__snapshots *snapshots, kc__snapshot **held)
{
    if (*held == atomic_load_explicit(&snapshots->now, memory_order_acquire))
        return *held;
    kc__snapshot *before = *held;
    kc_locked (&snapshots->mutex)
        *held = kc__snapshot_ref(atomic_load(&snapshots->now));
    kc__snapshot_unref(before);
    return *held;
}
