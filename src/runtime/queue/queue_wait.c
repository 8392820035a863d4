/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_wait.c: threads that wait for a key.
 *
 * Each waiting thread has its own condition variable, so that exactly one thread is woken for one
 * key, and it is the one that ran last. One of them, the timekeeper, waits only until the next
 * delay has passed; the others wait until they are woken or until their own deadline. When the
 * timekeeper leaves, another thread takes its place (kc__queue_next_waiter), and when an earlier
 * delay is added the timekeeper recomputes its deadline.
 *
 * If no thread waits and the queue has a demand (workers start when there is work), the queue
 * notifies the owner of the workers, which keeps the time.
 *
 * The thread to wake is chosen with the mutex held and signalled without it, so that it does not
 * wake up only to wait for the mutex. Conditions are therefore never freed before the queue: a late
 * signal reaches a thread that finds nothing and continues to wait.
 */
#include "runtime/queue/queue_internal.h"

void kc__queue_waiters_init(kc__queue_waiters *waiters)
{
    *waiters = (kc__queue_waiters){0};
    kc_dlist_init(&waiters->idle);
    kc_dlist_init(&waiters->spare);
}

void kc__queue_waiters_done(kc__queue_waiters *waiters)
{
    kc_dlist_each (&waiters->spare, kc__queue_waiter, link, waiter) {
        kc_cond_done(&waiter->wake);
        free(waiter);
    }
}

static kc__queue_waiter *waiter_new(kc__queue_waiters *waiters)
{
    kc_dlist_link *spare = kc_dlist_pop(&waiters->spare);
    if (spare)
        return kc_container_of(spare, kc__queue_waiter, link);
    kc__queue_waiter *waiter = kc_new(kc__queue_waiter);
    kc_cond_init(&waiter->wake);
    return waiter;
}

int64_t kc__queue_next_delay(const kc_queue *queue)
{
    kc_heap_node *first = kc_heap_peek(&queue->delayed);
    return first ? kc_container_of(first, kc__queue_entry, place_in_heap)->ready_at : KC_FOREVER;
}

bool kc__queue_wait(kc_queue *queue, int64_t deadline)
{
    kc__queue_waiters *all = &queue->waiters;
    kc__queue_waiter *me = waiter_new(all);
    me->woken = false;
    if (!all->timekeeper)
        all->timekeeper = me;
    else
        kc_dlist_push_front(&all->idle, &me->link);
    bool in_time = true;
    while (!me->woken && in_time) {
        const int64_t delay = all->timekeeper == me ? kc__queue_next_delay(queue) : KC_FOREVER;
        in_time =
            kc_cond_wait_until(&me->wake, &queue->mutex, queue->clock, KC_MIN(delay, deadline));
    }
    if (me->woken)
        all->awake--;
    else if (all->timekeeper == me)
        all->timekeeper = NULL;
    else
        kc_dlist_remove(&me->link);
    kc_dlist_push_front(&all->spare, &me->link);
    return me->woken || kc_clock_now(queue->clock) < deadline;
}

static kc__queue_waiter *mark_woken(kc__queue_waiters *all, kc__queue_waiter *waiter)
{
    if (waiter == all->timekeeper)
        all->timekeeper = NULL;
    else
        kc_dlist_remove(&waiter->link);
    waiter->woken = true;
    all->awake++;
    return waiter;
}

kc__queue_waiter *kc__queue_next_waiter(kc_queue *queue)
{
    kc__queue_waiters *all = &queue->waiters;
    kc_dlist_link *idle = kc_dlist_first(&all->idle);
    bool keys = queue->ready.n > all->awake;
    bool time = !all->timekeeper && queue->delayed.n > 0 && all->awake == 0;
    if (idle && (keys || time))
        return mark_woken(all, kc_container_of(idle, kc__queue_waiter, link));
    return keys && all->timekeeper ? mark_woken(all, all->timekeeper) : NULL;
}

void kc__queue_want_worker(kc_queue *queue)
{
    const kc__queue_waiters *all = &queue->waiters;
    const kc__queue_demand *demand = &queue->demand;
    if (!demand->wanted || demand->full)
        return;
    if (queue->ready.n > all->awake || (queue->delayed.n && !all->timekeeper && all->awake == 0))
        demand->wanted(demand->user);
}

void kc__queue_wake(kc__queue_waiter *waiter)
{
    if (waiter)
        kc_cond_signal(&waiter->wake);
}

void kc__queue_wake_all(kc_queue *queue)
{
    kc__queue_waiters *all = &queue->waiters;
    if (all->timekeeper)
        kc__queue_wake(mark_woken(all, all->timekeeper));
    kc_dlist_each (&all->idle, kc__queue_waiter, link, waiter)
        kc__queue_wake(mark_woken(all, waiter));
}
