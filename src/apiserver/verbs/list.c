/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.c: LIST of objects. A list holds a snapshot, which is free to take and never changes. Items
 * are written one by one as the client reads, while writes continue: JSON, YAML, indented text and
 * tables alike. A client in the same process receives the objects themselves (exchange.h).
 *
 *     first pass (only with a limit): find the end of the page, and whether more objects follow
 *     second pass: write the items, as there is room for them
 *
 * A list that is not written at once is counted (outgoing.h), and so is the old snapshot that it
 * holds (kc__watch_cache_hold). If either takes too much memory, the list is cancelled: it drops
 * what it holds, and its body is aborted.
 */
#include "apiserver/verbs/list.h"

#include "apiserver/call/call_conversion.h"
#include "apiserver/request/offload_source.h"
#include "apiserver/request/outgoing.h"
#include "apiserver/request/render.h"
#include "apiserver/request/unservable.h"
#include "base/work.h"

enum {
    FIRST_PIECE = 32 * 1024,
    PIECE_EXCESS = 4 * 1024, /* Space for the last object, which exceeds the room; enough for
                                most objects. */
    FEW_ITEMS = 16,          /* May be much smaller than a chunk. */
};

/* A list response in progress; outlives the call. */
typedef struct list_response {
    kc__rest_outgoing out;
    kc__watch_cache *cache;
    kc__store_hold *hold;
    kc__offload_body *offloaded; /* NULL: the loop produces its chunks. */
    kc__rest_selection selection;
    kc__rest_page page;
    kc__remote_pins pins; /* Conversions of its objects by a webhook. */
    kc__cow_iter at;
    size_t left; /* Items of the page that are not written yet. */
    kc__rest_renderer renderer;
    kc__print_list_meta meta;
    bool begun;
    bool ended;   /* `ahead` is the whole list. */
    kc_buf ahead; /* Written in advance, to find out whether it is the whole list. */
    /* Items that a worker has produced, in order, followed by the list object itself. */
    KC_VEC(kc_object *) made;
    size_t n_given; /* Number of them that were delivered. */
    bool made_by_worker;
} list_response;

/* Frees the memory of the list; afterwards only kc__rest_outgoing may use the struct. */
static void listing_drop(list_response *l)
{
    l->hold = kc__store_hold_release(l->hold);
    kc__rest_selection_done(&l->selection);
    l->page.snapshot = kc__cow_snapshot_unref(l->page.snapshot);
    kc__rest_renderer_done(&l->renderer);
    kc__remote_pins_done(&l->pins);
    kc_buf_done(&l->ahead);
    kc_vec_each (&l->made, object)
        kc_object_unref(*object);
    kc_vec_done(&l->made);
}

static void listing_free(void *user)
{
    list_response *l = user;
    kc__rest_outgoing_close(&l->out);
    listing_drop(l);
    free((char *)l->meta.continue_token.p);
    free(l);
}

/* ---- when memory is short ---- */

static size_t held(const kc__rest_outgoing *out)
{
    const list_response *l = kc_container_of(out, list_response, out);
    return l->ahead.cap + kc__store_hold_bytes(l->hold);
}

/* If a worker uses the list, it is dropped when the worker has finished (is_cancelled). */
static void cancel(kc__rest_outgoing *out)
{
    list_response *l = kc_container_of(out, list_response, out);
    if (!l->offloaded || !kc__offload_body_is_busy(l->offloaded))
        listing_drop(l);
}

static const kc__rest_outgoing_kind kind = {
    .name = "list", .category = KC__MEMORY_RESPONSES, .held = held, .cancel = cancel};

/* The snapshot is too old; the store revokes the hold. */
static void revoked(void *user)
{
    kc__rest_outgoing_cancel(&((list_response *)user)->out);
}

static kc__rest_verdict decode_list_request(kc__rest_call *call)
{
    return kc__rest_options_read_list(&call->query, false, &call->options, &call->error) < 0
               ? KC__REST_FAIL
               : KC__REST_NEXT;
}

/* Walks the page to find its end; sets the continue token and the remaining count in the
 * metadata. */
static void measure(kc__rest_call *call, list_response *l, kc__cow_iter at)
{
    l->left = 0;
    while (l->left < (size_t)call->options.limit && kc__rest_selection_next(&l->selection, &at))
        l->left++;
    if (l->left == (size_t)call->options.limit)
        kc__rest_page_end(call, &l->selection, l->page.snapshot, &at, &l->meta);
    l->meta.continue_token = kc_cstr(kc_str_dup(l->meta.continue_token));
}

static kc__http_fill write_items(kc_buf *out, size_t room, list_response *l)
{
    size_t start = out->n;
    if (!l->begun)
        kc__rest_render_list_begin(&l->renderer, out, &l->meta);
    l->begun = true;
    while (out->n - start < room) {
        if (!l->left || !kc__rest_selection_next(&l->selection, &l->at)) {
            kc__rest_render_list_end(&l->renderer, out);
            return KC__HTTP_FILL_END;
        }
        l->left--;
        kc__rest_render_list_item(&l->renderer, out, l->at.object);
    }
    return KC__HTTP_FILL_MORE;
}

/* The first chunk is complete, so this runs on the loop: from now on the list can be cancelled. */
static kc__http_fill take_ahead(kc_buf *out, list_response *l)
{
    kc_buf_append(out, kc_buf_str(&l->ahead));
    kc_buf_done(&l->ahead);
    kc__rest_outgoing_open(&l->out);
    l->hold = kc__watch_cache_hold(l->cache, l->page.snapshot, l->out.x->loop, revoked, l);
    return KC__HTTP_FILL_MORE;
}

static kc__http_fill fill_list(kc_buf *out, size_t room, void *user)
{
    list_response *l = user;
    if (l->out.cancelled)
        return KC__HTTP_FILL_ABORT;
    if (l->ahead.n)
        return take_ahead(out, l);
    kc_buf_reserve(out, room + PIECE_EXCESS);
    return write_items(out, room, l);
}

static const kc__http_body_source source = {.fill = fill_list, .done = listing_free};

/* ---- on workers ---- */

static kc__http_fill fill_offloaded(kc_buf *out, size_t room, void *user)
{
    list_response *l = user;
    return l->ahead.n ? take_ahead(out, l) : write_items(out, room, l);
}

/* On the loop, while no worker uses the list. */
static bool is_cancelled(void *user)
{
    list_response *l = user;
    if (l->out.cancelled)
        listing_drop(l);
    return l->out.cancelled;
}

static const kc__offload_source offloaded_source = {
    .body = {.fill = fill_offloaded, .done = listing_free}, .is_cancelled = is_cancelled};

/* ---- as objects ---- */

/* The list object without items. */
static kc_object *list_object(list_response *l)
{
    kc_scoped(kc_buf) json = {0};
    kc__rest_render_list_begin(&l->renderer, &json, &l->meta);
    kc__rest_render_list_end(&l->renderer, &json);
    return kc_object_parse(kc_buf_str(&json), NULL, NULL);
}

/* The next object, with a reference for the caller; the list object comes last. NULL for an item
 * that cannot be served. */
static kc_object *next_object(list_response *l, kc__exchange_item_type *ret_type)
{
    const bool item = l->left && kc__rest_selection_next(&l->selection, &l->at);
    *ret_type = item ? KC__EXCHANGE_ITEM_LISTED : KC__EXCHANGE_ITEM_LIST_END;
    l->left -= item;
    return item ? kc__rest_render_object(&l->renderer, l->at.object, NULL) : list_object(l);
}

/* On a worker: produces all objects, so that the loop only has to deliver them. */
static void make_all(list_response *l)
{
    kc__exchange_item_type type = KC__EXCHANGE_ITEM_LISTED;
    while (type == KC__EXCHANGE_ITEM_LISTED) {
        kc_object *object = next_object(l, &type);
        if (object)
            kc_vec_push(&l->made, object);
    }
    l->made_by_worker = true;
}

static kc_object *next_made(list_response *l, kc__exchange_item_type *ret_type)
{
    kc_object *object = l->made.items[l->n_given];
    l->made.items[l->n_given++] = NULL;
    *ret_type = l->n_given == l->made.n ? KC__EXCHANGE_ITEM_LIST_END : KC__EXCHANGE_ITEM_LISTED;
    return object;
}

/* The first call is on the loop: from now on the list can be cancelled. */
static void open_items(list_response *l)
{
    if (l->begun)
        return;
    l->begun = true;
    kc__rest_outgoing_open(&l->out);
    l->hold = kc__watch_cache_hold(l->cache, l->page.snapshot, l->out.x->loop, revoked, l);
}

static kc__http_fill fill_items(kc__exchange_item_sink *sink, size_t room, void *user)
{
    list_response *l = user;
    kc__exchange_item_type type = KC__EXCHANGE_ITEM_LISTED;
    if (l->out.cancelled)
        return KC__HTTP_FILL_ABORT;
    open_items(l);
    for (size_t given = 0; given < room && type == KC__EXCHANGE_ITEM_LISTED;) {
        kc_auto(kc_object) *object =
            l->made_by_worker ? next_made(l, &type) : next_object(l, &type);
        if (!object)
            continue;
        sink->take(sink, type, object);
        given += kc_object_json(object).n;
    }
    return type == KC__EXCHANGE_ITEM_LIST_END ? KC__HTTP_FILL_END : KC__HTTP_FILL_MORE;
}

static const kc__exchange_item_source item_source = {.fill = fill_items, .done = listing_free};

static kc__rest_verdict answer_with_items(kc__rest_call *call, list_response *l)
{
    kc__rest_warn_unservable(call);
    kc__rest_outgoing_init(&l->out, &kind, call, sizeof(*l) + l->made.n * sizeof(kc_object *));
    l->cache = call->served->cache;
    return kc__rest_respond_bytes(call,
                                  &(kc__http_response){.status = 200,
                                                       .type = kc__rest_format_type(&call->form),
                                                       .items = &item_source,
                                                       .user = l});
}

/* ---- response ---- */

/* Objects can be sent as stored or in another version; every other form exists as bytes only. */
static bool sends_items(const kc__rest_call *call)
{
    return call->x->request.takes_items && call->form.as == KC__REST_AS_OBJECT &&
           !call->form.yaml && !call->form.pretty;
}

/* A worker that used up its CPU time stops in the middle; its result is incomplete and must not be
 * sent as complete. */
static bool is_cut_short(const kc__rest_call *call)
{
    return call->on_worker && kc__work_is_over_now();
}

/* A short list is one chunk and one write. The first chunk of a list from workers is long enough to
 * decide about compression. */
static void write_ahead(kc__rest_call *call, list_response *l)
{
    const size_t room = call->on_worker ? KC__GZIP_MIN_BODY : FIRST_PIECE;
    if (l->at.left > FEW_ITEMS)
        kc_buf_reserve(&l->ahead, room + PIECE_EXCESS);
    l->ended = write_items(&l->ahead, room, l) == KC__HTTP_FILL_END;
}

/* A list that began on a worker continues there. */
static kc__rest_verdict answer_with_bytes(kc__rest_call *call, list_response *l)
{
    kc__http_response response = {
        .status = 200, .type = kc__rest_format_type(&call->form), .user = l, .gzip = true};
    kc__rest_warn_unservable(call);
    kc__rest_outgoing_init(&l->out, &kind, call, l->ahead.cap);
    l->cache = call->served->cache;
    if (l->ended) {
        response.body = kc_buf_str(&l->ahead);
        response.owner = l;
        response.release = listing_free;
    } else if (call->on_worker) {
        l->offloaded = kc__rest_respond_offloaded(call, &response, &offloaded_source, l);
    } else {
        response.source = &source;
    }
    return kc__rest_respond_bytes(call, &response);
}

/* Finds the snapshot of the list. While a webhook converts its objects, the list is call->state. */
static kc__rest_verdict find_list(kc__rest_call *call)
{
    if (call->state)
        return KC__REST_NEXT;
    list_response *l = call->state = kc_new(list_response);
    kc__rest_verdict verdict = kc__rest_selection_take(call, &l->selection);
    return verdict == KC__REST_NEXT ? kc__rest_page_find(call, &l->selection, &l->page) : verdict;
}

static void forget_list(kc__rest_call *call)
{
    if (call->state)
        listing_free(call->state);
}

static kc__rest_verdict respond_list(kc__rest_call *call)
{
    kc__rest_verdict verdict = find_list(call);
    list_response *l = call->state;
    if (verdict == KC__REST_NEXT)
        verdict = kc__rest_convert_page(call, &l->selection, &l->page);
    if (verdict != KC__REST_NEXT)
        return verdict;
    call->state = NULL;
    kc__rest_conversion_take_pins(call, &l->pins);
    l->meta.revision = l->page.revision;
    l->left = SIZE_MAX;
    l->renderer = kc__rest_renderer_of(call);
    l->at = kc__rest_selection_start(&l->selection, l->page.snapshot, l->page.from);
    if (kc__rest_page_is_limited(&call->options))
        measure(call, l, l->at);
    if (sends_items(call) && call->on_worker)
        make_all(l);
    else if (!sends_items(call))
        write_ahead(call, l);
    if (is_cut_short(call)) {
        listing_free(l);
        return kc__rest_fail_timeout(call);
    }
    return sends_items(call) ? answer_with_items(call, l) : answer_with_bytes(call, l);
}

const kc__rest_verb kc__rest_verb_list = {
    .name = "list",
    .bit = KC__VERB_LIST,
    .decode = decode_list_request,
    .respond = respond_list,
    .forget = forget_list,
};
