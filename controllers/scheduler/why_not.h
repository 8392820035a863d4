/* SPDX-License-Identifier: Apache-2.0 */
/*
 * why_not.h: why no node will do, in one sentence, in the words people know:
 *
 *     0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.
 */
#ifndef KC_SCHEDULER_WHY_NOT_H
#define KC_SCHEDULER_WHY_NOT_H

#include "kc/map.h"

/* How many nodes have which reason. Zeroed, it is ready. */
typedef struct kc__why_not {
    kc_map counts; /* By reason; the number. Keys are borrowed. */
} kc__why_not;

void kc__why_not_done(kc__why_not *w);
/* The text lives as long as it does. */
void kc__why_not_add(kc__why_not *w, const char *reason, size_t n_nodes);
/* The sentence; the caller's. */
char *kc__why_not_say(const kc__why_not *w, size_t n_nodes);

#endif
