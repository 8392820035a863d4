/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ready.c: the order of the ready keys.
 *
 *     bands (a heap, by priority)      0 ──┬─ lane "default"   a ─ b ─ c      returned: (d)
 *                                          └─ lane "kube-system"  e
 *                                   -100 ──── lane "default"   f ─ g …
 *
 * A key gets a number when it is added, and lower numbers go first. Nearly always a key that
 * becomes ready has the highest number and is appended to a list, in O(1). There are two
 * exceptions: a key that was added while it was being processed, once that is done, and a delayed
 * key that is added again without a delay. They keep their number, which may be lower than some in
 * the list, so they go to a heap beside the list; a get takes the lower of the two first numbers.
 * The order is exactly that of controller-runtime's tree, at the cost of a list.
 *
 * In a fair queue each namespace has its own lane in every band, and lanes with keys take turns;
 * otherwise a band has one lane. Empty lanes are kept for a while.
 *
 * Invariants: a lane is in its band's turns, and a band in the heap, exactly while it has keys.
 */
#include "runtime/queue/queue_internal.h"

enum { IDLE_LANES = 256 };

static bool higher(const kc_heap_node *a, const kc_heap_node *b, void *user)
{
    (void)user;
    return kc_container_of(a, kc__queue_band, node)->priority >
           kc_container_of(b, kc__queue_band, node)->priority;
}

void kc__queue_ready_init(kc__queue_ready *ready, bool fair)
{
    *ready = (kc__queue_ready){.bands.less = higher, .fair = fair};
}

static void lane_free(kc__queue_lane *lane)
{
    if (!lane)
        return;
    kc_heap_done(&lane->returned);
    free(lane->ns);
    free(lane);
}

static void band_free(kc__queue_band *band)
{
    lane_free(band->only);
    kc_map_each (&band->by_ns, entry)
        lane_free(entry->value);
    kc_map_done(&band->by_ns);
    free(band);
}

void kc__queue_ready_done(kc__queue_ready *ready)
{
    kc_vec_each (&ready->all, band)
        band_free(*band);
    kc_vec_done(&ready->all);
    kc_heap_done(&ready->bands);
}

/* ---- lanes and bands ---- */

static bool came_first(const kc_heap_node *a, const kc_heap_node *b, void *user)
{
    (void)user;
    return kc_container_of(a, kc__queue_entry, place_in_heap)->number <
           kc_container_of(b, kc__queue_entry, place_in_heap)->number;
}

static kc__queue_lane *lane_new(kc__queue_band *band)
{
    kc__queue_lane *lane = kc_new(kc__queue_lane);
    lane->band = band;
    lane->returned.less = came_first;
    kc_dlist_init(&lane->list);
    return lane;
}

static kc__queue_band *band_new(kc_queue *queue, int priority)
{
    kc__queue_band *band = kc_new(kc__queue_band);
    band->priority = priority;
    band->gauge = kc__queue_depth_gauge(queue, priority);
    kc_dlist_init(&band->turns);
    kc_dlist_init(&band->idle);
    if (!queue->ready.fair)
        band->only = lane_new(band);
    return band;
}

static kc__queue_band *find_band(kc_queue *queue, int priority)
{
    kc__queue_ready *ready = &queue->ready;
    size_t from = 0, to = ready->all.n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (ready->all.items[middle]->priority < priority)
            from = middle + 1;
        else
            to = middle;
    }
    if (from < ready->all.n && ready->all.items[from]->priority == priority)
        return ready->all.items[from];
    kc_vec_push(&ready->all, NULL);
    memmove(&ready->all.items[from + 1], &ready->all.items[from],
            (ready->all.n - 1 - from) * sizeof(*ready->all.items));
    return ready->all.items[from] = band_new(queue, priority);
}

kc__queue_band *kc__queue_ready_band(kc_queue *queue, int priority)
{
    kc__queue_ready *ready = &queue->ready;
    if (!ready->last || ready->last->priority != priority)
        ready->last = find_band(queue, priority);
    return ready->last;
}

static void forget_longest_idle(kc__queue_band *band)
{
    kc__queue_lane *lane = kc_container_of(kc_dlist_pop(&band->idle), kc__queue_lane, turn);
    band->n_idle--;
    kc_map_remove(&band->by_ns, kc_cstr(lane->ns));
    lane_free(lane);
}

static kc__queue_lane *lane_of(kc__queue_band *band, kc_str ns)
{
    if (band->only)
        return band->only;
    kc__queue_lane *lane = kc_map_get(&band->by_ns, ns);
    if (!lane) {
        lane = lane_new(band);
        lane->ns = kc_str_dup(ns);
        kc_map_put(&band->by_ns, (kc_str){lane->ns, ns.n}, lane);
    }
    return lane;
}

static void lane_has_keys(kc__queue_ready *ready, kc__queue_lane *lane)
{
    kc__queue_band *band = lane->band;
    if (kc_dlist_is_linked(&lane->turn)) {
        kc_dlist_remove(&lane->turn);
        band->n_idle--;
    }
    kc_dlist_push(&band->turns, &lane->turn);
    if (!kc_heap_has(&band->node))
        kc_heap_push(&ready->bands, &band->node);
}

static void lane_is_empty(kc__queue_ready *ready, kc__queue_lane *lane)
{
    kc__queue_band *band = lane->band;
    kc_dlist_remove(&lane->turn);
    if (!band->only) {
        kc_dlist_push(&band->idle, &lane->turn);
        if (++band->n_idle > IDLE_LANES)
            forget_longest_idle(band);
    }
    if (band->n == 0)
        kc_heap_remove(&ready->bands, &band->node);
}

/* ---- keys ---- */

static kc__queue_entry *first_in_list(const kc__queue_lane *lane)
{
    kc_dlist_link *first = kc_dlist_first(&lane->list);
    return first ? kc_container_of(first, kc__queue_entry, link) : NULL;
}

static kc__queue_entry *first_returned(const kc__queue_lane *lane)
{
    kc_heap_node *first = kc_heap_peek(&lane->returned);
    return first ? kc_container_of(first, kc__queue_entry, place_in_heap) : NULL;
}

static bool goes_last(const kc__queue_lane *lane, const kc__queue_entry *entry)
{
    return kc_dlist_empty(&lane->list) ||
           kc_container_of(lane->list.head.prev, kc__queue_entry, link)->number < entry->number;
}

void kc__queue_ready_push(kc_queue *queue, kc__queue_entry *entry)
{
    kc__queue_band *band = kc__queue_ready_band(queue, entry->priority);
    kc__queue_lane *lane = lane_of(band, entry->node.key.ns);
    if (goes_last(lane, entry)) {
        kc_dlist_push(&lane->list, &entry->link);
        entry->place = KC__QUEUE_ENTRY_READY;
    } else {
        kc_heap_push(&lane->returned, &entry->place_in_heap);
        entry->place = KC__QUEUE_ENTRY_RETURNED;
    }
    entry->lane = lane;
    queue->ready.n++;
    band->n++;
    if (lane->n++ == 0)
        lane_has_keys(&queue->ready, lane);
}

void kc__queue_ready_remove(kc__queue_ready *ready, kc__queue_entry *entry)
{
    kc__queue_lane *lane = entry->lane;
    if (entry->place == KC__QUEUE_ENTRY_READY)
        kc_dlist_remove(&entry->link);
    else
        kc_heap_remove(&lane->returned, &entry->place_in_heap);
    entry->place = KC__QUEUE_ENTRY_IDLE;
    entry->lane = NULL;
    ready->n--;
    lane->band->n--;
    if (--lane->n == 0)
        lane_is_empty(ready, lane);
}

kc__queue_entry *kc__queue_ready_pop(kc__queue_ready *ready)
{
    kc_heap_node *top = kc_heap_peek(&ready->bands);
    if (!top)
        return NULL;
    kc__queue_band *band = kc_container_of(top, kc__queue_band, node);
    kc__queue_lane *lane = kc_container_of(kc_dlist_first(&band->turns), kc__queue_lane, turn);
    kc__queue_entry *entry = first_in_list(lane), *returned = first_returned(lane);
    if (!entry || (returned && returned->number < entry->number))
        entry = returned;
    if (!band->only && lane->n > 1) { /* Next turn: another lane. */
        kc_dlist_remove(&lane->turn);
        kc_dlist_push(&band->turns, &lane->turn);
    }
    kc__queue_ready_remove(ready, entry);
    return entry;
}
