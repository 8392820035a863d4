/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apiserver.h: the API server as its command sees it: given what it stands on, it serves until it
 * is stopped.
 *
 *     kc_apiserver *server = kc_apiserver_start(&(kc_apiserver_opts){
 *         .storage = storage, .listeners = listeners, .n_listeners = 2, .authn = authn,
 *         .log = log}, err);
 *     … wait for a signal …
 *     kc_apiserver_stop(server, 10 * KC_SECOND);
 */
#ifndef KC_APISERVER_APISERVER_H
#define KC_APISERVER_APISERVER_H

#include "apiserver/access/authn.h"
#include "apiserver/storage/storage.h"
#include "http/server.h"
#include "kc/rand.h"

typedef struct kc_apiserver kc_apiserver;

/* What it borrows must outlive the server. */
typedef struct kc_apiserver_opts {
    kc_storage *storage; /* Open. The server closes it, also when it cannot start. */
    const kc__listener *listeners;
    size_t n_listeners;     /* May be 0: only callers in the same process are served. */
    size_t loops;           /* Threads that serve. Defaults to the number of processors. */
    const kc__authn *authn; /* Defaults to letting everybody in as system:anonymous. */
    /* PEM, what the server shows to nodes when it asks them for logs. Without it it asks none. */
    const char *node_client_cert, *node_client_key;
    /* PEM of the authorities whose clients we let in, published for others who want to let in the
     * same. Defaults to not saying. */
    kc_str client_ca;
    int64_t request_timeout; /* Of requests other than watches. Defaults to one minute. */
    kc_log *log;             /* Defaults to silence. */
    kc_metrics *metrics;     /* Served at /metrics. Defaults to none. */
    const kc_clock *clock;   /* Defaults to the real one. */
    kc_rand *rand;           /* Names and jitter come from it. Defaults to the system's. */
} kc_apiserver_opts;

/* Loads what is stored and listens when it returns. NULL on error. Blocks. */
kc_apiserver *kc_apiserver_start(const kc_apiserver_opts *opts, kc_error *err);

/* Not ready any more, takes no new connection, ends watches; open requests go on. Any thread; does
 * not block. */
void kc_apiserver_drain(kc_apiserver *server);
/* Drains, waits until the last request was answered or `grace` is over, and frees the server. What
 * was acknowledged is durable. Blocks. NULL is allowed; returns NULL. */
kc_apiserver *kc_apiserver_stop(kc_apiserver *server, int64_t grace);
KC_UNUSED static inline void kc_apiserver_kill(kc_apiserver *server)
{
    kc_apiserver_stop(server, 0);
}
KC_AUTO_DEFINE(kc_apiserver, kc_apiserver_kill)

/* The port of a listener, by its number. */
int kc_apiserver_port(const kc_apiserver *server, size_t listener);

/* What handles requests (call.h), for carriers in the same process: on one of its loops they give
 * an exchange of their own to kc__api_handle. They have none under way when the server is stopped.
 */
struct kc__api *kc__apiserver_api(kc_apiserver *server);

#endif
