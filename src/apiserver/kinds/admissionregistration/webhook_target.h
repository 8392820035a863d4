/* SPDX-License-Identifier: Apache-2.0 */
/* webhook_target.h: the clientConfig of a webhook: a URL or a Service, and the CA to trust. */
#ifndef KC_APISERVER_WEBHOOK_TARGET_H
#define KC_APISERVER_WEBHOOK_TARGET_H

#include "kc/arena.h"
#include "kc/view.h"

typedef struct kc__hook_target {
    const char *url; /* NULL: the webhook is a Service. */
    kc_str service_ns, service, path;
    int64_t port;
    kc_str ca; /* PEM; empty: the system's CAs. */
} kc__hook_target;

/* Reads a clientConfig that was validated. Strings are slices of the view, or in the arena. */
void kc__hook_target_read(kc_arena *arena, const kc_value *client, kc__hook_target *ret);

#endif
