/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delete_collection.c: DELETE of what a list would show. Every object is deleted as if one by one,
 * each by its own compare-and-swap, all handed to the committer at once; the answer lists them as
 * they were. It is not one transaction: when one fails, others may be gone.
 *
 * Where webhooks are to be asked, that happens for one object after the other, and ends with the
 * first that may not go.
 */
#include "apiserver/admission/asking.h"
#include "apiserver/rest/decode.h"
#include "apiserver/rest/deletion.h"
#include "apiserver/rest/list.h"
#include "apiserver/rest/render.h"
#include "apiserver/rest/write.h"

typedef struct batch batch;

typedef struct item {
    batch *batch;
    kc__write write;
    kc_object *listed;  /* As the answer shows it. */
    kc_object *current; /* As it is stored, as far as we know. */
    kc_object *next;    /* What it becomes. */
    char *key;
    unsigned tries;
    bool again; /* It is removed after what is being stored. */
} item;

struct batch {
    kc__call *call;
    item *items;
    size_t n, left;
    size_t next;        /* To be asked about. */
    kc__list_meta meta; /* Its token is the call's. */
};

static kc__verdict decode(kc__call *call)
{
    kc_auto(kc_object) *body = NULL;
    kc__verdict verdict = kc__decode_options_body(call, &body);
    if (verdict != KC__NEXT)
        return verdict;
    call->skip_validation = true;
    if (kc__options_read_list(&call->query, false, &call->options, &call->error) < 0 ||
        kc__options_read_delete(&call->query, body, call->arena, &call->options, &call->error) < 0)
        return KC__FAIL;
    return KC__NEXT;
}

static void batch_free(batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        kc_object_unref(b->items[i].listed);
        kc_object_unref(b->items[i].current);
        kc_object_unref(b->items[i].next);
        free(b->items[i].key);
    }
    free(b->items);
    free(b);
}

/* ---- deleting one ---- */

static void done(kc__write *write);

/* Submits what is to happen to an item now; false when nothing is left to do for it. */
static bool submit(item *it)
{
    kc__call *call = it->batch->call;
    kc__deletion plan;
    if (!it->current || call->error.reason || kc__deletion_check(call, it->current) != KC__NEXT ||
        kc__deletion_plan(call, it->current, &plan) < 0)
        return false;
    kc_object_unref(it->next);
    it->next = plan.object;
    it->again = plan.again;
    bool same =
        !plan.removes && kc_str_eq(kc_object_json(plan.object), kc_object_json(it->current));
    if (same || call->options.dry_run)
        return false;
    it->write = (kc__write){.cache = call->served->cache,
                            .verb = plan.removes ? KC_STORAGE_DELETE : KC_STORAGE_PUT,
                            .key = kc_cstr(it->key),
                            .expected = kc_object_revision(it->current),
                            .object = plan.removes ? NULL : it->next,
                            .loop = call->x->loop,
                            .done = done};
    kc__store_submit(call->api->store, &it->write);
    return true;
}

static void finish_one(batch *b)
{
    if (--b->left)
        return;
    kc__call *call = b->call;
    kc__call_go_on(call, call->error.reason ? KC__FAIL : KC__ANSWER);
}

static void done(kc__write *write)
{
    item *it = kc_container_of(write, item, write);
    batch *b = it->batch;
    if (write->error.reason && !b->call->error.reason)
        kc_error_move(&b->call->error, &write->error);
    kc_error_done(&write->error);
    bool lost = write->outcome == KC_STORAGE_CONFLICT && !b->call->error.reason;
    kc_object_unref(it->current);
    it->current = kc_take(write->result);
    bool more =
        lost ? ++it->tries < KC__MAX_RACES : it->again && write->outcome == KC_STORAGE_STORED;
    if (more && submit(it))
        return;
    finish_one(b);
}

/* ---- with webhooks ---- */

static void allowed(void *user, kc__verdict verdict);

/* Asks about those that are left; returns when it has to wait, or nobody is. */
static void ask_on(batch *b)
{
    kc__call *call = b->call;
    while (b->next < b->n && !call->error.reason) {
        item *it = &b->items[b->next++];
        kc__verdict verdict = kc__admit_departure(call, it->current, allowed, it);
        if (verdict == KC__LATER)
            return;
        if (verdict != KC__NEXT || !submit(it))
            b->left--;
    }
    b->left -= b->n - b->next + 1; /* Those nobody asks about any more, and the asking itself. */
    b->next = b->n;
}

static void allowed(void *user, kc__verdict verdict)
{
    item *it = user;
    batch *b = it->batch;
    if (verdict != KC__NEXT || !submit(it))
        b->left--;
    ask_on(b);
    b->left++;
    finish_one(b);
}

/* ---- all of them ---- */

static void collect(kc__call *call, const kc__selection *selection, kc__page *page, batch *b)
{
    bool limited = kc__page_is_limited(&call->options);
    size_t most = limited ? (size_t)call->options.limit : SIZE_MAX;
    KC_VEC(item) items = {0};
    kc_cow_iter at = kc__selection_start(selection, page->snapshot, page->from);
    b->meta.revision = page->revision;
    while (items.n < most && kc__selection_next(selection, &at))
        kc_vec_push(&items, (item){.batch = b,
                                   .listed = kc_object_ref(at.object),
                                   .current = kc_object_ref(at.object),
                                   .key = kc_str_dup(at.key)});
    if (items.n == most)
        kc__page_end(call, selection, page->snapshot, &at, &b->meta);
    b->items = items.items;
    b->n = items.n;
}

static kc__verdict start(kc__call *call, batch *b)
{
    b->left = b->n + 1; /* One for ourselves, until all are submitted. */
    if (kc__asks_hooks(call)) {
        ask_on(b);
        return b->left ? KC__LATER : call->error.reason ? KC__FAIL : KC__ANSWER;
    }
    for (size_t i = 0; i < b->n; i++)
        if (!submit(&b->items[i]))
            b->left--;
    if (--b->left)
        return KC__LATER;
    return call->error.reason ? KC__FAIL : KC__ANSWER;
}

static kc__verdict propose(kc__call *call)
{
    kc__selection selection = {0};
    kc__page page = {0};
    batch *b = kc_new(batch);
    b->call = call;
    call->state = b;
    kc__verdict verdict = kc__selection_take(call, &selection);
    if (verdict == KC__NEXT)
        verdict = kc__page_find(call, &selection, &page);
    if (verdict == KC__NEXT) {
        collect(call, &selection, &page, b);
        verdict = start(call, b);
    }
    kc_cow_snapshot_unref(page.snapshot);
    kc__selection_done(&selection);
    return verdict;
}

static kc__verdict answer(kc__call *call)
{
    batch *b = call->state;
    kc_scoped(kc_buf) out = {0};
    kc__renderer renderer = kc__renderer_of(call);
    kc__render_list_begin(&renderer, &out, &b->meta);
    for (size_t i = 0; i < b->n; i++)
        kc__render_list_item(&renderer, &out, b->items[i].listed);
    kc__render_list_end(&renderer, &out);
    return kc__answer_json(call, 200, kc_buf_str(&out));
}

static void forget(kc__call *call)
{
    if (call->state)
        batch_free(call->state);
}

const kc__verb kc__verb_delete_collection = {
    .name = "deletecollection",
    .bit = KC__DELETE_COLLECTION,
    .mutates = true,
    .decode = decode,
    .propose = propose,
    .answer = answer,
    .forget = forget,
};
