/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_websocket.c: a watch over WebSocket: every event is one text message, the line that HTTP
 * would have sent.
 *
 *     watch.c: fill ──▶ lines ──▶ frames ──▶ the connection
 *                       pong, close ──▶ ┘ ◀── receive: pings and the close of the client
 *
 * watch.c does not depend on WebSocket; this file wraps its body source in another one. The
 * connection ends with a close frame (1000) when the watch ends, and when the client closes it or
 * sends an invalid frame. Messages of the client are ignored, as in Kubernetes: they are read,
 * within a limit, and dropped. If several pings have arrived since the last pong, only the last is
 * answered (RFC 6455, 5.5.3), so a client that sends pings without reading costs no memory.
 *
 * As in Kubernetes, the handshake comes last: a request that is rejected for any other reason gets
 * an ordinary HTTP response.
 *
 * A browser opens WebSockets to any host for any page, and lets the page read the messages. So a
 * page must not gain access through credentials of the browser that the page does not have: its
 * location on this machine, which the authenticator handles (local_request.c), and its client
 * certificate. A token belongs to the page itself; with a token any Origin is accepted. A missing
 * Origin is accepted too, unlike in Kubernetes: only browsers send one.
 */
#include "apiserver/verbs/watch_websocket.h"

#include "http/server/body.h"
#include "http/server/websocket.h"
#include "http/trust/local_request.h"
#include "object/model/status.h"

/* An open watch over WebSocket; outlives the call. */
typedef struct socket_watch {
    kc__exchange *x;
    const kc__http_body_source *events;
    void *user;   /* Of the event source. */
    kc_buf lines; /* Empty between calls. */
    kc__websocket_reader reader;
    bool pong_due, closing;
    size_t n_pong;
    char pong[KC__WEBSOCKET_CONTROL];
} socket_watch;

/* ---- output ---- */

static void write_frames(socket_watch *w, kc_buf *out)
{
    kc_str rest = kc_buf_str(&w->lines);
    while (rest.n) {
        ptrdiff_t end = kc_str_find(rest, '\n');
        kc_str line = kc_str_sub(rest, 0, end < 0 ? rest.n : (size_t)end + 1);
        kc__websocket_write(out, KC__WEBSOCKET_TEXT, line);
        rest = kc_str_sub(rest, line.n, rest.n);
    }
    kc_buf_clear(&w->lines);
}

static kc__http_fill fill_events(socket_watch *w, kc_buf *out, size_t room)
{
    kc__http_fill verdict = w->events->fill(&w->lines, room, w->user);
    write_frames(w, out);
    if (verdict == KC__HTTP_FILL_END)
        kc__websocket_write_close(out, KC__WEBSOCKET_NORMAL);
    if (verdict != KC__HTTP_FILL_MORE)
        kc_buf_done(&w->lines); /* The watch may wait for a long time. */
    return verdict;
}

static kc__http_fill fill_websocket_watch(kc_buf *out, size_t room, void *user)
{
    socket_watch *w = user;
    if (w->pong_due)
        kc__websocket_write(out, KC__WEBSOCKET_PONG, kc_str_of(w->pong, w->n_pong));
    w->pong_due = false;
    if (!w->closing)
        return fill_events(w, out, room);
    kc__websocket_write_close(out, w->reader.code);
    return KC__HTTP_FILL_END;
}

static void websocket_watch_done(void *user)
{
    socket_watch *w = user;
    if (w->events->done)
        w->events->done(w->user);
    kc_buf_done(&w->lines);
    kc__websocket_reader_done(&w->reader);
    free(w);
}

/* ---- input ---- */

static void keep_ping(socket_watch *w, kc_str payload)
{
    if (payload.n)
        memcpy(w->pong, payload.p, payload.n);
    w->n_pong = payload.n;
    w->pong_due = true;
}

static size_t receive_websocket_watch(kc_str bytes, void *user)
{
    socket_watch *w = user;
    const size_t taken = bytes.n;
    while (bytes.n) {
        kc_str payload = {0};
        switch (kc__websocket_read(&w->reader, &bytes, &payload)) {
        case KC__WEBSOCKET_PINGED: keep_ping(w, payload); break;
        case KC__WEBSOCKET_CLOSED:
        case KC__WEBSOCKET_BROKEN: w->closing = true; break;
        case KC__WEBSOCKET_MORE:
        case KC__WEBSOCKET_MESSAGE:
        case KC__WEBSOCKET_PONGED: break;
        }
    }
    if (w->pong_due || w->closing)
        kc__exchange_wake(w->x);
    return taken;
}

/* ---- the handshake ---- */

/* "null" is the Origin of pages without an origin of their own. */
static bool has_bad_origin(const kc__http_request *request)
{
    size_t at = 0;
    kc_str origin;
    while (kc__http_headers_next(&request->headers, KC_STR("Origin"), &at, &origin))
        if (!kc_str_contains(origin, KC_STR("://")))
            return true;
    return false;
}

static int shake(kc__rest_call *call, kc__websocket_handshake_request *ret)
{
    const kc__http_request *request = &call->x->request;
    if (!request->upgradable)
        return kc_error_set(&call->error, KC_BAD_REQUEST,
                            "a watch over WebSocket requires HTTP/1.1");
    if (kc__websocket_handshake(&request->headers, ret, &call->error) < 0)
        return kc_error_result(&call->error);
    if (has_bad_origin(request))
        return kc_error_set(&call->error, KC_FORBIDDEN, "missing or bad WebSocket-Origin");
    if (request->peer && request->peer->cert && kc__local_request_is_cross_site(request))
        return kc_error_set(&call->error, KC_FORBIDDEN,
                            "cross-site WebSocket requests must not use a client certificate");
    return 0;
}

/* Rejects the handshake with the supported Sec-WebSocket-Version. */
static kc__rest_verdict refuse_websocket_watch(kc__rest_call *call)
{
    const kc__http_header version = {KC_STR("Sec-WebSocket-Version"), KC_STR("13")};
    kc_scoped(kc_buf) json = {0};
    kc__status_write(&json, &call->error, NULL);
    return kc__rest_respond_bytes(call, &(kc__http_response){.status = call->error.code,
                                                             .type = KC_STR("application/json"),
                                                             .headers = &version,
                                                             .n_headers = 1,
                                                             .body = kc_buf_str(&json)});
}

kc__rest_verdict kc__rest_watch_websocket(kc__rest_call *call, const kc__http_response *events)
{
    static const kc__http_body_source frames = {.fill = fill_websocket_watch,
                                                .done = websocket_watch_done};
    static const kc__http_upgrade upgrade = {.protocol = "websocket",
                                             .receive = receive_websocket_watch};
    kc__websocket_handshake_request hello;
    if (shake(call, &hello) < 0) {
        kc__http_response_drop(events);
        return refuse_websocket_watch(call);
    }
    socket_watch *w = kc_new(socket_watch);
    w->x = call->x;
    w->events = events->source;
    w->user = events->user;
    const kc__http_header headers[] = {
        {KC_STR("Sec-WebSocket-Accept"), kc_cstr(hello.accept)},
        {KC_STR("Sec-WebSocket-Protocol"), hello.protocol},
    };
    return kc__rest_respond_bytes(call, &(kc__http_response){.status = 101,
                                                             .headers = headers,
                                                             .n_headers = hello.protocol.n ? 2 : 1,
                                                             .source = &frames,
                                                             .user = w,
                                                             .upgrade = &upgrade});
}
