/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response_end.c: puts a source in front of that of a streamed response. The source in front passes
 * everything on. At the end the connection calls its `done` exactly once.
 *
 * An observer that wants the bytes gets a source without `fill_sink`: all bytes then pass through
 * the buffer of `fill`, where they can be read.
 */
#include "apiserver/call/response_end.h"

static kc__http_fill fill_through(kc_buf *out, size_t room, void *user)
{
    kc__rest_response_end *end = user;
    const size_t before = out->n;
    const kc__http_fill verdict = end->source->fill(out, room, end->user);
    if (end->copy && out->n > before)
        end->copy(end, kc_str_of(out->p + before, out->n - before));
    end->whole = verdict == KC__HTTP_FILL_END;
    return verdict;
}

static kc__http_fill fill_sink_through(kc__http_body_sink *sink, size_t room, void *user)
{
    const kc__rest_response_end *end = user;
    return end->source->fill_sink(sink, room, end->user);
}

static void source_done(void *user)
{
    kc__rest_response_end *end = user;
    end->source->done(end->user);
    end->ended(end);
}

static kc__http_fill fill_items_through(kc__exchange_item_sink *sink, size_t room, void *user)
{
    const kc__rest_response_end *end = user;
    return end->items->fill(sink, room, end->user);
}

static void items_done(void *user)
{
    kc__rest_response_end *end = user;
    end->items->done(end->user);
    end->ended(end);
}

static size_t receive_through(kc_str bytes, void *user)
{
    const kc__rest_response_end *end = user;
    return end->upgrade->receive(bytes, end->user);
}

static const kc__http_body_source plain_source = {.fill = fill_through, .done = source_done};
static const kc__http_body_source sharing_source = {
    .fill = fill_through, .done = source_done, .fill_sink = fill_sink_through};
static const kc__exchange_item_source item_source = {.fill = fill_items_through,
                                                     .done = items_done};

static bool attach_end(kc__rest_response_end *end, kc__http_response *response,
                       kc__rest_response_ended_fn *ended, kc__rest_response_bytes_fn *copy)
{
    if (!response->source && (!response->items || copy))
        return false;
    *end = (kc__rest_response_end){.ended = ended,
                                   .copy = copy,
                                   .source = response->source,
                                   .items = response->items,
                                   .upgrade = response->upgrade,
                                   .user = response->user};
    if (response->source)
        response->source = response->source->fill_sink && !copy ? &sharing_source : &plain_source;
    if (response->items)
        response->items = &item_source;
    if (response->upgrade) {
        end->own_upgrade =
            (kc__http_upgrade){.protocol = response->upgrade->protocol, .receive = receive_through};
        response->upgrade = &end->own_upgrade;
    }
    response->user = end;
    return true;
}

bool kc__rest_response_end_attach(kc__rest_response_end *end, kc__http_response *response,
                                  kc__rest_response_ended_fn *ended)
{
    return attach_end(end, response, ended, NULL);
}

bool kc__rest_response_end_attach_copy(kc__rest_response_end *end, kc__http_response *response,
                                       kc__rest_response_ended_fn *ended,
                                       kc__rest_response_bytes_fn *copy)
{
    return attach_end(end, response, ended, copy);
}
