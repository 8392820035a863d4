/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_websocket.c: a watch over WebSocket: every event is one text message, with the line that
 * HTTP would have sent.
 *
 *     watch.c: fill ──▶ lines ──▶ frames ──▶ the connection
 *                       pong, close ──▶ ┘ ◀── receive: pings and the close of the client
 *
 * So a watch knows nothing of WebSocket; its source is wrapped by another one. It ends with a close
 * frame (1000) when the watch does, and when the client says so, or says what cannot be understood.
 * Messages of the client mean nothing, as upstream; they are read, within a limit, and dropped. Of
 * several pings that came since the last pong only the last is answered (RFC 6455, 5.5.3), so
 * whoever sends them without reading costs no memory.
 *
 * As upstream, the handshake comes last: a request that is refused for any other reason gets an
 * ordinary answer.
 *
 * A browser opens WebSockets to anywhere for any page, and lets the page read what comes. So a page
 * must not profit from what the browser has and the page has not: its place on this machine, which
 * the authenticator sees to (local_request.c), and its certificate. A token is the page's own; with
 * one any Origin will do. No Origin will do too, unlike upstream: only a browser has reason to send
 * one.
 */
#include "apiserver/rest/watch_websocket.h"

#include "apiserver/access/local_request.h"
#include "http/body.h"
#include "http/websocket.h"
#include "object/status.h"

/* An open one; outlives the call. */
typedef struct socket_watch {
    kc__exchange *x;
    const kc__body_source *events;
    void *user;   /* Of the events. */
    kc_buf lines; /* Empty between calls. */
    kc__websocket_reader reader;
    bool pong_due, closing;
    size_t n_pong;
    char pong[KC__WEBSOCKET_CONTROL];
} socket_watch;

/* ---- what goes out ---- */

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

static kc__fill fill_events(socket_watch *w, kc_buf *out, size_t room)
{
    kc__fill verdict = w->events->fill(&w->lines, room, w->user);
    write_frames(w, out);
    if (verdict == KC__FILL_END)
        kc__websocket_write_close(out, KC__WEBSOCKET_NORMAL);
    if (verdict != KC__FILL_MORE)
        kc_buf_done(&w->lines); /* It may wait for long. */
    return verdict;
}

static kc__fill fill(kc_buf *out, size_t room, void *user)
{
    socket_watch *w = user;
    if (w->pong_due)
        kc__websocket_write(out, KC__WEBSOCKET_PONG, kc_str_of(w->pong, w->n_pong));
    w->pong_due = false;
    if (!w->closing)
        return fill_events(w, out, room);
    kc__websocket_write_close(out, w->reader.code);
    return KC__FILL_END;
}

static void done(void *user)
{
    socket_watch *w = user;
    if (w->events->done)
        w->events->done(w->user);
    kc_buf_done(&w->lines);
    kc__websocket_reader_done(&w->reader);
    free(w);
}

/* ---- what comes in ---- */

static void keep_ping(socket_watch *w, kc_str payload)
{
    if (payload.n)
        memcpy(w->pong, payload.p, payload.n);
    w->n_pong = payload.n;
    w->pong_due = true;
}

static size_t receive(kc_str bytes, void *user)
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

/* "null" is that of pages which have none of their own. */
static bool has_bad_origin(const kc__request *request)
{
    size_t at = 0;
    kc_str origin;
    while (kc__headers_next(&request->headers, KC_STR("Origin"), &at, &origin))
        if (!kc_str_contains(origin, KC_STR("://")))
            return true;
    return false;
}

static int shake(kc__call *call, kc__websocket_hello *ret)
{
    const kc__request *request = &call->x->request;
    if (!request->upgradable)
        return kc_error_set(&call->error, KC_BAD_REQUEST,
                            "a watch over WebSocket needs a connection of HTTP/1.1");
    if (kc__websocket_shake(&request->headers, ret, &call->error) < 0)
        return -KC_BAD_REQUEST;
    if (has_bad_origin(request))
        return kc_error_set(&call->error, KC_FORBIDDEN, "missing or bad WebSocket-Origin");
    if (request->peer && request->peer->cert && kc__is_cross_site(request))
        return kc_error_set(&call->error, KC_FORBIDDEN,
                            "a page of another site must not use the browser's certificate");
    return 0;
}

/* Tells what would have been understood. */
static kc__verdict refuse(kc__call *call)
{
    const kc__header version = {KC_STR("Sec-WebSocket-Version"), KC_STR("13")};
    kc_scoped(kc_buf) json = {0};
    kc__status_write(&json, &call->error, NULL);
    return kc__answer_bytes(call, &(kc__answer){.status = call->error.code,
                                                .type = KC_STR("application/json"),
                                                .headers = &version,
                                                .n_headers = 1,
                                                .body = kc_buf_str(&json)});
}

kc__verdict kc__watch_over_websocket(kc__call *call, const kc__answer *events)
{
    static const kc__body_source frames = {.fill = fill, .done = done};
    static const kc__upgrade upgrade = {.protocol = "websocket", .receive = receive};
    kc__websocket_hello hello;
    if (shake(call, &hello) < 0) {
        kc__answer_drop(events);
        return refuse(call);
    }
    socket_watch *w = kc_new(socket_watch);
    w->x = call->x;
    w->events = events->source;
    w->user = events->user;
    const kc__header headers[] = {
        {KC_STR("Sec-WebSocket-Accept"), kc_cstr(hello.accept)},
        {KC_STR("Sec-WebSocket-Protocol"), hello.protocol},
    };
    return kc__answer_bytes(call, &(kc__answer){.status = 101,
                                                .headers = headers,
                                                .n_headers = hello.protocol.n ? 2 : 1,
                                                .source = &frames,
                                                .user = w,
                                                .upgrade = &upgrade});
}
