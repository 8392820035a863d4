/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.c: see queue.h. Times and limits are those of kube-scheduler. Active and backing-off pods
 * are heaps; unschedulable ones a list in order of arrival, whose first is flushed first. A sched
 * pod knows its queue, so that it is removed without a search.
 */
#include "scheduler/queue.h"

#include <assert.h>

#define FIRST_BACK_OFF (1 * KC_SECOND)
#define MAX_BACK_OFF   (10 * KC_SECOND)
#define MAX_STUCK      (5 * KC_MINUTE)

static const kc__sched_pod *sched_queue_position_of(const kc_heap_node *node)
{
    return kc_container_of(node, kc__sched_pod, heap);
}

static bool comes_first(const kc_heap_node *a, const kc_heap_node *b, void *user)
{
    (void)user;
    const kc__sched_pod *x = sched_queue_position_of(a), *y = sched_queue_position_of(b);
    if (x->demand->priority != y->demand->priority)
        return x->demand->priority > y->demand->priority;
    if (x->demand->created != y->demand->created)
        return x->demand->created < y->demand->created;
    return x->sequence < y->sequence;
}

static bool is_ready_first(const kc_heap_node *a, const kc_heap_node *b, void *user)
{
    (void)user;
    const kc__sched_pod *x = sched_queue_position_of(a), *y = sched_queue_position_of(b);
    return x->retry_at != y->retry_at ? x->retry_at < y->retry_at : x->sequence < y->sequence;
}

void kc__sched_queue_init(kc__sched_queue *q)
{
    *q =
        (kc__sched_queue){.active = {.less = comes_first}, .backing_off = {.less = is_ready_first}};
    kc_dlist_init(&q->stuck);
}

void kc__sched_queue_done(kc__sched_queue *q)
{
    kc_heap_done(&q->active);
    kc_heap_done(&q->backing_off);
}

static void count_stuck(kc__sched_queue *q, const kc__sched_pod *place, int by)
{
    for (size_t i = 0; i < KC_COUNT(q->stuck_by); i++)
        if (place->refused_by & (UINT32_C(1) << i))
            q->stuck_by[i] += (size_t)by;
    q->n_stuck += (size_t)by;
}

bool kc__sched_queue_blocked_by(const kc__sched_queue *q, uint32_t plugins)
{
    for (size_t i = 0; i < KC_COUNT(q->stuck_by); i++)
        if (plugins & (UINT32_C(1) << i) && q->stuck_by[i])
            return true;
    return false;
}

void kc__sched_queue_remove(kc__sched_queue *q, kc__sched_pod *place)
{
    switch (place->state) {
    case KC__SCHED_ACTIVE: kc_heap_remove(&q->active, &place->heap); break;
    case KC__SCHED_BACKING_OFF: kc_heap_remove(&q->backing_off, &place->heap); break;
    case KC__SCHED_UNSCHEDULABLE_QUEUED:
        kc_dlist_remove(&place->stuck);
        count_stuck(q, place, -1);
        break;
    case KC__SCHED_GATED: q->n_gated--; break;
    case KC__SCHED_NOT_QUEUED: break;
    }
    place->state = KC__SCHED_NOT_QUEUED;
}

static void activate(kc__sched_queue *q, kc__sched_pod *place)
{
    kc__sched_queue_remove(q, place);
    place->state = KC__SCHED_ACTIVE;
    kc_heap_push(&q->active, &place->heap);
}

void kc__sched_queue_add(kc__sched_queue *q, kc__sched_pod *place, int64_t now)
{
    if (!place->first_queued_at) {
        place->first_queued_at = now;
        place->sequence = ++q->sequence;
    }
    kc__sched_queue_remove(q, place);
    if (place->demand->wants->n_gates) {
        place->state = KC__SCHED_GATED;
        q->n_gated++;
        return;
    }
    activate(q, place);
}

static void sched_queue_wake(kc__sched_queue *q, int64_t now)
{
    for (kc_heap_node *first; (first = kc_heap_peek(&q->backing_off));) {
        kc__sched_pod *place = kc_container_of(first, kc__sched_pod, heap);
        if (place->retry_at > now)
            return;
        activate(q, place);
    }
}

kc__sched_pod *kc__sched_queue_pop(kc__sched_queue *q, int64_t now)
{
    sched_queue_wake(q, now);
    kc_heap_node *node = kc_heap_pop(&q->active);
    if (!node)
        return NULL;
    kc__sched_pod *place = kc_container_of(node, kc__sched_pod, heap);
    place->state = KC__SCHED_NOT_QUEUED;
    place->attempts++;
    return place;
}

static int64_t back_off_of(int attempts)
{
    int64_t delay = FIRST_BACK_OFF;
    for (int i = 1; i < attempts && delay < MAX_BACK_OFF; i++)
        delay *= 2;
    return KC_MIN(delay, MAX_BACK_OFF);
}

void kc__sched_queue_add_unschedulable(kc__sched_queue *q, kc__sched_pod *place,
                                       uint32_t refused_by, int64_t now)
{
    assert(place->state == KC__SCHED_NOT_QUEUED);
    place->refused_by = refused_by;
    place->queued_at = now;
    place->retry_at = now + back_off_of(place->attempts);
    place->state = KC__SCHED_UNSCHEDULABLE_QUEUED;
    kc_dlist_push(&q->stuck, &place->stuck);
    count_stuck(q, place, 1);
}

static void enter_back_off(kc__sched_queue *q, kc__sched_pod *place)
{
    place->state = KC__SCHED_BACKING_OFF;
    kc_heap_push(&q->backing_off, &place->heap);
}

void kc__sched_queue_back_off(kc__sched_queue *q, kc__sched_pod *place, int64_t now)
{
    kc__sched_queue_remove(q, place);
    place->retry_at = now + back_off_of(place->attempts);
    enter_back_off(q, place);
}

void kc__sched_queue_move(kc__sched_queue *q, kc__sched_pod *place, int64_t now)
{
    if (place->state != KC__SCHED_UNSCHEDULABLE_QUEUED)
        return;
    kc__sched_queue_remove(q, place);
    if (place->retry_at > now)
        enter_back_off(q, place);
    else
        activate(q, place);
}

void kc__sched_queue_flush(kc__sched_queue *q, int64_t now)
{
    for (kc_dlist_link *first; (first = kc_dlist_first(&q->stuck));) {
        kc__sched_pod *place = kc_container_of(first, kc__sched_pod, stuck);
        if (place->queued_at + MAX_STUCK > now)
            return;
        kc__sched_queue_move(q, place, now);
    }
}

int64_t kc__sched_queue_next(const kc__sched_queue *q)
{
    const kc_heap_node *next = kc_heap_peek(&q->backing_off);
    const kc_dlist_link *oldest = kc_dlist_first(&q->stuck);
    int64_t at = next ? sched_queue_position_of(next)->retry_at : KC_FOREVER;
    if (oldest)
        at = KC_MIN(at, kc_container_of(oldest, const kc__sched_pod, stuck)->queued_at + MAX_STUCK);
    return q->active.n ? 0 : at;
}
