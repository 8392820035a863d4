/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overlay.h: the read-your-writes overlay: own writes that the watch has not delivered yet.
 *
 *     kc__overlay_add(&own, &(kc__overlay_entry_args){.key = key, .object = answer}, now);
 *     const kc_object *shown = kc__overlay_lookup(&own, key, kept);    what a reader must see
 *     kc__overlay_advance(&own, revision);                   the watch has passed it: drop
 *
 * An own write replaces the cached object until the watch has reached its revision. Revisions are
 * numbers, and later ones are larger. The informer's lock guards the overlay.
 */
#ifndef KC_RUNTIME_CACHE_OVERLAY_H
#define KC_RUNTIME_CACHE_OVERLAY_H

#include "kc/clock.h"
#include "kc/dlist.h"
#include "runtime/cache/index.h"

typedef struct kc__overlay_entry {
    kc_dlist_link link;
    kc_object *object; /* NULL: it is deleted, or the selectors exclude it. */
    char *uid;         /* Of the deleted object; NULL if unknown. */
    uint64_t revision; /* 0 if unknown: a deletion whose response had none. */
    uint64_t last;     /* Of a deletion: the object's last known revision. 0: unknown. */
    int64_t expires;
    bool without_effect;     /* It hides nothing, so its expiry is not logged. */
    kc__index_values values; /* Index values of the object. */
    kc_key key;              /* Its text follows the struct. */
} kc__overlay_entry;

typedef struct kc__overlay {
    kc_map by_key;       /* By "namespace/name". */
    kc_dlist ordered;    /* By revision; entries without one at the end, by age. */
    int64_t age;         /* Lifetime of an entry. */
    int64_t next_expiry; /* No entry expires before. */
} kc__overlay;

enum { KC__OVERLAY_MAX = 65536 };
/* Lifetime of an entry that hides nothing. */
#define KC__OVERLAY_NO_EFFECT_LIFETIME (10 * KC_SECOND)

void kc__overlay_init(kc__overlay *own, int64_t age);
void kc__overlay_done(kc__overlay *own);

static inline bool kc__overlay_empty(const kc__overlay *own)
{
    return own->by_key.n == 0;
}

typedef struct kc__overlay_entry_args {
    kc_key key;
    const kc_object *object;  /* Takes a new reference. NULL: hide the object. */
    uint64_t revision;        /* Of the write; 0 only for deletions. */
    kc_str uid;               /* Of the hidden object, if known. */
    uint64_t last;            /* Its last known revision. */
    kc__index_values *values; /* Contents are moved. May be NULL. */
    bool without_effect;
} kc__overlay_entry_args;

/* A write older than an existing entry is ignored. */
void kc__overlay_add(kc__overlay *own, const kc__overlay_entry_args *write, int64_t now);
/* The object to show in place of the cached one (NULL if not cached); NULL: show none. Borrowed. */
const kc_object *kc__overlay_entry_over(const kc__overlay_entry *write, const kc_object *kept);
const kc_object *kc__overlay_lookup(const kc__overlay *own, kc_key key, const kc_object *kept);

/* The watch has delivered this state of an object, or its deletion. */
void kc__overlay_observe(kc__overlay *own, const kc_object *object, bool deleted);
/* The store contains everything up to the revision. */
void kc__overlay_advance(kc__overlay *own, uint64_t revision);

/* Drops expired entries; returns how many of them hid something. `ret_key` (may be NULL) gets
 * "namespace/name" of one. */
size_t kc__overlay_expire(kc__overlay *own, int64_t now, kc_buf *ret_key);

#endif
