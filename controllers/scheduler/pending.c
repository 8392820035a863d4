/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pending.c: see pending.h. Times and limits are those of kube-scheduler. Pods to be tried and pods
 * that back off are heaps; those that are stuck a list in the order they came, whose first is the
 * one to be flushed. A place knows in which of them it is, so it is removed without a search.
 */
#include "scheduler/pending.h"

#include <assert.h>

#define FIRST_BACK_OFF (1 * KC_SECOND)
#define MAX_BACK_OFF   (10 * KC_SECOND)
#define MAX_STUCK      (5 * KC_MINUTE)

static const kc__place *place_of(const kc_heap_node *node)
{
    return kc_container_of(node, kc__place, heap);
}

static bool comes_first(const kc_heap_node *a, const kc_heap_node *b, void *user)
{
    (void)user;
    const kc__place *x = place_of(a), *y = place_of(b);
    if (x->demand->priority != y->demand->priority)
        return x->demand->priority > y->demand->priority;
    if (x->demand->created != y->demand->created)
        return x->demand->created < y->demand->created;
    return x->sequence < y->sequence;
}

static bool is_ready_first(const kc_heap_node *a, const kc_heap_node *b, void *user)
{
    (void)user;
    const kc__place *x = place_of(a), *y = place_of(b);
    return x->retry_at != y->retry_at ? x->retry_at < y->retry_at : x->sequence < y->sequence;
}

void kc__pending_init(kc__pending *q)
{
    *q = (kc__pending){.active = {.less = comes_first}, .backing_off = {.less = is_ready_first}};
    kc_list_init(&q->stuck);
}

void kc__pending_done(kc__pending *q)
{
    kc_heap_done(&q->active);
    kc_heap_done(&q->backing_off);
}

static void count_stuck(kc__pending *q, const kc__place *place, int by)
{
    for (size_t i = 0; i < KC_COUNT(q->stuck_by); i++)
        if (place->refused_by & (UINT32_C(1) << i))
            q->stuck_by[i] += (size_t)by;
    q->n_stuck += (size_t)by;
}

bool kc__pending_stuck_by(const kc__pending *q, uint32_t plugins)
{
    for (size_t i = 0; i < KC_COUNT(q->stuck_by); i++)
        if (plugins & (UINT32_C(1) << i) && q->stuck_by[i])
            return true;
    return false;
}

void kc__pending_remove(kc__pending *q, kc__place *place)
{
    switch (place->state) {
    case KC__ACTIVE: kc_heap_remove(&q->active, &place->heap); break;
    case KC__BACKING_OFF: kc_heap_remove(&q->backing_off, &place->heap); break;
    case KC__STUCK:
        kc_list_remove(&place->stuck);
        count_stuck(q, place, -1);
        break;
    case KC__GATED: q->n_gated--; break;
    case KC__NOT_QUEUED: break;
    }
    place->state = KC__NOT_QUEUED;
}

static void activate(kc__pending *q, kc__place *place)
{
    kc__pending_remove(q, place);
    place->state = KC__ACTIVE;
    kc_heap_push(&q->active, &place->heap);
}

void kc__pending_add(kc__pending *q, kc__place *place, int64_t now)
{
    if (!place->first_queued_at) {
        place->first_queued_at = now;
        place->sequence = ++q->sequence;
    }
    kc__pending_remove(q, place);
    if (place->demand->wants->n_gates) {
        place->state = KC__GATED;
        q->n_gated++;
        return;
    }
    activate(q, place);
}

static void wake(kc__pending *q, int64_t now)
{
    for (kc_heap_node *first; (first = kc_heap_peek(&q->backing_off));) {
        kc__place *place = kc_container_of(first, kc__place, heap);
        if (place->retry_at > now)
            return;
        activate(q, place);
    }
}

kc__place *kc__pending_pop(kc__pending *q, int64_t now)
{
    wake(q, now);
    kc_heap_node *node = kc_heap_pop(&q->active);
    if (!node)
        return NULL;
    kc__place *place = kc_container_of(node, kc__place, heap);
    place->state = KC__NOT_QUEUED;
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

void kc__pending_stick(kc__pending *q, kc__place *place, uint32_t refused_by, int64_t now)
{
    assert(place->state == KC__NOT_QUEUED);
    place->refused_by = refused_by;
    place->queued_at = now;
    place->retry_at = now + back_off_of(place->attempts);
    place->state = KC__STUCK;
    kc_list_push(&q->stuck, &place->stuck);
    count_stuck(q, place, 1);
}

static void enter_back_off(kc__pending *q, kc__place *place)
{
    place->state = KC__BACKING_OFF;
    kc_heap_push(&q->backing_off, &place->heap);
}

void kc__pending_back_off(kc__pending *q, kc__place *place, int64_t now)
{
    kc__pending_remove(q, place);
    place->retry_at = now + back_off_of(place->attempts);
    enter_back_off(q, place);
}

void kc__pending_move(kc__pending *q, kc__place *place, int64_t now)
{
    if (place->state != KC__STUCK)
        return;
    kc__pending_remove(q, place);
    if (place->retry_at > now)
        enter_back_off(q, place);
    else
        activate(q, place);
}

void kc__pending_flush(kc__pending *q, int64_t now)
{
    for (kc_link *first; (first = kc_list_first(&q->stuck));) {
        kc__place *place = kc_container_of(first, kc__place, stuck);
        if (place->queued_at + MAX_STUCK > now)
            return;
        kc__pending_move(q, place, now);
    }
}

int64_t kc__pending_next(const kc__pending *q)
{
    const kc_heap_node *next = kc_heap_peek(&q->backing_off);
    const kc_link *oldest = kc_list_first(&q->stuck);
    int64_t at = next ? place_of(next)->retry_at : KC_FOREVER;
    if (oldest)
        at = KC_MIN(at, kc_container_of(oldest, const kc__place, stuck)->queued_at + MAX_STUCK);
    return q->active.n ? 0 : at;
}
