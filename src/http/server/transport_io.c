/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport_io.c: reads and writes a non-blocking socket, plain or TLS. No other file knows the
 * difference. TLS may have to write in order to read, and vice versa; the transport records that in
 * read_wants_write and write_wants_read.
 *
 * Output is conn.out and, if watch events are shared, slices in between (conn_output.c). A plain
 * socket sends both with one sendmsg. TLS encrypts from one buffer, so the parts of a record are
 * joined in a buffer of the loop.
 */
#include "http/server/transport_internal.h"
#include "http/tls_bio.h"

#include <errno.h>
#include <openssl/err.h>
#include <sys/uio.h>

static kc__transport_io_result of_errno(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? KC__TRANSPORT_IO_BLOCKED
                                                                     : KC__TRANSPORT_IO_FAILED;
}

/* Converts the result of a failed OpenSSL call; *wants_other is set if it waits for the other
 * direction. */
static kc__transport_io_result of_ssl(const kc__transport *t, int r, int other, bool *wants_other)
{
    int e = SSL_get_error(t->ssl, r);
    *wants_other = e == other;
    if (e == SSL_ERROR_WANT_READ || e == SSL_ERROR_WANT_WRITE)
        return KC__TRANSPORT_IO_BLOCKED;
    kc__transport_io_result verdict =
        e == SSL_ERROR_ZERO_RETURN ? KC__TRANSPORT_IO_EOF : KC__TRANSPORT_IO_FAILED;
    ERR_clear_error(); /* The error queue belongs to the thread: the next connection must not see
                          it. */
    return verdict;
}

/* Bytes received after the shutdown are not even copied (MSG_TRUNC). */
static kc__transport_io_result read_plain(kc__transport *t, char *to, size_t size, size_t *ret_n)
{
    ssize_t n = recv(t->fd, to, size, t->state == TRANSPORT_LINGERING ? MSG_TRUNC : 0);
    if (n > 0)
        *ret_n = (size_t)n;
    return n > 0 ? KC__TRANSPORT_IO_DONE : n == 0 ? KC__TRANSPORT_IO_EOF : of_errno();
}

static kc__transport_io_result read_tls(kc__transport *t, char *to, size_t size, size_t *ret_n)
{
    int r = SSL_read_ex(t->ssl, to, size, ret_n);
    t->read_wants_write = false;
    t->read_blocked = false;
    if (r == 1)
        return KC__TRANSPORT_IO_DONE;
    kc__transport_io_result verdict = of_ssl(t, r, SSL_ERROR_WANT_WRITE, &t->read_wants_write);
    t->read_blocked = verdict == KC__TRANSPORT_IO_BLOCKED;
    return verdict;
}

kc__transport_io_result kc__transport_read(kc__transport *t, char *to, size_t size, size_t *ret_n)
{
    /* Bytes received after the shutdown are not even decrypted. */
    bool plain = !t->ssl || t->state == TRANSPORT_LINGERING;
    return plain ? read_plain(t, to, size, ret_n) : read_tls(t, to, size, ret_n);
}

bool kc__transport_has_more(const kc__transport *t, size_t got, size_t size)
{
    return t->ssl && t->state != TRANSPORT_LINGERING ? SSL_has_pending(t->ssl) : got == size;
}

/* Writes a record. If more than one record is pending, the kernel may wait for the next one:
 * several records become one packet, which takes the kernel less time. */
static kc__transport_io_result write_tls(kc__transport *t, kc_str bytes, size_t *ret_n)
{
    kc__tls_bio_more(t->ssl, bytes.n > KC__TLS_RECORD);
    int r = SSL_write_ex(t->ssl, bytes.p, bytes.n, ret_n);
    t->write_wants_read = false;
    return r == 1 ? KC__TRANSPORT_IO_DONE : of_ssl(t, r, SSL_ERROR_WANT_READ, &t->write_wants_read);
}

static kc__transport_io_result write_once(kc__transport *t, kc_str bytes, size_t *ret_n)
{
    if (t->ssl)
        return write_tls(t, bytes, ret_n);
    ssize_t n = send(t->fd, bytes.p, bytes.n, MSG_NOSIGNAL);
    *ret_n = n < 0 ? 0 : (size_t)n;
    return n < 0 ? of_errno() : KC__TRANSPORT_IO_DONE;
}

/* Writes conn.out without slices in between. */
static kc__transport_io_result write_own(kc__transport *t, size_t *ret_sent)
{
    const kc_str out = kc_buf_str(&t->conn.out);
    size_t at = 0, n = 0;
    kc__transport_io_result verdict = KC__TRANSPORT_IO_DONE;
    while (at < out.n && verdict == KC__TRANSPORT_IO_DONE) {
        verdict = write_once(t, kc_str_sub(out, at, out.n), &n);
        at += verdict == KC__TRANSPORT_IO_DONE ? n : 0;
    }
    *ret_sent = at;
    return verdict;
}

static kc__transport_io_result write_vectors(kc__transport *t, const kc_str *parts, size_t n_parts,
                                             size_t *ret_n)
{
    struct iovec vectors[KC__CONN_PARTS];
    for (size_t i = 0; i < n_parts; i++)
        vectors[i] = (struct iovec){.iov_base = (char *)parts[i].p, .iov_len = parts[i].n};
    const struct msghdr message = {.msg_iov = vectors, .msg_iovlen = n_parts};
    ssize_t n = sendmsg(t->fd, &message, MSG_NOSIGNAL);
    *ret_n = n < 0 ? 0 : (size_t)n;
    return n < 0 ? of_errno() : KC__TRANSPORT_IO_DONE;
}

/* Joins parts in the buffer of the loop: a record for each would cost more than the copy. */
static kc_str join_record(char *to, const kc_str *parts, size_t n_parts)
{
    size_t n = 0;
    for (size_t i = 0; i < n_parts && n < KC__TLS_RECORD; i++) {
        const size_t more = KC_MIN(parts[i].n, KC__TLS_RECORD - n);
        memcpy(to + n, parts[i].p, more);
        n += more;
    }
    return kc_str_of(to, n);
}

/* Writes conn.out and the slices in between, as much as one call accepts. */
static kc__transport_io_result write_parts(kc__transport *t, size_t *ret_sent)
{
    kc_str parts[KC__CONN_PARTS];
    const size_t n_parts = kc__conn_parts(&t->conn, parts);
    if (!t->ssl)
        return write_vectors(t, parts, n_parts, ret_sent);
    const kc_str record = join_record(t->context->record, parts, n_parts);
    kc__transport_io_result verdict = write_tls(t, record, ret_sent);
    *ret_sent = verdict == KC__TRANSPORT_IO_DONE ? *ret_sent : 0;
    return verdict;
}

bool kc__transport_write(kc__transport *t)
{
    size_t total = 0, sent = 0;
    kc__transport_io_result verdict = KC__TRANSPORT_IO_DONE;
    while (kc__conn_pending(&t->conn) && verdict == KC__TRANSPORT_IO_DONE) {
        verdict = t->conn.n_slices ? write_parts(t, &sent) : write_own(t, &sent);
        kc__conn_sent(&t->conn, sent);
        total += sent;
    }
    t->write_blocked = verdict == KC__TRANSPORT_IO_BLOCKED;
    t->failed =
        t->failed || (verdict != KC__TRANSPORT_IO_DONE && verdict != KC__TRANSPORT_IO_BLOCKED);
    if (total)
        kc_counter_add(t->context->sent, (double)total);
    return total;
}

kc__transport_io_result kc__transport_handshake(kc__transport *t)
{
    int r = SSL_do_handshake(t->ssl);
    if (r == 1)
        return KC__TRANSPORT_IO_DONE;
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
