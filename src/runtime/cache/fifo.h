/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fifo.h: deltas on their way from the reflectors of a kind to its cache store, in order of
 * arrival.
 *
 *     kc__fifo_push(fifo, &(kc__fifo_delta){KC__FIFO_ADDED, .object = object});       reflectors
 *     kc__fifo_take(fifo, &batch);                                          the informer
 *
 * Both sides run in steps of one serial task (executor.h), so the queue needs no lock, and it is
 * empty at the end of each step. A list is delivered as KC__FIFO_LIST_BEGIN, KC__FIFO_LISTED for
 * each object as it is read, and KC__FIFO_LIST_END, after which objects that were not listed are
 * deleted. An aborted list has no end; the next one starts with KC__FIFO_LIST_BEGIN.
 */
#ifndef KC_RUNTIME_FIFO_H
#define KC_RUNTIME_FIFO_H

#include "kc/object.h"
#include "kc/vec.h"

typedef enum kc__fifo_delta_type {
    KC__FIFO_LIST_BEGIN,
    KC__FIFO_LISTED,
    KC__FIFO_LIST_END, /* With the revision of the list. */
    KC__FIFO_ADDED,
    KC__FIFO_MODIFIED,
    KC__FIFO_DELETED,
    KC__FIFO_PROGRESS, /* Everything up to the revision has been delivered. */
} kc__fifo_delta_type;

typedef struct kc__fifo_delta {
    kc__fifo_delta_type type;
    uint32_t origin;   /* The reflector. */
    kc_object *object; /* A reference, or NULL. */
    uint64_t revision; /* Everything up to it has been delivered with this delta; 0: unknown. */
} kc__fifo_delta;

typedef KC_VEC(kc__fifo_delta) kc__fifo_deltas;
/* Also drops the references. */
void kc__fifo_deltas_clear(kc__fifo_deltas *deltas);
void kc__fifo_deltas_done(kc__fifo_deltas *deltas);

/* A zeroed struct is ready to use. */
typedef struct kc__fifo {
    kc__fifo_deltas waiting;
} kc__fifo;

void kc__fifo_done(kc__fifo *fifo);
/* Takes ownership of the delta's reference. */
void kc__fifo_push(kc__fifo *fifo, const kc__fifo_delta *delta);
/* Moves all deltas to `ret`, which must be empty. */
void kc__fifo_take(kc__fifo *fifo, kc__fifo_deltas *ret);

#endif
