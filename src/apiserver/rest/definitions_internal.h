/* SPDX-License-Identifier: Apache-2.0 */
/* definitions_internal.h: what the files about stored definitions share. On one loop. */
#ifndef KC_APISERVER_DEFINITIONS_INTERNAL_H
#define KC_APISERVER_DEFINITIONS_INTERNAL_H

#include "apiserver/crd/crd_resource.h"
#include "apiserver/rest/definitions.h"
#include "apiserver/store/watch.h"
#include "kc/map.h"
#include "kc/vec.h"
#include "kc/view.h"

/* A definition that is stored. */
typedef struct kc__crd_entry {
    kc__crds *all;
    char *name, *group;
    uint64_t revision; /* Of what was looked at last. */
    uint64_t seen;     /* The round in which it was there. */
    bool waits;        /* It did not get its names. */
    bool writing;      /* One at a time. */
    char *facts;       /* What it was compiled from. */
    kc_view *names;    /* Those it has: {"status":{"acceptedNames":…}} */
    kc__crd *compiled; /* NULL: it is not served. */
} kc__crd_entry;

/* A change on its way to the store. */
typedef struct kc__crd_write {
    kc__write write;
    kc__crds *all;
    kc__crd_entry *definition; /* NULL: it is an object's. */
    kc__cache *cache;
    kc_storage_verb verb;
    char *key;
    kc_object *object;
    uint64_t expected;
} kc__crd_write;

struct kc__crds {
    kc__api *api;
    kc__watcher *watcher;
    kc__timer timer;
    kc_map entries; /* kc__crd_entry by name. */
    kc_map taken;   /* Of a round: the names that each group has given. */
    bool collected; /* They are there. */
    uint64_t round;
    uint64_t seen;  /* The newest revision that was looked at, also of custom objects. */
    bool changed;   /* What is served is no longer what shall be. */
    bool withdrawn; /* Something is served in another way, or no longer: watches have to end. */
    bool stopped;
    size_t in_flight_objects;       /* Writes of custom objects. */
    KC_VEC(kc__crd_write *) writes; /* To be submitted at the end of the round. */
};

/* What it serves from now on; takes over the reference, which may be NULL. */
void kc__crd_replace(kc__crd_entry *d, kc__crd *compiled);
/* Replaces `old`, at the end of the round. */
void kc__crd_put(kc__crd_entry *d, const kc_object *old, const kc_object *next);
void kc__crds_submit(kc__crds *all, kc__crd_write *write);

/* definition_end.c: the next step of one that is being deleted. */
void kc__crd_end(kc__crd_entry *d, const kc_object *object);

#endif
