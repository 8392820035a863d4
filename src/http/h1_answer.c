/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h1_answer.c: answers over HTTP/1.1.
 *
 * A body that is small and there goes into the buffer right behind its head, so both leave in one
 * write (and one TLS record). Anything else is a kc__body, pulled as the client reads. A body of
 * unknown length is sent in chunks; to HTTP/1.0, which knows none, up to the end of the connection.
 *
 * A chunk's size stands before what is not written yet, so eight digits are left free for it and
 * filled in afterwards.
 */
#include "http/h1_internal.h"

#include <assert.h>

enum {
    AT_ONCE = 32 * 1024, /* A body up to this goes into the buffer with its head. */
    HEAD_ROOM = 384,     /* Enough for most heads. */
    SIZE_DIGITS = 8,
};

static const kc_str chunk_start = KC_STR_INIT("00000000\r\n");

/* ---- heads ---- */

static void put_length(kc_buf *out, size_t length)
{
    kc_buf_append(out, KC_STR("Content-Length: "));
    kc__put_number(out, length);
    kc_buf_append(out, KC_STR("\r\n"));
}

static void end_head(h1 *h)
{
    kc_buf *out = &h->conn->out;
    if (!h->keep_alive)
        kc_buf_append(out, KC_STR("Connection: close\r\n"));
    else if (h->old)
        kc_buf_append(out, KC_STR("Connection: keep-alive\r\n"));
    kc_buf_append(out, KC_STR("\r\n"));
}

static void begin_head(h1 *h, const kc__answer *answer)
{
    size_t body = answer->source ? 0 : KC_MIN(answer->body.n, (size_t)AT_ONCE);
    h->keep_alive = h->keep_alive && !h->conn->draining;
    kc_buf_reserve(&h->conn->out, HEAD_ROOM + body);
    kc__answer_head(&h->conn->out, answer, kc__loop_date(h->conn->loop));
}

/* ---- the four shapes of an answer ---- */

/* HEAD says what GET would, as far as that is known without making the body. */
static void answer_without_body(h1 *h, const kc__answer *answer)
{
    size_t length = answer->source ? answer->length : answer->body.n;
    bool says_length = kc_str_is(h->x.request.method, "HEAD") && answer->status != 204 &&
                       answer->status != 304 && (length || !answer->source);
    begin_head(h, answer);
    if (says_length)
        put_length(&h->conn->out, length);
    end_head(h);
    h->state = H1_SENT;
    kc__answer_drop(answer);
}

static void answer_at_once(h1 *h, const kc__answer *answer)
{
    begin_head(h, answer);
    put_length(&h->conn->out, answer->body.n);
    end_head(h);
    kc_buf_append(&h->conn->out, answer->body);
    h->state = H1_SENT;
    kc__answer_drop(answer);
}

static void answer_by_pulling(h1 *h, const kc__answer *answer)
{
    kc_buf *out = &h->conn->out;
    h->woken = h->waiting = false;
    kc__body_begin(&h->out, &h->x.request, answer);
    h->chunked = !h->out.known && !h->old;
    h->keep_alive = h->keep_alive && (h->out.known || h->chunked);
    begin_head(h, answer);
    if (h->out.known)
        put_length(out, h->out.length);
    if (h->chunked)
        kc_buf_append(out, KC_STR("Transfer-Encoding: chunked\r\n"));
    if (h->out.gzip)
        kc_buf_append(out, KC_STR("Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n"));
    end_head(h);
    h->state = H1_SENDING; /* The transport asks for it. */
}

/* From here on the connection is the answer's; with its end it closes. */
static void answer_by_upgrading(h1 *h, const kc__answer *answer)
{
    kc_buf *out = &h->conn->out;
    assert(h->x.request.upgradable && answer->source && !answer->length && !answer->gzip);
    h->woken = h->waiting = h->chunked = h->keep_alive = false;
    kc__body_begin(&h->out, &h->x.request, answer);
    h->upgrade = answer->upgrade;
    h->upgrade_user = answer->user;
    begin_head(h, answer);
    kc_buf_append(out, KC_STR("Upgrade: "));
    kc_buf_puts(out, answer->upgrade->protocol);
    kc_buf_append(out, KC_STR("\r\nConnection: Upgrade\r\n\r\n"));
    h->state = H1_SENDING;
}

/* The handler answers somebody who has left. */
static void answer_nobody(h1 *h, const kc__answer *answer)
{
    kc__conn *conn = h->conn;
    kc__answer_drop(answer);
    kc__h1_free(h);
    kc__conn_unhold(conn);
}

static void answer(kc__exchange *x, const kc__answer *a)
{
    h1 *h = (h1 *)x;
    assert(h->state == H1_HANDLING && a->status <= 599);
    assert(a->upgrade ? a->status == 101 : a->status >= 200);
    if (h->closed) {
        answer_nobody(h, a);
        return;
    }
    if (a->upgrade)
        answer_by_upgrading(h, a);
    else if (!kc__answer_has_body(x->request.method, a->status))
        answer_without_body(h, a);
    else if (!a->source && a->body.n <= AT_ONCE)
        answer_at_once(h, a);
    else
        answer_by_pulling(h, a);
    kc__conn_changed(h->conn);
}

static void wake(kc__exchange *x)
{
    h1 *h = (h1 *)x;
    h->woken = true;
    if (h->state == H1_SENDING && h->waiting)
        kc__conn_changed(h->conn);
}

const kc__exchange_ops kc__h1_ops = {.answer = answer, .wake = wake};

/* ---- bodies ---- */

static void fill_in_size(kc_buf *out, size_t at, size_t size)
{
    for (size_t i = SIZE_DIGITS; i-- > 0; size >>= 4)
        out->p[at + i] = "0123456789abcdef"[size & 15];
}

/* What was appended since `before` becomes a chunk; nothing leaves no trace, for an empty chunk
 * would be the last. */
static void end_chunk(kc_buf *out, size_t before)
{
    size_t size = out->n - before - chunk_start.n;
    if (!size) {
        out->n = before;
        return;
    }
    fill_in_size(out, before, size);
    kc_buf_append(out, KC_STR("\r\n"));
}

static kc__fill fill_once(h1 *h)
{
    kc_buf *out = &h->conn->out;
    size_t before = out->n;
    h->woken = false;
    if (h->chunked)
        kc_buf_append(out, chunk_start);
    kc__fill verdict = kc__body_fill(&h->out, out, kc__conn_room(h->conn));
    if (h->chunked)
        end_chunk(out, before);
    return verdict;
}

static void end_body(h1 *h, kc__fill verdict)
{
    if (verdict == KC__FILL_END && h->chunked)
        kc_buf_append(&h->conn->out, KC_STR("0\r\n\r\n"));
    if (verdict == KC__FILL_ABORT) {
        h->keep_alive = false;
        /* Where the end of the connection is the end of the body, only a reset tells. */
        if (!h->chunked && !h->out.known)
            h->conn->wish = KC__CONN_ABORT;
    }
    h->state = H1_SENT;
    kc__body_done(&h->out);
}

/* Something was appended, or nothing can be: compressing goes on next time, when this is sent. */
static bool enough(h1 *h, size_t before, kc__fill verdict)
{
    bool appended = h->conn->out.n > before;
    if (verdict != KC__FILL_MORE)
        return true;
    if (!appended && !h->out.gzip) {
        kc__conn_changed(h->conn);
        return true;
    }
    return appended && h->out.gzip;
}

void kc__h1_send(h1 *h)
{
    kc__fill verdict = KC__FILL_MORE;
    size_t before = h->conn->out.n;
    if (h->waiting && !h->woken)
        return;
    h->waiting = false;
    while (kc__conn_room(h->conn)) {
        verdict = fill_once(h);
        if (enough(h, before, verdict))
            break;
    }
    if (verdict == KC__FILL_END || verdict == KC__FILL_ABORT)
        end_body(h, verdict);
    h->waiting = verdict == KC__FILL_WAIT;
    if (h->waiting && h->woken)
        kc__conn_changed(h->conn);
}

/* ---- refusing ---- */

void kc__h1_refuse(h1 *h, int status, const char *why)
{
    if (h->broken)
        return;
    h->broken = true;
    h->keep_alive = false;
    h->old = false;
    kc_scoped(kc_buf) text = {0};
    const kc__refusal *custom = &h->conn->limits->too_large;
    kc_buf_printf(&text, "%d %s: %s\n", status, kc__status_text(status), why);
    kc__answer refusal = {
        .status = status,
        .type = KC_STR("text/plain; charset=utf-8"),
        .body = kc_buf_str(&text),
    };
    if (status == 413 && custom->body.n) {
        refusal.type = custom->type;
        refusal.body = custom->body;
    }
    answer_at_once(h, &refusal);
    h->conn->wish = KC__CONN_CLOSE;
    h->conn->deadline = KC_FOREVER;
    kc_log_verbose(h->conn->log, 4, "refused a request", kc_kv("status", status), kc_kv("why", why),
                   kc_kv("client", (const char *)h->conn->peer.address));
}
