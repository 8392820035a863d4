/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h1_response.c: responses over HTTP/1.1.
 *
 * A small body that is available at once is appended to the buffer right after its head, so both
 * leave in one write (and one TLS record). Any other body is a kc__http_body, pulled as the client
 * reads. A body of unknown length is sent in chunks; to HTTP/1.0, which has no chunked encoding, up
 * to the end of the connection.
 *
 * The size of a chunk precedes bytes that are not written yet, so eight digits are reserved and
 * filled in afterwards.
 */
#include "http/h1/h1_internal.h"

#include <assert.h>

enum {
    AT_ONCE = 32 * 1024, /* Largest body that is put into the buffer with its head. */
    HEAD_ROOM = 384,     /* Enough for most heads. */
    SIZE_DIGITS = 8,
};

static const kc_str chunk_start = KC_STR_INIT("00000000\r\n");

/* ---- heads ---- */

static void put_length(kc_buf *out, size_t length)
{
    kc_buf_append(out, KC_STR("Content-Length: "));
    kc__http_append_number(out, length);
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

static void begin_head(h1 *h, const kc__http_response *response)
{
    size_t body = response->source ? 0 : KC_MIN(response->body.n, (size_t)AT_ONCE);
    h->keep_alive = h->keep_alive && !h->conn->draining && !h->conn->retired;
    kc_buf_reserve(&h->conn->out, HEAD_ROOM + body);
    kc__http_response_head(&h->conn->out, response, kc__loop_date(h->conn->loop));
}

/* ---- the four forms of a response ---- */

/* HEAD returns the header of GET, as far as it is known without producing the body. */
static void answer_without_body(h1 *h, const kc__http_response *response)
{
    size_t length = response->source ? response->length : response->body.n;
    bool says_length = kc_str_is(h->x.request.method, "HEAD") && response->status != 204 &&
                       response->status != 304 && (length || !response->source);
    begin_head(h, response);
    if (says_length)
        put_length(&h->conn->out, length);
    end_head(h);
    h->state = H1_SENT;
    kc__http_response_drop(response);
}

static void answer_at_once(h1 *h, const kc__http_response *response)
{
    begin_head(h, response);
    put_length(&h->conn->out, response->body.n);
    end_head(h);
    kc_buf_append(&h->conn->out, response->body);
    h->state = H1_SENT;
    kc__http_response_drop(response);
}

static void answer_by_pulling(h1 *h, const kc__http_response *response)
{
    kc_buf *out = &h->conn->out;
    h->woken = h->waiting = false;
    kc__http_body_begin(&h->out, &h->x.request, response);
    h->chunked = !h->out.known && !h->old;
    h->keep_alive = h->keep_alive && (h->out.known || h->chunked);
    begin_head(h, response);
    if (h->out.known)
        put_length(out, h->out.length);
    if (h->chunked)
        kc_buf_append(out, KC_STR("Transfer-Encoding: chunked\r\n"));
    if (h->out.gzip)
        kc_buf_append(out, KC_STR("Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n"));
    end_head(h);
    h->state = H1_SENDING; /* The transport calls fill. */
}

/* From now on the response owns the connection; its end closes the connection. */
static void answer_by_upgrading(h1 *h, const kc__http_response *response)
{
    kc_buf *out = &h->conn->out;
    assert(h->x.request.upgradable && response->source && !response->length && !response->gzip);
    h->woken = h->waiting = h->chunked = h->keep_alive = false;
    kc__http_body_begin(&h->out, &h->x.request, response);
    h->upgrade = response->upgrade;
    h->upgrade_user = response->user;
    begin_head(h, response);
    kc_buf_append(out, KC_STR("Upgrade: "));
    kc_buf_puts(out, response->upgrade->protocol);
    kc_buf_append(out, KC_STR("\r\nConnection: Upgrade\r\n\r\n"));
    h->state = H1_SENDING;
}

/* The client is gone: drops the response. */
static void discard_response(h1 *h, const kc__http_response *response)
{
    kc__conn *conn = h->conn;
    kc__http_response_drop(response);
    kc__h1_free(h);
    kc__conn_unhold(conn);
}

static void respond_h1(kc__exchange *x, const kc__http_response *a)
{
    h1 *h = (h1 *)x;
    assert(h->state == H1_HANDLING && a->status <= 599);
    assert(a->upgrade ? a->status == 101 : a->status >= 200);
    if (h->closed) {
        discard_response(h, a);
        return;
    }
    if (a->upgrade)
        answer_by_upgrading(h, a);
    else if (!kc__http_response_has_body(x->request.method, a->status))
        answer_without_body(h, a);
    else if (!a->source && a->body.n <= AT_ONCE)
        answer_at_once(h, a);
    else
        answer_by_pulling(h, a);
    if (!a->source)
        kc__h1_drop_body(h);
    kc__conn_changed(h->conn);
}

static void wake_h1(kc__exchange *x)
{
    h1 *h = (h1 *)x;
    h->woken = true;
    if (h->state == H1_SENDING && h->waiting)
        kc__conn_changed(h->conn);
}

const kc__exchange_ops kc__h1_exchange_ops = {.respond = respond_h1, .wake = wake_h1};

/* ---- bodies ---- */

static void fill_in_size(kc_buf *out, size_t at, size_t size)
{
    for (size_t i = SIZE_DIGITS; i-- > 0; size >>= 4)
        out->p[at + i] = "0123456789abcdef"[size & 15];
}

/* Makes a chunk of what was appended or shared since `before`; removes an empty chunk, because
 * it would end the body. */
static void end_chunk(kc__conn *conn, size_t before, size_t shared_before)
{
    kc_buf *out = &conn->out;
    size_t size = out->n - before - chunk_start.n + conn->slice_bytes - shared_before;
    if (!size) {
        out->n = before;
        return;
    }
    fill_in_size(out, before, size);
    kc_buf_append(out, KC_STR("\r\n"));
}

/* A sink that passes shared bytes to the connection. */
typedef struct h1_sink {
    kc__http_body_sink sink; /* First. */
    kc__conn *conn;
} h1_sink;

static bool h1_share(kc__http_body_sink *sink, kc__http_shared_bytes *bytes)
{
    kc__conn *conn = ((h1_sink *)sink)->conn;
    return bytes->n >= KC__CONN_SLICE_BYTES && kc__conn_share(conn, bytes, 0, bytes->n);
}

static kc__http_fill fill_once(h1 *h)
{
    kc_buf *out = &h->conn->out;
    size_t before = out->n, shared_before = h->conn->slice_bytes;
    h1_sink sink = {.sink = {.text = out, .share = h1_share}, .conn = h->conn};
    h->woken = false;
    if (h->chunked)
        kc_buf_append(out, chunk_start);
    kc__http_fill verdict = kc__http_body_fill_sink(&h->out, &sink.sink, kc__conn_room(h->conn));
    if (h->chunked)
        end_chunk(h->conn, before, shared_before);
    return verdict;
}

static void end_body(h1 *h, kc__http_fill verdict)
{
    if (verdict == KC__HTTP_FILL_END && h->chunked)
        kc_buf_append(&h->conn->out, KC_STR("0\r\n\r\n"));
    if (verdict == KC__HTTP_FILL_ABORT) {
        h->keep_alive = false;
        /* If the end of the connection is the end of the body, only a reset signals the abort. */
        if (!h->chunked && !h->out.known)
            h->conn->disposition = KC__CONN_ABORT;
    }
    h->state = H1_SENT;
    kc__http_body_done(&h->out);
}

/* True if something was appended or nothing can be: compression continues after this has been
 * sent. */
static bool enough(h1 *h, size_t before, kc__http_fill verdict)
{
    bool appended = kc__conn_pending(h->conn) > before;
    if (verdict != KC__HTTP_FILL_MORE)
        return true;
    if (!appended && !h->out.gzip) {
        kc__conn_changed(h->conn);
        return true;
    }
    return appended && h->out.gzip;
}

void kc__h1_send(h1 *h)
{
    kc__http_fill verdict = KC__HTTP_FILL_MORE;
    size_t before = kc__conn_pending(h->conn);
    if (h->waiting && !h->woken)
        return;
    h->waiting = false;
    while (kc__conn_room(h->conn)) {
        verdict = fill_once(h);
        if (enough(h, before, verdict))
            break;
    }
    if (verdict == KC__HTTP_FILL_END || verdict == KC__HTTP_FILL_ABORT)
        end_body(h, verdict);
    h->waiting = verdict == KC__HTTP_FILL_WAIT;
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
    if (h->awaits_body)
        kc__conn_abandon(h->conn, &h->x, status);
    h->awaits_body = false;
    kc_scoped(kc_buf) text = {0};
    kc_buf_printf(&text, "%d %s: %s\n", status, kc__http_status_text(status), why);
    kc__http_response refusal =
        kc__http_response_refusal(h->conn->limits, status, kc_buf_str(&text));
    answer_at_once(h, &refusal);
    kc__h1_drop_body(h);
    h->conn->disposition = KC__CONN_CLOSE;
    h->conn->deadline = KC_FOREVER;
    kc_log_verbose(h->conn->log, 4, "request refused", kc_kv("status", status),
                   kc_kv("reason", why), kc_kv("client", (const char *)h->conn->peer.address));
}
