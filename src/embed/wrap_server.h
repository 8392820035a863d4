/* SPDX-License-Identifier: Apache-2.0 */
/* wrap_server.h: an in-process transport to a server that also listens on sockets. */
#ifndef KC_EMBED_WRAP_SERVER_H
#define KC_EMBED_WRAP_SERVER_H

#include "apiserver/apiserver.h"
#include "kc/embedded_server.h"

/* Wraps a server that the caller has started, and stops after kc_embedded_server_stop of the
 * wrapper. The wrapper's port is 0. Never NULL. */
kc_embedded_server *kc__embed_wrap_server(kc__apiserver *server, const kc_clock *clock);

#endif
