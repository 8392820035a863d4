/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.c: threads that take turns.
 *
 * Only one thread of a simulation runs; all others block on their own semaphores. To wait, a thread
 * records the reason, selects the next thread, posts that thread's semaphore and blocks on its own.
 * So only one thread at a time accesses the data here, and no lock is needed: the semaphores order
 * the accesses.
 *
 *     running ──wait──▶ waiting (for a condition, a lock, a thread, a time) ──woken──▶ ready
 *        ▲                                                                             │
 *        └──────────────────────────── chosen, by the seed ◀───────────────────────────┘
 *
 * When no thread is ready, a thread in kc_sim_settle continues; otherwise time moves to the
 * earliest deadline. There are few threads, so waiting ones are found by a scan of all, in the
 * order of their creation: a choice depends only on that order and the generator.
 *
 * A thread outside of the simulation may neither wake nor wait for one inside.
 */
#include "base/sim_internal.h"
#include "base/virtual_clock_internal.h"

#include <assert.h>
#include <errno.h>
#include <semaphore.h>
#include <stdio.h>

/* A lock is a scheduling point once in this many times. */
enum { YIELD_ONE_IN = 8 };

typedef enum wait_kind {
    RUNNING,
    READY,
    FOR_COND,
    FOR_LOCK,
    FOR_THREAD,
    FOR_TIME,
    FOR_QUIET,
    ENDED
} wait_kind;

struct kc__sim_thread {
    kc_sim *sim;
    kc_dlist_link link; /* In sim->threads. */
    char name[16];
    sem_t turn;
    wait_kind waits;
    const void *on; /* The condition variable, mutex or thread. */
    int64_t deadline;
    bool due; /* Its deadline ended the wait. */
};

struct kc_sim {
    kc_clock *clock;
    kc_rand chance;   /* For choices. */
    kc_rand seeds;    /* For kc_sim_rand. */
    kc_dlist threads; /* In the order of creation. */
    uint64_t choices;
};

_Thread_local kc__sim_thread *kc__sim_current_thread;

/* ---- scheduling ---- */

static bool is_due(const kc__sim_thread *t, int64_t now)
{
    bool timed = t->waits == FOR_COND || t->waits == FOR_TIME;
    return timed && t->deadline != KC_FOREVER && t->deadline <= now;
}

static void make_ready(kc__sim_thread *t, bool due)
{
    t->waits = READY;
    t->on = NULL;
    t->due = due;
}

static void wake_due(kc_sim *sim)
{
    int64_t now = kc_clock_now(sim->clock);
    kc_dlist_each (&sim->threads, kc__sim_thread, link, t)
        if (is_due(t, now))
            make_ready(t, true);
}

static size_t count_in(const kc_sim *sim, wait_kind waits)
{
    size_t n = 0;
    kc_dlist_each (&sim->threads, kc__sim_thread, link, t)
        n += t->waits == waits;
    return n;
}

static kc__sim_thread *nth_in(const kc_sim *sim, wait_kind waits, size_t n)
{
    kc_dlist_each (&sim->threads, kc__sim_thread, link, t)
        if (t->waits == waits && n-- == 0)
            return t;
    return NULL;
}

static bool earliest(const kc_sim *sim, int64_t *ret_deadline)
{
    int64_t first = KC_FOREVER;
    kc_dlist_each (&sim->threads, kc__sim_thread, link, t)
        if (t->waits == FOR_COND || t->waits == FOR_TIME)
            first = KC_MIN(first, t->deadline);
    if (first == KC_FOREVER)
        return false;
    *ret_deadline = first;
    return true;
}

_Noreturn static void say_who_waits(const kc_sim *sim)
{
    static const char *const what[] = {"runs",
                                       "is ready",
                                       "waits for a condition",
                                       "waits for a lock",
                                       "waits for a thread",
                                       "sleeps",
                                       "waits for the simulation to settle",
                                       "has ended"};
    fprintf(stderr, "simulation: deadlock: all threads wait, none with a deadline:\n");
    kc_dlist_each (&sim->threads, kc__sim_thread, link, t)
        fprintf(stderr, "  %-15s %s\n", t->name, what[t->waits]);
    abort();
}

static void move_time(kc_sim *sim, int64_t to)
{
    if (to > kc_clock_now(sim->clock))
        atomic_store(&sim->clock->now, to);
    wake_due(sim);
}

/* The next thread: a random one of those that are ready; else one that settles; else time moves. */
static kc__sim_thread *choose_sim_thread(kc_sim *sim)
{
    for (;;) {
        size_t ready = count_in(sim, READY);
        int64_t next;
        if (ready) {
            sim->choices++;
            return nth_in(sim, READY, ready > 1 ? kc_rand_below(&sim->chance, ready) : 0);
        }
        if (count_in(sim, FOR_QUIET))
            return nth_in(sim, FOR_QUIET, 0);
        if (!earliest(sim, &next))
            say_who_waits(sim);
        move_time(sim, next);
    }
}

static void stand(kc__sim_thread *me)
{
    while (sem_wait(&me->turn) < 0 && errno == EINTR)
        ;
}

/* Lets the chosen thread run, which may be the caller; returns at the caller's next turn. */
static void take_turns(kc__sim_thread *me)
{
    kc__sim_thread *next = choose_sim_thread(me->sim);
    next->waits = RUNNING;
    if (next == me)
        return;
    sem_post(&next->turn);
    stand(me);
}

static void wait_for(kc__sim_thread *me, wait_kind what, const void *on, int64_t deadline)
{
    me->waits = what;
    me->on = on;
    me->deadline = deadline;
    me->due = false;
    take_turns(me);
}

/* Wakes up to `most` of the threads that wait for `on`, a random selection if there are more. */
static void wake_some(kc_sim *sim, const void *on, size_t most)
{
    size_t n = 0;
    kc_dlist_each (&sim->threads, kc__sim_thread, link, t)
        n += t->on == on;
    while (n && most--) {
        size_t pick = most ? 0 : kc_rand_below(&sim->chance, n);
        kc_dlist_each (&sim->threads, kc__sim_thread, link, t)
            if (t->on == on && pick-- == 0) {
                make_ready(t, false);
                break;
            }
        n--;
    }
}

/* ---- operations of threads ---- */

static void yield(kc__sim_thread *me)
{
    me->waits = READY;
    take_turns(me);
}

void kc__sim_lock(kc__sim_thread *me, kc_mutex *mutex)
{
    if (kc_rand_below(&me->sim->chance, YIELD_ONE_IN) == 0)
        yield(me);
    while (pthread_mutex_trylock(&mutex->native) != 0)
        wait_for(me, FOR_LOCK, mutex, KC_FOREVER);
}

void kc__sim_unlock(kc__sim_thread *me, kc_mutex *mutex)
{
    int failed = pthread_mutex_unlock(&mutex->native);
    assert(!failed && "this thread does not hold the mutex");
    (void)failed;
    wake_some(me->sim, mutex, SIZE_MAX);
}

bool kc__sim_wait(kc__sim_thread *me, kc_cond *cond, kc_mutex *mutex, const kc_clock *clock,
                  int64_t deadline)
{
    assert((deadline == KC_FOREVER || clock == me->sim->clock) && "the wait uses another clock");
    if (deadline != KC_FOREVER && deadline <= kc_clock_now(me->sim->clock))
        return false;
    kc__sim_unlock(me, mutex);
    wait_for(me, FOR_COND, cond, deadline);
    bool woken = !me->due;
    kc__sim_lock(me, mutex);
    return woken;
}

void kc__sim_wake(kc__sim_thread *me, const kc_cond *cond, size_t most)
{
    wake_some(me->sim, cond, most);
}

void kc__sim_sleep_until(kc__sim_thread *me, const kc_clock *clock, int64_t deadline)
{
    assert(clock == me->sim->clock && "the sleep uses another clock");
    if (deadline > kc_clock_now(clock))
        wait_for(me, FOR_TIME, NULL, deadline);
}

/* ---- thread lifecycle ---- */

kc__sim_thread *kc__sim_thread_new(kc__sim_thread *by, const char *name)
{
    kc__sim_thread *t = kc_new(kc__sim_thread);
    t->sim = by->sim;
    t->waits = READY;
    snprintf(t->name, sizeof(t->name), "%.15s", name);
    sem_init(&t->turn, 0, 0);
    kc_dlist_push(&t->sim->threads, &t->link);
    return t;
}

void kc__sim_thread_free(kc__sim_thread *t)
{
    if (!t)
        return;
    kc_dlist_remove(&t->link);
    sem_destroy(&t->turn);
    free(t);
}

void kc__sim_thread_begin(kc__sim_thread *t)
{
    stand(t);
    kc__sim_current_thread = t;
}

void kc__sim_thread_end(kc__sim_thread *t)
{
    kc__sim_current_thread = NULL;
    t->waits = ENDED;
    wake_some(t->sim, t, SIZE_MAX);
    kc__sim_thread *next = choose_sim_thread(t->sim);
    next->waits = RUNNING;
    sem_post(&next->turn);
}

void kc__sim_join(kc__sim_thread *me, kc__sim_thread *other)
{
    if (other->waits != ENDED)
        wait_for(me, FOR_THREAD, other, KC_FOREVER);
}

/* ---- public functions ---- */

kc_sim *kc_sim_new(uint64_t seed, int64_t wall)
{
    kc_sim *sim = kc_new(kc_sim);
    sim->clock = kc_clock_virtual_new(wall);
    kc_rand_seed(&sim->chance, seed);
    sim->seeds = kc_rand_split(&sim->chance);
    kc_dlist_init(&sim->threads);
    return sim;
}

kc_sim *kc_sim_free(kc_sim *sim)
{
    if (!sim)
        return NULL;
    assert(kc_dlist_empty(&sim->threads) && "threads of the simulation still exist");
    kc_clock_free(sim->clock);
    free(sim);
    return NULL;
}

void kc_sim_enter(kc_sim *sim)
{
    assert(!kc__sim_current_thread && kc_dlist_empty(&sim->threads));
    kc__sim_thread first = {.sim = sim};
    kc__sim_current_thread = kc__sim_thread_new(&first, "main");
    kc__sim_current_thread->waits = RUNNING;
}

void kc_sim_leave(kc_sim *sim)
{
    assert(kc__sim_current_thread && kc__sim_current_thread->sim == sim);
    kc__sim_thread_free(kc_take(kc__sim_current_thread));
    assert(kc_dlist_empty(&sim->threads) && "threads of the simulation still exist");
}

kc_sim *kc_sim_current(void)
{
    return kc__sim_current_thread ? kc__sim_current_thread->sim : NULL;
}

const kc_clock *kc_sim_clock(const kc_sim *sim)
{
    return sim->clock;
}

kc_rand kc_sim_rand(kc_sim *sim)
{
    return kc_rand_split(&sim->seeds);
}

uint64_t kc_sim_choices(const kc_sim *sim)
{
    return sim->choices;
}

void kc_sim_yield(kc_sim *sim)
{
    assert(kc__sim_current_thread && kc__sim_current_thread->sim == sim);
    yield(kc__sim_current_thread);
}

void kc_sim_settle(kc_sim *sim)
{
    assert(kc__sim_current_thread && kc__sim_current_thread->sim == sim);
    wait_for(kc__sim_current_thread, FOR_QUIET, NULL, KC_FOREVER);
}

void kc_sim_run_for(kc_sim *sim, int64_t ns)
{
    int64_t end = kc_clock_deadline(sim->clock, ns), next;
    kc_sim_settle(sim);
    while (earliest(sim, &next) && next <= end) {
        move_time(sim, next);
        kc_sim_settle(sim);
    }
    move_time(sim, end);
}
