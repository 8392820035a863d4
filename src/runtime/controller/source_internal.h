/* SPDX-License-Identifier: Apache-2.0 */
/* source_internal.h: sources as a controller uses them. Missing (NULL) functions are allowed. */
#ifndef KC_RUNTIME_SOURCE_INTERNAL_H
#define KC_RUNTIME_SOURCE_INTERNAL_H

#include "kc/controller.h"

int kc__source_start(kc_source *source, kc_queue *queue, kc_error *err);
/* False: not synced in time (or cancelled); `err` may hold the reason. */
bool kc__source_wait_synced(kc_source *source, int64_t deadline, kc_cancel *cancel, kc_error *err);
void kc__source_stop(kc_source *source);

/* A source of the changes of a kind's objects (handler.c). Takes ownership of the watch's
 * predicate; `global` is evaluated before it, and must outlive the source, as must the cache. */
kc_source *kc__source_watch(kc_cache *cache, const kc_watch_spec *watch,
                            const kc_predicate *global);

#endif
