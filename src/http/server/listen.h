/* SPDX-License-Identifier: Apache-2.0 */
/* listen.h: listening sockets. */
#ifndef KC_HTTP_LISTEN_H
#define KC_HTTP_LISTEN_H

#include "http/server/server.h"

/* Creates a non-blocking socket that listens on an address and port; the caller closes it. An
 * address that is in use is an error. */
int kc__http_listen(const kc__http_listener *where, int *ret_fd, int *ret_port, kc_error *err);

#endif
