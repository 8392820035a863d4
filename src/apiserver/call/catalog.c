/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog.c: builds catalogs, and replaces the current one.
 *
 * Each loop asks for the current catalog once per request, keeps its reference, and only compares
 * pointers. A held reference keeps the address of a catalog from being reused, so equal addresses
 * mean the same catalog.
 */
#include "apiserver/call/catalog.h"

#include "apiserver/discovery/discovery.h"
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "apiserver/kinds/resource_ops.h"
#include "apiserver/kinds/strategy.h"
#include "kc/thread.h"

/* ---- building a catalog ---- */

static const kc__strategy *strategy_of(const kc__resource *resource)
{
    return kc__strategy_find(kc_cstr(resource->group),
                             resource->storage ? kc_cstr(resource->storage) : KC_STR(""));
}

static int serve_one(kc__store *store, const kc__resource *resource, kc__rest_served_resource *ret,
                     kc_error *err)
{
    if (!resource->storage)
        return 0;
    ret->cache = kc__store_watch_cache_ref(store, kc_cstr(resource->key_prefix));
    if (!resource->ops->list_items_have_kind)
        ret->item_prefix =
            kc_cstr(kc_asprintf("{\"kind\":\"%s\",\"apiVersion\":\"%s%s%s\",", resource->kind,
                                resource->group, *resource->group ? "/" : "", resource->version));
    ret->fields = resource->fields;
    if (ret->fields)
        return 0;
    ret->own_fields =
        kc_fields_new(resource->strategy->selectable, resource->strategy->n_selectable, err);
    ret->fields = ret->own_fields;
    return ret->fields ? 0 : kc_error_result(err);
}

kc__rest_catalog *kc__rest_catalog_new(kc__store *store, const kc__resource_set *const *additions,
                                       size_t n, kc_error *err)
{
    kc_auto(kc__rest_catalog) *made = kc_new(kc__rest_catalog);
    kc_ref_init(&made->refs);
    made->kinds = kc__registry_new(&(kc__registry_opts){.additions = additions,
                                                        .n_additions = n,
                                                        .find_type = kc__crd_type_find,
                                                        .find_strategy = strategy_of});
    made->discovery = kc__discovery_new(made->kinds, NULL);
    const kc__resource *resources = kc__registry_resources(made->kinds, &made->n_served);
    made->served = kc_calloc(made->n_served, sizeof(*made->served));
    for (size_t i = 0; i < made->n_served; i++)
        if (serve_one(store, &resources[i], &made->served[i], err) < 0)
            return NULL;
    return kc_take(made);
}

kc__rest_catalog *kc__rest_catalog_ref(const kc__rest_catalog *catalog)
{
    kc__rest_catalog *counted = (kc__rest_catalog *)catalog;
    kc_ref_add(&counted->refs);
    return counted;
}

kc__rest_catalog *kc__rest_catalog_unref(const kc__rest_catalog *catalog)
{
    kc__rest_catalog *counted = (kc__rest_catalog *)catalog;
    if (!counted || !kc_ref_drop(&counted->refs))
        return NULL;
    for (size_t i = 0; i < counted->n_served; i++) {
        kc__watch_cache_unref(counted->served[i].cache);
        kc_fields_free(counted->served[i].own_fields);
        free((char *)counted->served[i].item_prefix.p);
    }
    free(counted->served);
    kc__discovery_free(counted->discovery);
    kc__registry_unref(counted->kinds);
    free(counted);
    return NULL;
}

/* ---- the current catalog ---- */

struct kc__rest_catalog_slot {
    kc_mutex mutex; /* Guards reading and replacing `now`. Taken last; no lock is taken under it. */
    _Atomic(kc__rest_catalog *) now; /* Without the lock it may be compared, but not
                                        dereferenced. */
    uint64_t last;                   /* The last number that was assigned. */
};

kc__rest_catalog_slot *kc__rest_catalog_slot_new(kc__rest_catalog *first)
{
    kc__rest_catalog_slot *slot = kc_new(kc__rest_catalog_slot);
    kc_mutex_init(&slot->mutex);
    first->number = ++slot->last;
    atomic_init(&slot->now, first);
    return slot;
}

kc__rest_catalog_slot *kc__rest_catalog_slot_free(kc__rest_catalog_slot *slot)
{
    if (!slot)
        return NULL;
    kc__rest_catalog_unref(atomic_load(&slot->now));
    kc_mutex_done(&slot->mutex);
    free(slot);
    return NULL;
}

void kc__rest_catalog_slot_replace(kc__rest_catalog_slot *slot, kc__rest_catalog *next)
{
    kc__rest_catalog *before = NULL;
    kc_locked (&slot->mutex) {
        next->number = ++slot->last;
        before = atomic_exchange(&slot->now, next);
    }
    kc__rest_catalog_unref(before); /* May free it, so not under the lock. */
}

const kc__rest_catalog *kc__rest_catalog_slot_current(kc__rest_catalog_slot *slot,
                                                      kc__rest_catalog **held)
{
    if (*held == atomic_load_explicit(&slot->now, memory_order_acquire))
        return *held;
    kc__rest_catalog *before = *held;
    kc_locked (&slot->mutex)
        *held = kc__rest_catalog_ref(atomic_load(&slot->now));
    kc__rest_catalog_unref(before);
    return *held;
}
