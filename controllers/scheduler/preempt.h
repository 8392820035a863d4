/* SPDX-License-Identifier: Apache-2.0 */
/* preempt.h: room for a pod that fits nowhere, at the cost of pods that matter less. */
#ifndef KC_SCHEDULER_PREEMPT_H
#define KC_SCHEDULER_PREEMPT_H

#include "scheduler/cycle.h"

typedef KC_VEC(kc__place *) kc__victims;

typedef struct kc__preemption {
    kc__host *host; /* NULL: it would not help, or it may not. */
    kc__victims victims;
    char *message;   /* Why not. The caller's. */
    bool not_useful; /* It may, and no room can be made anywhere: forget where it was nominated. */
} kc__preemption;

void kc__preemption_done(kc__preemption *p);

/* `decision` is what was found of the pod, which fits nowhere. `wall` stands for the start of pods
 * that have none. Nothing has changed afterwards. */
void kc__preempt(kc__cluster *cluster, kc__place *place, const kc__decision *decision,
                 kc_rand *rand, int64_t now, int64_t wall, kc__preemption *ret);

#endif
