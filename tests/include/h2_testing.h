/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h2_testing.h: kc__h2_protocol without a network: a connection in memory, and a real HTTP/2 client
 * at its other end.
 *
 *     plane p;
 *     plane_open(&p, NULL);
 *     int32_t id = get(&p, "/healthz");
 *     settle(&p);                                   until neither side has anything to send
 *     assert_int_equal(reply_of(&p, id)->status, 200);
 *     plane_close(&p);
 *
 * The handler answers by path: see `handle`. Time is virtual. Closing a plane checks that every
 * source was finished once and every owner released once.
 */
#ifndef KC_H2_TESTING_H
#define KC_H2_TESTING_H

#include "http/server/conn.h"
#include "testing.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>

/* The protocol uses the loop only to read the time. */
struct kc__loop {
    kc_clock *clock;
    char date[KC__HTTP_DATE];
};

const kc_clock *kc__loop_clock(const kc__loop *loop)
{
    return loop->clock;
}

kc_str kc__loop_date(kc__loop *loop)
{
    return kc__http_date(kc_clock_wall(loop->clock), loop->date);
}

/* What the client received on one of its streams. */
typedef struct reply {
    int status;
    kc_buf head; /* "name: value\n" each. */
    kc_buf body;
    size_t length; /* Bytes of the body, also if the body is not kept. */
    bool ended, closed;
    uint32_t code; /* Error code with which it was closed. */
    kc_str upload; /* Still to be sent. */
    bool endless;  /* The upload never ends. */
} reply;

enum { MAX_HELD = 512 };

typedef struct plane {
    kc__loop loop;
    kc__conn conn;
    kc__http_limits limits;
    nghttp2_session *client;
    KC_VEC(reply) replies;
    bool goaway;
    uint32_t goaway_code;
    bool stalled;   /* The client does not read. */
    size_t changes; /* Calls of kc__conn_changed. */
    size_t max_out; /* The maximum size that conn->out ever had. */
    size_t handled, sources, done, owners, released;
    size_t begun, rejected, abandoned; /* For a begin of the test's own. */
    int abandoned_with;                /* The status of the last one. */
    kc__exchange *held[MAX_HELD];      /* Exchanges that the handler has not answered. */
    size_t n_held;
    kc_buf seen; /* Of the last request: method, path, fields, body. */
    struct feed *feeds;
} plane;

/* A body source that the test feeds. */
typedef struct feed {
    plane *plane;
    kc__exchange *x;
    kc_buf ready;
    size_t endless; /* Bytes that it generates by itself; counts down. */
    size_t polls;
    kc__http_fill then; /* When nothing is ready. */
    bool wakes_itself;
    int times_done;
    struct feed *next;
} feed;

static inline kc__http_fill feed_fill(kc_buf *out, size_t room, void *user)
{
    feed *f = user;
    assert_int_equal(f->times_done, 0);
    f->polls++;
    if (f->endless) {
        size_t n = KC_MIN(room, f->endless);
        memset(kc_buf_reserve(out, n), 'x', n);
        out->n += n;
        f->endless -= n;
        return f->endless ? KC__HTTP_FILL_MORE : f->then;
    }
    kc_buf_append(out, kc_buf_str(&f->ready));
    kc_buf_clear(&f->ready);
    if (f->wakes_itself && f->polls < 3)
        kc__exchange_wake(f->x);
    return f->then;
}

static inline void feed_done(void *user)
{
    feed *f = user;
    f->times_done++;
    f->plane->done++;
}

/* Passes ready data as shared bytes, if the connection accepts them. */
static inline kc__http_fill feed_fill_sink(kc__http_body_sink *sink, size_t room, void *user)
{
    feed *f = user;
    if (f->endless || !f->ready.n || !f->plane->conn.shares)
        return feed_fill(sink->text, room, user);
    f->polls++;
    kc_auto(kc__http_shared_bytes) *bytes = kc__http_shared_bytes_new(kc_buf_str(&f->ready));
    kc_buf_clear(&f->ready);
    kc__http_body_sink_put(sink, bytes);
    return f->then;
}

static const kc__http_body_source feed_source = {feed_fill, feed_done, feed_fill_sink};

static inline feed *feed_new(plane *p, kc__exchange *x)
{
    feed *f = kc_new(feed);
    *f = (feed){.plane = p, .x = x, .then = KC__HTTP_FILL_WAIT, .next = p->feeds};
    p->feeds = f;
    p->sources++;
    return f;
}

static inline void feed_set(feed *f, const char *text, kc__http_fill then)
{
    kc_buf_puts(&f->ready, text);
    f->then = then;
    kc__exchange_wake(f->x);
}

static inline void release_owner(void *owner)
{
    ((plane *)owner)->released++;
}

static inline void respond_text(kc__exchange *x, int status, kc_str text)
{
    kc__exchange_respond(
        x, &(kc__http_response){.status = status,
                                .type = KC_STR("text/plain"),
                                .headers = (kc__http_header[]){{KC_STR("X-Kind"), KC_STR("test")}},
                                .n_headers = 1,
                                .body = text});
}

static inline void respond_owned(plane *p, kc__exchange *x, kc_str text)
{
    p->owners++;
    kc__exchange_respond(
        x, &(kc__http_response){.status = 200, .body = text, .owner = p, .release = release_owner});
}

static inline feed *respond_feed(plane *p, kc__exchange *x)
{
    feed *f = feed_new(p, x);
    kc__exchange_respond(
        x, &(kc__http_response){.status = 200, .source = &feed_source, .user = f, .flush = true});
    return f;
}

static inline void respond_endless(plane *p, kc__exchange *x)
{
    feed *f = feed_new(p, x);
    f->endless = (size_t)1 << 30;
    kc__exchange_respond(x, &(kc__http_response){.status = 200, .source = &feed_source, .user = f});
}

static char large_text[1 << 20];

static inline void remember_request(plane *p, const kc__http_request *request)
{
    kc_buf_clear(&p->seen);
    kc_buf_printf(&p->seen, "%.*s %.*s\n", KC_ARG(request->method), KC_ARG(request->target.path));
    kc_vec_each (&request->headers.list, field)
        kc_buf_printf(&p->seen, "%.*s: %.*s\n", KC_ARG(field->name), KC_ARG(field->value));
    kc_buf_printf(&p->seen, "%zu bytes\n", request->body.n);
}

/* Answers by path. */
static inline void handle(kc__exchange *x, void *user)
{
    plane *p = user;
    kc_str path = x->request.target.path;
    p->handled++;
    remember_request(p, &x->request);
    if (kc_str_is(path, "/hold")) {
        assert_true(p->n_held < MAX_HELD);
        p->held[p->n_held++] = x;
    } else if (kc_str_is(path, "/echo")) {
        respond_text(x, 200, x->request.body);
    } else if (kc_str_is(path, "/owned")) {
        respond_owned(p, x, kc_str_of(large_text, sizeof(large_text)));
    } else if (kc_str_is(path, "/watch")) {
        respond_feed(p, x);
    } else if (kc_str_is(path, "/endless")) {
        respond_endless(p, x);
    } else if (kc_str_is(path, "/204")) {
        respond_text(x, 204, KC_STR("dropped"));
    } else if (kc_str_is(path, "/304")) {
        respond_text(x, 304, KC_STR("dropped"));
    } else {
        respond_text(x, 200, KC_STR("ok"));
    }
}

/* ---- the client ---- */

static inline reply *reply_of(plane *p, int32_t id)
{
    size_t at = (size_t)(id - 1) / 2;
    while (p->replies.n <= at)
        kc_vec_add(&p->replies);
    return &p->replies.items[at];
}

static inline int client_header(nghttp2_session *session, const nghttp2_frame *frame,
                                const uint8_t *name, size_t name_n, const uint8_t *value,
                                size_t value_n, uint8_t flags, void *user)
{
    reply *r = reply_of(user, frame->hd.stream_id);
    (void)session, (void)flags;
    if (kc_str_is(kc_str_of((const char *)name, name_n), ":status"))
        r->status = atoi((const char *)value);
    else
        kc_buf_printf(&r->head, "%.*s: %.*s\n", (int)name_n, name, (int)value_n, value);
    return 0;
}

static inline int client_data(nghttp2_session *session, uint8_t flags, int32_t id,
                              const uint8_t *data, size_t n, void *user)
{
    reply *r = reply_of(user, id);
    (void)session, (void)flags;
    r->length += n;
    if (r->length < 4096)
        kc_buf_append(&r->body, kc_str_of((const char *)data, n));
    return 0;
}

static inline int client_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    plane *p = user;
    (void)session;
    if (frame->hd.stream_id && frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
        reply_of(p, frame->hd.stream_id)->ended = true;
    return 0;
}

static inline int client_close(nghttp2_session *session, int32_t id, uint32_t code, void *user)
{
    reply *r = reply_of(user, id);
    (void)session;
    r->closed = true;
    r->code = code;
    return 0;
}

static inline ssize_t client_upload(nghttp2_session *session, int32_t id, uint8_t *to, size_t room,
                                    uint32_t *flags, nghttp2_data_source *source, void *user)
{
    reply *r = reply_of(user, id);
    size_t n = r->endless ? room : KC_MIN(room, r->upload.n);
    (void)session, (void)source;
    if (r->endless)
        memset(to, 'y', n);
    else if (n)
        memcpy(to, r->upload.p, n);
    r->upload = kc_str_sub(r->upload, n, r->upload.n);
    if (!r->endless && !r->upload.n)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)n;
}

static inline void client_new(plane *p, uint32_t window, bool hoards)
{
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *option;
    assert_int_equal(nghttp2_session_callbacks_new(&callbacks), 0);
    assert_int_equal(nghttp2_option_new(&option), 0);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, client_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, client_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, client_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, client_close);
    nghttp2_option_set_no_auto_window_update(option, hoards);
    assert_int_equal(nghttp2_session_client_new2(&p->client, callbacks, p, option), 0);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window}};
    nghttp2_submit_settings(p->client, NGHTTP2_FLAG_NONE, settings, 1);
}

/* ---- the plane ---- */

typedef struct plane_opts {
    kc__http_limits limits;
    uint32_t window; /* The client's, of a stream. Defaults to 65535. */
    bool no_window;  /* The window is 0, and the client sends no WINDOW_UPDATE. */
    bool hoards;     /* The client sends no WINDOW_UPDATE, for streams or for the connection. */
    kc__exchange_begin_fn *begin;
    kc__exchange_abandon_fn *abandon;
    kc__http_budget *budget;
} plane_opts;

static inline void count_change(kc__conn *conn)
{
    kc_container_of(conn, plane, conn)->changes++;
}

static inline void plane_start(plane *p, const plane_opts *opts)
{
    static const plane_opts defaults;
    opts = opts ? opts : &defaults;
    *p = (plane){.limits = opts->limits};
    p->loop.clock = kc_clock_virtual_new(0);
#define DEFAULT(field, value) p->limits.field = p->limits.field ? p->limits.field : (value)
    DEFAULT(max_body, (size_t)3 << 20);
    DEFAULT(max_head, (size_t)128 << 10);
    DEFAULT(max_headers, 128);
    DEFAULT(head_timeout, 32 * KC_SECOND);
    DEFAULT(body_timeout, 60 * KC_SECOND);
    DEFAULT(idle_timeout, 3 * KC_MINUTE);
    DEFAULT(write_timeout, 30 * KC_SECOND);
    DEFAULT(max_streams, 250);
    DEFAULT(max_resets, 100);
    DEFAULT(max_heads, (size_t)2 << 20);
    DEFAULT(max_unauthenticated_streams, 8);
#undef DEFAULT
    p->conn = (kc__conn){.loop = &p->loop,
                         .protocol = &kc__h2_protocol,
                         .deadline = KC_FOREVER,
                         .limits = &p->limits,
                         .begin = opts->begin,
                         .handle = handle,
                         .abandon = opts->abandon,
                         .budget = opts->budget,
                         .user = p,
                         .changed = count_change};
    p->conn.peer = (kc__conn_peer){.address = "127.0.0.1", .loopback = true};
    kc__h2_protocol.open(&p->conn);
    client_new(p,
               opts->no_window ? 0
               : opts->window  ? opts->window
                               : 65535,
               opts->no_window || opts->hoards);
}

/* Transfers what the client wrote. False if there was nothing. */
static inline bool client_to_server(plane *p)
{
    const uint8_t *bytes;
    ssize_t n = nghttp2_session_mem_send(p->client, &bytes);
    assert_true(n >= 0);
    if (n > 0 && p->conn.disposition == KC__CONN_OPEN)
        kc__h2_protocol.receive(&p->conn, kc_str_of((const char *)bytes, (size_t)n));
    return n > 0;
}

/* Transfers some frames of the client, without reading responses. */
static inline void client_sends_frames(plane *p, int frames)
{
    while (frames-- > 0 && client_to_server(p))
        ;
}

/* After streams that it did not open, the client's library does not report GOAWAY. */
static inline void look_for_goaway(plane *p, kc_str bytes)
{
    while (bytes.n >= 9) {
        const uint8_t *head = (const uint8_t *)bytes.p;
        size_t n = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
        assert_true(bytes.n >= n + 9);
        if (head[3] == NGHTTP2_GOAWAY) {
            p->goaway = true;
            p->goaway_code = head[16];
        }
        bytes = kc_str_sub(bytes, n + 9, bytes.n);
    }
    assert_int_equal(bytes.n, 0);
}

/* Joins the connection's own bytes and shared slices into one buffer. */
static inline void join_output(kc__conn *conn)
{
    kc_str parts[KC__CONN_PARTS];
    kc_buf all = {0};
    const size_t n = conn->n_slices ? kc__conn_parts(conn, parts) : 0;
    if (!n)
        return;
    for (size_t i = 0; i < n; i++)
        kc_buf_append(&all, parts[i]);
    kc__conn_output_done(conn);
    conn->out = all;
}

/* Transfers what the server wrote, then lets the server write more. */
static inline bool server_to_client(plane *p)
{
    kc_buf *out = &p->conn.out;
    join_output(&p->conn);
    p->max_out = KC_MAX(p->max_out, out->n);
    if (p->stalled || !out->n)
        return false;
    look_for_goaway(p, kc_buf_str(out));
    ssize_t n = nghttp2_session_mem_recv(p->client, (const uint8_t *)out->p, out->n);
    assert_int_equal(n, out->n);
    kc_buf_clear(out);
    kc__h2_protocol.fill(&p->conn);
    return true;
}

static inline void settle(plane *p)
{
    for (bool busy = true; busy;) {
        busy = client_to_server(p);
        if (p->changes) {
            p->changes = 0;
            kc__h2_protocol.fill(&p->conn);
            busy = true;
        }
        busy = server_to_client(p) || busy;
    }
}

/* Opens a connection and its client, and completes the connection preface. */
static inline void plane_open(plane *p, const plane_opts *opts)
{
    plane_start(p, opts);
    settle(p);
}

/* Sends bytes that no client library would send. */
static inline void send_raw(plane *p, const void *bytes, size_t n)
{
    if (p->conn.disposition == KC__CONN_OPEN)
        kc__h2_protocol.receive(&p->conn, kc_str_of(bytes, n));
}

static inline void send_frame(plane *p, uint8_t type, uint8_t flags, uint32_t id, kc_str payload)
{
    kc_scoped(kc_buf) frame = {0};
    const char head[9] = {
        (char)(payload.n >> 16), (char)(payload.n >> 8), (char)payload.n, (char)type, (char)flags,
        (char)(id >> 24),        (char)(id >> 16),       (char)(id >> 8), (char)id};
    kc_buf_append(&frame, kc_str_of(head, sizeof(head)));
    kc_buf_append(&frame, payload);
    send_raw(p, frame.p, frame.n);
}

static inline void plane_advance(plane *p, int64_t ns)
{
    kc_clock_advance(p->loop.clock, ns);
    if (p->conn.deadline <= kc_clock_now(p->loop.clock))
        kc__h2_protocol.expired(&p->conn);
    settle(p);
}

static inline void respond_held(plane *p)
{
    for (size_t i = 0; i < p->n_held; i++)
        respond_text(p->held[i], 200, KC_STR("late"));
    p->n_held = 0;
}

/* Drops the connection; the handler may still hold exchanges. */
static inline void plane_cut(plane *p)
{
    kc__h2_protocol.close(&p->conn);
    assert_null(p->conn.session);
    assert_int_equal(p->conn.holds, p->n_held);
}

static inline void plane_close(plane *p)
{
    if (p->conn.session)
        plane_cut(p);
    respond_held(p);
    assert_int_equal(p->conn.holds, 0);
    assert_int_equal(p->done, p->sources);
    assert_int_equal(p->released, p->owners);
    for (feed *f = p->feeds, *next; f; f = next) {
        next = f->next;
        assert_int_equal(f->times_done, 1);
        kc_buf_done(&f->ready);
        free(f);
    }
    kc_vec_each (&p->replies, r) {
        kc_buf_done(&r->head);
        kc_buf_done(&r->body);
    }
    kc_vec_done(&p->replies);
    kc__conn_output_done(&p->conn);
    kc_buf_done(&p->seen);
    nghttp2_session_del(p->client);
    kc_clock_free(p->loop.clock);
}

/* ---- requests ---- */

static inline nghttp2_nv nv(const char *name, const char *value)
{
    return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value),
                        NGHTTP2_NV_FLAG_NONE};
}

/* With up to 300 additional header fields, and a body (p NULL: none). */
static inline int32_t request(plane *p, const char *method, const char *path,
                              const nghttp2_nv *more, size_t n_more, kc_str body, bool endless)
{
    nghttp2_nv fields[304] = {nv(":method", method), nv(":scheme", "http"), nv(":path", path),
                              nv(":authority", "localhost:6080")};
    nghttp2_data_provider upload = {.read_callback = client_upload};
    assert_true(n_more <= 300);
    if (n_more)
        memcpy(fields + 4, more, n_more * sizeof(*more));
    bool has_body = body.p || endless;
    int32_t id = nghttp2_submit_request(p->client, NULL, fields, n_more + 4,
                                        has_body ? &upload : NULL, NULL);
    assert_true(id > 0);
    reply_of(p, id)->upload = body;
    reply_of(p, id)->endless = endless;
    return id;
}

static inline int32_t get(plane *p, const char *path)
{
    return request(p, "GET", path, NULL, 0, (kc_str){0}, false);
}

static inline int32_t post(plane *p, const char *path, kc_str body)
{
    return request(p, "POST", path, NULL, 0, body, false);
}

static inline void reset(plane *p, int32_t id)
{
    nghttp2_submit_rst_stream(p->client, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
}

#endif
