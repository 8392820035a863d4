/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.c: a connection over a non-blocking socket.
 *
 * The socket is polled for reading all the time and for writing only while it is full; a small
 * request costs one wake-up, one read and one write. After every call of the protocol comes `act`:
 *
 *     readable ─▶ receive ─┐
 *     changed ─────────────┼─▶ act: fill ─▶ write ─▶ again while both get somewhere (a budget)
 *     writable ────────────┤        then: close? what to poll for? when to look again?
 *     expired ─────────────┘
 *
 * The end of what a client sends is no reason to drop what is being sent to it; but as soon as
 * there is nothing to send right now, it counts as gone. So a client that shuts down its side gets
 * the rest of a long answer, and one that has left a watch is noticed at once.
 *
 * After the last answer the connection lingers: it says goodbye and drops what still comes for
 * LINGER, because closing a socket with unread bytes resets it, and the client might lose the
 * answer that tells it why.
 *
 * There is one timer for all deadlines, moved only when a deadline gets earlier than it stands;
 * when it fires too early it is set again. So requests cost no timer operations.
 *
 * Memory: a transport is freed when its socket's handle is closed, its task is not on the way and
 * no exchange holds it.
 */
#include "http/transport_internal.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <unistd.h>

#define LINGER (2 * KC_SECOND)

enum {
    READ_ROUNDS = 4, /* Before the other connections get their turn. */
    WRITE_ROUNDS = 8,
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

/* ---- the end ---- */

static void maybe_free(kc__transport *t)
{
    if (t->state != TRANSPORT_CLOSED || !t->uv_closed || t->posted || t->conn.holds)
        return;
    kc__home *home = t->home;
    kc__tls_client_cert_free(t->cert);
    free(t);
    home->freed(home);
}

static void on_uv_closed(uv_handle_t *handle)
{
    kc__transport *t = handle->data;
    t->uv_closed = true;
    maybe_free(t);
}

static void unheld(kc__conn *conn)
{
    maybe_free(transport_of(conn));
}

static void end_session(kc__transport *t)
{
    if (t->state != TRANSPORT_SPEAKING)
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
    kc__timer_stop(&t->timer);
    kc_list_remove(&t->link);
    kc_buf_done(&t->conn.out);
    SSL_free(t->ssl);
    t->ssl = NULL;
    uv_close((uv_handle_t *)&t->poll, on_uv_closed);
    close(t->fd);
    t->home->closed(t->home);
}

/* All is sent. While the server goes down nobody waits for clients. */
static void finish(kc__transport *t)
{
    kc__transport_shutdown(t);
    if (t->eof || t->home->draining) {
        close_now(t);
        return;
    }
    end_session(t);
    t->state = TRANSPORT_LINGERING;
    t->own_deadline = deadline_in(t, LINGER);
}

/* ---- polling and timers ---- */

static bool may_read(const kc__transport *t)
{
    if (t->eof || t->failed || t->state == TRANSPORT_CLOSED)
        return false;
    if (t->state != TRANSPORT_SPEAKING)
        return true;
    return t->conn.wish == KC__CONN_OPEN && !t->conn.full && t->conn.out.n < 2 * KC__CONN_HIGH;
}

static void on_event(uv_poll_t *poll, int status, int events);

/* A change costs system calls, so it is made only when there is one. */
static void poll_for(kc__transport *t)
{
    bool reads = may_read(t), writes = t->write_blocked && t->conn.out.n;
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
    return t->state == TRANSPORT_SPEAKING ? KC_MIN(own, t->conn.deadline) : own;
}

static void set_timer(kc__transport *t)
{
    int64_t deadline = next_deadline(t);
    if (deadline == KC_FOREVER)
        return;
    if (!kc_heap_has(&t->timer.place) || t->timer.deadline > deadline)
        kc__timer_start(&t->timer, deadline);
}

static void expire(kc__transport *t, int64_t now)
{
    if (KC_MIN(t->own_deadline, t->write_deadline) <= now) {
        close_now(t);
        return;
    }
    t->busy = true;
    t->conn.protocol->expired(&t->conn);
    t->busy = false;
    if (t->conn.deadline <= now)
        t->conn.deadline = KC_FOREVER; /* It has been told. */
    act(t);
}

static void on_timer(kc__timer *timer)
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
        t->again = true;
    else if (t->state != TRANSPORT_CLOSED)
        schedule(t);
}

/* ---- reading ---- */

static void begin_session(kc__transport *t, const kc__protocol *protocol)
{
    t->state = TRANSPORT_SPEAKING;
    t->own_deadline = KC_FOREVER;
    t->conn.protocol = protocol;
    t->busy = true;
    protocol->open(&t->conn);
    if (t->conn.draining)
        protocol->drain(&t->conn);
    t->busy = false;
}

static void receive(kc__transport *t, kc_str bytes)
{
    t->busy = true;
    t->conn.protocol->receive(&t->conn, bytes);
    t->busy = false;
}

/* The first bytes, together with what came of them before. */
static void choose(kc__transport *t, kc_str bytes)
{
    size_t missing = KC_MIN(KC__PREFACE - t->n_first, bytes.n);
    memcpy(t->first + t->n_first, bytes.p, missing);
    t->n_first += missing;
    const kc__protocol *protocol = kc__protocol_of_bytes(kc_str_of(t->first, t->n_first));
    if (!protocol)
        return;
    begin_session(t, protocol);
    if (t->n_first > missing)
        receive(t, kc_str_of(t->first, t->n_first - missing));
    receive(t, bytes);
}

static void deliver(kc__transport *t, kc_str bytes)
{
    kc_counter_add(t->home->received, (double)bytes.n);
    if (t->state == TRANSPORT_CHOOSING)
        choose(t, bytes);
    else if (t->state == TRANSPORT_SPEAKING)
        receive(t, bytes);
}

static void read_some(kc__transport *t)
{
    for (int i = 0; i < READ_ROUNDS && may_read(t); i++) {
        size_t n = 0;
        kc__io verdict = kc__transport_read(t, t->home->buf, KC__READ_SIZE, &n);
        if (verdict == KC__IO_DONE)
            deliver(t, kc_str_of(t->home->buf, n));
        t->eof = verdict == KC__IO_EOF;
        t->failed = verdict == KC__IO_FAILED;
        if (verdict != KC__IO_DONE || !kc__transport_has_more(t, n, KC__READ_SIZE))
            return;
    }
}

/* ---- after everything ---- */

static void fill(kc__transport *t)
{
    if (kc__conn_room(&t->conn) < KC__CONN_HIGH / 2 || t->conn.wish != KC__CONN_OPEN)
        return;
    t->busy = true;
    t->conn.protocol->fill(&t->conn);
    t->busy = false;
}

static void note_progress(kc__transport *t, bool progress)
{
    if (!t->conn.out.n)
        t->write_deadline = KC_FOREVER;
    else if (progress || t->write_deadline == KC_FOREVER)
        t->write_deadline = deadline_in(t, t->conn.limits->write_timeout);
}

/* Fills and writes in turn while both get somewhere. */
static void send_out(kc__transport *t)
{
    if (t->write_blocked)
        return; /* Nothing goes until the socket says so, however often somebody asks. */
    for (int i = 0; i < WRITE_ROUNDS; i++) {
        t->again = false;
        fill(t);
        if (t->conn.wish == KC__CONN_ABORT || !t->conn.out.n)
            break;
        note_progress(t, kc__transport_write(t));
        if (t->write_blocked || t->failed)
            return;
        t->again = true; /* Until a round finds nothing to do. */
    }
    if (t->again)
        schedule(t);
}

/* True when the connection is at its end. */
static bool at_end(const kc__transport *t)
{
    bool idle = t->state == TRANSPORT_SPEAKING ? !t->conn.out.n && !t->again : true;
    return t->failed || t->conn.wish == KC__CONN_ABORT || (t->eof && idle);
}

/* What TLS has read ahead is not seen by polling. */
static bool has_hidden_bytes(const kc__transport *t)
{
    return t->ssl && t->state == TRANSPORT_SPEAKING && !t->read_blocked && may_read(t) &&
           SSL_has_pending(t->ssl);
}

static void act(kc__transport *t)
{
    if (t->state == TRANSPORT_CLOSED)
        return;
    if (t->state == TRANSPORT_SPEAKING && !t->failed)
        send_out(t);
    if (at_end(t)) {
        close_now(t);
        return;
    }
    if (t->state == TRANSPORT_SPEAKING && t->conn.wish == KC__CONN_CLOSE && !t->conn.out.n)
        finish(t);
    if (t->state == TRANSPORT_CLOSED)
        return;
    if (has_hidden_bytes(t))
        schedule(t);
    poll_for(t);
    set_timer(t);
}

static void on_task(kc__task *task)
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

static void shake_hands(kc__transport *t)
{
    kc__io verdict = kc__transport_handshake(t);
    if (verdict == KC__IO_BLOCKED)
        return;
    if (verdict != KC__IO_DONE) {
        kc_log_verbose(t->conn.log, 4, "TLS handshake failed",
                       kc_kv("client", (const char *)t->conn.peer.address));
        t->failed = true;
        return;
    }
    t->read_wants_write = false;
    t->cert = kc__tls_client_cert(t->ssl);
    t->conn.peer.cert = t->cert;
    begin_session(t, kc__protocol_named(kc__tls_protocol(t->ssl)));
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
        shake_hands(t);
    if (t->state != TRANSPORT_HANDSHAKE)
        read_some(t);
    act(t);
}

/* ---- the beginning ---- */

static void set_peer(kc__peer *peer, const struct sockaddr_storage *from)
{
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)from;
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)from;
    struct in_addr address = v4->sin_addr;
    bool is_v6 = from->ss_family == AF_INET6;
    if (is_v6 && IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
        memcpy(&address, v6->sin6_addr.s6_addr + 12, sizeof(address));
        is_v6 = false;
    }
    peer->port = ntohs(v4->sin_port); /* In the same place in both. */
    if (is_v6)
        inet_ntop(AF_INET6, &v6->sin6_addr, peer->address, sizeof(peer->address));
    else
        inet_ntop(AF_INET, &address, peer->address, sizeof(peer->address));
    peer->loopback = is_v6 ? IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr)
                           : (ntohl(address.s_addr) >> 24) == IN_LOOPBACKNET;
}

static void set_up_conn(kc__transport *t, kc__home *home)
{
    t->conn.loop = home->loop;
    t->conn.deadline = KC_FOREVER;
    t->conn.limits = home->limits;
    t->conn.handle = home->handle;
    t->conn.user = home->user;
    t->conn.log = home->log;
    t->conn.changed = changed;
    t->conn.unheld = unheld;
    t->conn.peer.tls = t->ssl != NULL;
}

bool kc__transport_start(kc__home *home, int fd, const struct sockaddr_storage *from, kc__tls *tls)
{
    kc__transport *t = kc_new(kc__transport);
    t->home = home;
    t->fd = fd;
    t->ssl = tls ? kc__tls_accept(tls, fd) : NULL;
    if ((tls && !t->ssl) || uv_poll_init(kc__loop_uv(home->loop), &t->poll, fd) < 0) {
        SSL_free(t->ssl);
        close(fd);
        free(t);
        return false;
    }
    t->poll.data = t;
    t->state = tls ? TRANSPORT_HANDSHAKE : TRANSPORT_CHOOSING;
    t->task.run = on_task;
    t->timer = (kc__timer){.loop = home->loop, .fire = on_timer};
    t->write_deadline = KC_FOREVER;
    set_up_conn(t, home);
    set_peer(&t->conn.peer, from);
    t->own_deadline = deadline_in(t, home->limits->head_timeout);
    kc_list_push(&home->transports, &t->link);
    poll_for(t);
    set_timer(t);
    return true;
}

void kc__transport_drain(kc__transport *t)
{
    t->conn.draining = true;
    if (t->state == TRANSPORT_SPEAKING) {
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

void kc__home_drain(kc__home *home)
{
    home->draining = true;
    kc_list_each (&home->transports, kc__transport, link, t)
        kc__transport_drain(t);
}

void kc__home_abort(kc__home *home)
{
    kc_list_each (&home->transports, kc__transport, link, t)
        kc__transport_abort(t);
}

static size_t size_or(size_t value, size_t otherwise)
{
    return value ? value : otherwise;
}

static int64_t time_or(int64_t value, int64_t otherwise)
{
    return value > 0 ? value : otherwise;
}

void kc__http_limits_default(kc__http_limits *limits)
{
    limits->max_body = size_or(limits->max_body, (size_t)3 << 20);
    limits->max_head = size_or(limits->max_head, (size_t)128 << 10);
    limits->max_headers = size_or(limits->max_headers, 128);
    limits->head_timeout = time_or(limits->head_timeout, 32 * KC_SECOND);
    limits->body_timeout = time_or(limits->body_timeout, 60 * KC_SECOND);
    limits->idle_timeout = time_or(limits->idle_timeout, 3 * KC_MINUTE);
    limits->write_timeout = time_or(limits->write_timeout, 30 * KC_SECOND);
    limits->max_streams = size_or(limits->max_streams, 250);
    limits->max_resets = size_or(limits->max_resets, 100);
}
