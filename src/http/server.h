/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.h: listens, accepts, and gives each complete request to one handler.
 *
 *     kc__server *server = kc__server_start(&(kc__server_opts){
 *         .listeners = (kc__listener[]){{.address = "127.0.0.1", .port = 6080}}, .n_listeners = 1,
 *         .handle = handle, .user = apiserver, .log = log}, err);
 *     …
 *     kc__server_stop(server, 10 * KC_SECOND);
 *
 * N loops, each with its own thread and its own listening socket for every listener (SO_REUSEPORT):
 * the kernel spreads connections, and a connection stays on its loop. HTTP/1.1 and HTTP/2, plain
 * (by prior knowledge) or TLS (by ALPN).
 */
#ifndef KC_HTTP_SERVER_H
#define KC_HTTP_SERVER_H

#include "http/conn.h"
#include "http/tls.h"
#include "kc/metrics.h"

typedef struct kc__server kc__server;

typedef struct kc__listener {
    const char *address; /* An IP address. Defaults to 127.0.0.1. */
    int port;            /* 0: any that is free; kc__server_port tells. */
    kc__tls *tls;        /* NULL: plain. Must outlive the server. */
} kc__listener;

typedef struct kc__server_opts {
    const kc__listener *listeners;
    size_t n_listeners;
    size_t loops; /* Defaults to the number of processors, at most 16. */
    kc__http_limits limits;
    size_t max_connections; /* Defaults to what the limit of open files allows. */
    kc__handler *handle;    /* On a loop's thread; several loops call it at a time. */
    void *user;
    /* Called when the loops run and nothing is accepted yet; and when the last exchange is gone and
     * the loops still run. For what lives on them. Both may be NULL. */
    int (*starting)(kc__server *server, void *user, kc_error *err);
    void (*stopping)(void *user);
    kc_log *log;         /* Defaults to silence. */
    kc_metrics *metrics; /* Defaults to none. */
    const kc_clock *clock;
} kc__server_opts;

/* Listening when it returns. NULL on error: an address in use, a port below 1024 without the right.
 */
kc__server *kc__server_start(const kc__server_opts *opts, kc_error *err);

/* Takes no connection any more and tells clients to go elsewhere (Connection: close, GOAWAY); open
 * exchanges go on. Any thread; does not block. */
void kc__server_drain(kc__server *server);
/* Drains, waits until the last exchange ended or `grace` is over, closes everything. Blocks, in any
 * case until the handler has answered every exchange it was given. Returns NULL; NULL is allowed.
 */
kc__server *kc__server_stop(kc__server *server, int64_t grace);
KC_UNUSED static inline void kc__server_kill(kc__server *server)
{
    kc__server_stop(server, 0);
}

/* The port of a listener, by its number. */
int kc__server_port(const kc__server *server, size_t listener);
size_t kc__server_loops(const kc__server *server);
kc__loop *kc__server_loop(const kc__server *server, size_t i);

#endif
