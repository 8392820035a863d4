/* SPDX-License-Identifier: Apache-2.0 */
/* default.h: the transport of clients that name none. */
#ifndef KC_CLIENT_TRANSPORT_DEFAULT_H
#define KC_CLIENT_TRANSPORT_DEFAULT_H

#include "kc/client.h"

/* Creates an HTTP transport from opts->config or the configuration that kubectl would use. NULL
 * on error. */
kc_transport *kc__client_transport_default(const kc_client_opts *opts, kc_error *err);

#endif
