/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.c: the recent events of one resource, by revision: for watchers that start at an older
 * revision, and for snapshots at an older revision.
 *
 *     oldest 17 │ 19  23  24  31 │            19 is the first after 17 that concerns this resource
 *
 * A ring grows as needed; recent.c, which tracks the total size of all rings, drops its oldest
 * events. `oldest` is the revision of the last dropped event (or the storage's compaction revision
 * when the store was opened): a reader at that revision or later can get every later event.
 *
 * Threads: only the committer pushes and drops. Readers on any thread read parts of bounded size,
 * so that the committer never waits long. The ring may be ahead of the store's revision: readers
 * pass the revision up to which they read.
 */
#include "apiserver/store/store_internal.h"

/* Maximum number of events examined under one lock, matching or not. */
#define SCAN 2048

void kc__store_ring_init(kc__store_ring *ring, uint64_t oldest)
{
    kc_mutex_init(&ring->mutex);
    ring->oldest = oldest;
}

static kc__store_event *at(const kc__store_ring *ring, size_t i)
{
    return ring->events[(ring->first + i) & (ring->room - 1)];
}

void kc__store_ring_done(kc__store_ring *ring)
{
    for (size_t i = 0; i < ring->n; i++)
        kc__store_event_unref(at(ring, i));
    free(ring->events);
    kc_mutex_done(&ring->mutex);
}

/* Copying a long ring takes milliseconds, and readers on the event loops wait for the mutex. Only
 * the committer, which calls this, changes the ring; so it copies without the mutex and takes the
 * mutex only to swap the arrays. */
static void ring_resize(kc__store_ring *ring, size_t room)
{
    kc__store_event **events = kc_reallocarray(NULL, room, sizeof(kc__store_event *)),
                    **before = NULL;
    for (size_t i = 0; i < ring->n; i++)
        events[i] = at(ring, i);
    kc_locked (&ring->mutex) {
        before = ring->events;
        ring->events = events;
        ring->first = 0;
        ring->room = room;
    }
    free(before);
}

void kc__store_ring_push(kc__store_ring *ring, const kc__store_event *event)
{
    if (ring->n == ring->room)
        ring_resize(ring, KC_MAX(ring->room * 2, 16));
    kc_locked (&ring->mutex)
        ring->events[(ring->first + ring->n++) & (ring->room - 1)] = kc__store_event_ref(event);
}

kc__store_event *kc__store_ring_drop(kc__store_ring *ring)
{
    kc__store_event *event = NULL;
    kc_locked (&ring->mutex) {
        assert(ring->n > 0);
        event = at(ring, 0);
        ring->first = (ring->first + 1) & (ring->room - 1);
        ring->n--;
        ring->oldest = event->revision;
    }
    if (ring->room > 64 && ring->n < ring->room / 8)
        ring_resize(ring, ring->room / 4);
    return event;
}

uint64_t kc__store_ring_oldest(kc__store_ring *ring)
{
    uint64_t oldest = 0;
    kc_locked (&ring->mutex)
        oldest = ring->oldest;
    return oldest;
}

/* Number of events with a revision up to and including this one. */
static size_t count_up_to(const kc__store_ring *ring, uint64_t revision)
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

/* Whether an event and the one before it are of one revision: a part contains both or none. */
static bool is_one_revision(const kc__store_ring *ring, size_t i)
{
    return i > 0 && i < ring->n && at(ring, i)->revision == at(ring, i - 1)->revision;
}

static void scan(const kc__store_ring *ring, size_t from, size_t end,
                 const kc__store_key_filter *interest, kc__store_ring_part *part)
{
    size_t i = from;
    for (; i < end &&
           (is_one_revision(ring, i) || (i - from < SCAN && part->n < KC__STORE_RING_PART));
         i++)
        if (kc__store_key_filter_matches(interest, kc__store_event_key(at(ring, i))))
            part->events[part->n++] = kc__store_event_ref(at(ring, i));
    if (i < end)
        part->reached = at(ring, i)->revision - 1;
}

bool kc__store_ring_read(kc__store_ring *ring, uint64_t after, uint64_t up_to,
                         const kc__store_key_filter *interest, kc__store_ring_part *ret_part)
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

bool kc__store_ring_read_back(kc__store_ring *ring, uint64_t after, uint64_t up_to,
                              kc__store_ring_part *ret_part)
{
    bool there = false;
    kc_locked (&ring->mutex) {
        there = after >= ring->oldest;
        ret_part->n = 0;
        ret_part->reached = after;
        size_t low = there ? count_up_to(ring, after) : 0, i = there ? count_up_to(ring, up_to) : 0;
        while (i > low && (ret_part->n < KC__STORE_RING_PART || is_one_revision(ring, i)))
            ret_part->events[ret_part->n++] = kc__store_event_ref(at(ring, --i));
        if (i > low)
            ret_part->reached = at(ring, i - 1)->revision;
    }
    return there;
}

bool kc__store_ring_is_read(kc__store_ring *ring, uint64_t after, uint64_t up_to)
{
    bool read = false;
    kc_locked (&ring->mutex)
        read = after >= ring->oldest && count_up_to(ring, up_to) <= count_up_to(ring, after);
    return read;
}
