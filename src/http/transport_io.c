/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport_io.c: bytes in and out of a non-blocking socket, plain or TLS: the only place that
 * knows the difference. TLS may have to write in order to read and the other way round; it says so
 * in read_wants_write and write_wants_read.
 */
#include "http/transport_internal.h"

#include <errno.h>
#include <openssl/err.h>

static kc__io of_errno(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? KC__IO_BLOCKED
                                                                     : KC__IO_FAILED;
}

/* What a call of OpenSSL's that did not succeed means; *wants_other when it waits for the other
 * direction. */
static kc__io of_ssl(const kc__transport *t, int r, int other, bool *wants_other)
{
    int e = SSL_get_error(t->ssl, r);
    *wants_other = e == other;
    if (e == SSL_ERROR_WANT_READ || e == SSL_ERROR_WANT_WRITE)
        return KC__IO_BLOCKED;
    kc__io verdict = e == SSL_ERROR_ZERO_RETURN ? KC__IO_EOF : KC__IO_FAILED;
    ERR_clear_error(); /* The queue is the thread's: the next connection must not find it. */
    return verdict;
}

static kc__io read_plain(kc__transport *t, char *to, size_t size, size_t *ret_n)
{
    ssize_t n = recv(t->fd, to, size, 0);
    if (n > 0)
        *ret_n = (size_t)n;
    return n > 0 ? KC__IO_DONE : n == 0 ? KC__IO_EOF : of_errno();
}

static kc__io read_tls(kc__transport *t, char *to, size_t size, size_t *ret_n)
{
    int r = SSL_read_ex(t->ssl, to, size, ret_n);
    t->read_wants_write = false;
    t->read_blocked = false;
    if (r == 1)
        return KC__IO_DONE;
    kc__io verdict = of_ssl(t, r, SSL_ERROR_WANT_WRITE, &t->read_wants_write);
    t->read_blocked = verdict == KC__IO_BLOCKED;
    return verdict;
}

kc__io kc__transport_read(kc__transport *t, char *to, size_t size, size_t *ret_n)
{
    /* What a client says after goodbye is not even decrypted. */
    bool plain = !t->ssl || t->state == TRANSPORT_LINGERING;
    return plain ? read_plain(t, to, size, ret_n) : read_tls(t, to, size, ret_n);
}

bool kc__transport_has_more(const kc__transport *t, size_t got, size_t size)
{
    return t->ssl && t->state != TRANSPORT_LINGERING ? SSL_has_pending(t->ssl) : got == size;
}

static kc__io write_once(kc__transport *t, kc_str bytes, size_t *ret_n)
{
    if (!t->ssl) {
        ssize_t n = send(t->fd, bytes.p, bytes.n, MSG_NOSIGNAL);
        if (n < 0)
            return of_errno();
        *ret_n = (size_t)n;
        return KC__IO_DONE;
    }
    int r = SSL_write_ex(t->ssl, bytes.p, bytes.n, ret_n);
    t->write_wants_read = false;
    return r == 1 ? KC__IO_DONE : of_ssl(t, r, SSL_ERROR_WANT_READ, &t->write_wants_read);
}

/* An empty buffer is given back: most connections are idle. */
static void take_out(kc_buf *out, size_t n)
{
    if (n == out->n) {
        kc_buf_done(out);
        return;
    }
    memmove(out->p, out->p + n, out->n - n);
    out->n -= n;
}

bool kc__transport_write(kc__transport *t)
{
    kc_buf *out = &t->conn.out;
    size_t at = 0, n = 0;
    kc__io verdict = KC__IO_DONE;
    while (at < out->n && verdict == KC__IO_DONE) {
        verdict = write_once(t, kc_str_sub(kc_buf_str(out), at, out->n), &n);
        at += verdict == KC__IO_DONE ? n : 0;
    }
    t->write_blocked = verdict == KC__IO_BLOCKED;
    t->failed = t->failed || (verdict != KC__IO_DONE && verdict != KC__IO_BLOCKED);
    if (!at)
        return false;
    take_out(out, at);
    kc_counter_add(t->home->sent, (double)at);
    return true;
}

kc__io kc__transport_handshake(kc__transport *t)
{
    int r = SSL_do_handshake(t->ssl);
    if (r == 1)
        return KC__IO_DONE;
    return of_ssl(t, r, SSL_ERROR_WANT_WRITE, &t->read_wants_write);
}

void kc__transport_shutdown(kc__transport *t)
{
    if (t->ssl && SSL_is_init_finished(t->ssl)) {
        SSL_shutdown(t->ssl);
        ERR_clear_error();
    }
    shutdown(t->fd, SHUT_WR);
}
