/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtual_clock.c: time that moves when it is told to.
 *
 * Who waits stands in a heap by deadline; to advance is to set the time and to wake from the front
 * of the heap while deadlines have passed. clock_internal.h shows how a wait is shared with
 * conditions and why no wake-up gets lost; here is the clock's half of it:
 *
 *   - whether a deadline has passed is looked at under the same mutex under which time moves, so a
 *     thread either sees the new time and does not sleep, or is in the heap before time moves;
 *   - the count of sleepers goes up under the mutex, so kc_clock_await_waiters cannot miss it. It
 *     goes down without, since who signals holds another lock; a signal that comes between the
 *     change of state and the counting makes it one too low for a moment, which is why it is read
 *     under the mutex only.
 *
 * Functions for the clock's users take a const clock, since they must not move time; what waiting
 * changes inside is not const (a virtual clock is always made by kc_clock_virtual_new).
 */
#include "base/virtual_clock_internal.h"

#include <assert.h>
#include <errno.h>

enum { START = KC_SECOND };

static bool earlier(const kc_heap_node *a, const kc_heap_node *b, void *user)
{
    (void)user;
    const kc__waiter *x = kc_container_of(a, kc__waiter, node);
    const kc__waiter *y = kc_container_of(b, kc__waiter, node);
    return x->deadline != y->deadline ? x->deadline < y->deadline : x->turn < y->turn;
}

kc_clock *kc_clock_virtual_new(int64_t wall)
{
    kc_clock *clock = kc_new(kc_clock);
    clock->is_virtual = true;
    clock->start_wall = wall;
    atomic_init(&clock->now, START);
    kc_mutex_init(&clock->mutex);
    kc_cond_init(&clock->fell_asleep);
    clock->waiters.less = earlier;
    return clock;
}

kc_clock *kc_clock_free(kc_clock *clock)
{
    if (!clock)
        return NULL;
    assert(clock->is_virtual && !clock->waiters.n);
    kc_heap_done(&clock->waiters);
    kc_cond_done(&clock->fell_asleep);
    kc_mutex_done(&clock->mutex);
    free(clock);
    return NULL;
}

int64_t kc__virtual_wall(const kc_clock *clock)
{
    int64_t wall;
    if (__builtin_add_overflow(clock->start_wall, atomic_load(&clock->now) - START, &wall))
        return INT64_MAX;
    return wall;
}

void kc__waiter_init(kc__waiter *waiter, const kc_clock *clock, int64_t deadline)
{
    *waiter = (kc__waiter){.clock = (kc_clock *)clock, .deadline = deadline};
    atomic_init(&waiter->state, KC__WAIT_NEW);
    sem_init(&waiter->woken, 0, 0);
}

void kc__waiter_done(kc__waiter *waiter)
{
    sem_destroy(&waiter->woken);
}

static bool has_passed(const kc_clock *clock, int64_t deadline)
{
    return deadline != KC_FOREVER && deadline <= atomic_load(&clock->now);
}

bool kc__waiter_enter(kc__waiter *waiter)
{
    kc_clock *clock = waiter->clock;
    bool entered = false;
    kc_locked (&clock->mutex) {
        kc__wait_state before = KC__WAIT_NEW;
        bool passed = has_passed(clock, waiter->deadline);
        entered = atomic_compare_exchange_strong(&waiter->state, &before,
                                                 passed ? KC__WAIT_DUE : KC__WAIT_ASLEEP) &&
                  !passed;
        if (entered) {
            waiter->turn = clock->turns++;
            kc_heap_push(&clock->waiters, &waiter->node);
            atomic_fetch_add(&clock->asleep, 1);
            kc_cond_broadcast(&clock->fell_asleep);
        }
    }
    return entered;
}

void kc__waiter_block(kc__waiter *waiter)
{
    while (sem_wait(&waiter->woken) < 0 && errno == EINTR)
        ;
    kc_locked (&waiter->clock->mutex)
        kc_heap_remove(&waiter->clock->waiters, &waiter->node);
}

bool kc__waiter_wake(kc__waiter *waiter, kc__wait_state why)
{
    kc__wait_state before = atomic_load(&waiter->state);
    do {
        if (before != KC__WAIT_NEW && before != KC__WAIT_ASLEEP)
            return false;
    } while (!atomic_compare_exchange_weak(&waiter->state, &before, why));
    if (before == KC__WAIT_ASLEEP)
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
            kc__waiter *waiter = kc_container_of(first, kc__waiter, node);
            if (!has_passed(clock, waiter->deadline))
                break;
            kc_heap_remove(&clock->waiters, first);
            kc__waiter_wake(waiter, KC__WAIT_DUE);
        }
    }
}

void kc_clock_advance(kc_clock *clock, int64_t ns)
{
    assert(ns >= 0);
    kc_clock_advance_to(clock, kc_clock_deadline(clock, ns));
}

/* The waiter whose deadline comes first; those that were signalled and have not run yet are taken
 * out on the way. With the mutex held. */
static kc__waiter *first_asleep(kc_clock *clock)
{
    for (kc_heap_node *first; (first = kc_heap_peek(&clock->waiters));) {
        kc__waiter *waiter = kc_container_of(first, kc__waiter, node);
        if (atomic_load(&waiter->state) == KC__WAIT_ASLEEP)
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
        const kc__waiter *first = first_asleep(inside);
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
            kc_cond_wait(&inside->fell_asleep, &inside->mutex);
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
