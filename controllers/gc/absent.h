/* SPDX-License-Identifier: Apache-2.0 */
/*
 * absent.h: owners that the server was asked about and does not have: the last few hundred, so that
 * of many dependents of one only the first asks. Uids are never given twice, so what is absent
 * stays so. Any thread may use it.
 */
#ifndef KC_CONTROLLERS_GC_ABSENT_H
#define KC_CONTROLLERS_GC_ABSENT_H

#include "gc/graph.h"

#include "kc/thread.h"

enum { KC__GC_ABSENT_MAX = 500 };

typedef struct kc__gc_absents {
    kc_mutex mutex; /* Guards the rest. Taken last. */
    kc_map by_text;
    kc_list recent; /* The one asked for longest ago first. */
} kc__gc_absents;

void kc__gc_absents_init(kc__gc_absents *absents);
void kc__gc_absents_done(kc__gc_absents *absents);
void kc__gc_absents_add(kc__gc_absents *absents, const kc__gc_identity *who);
bool kc__gc_absents_has(kc__gc_absents *absents, const kc__gc_identity *who);

#endif
