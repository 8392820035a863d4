/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtual_clock.c: a clock that moves on request.
 *
 * Waiters are in a heap by deadline. Advancing sets the time and wakes waiters from the front of
 * the heap while their deadlines have passed. clock_internal.h describes how condition variables
 * take part in a wait and why no wakeup is lost; this is the clock's half:
 *
 *   - a thread checks its deadline under the mutex under which time moves, so it either sees the
 * new time and does not sleep, or is in the heap before time moves;
 *   - the count of sleepers is incremented under the mutex, so kc_clock_await_waiters cannot miss
 * it. It is decremented without, since the signalling thread holds another lock; a signal between
 * the change of state and the count makes it one too low for a moment, so it is read only under the
 *     mutex.
 *
 * Functions for the clock's users take a const clock, since they must not move time; the state of
 * waits inside is mutable (kc_clock_virtual_new always creates a virtual clock).
 */
#include "base/virtual_clock_internal.h"

#include <assert.h>
#include <errno.h>

enum { START = KC_SECOND };

static bool earlier(const kc_heap_node *a, const kc_heap_node *b, void *user)
{
    (void)user;
    const kc__clock_waiter *x = kc_container_of(a, kc__clock_waiter, node);
    const kc__clock_waiter *y = kc_container_of(b, kc__clock_waiter, node);
    return x->deadline != y->deadline ? x->deadline < y->deadline : x->turn < y->turn;
}

kc_clock *kc_clock_virtual_new(int64_t wall)
{
    kc_clock *clock = kc_new(kc_clock);
    clock->is_virtual = true;
    clock->start_wall = wall;
    atomic_init(&clock->now, START);
    kc_mutex_init(&clock->mutex);
    kc_cond_init(&clock->waiter_added);
    clock->waiters.less = earlier;
    return clock;
}

kc_clock *kc_clock_free(kc_clock *clock)
{
    if (!clock)
        return NULL;
    assert(clock->is_virtual && !clock->waiters.n);
    kc_heap_done(&clock->waiters);
    kc_cond_done(&clock->waiter_added);
    kc_mutex_done(&clock->mutex);
    free(clock);
    return NULL;
}

int64_t kc__clock_virtual_wall(const kc_clock *clock)
{
    int64_t wall;
    if (__builtin_add_overflow(clock->start_wall, atomic_load(&clock->now) - START, &wall))
        return INT64_MAX;
    return wall;
}

void kc__clock_waiter_init(kc__clock_waiter *waiter, const kc_clock *clock, int64_t deadline)
{
    *waiter = (kc__clock_waiter){.clock = (kc_clock *)clock, .deadline = deadline};
    atomic_init(&waiter->state, KC__CLOCK_WAIT_NEW);
    sem_init(&waiter->woken, 0, 0);
}

void kc__clock_waiter_done(kc__clock_waiter *waiter)
{
    sem_destroy(&waiter->woken);
}

static bool has_passed(const kc_clock *clock, int64_t deadline)
{
    return deadline != KC_FOREVER && deadline <= atomic_load(&clock->now);
}

bool kc__clock_waiter_enter(kc__clock_waiter *waiter)
{
    kc_clock *clock = waiter->clock;
    bool entered = false;
    kc_locked (&clock->mutex) {
        kc__clock_wait_state before = KC__CLOCK_WAIT_NEW;
        bool passed = has_passed(clock, waiter->deadline);
        entered =
            atomic_compare_exchange_strong(&waiter->state, &before,
                                           passed ? KC__CLOCK_WAIT_DUE : KC__CLOCK_WAIT_ASLEEP) &&
            !passed;
        if (entered) {
            waiter->turn = clock->turns++;
            kc_heap_push(&clock->waiters, &waiter->node);
            atomic_fetch_add(&clock->asleep, 1);
            kc_cond_broadcast(&clock->waiter_added);
        }
    }
    return entered;
}

void kc__clock_waiter_block(kc__clock_waiter *waiter)
{
    while (sem_wait(&waiter->woken) < 0 && errno == EINTR)
        ;
    kc_locked (&waiter->clock->mutex)
        kc_heap_remove(&waiter->clock->waiters, &waiter->node);
}

bool kc__clock_waiter_wake(kc__clock_waiter *waiter, kc__clock_wait_state why)
{
    kc__clock_wait_state before = atomic_load(&waiter->state);
    do {
        if (before != KC__CLOCK_WAIT_NEW && before != KC__CLOCK_WAIT_ASLEEP)
            return false;
    } while (!atomic_compare_exchange_weak(&waiter->state, &before, why));
    if (before == KC__CLOCK_WAIT_ASLEEP)
        atomic_fetch_sub(&waiter->clock->asleep, 1);
    sem_post(&waiter->woken);
    return true;
}

void kc_clock_advance_to(kc_clock *clock, int64_t deadline)
{
    assert(clock->is_virtual);
    kc_locked (&clock->mutex) {
        if (deadline > atomic_load(&clock->now))
            atomic_store(&clock->now, deadline);
        for (kc_heap_node *first; (first = kc_heap_peek(&clock->waiters));) {
            kc__clock_waiter *waiter = kc_container_of(first, kc__clock_waiter, node);
            if (!has_passed(clock, waiter->deadline))
                break;
            kc_heap_remove(&clock->waiters, first);
            kc__clock_waiter_wake(waiter, KC__CLOCK_WAIT_DUE);
        }
    }
}

void kc_clock_advance(kc_clock *clock, int64_t ns)
{
    assert(ns >= 0);
    kc_clock_advance_to(clock, kc_clock_deadline(clock, ns));
}

/* The waiter with the earliest deadline; removes waiters that were signalled and have not run yet.
 * The mutex is held. */
static kc__clock_waiter *first_asleep(kc_clock *clock)
{
    for (kc_heap_node *first; (first = kc_heap_peek(&clock->waiters));) {
        kc__clock_waiter *waiter = kc_container_of(first, kc__clock_waiter, node);
        if (atomic_load(&waiter->state) == KC__CLOCK_WAIT_ASLEEP)
            return waiter;
        kc_heap_remove(&clock->waiters, first);
    }
    return NULL;
}

bool kc_clock_next_deadline(const kc_clock *clock, int64_t *ret_deadline)
{
    kc_clock *inside = (kc_clock *)clock;
    bool found = false;
    assert(clock->is_virtual);
    kc_locked (&inside->mutex) {
        const kc__clock_waiter *first = first_asleep(inside);
        found = first && first->deadline != KC_FOREVER;
        if (found)
            *ret_deadline = first->deadline;
    }
    return found;
}

size_t kc_clock_waiters(const kc_clock *clock)
{
    kc_clock *inside = (kc_clock *)clock;
    size_t n = 0;
    assert(clock->is_virtual);
    kc_locked (&inside->mutex)
        n = atomic_load(&clock->asleep);
    return n;
}

void kc_clock_await_waiters(const kc_clock *clock, size_t n)
{
    kc_clock *inside = (kc_clock *)clock;
    assert(clock->is_virtual);
    kc_locked (&inside->mutex)
        while (atomic_load(&clock->asleep) < n)
            kc_cond_wait(&inside->waiter_added, &inside->mutex);
}

void kc_clock_run(kc_clock *clock, int64_t ns, size_t sleepers)
{
    int64_t end = kc_clock_deadline(clock, ns), next;
    assert(ns >= 0);
    kc_clock_await_waiters(clock, sleepers);
    while (kc_clock_next_deadline(clock, &next) && next <= end) {
        kc_clock_advance_to(clock, next);
        kc_clock_await_waiters(clock, sleepers);
    }
    kc_clock_advance_to(clock, end);
}
