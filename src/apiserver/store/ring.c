/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.c: the recent events of one resource, by revision: for watchers that start behind, and for
 * states of the past.
 *
 *     oldest 17 │ 19  23  24  31 │            19 is the first after 17 that concerns this resource
 *
 * A ring grows as it must and is made shorter by recent.c, which knows what all rings weigh
 * together. `oldest` is the revision of the event dropped last (or what the storage had compacted
 * when the store was opened): who stands there or later can be told everything that followed.
 *
 * Readers take parts of bounded size, so that the committer, who pushes, never waits for long. The
 * ring may be ahead of the store's revision: readers say up to where they want to see.
 */
#include "apiserver/store/store_internal.h"

/* Events looked at, wanted or not, under one lock. */
#define SCAN 2048

void kc__ring_init(kc__ring *ring, uint64_t oldest)
{
    kc_mutex_init(&ring->mutex);
    ring->oldest = oldest;
}

static kc__event *at(const kc__ring *ring, size_t i)
{
    return ring->events[(ring->first + i) & (ring->room - 1)];
}

void kc__ring_done(kc__ring *ring)
{
    for (size_t i = 0; i < ring->n; i++)
        kc__event_unref(at(ring, i));
    free(ring->events);
    kc_mutex_done(&ring->mutex);
}

static void resize(kc__ring *ring, size_t room)
{
    kc__event **events = kc_reallocarray(NULL, room, sizeof(kc__event *));
    for (size_t i = 0; i < ring->n; i++)
        events[i] = at(ring, i);
    free(ring->events);
    ring->events = events;
    ring->first = 0;
    ring->room = room;
}

void kc__ring_push(kc__ring *ring, const kc__event *event)
{
    kc_locked (&ring->mutex) {
        if (ring->n == ring->room)
            resize(ring, KC_MAX(ring->room * 2, 16));
        ring->events[(ring->first + ring->n++) & (ring->room - 1)] = kc__event_ref(event);
    }
}

kc__event *kc__ring_drop(kc__ring *ring)
{
    kc__event *event = NULL;
    kc_locked (&ring->mutex) {
        assert(ring->n > 0);
        event = at(ring, 0);
        ring->first = (ring->first + 1) & (ring->room - 1);
        ring->n--;
        ring->oldest = event->revision;
        if (ring->room > 64 && ring->n < ring->room / 8)
            resize(ring, ring->room / 4);
    }
    return event;
}

uint64_t kc__ring_oldest(kc__ring *ring)
{
    uint64_t oldest = 0;
    kc_locked (&ring->mutex)
        oldest = ring->oldest;
    return oldest;
}

/* How many events have a revision up to and including this one. */
static size_t count_up_to(const kc__ring *ring, uint64_t revision)
{
    size_t low = 0, high = ring->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (at(ring, middle)->revision <= revision)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void scan(const kc__ring *ring, size_t from, size_t end, const kc__interest *interest,
                 kc__ring_part *part)
{
    size_t i = from;
    for (; i < end && i - from < SCAN && part->n < KC__RING_PART; i++)
        if (kc__interest_has(interest, kc__event_key(at(ring, i))))
            part->events[part->n++] = kc__event_ref(at(ring, i));
    if (i < end)
        part->reached = at(ring, i)->revision - 1;
}

bool kc__ring_read(kc__ring *ring, uint64_t after, uint64_t up_to, const kc__interest *interest,
                   kc__ring_part *ret_part)
{
    bool there = false;
    kc_locked (&ring->mutex) {
        there = after >= ring->oldest;
        ret_part->n = 0;
        ret_part->reached = KC_MAX(after, up_to);
        if (there)
            scan(ring, count_up_to(ring, after), count_up_to(ring, up_to), interest, ret_part);
    }
    return there;
}

bool kc__ring_read_back(kc__ring *ring, uint64_t after, uint64_t up_to, kc__ring_part *ret_part)
{
    bool there = false;
    kc_locked (&ring->mutex) {
        there = after >= ring->oldest;
        ret_part->n = 0;
        ret_part->reached = after;
        size_t low = there ? count_up_to(ring, after) : 0, i = there ? count_up_to(ring, up_to) : 0;
        while (i > low && ret_part->n < KC__RING_PART)
            ret_part->events[ret_part->n++] = kc__event_ref(at(ring, --i));
        if (i > low)
            ret_part->reached = at(ring, i - 1)->revision;
    }
    return there;
}

bool kc__ring_is_read(kc__ring *ring, uint64_t after, uint64_t up_to)
{
    bool read = false;
    kc_locked (&ring->mutex)
        read = after >= ring->oldest && count_up_to(ring, up_to) <= count_up_to(ring, after);
    return read;
}
