/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_wait.c: threads that wait for a key.
 *
 * Each has a condition of its own, so that exactly one is woken for one key, and it is the one that
 * ran last. One of them, the timekeeper, waits only until the next delay has passed; the others
 * wait for ever. When it leaves, another takes its place (whom_to_wake sees to that), and when an
 * earlier delay is added it is told to look at the time again.
 *
 * Who is to be woken is chosen with the mutex held and signalled without it, so that the thread
 * does not wake up only to wait for the mutex. For that conditions are never freed before the
 * queue: a late signal then reaches a thread that looks, finds nothing, and waits on.
 */
#include "runtime/queue_internal.h"

void kc__queue_waiters_init(kc__queue_waiters *waiters)
{
    *waiters = (kc__queue_waiters){0};
    kc_list_init(&waiters->idle);
    kc_list_init(&waiters->spare);
}

void kc__queue_waiters_done(kc__queue_waiters *waiters)
{
    kc_list_each (&waiters->spare, kc__queue_waiter, link, waiter) {
        kc_cond_done(&waiter->wake);
        free(waiter);
    }
}

static kc__queue_waiter *waiter_new(kc__queue_waiters *waiters)
{
    kc_link *spare = kc_list_pop(&waiters->spare);
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

void kc__queue_wait(kc_queue *queue)
{
    kc__queue_waiters *all = &queue->waiters;
    kc__queue_waiter *me = waiter_new(all);
    me->woken = false;
    if (!all->timekeeper)
        all->timekeeper = me;
    else
        kc_list_push_front(&all->idle, &me->link);
    bool in_time = true;
    while (!me->woken && in_time)
        in_time =
            kc_cond_wait_until(&me->wake, &queue->mutex, queue->clock,
                               all->timekeeper == me ? kc__queue_next_delay(queue) : KC_FOREVER);
    if (me->woken)
        all->awake--;
    else
        all->timekeeper = NULL;
    kc_list_push_front(&all->spare, &me->link);
}

static kc__queue_waiter *told_to_look(kc__queue_waiters *all, kc__queue_waiter *waiter)
{
    if (waiter == all->timekeeper)
        all->timekeeper = NULL;
    else
        kc_list_remove(&waiter->link);
    waiter->woken = true;
    all->awake++;
    return waiter;
}

kc__queue_waiter *kc__queue_whom_to_wake(kc_queue *queue)
{
    kc__queue_waiters *all = &queue->waiters;
    kc_link *idle = kc_list_first(&all->idle);
    bool keys = queue->ready.n > all->awake;
    bool time = !all->timekeeper && queue->delayed.n > 0 && all->awake == 0;
    if (idle && (keys || time))
        return told_to_look(all, kc_container_of(idle, kc__queue_waiter, link));
    return keys && all->timekeeper ? told_to_look(all, all->timekeeper) : NULL;
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
        kc__queue_wake(told_to_look(all, all->timekeeper));
    kc_list_each (&all->idle, kc__queue_waiter, link, waiter)
        kc__queue_wake(told_to_look(all, waiter));
}
