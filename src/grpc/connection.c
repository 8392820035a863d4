/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connection.c: one connection to an endpoint.
 *
 *     RESOLVING ─▶ CONNECTING ─▶ HANDSHAKE (TLS) ─▶ SETTINGS ─▶ READY ─▶ CLOSED
 *                   ▲      │ the next address
 *                   └──────┘
 *
 * `act` runs after every event, and once before the loop sleeps for all requests that were started
 * meanwhile: it fills the output from the session, writes, and decides whether the connection has
 * become ready, drains, or must close. So a batch of calls is one write.
 *
 * A connection belongs to its endpoint until it fails, or the server says that it accepts no more
 * streams (GOAWAY). In the latter case it drains: it has no endpoint any more, and closes when its
 * last exchange has ended, while the endpoint connects again.
 *
 * Keepalive. While exchanges are open, and nothing has been received for keepalive_time, a PING is
 * sent; if nothing at all is received within keepalive_timeout, the peer is unreachable and the
 * connection is lost. Without exchanges there is no PING: servers take them for abuse. A call that
 * waits for its response has the PING sent earlier (`probe_after`), but not so often that servers
 * take it for abuse: those of gRPC accept one in five minutes by default, etcd one in 5 s.
 *
 * There is one timer, for the deadline of connecting and then for keepalive. It is not moved for
 * each received byte: when it fires too early it is set again.
 *
 * Memory: a connection is freed when it is closed, its sockets are freed, its host is resolved, and
 * its task is not posted.
 */
#include "grpc/grpc_internal.h"
#include "grpc/resolve.h"
#include "grpc/socket.h"
#include "grpc/tls_client.h"

enum {
    OUT_HIGH = 256 << 10, /* Output is filled up to this size. */
    READS = 16,           /* In a row, before other connections get their turn. */
};

/* A connection that was ready for so long is worth opening again at once. */
#define USEFUL_AFTER KC_SECOND
/* Between two PINGs for calls that wait. */
#define PROBE_INTERVAL (5 * KC_SECOND)

typedef enum connection_state {
    CONNECTION_RESOLVING,
    CONNECTION_CONNECTING,
    CONNECTION_HANDSHAKE,
    CONNECTION_SETTINGS,
    CONNECTION_READY,
    CONNECTION_CLOSED,
} connection_state;

struct kc__grpc_connection {
    kc__grpc_session session; /* From SETTINGS on. */
    kc__grpc_channel *channel;
    kc_dlist_link link;          /* In channel->connections, until it is closed. */
    kc__grpc_endpoint *endpoint; /* NULL: draining or closed. */
    connection_state state;
    kc__loop_task task;
    bool posted;

    bool resolving;
    kc__grpc_resolver resolver;
    const struct addrinfo *address; /* The next one to try. */
    kc__grpc_socket *socket;
    size_t n_sockets;  /* Not yet freed. */
    bool tls;          /* The endpoint's. */
    char *server_name; /* To verify. */

    kc_buf out; /* Sent up to out_at. */
    size_t out_at;
    bool write_blocked; /* Until the socket is writable. */
    bool reads_more;    /* A turn of reading ended before the socket was empty. */
    bool failed;        /* `error` says why. */
    kc_buf error;

    kc__loop_timer timer;
    int64_t ready_since;
    int64_t busy_since;    /* When the first of the open exchanges began. */
    int64_t last_received; /* When bytes were last received. */
    int64_t ping_sent;     /* 0: no PING is unanswered. */
    int64_t next_probe;    /* Not before. */
};

static void act(kc__grpc_connection *c);
static void on_socket(void *user);

static int64_t connection_now(const kc__grpc_connection *c)
{
    return kc_clock_now(c->channel->clock);
}

static bool has_session(const kc__grpc_connection *c)
{
    return c->state == CONNECTION_SETTINGS || c->state == CONNECTION_READY;
}

bool kc__grpc_connection_is_ready(const kc__grpc_connection *c)
{
    return c->state == CONNECTION_READY && !c->session.draining && !c->failed;
}

static void schedule_act(kc__grpc_connection *c)
{
    if (c->posted)
        return;
    c->posted = true;
    kc__loop_post(c->channel->loop, &c->task);
}

/* ---- closing ---- */

static void free_connection_if_unused(kc__grpc_connection *c)
{
    if (c->state != CONNECTION_CLOSED || c->n_sockets || c->resolving || c->posted)
        return;
    kc__grpc_channel *channel = c->channel;
    kc__grpc_resolver_done(&c->resolver);
    kc_buf_done(&c->out);
    kc_buf_done(&c->error);
    free(c->server_name);
    free(c);
    kc__grpc_channel_released(channel);
}

static void on_socket_freed(void *user)
{
    kc__grpc_connection *c = user;
    c->n_sockets--;
    free_connection_if_unused(c);
}

static void close_socket(kc__grpc_connection *c)
{
    if (c->socket)
        kc__grpc_socket_close(c->socket, on_socket_freed);
    c->socket = NULL;
}

void kc__grpc_connection_close(kc__grpc_connection *c, const char *reason)
{
    if (c->state == CONNECTION_CLOSED)
        return;
    const bool session = has_session(c);
    c->state = CONNECTION_CLOSED;
    c->endpoint = NULL;
    kc_dlist_remove(&c->link);
    kc__loop_timer_stop(&c->timer);
    close_socket(c);
    if (c->resolving)
        kc__grpc_resolver_cancel(&c->resolver);
    if (session)
        kc__grpc_session_close(&c->session, reason);
    schedule_act(c); /* Frees it, but not within its own functions. */
}

/* The endpoint connects again: at once if this connection was worth it. */
static void leave_endpoint(kc__grpc_connection *c, const char *reason)
{
    kc__grpc_endpoint *endpoint = c->endpoint;
    const bool useful =
        c->state == CONNECTION_READY && connection_now(c) - c->ready_since >= USEFUL_AFTER;
    c->endpoint = NULL;
    if (endpoint)
        kc__grpc_endpoint_lost(endpoint, useful, reason);
}

/* The endpoint is notified first: exchanges that are sent again must not find this connection. */
static void lose_connection(kc__grpc_connection *c)
{
    const char *reason = kc_buf_cstr(&c->error);
    leave_endpoint(c, reason);
    kc__grpc_connection_close(c, reason);
}

static void fail_connection(kc__grpc_connection *c, const char *reason)
{
    if (!c->failed)
        kc_buf_puts(&c->error, reason);
    c->failed = true;
}

/* ---- connecting ---- */

static void try_next_address(kc__grpc_connection *c)
{
    close_socket(c);
    c->state = CONNECTION_CONNECTING;
    while (c->address && !c->socket) {
        const struct addrinfo *address = c->address;
        c->address = address->ai_next;
        kc_buf_clear(&c->error);
        c->socket = kc__grpc_socket_connect(c->channel->loop, address, on_socket, c, &c->error);
    }
    c->failed = !c->socket;
    c->n_sockets += c->socket ? 1 : 0;
}

static void on_host_resolved(kc__grpc_resolver *resolver)
{
    kc__grpc_connection *c = kc_container_of(resolver, kc__grpc_connection, resolver);
    c->resolving = false;
    if (c->state == CONNECTION_CLOSED) {
        free_connection_if_unused(c);
        return;
    }
    c->address = resolver->addresses;
    if (c->address)
        try_next_address(c);
    else
        fail_connection(c, kc_buf_cstr(&resolver->error));
    act(c);
}

static void start_session(kc__grpc_connection *c)
{
    c->state = CONNECTION_SETTINGS;
    kc__grpc_session_open(&c->session);
}

static void start_handshake(kc__grpc_connection *c)
{
    kc_scoped(kc_error) err = {0};
    SSL_CTX *ctx = kc__grpc_tls_new(&c->channel->tls, &err);
    SSL *ssl = ctx ? kc__grpc_tls_connect(ctx, c->channel->bio, kc__grpc_socket_fd(c->socket),
                                          c->server_name)
                   : NULL;
    SSL_CTX_free(ctx); /* The SSL holds it. */
    c->state = CONNECTION_HANDSHAKE;
    if (ssl)
        kc__grpc_socket_use_tls(c->socket, ssl);
    else
        fail_connection(c, ctx ? "cannot set up TLS" : kc_error_text(&err));
}

static void on_connected(kc__grpc_connection *c)
{
    if (kc__grpc_socket_connected(c->socket, &c->error) != KC__GRPC_IO_DONE)
        try_next_address(c);
    else if (c->tls)
        start_handshake(c);
    else
        start_session(c);
}

static void go_on_with_handshake(kc__grpc_connection *c)
{
    const kc__grpc_io io = kc__grpc_socket_handshake(c->socket, &c->error);
    if (io == KC__GRPC_IO_BLOCKED)
        return;
    if (io != KC__GRPC_IO_DONE)
        c->failed = true;
    else if (!kc__grpc_socket_is_h2(c->socket))
        fail_connection(c, "TLS: the server does not support HTTP/2");
    else
        start_session(c);
}

/* ---- input and output ---- */

static void set_timer_to(kc__grpc_connection *c, int64_t from, int64_t ns)
{
    kc__loop_timer_start(&c->timer, from > KC_FOREVER - ns ? KC_FOREVER : from + ns);
}

/* Whatever is received proves that the server can be reached. */
static void note_received(kc__grpc_connection *c)
{
    c->last_received = connection_now(c);
    if (!c->ping_sent)
        return;
    c->ping_sent = 0;
    set_timer_to(c, c->last_received, c->channel->keepalive_time);
}

static void read_input(kc__grpc_connection *c)
{
    size_t n = 0;
    c->reads_more = false;
    for (int i = 0; i < READS && !c->failed; i++) {
        char *to = c->channel->input;
        const kc__grpc_io io =
            kc__grpc_socket_read(c->socket, to, sizeof(c->channel->input), &n, &c->error);
        if (io == KC__GRPC_IO_BLOCKED)
            return;
        if (io == KC__GRPC_IO_EOF)
            fail_connection(c, "closed by the server");
        if (io != KC__GRPC_IO_DONE) {
            c->failed = true;
            return;
        }
        note_received(c);
        if (!kc__grpc_session_receive(&c->session, kc_str_of(to, n)))
            fail_connection(c, kc_buf_cstr(&c->session.error));
        if (!kc__grpc_socket_has_more(c->socket, n, sizeof(c->channel->input)))
            return;
    }
    c->reads_more = !c->failed;
}

/* True while there is more to write and the socket accepts it. */
static bool write_output(kc__grpc_connection *c)
{
    size_t n = 0;
    const kc_str rest = kc_str_sub(kc_buf_str(&c->out), c->out_at, c->out.n);
    const kc__grpc_io io = kc__grpc_socket_write(c->socket, rest, &n, &c->error);
    c->write_blocked = io == KC__GRPC_IO_BLOCKED;
    if (io == KC__GRPC_IO_EOF)
        kc_buf_puts(&c->error, "closed by the server");
    c->failed = c->failed || io == KC__GRPC_IO_FAILED || io == KC__GRPC_IO_EOF;
    if (io != KC__GRPC_IO_DONE)
        return false;
    c->out_at += n;
    if (c->out_at < c->out.n)
        return true;
    kc_buf_clear(&c->out);
    c->out_at = 0;
    return true;
}

/* The end of the session is a failure, but only after its last frames are sent. */
static void send_output(kc__grpc_connection *c)
{
    bool alive = true;
    while (!c->write_blocked && !c->failed) {
        if (alive && !c->out.n)
            alive = kc__grpc_session_fill(&c->session, &c->out, OUT_HIGH);
        if (!c->out.n || !write_output(c))
            break;
    }
    if (!alive && !c->out.n && !c->failed)
        fail_connection(c, kc_buf_cstr(&c->session.error));
}

/* ---- keepalive ---- */

static void send_ping(kc__grpc_connection *c)
{
    c->ping_sent = connection_now(c);
    kc__grpc_session_ping(&c->session);
    schedule_act(c);
}

/* A PING is unanswered for too long. If this process itself was stopped, the answer may be in the
 * socket: reads it first. */
static bool is_unreachable(kc__grpc_connection *c, int64_t now)
{
    if (!c->ping_sent || now - c->ping_sent < c->channel->keepalive_timeout)
        return false;
    read_input(c);
    schedule_act(c);
    return c->ping_sent != 0;
}

static void keep_alive(kc__grpc_connection *c)
{
    const kc__grpc_channel *channel = c->channel;
    const int64_t now = connection_now(c);
    const bool unreachable = is_unreachable(c, now);
    const int64_t quiet_since = KC_MAX(c->last_received, c->busy_since);
    if (unreachable) {
        fail_connection(c, "keepalive: the server does not respond");
        act(c);
        return;
    }
    if (!c->ping_sent && !c->session.n_exchanges)
        return; /* Set again by the next exchange. */
    if (!c->ping_sent && now - quiet_since >= channel->keepalive_time)
        send_ping(c);
    if (c->ping_sent)
        set_timer_to(c, c->ping_sent, channel->keepalive_timeout);
    else
        set_timer_to(c, quiet_since, channel->keepalive_time);
}

bool kc__grpc_connection_is_silent(const kc__grpc_connection *c)
{
    return c->ping_sent != 0;
}

bool kc__grpc_connection_probe(kc__grpc_session *session)
{
    kc__grpc_connection *c = kc_container_of(session, kc__grpc_connection, session);
    const kc__grpc_channel *channel = c->channel;
    const int64_t now = connection_now(c), quiet_since = KC_MAX(c->last_received, c->busy_since);
    if (c->ping_sent)
        return now - c->ping_sent >= channel->probe_after;
    if (now - quiet_since < channel->probe_after || now < c->next_probe)
        return false;
    send_ping(c);
    c->next_probe = now + PROBE_INTERVAL;
    set_timer_to(c, c->ping_sent, channel->keepalive_timeout);
    return false;
}

static void on_connection_timer(kc__loop_timer *timer)
{
    kc__grpc_connection *c = kc_container_of(timer, kc__grpc_connection, timer);
    if (c->state == CONNECTION_READY) {
        keep_alive(c);
        return;
    }
    kc_buf_clear(&c->error);
    fail_connection(c, "connect: timed out");
    act(c);
}

static void become_ready(kc__grpc_connection *c)
{
    c->state = CONNECTION_READY;
    c->ready_since = c->last_received = connection_now(c);
    kc__loop_timer_stop(&c->timer);
    kc__grpc_endpoint_ready(c->endpoint);
}

/* ---- after each event ---- */

static void act(kc__grpc_connection *c)
{
    if (has_session(c) && !c->failed)
        send_output(c);
    if (c->failed) {
        lose_connection(c);
        return;
    }
    if (c->state == CONNECTION_SETTINGS && c->session.ready)
        become_ready(c);
    if (has_session(c) && c->session.draining) {
        leave_endpoint(c, "the server ends the connection");
        kc__grpc_session_drop_unsent(&c->session);
        if (!c->session.n_exchanges) {
            kc__grpc_connection_close(c, "drained");
            return;
        }
    }
    if (c->reads_more)
        schedule_act(c);
    if (has_session(c))
        kc__grpc_socket_poll(c->socket, true, c->write_blocked);
    else if (c->state == CONNECTION_HANDSHAKE)
        kc__grpc_socket_poll(c->socket, true, false);
}

static void on_socket(void *user)
{
    kc__grpc_connection *c = user;
    c->write_blocked = false;
    if (c->state == CONNECTION_CONNECTING)
        on_connected(c);
    if (c->state == CONNECTION_HANDSHAKE && !c->failed)
        go_on_with_handshake(c);
    if (has_session(c))
        read_input(c);
    act(c);
}

static void on_connection_task(kc__loop_task *task)
{
    kc__grpc_connection *c = kc_container_of(task, kc__grpc_connection, task);
    c->posted = false;
    if (c->state == CONNECTION_CLOSED) {
        free_connection_if_unused(c);
        return;
    }
    if (c->reads_more)
        read_input(c);
    act(c);
}

/* ---- for endpoints and calls ---- */

kc__grpc_connection *kc__grpc_connection_open(kc__grpc_endpoint *endpoint)
{
    kc__grpc_connection *c = kc_new(kc__grpc_connection);
    kc__grpc_channel *channel = endpoint->channel;
    const char *name = channel->tls.server_name;
    c->endpoint = endpoint;
    c->channel = channel;
    channel->n_connections++;
    kc_dlist_push(&channel->connections, &c->link);
    c->tls = endpoint->tls;
    c->server_name = kc_strdup(name ? name : endpoint->host);
    c->task.run = on_connection_task;
    c->timer = (kc__loop_timer){.loop = channel->loop, .fire = on_connection_timer};
    c->resolver.done = on_host_resolved;
    c->resolving = true;
    set_timer_to(c, connection_now(c), channel->connect_timeout);
    kc__grpc_resolve(&c->resolver, channel->loop, endpoint->host, endpoint->port);
    return c;
}

bool kc__grpc_connection_begin(kc__grpc_connection *c, kc__grpc_exchange *x,
                               const nghttp2_nv *fields, size_t n_fields)
{
    schedule_act(c);
    if (!kc__grpc_session_begin(&c->session, x, fields, n_fields))
        return false;
    if (c->session.n_exchanges == 1)
        c->busy_since = connection_now(c);
    if (!kc_heap_has(&c->timer.place))
        set_timer_to(c, c->busy_since, c->channel->keepalive_time);
    return true;
}

void kc__grpc_connection_close_all(kc__grpc_channel *channel, const char *reason)
{
    kc_dlist_each (&channel->connections, kc__grpc_connection, link, c)
        kc__grpc_connection_close(c, reason);
}

void kc__grpc_connection_flush(kc__grpc_session *session)
{
    schedule_act(kc_container_of(session, kc__grpc_connection, session));
}
