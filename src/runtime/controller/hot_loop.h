/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_loop.h: finds keys that are reconciled over and over, and the cause.
 *
 * The queue counts how often each key is taken (kc__queue_count_rates); causes are counted here,
 * and only for keys above half of the limit.
 */
#ifndef KC_RUNTIME_HOT_LOOP_H
#define KC_RUNTIME_HOT_LOOP_H

#include "kc/log.h"
#include "kc/queue.h"
#include "kc/thread.h"

typedef struct kc__hotloop_table kc__hotloop_table;

/* A key taken more than `limit` times a minute is in a hot loop; `logged_at` (may be NULL) counts
 * reports. */
kc__hotloop_table *kc__hotloop_table_new(int limit, kc_counter *logged_at);
kc__hotloop_table *kc__hotloop_table_free(kc__hotloop_table *loops);

/* Records an item whose processing starts; logs, at most once a minute per key. */
void kc__hotloop_table_note(kc__hotloop_table *loops, const kc_queue_item *item, int64_t now,
                            kc_log *log);
/* Appends a JSON array of the keys that are in a hot loop now. */
void kc__hotloop_table_write(kc__hotloop_table *loops, int64_t now, kc_buf *out);

#endif
