/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.h: a limit on the CPU time of a task, and its cancellation from outside.
 *
 *     kc__work work;
 *     kc__work_begin(&work, 2 * KC_SECOND);       on the thread that runs the task
 *     … for each of many items: if (kc__work_is_over()) break; …
 *     bool over = kc__work_end(&work);
 *
 *     kc__work_cancel(&work);                     from any thread
 *
 * The checking loops do not know which task they belong to, so the current work is a thread-local
 * variable: otherwise it would be a parameter of every function that walks a client's data. A loop
 * that ends early leaves a result that is incomplete but valid in memory; the caller of
 * kc__work_begin discards it. Without current work kc__work_is_over is always false.
 */
#ifndef KC_BASE_WORK_H
#define KC_BASE_WORK_H

#include "kc/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct kc__work {
    _Atomic bool over;
    int64_t cpu_end; /* In CPU time of the thread, in nanoseconds; 0: no limit. */
    unsigned checks; /* Every 256th reads the clock. */
    struct kc__work *outer;
} kc__work;

/* Initialises it for kc__work_begin and kc__work_cancel. */
void kc__work_init(kc__work *work);
/* Makes it the current work of the thread, until kc__work_end. A cpu_limit of 0 means none. */
void kc__work_begin(kc__work *work, int64_t cpu_limit);
/* True when it was cancelled or exceeded its time. */
bool kc__work_end(kc__work *work);
/* Any thread, also before kc__work_begin. */
void kc__work_cancel(kc__work *work);
/* True if the current work of this thread must end. Costs a few instructions: for loops over items
 * of a client's data. */
bool kc__work_is_over(void);
/* The same, but always reads the clock: between larger steps. */
bool kc__work_is_over_now(void);
/* Sets the error of work that is over, for loops that can fail: KC_TIMEOUT. */
int kc__work_fail(kc_error *err);

#endif
