/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grpc_server.c: the transport of the gRPC server for tests: sockets, TLS, and HTTP/2 by nghttp2.
 * Simple instead of fast: a thread for each connection, blocking reads and writes.
 */
#include "grpc_server.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* ---- responses ---- */

static void submit_status(grpc_server_stream *s)
{
    const nghttp2_nv trailers[] = {
        grpc_server_nv("grpc-status", s->status),
        grpc_server_nv("grpc-message", s->status_message ? s->status_message : "")};
    nghttp2_submit_trailer(s->conn->h2, s->id, trailers, s->status_message ? 2 : 1);
}

static ssize_t read_response(nghttp2_session *h2, int32_t id, uint8_t *to, size_t size,
                             uint32_t *flags, nghttp2_data_source *source, void *user)
{
    (void)h2, (void)id, (void)user;
    grpc_server_stream *s = source->ptr;
    size_t n = KC_MIN(size, s->out.n - s->out_at);
    n = s->chunk ? KC_MIN(n, s->chunk) : n;
    if (n)
        memcpy(to, s->out.p + s->out_at, n);
    s->out_at += n;
    atomic_fetch_add(&s->conn->server->sent, n);
    if (s->out_at < s->out.n)
        return (ssize_t)n;
    if (!s->finished)
        return n ? (ssize_t)n : NGHTTP2_ERR_DEFERRED;
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (!s->without_trailers) {
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        submit_status(s);
    }
    return (ssize_t)n;
}

void grpc_server_open(grpc_server_stream *s)
{
    const nghttp2_nv head[] = {grpc_server_nv(":status", "200"),
                               grpc_server_nv("content-type", "application/grpc")};
    const nghttp2_data_provider body = {.source.ptr = s, .read_callback = read_response};
    if (s->started)
        return;
    s->started = true;
    nghttp2_submit_response(s->conn->h2, s->id, head, KC_COUNT(head), &body);
}

void grpc_server_send_raw(grpc_server_stream *s, kc_str bytes)
{
    grpc_server_open(s);
    kc_buf_append(&s->out, bytes);
    nghttp2_session_resume_data(s->conn->h2, s->id);
}

void grpc_server_send(grpc_server_stream *s, kc_str message)
{
    kc_scoped(kc_buf) frame = {0};
    kc__grpc_frame_write(&frame, message);
    grpc_server_send_raw(s, kc_buf_str(&frame));
}

void grpc_server_finish(grpc_server_stream *s, int status, const char *message)
{
    snprintf(s->status, sizeof(s->status), "%d", status);
    s->status_message = message ? kc_strdup(message) : NULL;
    s->finished = true;
    grpc_server_open(s);
    nghttp2_session_resume_data(s->conn->h2, s->id);
}

/* ---- requests ---- */

static grpc_server_stream *stream_with(nghttp2_session *h2, int32_t id)
{
    return id ? nghttp2_session_get_stream_user_data(h2, id) : NULL;
}

static void stream_free(grpc_server_stream *s)
{
    kc_dlist_remove(&s->link);
    kc__grpc_deframer_clear(&s->deframer);
    kc_buf_done(&s->out);
    free(s->asked);
    free(s->timeout);
    free(s->status_message);
    free(s);
}

static int on_begin_headers(nghttp2_session *h2, const nghttp2_frame *frame, void *user)
{
    grpc_server_conn *conn = user;
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    atomic_fetch_add(&conn->server->requests, 1);
    grpc_server_stream *s = kc_new(grpc_server_stream);
    s->conn = conn;
    s->id = frame->hd.stream_id;
    s->deframer.max = 64 << 20;
    kc_dlist_push(&conn->streams, &s->link);
    nghttp2_session_set_stream_user_data(h2, s->id, s);
    return 0;
}

static const grpc_server_method *method_of(kc_str path)
{
    const grpc_server_method *method = grpc_server_methods;
    while (method->path && !kc_str_is(path, method->path))
        method++;
    return method->path ? method : NULL;
}

static int on_header(nghttp2_session *h2, const nghttp2_frame *frame, const uint8_t *name,
                     size_t n_name, const uint8_t *value, size_t n_value, uint8_t flags, void *user)
{
    (void)flags, (void)user;
    grpc_server_stream *s = stream_with(h2, frame->hd.stream_id);
    const kc_str field = {(const char *)name, n_name}, text = {(const char *)value, n_value};
    if (kc_str_is(field, ":path"))
        s->method = method_of(text);
    else if (kc_str_is(field, "x-ask"))
        s->asked = kc_str_dup(text);
    else if (kc_str_is(field, "grpc-timeout"))
        s->timeout = kc_str_dup(text);
    return 0;
}

static int on_data(nghttp2_session *h2, uint8_t flags, int32_t id, const uint8_t *bytes, size_t n,
                   void *user)
{
    (void)flags, (void)user;
    grpc_server_stream *s = stream_with(h2, id);
    kc_str rest = {(const char *)bytes, n};
    kc__grpc_status failure = {0};
    nghttp2_session_consume_connection(h2, n);
    if (!s || !s->method)
        return 0;
    if (!s->method->deaf)
        nghttp2_session_consume_stream(h2, id, n);
    while (kc__grpc_deframe(&s->deframer, &rest, &s->message, &failure) ==
           KC__GRPC_DEFRAMED_MESSAGE) {
        s->received++;
        if (s->method->on_message)
            s->method->on_message(s);
    }
    kc__grpc_status_done(&failure);
    return 0;
}

static bool is_refused(grpc_server *server)
{
    if (atomic_fetch_sub(&server->refuse, 1) > 0)
        return true;
    atomic_store(&server->refuse, 0);
    return false;
}

static void on_request_frame(nghttp2_session *h2, grpc_server_stream *s, const nghttp2_frame *frame)
{
    if (frame->hd.type == NGHTTP2_HEADERS && is_refused(s->conn->server)) {
        nghttp2_session_set_stream_user_data(h2, s->id, NULL);
        nghttp2_submit_rst_stream(h2, 0, s->id, NGHTTP2_REFUSED_STREAM);
        stream_free(s);
        return;
    }
    if (!s->method && !s->finished)
        grpc_server_finish(s, KC__GRPC_UNIMPLEMENTED, "unknown method");
    else if (s->method && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) && s->method->on_end)
        s->method->on_end(s);
}

static int on_frame(nghttp2_session *h2, const nghttp2_frame *frame, void *user)
{
    grpc_server_conn *conn = user;
    grpc_server_stream *s = stream_with(h2, frame->hd.stream_id);
    if (frame->hd.type == NGHTTP2_PING && !(frame->hd.flags & NGHTTP2_FLAG_ACK))
        atomic_fetch_add(&conn->server->pings, 1);
    if (frame->hd.type == NGHTTP2_RST_STREAM)
        atomic_fetch_add(&conn->server->cancelled, 1);
    if (s && (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA))
        on_request_frame(h2, s, frame);
    return 0;
}

static int on_close(nghttp2_session *h2, int32_t id, uint32_t error, void *user)
{
    (void)error, (void)user;
    grpc_server_stream *s = stream_with(h2, id);
    if (s)
        stream_free(s);
    return 0;
}

/* ---- connections ---- */

static nghttp2_session *session_of(grpc_server_conn *conn)
{
    nghttp2_session *h2;
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *option;
    const uint32_t max = conn->server->opts.max_streams;
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, max ? max : 1000}};
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_option_new(&option);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_max_send_header_block_length(option, 1 << 20);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_server_new2(&h2, callbacks, conn, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(h2, NGHTTP2_FLAG_NONE, settings, KC_COUNT(settings));
    return h2;
}

/* Whether a call that returned `n`, with errno 0 before it, was interrupted by a signal. */
static bool was_interrupted(const grpc_server_conn *conn, ssize_t n)
{
    if (n > 0 || errno != EINTR)
        return false;
    const int why = conn->ssl ? SSL_get_error(conn->ssl, (int)n) : SSL_ERROR_WANT_READ;
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE;
}

static ssize_t conn_read(grpc_server_conn *conn, void *to, size_t size)
{
    ssize_t n;
    do {
        errno = 0;
        n = conn->ssl ? SSL_read(conn->ssl, to, (int)size) : recv(conn->fd, to, size, 0);
    } while (was_interrupted(conn, n));
    return n;
}

static bool conn_write(grpc_server_conn *conn, kc_str bytes)
{
    while (bytes.n) {
        ssize_t n;
        do {
            errno = 0;
            n = conn->ssl ? SSL_write(conn->ssl, bytes.p, (int)bytes.n)
                          : send(conn->fd, bytes.p, bytes.n, MSG_NOSIGNAL);
        } while (was_interrupted(conn, n));
        if (n <= 0)
            return false;
        bytes = kc_str_sub(bytes, (size_t)n, bytes.n);
    }
    return true;
}

static bool send_all(grpc_server_conn *conn)
{
    kc_scoped(kc_buf) out = {0};
    const uint8_t *bytes;
    for (ssize_t n; (n = nghttp2_session_mem_send(conn->h2, &bytes)) > 0;)
        kc_buf_append(&out, kc_str_of((const char *)bytes, (size_t)n));
    return conn_write(conn, kc_buf_str(&out));
}

static void wait_for_stop(const grpc_server_conn *conn)
{
    struct pollfd gone = {.fd = conn->fd, .events = POLLRDHUP};
    while (!atomic_load(&conn->server->stopping) && poll(&gone, 1, 10) <= 0)
        ;
}

static bool handshake(grpc_server_conn *conn)
{
    if (!conn->server->ctx)
        return true;
    conn->ssl = SSL_new(conn->server->ctx);
    SSL_set_fd(conn->ssl, conn->fd);
    int accepted;
    do {
        errno = 0;
        accepted = SSL_accept(conn->ssl);
    } while (was_interrupted(conn, accepted));
    return accepted == 1;
}

static void serve(grpc_server_conn *conn)
{
    char buf[16384];
    grpc_server *server = conn->server;
    while (!conn->drop && send_all(conn)) {
        const ssize_t n = conn_read(conn, buf, sizeof(buf));
        if (atomic_load(&server->silent)) {
            wait_for_stop(conn);
            return;
        }
        if (n <= 0 || nghttp2_session_mem_recv(conn->h2, (uint8_t *)buf, (size_t)n) < 0)
            return;
    }
}

static void run_conn(void *user)
{
    grpc_server_conn *conn = user;
    if (atomic_load(&conn->server->mute)) {
        wait_for_stop(conn);
    } else if (handshake(conn)) {
        conn->h2 = session_of(conn);
        serve(conn);
        for (kc_dlist_link *link; (link = kc_dlist_first(&conn->streams));)
            stream_free(kc_container_of(link, grpc_server_stream, link));
        nghttp2_session_del(conn->h2);
    }
    SSL_free(conn->ssl);
    ERR_clear_error();
    shutdown(conn->fd, SHUT_RDWR);
    atomic_store(&conn->over, true);
}

static void conn_free(grpc_server_conn *conn)
{
    kc_thread_join(conn->thread);
    close(conn->fd);
    free(conn);
}

static void accept_one(grpc_server *server, int fd)
{
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    grpc_server_conn *conn = kc_new(grpc_server_conn);
    conn->server = server;
    conn->fd = fd;
    kc_dlist_init(&conn->streams);
    atomic_fetch_add(&server->connections, 1);
    kc_locked (&server->mutex) {
        kc_dlist_push(&server->conns, &conn->link);
        conn->thread = kc_thread_start("grpc-conn", run_conn, conn, NULL);
    }
}

/* ---- the server ---- */

/* SSL_write has no MSG_NOSIGNAL; threads that are started from here inherit the mask. */
static void block_pipe_signal(void)
{
    sigset_t pipe_only;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_only, NULL);
}

static void run_listener(void *user)
{
    grpc_server *server = user;
    block_pipe_signal();
    while (!atomic_load(&server->stopping)) {
        struct pollfd readable = {.fd = server->listener, .events = POLLIN};
        if (poll(&readable, 1, 10) <= 0)
            continue;
        const int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0)
            accept_one(server, fd);
    }
}

static int select_alpn(SSL *ssl, const unsigned char **ret, unsigned char *ret_n,
                       const unsigned char *offer, unsigned n, void *user)
{
    (void)ssl, (void)offer, (void)n;
    const char *chosen = user;
    *ret = (const unsigned char *)chosen;
    *ret_n = (unsigned char)strlen(chosen);
    return SSL_TLSEXT_ERR_OK;
}

static SSL_CTX *ctx_of(const grpc_server_opts *opts)
{
    if (!opts->cert)
        return NULL;
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    const int cert = SSL_CTX_use_certificate_chain_file(ctx, opts->cert);
    const int key = SSL_CTX_use_PrivateKey_file(ctx, opts->key, SSL_FILETYPE_PEM);
    assert(cert == 1 && key == 1);
    (void)cert, (void)key;
    SSL_CTX_set_alpn_select_cb(ctx, select_alpn, (void *)(opts->alpn ? opts->alpn : "h2"));
    if (opts->client_ca) {
        SSL_CTX_load_verify_file(ctx, opts->client_ca);
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    }
    return ctx;
}

static void listen_on(grpc_server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)server->opts.port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    const int on = 1;
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    const int bound = bind(server->listener, (struct sockaddr *)&address, size);
    const int listening = listen(server->listener, 128);
    assert(bound == 0 && listening == 0);
    (void)bound, (void)listening;
    getsockname(server->listener, (struct sockaddr *)&address, &size);
    server->port = ntohs(address.sin_port);
    snprintf(server->url, sizeof(server->url), "%s://127.0.0.1:%d", server->ctx ? "https" : "http",
             server->port);
}

grpc_server *grpc_server_start(const grpc_server_opts *opts)
{
    grpc_server *server = kc_new(grpc_server);
    server->opts = *opts;
    server->ctx = ctx_of(opts);
    kc_mutex_init(&server->mutex);
    kc_dlist_init(&server->conns);
    listen_on(server);
    server->thread = kc_thread_start("grpc-listen", run_listener, server, NULL);
    return server;
}

void grpc_server_cut(grpc_server *server)
{
    kc_locked (&server->mutex)
        kc_dlist_each (&server->conns, grpc_server_conn, link, conn)
            shutdown(conn->fd, SHUT_RDWR);
}

grpc_server *grpc_server_stop(grpc_server *server)
{
    if (!server)
        return NULL;
    atomic_store(&server->stopping, true);
    kc_thread_join(server->thread);
    close(server->listener);
    grpc_server_cut(server);
    for (kc_dlist_link *link; (link = kc_dlist_pop(&server->conns));)
        conn_free(kc_container_of(link, grpc_server_conn, link));
    SSL_CTX_free(server->ctx);
    kc_mutex_done(&server->mutex);
    free(server);
    return NULL;
}
