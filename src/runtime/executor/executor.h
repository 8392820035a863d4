/* SPDX-License-Identifier: Apache-2.0 */
/*
 * executor.h: a small thread pool that runs many serial tasks, each in steps, one step at a time.
 *
 *     kc__executor *pool = kc__executor_new(&(kc__executor_opts){.clock = clock});
 *     kc__serial *serial = kc__serial_new(pool, step, user);
 *     kc__serial_wake(serial);                      from any thread: step(user) runs soon
 *     kc__serial_free(serial);
 *     kc__executor_free(pool);
 *
 * A cache has one serial task per kind: it reads the events of the kind's watches, applies them to
 * the cache store and calls the event handlers, in order. Hundreds of kinds share the pool's two to
 * four threads.
 *
 * A step must not wait for another serial task of the same pool: if all threads wait, that task
 * never runs. Where this cannot be avoided (an event handler that reads another kind from the cache
 * and waits for its first list), the wait is enclosed in kc__executor_block_begin and _end, and the
 * pool runs one more thread meanwhile.
 */
#ifndef KC_RUNTIME_EXECUTOR_H
#define KC_RUNTIME_EXECUTOR_H

#include "kc/thread.h"

typedef struct kc__executor kc__executor;
typedef struct kc__serial kc__serial;

typedef struct kc__executor_opts {
    const kc_clock *clock; /* Must outlive the executor. */
    size_t threads;        /* Defaults to the number of processors, but at least 2 and at most 4. */
} kc__executor_opts;

/* Starts no thread: threads start when there is work. */
kc__executor *kc__executor_new(const kc__executor_opts *opts);
/* Ends its threads; its serial tasks must have been freed. NULL is allowed; returns NULL. */
kc__executor *kc__executor_free(kc__executor *executor);
/* Current number of threads, for tests. */
size_t kc__executor_threads(kc__executor *executor);

/* Runs one step. Returns when to run the next one if nothing wakes the task before, on the
 * executor's clock: KC_FOREVER for never; a past time for at once, after other tasks that are
 * ready. */
typedef int64_t kc__serial_step(void *user);

/* The task does not run before it is woken. */
kc__serial *kc__serial_new(kc__executor *executor, kc__serial_step *step, void *user);
/* Schedules a step; a wake during a step leads to one more. Any thread; does not block. */
void kc__serial_wake(kc__serial *serial);
/* When it returns, the step is not running and will not run again. Blocks while a step runs; must
 * not be called from within it. NULL is allowed; returns NULL. */
kc__serial *kc__serial_free(kc__serial *serial);

/* Enclose a wait, on any thread. On a thread of an executor, another thread may run in its
 * place. */
void kc__executor_block_begin(void);
void kc__executor_block_end(void);

#endif
