/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.h: reads all keys of a store at one revision, in pages. Between two pages the store is
 * free: a server commits beside a backup, and the caller may write to this store or another one.
 *
 *     kc_scoped(kc__maintenance_pages) pages = {.storage = storage, .revision = revision};
 *     while (!pages.end)
 *         if (kc__maintenance_page_read(&pages, copy_entry, page, err) < 0 || …)
 */
#ifndef KC_APISERVER_MAINTENANCE_PAGES_H
#define KC_APISERVER_MAINTENANCE_PAGES_H

#include "apiserver/storage/storage.h"

/* Maximum number of keys of a page. A page has about a megabyte of values at most. */
#define KC__MAINTENANCE_PAGE_KEYS ((size_t)512)

typedef struct kc__maintenance_pages {
    kc__storage *storage;
    uint64_t revision;
    kc_buf after; /* The last key that was read; the caller may set the one to continue after. */
    bool end;     /* There are no further keys. */
    size_t limit; /* Private: keys of the next page. */
} kc__maintenance_pages;

void kc__maintenance_pages_done(kc__maintenance_pages *pages);
/* Calls `each`, which must copy what it needs, for the keys of the next page. KC_EXPIRED: the
 * history of the store no longer reaches back to the revision. Blocks. */
int kc__maintenance_page_read(kc__maintenance_pages *pages, kc__storage_entry_fn *each, void *user,
                              kc_error *err);

#endif
