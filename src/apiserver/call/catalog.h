/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog.h: the catalog: the resources that the server serves, with the run-time state of each,
 * and their discovery documents. It is immutable and reference-counted. A change of a CRD builds a
 * new catalog, which replaces the old one as a whole. A request holds the catalog it began with,
 * and so do lists and watches until they have sent their response.
 */
#ifndef KC_APISERVER_CATALOG_H
#define KC_APISERVER_CATALOG_H

#include "apiserver/kinds/registry.h"
#include "apiserver/store/store.h"
#include "kc/field_selector.h"

/* The run-time state of a resource. */
typedef struct kc__rest_served_resource {
    kc__watch_cache *cache;
    const kc_fields *fields; /* Fields that selectors may name. */
    kc_fields *own_fields;   /* The same, if the catalog allocated them. */
    kc_str item_prefix; /* First bytes of its stored objects, {"kind":"Pod","apiVersion":"v1", which
                           list items omit. Empty: items are written whole. */
} kc__rest_served_resource;

typedef struct kc__rest_catalog {
    kc_ref refs;
    uint64_t number; /* Sequence number, from 1 on; set when the catalog becomes current. */
    kc__registry *kinds;
    kc__rest_served_resource *served; /* Indexed by the number of the resource in `kinds`. */
    size_t n_served;
    struct kc__discovery *discovery;
} kc__rest_catalog;

/* Builds a catalog of the built-in resources and `additions`. NULL on error. */
kc__rest_catalog *kc__rest_catalog_new(kc__store *store, const kc__resource_set *const *additions,
                                       size_t n, kc_error *err);
kc__rest_catalog *kc__rest_catalog_ref(const kc__rest_catalog *catalog);
kc__rest_catalog *kc__rest_catalog_unref(const kc__rest_catalog *catalog);
KC_AUTO_DEFINE(kc__rest_catalog, kc__rest_catalog_unref)

/* Holds the current catalog. */
typedef struct kc__rest_catalog_slot kc__rest_catalog_slot;

/* Takes over the reference, as does kc__rest_catalog_slot_replace. */
kc__rest_catalog_slot *kc__rest_catalog_slot_new(kc__rest_catalog *first);
kc__rest_catalog_slot *kc__rest_catalog_slot_free(kc__rest_catalog_slot *slot);
/* Any thread. */
void kc__rest_catalog_slot_replace(kc__rest_catalog_slot *slot, kc__rest_catalog *next);
/* The current catalog. *held is the caller's last result (NULL at first), a reference that the
 * caller keeps between calls and drops at the end. Costs a load and a comparison while the catalog
 * does not change. */
const kc__rest_catalog *kc__rest_catalog_slot_current(kc__rest_catalog_slot *slot,
                                                      kc__rest_catalog **held);

#endif
