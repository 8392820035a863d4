/* SPDX-License-Identifier: Apache-2.0 */
/* listen.h: listening sockets. */
#ifndef KC_HTTP_LISTEN_H
#define KC_HTTP_LISTEN_H

#include "http/server.h"

/*
 * `n` non-blocking sockets that listen on one address and port, among which the kernel spreads
 * connections. In ret_fds, for the caller to close; the port in *ret_port. An address somebody else
 * listens on is an error, although these sockets share theirs.
 */
int kc__listen(const kc__listener *where, size_t n, int *ret_fds, int *ret_port, kc_error *err);

#endif
