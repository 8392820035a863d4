/* SPDX-License-Identifier: Apache-2.0 */
/* http_get.h: a small document of another server, on a thread that may wait for it. */
#ifndef KC_HTTP_CLIENT_HTTP_GET_H
#define KC_HTTP_CLIENT_HTTP_GET_H

#include "kc/buf.h"
#include "kc/error.h"

#include <stdatomic.h>

typedef struct kc__http_get_opts {
    kc_str ca;                 /* PEM: the only trusted CAs. Defaults to the system's. */
    int64_t timeout;           /* Defaults to 30 s. */
    size_t max_bytes;          /* Defaults to 1 MiB. */
    const _Atomic bool *abort; /* The request fails soon after this becomes true. */
} kc__http_get_opts;

/* Appends the body of a response with status 200. The URL must be https; redirects are not
 * followed. KC_SERVICE_UNAVAILABLE otherwise. Blocks. */
int kc__http_get(const char *url, const kc__http_get_opts *opts, kc_buf *out, kc_error *err);

#endif
