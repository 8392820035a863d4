/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket.h: a connected socket under a loop, plain or TLS: reads and writes that do not block.
 *
 *     socket = kc__grpc_socket_connect(loop, address, on_event, user, &error);
 *     … on_event, once connected: kc__grpc_socket_connected, then read, write
 *     kc__grpc_socket_poll(socket, reads, writes);         after each event
 */
#ifndef KC_GRPC_SOCKET_H
#define KC_GRPC_SOCKET_H

#include "http/loop/loop_internal.h"
#include "kc/buf.h"

#include <netdb.h>
#include <openssl/ssl.h>

typedef struct kc__grpc_socket kc__grpc_socket;

typedef enum kc__grpc_io {
    KC__GRPC_IO_DONE,
    KC__GRPC_IO_BLOCKED,
    KC__GRPC_IO_EOF,
    KC__GRPC_IO_FAILED, /* The reason was appended to `error`. */
} kc__grpc_io;

/* Begins to connect. `on_event` is called whenever the socket is ready for what is polled, at first
 * when it is connected or has failed. NULL, with the reason appended, on error. */
kc__grpc_socket *kc__grpc_socket_connect(kc__loop *loop, const struct addrinfo *address,
                                         void (*on_event)(void *user), void *user, kc_buf *error);
/* Closes at once; frees later, and then calls `freed`. */
void kc__grpc_socket_close(kc__grpc_socket *socket, void (*freed)(void *user));
int kc__grpc_socket_fd(const kc__grpc_socket *socket);

/* After the first event: DONE or FAILED. */
kc__grpc_io kc__grpc_socket_connected(kc__grpc_socket *socket, kc_buf *error);
/* Reads and writes are encrypted from now on. The socket owns the SSL. */
void kc__grpc_socket_use_tls(kc__grpc_socket *socket, SSL *ssl);
/* To be repeated after each event until it is not BLOCKED. */
kc__grpc_io kc__grpc_socket_handshake(kc__grpc_socket *socket, kc_buf *error);
/* Returns whether the handshake has selected HTTP/2. */
bool kc__grpc_socket_is_h2(const kc__grpc_socket *socket);

kc__grpc_io kc__grpc_socket_read(kc__grpc_socket *socket, char *to, size_t size, size_t *ret_n,
                                 kc_buf *error);
/* Returns whether another read may return data at once. */
bool kc__grpc_socket_has_more(const kc__grpc_socket *socket, size_t got, size_t size);
kc__grpc_io kc__grpc_socket_write(kc__grpc_socket *socket, kc_str bytes, size_t *ret_n,
                                  kc_buf *error);
/* Which events are needed: to read, and to write what was blocked. */
void kc__grpc_socket_poll(kc__grpc_socket *socket, bool reads, bool writes);

#endif
