/* SPDX-License-Identifier: Apache-2.0 */
/*
 * absent.h: a cache of owners that do not exist on the server: the last few hundred lookups. Of
 * many dependents of one absent owner only the first causes a request. Uids are unique forever, so
 * an absent owner stays absent. Thread-safe.
 */
#ifndef KC_CONTROLLERS_GC_ABSENT_H
#define KC_CONTROLLERS_GC_ABSENT_H

#include "gc/graph.h"

#include "kc/thread.h"

enum { KC__GC_ABSENT_MAX = 500 };

typedef struct kc__gc_absents {
    kc_mutex mutex; /* Guards the rest. Taken last. */
    kc_map by_text;
    kc_dlist recent; /* Least recently used first. */
} kc__gc_absents;

void kc__gc_absents_init(kc__gc_absents *absents);
void kc__gc_absents_done(kc__gc_absents *absents);
void kc__gc_absents_add(kc__gc_absents *absents, const kc__gc_identity *who);
bool kc__gc_absents_has(kc__gc_absents *absents, const kc__gc_identity *who);

#endif
