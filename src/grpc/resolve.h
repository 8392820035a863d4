/* SPDX-License-Identifier: Apache-2.0 */
/* resolve.h: the addresses of a host, without blocking the loop. */
#ifndef KC_GRPC_RESOLVE_H
#define KC_GRPC_RESOLVE_H

#include "http/loop/loop_internal.h"
#include "kc/buf.h"

#include <netdb.h>

/* Embedded in its owner; zeroed. */
typedef struct kc__grpc_resolver {
    /* Called once, not within kc__grpc_resolve: `addresses` is set, or `error` says why not. */
    void (*done)(struct kc__grpc_resolver *resolver);
    struct addrinfo *addresses; /* In order of preference. */
    kc_buf error;
    uv_getaddrinfo_t request; /* This field and the next are private. */
    kc__loop_task task;
} kc__grpc_resolver;

/* Resolves a host name, or an address, and a port number. The owner must exist until `done`. */
void kc__grpc_resolve(kc__grpc_resolver *resolver, kc__loop *loop, const char *host,
                      const char *port);
/* Makes `done` come soon, if that is possible. */
void kc__grpc_resolver_cancel(kc__grpc_resolver *resolver);
/* Frees the contents; after `done`. */
void kc__grpc_resolver_done(kc__grpc_resolver *resolver);

#endif
