/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls_bio.c: a BIO over recv and send on a non-blocking socket. It does not own the socket.
 *
 * Threads: a BIO belongs to the loop of its connection; the method is immutable.
 */
#include "http/tls_bio.h"

#include "kc/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

typedef struct tls_socket {
    int fd;
    bool more; /* More data follows the current write. */
    bool eof;  /* The client has closed the connection. */
} tls_socket;

static bool is_to_be_retried(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static int bio_write(BIO *bio, const char *bytes, size_t n, size_t *ret_n)
{
    const tls_socket *s = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    ssize_t sent = send(s->fd, bytes, n, MSG_NOSIGNAL | (s->more ? MSG_MORE : 0));
    if (sent < 0 && is_to_be_retried())
        BIO_set_retry_write(bio);
    *ret_n = sent > 0 ? (size_t)sent : 0;
    return sent > 0;
}

static int bio_read(BIO *bio, char *to, size_t size, size_t *ret_n)
{
    tls_socket *s = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    ssize_t got = recv(s->fd, to, size, 0);
    if (got < 0 && is_to_be_retried())
        BIO_set_retry_read(bio);
    s->eof = got == 0;
    *ret_n = got > 0 ? (size_t)got : 0;
    return got > 0;
}

static long bio_ctrl(BIO *bio, int what, long number, void *pointer)
{
    const tls_socket *s = BIO_get_data(bio);
    (void)number;
    (void)pointer;
    switch (what) {
    case BIO_CTRL_FLUSH: return 1;
    case BIO_CTRL_EOF: return s->eof;
    default: return 0;
    }
}

static int bio_destroy(BIO *bio)
{
    free(BIO_get_data(bio));
    return 1;
}

BIO_METHOD *kc__tls_bio_method_new(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "kc socket");
    if (method && BIO_meth_set_write_ex(method, bio_write) == 1 &&
        BIO_meth_set_read_ex(method, bio_read) == 1 && BIO_meth_set_ctrl(method, bio_ctrl) == 1 &&
        BIO_meth_set_destroy(method, bio_destroy) == 1)
        return method;
    BIO_meth_free(method);
    return NULL;
}

bool kc__tls_bio_attach(SSL *ssl, const BIO_METHOD *method, int fd)
{
    BIO *bio = BIO_new(method);
    if (!bio)
        return false;
    tls_socket *s = kc_new(tls_socket);
    s->fd = fd;
    BIO_set_data(bio, s);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    return true;
}

void kc__tls_bio_more(SSL *ssl, bool more)
{
    tls_socket *s = BIO_get_data(SSL_get_wbio(ssl));
    s->more = more;
}
