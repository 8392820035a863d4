/* SPDX-License-Identifier: Apache-2.0 */
/* Thread pools: threads start with work and end when idle. */
#include "kc/thread_pool.h"
#include "testing.h"

#include "kc/sim.h"

typedef struct counted {
    kc_job job;
    _Atomic int *runs;
    kc_latch *wait; /* NULL: returns at once. */
    int *local;     /* Expected. */
} counted;

static void run_counted(kc_job *job, void *local)
{
    counted *c = kc_container_of(job, counted, job);
    if (c->local)
        assert_ptr_equal(local, c->local);
    if (c->wait)
        kc_latch_wait(c->wait);
    atomic_fetch_add(c->runs, 1);
}

static void threads_start_with_jobs_up_to_the_limit_and_end_when_idle(void **state)
{
    (void)state;
    kc_auto(kc_sim) *sim = kc_sim_new(3, 0);
    kc_sim_enter(sim);
    kc_thread_pool *pool = kc_thread_pool_new(&(kc_thread_pool_opts){
        .name = "test", .threads = 3, .idle = 5 * KC_SECOND, .clock = kc_sim_clock(sim)});
    _Atomic int runs = 0;
    kc_latch open;
    counted jobs[10];
    kc_latch_init(&open);
    for (int round = 1; round <= 2; round++) {
        assert_int_equal(kc_thread_pool_threads(pool), 0);
        kc_latch_add(&open, 1);
        for (int i = 0; i < 10; i++) {
            jobs[i] = (counted){.job.run = run_counted, .runs = &runs, .wait = &open};
            assert_true(kc_thread_pool_add(pool, &jobs[i].job));
            assert_int_equal(kc_thread_pool_threads(pool), KC_MIN(i + 1, 3));
        }
        kc_sim_settle(sim);
        kc_latch_count_down(&open);
        kc_sim_run_for(sim, KC_SECOND);
        assert_int_equal(atomic_load(&runs), round * 10);
        assert_int_equal(kc_thread_pool_threads(pool), 3);
        kc_sim_run_for(sim, 5 * KC_SECOND);
    }
    assert_int_equal(kc_thread_pool_threads(pool), 0);
    kc_thread_pool_stop(pool, NULL);
    kc_latch_done(&open);
    kc_sim_leave(sim);
}

static int order[4], n_order;

typedef struct numbered {
    kc_job job;
    int number;
} numbered;

static void note_order(kc_job *job, void *local)
{
    (void)local;
    order[n_order++] = kc_container_of(job, numbered, job)->number;
}

static void urgent_jobs_run_before_others_in_their_order(void **state)
{
    (void)state;
    kc_thread_pool *pool = kc_thread_pool_new(&(kc_thread_pool_opts){.name = "test", .threads = 1});
    _Atomic int runs = 0;
    kc_latch open;
    kc_latch_init(&open);
    kc_latch_add(&open, 1);
    counted first = {.job.run = run_counted, .runs = &runs, .wait = &open};
    kc_thread_pool_add(pool, &first.job);
    numbered jobs[4];
    for (int i = 0; i < 4; i++) {
        jobs[i] = (numbered){.job = {.run = note_order, .urgent = i >= 2}, .number = i};
        kc_thread_pool_add(pool, &jobs[i].job);
    }
    kc_latch_count_down(&open);
    kc_thread_pool_stop(pool, NULL);
    assert_int_equal(n_order, 4);
    const int expected[] = {2, 3, 0, 1};
    assert_memory_equal(order, expected, sizeof(expected));
    kc_latch_done(&open);
}

static _Atomic int dropped;

static void note_drop(kc_job *job)
{
    (void)job;
    atomic_fetch_add(&dropped, 1);
}

static void around_a_thread(kc_thread_pool_work *work, void *arg, void *user)
{
    work(arg, user);
}

static void too_many_jobs_are_refused_and_waiting_ones_can_be_dropped(void **state)
{
    (void)state;
    int local = 0;
    kc_thread_pool *pool = kc_thread_pool_new(&(kc_thread_pool_opts){
        .name = "test", .threads = 1, .max_waiting = 2, .around = around_a_thread, .user = &local});
    _Atomic int runs = 0;
    kc_latch open;
    kc_latch_init(&open);
    kc_latch_add(&open, 1);
    counted jobs[4];
    int taken = 0;
    for (int i = 0; i < 4; i++) {
        jobs[i] = (counted){.job.run = run_counted, .runs = &runs, .wait = &open, .local = &local};
        taken += kc_thread_pool_add(pool, &jobs[i].job);
    }
    assert_in_range(taken, 2, 3); /* The first may have begun by then. */
    kc_latch_count_down(&open);
    kc_thread_pool_stop(pool, note_drop);
    assert_int_equal(atomic_load(&runs) + atomic_load(&dropped), taken);
    kc_latch_done(&open);
}

TESTS(threads_start_with_jobs_up_to_the_limit_and_end_when_idle,
      urgent_jobs_run_before_others_in_their_order,
      too_many_jobs_are_refused_and_waiting_ones_can_be_dropped)
