/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.h: connections over sockets, plain or TLS: what conn.h promises to protocols.
 */
#ifndef KC_HTTP_TRANSPORT_H
#define KC_HTTP_TRANSPORT_H

#include "http/conn.h"
#include "http/tls.h"
#include "kc/list.h"
#include "kc/metrics.h"

#include <sys/socket.h>

typedef struct kc__transport kc__transport;

/* What the connections of one loop share. */
typedef struct kc__home {
    kc__loop *loop;
    const kc__http_limits *limits; /* Defaults filled in. */
    kc__handler *handle;
    void *user;
    kc_log *log;
    kc_counter *received, *sent; /* Bytes. */
    char *buf;                   /* KC__READ_SIZE bytes, for whoever is reading. */
    kc_list transports;
    bool draining;
    /* A connection's socket is closed; its memory is freed. Each once for each connection. */
    void (*closed)(struct kc__home *home);
    void (*freed)(struct kc__home *home);
} kc__home;

enum { KC__READ_SIZE = 64 * 1024 };

/* Fills in the defaults. */
void kc__http_limits_default(kc__http_limits *limits);

/* Takes over a connected, non-blocking socket. All on the loop's thread. False, and the socket is
 * closed and neither callback is called, when there is no memory for it. */
bool kc__transport_start(kc__home *home, int fd, const struct sockaddr_storage *from, kc__tls *tls);
/* No request beyond the open ones. */
void kc__transport_drain(kc__transport *transport);
/* At once. */
void kc__transport_abort(kc__transport *transport);

/* Drains, aborts every one of them. */
void kc__home_drain(kc__home *home);
void kc__home_abort(kc__home *home);

#endif
