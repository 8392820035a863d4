/* SPDX-License-Identifier: Apache-2.0 */
/*
 * correlator.h: decides whether an Event is created, patched into one that was sent, or dropped.
 *
 * core/v1 (client-go's EventCorrelator): Events that differ only in their message are aggregated
 * from the tenth on; repeated ones are counted; per source and object a burst of 25 is sent, then
 * one every five minutes.
 *
 * events.k8s.io/v1: the first Event is sent, the second turns it into a series, further ones are
 * only counted; a series is written again every half hour, and when nothing came for six minutes.
 *
 * Pure: times come with the notes. Not thread-safe.
 */
#ifndef KC_RUNTIME_EVENTS_CORRELATOR_H
#define KC_RUNTIME_EVENTS_CORRELATOR_H

#include "runtime/events/event.h"
#include "runtime/events/lru.h"

typedef enum kc__correlator_decision {
    KC__CORRELATOR_SKIP,
    KC__CORRELATOR_CREATE,
    KC__CORRELATOR_PATCH, /* Patch the Event with the note's name; create it if it no longer exists.
                           */
} kc__correlator_decision;

typedef struct kc__correlator {
    kc__lru similar;    /* By everything but message and field path: the messages seen. */
    kc__lru sent;       /* By everything: name, count and first time of the Event that was sent. */
    kc__lru rate_limit; /* By source, object and type: tokens left. */
} kc__correlator;

void kc__correlator_init(kc__correlator *c);
void kc__correlator_done(kc__correlator *c);
/* Decides, and sets the note's name, first time, count and message. */
kc__correlator_decision kc__correlator_decide(kc__correlator *c, kc__recorder_note *note);

/* ---- series ---- */

typedef struct kc__correlator_series {
    kc_map notes; /* By key; of kc__series_entry. */
} kc__correlator_series;

void kc__correlator_series_done(kc__correlator_series *s);
/* The note to send: this one, or the one of its series; NULL: none. Takes ownership of the note.
 * The result is valid until the next call. */
kc__recorder_note *kc__correlator_series_observe(kc__correlator_series *s, kc__recorder_note *note,
                                                 bool *ret_is_series);

/* Calls `send` for each series that is due at this time: all of them if `refresh`, and in any case
 * those that have ended. Series that have ended, and single Events of that age, are dropped. */
void kc__correlator_series_sweep(kc__correlator_series *s, kc_time now, bool refresh,
                                 void (*send)(const kc__recorder_note *note, void *user),
                                 void *user);

#endif
