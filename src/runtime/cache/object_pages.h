/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_pages.h: an array of objects with snapshots in constant time.
 *
 *     kc__cache_pages *now = kc__cache_pages_ref(store->pages);         under the store's lock
 *     for (uint32_t id = 0; id < now->n; id++)              without it, for as long as it takes
 *         look_at(kc__cache_pages_at(now, id));
 *     kc__cache_pages_unref(now);
 *
 * The writer changes unshared pages in place and copies shared ones. The writer assigns and reuses
 * ids. There is one writer at a time, and its lock also guards taking references; readers read and
 * release from any thread.
 */
#ifndef KC_RUNTIME_OBJECT_PAGES_H
#define KC_RUNTIME_OBJECT_PAGES_H

#include "kc/object.h"
#include "kc/ref.h"

enum { KC__CACHE_PAGE_OBJECTS = 128 };

typedef struct kc__cache_page {
    kc_ref refs;
    kc_object *objects[KC__CACHE_PAGE_OBJECTS]; /* A reference each, or NULL. */
} kc__cache_page;

typedef struct kc__cache_pages {
    kc_ref refs;
    uint32_t n; /* Every id is less than n. */
    size_t n_pages;
    kc__cache_page **pages; /* A reference each. */
} kc__cache_pages;

kc__cache_pages *kc__cache_pages_new(void);
kc__cache_pages *kc__cache_pages_ref(kc__cache_pages *pages);
kc__cache_pages *kc__cache_pages_unref(kc__cache_pages *pages);
KC_AUTO_DEFINE(kc__cache_pages, kc__cache_pages_unref)

/* The object at an id, or NULL; borrowed. The id must be less than n. */
static inline kc_object *kc__cache_pages_at(const kc__cache_pages *pages, uint32_t id)
{
    return pages->pages[id / KC__CACHE_PAGE_OBJECTS]->objects[id % KC__CACHE_PAGE_OBJECTS];
}

/* Stores an object (or NULL); takes ownership of its reference and returns that of the previous
 * object. The id is at most n. *pages may be replaced. */
kc_object *kc__cache_pages_set(kc__cache_pages **pages, uint32_t id, kc_object *object);

#endif
