/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fifo.h: changes on their way from reflectors to a store, strictly in the order they came.
 *
 *     kc__fifo_push(fifo, &(kc__delta){KC__ADDED, .object = object}, 1);    reflectors
 *     while (kc__fifo_take(fifo, clock, KC_FOREVER, &batch))                one thread
 *         …
 *
 * A list comes as KC__LIST_BEGINS, KC__LISTED for each object as it is read, and KC__LIST_ENDS,
 * which says that what was not listed is gone. A list that breaks off has no end; the next one
 * begins anew. Everything that waits is taken at once.
 *
 * It holds some thousand changes; who pushes more waits. A thread that takes slower than the server
 * sends therefore slows down its watch and not fills the memory.
 */
#ifndef KC_RUNTIME_FIFO_H
#define KC_RUNTIME_FIFO_H

#include "kc/map.h"
#include "kc/meta.h"
#include "kc/thread.h"

typedef enum kc__delta_type {
    KC__LIST_BEGINS,
    KC__LISTED,
    KC__LIST_ENDS, /* With the revision of the list. */
    KC__ADDED,
    KC__MODIFIED,
    KC__DELETED,
    KC__PROGRESS, /* Everything up to the revision has come. */
} kc__delta_type;

typedef struct kc__delta {
    kc__delta_type type;
    uint32_t origin;   /* Which reflector. */
    kc_object *object; /* A reference, or NULL. */
    uint64_t revision; /* Up to which everything has come with this; 0: not said. */
} kc__delta;

typedef KC_VEC(kc__delta) kc__deltas;
/* Drops the references too. */
void kc__deltas_clear(kc__deltas *deltas);
void kc__deltas_done(kc__deltas *deltas);

typedef struct kc__fifo kc__fifo;

enum { KC__FIFO_ROOM = 4096 };

kc__fifo *kc__fifo_new(const kc_clock *clock);
/* Nobody uses it any more. NULL is allowed; returns NULL. */
kc__fifo *kc__fifo_free(kc__fifo *fifo);

/* Appends them in order and takes their references. Blocks while there is no room; false, and they
 * are dropped, when it is closed. */
bool kc__fifo_push(kc__fifo *fifo, const kc__delta *deltas, size_t n);
/* Everything there is, into `ret`, which is empty; blocks until there is something, somebody
 * kicks it or the deadline passes (and then `ret` may stay empty). False when it is closed. */
bool kc__fifo_take(kc__fifo *fifo, int64_t deadline, kc__deltas *ret);
/* Ends the wait of who takes. */
void kc__fifo_kick(kc__fifo *fifo);
void kc__fifo_close(kc__fifo *fifo);
/* The keys ("namespace/name") of objects that wait, each in `ret` with some value; text in the
 * arena. */
void kc__fifo_keys(kc__fifo *fifo, kc_arena *arena, kc_map *ret);

#endif
