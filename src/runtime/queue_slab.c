/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_slab.c: memory for entries, by the hundred.
 *
 * The first list of a kind puts every key into the queue at once, while the cache allocates its
 * objects; some seconds later all of them are gone from the queue, and a heap would keep the holes
 * between the objects for good. So entries come from slabs of their own, mapped one by one, and a
 * slab whose entries are all free goes back to the system, except for a few. Keys leave about in
 * the order they came, so slabs become free one after the other.
 *
 * An entry that is free is as zeroed as a new one, but for what the next user writes first: only
 * its link is used meanwhile.
 */
#include "runtime/queue_internal.h"

#include <sys/mman.h>

enum {
    SLAB_BYTES = 128 << 10,
    ENTRY_BYTES = (sizeof(kc__queue_entry) + KC__COMMON_TEXT + 15) / 16 * 16,
    KEPT_EMPTY = 4,
};

struct kc__slab {
    kc_link link; /* In room while it has some. */
    kc_list free; /* Entries that were used before. */
    size_t used;  /* Entries handed out. */
    size_t fresh; /* Position of the first that never was. */
    bool mapped;
    _Alignas(16) char entries[];
};

static size_t capacity(void)
{
    return (SLAB_BYTES - sizeof(kc__slab)) / ENTRY_BYTES;
}

static kc__slab *slab_new(void)
{
    void *memory =
        mmap(NULL, SLAB_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool mapped = memory != MAP_FAILED;
    kc__slab *slab = mapped ? memory : kc_calloc(1, SLAB_BYTES);
    slab->mapped = mapped;
    kc_list_init(&slab->free);
    return slab;
}

static void slab_free(kc__slabs *slabs, kc__slab *slab)
{
    kc_list_remove(&slab->link);
    slabs->n--;
    if (slab->mapped)
        munmap(slab, SLAB_BYTES);
    else
        free(slab);
}

static kc__slab *slab_with_room(kc__slabs *slabs)
{
    kc_link *first = kc_list_first(&slabs->room);
    if (first)
        return kc_container_of(first, kc__slab, link);
    kc__slab *slab = slab_new();
    kc_list_push(&slabs->room, &slab->link);
    slabs->n++;
    slabs->n_empty++;
    return slab;
}

kc__queue_entry *kc__slabs_take(kc__slabs *slabs)
{
    kc__slab *slab = slab_with_room(slabs);
    kc_link *used_before = kc_list_pop(&slab->free);
    kc__queue_entry *entry = used_before
                                 ? kc_container_of(used_before, kc__queue_entry, link)
                                 : (kc__queue_entry *)(slab->entries + slab->fresh++ * ENTRY_BYTES);
    slabs->n_empty -= slab->used == 0;
    if (++slab->used == capacity())
        kc_list_remove(&slab->link);
    entry->slab = slab;
    return entry;
}

void kc__slabs_give(kc__slabs *slabs, kc__queue_entry *entry)
{
    kc__slab *slab = entry->slab;
    kc_list_push_front(&slab->free, &entry->link);
    if (slab->used-- == capacity())
        kc_list_push_front(&slabs->room, &slab->link);
    if (slab->used > 0)
        return;
    if (++slabs->n_empty > KEPT_EMPTY) {
        slabs->n_empty--;
        slab_free(slabs, slab);
    }
}

void kc__slabs_done(kc__slabs *slabs)
{
    kc_list_each (&slabs->room, kc__slab, link, slab)
        slab_free(slabs, slab);
}
