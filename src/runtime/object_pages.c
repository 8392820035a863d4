/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_pages.c: an array in two levels, shared until it is written.
 *
 *     pages ──► [ page │ page │ page │ … ] ──► [ object × 128 ]
 *
 * A picture of the array is one more reference to its root. When the writer finds the root shared,
 * it copies that (a pointer for each 128 objects), and when it finds the page shared, the page. So
 * a reader that lists a hundred thousand objects costs the writer some microseconds for each page
 * it touches meanwhile, and nothing afterwards; and no reader ever holds the writer's lock for
 * longer than it takes to count one up.
 *
 * "Not shared" is a count of one. It can be trusted because references are taken under the writer's
 * lock: others can only let go.
 */
#include "runtime/object_pages.h"

kc__pages *kc__pages_new(void)
{
    kc__pages *pages = kc_new(kc__pages);
    kc_ref_init(&pages->refs);
    return pages;
}

kc__pages *kc__pages_ref(kc__pages *pages)
{
    kc_ref_add(&pages->refs);
    return pages;
}

static void page_unref(kc__page *page)
{
    if (!kc_ref_drop(&page->refs))
        return;
    for (int i = 0; i < KC__PAGE_OBJECTS; i++)
        kc_object_unref(page->objects[i]);
    free(page);
}

kc__pages *kc__pages_unref(kc__pages *pages)
{
    if (!pages || !kc_ref_drop(&pages->refs))
        return NULL;
    for (size_t i = 0; i < pages->n_pages; i++)
        page_unref(pages->pages[i]);
    free(pages->pages);
    free(pages);
    return NULL;
}

static kc__page *page_new(void)
{
    kc__page *page = kc_new(kc__page);
    kc_ref_init(&page->refs);
    return page;
}

static kc__page *page_copy(const kc__page *page)
{
    kc__page *copy = page_new();
    for (int i = 0; i < KC__PAGE_OBJECTS; i++)
        copy->objects[i] = kc_object_ref(page->objects[i]);
    return copy;
}

static kc__pages *pages_copy(const kc__pages *pages)
{
    kc__pages *copy = kc__pages_new();
    copy->n = pages->n;
    copy->n_pages = pages->n_pages;
    copy->pages = kc_reallocarray(NULL, pages->n_pages, sizeof(kc__page *));
    for (size_t i = 0; i < pages->n_pages; i++) {
        copy->pages[i] = pages->pages[i];
        kc_ref_add(&copy->pages[i]->refs);
    }
    return copy;
}

/* The root, ours alone. */
static kc__pages *own_root(kc__pages **pages)
{
    if (kc_ref_count(&(*pages)->refs) > 1) {
        kc__pages *copy = pages_copy(*pages);
        kc__pages_unref(*pages);
        *pages = copy;
    }
    return *pages;
}

/* The page an id is on, ours alone; a new one behind the last. */
static kc__page *own_page(kc__pages *pages, size_t at)
{
    if (at == pages->n_pages) {
        /* By one: there is a page for 128 objects only, and memory is what this is about. */
        pages->pages = kc_reallocarray(pages->pages, pages->n_pages + 1, sizeof(kc__page *));
        pages->pages[pages->n_pages++] = page_new();
    }
    kc__page *page = pages->pages[at];
    if (kc_ref_count(&page->refs) > 1) {
        pages->pages[at] = page_copy(page);
        page_unref(page);
    }
    return pages->pages[at];
}

kc_object *kc__pages_set(kc__pages **pages, uint32_t id, kc_object *object)
{
    kc__pages *root = own_root(pages);
    assert(id <= root->n);
    kc_object **place = &own_page(root, id / KC__PAGE_OBJECTS)->objects[id % KC__PAGE_OBJECTS];
    kc_object *old = *place;
    *place = object;
    root->n = KC_MAX(root->n, id + 1);
    return old;
}
