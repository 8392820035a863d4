/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.h: what the server serves at a moment: its resources, with what each needs at run time,
 * and their discovery. Immutable and counted. A definition that comes, changes or goes makes a new
 * one, which takes the place of the old one as a whole; a request holds the one it began with, and
 * so do lists and watches for as long as they write.
 */
#ifndef KC_APISERVER_SNAPSHOT_H
#define KC_APISERVER_SNAPSHOT_H

#include "apiserver/kinds/registry.h"
#include "apiserver/store/store.h"
#include "kc/field_selector.h"

/* What a resource needs at run time. */
typedef struct kc__served {
    kc__cache *cache;
    const kc_fields *fields; /* What selectors may name. */
    kc_fields *own_fields;   /* Those, where the snapshot made them. */
    kc_str item_prefix;      /* How its stored objects begin, {"kind":"Pod","apiVersion":"v1", which
                                items of a list leave out. Empty: they do not (custom resources). */
} kc__served;

typedef struct kc__snapshot {
    kc_ref refs;
    kc__kinds *kinds;
    kc__served *served; /* By the number of the resource in `kinds`. */
    size_t n_served;
    struct kc__discovery *discovery;
} kc__snapshot;

/* With the built-in resources and these. NULL on error. */
kc__snapshot *kc__snapshot_new(kc__store *store, const kc__resource_set *const *additions, size_t n,
                               kc_error *err);
kc__snapshot *kc__snapshot_ref(const kc__snapshot *snapshot);
kc__snapshot *kc__snapshot_unref(const kc__snapshot *snapshot);
KC_AUTO_DEFINE(kc__snapshot, kc__snapshot_unref)

/* The place where the one of now stands. */
typedef struct kc__snapshots kc__snapshots;

/* Takes over the reference, as kc__snapshots_replace does. */
kc__snapshots *kc__snapshots_new(kc__snapshot *first);
kc__snapshots *kc__snapshots_free(kc__snapshots *snapshots);
/* Any thread. */
void kc__snapshots_replace(kc__snapshots *snapshots, kc__snapshot *next);
/* The newest; *held is what the caller, who asks often, got last (NULL at first) and keeps until it
 * drops it at the end. Costs a load and a comparison while nothing changes. */
const kc__snapshot *kc__snapshots_current(kc__snapshots *snapshots, kc__snapshot **held);

#endif
