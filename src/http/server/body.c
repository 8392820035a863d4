/* SPDX-License-Identifier: Apache-2.0 */
/*
 * body.c: pulls the body of a response and compresses it if negotiated.
 *
 *     text ────────────────────────────┬────────────▶ out
 *     source ──▶ stage (where needed) ─┴─▶ gzip ───▶ out
 *
 * A source writes directly into the carrier's buffer unless it is compressed. Whether a source of
 * unknown length is compressed depends on its beginning: it is asked for KC__GZIP_MIN_BODY bytes,
 * and if it ends or has to wait before that, the available bytes are sent uncompressed (with their
 * length, if it ended). A call compresses at most PIECE bytes.
 */
#include "http/server/body.h"

enum { PIECE = 32 * 1024 };

bool kc__http_response_has_body(kc_str method, int status)
{
    return !kc_str_is(method, "HEAD") && status >= 200 && status != 204 && status != 304;
}

void kc__http_response_drop(const kc__http_response *response)
{
    if (response->source && response->source->done)
        response->source->done(response->user);
    if (response->items)
        response->items->done(response->user);
    if (response->release)
        response->release(response->owner);
}

static bool may_compress(const kc__http_request *request, const kc__http_response *response)
{
    return response->gzip && kc__http_accepts_gzip(kc__http_headers_get(&request->headers,
                                                                        KC_STR("Accept-Encoding")));
}

static void free_text(void *owner)
{
    free(owner);
}

static void begin_text(kc__http_body *body, const kc__http_response *response, bool compress)
{
    body->rest = response->body;
    body->owner = response->owner;
    body->release = response->release;
    if (!response->owner && !response->release && response->body.n) {
        body->owner = kc_str_dup(response->body);
        body->release = free_text;
        body->rest.p = body->owner;
    }
    body->known = true;
    body->length = response->body.n;
    if (compress && response->body.n >= KC__GZIP_MIN_BODY) {
        body->known = false;
        body->gzip = kc__gzip_new();
    }
}

/* Reads the beginning of the body. Returns true if it is long enough to be compressed. */
static bool fill_stage(kc__http_body *body)
{
    while (body->stage.n < KC__GZIP_MIN_BODY && body->last == KC__HTTP_FILL_MORE)
        body->last =
            body->source->fill(&body->stage, KC__GZIP_MIN_BODY - body->stage.n, body->user);
    return body->stage.n >= KC__GZIP_MIN_BODY;
}

static void begin_source(kc__http_body *body, const kc__http_response *response, bool compress)
{
    body->source = response->source;
    body->user = response->user;
    body->last = KC__HTTP_FILL_MORE;
    body->promised = response->length;
    body->known = response->length > 0;
    body->length = response->length;
    if (!compress)
        return;
    if (response->length ? response->length >= KC__GZIP_MIN_BODY
                         : !response->flush && fill_stage(body)) {
        body->gzip = kc__gzip_new();
        body->known = false;
    } else if (body->last == KC__HTTP_FILL_END) {
        body->known = true;
        body->length = body->stage.n;
    }
}

void kc__http_body_begin(kc__http_body *body, const kc__http_request *request,
                         const kc__http_response *response)
{
    bool compress = may_compress(request, response);
    *body = (kc__http_body){0};
    if (response->source)
        begin_source(body, response, compress);
    else
        begin_text(body, response, compress);
}

void kc__http_body_done(kc__http_body *body)
{
    const kc__http_body_source *source = kc_take(body->source);
    void (*release)(void *owner) = kc_take(body->release);
    body->gzip = kc__gzip_free(body->gzip);
    kc_buf_done(&body->stage);
    body->rest = (kc_str){0};
    if (source && source->done)
        source->done(body->user);
    if (release)
        release(body->owner);
}

/* ---- text ---- */

static kc__http_fill fill_from_text(kc__http_body *body, kc_buf *out, size_t room)
{
    kc_str piece = kc_str_sub(body->rest, 0, body->gzip ? PIECE : room);
    body->rest = kc_str_sub(body->rest, piece.n, body->rest.n);
    bool ends = !body->rest.n;
    if (body->gzip)
        kc__gzip_write(body->gzip, piece, ends ? KC__GZIP_END : KC__GZIP_MORE, out);
    else
        kc_buf_append(out, piece);
    return ends ? KC__HTTP_FILL_END : KC__HTTP_FILL_MORE;
}

/* ---- sources ---- */

/* A source that returns another length than it promised must not look like a complete body. */
static kc__http_fill check_promise(kc__http_body *body, size_t more)
{
    body->sent += more;
    if (!body->promised || body->last == KC__HTTP_FILL_ABORT)
        return body->last;
    bool wrong = body->sent > body->promised ||
                 (body->last == KC__HTTP_FILL_END && body->sent != body->promised);
    if (wrong)
        return KC__HTTP_FILL_ABORT;
    return body->last;
}

static kc__http_fill fill_from_source(const kc__http_body *body, kc__http_body_sink *sink,
                                      size_t room)
{
    return body->source->fill_sink ? body->source->fill_sink(sink, room, body->user)
                                   : body->source->fill(sink->text, room, body->user);
}

static kc__http_fill fill_plain(kc__http_body *body, kc__http_body_sink *sink, size_t room)
{
    kc_buf *out = sink->text;
    size_t before = out->n;
    if (body->stage.n) {
        kc_buf_append(out, kc_buf_str(&body->stage));
        kc_buf_done(&body->stage);
    } else if (body->last == KC__HTTP_FILL_MORE || body->last == KC__HTTP_FILL_WAIT) {
        body->last = fill_from_source(body, sink, room);
    }
    kc__http_fill verdict = check_promise(body, out->n - before);
    if (verdict == KC__HTTP_FILL_ABORT && !body->source->fill_sink)
        out->n = before; /* Never more than promised. */
    return verdict;
}

static kc__gzip_mode mode_after(kc__http_fill last)
{
    return last == KC__HTTP_FILL_END    ? KC__GZIP_END
           : last == KC__HTTP_FILL_WAIT ? KC__GZIP_FLUSH
                                        : KC__GZIP_MORE;
}

static kc__http_fill fill_compressed(kc__http_body *body, kc_buf *out)
{
    if (!body->stage.n)
        body->last = body->source->fill(&body->stage, PIECE, body->user);
    kc__http_fill verdict = check_promise(body, body->stage.n);
    if (verdict == KC__HTTP_FILL_ABORT)
        return verdict;
    kc__gzip_write(body->gzip, kc_buf_str(&body->stage), mode_after(body->last), out);
    kc_buf_clear(&body->stage);
    return verdict;
}

kc__http_fill kc__http_body_fill_sink(kc__http_body *body, kc__http_body_sink *sink, size_t room)
{
    if (!body->source)
        return fill_from_text(body, sink->text, room);
    if (body->gzip)
        return fill_compressed(body, sink->text);
    return fill_plain(body, sink, room);
}
