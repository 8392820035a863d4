/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_pages.c: a two-level copy-on-write array.
 *
 *     pages ──► [ page │ page │ page │ … ] ──► [ object × 128 ]
 *
 * A snapshot of the array is one more reference to its root. If the root is shared the writer
 * copies it first (one pointer per 128 objects), and likewise a page. A reader that lists a hundred
 * thousand objects therefore costs the writer some microseconds for each page that it changes
 * meanwhile, and nothing afterwards; and no reader holds the writer's lock for longer than one
 * increment.
 *
 * "Not shared" means a count of one. That is reliable because references are taken under the
 * writer's lock: other threads can only release them.
 */
#include "runtime/cache/object_pages.h"

kc__cache_pages *kc__cache_pages_new(void)
{
    kc__cache_pages *pages = kc_new(kc__cache_pages);
    kc_ref_init(&pages->refs);
    return pages;
}

kc__cache_pages *kc__cache_pages_ref(kc__cache_pages *pages)
{
    kc_ref_add(&pages->refs);
    return pages;
}

static void page_unref(kc__cache_page *page)
{
    if (!kc_ref_drop(&page->refs))
        return;
    for (int i = 0; i < KC__CACHE_PAGE_OBJECTS; i++)
        kc_object_unref(page->objects[i]);
    free(page);
}

kc__cache_pages *kc__cache_pages_unref(kc__cache_pages *pages)
{
    if (!pages || !kc_ref_drop(&pages->refs))
        return NULL;
    for (size_t i = 0; i < pages->n_pages; i++)
        page_unref(pages->pages[i]);
    free(pages->pages);
    free(pages);
    return NULL;
}

static kc__cache_page *page_new(void)
{
    kc__cache_page *page = kc_new(kc__cache_page);
    kc_ref_init(&page->refs);
    return page;
}

static kc__cache_page *page_copy(const kc__cache_page *page)
{
    kc__cache_page *copy = page_new();
    for (int i = 0; i < KC__CACHE_PAGE_OBJECTS; i++)
        copy->objects[i] = kc_object_ref(page->objects[i]);
    return copy;
}

static kc__cache_pages *pages_copy(const kc__cache_pages *pages)
{
    kc__cache_pages *copy = kc__cache_pages_new();
    copy->n = pages->n;
    copy->n_pages = pages->n_pages;
    copy->pages = kc_reallocarray(NULL, pages->n_pages, sizeof(kc__cache_page *));
    for (size_t i = 0; i < pages->n_pages; i++) {
        copy->pages[i] = pages->pages[i];
        kc_ref_add(&copy->pages[i]->refs);
    }
    return copy;
}

/* The root, unshared. */
static kc__cache_pages *own_root(kc__cache_pages **pages)
{
    if (kc_ref_count(&(*pages)->refs) > 1) {
        kc__cache_pages *copy = pages_copy(*pages);
        kc__cache_pages_unref(*pages);
        *pages = copy;
    }
    return *pages;
}

/* The page of an id, unshared; appends a page if needed. */
static kc__cache_page *own_page(kc__cache_pages *pages, size_t at)
{
    if (at == pages->n_pages) {
        /* Grows by one: there is only one page per 128 objects, and saving memory is the
         * purpose. */
        pages->pages = kc_reallocarray(pages->pages, pages->n_pages + 1, sizeof(kc__cache_page *));
        pages->pages[pages->n_pages++] = page_new();
    }
    kc__cache_page *page = pages->pages[at];
    if (kc_ref_count(&page->refs) > 1) {
        pages->pages[at] = page_copy(page);
        page_unref(page);
    }
    return pages->pages[at];
}

kc_object *kc__cache_pages_set(kc__cache_pages **pages, uint32_t id, kc_object *object)
{
    kc__cache_pages *root = own_root(pages);
    assert(id <= root->n);
    kc_object **place =
        &own_page(root, id / KC__CACHE_PAGE_OBJECTS)->objects[id % KC__CACHE_PAGE_OBJECTS];
    kc_object *old = *place;
    *place = object;
    root->n = KC_MAX(root->n, id + 1);
    return old;
}
