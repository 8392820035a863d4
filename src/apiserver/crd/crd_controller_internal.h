/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_controller_internal.h: declarations that the files of the controller share. Everything here
 * belongs to the controller's loop.
 */
#ifndef KC_APISERVER_CRD_CONTROLLER_INTERNAL_H
#define KC_APISERVER_CRD_CONTROLLER_INTERNAL_H

#include "apiserver/crd/crd_controller.h"
#include "apiserver/crd/crd_resource.h"
#include "apiserver/crd/crd_rules_metrics.h"
#include "apiserver/store/watch.h"
#include "kc/map.h"
#include "kc/vec.h"
#include "kc/view.h"

/* A stored CRD. */
typedef struct kc__crd_entry {
    kc__crd_controller *controller;
    char *name, *group;
    uint64_t revision; /* The last synced revision. */
    uint64_t seen;     /* The last round that found it stored. */
    bool conflicts;    /* Another CRD has its names: retried with every change. */
    bool writing;      /* A write is in flight; at most one at a time. */
    char *facts;       /* The inputs of the compiled form. */
    kc_view *names;    /* Its accepted names: {"status":{"acceptedNames":…}} */
    kc__crd *compiled; /* NULL if not served. */
} kc__crd_entry;

/* A write in flight, or one that waits for the end of the round. */
typedef struct kc__crd_write {
    kc__store_write write;
    kc__crd_controller *controller;
    kc__crd_entry *entry; /* The CRD that it writes. NULL: it writes a custom object. */
    kc__watch_cache *cache;
    kc__storage_verb verb;
    char *key;
    kc_object *object;
    uint64_t expected;
} kc__crd_write;

struct kc__crd_controller {
    kc__crd_controller_opts opts;
    kc__watch_cache *crds;
    kc__loop *loop;
    kc__store_watcher *watcher;
    kc__loop_timer timer;
    kc_map entries; /* kc__crd_entry by name. */
    kc_map taken;   /* Of a round: the accepted names of each group, by group. */
    bool collected; /* `taken` is complete. */
    uint64_t round;
    uint64_t seen;  /* The newest revision that was read, including custom objects. */
    bool changed;   /* The published resources are out of date. */
    bool withdraws; /* See kc__crd_publication. */
    bool stopped;
    size_t in_flight_objects;       /* Writes of custom objects. */
    KC_VEC(kc__crd_write *) writes; /* Submitted at the end of the round. */
    kc__crd_rules_metrics rules;    /* Of the published CRDs. */
};

/* ---- crd_controller.c ---- */

/* Writes a CRD at the end of the round, if `old` is still the stored object then. */
void kc__crd_controller_put(kc__crd_entry *e, const kc_object *old, const kc_object *next);
/* Submits a write to the store. */
void kc__crd_controller_submit(kc__crd_controller *c, kc__crd_write *write);
/* Schedules a sync after `delay`. */
void kc__crd_controller_wake(kc__crd_controller *c, int64_t delay);

/* ---- crd_controller_entry.c ---- */

/* The entry of a stored CRD, created if necessary. */
kc__crd_entry *kc__crd_entry_of(kc__crd_controller *c, const kc_object *object);
void kc__crd_entry_free(kc__crd_entry *e);
/* Updates the status and resources of a CRD if it has changed since the last round. */
void kc__crd_entry_sync(kc__crd_entry *e, const kc_object *object);
/* Serves a compiled CRD and takes over its reference. NULL stops serving it. */
void kc__crd_entry_replace(kc__crd_entry *e, kc__crd *compiled);
/* Drops the names that the round collected. */
void kc__crd_forget_names(kc__crd_controller *c);

/* ---- crd_owner.c ---- */

/* Gives the changes of a status to the controller's manager. `after` is `before` with the new
 * status, and may be NULL; takes over the reference. */
kc_object *kc__crd_own_status(kc__crd_controller *c, const kc_object *before, kc_object *after);

/* ---- crd_controller_delete.c ---- */

/* Performs the next step of a deletion. */
void kc__crd_entry_delete(kc__crd_entry *e, const kc_object *object);

#endif
