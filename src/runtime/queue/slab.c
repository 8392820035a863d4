/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slab.c: a slab allocator for entries.
 *
 * The first list of a kind puts every key into the queue at once, while the cache allocates its
 * objects. Some seconds later all of these entries are gone from the queue, and a general-purpose
 * heap would keep the holes between the objects for good. Entries are therefore allocated from
 * slabs, each mapped separately, and an empty slab is returned to the system, except for a few.
 * Keys leave roughly in the order in which they came, so slabs become empty one after the other.
 *
 * A free entry is zeroed like a new one, except for what the next user writes first: only its link
 * is used meanwhile.
 */
#include "runtime/queue/queue_internal.h"

#include <sys/mman.h>

enum {
    SLAB_BYTES = 128 << 10,
    ENTRY_BYTES = (sizeof(kc__queue_entry) + KC__QUEUE_COMMON_TEXT + 15) / 16 * 16,
    KEPT_EMPTY = 4,
};

struct kc__queue_slab {
    kc_dlist_link link; /* In `room` while it has room. */
    kc_dlist free;      /* Entries that were used before. */
    size_t used;        /* Entries in use. */
    size_t fresh;       /* Index of the first entry that was never used. */
    bool mapped;
    _Alignas(16) char entries[];
};

static size_t capacity(void)
{
    return (SLAB_BYTES - sizeof(kc__queue_slab)) / ENTRY_BYTES;
}

static kc__queue_slab *slab_new(void)
{
    void *memory =
        mmap(NULL, SLAB_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool mapped = memory != MAP_FAILED;
    kc__queue_slab *slab = mapped ? memory : kc_calloc(1, SLAB_BYTES);
    slab->mapped = mapped;
    kc_dlist_init(&slab->free);
    return slab;
}

static void slab_free(kc__queue_slabs *slabs, kc__queue_slab *slab)
{
    kc_dlist_remove(&slab->link);
    slabs->n--;
    if (slab->mapped)
        munmap(slab, SLAB_BYTES);
    else
        free(slab);
}

static kc__queue_slab *slab_with_room(kc__queue_slabs *slabs)
{
    kc_dlist_link *first = kc_dlist_first(&slabs->room);
    if (first)
        return kc_container_of(first, kc__queue_slab, link);
    kc__queue_slab *slab = slab_new();
    kc_dlist_push(&slabs->room, &slab->link);
    slabs->n++;
    slabs->n_empty++;
    return slab;
}

kc__queue_entry *kc__queue_slabs_take(kc__queue_slabs *slabs)
{
    kc__queue_slab *slab = slab_with_room(slabs);
    kc_dlist_link *used_before = kc_dlist_pop(&slab->free);
    kc__queue_entry *entry = used_before
                                 ? kc_container_of(used_before, kc__queue_entry, link)
                                 : (kc__queue_entry *)(slab->entries + slab->fresh++ * ENTRY_BYTES);
    slabs->n_empty -= slab->used == 0;
    if (++slab->used == capacity())
        kc_dlist_remove(&slab->link);
    entry->slab = slab;
    return entry;
}

void kc__queue_slabs_put(kc__queue_slabs *slabs, kc__queue_entry *entry)
{
    kc__queue_slab *slab = entry->slab;
    kc_dlist_push_front(&slab->free, &entry->link);
    if (slab->used-- == capacity())
        kc_dlist_push_front(&slabs->room, &slab->link);
    if (slab->used > 0)
        return;
    if (++slabs->n_empty > KEPT_EMPTY) {
        slabs->n_empty--;
        slab_free(slabs, slab);
    }
}

void kc__queue_slabs_done(kc__queue_slabs *slabs)
{
    kc_dlist_each (&slabs->room, kc__queue_slab, link, slab)
        slab_free(slabs, slab);
}
