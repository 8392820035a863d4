/* SPDX-License-Identifier: Apache-2.0 */
/* enqueue.h: the keys that one change adds, without duplicates. */
#ifndef KC_RUNTIME_ENQUEUE_H
#define KC_RUNTIME_ENQUEUE_H

#include "kc/arena.h"
#include "kc/controller.h"
#include "kc/map.h"

/* One per watch; used only in steps of the informer. */
struct kc_enqueuer {
    kc_queue *queue;
    kc_queue_add_opts opts; /* Of the current change. */
    kc_arena arena;
    KC_VEC(kc_key) keys; /* Keys of this change so far; their strings are in the arena. */
    kc_map seen;         /* The same keys, once there are many. */
};

/* Starts the next change. */
void kc__enqueuer_begin(kc_enqueuer *to, kc_queue *queue, const kc_queue_add_opts *opts);
void kc__enqueuer_done(kc_enqueuer *to);

#endif
