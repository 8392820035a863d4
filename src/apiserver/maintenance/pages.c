/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.c: pages of a store at one revision.
 *
 * A backend may hold its lock while it lists (storage.h). A page bounds that time, and the memory
 * that a caller needs for a copy. An exclusive backend reads entry by entry, so a page ends after
 * its bytes; a shared one returns all requested keys, so the next page has fewer keys instead.
 */
#include "apiserver/maintenance/pages.h"

#define PAGE_BYTES ((size_t)1 << 20)
#define FIRST_KEYS ((size_t)64) /* Their size is unknown. */

enum { PAGE_FULL = 1 };

typedef struct page_reading {
    kc__storage_entry_fn *each;
    void *user;
    kc_buf *last;
    size_t keys, bytes;
    bool ends_early; /* After PAGE_BYTES. */
} page_reading;

void kc__maintenance_pages_done(kc__maintenance_pages *pages)
{
    kc_buf_done(&pages->after);
}

static int visit_page_entry(const kc__storage_entry *entry, void *user)
{
    page_reading *walk = user;
    const int stopped = walk->each(entry, walk->user);
    if (stopped)
        return stopped;
    kc_buf_clear(walk->last);
    kc_buf_append(walk->last, entry->key);
    walk->keys++;
    walk->bytes += entry->value.n;
    return walk->ends_early && walk->bytes >= PAGE_BYTES ? PAGE_FULL : 0;
}

/* The number of keys of the next page, for about PAGE_BYTES of values like these. */
static size_t next_limit(const page_reading *walk)
{
    const size_t of_bytes = walk->keys * PAGE_BYTES / (walk->bytes + 1) + 1;
    return KC_MIN(of_bytes, KC__MAINTENANCE_PAGE_KEYS);
}

int kc__maintenance_page_read(kc__maintenance_pages *pages, kc__storage_entry_fn *each, void *user,
                              kc_error *err)
{
    kc__storage_state state = {0};
    kc_scoped(kc_buf) last = {0};
    page_reading walk = {.each = each,
                         .user = user,
                         .last = &last,
                         .ends_early = pages->storage->backend->exclusive};
    const kc__storage_list_opts opts = {.after = kc_buf_str(&pages->after),
                                        .revision = pages->revision,
                                        .limit = pages->limit ? pages->limit : FIRST_KEYS};
    const int walked =
        kc__storage_list(pages->storage, &opts, visit_page_entry, &walk, &state, err);
    if (walked < 0)
        return walked;
    pages->limit = next_limit(&walk);
    pages->end = walked != PAGE_FULL && !state.more;
    if (last.n) {
        kc_buf_clear(&pages->after);
        kc_buf_append(&pages->after, kc_buf_str(&last));
    }
    return 0;
}
