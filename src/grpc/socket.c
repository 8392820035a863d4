/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket.c: a non-blocking TCP socket under uv_poll, plain or TLS.
 *
 * No other file of the layer knows the difference: TLS may have to write in order to read and vice
 * versa, which the socket records and takes into account when it polls. The socket is read and
 * written directly, so that a small call is one wake-up, one read and one write.
 *
 * Memory: libuv closes a handle later, so a socket frees itself when that is done.
 */
#include "grpc/socket.h"

#include "grpc/tls_client.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <unistd.h>

struct kc__grpc_socket {
    uv_poll_t poll;
    int fd;
    int events;                              /* Polled events. */
    SSL *ssl;                                /* NULL: plain. */
    bool read_wants_write, write_wants_read; /* Because of TLS protocol messages. */
    void (*on_event)(void *user);
    void (*freed)(void *user);
    void *user;
};

int kc__grpc_socket_fd(const kc__grpc_socket *s)
{
    return s->fd;
}

/* ---- open and close ---- */

static void on_poll(uv_poll_t *poll, int status, int events)
{
    kc__grpc_socket *s = poll->data;
    (void)events;
    if (status < 0) /* libuv has stopped polling. The next read or write reports the error. */
        s->events = 0;
    s->on_event(s->user);
}

static void poll_events(kc__grpc_socket *s, int events)
{
    if (events == s->events)
        return;
    s->events = events;
    if (events)
        uv_poll_start(&s->poll, events, on_poll);
    else
        uv_poll_stop(&s->poll);
}

static kc__grpc_socket *fail_to_open(int fd, const char *what, const char *why, kc_buf *error)
{
    kc_buf_printf(error, "%s: %s", what, why);
    if (fd >= 0)
        close(fd);
    return NULL;
}

kc__grpc_socket *kc__grpc_socket_connect(kc__loop *loop, const struct addrinfo *address,
                                         void (*on_event)(void *user), void *user, kc_buf *error)
{
    const int on = 1,
              fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return fail_to_open(fd, "socket", strerror(errno), error);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (connect(fd, address->ai_addr, address->ai_addrlen) < 0 && errno != EINPROGRESS)
        return fail_to_open(fd, "connect", strerror(errno), error);
    kc__grpc_socket *s = kc_new(kc__grpc_socket);
    const int r = uv_poll_init(kc__loop_uv(loop), &s->poll, fd);
    if (r < 0) {
        free(s);
        return fail_to_open(fd, "poll", uv_strerror(r), error);
    }
    s->poll.data = s;
    s->fd = fd;
    s->on_event = on_event;
    s->user = user;
    poll_events(s, UV_WRITABLE);
    return s;
}

static void on_poll_closed(uv_handle_t *handle)
{
    kc__grpc_socket *s = handle->data;
    void (*freed)(void *user) = s->freed;
    void *user = s->user;
    free(s);
    freed(user);
}

void kc__grpc_socket_close(kc__grpc_socket *s, void (*freed)(void *user))
{
    s->freed = freed;
    if (s->ssl && SSL_is_init_finished(s->ssl)) {
        SSL_shutdown(s->ssl); /* A best effort: the socket may be full. */
        ERR_clear_error();
    }
    SSL_free(s->ssl);
    s->ssl = NULL;
    uv_close((uv_handle_t *)&s->poll, on_poll_closed);
    close(s->fd);
}

kc__grpc_io kc__grpc_socket_connected(kc__grpc_socket *s, kc_buf *error)
{
    int code = 0;
    socklen_t size = sizeof(code);
    if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &code, &size) < 0)
        code = errno;
    if (!code)
        return KC__GRPC_IO_DONE;
    kc_buf_printf(error, "connect: %s", strerror(code));
    return KC__GRPC_IO_FAILED;
}

void kc__grpc_socket_use_tls(kc__grpc_socket *s, SSL *ssl)
{
    s->ssl = ssl;
}

/* ---- input and output ---- */

static kc__grpc_io io_of_errno(const char *what, kc_buf *error)
{
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        return KC__GRPC_IO_BLOCKED;
    kc_buf_printf(error, "%s: %s", what, strerror(errno));
    return KC__GRPC_IO_FAILED;
}

/* The result of a failed call of OpenSSL; *wants_other: it waits for the other direction. */
static kc__grpc_io io_of_ssl(kc__grpc_socket *s, int r, int other, bool *wants_other, kc_buf *error)
{
    const int e = SSL_get_error(s->ssl, r);
    *wants_other = e == other;
    if (e == SSL_ERROR_WANT_READ || e == SSL_ERROR_WANT_WRITE)
        return KC__GRPC_IO_BLOCKED;
    if (e == SSL_ERROR_ZERO_RETURN)
        return KC__GRPC_IO_EOF;
    kc_buf_puts(error, "TLS: ");
    kc__grpc_tls_failure(s->ssl, error);
    return KC__GRPC_IO_FAILED;
}

kc__grpc_io kc__grpc_socket_handshake(kc__grpc_socket *s, kc_buf *error)
{
    ERR_clear_error();
    const int r = SSL_do_handshake(s->ssl);
    if (r != 1)
        return io_of_ssl(s, r, SSL_ERROR_WANT_WRITE, &s->read_wants_write, error);
    s->read_wants_write = false;
    return KC__GRPC_IO_DONE;
}

bool kc__grpc_socket_is_h2(const kc__grpc_socket *s)
{
    return kc__grpc_tls_is_h2(s->ssl);
}

static kc__grpc_io read_plain_socket(kc__grpc_socket *s, char *to, size_t size, size_t *ret_n,
                                     kc_buf *error)
{
    const ssize_t n = recv(s->fd, to, size, 0);
    if (n < 0)
        return io_of_errno("read", error);
    *ret_n = (size_t)n;
    return n ? KC__GRPC_IO_DONE : KC__GRPC_IO_EOF;
}

kc__grpc_io kc__grpc_socket_read(kc__grpc_socket *s, char *to, size_t size, size_t *ret_n,
                                 kc_buf *error)
{
    if (!s->ssl)
        return read_plain_socket(s, to, size, ret_n, error);
    s->read_wants_write = false;
    const int r = SSL_read_ex(s->ssl, to, size, ret_n);
    return r == 1 ? KC__GRPC_IO_DONE
                  : io_of_ssl(s, r, SSL_ERROR_WANT_WRITE, &s->read_wants_write, error);
}

bool kc__grpc_socket_has_more(const kc__grpc_socket *s, size_t got, size_t size)
{
    return s->ssl ? SSL_has_pending(s->ssl) : got == size;
}

kc__grpc_io kc__grpc_socket_write(kc__grpc_socket *s, kc_str bytes, size_t *ret_n, kc_buf *error)
{
    if (s->ssl) {
        s->write_wants_read = false;
        const int r = SSL_write_ex(s->ssl, bytes.p, bytes.n, ret_n);
        return r == 1 ? KC__GRPC_IO_DONE
                      : io_of_ssl(s, r, SSL_ERROR_WANT_READ, &s->write_wants_read, error);
    }
    const ssize_t n = send(s->fd, bytes.p, bytes.n, MSG_NOSIGNAL);
    if (n < 0)
        return io_of_errno("write", error);
    *ret_n = (size_t)n;
    return KC__GRPC_IO_DONE;
}

void kc__grpc_socket_poll(kc__grpc_socket *s, bool reads, bool writes)
{
    const bool readable = (reads && !s->read_wants_write) || (writes && s->write_wants_read);
    const bool writable = (writes && !s->write_wants_read) || (reads && s->read_wants_write);
    poll_events(s, (readable ? UV_READABLE : 0) | (writable ? UV_WRITABLE : 0));
}
