/* SPDX-License-Identifier: Apache-2.0 */
/*
 * body.c: pulls the body of an answer, compressing it on the way where that was agreed.
 *
 *     text ────────────────────────────┬────────────▶ out
 *     source ──▶ stage (where needed) ─┴─▶ gzip ───▶ out
 *
 * A source writes straight into the carrier's buffer unless it is compressed. Whether a source of
 * unknown length is compressed is decided by its beginning: it is asked for KC__GZIP_FROM bytes,
 * and when it ends or has to wait before, what there is goes out as it is (with its length, when it
 * ended). Compression takes at most PIECE bytes a call.
 */
#include "http/body.h"

enum { PIECE = 32 * 1024 };

bool kc__answer_has_body(kc_str method, int status)
{
    return !kc_str_is(method, "HEAD") && status >= 200 && status != 204 && status != 304;
}

void kc__answer_drop(const kc__answer *answer)
{
    if (answer->source && answer->source->done)
        answer->source->done(answer->user);
    if (answer->release)
        answer->release(answer->owner);
}

static bool may_compress(const kc__request *request, const kc__answer *answer)
{
    return answer->gzip &&
           kc__accepts_gzip(kc__headers_get(&request->headers, KC_STR("Accept-Encoding")));
}

static void free_text(void *owner)
{
    free(owner);
}

static void begin_text(kc__body *body, const kc__answer *answer, bool compress)
{
    body->rest = answer->body;
    body->owner = answer->owner;
    body->release = answer->release;
    if (!answer->owner && !answer->release && answer->body.n) {
        body->owner = kc_str_dup(answer->body);
        body->release = free_text;
        body->rest.p = body->owner;
    }
    body->known = true;
    body->length = answer->body.n;
    if (compress && answer->body.n >= KC__GZIP_FROM) {
        body->known = false;
        body->gzip = kc__gzip_new();
    }
}

/* Asks for the beginning; true when it is long enough to be worth it. */
static bool fill_stage(kc__body *body)
{
    while (body->stage.n < KC__GZIP_FROM && body->last == KC__FILL_MORE)
        body->last = body->source->fill(&body->stage, KC__GZIP_FROM - body->stage.n, body->user);
    return body->stage.n >= KC__GZIP_FROM;
}

static void begin_source(kc__body *body, const kc__answer *answer, bool compress)
{
    body->source = answer->source;
    body->user = answer->user;
    body->last = KC__FILL_MORE;
    body->promised = answer->length;
    body->known = answer->length > 0;
    body->length = answer->length;
    if (!compress)
        return;
    if (answer->length ? answer->length >= KC__GZIP_FROM : !answer->flush && fill_stage(body)) {
        body->gzip = kc__gzip_new();
        body->known = false;
    } else if (body->last == KC__FILL_END) {
        body->known = true;
        body->length = body->stage.n;
    }
}

void kc__body_begin(kc__body *body, const kc__request *request, const kc__answer *answer)
{
    bool compress = may_compress(request, answer);
    *body = (kc__body){0};
    if (answer->source)
        begin_source(body, answer, compress);
    else
        begin_text(body, answer, compress);
}

void kc__body_done(kc__body *body)
{
    const kc__body_source *source = kc_take(body->source);
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

static kc__fill fill_from_text(kc__body *body, kc_buf *out, size_t room)
{
    kc_str piece = kc_str_sub(body->rest, 0, body->gzip ? PIECE : room);
    body->rest = kc_str_sub(body->rest, piece.n, body->rest.n);
    bool ends = !body->rest.n;
    if (body->gzip)
        kc__gzip_write(body->gzip, piece, ends ? KC__GZIP_END : KC__GZIP_MORE, out);
    else
        kc_buf_append(out, piece);
    return ends ? KC__FILL_END : KC__FILL_MORE;
}

/* ---- sources ---- */

/* A source that promised a length and gives another must not be mistaken for a whole body. */
static kc__fill check_promise(kc__body *body, size_t more)
{
    body->sent += more;
    if (!body->promised || body->last == KC__FILL_ABORT)
        return body->last;
    bool wrong =
        body->sent > body->promised || (body->last == KC__FILL_END && body->sent != body->promised);
    return wrong ? KC__FILL_ABORT : body->last;
}

static kc__fill fill_plain(kc__body *body, kc_buf *out, size_t room)
{
    size_t before = out->n;
    if (body->stage.n) {
        kc_buf_append(out, kc_buf_str(&body->stage));
        kc_buf_done(&body->stage);
    } else if (body->last == KC__FILL_MORE || body->last == KC__FILL_WAIT) {
        body->last = body->source->fill(out, room, body->user);
    }
    kc__fill verdict = check_promise(body, out->n - before);
    if (verdict == KC__FILL_ABORT)
        out->n = before; /* Never more than was promised. */
    return verdict;
}

static kc__gzip_mode mode_after(kc__fill last)
{
    return last == KC__FILL_END    ? KC__GZIP_END
           : last == KC__FILL_WAIT ? KC__GZIP_FLUSH
                                   : KC__GZIP_MORE;
}

static kc__fill fill_compressed(kc__body *body, kc_buf *out)
{
    if (!body->stage.n)
        body->last = body->source->fill(&body->stage, PIECE, body->user);
    kc__fill verdict = check_promise(body, body->stage.n);
    if (verdict == KC__FILL_ABORT)
        return verdict;
    kc__gzip_write(body->gzip, kc_buf_str(&body->stage), mode_after(body->last), out);
    kc_buf_clear(&body->stage);
    return verdict;
}

kc__fill kc__body_fill(kc__body *body, kc_buf *out, size_t room)
{
    if (!body->source)
        return fill_from_text(body, out, room);
    return body->gzip ? fill_compressed(body, out) : fill_plain(body, out, room);
}
