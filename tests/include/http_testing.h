/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_testing.h: a blocking client over a real socket, plain or TLS, for tests of the server. All
 * waits have a timeout, so a test fails instead of hanging. The system does not restart calls with
 * a timeout that it interrupted, and an io_uring of libuv interrupts: the client repeats them.
 */
#ifndef HTTP_TESTING_H
#define HTTP_TESTING_H

#include "testing.h"

#include "http/server/server.h"
#include "kc/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENT_TIMEOUT_MS = 20000 };

typedef struct client {
    int fd;
    SSL *ssl;
    kc_buf in; /* Received and not consumed yet. */
    bool eof, reset;
} client;

static inline client *client_connect_with(int port, int receive_buffer)
{
    client *c = kc_new(client);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval timeout = {CLIENT_TIMEOUT_MS / 1000, 0};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_buffer)
        setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
    setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
    while (connect(c->fd, (struct sockaddr *)&to, sizeof(to)) < 0 && errno != EISCONN)
        if (errno != EINTR) /* After that the next call waits for the same connection. */
            fail_msg("cannot connect to port %d: %s", port, strerror(errno));
    return c;
}

static inline client *client_connect(int port)
{
    return client_connect_with(port, 0);
}

static inline void client_free(client *c)
{
    if (!c)
        return;
    SSL_free(c->ssl);
    close(c->fd);
    kc_buf_done(&c->in);
    free(c);
}
KC_AUTO_DEFINE(client, client_free)

/* Whether a call that returned `n`, with errno 0 before it, was interrupted. */
static inline bool client_interrupted(const client *c, ssize_t n)
{
    if (n > 0 || errno != EINTR)
        return false;
    const int why = c->ssl ? SSL_get_error(c->ssl, (int)n) : SSL_ERROR_WANT_READ;
    errno = EINTR;
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE;
}

static inline void client_send_bytes(client *c, kc_str text)
{
    while (text.n) {
        ssize_t n;
        do {
            errno = 0;
            n = c->ssl ? SSL_write(c->ssl, text.p, (int)text.n)
                       : send(c->fd, text.p, text.n, MSG_NOSIGNAL);
        } while (client_interrupted(c, n));
        if (n <= 0)
            return; /* The server has closed the connection; its response tells why. */
        text = kc_str_sub(text, (size_t)n, text.n);
    }
}

static inline void client_send(client *c, const char *text)
{
    client_send_bytes(c, kc_cstr(text));
}

static inline ssize_t client_receive(client *c, char *to, size_t size)
{
    ssize_t n;
    do {
        errno = 0;
        n = c->ssl ? SSL_read(c->ssl, to, (int)size) : recv(c->fd, to, size, 0);
    } while (client_interrupted(c, n));
    return n;
}

/* Reads once. False at the end. */
static inline bool client_read(client *c)
{
    const ssize_t n = client_receive(c, kc_buf_reserve(&c->in, 65536), 65536);
    if (n > 0) {
        c->in.n += (size_t)n;
        return true;
    }
    if (n < 0 && !c->ssl && (errno == EAGAIN || errno == EWOULDBLOCK))
        fail_msg("no output of the server; so far: %s", kc_buf_cstr(&c->in));
    c->reset = n < 0 && errno == ECONNRESET;
    c->eof = true;
    return false;
}

/* Waits for input that contains `part`; returns all input, and keeps it. */
static inline const char *client_expect(client *c, const char *part)
{
    while (!strstr(kc_buf_cstr(&c->in), part))
        if (!client_read(c))
            fail_msg("the connection ended before \"%s\"; input: %s", part, kc_buf_cstr(&c->in));
    return kc_buf_cstr(&c->in);
}

/* Everything up to the end of the connection. */
static inline const char *client_read_all(client *c)
{
    while (client_read(c))
        ;
    return kc_buf_cstr(&c->in);
}

static inline void client_clear(client *c)
{
    kc_buf_clear(&c->in);
}

/* Waits for one complete response with a Content-Length; returns its body, and keeps the head; the
 * input is consumed only by the next call. */
static inline kc_str client_read_response(client *c)
{
    client_expect(c, "\r\n\r\n");
    const char *length = strcasestr(kc_buf_cstr(&c->in), "Content-Length: ");
    if (!length)
        fail_msg("no length in %s", kc_buf_cstr(&c->in));
    size_t body = strtoul(length + 16, NULL, 10);
    size_t head = (size_t)(strstr(kc_buf_cstr(&c->in), "\r\n\r\n") + 4 - c->in.p);
    while (c->in.n < head + body)
        if (!client_read(c))
            fail_msg("the body ended early: %s", kc_buf_cstr(&c->in));
    return kc_str_of(c->in.p + head, body);
}

static inline void client_get(client *c, const char *target)
{
    kc_scoped(kc_buf) request = {0};
    kc_buf_printf(&request, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", target);
    client_send(c, kc_buf_cstr(&request));
}

#endif
