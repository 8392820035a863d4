/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_writes.h: what this program has written and its watch has not shown yet.
 *
 *     kc__own_writes_add(&own, &(kc__own_write_args){.key = key, .object = answer}, now);
 *     const kc_object *shown = kc__own_writes_over(&own, key, kept);    what a reader is to see
 *     kc__own_writes_reached(&own, revision);                           the watch is there: forget
 *
 * An own write stands in the place of what the store has until the watch has come as far. Revisions
 * are numbers, and later is larger. The informer's lock guards it.
 */
#ifndef KC_RUNTIME_OWN_WRITES_H
#define KC_RUNTIME_OWN_WRITES_H

#include "kc/clock.h"
#include "kc/list.h"
#include "runtime/index.h"

typedef struct kc__own_write {
    kc_link link;
    kc_object *object; /* NULL: it is gone, or has left what is kept. */
    char *uid;         /* Of what was deleted; NULL when not known. */
    uint64_t revision; /* 0 when not known: a deletion whose answer did not say. */
    uint64_t last;     /* Of a deletion: the revision of the last state known. 0: not known. */
    int64_t expires;
    bool moot;         /* It hides nothing: not worth a word when it expires. */
    kc__values values; /* Of the object, for indexes. */
    kc_key key;        /* Its text follows. */
} kc__own_write;

typedef struct kc__own_writes {
    kc_map by_key;       /* By "namespace/name". */
    kc_list ordered;     /* By revision; those without at the end, by age. */
    int64_t age;         /* After which one expires. */
    int64_t next_expiry; /* No one expires before. */
} kc__own_writes;

enum { KC__OWN_WRITES_MAX = 65536 };
/* How long one lives that hides nothing. */
#define KC__OWN_WRITES_MOOT (10 * KC_SECOND)

void kc__own_writes_init(kc__own_writes *own, int64_t age);
void kc__own_writes_done(kc__own_writes *own);

static inline bool kc__own_writes_empty(const kc__own_writes *own)
{
    return own->by_key.n == 0;
}

typedef struct kc__own_write_args {
    kc_key key;
    const kc_object *object; /* A reference is taken. NULL: hidden from now on. */
    uint64_t revision;       /* Of the write; 0 only for deletions. */
    kc_str uid;              /* Of what is hidden, if known. */
    uint64_t last;           /* And its last revision known. */
    kc__values *values;      /* Moved from. May be NULL. */
    bool moot;
} kc__own_write_args;

/* An older write than one that is there already is left out. */
void kc__own_writes_add(kc__own_writes *own, const kc__own_write_args *write, int64_t now);
/* The write that stands for a key, or NULL. */
const kc__own_write *kc__own_writes_find(const kc__own_writes *own, kc_key key);
/* What is to be seen in place of what is kept (NULL: nothing); NULL when nothing is. Borrowed. */
const kc_object *kc__own_write_over(const kc__own_write *write, const kc_object *kept);
const kc_object *kc__own_writes_over(const kc__own_writes *own, kc_key key, const kc_object *kept);

/* The watch has shown this state of an object, or its end. */
void kc__own_writes_saw(kc__own_writes *own, const kc_object *object, bool deleted);
/* The store shows everything up to the revision. */
void kc__own_writes_reached(kc__own_writes *own, uint64_t revision);

/* Forgets those that the watch has not reached for too long; how many of them mattered. `ret_key`
 * (may be NULL) gets "namespace/name" of one. */
size_t kc__own_writes_expire(kc__own_writes *own, int64_t now, kc_buf *ret_key);

#endif
