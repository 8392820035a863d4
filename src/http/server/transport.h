/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.h: connections over sockets, plain or TLS; implements conn.h.
 */
#ifndef KC_HTTP_TRANSPORT_H
#define KC_HTTP_TRANSPORT_H

#include "http/server/conn.h"
#include "http/tls/tls.h"
#include "kc/dlist.h"
#include "kc/metrics.h"

#include <sys/socket.h>

typedef struct kc__transport kc__transport;

/* State that the connections of one loop share. */
typedef struct kc__transport_context {
    kc__loop *loop;
    const kc__http_limits *limits; /* Defaults filled in. */
    kc__exchange_begin_fn *begin;
    kc__exchange_handle_fn *handle;
    kc__exchange_abandon_fn *abandon;
    void *user;
    kc__http_budget *budget;
    kc_log *log;
    kc_counter *received, *sent; /* Bytes. */
    kc_counter *handshake_timeouts;
    const kc__http_endings *endings;
    char *buf;                /* KC__TRANSPORT_READ_SIZE bytes, shared by all reads. */
    char *record;             /* KC__TLS_RECORD bytes, in which output is joined. */
    kc_buf spare;             /* The buffer that connections without output pass on. */
    kc_dlist transports;      /* Authenticated ones. */
    kc_dlist unauthenticated; /* The others, in order of acceptance. */
    bool retired, draining;
    /* closed: the socket of a connection is closed. freed: its memory is freed. Each is called
     * once for each connection. */
    void (*closed)(struct kc__transport_context *context);
    void (*freed)(struct kc__transport_context *context);
} kc__transport_context;

enum { KC__TRANSPORT_READ_SIZE = 64 * 1024, KC__TLS_RECORD = 16 * 1024 };

/* Fills in the defaults. */
void kc__http_limits_default(kc__http_limits *limits);

/* Takes ownership of a connected, non-blocking socket. All functions must be called on the
 * loop's thread. Returns false if out of memory; then the socket is closed and neither callback
 * is called. */
bool kc__transport_start(kc__transport_context *context, int fd,
                         const struct sockaddr_storage *from, kc__tls *tls);
/* Accepts no request beyond the open ones. */
void kc__transport_drain(kc__transport *transport);
/* Closes the connection immediately. */
void kc__transport_abort(kc__transport *transport);

/*
 * Closes up to `want` connections without an accepted request, to make room for others, and returns
 * how many. Unauthenticated ones: those accepted first, at least `idle_for` ago; authenticated
 * ones: those idle for longest, at least for `idle_for`.
 */
size_t kc__transport_context_evict(kc__transport_context *context, bool authenticated,
                                   int64_t idle_for, size_t want);

/* Retire, drain or abort all connections of the context. */
void kc__transport_context_retire(kc__transport_context *context);
void kc__transport_context_drain(kc__transport_context *context);
void kc__transport_context_abort(kc__transport_context *context);

#endif
