/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.c: many objects. A list holds a snapshot, which costs nothing to take and never changes, and
 * is written item by item as the client reads it, while writers go on.
 *
 *     first pass (only with a limit): where does the page end, and is there more?
 *     second pass: the items, as there is room for them
 */
#include "apiserver/rest/list.h"

#include "apiserver/rest/render.h"

enum {
    FIRST_PIECE = 32 * 1024,
    PIECE_EXCESS = 4 * 1024, /* By which most objects exceed the room that is left. */
};

/* A list on its way out; outlives the call. */
typedef struct listing {
    kc__selection selection;
    kc_cow_snapshot *snapshot;
    kc_cow_iter at;
    size_t left; /* Items of the page still to be written. */
    kc__renderer renderer;
    kc__list_meta meta;
    bool begun;
    kc_buf ahead; /* What was written to see whether it is all. */
} listing;

static void listing_free(void *user)
{
    listing *l = user;
    kc__selection_done(&l->selection);
    kc_cow_snapshot_unref(l->snapshot);
    free((char *)l->meta.continue_token.p);
    kc_buf_done(&l->ahead);
    free(l);
}

static kc__verdict decode(kc__call *call)
{
    return kc__options_read_list(&call->query, false, &call->options, &call->error) < 0 ? KC__FAIL
                                                                                        : KC__NEXT;
}

/* Walks the page to see where it ends; leaves what the list says of the rest in its metadata. */
static void measure(kc__call *call, listing *l, kc_cow_iter at)
{
    l->left = 0;
    while (l->left < (size_t)call->options.limit && kc__selection_next(&l->selection, &at))
        l->left++;
    if (l->left == (size_t)call->options.limit)
        kc__page_end(call, &l->selection, l->snapshot, &at, &l->meta);
    l->meta.continue_token = kc_cstr(kc_str_dup(l->meta.continue_token));
}

static kc__fill write_items(kc_buf *out, size_t room, listing *l)
{
    size_t start = out->n;
    if (!l->begun)
        kc__render_list_begin(&l->renderer, out, &l->meta);
    l->begun = true;
    while (out->n - start < room) {
        if (!l->left || !kc__selection_next(&l->selection, &l->at)) {
            kc__render_list_end(&l->renderer, out);
            return KC__FILL_END;
        }
        l->left--;
        kc__render_list_item(&l->renderer, out, l->at.object);
    }
    return KC__FILL_MORE;
}

static kc__fill fill(kc_buf *out, size_t room, void *user)
{
    listing *l = user;
    if (!l->ahead.n) {
        kc_buf_reserve(out, room + PIECE_EXCESS);
        return write_items(out, room, l);
    }
    kc_buf_append(out, kc_buf_str(&l->ahead));
    kc_buf_done(&l->ahead);
    return KC__FILL_MORE;
}

static const kc__body_source source = {.fill = fill, .done = listing_free};

/* For people the whole text is needed at once. */
static kc__verdict answer_whole(kc__call *call, listing *l)
{
    write_items(&l->ahead, SIZE_MAX, l);
    kc_scoped(kc_buf) json = l->ahead;
    l->ahead = (kc_buf){0};
    listing_free(l);
    return kc__answer_json(call, 200, kc_buf_str(&json));
}

/* A short list is one piece, and one write. */
static kc__verdict answer_streamed(kc__call *call, listing *l)
{
    if (write_items(&l->ahead, FIRST_PIECE, l) != KC__FILL_END)
        return kc__answer_bytes(call, &(kc__answer){.status = 200,
                                                    .type = KC_STR("application/json"),
                                                    .source = &source,
                                                    .user = l,
                                                    .gzip = true});
    return kc__answer_bytes(call, &(kc__answer){.status = 200,
                                                .type = KC_STR("application/json"),
                                                .body = kc_buf_str(&l->ahead),
                                                .owner = l,
                                                .release = listing_free,
                                                .gzip = true});
}

static kc__verdict answer(kc__call *call)
{
    listing *l = kc_new(listing);
    kc__page page = {0};
    kc__verdict verdict = kc__selection_take(call, &l->selection);
    if (verdict == KC__NEXT)
        verdict = kc__page_find(call, &l->selection, &page);
    l->snapshot = page.snapshot;
    if (verdict != KC__NEXT) {
        listing_free(l);
        return verdict;
    }
    l->meta.revision = page.revision;
    l->left = SIZE_MAX;
    l->renderer = kc__renderer_of(call);
    l->at = kc__selection_start(&l->selection, l->snapshot, page.from);
    if (kc__page_is_limited(&call->options))
        measure(call, l, l->at);
    return call->form.yaml || call->form.pretty ? answer_whole(call, l) : answer_streamed(call, l);
}

const kc__verb kc__verb_list = {
    .name = "list",
    .bit = KC__LIST,
    .decode = decode,
    .answer = answer,
};
