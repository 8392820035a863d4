/* SPDX-License-Identifier: Apache-2.0 */
/* client_default.h: the way to the server of clients that name none. */
#ifndef KC_CLIENT_DEFAULT_H
#define KC_CLIENT_DEFAULT_H

#include "kc/client.h"

/* Over HTTP, by opts->config or what kubectl would use. NULL on error. */
kc_transport *kc__default_transport(const kc_client_opts *opts, kc_error *err);

#endif
