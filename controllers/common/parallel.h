/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallel.h: the same thing done several times at once: calls to a server, mostly, that would
 * otherwise wait for each other.
 */
#ifndef KC_CONTROLLERS_PARALLEL_H
#define KC_CONTROLLERS_PARALLEL_H

#include "kc/error.h"

/* The i-th of them; several run at a time, on threads of their own. */
typedef int kc__task_fn(size_t i, void *user, kc_error *err);

/*
 * Runs `task` for 0 to n - 1 and returns when all have ended: how many of them succeeded. The error
 * is that of the first in order that failed.
 */
size_t kc__parallel(size_t n, kc__task_fn *task, void *user, kc_error *err);

/*
 * The same in batches of 1, 2, 4, … for as long as all of a batch succeed: so that what is refused
 * once is not tried hundreds of times.
 */
size_t kc__slow_start(size_t n, kc__task_fn *task, void *user, kc_error *err);

#endif
