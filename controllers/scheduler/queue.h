/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h: the scheduling queue.
 *
 *     active         ready to try: highest priority first, then oldest
 *     backing off    tried recently: after 1 s, 2 s, 4 s, 8 s, then always 10 s
 *     unschedulable  no node fits: until an event may help, or for five minutes
 *     gated          has scheduling gates: until they are removed
 *
 *     add ─▶ active ─pop─▶ (attempt) ─stick─▶ unschedulable ─move─▶ backing off ─▶ active
 *                              └────────back_off───────────────────────┘
 *
 * A pod is in one of them, or in none. The caller passes the time. Used by one thread.
 */
#ifndef KC_CONTROLLERS_SCHEDULER_QUEUE_H
#define KC_CONTROLLERS_SCHEDULER_QUEUE_H

#include "kc/clock.h"
#include "scheduler/cluster.h"

typedef struct kc__sched_queue {
    kc_heap active, backing_off;
    kc_dlist stuck; /* In order of arrival. */
    size_t n_stuck, n_gated;
    size_t stuck_by[32]; /* Number of its pods that each plugin has refused. */
    uint64_t sequence;
} kc__sched_queue;

void kc__sched_queue_init(kc__sched_queue *q);
void kc__sched_queue_done(kc__sched_queue *q);

/* Adds a pod that is new or whose requirements have changed: to active. */
void kc__sched_queue_add(kc__sched_queue *q, kc__sched_pod *place, int64_t now);
/* Removes and returns the next pod and increments its attempts; NULL: none is ready. */
kc__sched_pod *kc__sched_queue_pop(kc__sched_queue *q, int64_t now);
/* After an attempt. */
void kc__sched_queue_add_unschedulable(kc__sched_queue *q, kc__sched_pod *place,
                                       uint32_t refused_by, int64_t now);
void kc__sched_queue_back_off(kc__sched_queue *q, kc__sched_pod *place, int64_t now);
/* Moves an unschedulable pod to backing off or active. */
void kc__sched_queue_move(kc__sched_queue *q, kc__sched_pod *place, int64_t now);
/* Moves pods that have been unschedulable for too long. */
void kc__sched_queue_flush(kc__sched_queue *q, int64_t now);
void kc__sched_queue_remove(kc__sched_queue *q, kc__sched_pod *place);

/* Whether one of these plugins has refused an unschedulable pod. */
bool kc__sched_queue_blocked_by(const kc__sched_queue *q, uint32_t plugins);
/* Time at which the next pod is ready; KC_FOREVER: not before an add or a move. */
int64_t kc__sched_queue_next(const kc__sched_queue *q);

#endif
