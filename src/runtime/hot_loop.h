/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_loop.h: names the object that is reconciled over and over, and what makes it so.
 *
 * The queue counts how often each key comes (kc__queue_count_rates); only for those that come more
 * than half as often as is too often, causes are counted here.
 */
#ifndef KC_RUNTIME_HOT_LOOP_H
#define KC_RUNTIME_HOT_LOOP_H

#include "kc/log.h"
#include "kc/queue.h"
#include "kc/thread.h"

typedef struct kc__loops kc__loops;

/* A key that comes more than `limit` times a minute loops; `said` (may be NULL) counts reports. */
kc__loops *kc__loops_new(int limit, kc_counter *said);
kc__loops *kc__loops_free(kc__loops *loops);

/* Takes note of an item that begins; logs, at most once a minute for each key. */
void kc__loops_note(kc__loops *loops, const kc_queue_item *item, int64_t now, kc_log *log);
/* Appends a JSON array of the keys that loop now. */
void kc__loops_write(kc__loops *loops, int64_t now, kc_buf *out);

#endif
