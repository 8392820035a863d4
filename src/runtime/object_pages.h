/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_pages.h: an array of objects of which a reader can take a picture in no time.
 *
 *     kc__pages *now = kc__pages_ref(store->pages);         under the store's lock
 *     for (uint32_t id = 0; id < now->n; id++)              without it, for as long as it takes
 *         look_at(kc__pages_at(now, id));
 *     kc__pages_unref(now);
 *
 * The writer changes in place what nobody else holds and copies the rest. Numbers (ids) are the
 * writer's to give and to reuse. One writer at a time, who also guards the taking of references
 * (a lock); readers read and let go from any thread.
 */
#ifndef KC_RUNTIME_OBJECT_PAGES_H
#define KC_RUNTIME_OBJECT_PAGES_H

#include "kc/object.h"
#include "kc/ref.h"

enum { KC__PAGE_OBJECTS = 128 };

typedef struct kc__page {
    kc_ref refs;
    kc_object *objects[KC__PAGE_OBJECTS]; /* A reference each, or NULL. */
} kc__page;

typedef struct kc__pages {
    kc_ref refs;
    uint32_t n; /* Every id is below. */
    size_t n_pages;
    kc__page **pages; /* A reference each. */
} kc__pages;

kc__pages *kc__pages_new(void);
kc__pages *kc__pages_ref(kc__pages *pages);
kc__pages *kc__pages_unref(kc__pages *pages);
KC_AUTO_DEFINE(kc__pages, kc__pages_unref)

/* What stands there, or NULL; borrowed. id is below n. */
static inline kc_object *kc__pages_at(const kc__pages *pages, uint32_t id)
{
    return pages->pages[id / KC__PAGE_OBJECTS]->objects[id % KC__PAGE_OBJECTS];
}

/* Puts an object (or NULL) there; takes the reference and gives that of what stood there. id is at
 * most n. *pages may become another one. */
kc_object *kc__pages_set(kc__pages **pages, uint32_t id, kc_object *object);

#endif
