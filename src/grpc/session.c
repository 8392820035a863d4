/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c: the client side of an HTTP/2 connection, with nghttp2: bytes in, bytes out, no socket.
 *
 *     receive ─▶ nghttp2_session_mem_recv ─▶ callbacks ─▶ exchanges
 *     fill    ─▶ nghttp2_session_mem_send ─▶ bytes     ◀─ requests of exchanges
 *
 * nghttp2 validates frames and heads, compresses fields, and keeps requests that exceed the
 * server's limit of concurrent streams until others end.
 *
 * An exchange is the user data of its stream. It leaves the stream (user data NULL) as soon as its
 * result is known; nghttp2 may still report frames of that stream, which are then ignored. Nothing
 * in a callback deletes the session.
 *
 * Whether a server has processed a request decides whether it may be sent again. It certainly has
 * not if the head was never sent, if the server says so (REFUSED_STREAM), or if the stream is above
 * the last one that a GOAWAY names, which nghttp2 reports as REFUSED_STREAM, too.
 */
#include "grpc/session.h"

enum { MAX_ACKS = 1000, FRAME = 16384 };

static kc__grpc_exchange *exchange_of(nghttp2_session *h2, int32_t id)
{
    return id ? nghttp2_session_get_stream_user_data(h2, id) : NULL;
}

static void leave_session(kc__grpc_session *session, kc__grpc_exchange *x)
{
    nghttp2_session_set_stream_user_data(session->h2, x->id, NULL);
    kc_dlist_remove(&x->link);
    session->n_exchanges--;
    x->session = NULL;
}

/* ---- requests ---- */

static ssize_t read_grpc_request(nghttp2_session *h2, int32_t id, uint8_t *to, size_t size,
                                 uint32_t *flags, nghttp2_data_source *source, void *user)
{
    (void)source, (void)user;
    kc__grpc_exchange *x = exchange_of(h2, id);
    bool end = false;
    if (!x)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const size_t n = x->ops->read(x, (char *)to, size, &end);
    if (end)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    x->deferred = !n && !end;
    return x->deferred ? NGHTTP2_ERR_DEFERRED : (ssize_t)n;
}

bool kc__grpc_session_begin(kc__grpc_session *session, kc__grpc_exchange *x,
                            const nghttp2_nv *fields, size_t n_fields)
{
    const nghttp2_data_provider body = {.read_callback = read_grpc_request};
    const int32_t id = session->draining
                           ? -1
                           : nghttp2_submit_request(session->h2, NULL, fields, n_fields, &body, x);
    if (id < 0) {
        session->draining = true; /* The identifiers of streams are used up. */
        return false;
    }
    x->session = session;
    x->id = id;
    x->sent = x->deferred = false;
    kc_dlist_push(&session->exchanges, &x->link);
    session->n_exchanges++;
    return true;
}

void kc__grpc_session_resume(kc__grpc_session *session, kc__grpc_exchange *x)
{
    if (!x->deferred)
        return;
    x->deferred = false;
    nghttp2_session_resume_data(session->h2, x->id);
}

void kc__grpc_session_cancel(kc__grpc_session *session, kc__grpc_exchange *x)
{
    leave_session(session, x);
    nghttp2_submit_rst_stream(session->h2, NGHTTP2_FLAG_NONE, x->id, NGHTTP2_CANCEL);
}

void kc__grpc_session_finish(kc__grpc_session *session, kc__grpc_exchange *x)
{
    if (nghttp2_session_get_stream_local_close(session->h2, x->id) == 1)
        leave_session(session, x);
    else
        kc__grpc_session_cancel(session, x);
}

void kc__grpc_session_drop_unsent(kc__grpc_session *session)
{
    kc_dlist_each (&session->exchanges, kc__grpc_exchange, link, x) {
        if (x->sent)
            continue;
        kc__grpc_session_cancel(session, x);
        x->status.unsent = true;
        kc__grpc_status_set(&x->status, KC__GRPC_UNAVAILABLE, "the server accepts no more streams");
        kc__grpc_exchange_close(x);
    }
}

void kc__grpc_session_consume(kc__grpc_session *session, const kc__grpc_exchange *x, size_t n)
{
    nghttp2_session_consume_stream(session->h2, x->id, n);
}

void kc__grpc_session_ping(kc__grpc_session *session)
{
    nghttp2_submit_ping(session->h2, NGHTTP2_FLAG_NONE, NULL);
}

/* ---- callbacks of nghttp2 ---- */

static int on_frame_sent(nghttp2_session *h2, const nghttp2_frame *frame, void *user)
{
    (void)user;
    kc__grpc_exchange *x =
        frame->hd.type == NGHTTP2_HEADERS ? exchange_of(h2, frame->hd.stream_id) : NULL;
    if (x)
        x->sent = true;
    return 0;
}

static int on_response_field(nghttp2_session *h2, const nghttp2_frame *frame, const uint8_t *name,
                             size_t n_name, const uint8_t *value, size_t n_value, uint8_t flags,
                             void *user)
{
    (void)flags, (void)user;
    kc__grpc_exchange *x = exchange_of(h2, frame->hd.stream_id);
    if (x)
        kc__grpc_exchange_field(x, kc_str_of((const char *)name, n_name),
                                kc_str_of((const char *)value, n_value));
    return 0;
}

static int on_response_data(nghttp2_session *h2, uint8_t flags, int32_t id, const uint8_t *bytes,
                            size_t n, void *user)
{
    (void)flags, (void)user;
    kc__grpc_exchange *x = exchange_of(h2, id);
    nghttp2_session_consume_connection(h2, n);
    if (x)
        kc__grpc_exchange_data(x, kc_str_of((const char *)bytes, n));
    return 0;
}

static void on_stream_frame(kc__grpc_exchange *x, const nghttp2_frame *frame)
{
    const bool end = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    nghttp2_session *h2 = x->session->h2; /* The head may end the exchange, and free it. */
    if (frame->hd.type == NGHTTP2_HEADERS)
        kc__grpc_exchange_head(x, end);
    if (end && exchange_of(h2, frame->hd.stream_id))
        kc__grpc_exchange_end(x);
}

static int on_frame_received(nghttp2_session *h2, const nghttp2_frame *frame, void *user)
{
    kc__grpc_session *session = user;
    kc__grpc_exchange *x = exchange_of(h2, frame->hd.stream_id);
    switch (frame->hd.type) {
    case NGHTTP2_HEADERS:
    case NGHTTP2_DATA:
        if (x)
            on_stream_frame(x, frame);
        break;
    case NGHTTP2_SETTINGS: session->ready = true; break;
    case NGHTTP2_GOAWAY: session->draining = true; break;
    default: break;
    }
    return 0;
}

/* The server has reset the stream, or nghttp2 has because of an invalid frame. */
static int on_stream_closed(nghttp2_session *h2, int32_t id, uint32_t error, void *user)
{
    kc__grpc_session *session = user;
    kc__grpc_exchange *x = exchange_of(h2, id);
    if (!x)
        return 0;
    leave_session(session, x);
    x->status.unsent = !x->sent || error == NGHTTP2_REFUSED_STREAM;
    if (x->status.unsent)
        kc__grpc_status_set(&x->status, KC__GRPC_UNAVAILABLE, "the server refused the stream");
    else
        kc__grpc_status_set(&x->status, kc__grpc_code_of_h2(error), "the stream was reset: %s",
                            nghttp2_http2_strerror(error));
    kc__grpc_exchange_close(x);
    return 0;
}

static int on_h2_error(nghttp2_session *h2, int code, const char *text, size_t n, void *user)
{
    (void)h2, (void)code;
    kc__grpc_session *session = user;
    enum { LONGEST = 200 };
    kc_buf_clear(&session->error);
    kc_buf_append(&session->error, kc_str_of(text, KC_MIN(n, (size_t)LONGEST)));
    return 0;
}

/* ---- input and output ---- */

static void note_h2_error(kc__grpc_session *session, int code)
{
    if (session->error.n)
        return;
    kc_buf_puts(&session->error, code ? nghttp2_strerror(code) : "the server closed the session");
}

bool kc__grpc_session_receive(kc__grpc_session *session, kc_str bytes)
{
    const ssize_t n = nghttp2_session_mem_recv(session->h2, (const uint8_t *)bytes.p, bytes.n);
    if (n < 0)
        note_h2_error(session, (int)n);
    return n >= 0;
}

bool kc__grpc_session_fill(kc__grpc_session *session, kc_buf *out, size_t high)
{
    ssize_t n = 1;
    while (n > 0 && out->n < high) {
        const uint8_t *bytes;
        n = nghttp2_session_mem_send(session->h2, &bytes);
        if (n > 0)
            kc_buf_append(out, kc_str_of((const char *)bytes, (size_t)n));
    }
    const bool over = n < 0 || (!nghttp2_session_want_read(session->h2) &&
                                !nghttp2_session_want_write(session->h2));
    if (over)
        note_h2_error(session, (int)KC_MIN(n, 0));
    return !over;
}

/* ---- begin and end ---- */

static nghttp2_session *h2_client_new(kc__grpc_session *session)
{
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *option = NULL;
    nghttp2_session *h2 = NULL;
    if (nghttp2_session_callbacks_new(&callbacks) < 0 || nghttp2_option_new(&option) < 0)
        abort();
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_sent);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_response_field);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_response_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_received);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_closed);
    nghttp2_session_callbacks_set_error_callback2(callbacks, on_h2_error);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_max_outbound_ack(option, MAX_ACKS);
    nghttp2_option_set_max_continuations(option, KC__GRPC_MAX_HEAD / FRAME + 8);
    if (nghttp2_session_client_new2(&h2, callbacks, session, option) < 0)
        abort();
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    return h2;
}

void kc__grpc_session_open(kc__grpc_session *session)
{
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, KC__GRPC_STREAM_WINDOW},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, KC__GRPC_MAX_HEAD},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
    };
    *session = (kc__grpc_session){0};
    kc_dlist_init(&session->exchanges);
    session->h2 = h2_client_new(session);
    nghttp2_submit_settings(session->h2, NGHTTP2_FLAG_NONE, settings, KC_COUNT(settings));
    nghttp2_session_set_local_window_size(session->h2, NGHTTP2_FLAG_NONE, 0,
                                          KC__GRPC_CONNECTION_WINDOW);
}

void kc__grpc_session_close(kc__grpc_session *session, const char *reason)
{
    session->draining = true;
    for (kc_dlist_link *link; (link = kc_dlist_first(&session->exchanges));) {
        kc__grpc_exchange *x = kc_container_of(link, kc__grpc_exchange, link);
        leave_session(session, x);
        x->lost = true;
        x->status.unsent = !x->sent;
        kc__grpc_status_set(&x->status, KC__GRPC_UNAVAILABLE, "connection lost: %s", reason);
        kc__grpc_exchange_close(x);
    }
    nghttp2_session_del(session->h2);
    session->h2 = NULL;
    kc_buf_done(&session->error);
}
