/* SPDX-License-Identifier: Apache-2.0 */
/*
 * correlate.h: what becomes of an event: sent, added to one that was sent, or kept back.
 *
 * core/v1 (client-go's EventCorrelator): events that differ only in their message are combined
 * after the tenth; those that repeat are counted; of what one source says of one object, 25 are
 * sent at once and one more every five minutes.
 *
 * events.k8s.io/v1: the first is sent, the second makes it a series, further ones are only counted;
 * series are written again every half hour, and when nothing came for six minutes.
 *
 * Pure: times come with the notes. Not for several threads at a time.
 */
#ifndef KC_RUNTIME_CORRELATE_H
#define KC_RUNTIME_CORRELATE_H

#include "runtime/event_note.h"
#include "runtime/lru.h"

typedef enum kc__event_fate {
    KC__EVENT_SKIP,
    KC__EVENT_CREATE,
    KC__EVENT_PATCH, /* Of the event with the note's name; to be created if that is gone. */
} kc__event_fate;

typedef struct kc__correlator {
    kc__lru similar; /* By all but message and field path: the messages seen. */
    kc__lru sent;    /* By everything: name, count and first time of what was sent. */
    kc__lru talk;    /* By source, object and type: tokens left. */
} kc__correlator;

void kc__correlator_init(kc__correlator *c);
void kc__correlator_done(kc__correlator *c);
/* Decides, and sets the note's name, first time, count and message. */
kc__event_fate kc__correlate(kc__correlator *c, kc__event_note *note);

/* ---- series ---- */

typedef struct kc__series {
    kc_map notes; /* By key; of kc__series_entry. */
} kc__series;

void kc__series_done(kc__series *s);
/* What to send: the note itself, or the one of its series; NULL: nothing. Takes the note. What is
 * given lives until the next call. */
kc__event_note *kc__series_observe(kc__series *s, kc__event_note *note, bool *ret_is_series);

/* Calls `send` for each series that is to be written at this time: all of them if `refresh`, those
 * that have ended in any case. Ended ones, and single events as old, are forgotten. */
void kc__series_sweep(kc__series *s, kc_time now, bool refresh,
                      void (*send)(const kc__event_note *note, void *user), void *user);

#endif
