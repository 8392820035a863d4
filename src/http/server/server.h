/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.h: listens, accepts, and passes each request to its handler: first the head (begin), then
 * the complete request (handle).
 *
 *     kc__http_server *server = kc__http_server_start(&(kc__http_server_opts){
 *         .listeners = (kc__http_listener[]){{.address = "127.0.0.1", .port = 6080}},
 *         .n_listeners = 1, .handle = handle, .user = apiserver, .log = log}, err);
 *     …
 *     kc__http_server_stop(server, 10 * KC_SECOND);
 *
 * The server has N loops, each with its own thread, and one socket for every listener. A connection
 * is assigned to the loop with the fewest connections and stays there. HTTP/1.1 and HTTP/2, plain
 * (with prior knowledge) or TLS (with ALPN).
 */
#ifndef KC_HTTP_SERVER_H
#define KC_HTTP_SERVER_H

#include "http/server/conn.h"
#include "http/tls/tls.h"
#include "kc/metrics.h"

typedef struct kc__http_server kc__http_server;

typedef struct kc__http_listener {
    const char *address; /* An IP address. Defaults to 127.0.0.1. */
    int port;            /* 0: any free port; see kc__http_server_port. */
    kc__tls *tls;        /* NULL: plain. Must outlive the server. */
} kc__http_listener;

typedef struct kc__http_server_opts {
    const kc__http_listener *listeners;
    size_t n_listeners;
    size_t loops; /* Defaults to the number of processors, at most 16. */
    kc__http_limits limits;
    kc__http_budget_opts budget;    /* Limits of the buffered bytes of requests. */
    size_t max_connections;         /* Defaults to what the limit of open files allows, and to... */
    size_t max_default_connections; /* ...at most this. Defaults to no bound. */
    /* Called on the loops' threads, concurrently. See exchange.h. */
    kc__exchange_begin_fn *begin; /* Defaults to accepting every request. */
    kc__exchange_handle_fn *handle;
    kc__exchange_abandon_fn *abandon; /* Defaults to nothing. */
    void *user;
    /* Hooks for state that lives on the loops: called when the loops run and nothing is accepted
     * yet, and when the last exchange has ended and the loops still run. Both may be NULL. */
    int (*starting)(kc__http_server *server, void *user, kc_error *err);
    void (*stopping)(void *user);
    kc_log *log;         /* Defaults to no logging. */
    kc_metrics *metrics; /* Defaults to none. */
    const kc_clock *clock;
} kc__http_server_opts;

/* The server listens when this returns. NULL on error: an address in use, or no permission for a
 * port below 1024. */
kc__http_server *kc__http_server_start(const kc__http_server_opts *opts, kc_error *err);

/* Asks clients to use other connections for further requests (Connection: close, GOAWAY); all
 * requests are still served, on new connections, too. Before kc__http_server_drain, once. Any
 * thread; does not block. */
void kc__http_server_retire(kc__http_server *server);
/* Starts to close connections that have been idle for a while, about an eighth of all: for an owner
 * that is short of memory. Any thread, until `stopping` returns; does not block. */
void kc__http_server_evict_idle(kc__http_server *server);
/* Accepts no more connections and tells clients to reconnect elsewhere (Connection: close,
 * GOAWAY); open exchanges continue. Any thread; does not block. */
void kc__http_server_drain(kc__http_server *server);
/* Drains, waits until the last exchange has ended or `grace` is over, then closes all
 * connections. Blocks at least until the handler has answered every exchange that it received.
 * NULL is allowed; returns NULL. */
kc__http_server *kc__http_server_stop(kc__http_server *server, int64_t grace);

/* Returns the port of a listener, by its index. */
int kc__http_server_port(const kc__http_server *server, size_t listener);
size_t kc__http_server_loops(const kc__http_server *server);
kc__loop *kc__http_server_loop(const kc__http_server *server, size_t i);

#endif
