/* SPDX-License-Identifier: Apache-2.0 */
/* Many serial tasks on few threads: order within a task, timers, blocking steps, the end. */
#include "runtime/executor/executor.h"
#include "testing.h"

#include "kc/sim.h"

enum { TASKS = 40, WRITERS = 4, EACH = 2000 };

/* A kind as the cache has it: changes are queued by any thread and applied in steps. */
typedef struct kind_task {
    kc_mutex mutex; /* Guards `queued`. */
    KC_VEC(int) queued;
    kc__serial *serial;
    int applied[WRITERS]; /* The last number of each writer; only in steps. */
    size_t n_applied;
    _Atomic int in_step;
    kc_latch *all;
} kind_task;

static int64_t apply_queued(void *user)
{
    kind_task *t = user;
    assert_int_equal(atomic_fetch_add(&t->in_step, 1), 0); /* One step at a time. */
    for (;;) {
        int next = -1;
        kc_locked (&t->mutex)
            if (t->queued.n) {
                next = t->queued.items[0];
                kc_vec_remove(&t->queued, 0);
            }
        if (next < 0)
            break;
        assert_int_equal(next % EACH, t->applied[next / EACH]++);
        if (++t->n_applied == (size_t)WRITERS * EACH / TASKS)
            kc_latch_count_down(t->all);
    }
    atomic_fetch_sub(&t->in_step, 1);
    return KC_FOREVER;
}

typedef struct writer {
    kind_task *tasks;
    int number;
} writer;

/* Writes its numbers in order, to each task its own sequence. */
static void write_numbers(void *user)
{
    const writer *w = user;
    for (int i = 0; i < EACH / TASKS; i++)
        for (int t = 0; t < TASKS; t++) {
            kind_task *task = &w->tasks[t];
            kc_locked (&task->mutex)
                kc_vec_push(&task->queued, w->number * EACH + i);
            kc__serial_wake(task->serial);
        }
}

static void steps_of_a_task_run_in_order_on_any_thread(void **state)
{
    (void)state;
    kc__executor *executor =
        kc__executor_new(&(kc__executor_opts){.clock = kc_clock_real(), .threads = 4});
    kind_task tasks[TASKS] = {0};
    kc_latch all;
    kc_latch_init(&all);
    kc_latch_add(&all, TASKS);
    for (int t = 0; t < TASKS; t++) {
        kc_mutex_init(&tasks[t].mutex);
        tasks[t].all = &all;
        tasks[t].serial = kc__serial_new(executor, apply_queued, &tasks[t]);
    }
    writer writers[WRITERS];
    kc_thread *threads[WRITERS];
    for (int w = 0; w < WRITERS; w++) {
        writers[w] = (writer){tasks, w};
        threads[w] = kc_thread_start("writer", write_numbers, &writers[w], NULL);
    }
    for (int w = 0; w < WRITERS; w++)
        kc_thread_join(threads[w]);
    kc_latch_wait(&all);
    assert_true(kc__executor_threads(executor) <= 4);
    for (int t = 0; t < TASKS; t++) {
        kc__serial_free(tasks[t].serial);
        assert_int_equal(tasks[t].n_applied, WRITERS * EACH / TASKS);
        kc_vec_done(&tasks[t].queued);
        kc_mutex_done(&tasks[t].mutex);
    }
    kc__executor_free(executor);
    kc_latch_done(&all);
}

/* ---- timers ---- */

typedef struct ticker {
    const kc_clock *clock;
    int64_t period;
    _Atomic int ticks;
} ticker;

static int64_t tick(void *user)
{
    ticker *t = user;
    atomic_fetch_add(&t->ticks, 1);
    return kc_clock_deadline(t->clock, t->period);
}

static void step_that_returns_a_time_runs_again_then(void **state)
{
    (void)state;
    kc_auto(kc_sim) *sim = kc_sim_new(1, 0);
    kc_sim_enter(sim);
    const kc_clock *clock = kc_sim_clock(sim);
    kc__executor *executor = kc__executor_new(&(kc__executor_opts){.clock = clock});
    ticker fast = {.clock = clock, .period = KC_SECOND};
    ticker slow = {.clock = clock, .period = 4 * KC_SECOND};
    kc__serial *a = kc__serial_new(executor, tick, &fast);
    kc__serial *b = kc__serial_new(executor, tick, &slow);
    kc__serial_wake(b);
    kc__serial_wake(a);
    kc_sim_run_for(sim, 10 * KC_SECOND + KC_MILLISECOND);
    assert_int_equal(atomic_load(&fast.ticks), 11);
    assert_int_equal(atomic_load(&slow.ticks), 3);
    kc__serial_free(a);
    kc__serial_free(b);
    kc__executor_free(executor);
    kc_sim_leave(sim);
}

/* ---- waits inside a step ---- */

typedef struct blocker {
    kc_latch *latch;
    bool counts_down;
} blocker;

static int64_t wait_or_release(void *user)
{
    const blocker *b = user;
    if (b->counts_down) {
        kc_latch_count_down(b->latch);
        return KC_FOREVER;
    }
    kc__executor_block_begin();
    kc_latch_wait(b->latch);
    kc__executor_block_end();
    return KC_FOREVER;
}

static void blocking_steps_leave_a_thread_for_other_tasks(void **state)
{
    (void)state;
    enum { WAITING = 5 };
    kc__executor *executor =
        kc__executor_new(&(kc__executor_opts){.clock = kc_clock_real(), .threads = 1});
    kc_latch latch;
    kc_latch_init(&latch);
    kc_latch_add(&latch, 1);
    blocker waits = {.latch = &latch}, releases = {.latch = &latch, .counts_down = true};
    kc__serial *serials[WAITING + 1];
    for (int i = 0; i < WAITING; i++) {
        serials[i] = kc__serial_new(executor, wait_or_release, &waits);
        kc__serial_wake(serials[i]);
    }
    serials[WAITING] = kc__serial_new(executor, wait_or_release, &releases);
    kc__serial_wake(serials[WAITING]);
    kc_latch_wait(&latch);
    for (int i = 0; i <= WAITING; i++)
        kc__serial_free(serials[i]);
    kc__executor_free(executor);
    kc_latch_done(&latch);
}

/* ---- the end ---- */

static void freed_task_does_not_run_and_unused_pool_has_no_threads(void **state)
{
    (void)state;
    kc__executor *executor = kc__executor_new(&(kc__executor_opts){.clock = kc_clock_real()});
    assert_int_equal(kc__executor_threads(executor), 0);
    ticker t = {.clock = kc_clock_real(), .period = KC_HOUR};
    kc__serial *serial = kc__serial_new(executor, tick, &t);
    kc__serial_free(serial);
    assert_int_equal(atomic_load(&t.ticks), 0);
    serial = kc__serial_new(executor, tick, &t);
    kc__serial_wake(serial);
    kc__serial_free(serial);
    assert_true(atomic_load(&t.ticks) <= 1);
    kc__executor_free(executor);
}

TESTS(steps_of_a_task_run_in_order_on_any_thread, step_that_returns_a_time_runs_again_then,
      blocking_steps_leave_a_thread_for_other_tasks,
      freed_task_does_not_run_and_unused_pool_has_no_threads)
