/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outgoing.c: the responses of a context that are in progress, and their cancellation.
 *
 * A client that does not read keeps its response in memory. Cancelling frees the memory of the
 * response at once, whether the client reads or not; a client that continues to read sees an
 * aborted body. The connection's own buffer is bounded and stays.
 */
#include "apiserver/request/outgoing.h"

#include "kc/vec.h"

void kc__rest_outgoing_init(kc__rest_outgoing *out, const kc__rest_outgoing_kind *kind,
                            const kc__rest_call *call, size_t bytes)
{
    *out =
        (kc__rest_outgoing){.kind = kind, .context = call->context, .x = call->x, .counted = bytes};
}

void kc__rest_outgoing_open(kc__rest_outgoing *out)
{
    if (out->cancelled || kc_dlist_is_linked(&out->link))
        return;
    kc_dlist_push(&out->context->outgoing, &out->link);
    kc__memory_add(out->context->memory, out->kind->category, (int64_t)out->counted);
}

void kc__rest_outgoing_close(kc__rest_outgoing *out)
{
    if (!kc_dlist_is_linked(&out->link))
        return;
    kc_dlist_remove(&out->link);
    kc__memory_add(out->context->memory, out->kind->category, -(int64_t)out->counted);
}

void kc__rest_outgoing_cancel(kc__rest_outgoing *out)
{
    if (out->cancelled)
        return;
    out->cancelled = true;
    kc__exchange *x = out->x;
    out->kind->cancel(out);
    kc__rest_outgoing_close(out);
    kc__exchange_wake(x);
}

/* ---- shedding ---- */

typedef struct shed_candidate {
    kc__rest_outgoing *out;
    size_t held;
} shed_candidate;

static int largest_first(const void *a, const void *b)
{
    const shed_candidate *x = a, *y = b;
    return (x->held < y->held) - (x->held > y->held);
}

static size_t held_by(const kc__rest_outgoing *out)
{
    return out->kind->held ? out->kind->held(out) : out->counted;
}

size_t kc__rest_context_shed(kc__rest_context *context, size_t bytes)
{
    KC_VEC(shed_candidate) all = {0};
    size_t freed = 0;
    kc_dlist_each (&context->outgoing, kc__rest_outgoing, link, out)
        if (held_by(out))
            kc_vec_push(&all, (shed_candidate){out, held_by(out)});
    kc_vec_sort(&all, largest_first);
    for (size_t i = 0; i < all.n && freed < bytes; i++) {
        kc__governor_cancelled(context->governor, kc_cstr(all.items[i].out->kind->name), 1);
        kc__rest_outgoing_cancel(all.items[i].out);
        freed += all.items[i].held;
    }
    kc_vec_done(&all);
    return freed;
}

static void shed_context(kc__rest_api *api, kc__rest_context *context, uint64_t bytes)
{
    kc__rest_context_shed(context, bytes / api->n_contexts + 1);
}

void kc__rest_api_shed(kc__rest_api *api, size_t bytes)
{
    kc__rest_each_context(api, shed_context, bytes);
}

/* ---- large bodies ---- */

/* Smaller bodies are not worth counting. */
#define LARGE_BODY ((size_t)32 << 10)

/* Holds a text, or an object's JSON. */
typedef struct whole_body {
    kc__rest_outgoing out;
    kc_str rest;
    kc_buf text;
    kc_object *object;
} whole_body;

static kc__http_fill fill_outgoing_body(kc_buf *out, size_t room, void *user)
{
    whole_body *b = user;
    if (b->out.cancelled)
        return KC__HTTP_FILL_ABORT;
    kc__rest_outgoing_open(&b->out);
    kc_str piece = kc_str_sub(b->rest, 0, room);
    kc_buf_append(out, piece);
    b->rest = kc_str_sub(b->rest, piece.n, b->rest.n);
    return b->rest.n ? KC__HTTP_FILL_MORE : KC__HTTP_FILL_END;
}

static void drop_body(kc__rest_outgoing *out)
{
    whole_body *b = kc_container_of(out, whole_body, out);
    kc_buf_done(&b->text);
    b->object = kc_object_unref(b->object);
    b->rest = (kc_str){0};
}

static void outgoing_body_done(void *user)
{
    whole_body *b = user;
    kc__rest_outgoing_close(&b->out);
    drop_body(&b->out);
    free(b);
}

static kc__rest_verdict answer_whole(kc__rest_call *call, int status, kc_str type, whole_body *b)
{
    static const kc__http_body_source source = {.fill = fill_outgoing_body,
                                                .done = outgoing_body_done};
    static const kc__rest_outgoing_kind kind = {
        .name = "object", .category = KC__MEMORY_RESPONSES, .cancel = drop_body};
    kc__rest_outgoing_init(&b->out, &kind, call, b->rest.n);
    return kc__rest_respond_bytes(call, &(kc__http_response){.status = status,
                                                             .type = type,
                                                             .source = &source,
                                                             .user = b,
                                                             .length = b->rest.n,
                                                             .gzip = true});
}

kc__rest_verdict kc__rest_respond_owned_text(kc__rest_call *call, int status, kc_str type,
                                             kc_buf *text)
{
    if (text->n < LARGE_BODY)
        return kc__rest_respond_text(call, status, type, kc_buf_str(text));
    whole_body *b = kc_new(whole_body);
    b->text = *text;
    b->rest = kc_buf_str(text);
    *text = (kc_buf){0};
    return answer_whole(call, status, type, b);
}

static void release_object(void *object)
{
    kc_object_unref(object);
}

kc__rest_verdict kc__rest_respond_owned_object(kc__rest_call *call, int status, kc_object *object)
{
    const kc_str json = kc_object_json(object);
    if (json.n < LARGE_BODY)
        return kc__rest_respond_bytes(call, &(kc__http_response){.status = status,
                                                                 .type = KC_STR("application/json"),
                                                                 .body = json,
                                                                 .owner = object,
                                                                 .release = release_object,
                                                                 .gzip = true});
    whole_body *b = kc_new(whole_body);
    b->object = object;
    b->rest = json;
    return answer_whole(call, status, KC_STR("application/json"), b);
}
