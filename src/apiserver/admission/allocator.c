/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocator.c: a map from numbers to who took them last. Entries of objects that are gone stay
 * until their number is wanted again, so the map is never larger than the range.
 *
 * A write whose client gave up waiting is settled then, and may still be stored a moment later; who
 * asks for the same number in between gets it too. Kubernetes repairs such doubles with a
 * controller; here it takes a stalled disk, and the same number out of the range.
 */
#include "apiserver/admission/allocator.h"

#include "kc/map.h"
#include "kc/thread.h"

/* Draws until all numbers are looked at one after the other. */
enum { DRAWS = 64 };

typedef struct entry {
    uint32_t number; /* Its bytes are the key. */
    bool under_way;
    char *owner;
} entry;

struct kc__allocator {
    kc__allocator_opts opts;
    kc_mutex mutex; /* Guards the map and its entries. Nothing is locked inside but by `holds`. */
    kc_map entries;
};

kc__allocator *kc__allocator_new(const kc__allocator_opts *opts)
{
    kc__allocator *allocator = kc_new(kc__allocator);
    allocator->opts = *opts;
    kc_mutex_init(&allocator->mutex);
    return allocator;
}

kc__allocator *kc__allocator_free(kc__allocator *allocator)
{
    if (!allocator)
        return NULL;
    kc_map_each (&allocator->entries, it) {
        entry *e = it->value;
        free(e->owner);
        free(e);
    }
    kc_map_done(&allocator->entries);
    kc_mutex_done(&allocator->mutex);
    free(allocator);
    return NULL;
}

static entry *find(kc__allocator *allocator, uint32_t number)
{
    return kc_map_get(&allocator->entries, kc_str_of((const char *)&number, sizeof(number)));
}

static bool is_free(kc__allocator *allocator, const entry *e, kc_str owner)
{
    if (!e || kc_str_is(owner, e->owner))
        return true;
    return !e->under_way &&
           !allocator->opts.holds(e->number, kc_cstr(e->owner), allocator->opts.user);
}

static bool give(kc__allocator *allocator, uint32_t number, kc_str owner)
{
    entry *e = find(allocator, number);
    if (!is_free(allocator, e, owner))
        return false;
    if (!e) {
        e = kc_new(entry);
        e->number = number;
        kc_map_put(&allocator->entries, kc_str_of((const char *)&e->number, sizeof(e->number)), e);
    }
    free(e->owner);
    e->owner = kc_str_dup(owner);
    e->under_way = true;
    return true;
}

kc__allocation kc__allocator_take(kc__allocator *allocator, uint32_t number, kc_str owner)
{
    kc__allocation result = KC__OUT_OF_RANGE;
    if (number >= allocator->opts.first && number <= allocator->opts.last)
        kc_locked (&allocator->mutex)
            result = give(allocator, number, owner) ? KC__ALLOCATED : KC__TAKEN;
    return result;
}

static bool draw(kc__allocator *allocator, kc_rand *rand, kc_str owner, uint32_t *ret_number)
{
    const kc__allocator_opts *o = &allocator->opts;
    uint32_t low = o->draw_from > o->first ? o->draw_from : o->first;
    for (int i = 0; i < DRAWS; i++) {
        *ret_number = low + (uint32_t)kc_rand_below(rand, (uint64_t)o->last - low + 1);
        if (give(allocator, *ret_number, owner))
            return true;
    }
    for (uint64_t n = o->first; n <= o->last; n++) {
        *ret_number = (uint32_t)n;
        if (give(allocator, *ret_number, owner))
            return true;
    }
    return false;
}

kc__allocation kc__allocator_draw(kc__allocator *allocator, kc_rand *rand, kc_str owner,
                                  uint32_t *ret_number)
{
    uint32_t number = 0;
    bool found = false;
    kc_locked (&allocator->mutex)
        found = draw(allocator, rand, owner, &number);
    if (!found)
        return KC__EXHAUSTED;
    *ret_number = number;
    return KC__ALLOCATED;
}

void kc__allocator_settle(kc__allocator *allocator, uint32_t number)
{
    kc_locked (&allocator->mutex) {
        entry *e = find(allocator, number);
        if (e)
            e->under_way = false;
    }
}
