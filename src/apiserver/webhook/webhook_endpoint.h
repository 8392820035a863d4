/* SPDX-License-Identifier: Apache-2.0 */
/* webhook_endpoint.h: where the requests of a webhook go: its URL and address. */
#ifndef KC_APISERVER_WEBHOOK_ENDPOINT_H
#define KC_APISERVER_WEBHOOK_ENDPOINT_H

#include "apiserver/kinds/admissionregistration/webhook_target.h"
#include "apiserver/store/store.h"

/* Strings are allocated in the arena. */
typedef struct kc__hook_endpoint {
    const char *url; /* With ?timeout=. */
    const char
        *connect_to; /* "10.0.0.7:8443": an endpoint of the Service. NULL: the host of the URL. */
    const char *server; /* HOST:PORT of the URL: the name of the credentials for it. */
    bool near;          /* On this machine. */
} kc__hook_endpoint;

/* KC_SERVICE_UNAVAILABLE if a Service has no ready endpoint, with the complete message that a
 * client of the Service would report. `seconds` is the timeout that the URL states. */
int kc__hook_endpoint_resolve(kc__store *store, const kc__hook_target *target, int64_t seconds,
                              kc_arena *arena, kc__hook_endpoint *ret, kc_error *err);

/* Appends the path that client-go sends for the path of a webhook: unescaped (if it comes from a
 * URL), joined to "/" and cleaned as Go's path.Clean does, and escaped again. A path that begins
 * with "//" or ends with "/" loses the additional slashes. */
void kc__hook_path_clean(kc_buf *out, kc_str path, bool escaped);

#endif
