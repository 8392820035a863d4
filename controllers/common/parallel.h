/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallel.h: runs independent tasks concurrently, mostly API requests that would otherwise wait
 * for each other.
 */
#ifndef KC_CONTROLLERS_PARALLEL_H
#define KC_CONTROLLERS_PARALLEL_H

#include "kc/error.h"

/* Runs the i-th task. Several calls run at a time, on different threads. */
typedef int kc__common_task_fn(size_t i, void *user, kc_error *err);

/*
 * Runs `task` for 0 to n - 1, waits for all, and returns the number of successes. The error is that
 * of the failed task with the lowest index.
 */
size_t kc__common_parallel(size_t n, kc__common_task_fn *task, void *user, kc_error *err);

/*
 * Runs the tasks in batches of 1, 2, 4, … and stops after the first batch with a failure, so that a
 * request that is refused once is not repeated hundreds of times.
 */
size_t kc__common_slow_start(size_t n, kc__common_task_fn *task, void *user, kc_error *err);

#endif
