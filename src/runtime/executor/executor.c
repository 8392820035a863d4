/* SPDX-License-Identifier: Apache-2.0 */
/*
 * executor.c: the thread pool of executor.h.
 *
 *     wake ──▶ ready (a list) ──▶ a thread runs one step ──┬─▶ woken meanwhile: ready again
 *                 ▲                                        ├─▶ wants a later step: timers (a heap)
 *                 └──────────── its time has come ◀────────┘
 *
 * Threads: a thread starts when a task is ready, no thread is idle and fewer threads than the limit
 * run (threads between block_begin and block_end do not count). One of the idle threads is the
 * leader: it waits until the next timer. The others wait without a deadline, so that an idle pool
 * wakes only for timers. A thread beyond the limit (started while another was blocked) ends when it
 * finds no work.
 *
 * In a simulation the threads are simulated threads: all waits go through the executor's clock.
 *
 * Locks: one mutex, under which no other lock is taken and no step runs. Callers may hold their own
 * locks when they wake a task.
 */
#include "runtime/executor/executor.h"

#include "kc/heap.h"
#include "kc/sim.h"
#include "kc/vec.h"

#include <assert.h>
#include <unistd.h>

enum { LEAST_THREADS = 2, MOST_THREADS = 4 };

typedef enum serial_state {
    SERIAL_IDLE,    /* Possibly with a timer. */
    SERIAL_READY,   /* In the list `ready`. */
    SERIAL_RUNNING, /* On a thread. */
    SERIAL_WOKEN,   /* On a thread, and must run once more. */
} serial_state;

/* The executor's mutex guards all fields but the first three. */
struct kc__serial {
    kc__executor *executor;
    kc__serial_step *step;
    void *user;
    serial_state state;
    kc_dlist_link in_ready;
    kc_heap_node in_timers;
    int64_t deadline;
    uint64_t sequence; /* Order of timers with equal deadlines. */
    bool ending;
    kc_cond stopped;
};

typedef struct executor_thread {
    kc__executor *executor;
    kc_thread *native;
    bool ended; /* The thread will not lock the executor's mutex again. */
} executor_thread;

struct kc__executor {
    const kc_clock *clock;
    size_t limit;

    kc_mutex mutex; /* Guards the fields below. */
    kc_cond work;   /* Idle threads other than the leader wait for it. */
    kc_cond lead;   /* The leader waits for it. */
    kc_dlist ready;
    kc_heap timers;
    uint64_t sequence;
    size_t running; /* Threads that have started and not ended. */
    size_t blocked; /* Of these: between block_begin and block_end. */
    size_t idle;    /* Of these: waiting for `work`. */
    bool has_leader;
    bool stopping;
    KC_VEC(executor_thread *)
    threads; /* Includes threads that have ended, until the next one starts. */
};

/* The executor of the current thread; NULL on other threads. A step does not know whether it runs
 * on one. */
static _Thread_local kc__executor *executor_of_thread;

/* ---- timers ---- */

static bool serial_is_earlier(const kc_heap_node *a, const kc_heap_node *b, void *user)
{
    const kc__serial *x = kc_container_of(a, kc__serial, in_timers);
    const kc__serial *y = kc_container_of(b, kc__serial, in_timers);
    (void)user;
    return x->deadline != y->deadline ? x->deadline < y->deadline : x->sequence < y->sequence;
}

static int64_t next_deadline(const kc__executor *executor)
{
    const kc_heap_node *first = kc_heap_peek(&executor->timers);
    return first ? kc_container_of(first, kc__serial, in_timers)->deadline : KC_FOREVER;
}

/* ---- threads ---- */

static void executor_run(void *user);

static bool may_start_thread(const kc__executor *executor)
{
    return executor->running - executor->blocked < executor->limit && !executor->stopping;
}

/* With the mutex held: joins threads that have ended, which does not block. */
static void reap_threads(kc__executor *executor)
{
    size_t kept = 0;
    kc_vec_each (&executor->threads, at) {
        executor_thread *thread = *at;
        if (thread->ended) {
            kc_thread_join(thread->native);
            free(thread);
        } else {
            executor->threads.items[kept++] = thread;
        }
    }
    executor->threads.n = kept;
}

/* With the mutex held. If the system cannot start a thread, the running ones continue. */
static void start_thread(kc__executor *executor)
{
    executor_thread *thread = kc_new(executor_thread);
    reap_threads(executor);
    thread->executor = executor;
    thread->native = kc_thread_start("kc-cache", executor_run, thread, NULL);
    if (!thread->native) {
        free(thread);
        return;
    }
    executor->running++;
    kc_vec_push(&executor->threads, thread);
}

/* With the mutex held: a task is ready, or the timers have no leader. */
static void executor_call_thread(kc__executor *executor)
{
    if (executor->idle)
        kc_cond_signal(&executor->work);
    else if (executor->has_leader)
        kc_cond_signal(&executor->lead);
    else if (may_start_thread(executor))
        start_thread(executor);
}

static bool needs_thread(const kc__executor *executor)
{
    return !kc_dlist_empty(&executor->ready) || (executor->timers.n && !executor->has_leader);
}

static void serial_make_ready(kc__serial *serial)
{
    kc__executor *executor = serial->executor;
    kc_heap_remove(&executor->timers, &serial->in_timers);
    serial->state = SERIAL_READY;
    kc_dlist_push(&executor->ready, &serial->in_ready);
}

static void take_due_timers(kc__executor *executor)
{
    if (!executor->timers.n)
        return;
    const int64_t now = kc_clock_now(executor->clock);
    while (next_deadline(executor) <= now)
        serial_make_ready(kc_container_of(kc_heap_peek(&executor->timers), kc__serial, in_timers));
}

/* With the mutex held: handles the result of a step. */
static void serial_after_step(kc__serial *serial, int64_t next)
{
    kc__executor *executor = serial->executor;
    const bool woken = serial->state == SERIAL_WOKEN;
    serial->state = SERIAL_IDLE;
    if (serial->ending) {
        kc_cond_broadcast(&serial->stopped);
        return;
    }
    if (woken || next <= kc_clock_now(executor->clock)) {
        serial_make_ready(serial);
        return;
    }
    if (next == KC_FOREVER)
        return;
    serial->deadline = next;
    serial->sequence = executor->sequence++;
    kc_heap_push(&executor->timers, &serial->in_timers);
    if (kc_heap_peek(&executor->timers) == &serial->in_timers && executor->has_leader)
        kc_cond_signal(&executor->lead);
}

/* With the mutex held; unlocks it during the step. */
static void serial_run(kc__serial *serial)
{
    kc__executor *executor = serial->executor;
    serial->state = SERIAL_RUNNING;
    /* This thread may have been the leader, or there is more work than one thread can do. */
    if (needs_thread(executor))
        executor_call_thread(executor);
    kc_mutex_unlock(&executor->mutex);
    const int64_t next = serial->step(serial->user);
    kc_mutex_lock(&executor->mutex);
    serial_after_step(serial, next);
}

/* With the mutex held: waits for work. */
static void executor_idle(kc__executor *executor)
{
    if (executor->has_leader) {
        executor->idle++;
        kc_cond_wait_until(&executor->work, &executor->mutex, executor->clock, KC_FOREVER);
        executor->idle--;
        return;
    }
    executor->has_leader = true;
    kc_cond_wait_until(&executor->lead, &executor->mutex, executor->clock, next_deadline(executor));
    executor->has_leader = false;
}

static bool is_surplus(const kc__executor *executor)
{
    return executor->running - executor->blocked > executor->limit;
}

static void executor_run(void *user)
{
    executor_thread *thread = user;
    kc__executor *executor = thread->executor;
    executor_of_thread = executor;
    kc_locked (&executor->mutex) {
        while (!executor->stopping) {
            take_due_timers(executor);
            kc_dlist_link *link = kc_dlist_pop(&executor->ready);
            if (link)
                serial_run(kc_container_of(link, kc__serial, in_ready));
            else if (is_surplus(executor))
                break;
            else
                executor_idle(executor);
        }
        executor->running--;
        thread->ended = true;
    }
}

/* ---- the executor ---- */

/* A simulation must not depend on the machine. */
static size_t default_threads(void)
{
    if (kc_sim_current())
        return LEAST_THREADS;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return (size_t)KC_MAX(LEAST_THREADS, KC_MIN(processors, MOST_THREADS));
}

kc__executor *kc__executor_new(const kc__executor_opts *opts)
{
    kc__executor *executor = kc_new(kc__executor);
    executor->clock = opts->clock;
    executor->limit = opts->threads ? opts->threads : default_threads();
    executor->timers.less = serial_is_earlier;
    kc_mutex_init(&executor->mutex);
    kc_cond_init(&executor->work);
    kc_cond_init(&executor->lead);
    kc_dlist_init(&executor->ready);
    return executor;
}

kc__executor *kc__executor_free(kc__executor *executor)
{
    if (!executor)
        return NULL;
    kc_locked (&executor->mutex) {
        executor->stopping = true;
        kc_cond_broadcast(&executor->work);
        kc_cond_broadcast(&executor->lead);
    }
    kc_vec_each (&executor->threads, thread) {
        kc_thread_join((*thread)->native);
        free(*thread);
    }
    assert(kc_dlist_empty(&executor->ready) && !executor->timers.n);
    kc_vec_done(&executor->threads);
    kc_heap_done(&executor->timers);
    kc_cond_done(&executor->work);
    kc_cond_done(&executor->lead);
    kc_mutex_done(&executor->mutex);
    free(executor);
    return NULL;
}

size_t kc__executor_threads(kc__executor *executor)
{
    size_t n = 0;
    kc_locked (&executor->mutex)
        n = executor->running;
    return n;
}

void kc__executor_block_begin(void)
{
    kc__executor *executor = executor_of_thread;
    if (!executor)
        return;
    kc_locked (&executor->mutex) {
        executor->blocked++;
        if (needs_thread(executor))
            executor_call_thread(executor);
    }
}

void kc__executor_block_end(void)
{
    kc__executor *executor = executor_of_thread;
    if (!executor)
        return;
    kc_locked (&executor->mutex)
        executor->blocked--;
}

/* ---- serial tasks ---- */

kc__serial *kc__serial_new(kc__executor *executor, kc__serial_step *step, void *user)
{
    kc__serial *serial = kc_new(kc__serial);
    serial->executor = executor;
    serial->step = step;
    serial->user = user;
    kc_cond_init(&serial->stopped);
    return serial;
}

void kc__serial_wake(kc__serial *serial)
{
    kc__executor *executor = serial->executor;
    kc_locked (&executor->mutex) {
        if (serial->state == SERIAL_RUNNING)
            serial->state = SERIAL_WOKEN;
        if (serial->state != SERIAL_IDLE || serial->ending)
            break;
        serial_make_ready(serial);
        executor_call_thread(executor);
    }
}

kc__serial *kc__serial_free(kc__serial *serial)
{
    if (!serial)
        return NULL;
    kc__executor *executor = serial->executor;
    kc__executor_block_begin();
    kc_locked (&executor->mutex) {
        serial->ending = true;
        if (serial->state == SERIAL_READY) {
            kc_dlist_remove(&serial->in_ready);
            serial->state = SERIAL_IDLE;
        }
        kc_heap_remove(&executor->timers, &serial->in_timers);
        while (serial->state != SERIAL_IDLE)
            kc_cond_wait_until(&serial->stopped, &executor->mutex, executor->clock, KC_FOREVER);
    }
    kc__executor_block_end();
    kc_cond_done(&serial->stopped);
    free(serial);
    return NULL;
}
