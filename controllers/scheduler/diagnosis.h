/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnosis.h: the message for an unschedulable pod, with kube-scheduler's text:
 *
 *     0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.
 */
#ifndef KC_CONTROLLERS_SCHEDULER_DIAGNOSIS_H
#define KC_CONTROLLERS_SCHEDULER_DIAGNOSIS_H

#include "kc/map.h"

/* Number of nodes by reason. Zero-initialised is ready to use. */
typedef struct kc__sched_diagnosis {
    kc_map counts; /* Reason to number. Keys are borrowed. */
} kc__sched_diagnosis;

void kc__sched_diagnosis_done(kc__sched_diagnosis *w);
/* The text must stay valid as long as the reasons. */
void kc__sched_diagnosis_add(kc__sched_diagnosis *w, const char *reason, size_t n_nodes);
/* The message; the caller frees it. */
char *kc__sched_diagnosis_text(const kc__sched_diagnosis *w, size_t n_nodes);

#endif
