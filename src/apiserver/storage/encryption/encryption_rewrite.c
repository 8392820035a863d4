/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encryption_rewrite.c: rewrites stored values, page by page: a page of keys is read, the stale
 * values among them are encrypted again and committed as one batch.
 *
 * The object inside a value keeps the resourceVersion that it was stored with; the store sets the
 * new one when it loads the value (store/store_load.c). A page ends after a number of keys or
 * bytes, so memory is bounded.
 */
#include "apiserver/storage/encryption/encryption_rewrite.h"

#include "apiserver/storage/stored_key.h"

enum { PAGE_KEYS = 256, PAGE_FULL = 1 };
#define PAGE_BYTES ((size_t)16 << 20)

typedef struct rewrite_page {
    kc__encryption *encryption;
    kc__encryption_config *config;
    kc__encryption_resource (*resource_of)(kc_str prefix);
    kc__encryption_rewritten *result;
    KC_VEC(kc__storage_op) ops;
    KC_VEC(kc_buf) values; /* Plain text is wiped before it is freed. */
    kc_arena keys;
    kc_str last;
    size_t n, bytes;
    kc_error *err;
} rewrite_page;

static void clear_page(rewrite_page *page)
{
    kc_vec_each (&page->values, value)
        kc_buf_done(value);
    kc_vec_clear(&page->values);
    kc_vec_clear(&page->ops);
    page->n = page->bytes = 0;
}

static void rewrite_page_done(rewrite_page *page)
{
    clear_page(page);
    kc_vec_done(&page->values);
    kc_vec_done(&page->ops);
    kc_arena_done(&page->keys);
    kc__encryption_config_unref(page->config);
}

static void record_unreadable(rewrite_page *page, kc_str key, kc_error *why)
{
    if (page->result->unreadable++ == 0) {
        kc_error_wrap(why, "%.*s", KC_ARG(key));
        kc_error_move(&page->result->first_error, why);
    }
}

static int seal_again(rewrite_page *page, kc__encryption_resource resource,
                      const kc__storage_entry *entry, kc_str plain)
{
    kc_buf *value = kc_vec_add(&page->values);
    if (kc__encryption_seal(page->encryption, page->config, resource, page->last, plain, value,
                            page->err) < 0)
        return kc_error_result(page->err);
    kc_vec_push(&page->ops, ((kc__storage_op){.verb = KC__STORAGE_PUT,
                                              .key = page->last,
                                              .expected = entry->revision,
                                              .value = kc_buf_str(value)}));
    page->bytes += value->n;
    return 0;
}

static int visit_entry(const kc__storage_entry *entry, void *user)
{
    rewrite_page *page = user;
    kc_scoped(kc_buf) buffer = {0};
    kc_scoped(kc_error) why = {0};
    kc_str plain;
    bool stale = false;
    page->last = kc_arena_str(&page->keys, entry->key);
    page->n++;
    page->result->objects++;
    const kc__encryption_resource resource = page->resource_of(kc__storage_key_prefix(page->last));
    if (kc__encryption_unseal(page->encryption, page->config, resource, entry->key, entry->value,
                              &buffer, &plain, &stale, &why) < 0) {
        record_unreadable(page, entry->key, &why);
        return 0;
    }
    if (stale && seal_again(page, resource, entry, plain) < 0)
        return kc_error_result(page->err);
    return page->bytes >= PAGE_BYTES ? PAGE_FULL : 0;
}

static int commit_page(rewrite_page *page, kc__storage *storage)
{
    kc__storage_result results[PAGE_KEYS];
    if (!page->ops.n)
        return 0;
    if (kc__storage_commit(storage, page->ops.items, page->ops.n, results, NULL, page->err) < 0)
        return kc_error_result(page->err);
    for (size_t i = 0; i < page->ops.n; i++)
        if (results[i].outcome != KC__STORAGE_STORED)
            return kc_error_set(page->err, KC_CONFLICT, "%.*s was changed by another process",
                                KC_ARG(page->ops.items[i].key));
    page->result->rewritten += page->ops.n;
    return 0;
}

/* Reads the page after `after`, which is freed with it. *ret_more: there are further keys. */
static int rewrite_one_page(rewrite_page *page, kc__storage *storage, kc_buf *after, bool *ret_more)
{
    kc__storage_state state = {0};
    const kc__storage_list_opts opts = {
        .prefix = KC_STR(KC__STORAGE_KEY_ROOT), .after = kc_buf_str(after), .limit = PAGE_KEYS};
    const int walked = kc__storage_list(storage, &opts, visit_entry, page, &state, page->err);
    if (walked < 0 || commit_page(page, storage) < 0)
        return kc_error_result(page->err);
    *ret_more = walked == PAGE_FULL || state.more;
    kc_buf_clear(after);
    kc_buf_append(after, page->last);
    clear_page(page);
    kc_arena_clear(&page->keys);
    return 0;
}

int kc__encryption_rewrite(kc__storage *storage, kc__encryption *encryption,
                           kc__encryption_resource (*resource_of)(kc_str prefix),
                           kc__encryption_rewritten *ret, kc_error *err)
{
    kc_scoped(rewrite_page) page = {.encryption = encryption,
                                    .config = kc__encryption_current(encryption),
                                    .resource_of = resource_of,
                                    .result = ret,
                                    .err = err};
    kc_scoped(kc_buf) after = {0};
    bool more = true;
    while (more)
        if (rewrite_one_page(&page, storage, &after, &more) < 0)
            return kc_error_result(err);
    return 0;
}
