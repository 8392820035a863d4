/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pending.h: pods that wait for a node, and which of them is next.
 *
 *     active       to be tried now: the highest priority first, then the oldest
 *     backing off  tried not long ago: after 1 s, 2 s, 4 s, 8 s, then always 10 s
 *     stuck        no node would do: until something changes that may help, or five minutes pass
 *     gated        has scheduling gates: until they are gone
 *
 *         add ──▶ active ──pop──▶ (tried) ──stick──▶ stuck ──move──▶ backing off ──▶ active
 *                                    └─────back_off───────────────────────┘
 *
 * A place is in one of them, or in none. Time is passed in. One thread uses it.
 */
#ifndef KC_SCHEDULER_PENDING_H
#define KC_SCHEDULER_PENDING_H

#include "kc/clock.h"
#include "scheduler/cluster.h"

typedef struct kc__pending {
    kc_heap active, backing_off;
    kc_list stuck; /* The longest there first. */
    size_t n_stuck, n_gated;
    size_t stuck_by[32]; /* How many of them each plugin has refused. */
    uint64_t sequence;
} kc__pending;

void kc__pending_init(kc__pending *q);
void kc__pending_done(kc__pending *q);

/* A pod that is new, or that has changed so that it is worth another try: at once. */
void kc__pending_add(kc__pending *q, kc__place *place, int64_t now);
/* The next one, in none of them now and one attempt more; NULL: none at this time. */
kc__place *kc__pending_pop(kc__pending *q, int64_t now);
/* After a try. */
void kc__pending_stick(kc__pending *q, kc__place *place, uint32_t refused_by, int64_t now);
void kc__pending_back_off(kc__pending *q, kc__place *place, int64_t now);
/* One that is stuck is worth another try, when it has backed off. */
void kc__pending_move(kc__pending *q, kc__place *place, int64_t now);
/* Moves those that have been stuck for too long. */
void kc__pending_flush(kc__pending *q, int64_t now);
void kc__pending_remove(kc__pending *q, kc__place *place);

/* Whether any that is stuck was refused by one of these plugins. */
bool kc__pending_stuck_by(const kc__pending *q, uint32_t plugins);
/* When there will be something to do; KC_FOREVER: not before somebody adds or moves one. */
int64_t kc__pending_next(const kc__pending *q);

#endif
