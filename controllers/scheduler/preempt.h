/* SPDX-License-Identifier: Apache-2.0 */
/* preempt.h: preemption: makes room for an unschedulable pod by deleting pods of lower priority. */
#ifndef KC_SCHEDULER_PREEMPT_H
#define KC_SCHEDULER_PREEMPT_H

#include "scheduler/cycle.h"

typedef KC_VEC(kc__sched_pod *) kc__sched_victims;

typedef struct kc__sched_preemption {
    kc__sched_node *host; /* NULL: preemption does not help or is not allowed. */
    kc__sched_victims victims;
    char *message;   /* Why not. The caller frees it. */
    bool not_useful; /* Preemption is allowed but helps on no node: clear the pod's nomination. */
} kc__sched_preemption;

void kc__sched_preemption_done(kc__sched_preemption *p);

/* `decision` is the result of the pod's failed attempt. `wall` replaces the start time of pods
 * without one. The cluster is unchanged afterwards. */
void kc__sched_preempt(kc__sched_cluster *cluster, kc__sched_pod *place,
                       const kc__sched_decision *decision, kc_rand *rand, int64_t now, int64_t wall,
                       kc__sched_preemption *ret);

#endif
