/* SPDX-License-Identifier: Apache-2.0 */
/* source_internal.h: sources as a controller uses them. All of it takes NULL functions. */
#ifndef KC_RUNTIME_SOURCE_INTERNAL_H
#define KC_RUNTIME_SOURCE_INTERNAL_H

#include "kc/controller.h"

int kc__source_start(kc_source *source, kc_queue *queue, kc_error *err);
/* False: not in time (or cancelled), and then `err` may say why. */
bool kc__source_wait_synced(kc_source *source, int64_t deadline, kc_cancel *cancel, kc_error *err);
void kc__source_stop(kc_source *source);

/* What happens to objects of a kind (handler.c). Takes the watch's predicate over; `global` is
 * asked before it, and lives as long as the source, as the cache does. */
kc_source *kc__source_watch(kc_cache *cache, const kc_watch_kind *watch,
                            const kc_predicate *global);

#endif
