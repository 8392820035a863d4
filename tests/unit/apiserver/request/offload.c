/* SPDX-License-Identifier: Apache-2.0 */
/* offload.c: jobs on worker threads: bounds, fairness, deadlines. */
#include "testing.h"

#include "apiserver/request/offload.h"
#include "kc/thread.h"

/* A pool, a loop, and jobs that wait until they are let go. */
typedef struct bench {
    kc__loop *loop;
    kc__offload *pool;
    kc_metrics *metrics;
    kc_mutex mutex; /* Guards what follows. */
    kc_cond changed;
    bool open;
    char order[64]; /* The names of the jobs, as they ran. */
    size_t running, done, expired, over;
} bench;

typedef struct job {
    kc__offload_job job;
    bench *b;
    char name;
    bool spins; /* Until its work is over, whatever the gate. */
} job;

static void count(bench *b, size_t *what, int by)
{
    kc_locked (&b->mutex) {
        *what += (size_t)by;
        kc_cond_broadcast(&b->changed);
    }
}

static void run(kc__offload_job *offloaded)
{
    job *j = kc_container_of(offloaded, job, job);
    bench *b = j->b;
    count(b, &b->running, 1);
    while (j->spins && !kc__work_is_over())
        ;
    kc_locked (&b->mutex) {
        while (!b->open && !j->spins)
            kc_cond_wait(&b->changed, &b->mutex);
        b->order[strlen(b->order)] = j->name;
    }
    count(b, &b->running, -1);
}

static void done(kc__offload_job *offloaded)
{
    job *j = kc_container_of(offloaded, job, job);
    bench *b = j->b;
    kc_locked (&b->mutex) {
        b->done++;
        b->expired += offloaded->expired;
        b->over += offloaded->over;
        kc_cond_broadcast(&b->changed);
    }
    free(j);
}

static void set_up(bench *b, kc__offload_opts opts)
{
    kc_rand rand;
    kc_rand_seed(&rand, 1);
    *b = (bench){0};
    kc_mutex_init(&b->mutex);
    kc_cond_init(&b->changed);
    b->loop = kc__loop_start("test", NULL, NULL);
    b->metrics = kc_metrics_new();
    opts.rand = &rand;
    opts.metrics = b->metrics;
    b->pool = kc__offload_new(&opts, NULL);
    assert_non_null(b->pool);
}

static void bench_done(bench *b)
{
    kc__offload_stop(b->pool);
    kc__loop_stop(b->loop);
    kc__offload_free(b->pool);
    kc_metrics_free(b->metrics);
    kc_cond_done(&b->changed);
    kc_mutex_done(&b->mutex);
}

/* What jobs of a user are to do, submitted on the loop. */
typedef struct order {
    kc__loop_task task;
    bench *b;
    const char *user;
    char name;
    bool spins;
    int64_t wait;
    bool taken;
    kc_latch latch;
} order;

static void submit_on_loop(kc__loop_task *task)
{
    order *o = kc_container_of(task, order, task);
    job *j = kc_new(job);
    j->b = o->b;
    j->name = o->name;
    j->spins = o->spins;
    j->job = (kc__offload_job){.loop = o->b->loop,
                               .user = kc_cstr(o->user),
                               .deadline = kc_clock_deadline(kc_clock_real(), o->wait),
                               .run = run,
                               .done = done};
    o->taken = kc__offload_submit(o->b->pool, &j->job);
    if (!o->taken)
        free(j);
    kc_latch_count_down(&o->latch);
}

static bool submit(order o)
{
    o.task.run = submit_on_loop;
    o.wait = o.wait ? o.wait : KC_MINUTE;
    kc_latch_init(&o.latch);
    kc_latch_add(&o.latch, 1);
    kc__loop_post(o.b->loop, &o.task);
    kc_latch_wait(&o.latch);
    kc_latch_done(&o.latch);
    return o.taken;
}

static void wait_until(bench *b, const size_t *what, size_t n)
{
    kc_locked (&b->mutex)
        while (*what < n)
            kc_cond_wait(&b->changed, &b->mutex);
}

static void open_gate(bench *b)
{
    kc_locked (&b->mutex) {
        b->open = true;
        kc_cond_broadcast(&b->changed);
    }
}

static void jobs_beyond_the_bounds_are_refused(void **state)
{
    (void)state;
    kc_scoped(bench) b;
    set_up(&b, (kc__offload_opts){.threads = 1, .max_queued = 3, .max_queued_per_user = 2});
    assert_true(submit((order){.b = &b, .user = "a", .name = '1'}));
    wait_until(&b, &b.running, 1);
    assert_true(submit((order){.b = &b, .user = "a", .name = '2'}));
    assert_true(submit((order){.b = &b, .user = "a", .name = '3'}));
    assert_false(submit((order){.b = &b, .user = "a", .name = '4'}));
    assert_true(submit((order){.b = &b, .user = "b", .name = '5'}));
    assert_false(submit((order){.b = &b, .user = "c", .name = '6'}));
    open_gate(&b);
    wait_until(&b, &b.done, 4);
    assert_int_equal(b.expired, 0);
}

static void users_take_turns(void **state)
{
    (void)state;
    kc_scoped(bench) b;
    set_up(&b, (kc__offload_opts){.threads = 1});
    assert_true(submit((order){.b = &b, .user = "a", .name = 'a'}));
    wait_until(&b, &b.running, 1);
    for (int i = 0; i < 3; i++)
        assert_true(submit((order){.b = &b, .user = "a", .name = 'a'}));
    for (int i = 0; i < 2; i++)
        assert_true(submit((order){.b = &b, .user = "b", .name = 'b'}));
    open_gate(&b);
    wait_until(&b, &b.done, 6);
    assert_string_equal(b.order, "aababa");
}

static void one_user_does_not_get_all_workers(void **state)
{
    (void)state;
    kc_scoped(bench) b;
    set_up(&b, (kc__offload_opts){.threads = 2});
    assert_true(submit((order){.b = &b, .user = "a", .name = '1'}));
    assert_true(submit((order){.b = &b, .user = "a", .name = '2'}));
    wait_until(&b, &b.running, 1);
    assert_true(submit((order){.b = &b, .user = "b", .name = '3'}));
    wait_until(&b, &b.running, 2);
    assert_int_equal(b.running, 2); /* One of each. */
    open_gate(&b);
    wait_until(&b, &b.done, 3);
}

static void queued_job_is_returned_at_its_deadline(void **state)
{
    (void)state;
    kc_scoped(bench) b;
    set_up(&b, (kc__offload_opts){.threads = 1});
    assert_true(submit((order){.b = &b, .user = "a", .name = '1'}));
    wait_until(&b, &b.running, 1);
    assert_true(submit((order){.b = &b, .user = "a", .name = '2', .wait = 10 * KC_MILLISECOND}));
    wait_until(&b, &b.done, 1);
    assert_int_equal(b.expired, 1);
    open_gate(&b);
    wait_until(&b, &b.done, 2);
    assert_string_equal(b.order, "1");
}

static void running_job_is_cancelled_at_its_deadline(void **state)
{
    (void)state;
    kc_scoped(bench) b;
    set_up(&b, (kc__offload_opts){.threads = 1, .cpu_limit = KC_MINUTE});
    assert_true(
        submit((order){.b = &b, .user = "a", .name = '1', .spins = true, .wait = KC_SECOND / 2}));
    wait_until(&b, &b.done, 1);
    assert_int_equal(b.over, 1);
    assert_int_equal(b.expired, 0);
}

static void job_beyond_its_cpu_limit_is_cancelled(void **state)
{
    (void)state;
    kc_scoped(bench) b;
    set_up(&b, (kc__offload_opts){.threads = 1, .cpu_limit = 20 * KC_MILLISECOND});
    assert_true(submit((order){.b = &b, .user = "a", .name = '1', .spins = true}));
    wait_until(&b, &b.done, 1);
    assert_int_equal(b.over, 1);
}

TESTS(jobs_beyond_the_bounds_are_refused, users_take_turns, one_user_does_not_get_all_workers,
      queued_job_is_returned_at_its_deadline, running_job_is_cancelled_at_its_deadline,
      job_beyond_its_cpu_limit_is_cancelled)
