/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.c: a connection over a non-blocking socket.
 *
 * The socket is always polled for reading, and for writing only while it is full; a small request
 * costs one wake-up, one read and one write. `act` runs after every call of the protocol:
 *
 *     readable ─▶ receive ─┐
 *     changed ─────────────┼─▶ act: fill ─▶ write ─▶ repeat while both make progress (a budget)
 *     writable ────────────┤        then: close? which events to poll for? next deadline?
 *     expired ─────────────┘
 *
 * When the client shuts down its sending side, pending output is still sent; but as soon as there
 * is nothing to send, the client counts as gone. So a client that half-closes the connection gets
 * the rest of a long response, and one that has left a watch is detected at once.
 *
 * After the last response the connection lingers: it shuts down its sending side and drops further
 * input for LINGER, because closing a socket with unread bytes resets the connection, and the
 * client might lose the response that explains the close.
 *
 * There is one timer for all deadlines. It is moved only if a deadline becomes earlier than the
 * timer; if it fires too early it is set again. So requests cost no timer operations.
 *
 * Memory: a transport is freed when its socket's handle is closed, its task is not posted and no
 * exchange holds it.
 */
#include "http/server/transport_internal.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <unistd.h>

#define LINGER_TIMEOUT (2 * KC_SECOND)

enum {
    WRITE_ROUNDS = 8,
    READ_UNAUTHENTICATED = 8 * 1024,
};

static kc__transport *transport_of(kc__conn *conn)
{
    return (kc__transport *)conn;
}

static int64_t now_of(const kc__transport *t)
{
    return kc_clock_now(kc__loop_clock(t->conn.loop));
}

static int64_t deadline_in(const kc__transport *t, int64_t ns)
{
    return kc_clock_deadline(kc__loop_clock(t->conn.loop), ns);
}

static void act(kc__transport *t);

/* ---- closing ---- */

static void maybe_free(kc__transport *t)
{
    if (t->state != TRANSPORT_CLOSED || !t->uv_closed || t->posted || t->conn.holds)
        return;
    kc__transport_context *context = t->context;
    kc__tls_client_cert_free(t->cert);
    free(t);
    context->freed(context);
}

static void on_uv_closed(uv_handle_t *handle)
{
    kc__transport *t = handle->data;
    t->uv_closed = true;
    maybe_free(t);
}

static void on_released(kc__conn *conn)
{
    maybe_free(transport_of(conn));
}

static void end_session(kc__transport *t)
{
    if (t->state != TRANSPORT_OPEN)
        return;
    t->busy = true;
    t->conn.protocol->close(&t->conn);
    t->busy = false;
}

static void close_now(kc__transport *t)
{
    if (t->state == TRANSPORT_CLOSED)
        return;
    end_session(t);
    t->state = TRANSPORT_CLOSED;
    kc__loop_timer_stop(&t->timer);
    kc_dlist_remove(&t->link);
    kc__conn_output_done(&t->conn);
    SSL_free(t->ssl);
    t->ssl = NULL;
    uv_close((uv_handle_t *)&t->poll, on_uv_closed);
    close(t->fd);
    t->conn.socket.fd = -1;
    t->context->closed(t->context);
}

/* All output is sent. Does not linger while the server shuts down. */
static void finish_transport(kc__transport *t)
{
    kc__transport_shutdown(t);
    if (t->eof || t->context->draining) {
        close_now(t);
        return;
    }
    end_session(t);
    t->state = TRANSPORT_LINGERING;
    t->own_deadline = deadline_in(t, LINGER_TIMEOUT);
}

/* ---- polling and timers ---- */

static bool may_read(const kc__transport *t)
{
    if (t->eof || t->failed || t->state == TRANSPORT_CLOSED)
        return false;
    if (t->state != TRANSPORT_OPEN)
        return true;
    return t->conn.disposition == KC__CONN_OPEN && !t->conn.full &&
           kc__conn_pending(&t->conn) < 2 * kc__conn_high(&t->conn);
}

static void on_event(uv_poll_t *poll, int status, int events);

/* A change costs system calls, so it is made only if the events differ. */
static void poll_for(kc__transport *t)
{
    bool reads = may_read(t), writes = t->write_blocked && kc__conn_pending(&t->conn);
    bool readable = (reads && !t->read_wants_write) || (writes && t->write_wants_read);
    bool writable = (writes && !t->write_wants_read) || (reads && t->read_wants_write);
    int events = (readable ? UV_READABLE : 0) | (writable ? UV_WRITABLE : 0);
    if (events == t->events)
        return;
    t->events = events;
    if (events)
        uv_poll_start(&t->poll, events, on_event);
    else
        uv_poll_stop(&t->poll);
}

static int64_t next_deadline(const kc__transport *t)
{
    int64_t own = KC_MIN(t->own_deadline, t->write_deadline);
    return t->state == TRANSPORT_OPEN ? KC_MIN(own, t->conn.deadline) : own;
}

static void set_timer(kc__transport *t)
{
    int64_t deadline = next_deadline(t);
    if (deadline == KC_FOREVER)
        return;
    if (!kc_heap_has(&t->timer.place) || t->timer.deadline > deadline)
        kc__loop_timer_start(&t->timer, deadline);
}

static void count_timeout(const kc__transport *t)
{
    if (t->state == TRANSPORT_HANDSHAKE)
        kc_counter_inc(t->context->handshake_timeouts);
    else if (t->state == TRANSPORT_CHOOSING)
        kc__conn_count_ending(&t->conn, KC__HTTP_ENDED_HEAD_TIMEOUT);
    else if (t->state == TRANSPORT_OPEN)
        kc__conn_count_ending(&t->conn, KC__HTTP_ENDED_WRITE_TIMEOUT);
}

static void expire(kc__transport *t, int64_t now)
{
    if (KC_MIN(t->own_deadline, t->write_deadline) <= now) {
        count_timeout(t);
        close_now(t);
        return;
    }
    t->busy = true;
    t->conn.protocol->expired(&t->conn);
    t->busy = false;
    if (t->conn.deadline <= now)
        t->conn.deadline = KC_FOREVER; /* The protocol was notified. */
    act(t);
}

static void on_timer(kc__loop_timer *timer)
{
    kc__transport *t = kc_container_of(timer, kc__transport, timer);
    const int64_t now = now_of(t);
    if (next_deadline(t) <= now)
        expire(t, now);
    else
        set_timer(t);
}

static void schedule(kc__transport *t)
{
    if (t->posted)
        return;
    t->posted = true;
    kc__loop_post(t->conn.loop, &t->task);
}

static void changed(kc__conn *conn)
{
    kc__transport *t = transport_of(conn);
    if (t->busy)
        t->another_pass = true;
    else if (t->state != TRANSPORT_CLOSED)
        schedule(t);
}

/* ---- reading ---- */

static void begin_session(kc__transport *t, const kc__conn_protocol *protocol)
{
    t->state = TRANSPORT_OPEN;
    t->own_deadline = KC_FOREVER;
    t->conn.protocol = protocol;
    t->busy = true;
    protocol->open(&t->conn);
    if (t->conn.draining)
        protocol->drain(&t->conn);
    t->busy = false;
}

static void receive_transport(kc__transport *t, kc_str bytes)
{
    kc__conn_output_begin(&t->conn);
    t->busy = true;
    t->conn.protocol->receive(&t->conn, bytes);
    t->busy = false;
}

/* Passes on the first bytes, together with those received before. */
static void choose_transport_protocol(kc__transport *t, kc_str bytes)
{
    size_t missing = KC_MIN(KC__CONN_PREFACE_BYTES - t->n_first, bytes.n);
    memcpy(t->first + t->n_first, bytes.p, missing);
    t->n_first += missing;
    const kc__conn_protocol *protocol =
        kc__conn_protocol_by_preface(kc_str_of(t->first, t->n_first));
    if (!protocol)
        return;
    begin_session(t, protocol);
    if (t->n_first > missing)
        receive_transport(t, kc_str_of(t->first, t->n_first - missing));
    receive_transport(t, bytes);
}

static void deliver(kc__transport *t, kc_str bytes)
{
    kc_counter_add(t->context->received, (double)bytes.n);
    if (t->state == TRANSPORT_CHOOSING)
        choose_transport_protocol(t, bytes);
    else if (t->state == TRANSPORT_OPEN)
        receive_transport(t, bytes);
}

/* Returns how much is read before other connections get their turn. The protocol buffers what it
 * cannot process at once: for an unauthenticated client the amount is small. */
static size_t read_size(const kc__transport *t)
{
    bool careful = kc__conn_restricted(&t->conn) && t->state != TRANSPORT_LINGERING;
    return careful ? READ_UNAUTHENTICATED : KC__TRANSPORT_READ_SIZE;
}

/* TLS returns one record at a time, so a turn consists of several reads. */
static void read_some(kc__transport *t)
{
    const size_t turn = read_size(t);
    for (size_t total = 0, n = 0; total < turn && may_read(t); total += n) {
        kc__transport_io_result verdict = kc__transport_read(t, t->context->buf, turn, &n);
        if (verdict == KC__TRANSPORT_IO_DONE)
            deliver(t, kc_str_of(t->context->buf, n));
        t->eof = verdict == KC__TRANSPORT_IO_EOF;
        t->failed = verdict == KC__TRANSPORT_IO_FAILED;
        if (verdict != KC__TRANSPORT_IO_DONE)
            return;
        if (!kc__transport_has_more(t, n, turn)) {
            t->read_blocked = true; /* OpenSSL buffers nothing: no need to read after each write. */
            return;
        }
    }
}

/* ---- after each event ---- */

static void fill_transport(kc__transport *t)
{
    if (kc__conn_room(&t->conn) < kc__conn_high(&t->conn) / 2 ||
        t->conn.disposition != KC__CONN_OPEN)
        return;
    kc__conn_output_begin(&t->conn);
    t->busy = true;
    t->conn.protocol->fill(&t->conn);
    t->busy = false;
}

static void note_progress(kc__transport *t, bool progress)
{
    if (!kc__conn_pending(&t->conn))
        t->write_deadline = KC_FOREVER;
    else if (progress || t->write_deadline == KC_FOREVER)
        t->write_deadline = deadline_in(t, t->conn.limits->write_timeout);
}

/* Fills and writes alternately while both make progress. */
static void send_out(kc__transport *t)
{
    if (t->write_blocked)
        return; /* Do not write before the socket is writable, however often this is called. */
    for (int i = 0; i < WRITE_ROUNDS; i++) {
        t->another_pass = t->conn.yields;
        if (!t->conn.yields)
            fill_transport(t);
        if (t->conn.disposition == KC__CONN_ABORT || !kc__conn_pending(&t->conn))
            break;
        note_progress(t, kc__transport_write(t));
        if (t->write_blocked || t->failed)
            return;
        t->another_pass = true; /* Until a pass finds nothing to do. */
        if (t->conn.yields)
            break;
    }
    t->conn.yields = false;
    if (t->another_pass)
        schedule(t);
}

/* Returns true if the connection must end. */
static bool at_end(const kc__transport *t)
{
    bool idle = t->state == TRANSPORT_OPEN ? !kc__conn_pending(&t->conn) && !t->another_pass : true;
    return t->failed || t->conn.disposition == KC__CONN_ABORT || (t->eof && idle);
}

/* Polling does not see the bytes that TLS has read ahead. */
static bool has_hidden_bytes(const kc__transport *t)
{
    return t->ssl && t->state == TRANSPORT_OPEN && !t->read_blocked && may_read(t) &&
           SSL_has_pending(t->ssl);
}

static void list_as_authenticated(kc__transport *t)
{
    kc_dlist_remove(&t->link);
    kc_dlist_push(&t->context->transports, &t->link);
    t->listed_authenticated = true;
    t->listed = now_of(t);
}

static void act(kc__transport *t)
{
    if (t->state == TRANSPORT_CLOSED)
        return;
    if (t->conn.authenticated && !t->listed_authenticated)
        list_as_authenticated(t);
    if (t->state == TRANSPORT_OPEN && !t->failed)
        send_out(t);
    kc__conn_output_end(&t->conn);
    if (at_end(t)) {
        close_now(t);
        return;
    }
    if (t->state == TRANSPORT_OPEN && t->conn.disposition == KC__CONN_CLOSE &&
        !kc__conn_pending(&t->conn))
        finish_transport(t);
    if (t->state == TRANSPORT_CLOSED)
        return;
    if (has_hidden_bytes(t))
        schedule(t);
    poll_for(t);
    set_timer(t);
}

static void on_task(kc__loop_task *task)
{
    kc__transport *t = kc_container_of(task, kc__transport, task);
    t->posted = false;
    if (t->state == TRANSPORT_CLOSED) {
        maybe_free(t);
        return;
    }
    if (has_hidden_bytes(t))
        read_some(t);
    act(t);
}

static void do_handshake(kc__transport *t)
{
    kc__transport_io_result verdict = kc__transport_handshake(t);
    if (verdict == KC__TRANSPORT_IO_BLOCKED)
        return;
    if (verdict != KC__TRANSPORT_IO_DONE) {
        kc_log_verbose(t->conn.log, 4, "TLS handshake failed",
                       kc_kv("client", (const char *)t->conn.peer.address));
        t->failed = true;
        return;
    }
    t->read_wants_write = false;
    t->cert = kc__tls_client_cert(t->ssl);
    t->conn.peer.cert = t->cert;
    begin_session(t, kc__conn_protocol_by_name(kc__tls_protocol(t->ssl)));
}

static void on_event(uv_poll_t *poll, int status, int events)
{
    kc__transport *t = poll->data;
    if (status < 0)
        t->failed = true;
    t->read_blocked = false;
    if ((events & UV_WRITABLE) || t->write_wants_read)
        t->write_blocked = false;
    if (t->state == TRANSPORT_HANDSHAKE && !t->failed)
        do_handshake(t);
    if (t->state != TRANSPORT_HANDSHAKE)
        read_some(t);
    act(t);
}

/* ---- start ---- */

static void set_peer(kc__conn_peer *peer, const struct sockaddr_storage *from)
{
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)from;
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)from;
    struct in_addr address = v4->sin_addr;
    bool is_v6 = from->ss_family == AF_INET6;
    if (is_v6 && IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
        memcpy(&address, v6->sin6_addr.s6_addr + 12, sizeof(address));
        is_v6 = false;
    }
    peer->port = ntohs(v4->sin_port); /* At the same offset in both structs. */
    if (is_v6)
        inet_ntop(AF_INET6, &v6->sin6_addr, peer->address, sizeof(peer->address));
    else
        inet_ntop(AF_INET, &address, peer->address, sizeof(peer->address));
    peer->loopback = is_v6 ? IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr)
                           : (ntohl(address.s_addr) >> 24) == IN_LOOPBACKNET;
}

static void set_up_conn(kc__transport *t, kc__transport_context *context)
{
    t->conn.loop = context->loop;
    t->conn.deadline = KC_FOREVER;
    t->conn.limits = context->limits;
    t->conn.begin = context->begin;
    t->conn.handle = context->handle;
    t->conn.abandon = context->abandon;
    t->conn.user = context->user;
    t->conn.budget = context->budget;
    t->conn.log = context->log;
    t->conn.endings = context->endings;
    t->conn.shares = true;
    t->conn.spare = &context->spare;
    t->conn.changed = changed;
    t->conn.on_released = on_released;
    t->conn.peer.tls = t->ssl != NULL;
    t->conn.socket.fd = t->fd;
    t->conn.peer.socket = &t->conn.socket;
}

bool kc__transport_start(kc__transport_context *context, int fd,
                         const struct sockaddr_storage *from, kc__tls *tls)
{
    kc__transport *t = kc_new(kc__transport);
    t->context = context;
    t->fd = fd;
    t->ssl = tls ? kc__tls_accept(tls, fd) : NULL;
    if ((tls && !t->ssl) || uv_poll_init(kc__loop_uv(context->loop), &t->poll, fd) < 0) {
        SSL_free(t->ssl);
        close(fd);
        free(t);
        return false;
    }
    t->poll.data = t;
    t->state = tls ? TRANSPORT_HANDSHAKE : TRANSPORT_CHOOSING;
    t->task.run = on_task;
    t->timer = (kc__loop_timer){.loop = context->loop, .fire = on_timer};
    t->write_deadline = KC_FOREVER;
    set_up_conn(t, context);
    t->conn.retired = context->retired;
    set_peer(&t->conn.peer, from);
    t->own_deadline =
        deadline_in(t, tls ? context->limits->handshake_timeout : context->limits->head_timeout);
    t->listed = now_of(t);
    kc_dlist_push(&context->unauthenticated, &t->link);
    poll_for(t);
    set_timer(t);
    return true;
}

void kc__transport_drain(kc__transport *t)
{
    t->conn.draining = true;
    if (t->state == TRANSPORT_OPEN) {
        t->busy = true;
        t->conn.protocol->drain(&t->conn);
        t->busy = false;
        act(t);
    } else if (t->state == TRANSPORT_LINGERING || (t->state == TRANSPORT_CHOOSING && !t->n_first)) {
        close_now(t);
    }
}

void kc__transport_abort(kc__transport *t)
{
    close_now(t);
}

void kc__transport_evict(kc__transport *t)
{
    if (t->state == TRANSPORT_OPEN && !t->write_blocked) {
        t->busy = true;
        t->conn.protocol->drain(&t->conn);
        t->busy = false;
        kc__transport_write(t);
    }
    close_now(t);
}

/* Connections that are accepted from now on are retired, too, but not notified at once: a client
 * that has just connected is about to send a request. */
static void retire_transport(kc__transport *t)
{
    t->conn.retired = true;
    if (t->state != TRANSPORT_OPEN || !t->conn.protocol->retire)
        return;
    t->busy = true;
    t->conn.protocol->retire(&t->conn);
    t->busy = false;
    act(t);
}

void kc__transport_context_retire(kc__transport_context *context)
{
    context->retired = true;
    kc_dlist_each (&context->transports, kc__transport, link, t)
        retire_transport(t);
    kc_dlist_each (&context->unauthenticated, kc__transport, link, t)
        retire_transport(t);
}

void kc__transport_context_drain(kc__transport_context *context)
{
    context->draining = true;
    kc_dlist_each (&context->transports, kc__transport, link, t)
        kc__transport_drain(t);
    kc_dlist_each (&context->unauthenticated, kc__transport, link, t)
        kc__transport_drain(t);
}

void kc__transport_context_abort(kc__transport_context *context)
{
    kc_dlist_each (&context->transports, kc__transport, link, t)
        kc__transport_abort(t);
    kc_dlist_each (&context->unauthenticated, kc__transport, link, t)
        kc__transport_abort(t);
}

static size_t size_or(size_t value, size_t fallback)
{
    return value ? value : fallback;
}

static int64_t time_or(int64_t value, int64_t fallback)
{
    return value > 0 ? value : fallback;
}

void kc__http_limits_default(kc__http_limits *limits)
{
    limits->max_body = size_or(limits->max_body, (size_t)3 << 20);
    limits->max_head = size_or(limits->max_head, (size_t)128 << 10);
    limits->max_headers = size_or(limits->max_headers, 128);
    limits->max_heads = size_or(limits->max_heads, (size_t)2 << 20);
    limits->handshake_timeout = time_or(limits->handshake_timeout, 10 * KC_SECOND);
    limits->head_timeout = time_or(limits->head_timeout, 32 * KC_SECOND);
    limits->body_timeout = time_or(limits->body_timeout, 60 * KC_SECOND);
    limits->idle_timeout = time_or(limits->idle_timeout, 3 * KC_MINUTE);
    limits->write_timeout = time_or(limits->write_timeout, 30 * KC_SECOND);
    limits->max_streams = size_or(limits->max_streams, 250);
    limits->max_unauthenticated_streams = size_or(limits->max_unauthenticated_streams, 8);
    limits->max_resets = size_or(limits->max_resets, 100);
}
