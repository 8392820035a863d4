/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_server.h: an API server in this process.
 *
 *     kc_auto(kc_embedded_server) *server =
 *         kc_embedded_server_start(&(kc_embedded_server_opts){.dir = "data"}, err);
 *     kc_auto(kc_client) *client = kc_embedded_server_client(server, err);
 *
 * The same server as `kc apiserver`, except that the admission plugin ServiceAccount is off: pods
 * need no service account, which a controller would have to create. Requests of the embedded client
 * reach it without a socket, with the administrator's identity unless another user is given. With a
 * listener, other processes can reach it, too.
 */
#ifndef KC_EMBEDDED_SERVER_H
#define KC_EMBEDDED_SERVER_H

#include "kc/client.h"

typedef struct kc_embedded_server kc_embedded_server;

/* Storage of a server without a directory. A new server can start on the storage of a stopped one.
 */
typedef struct kc_embedded_memory kc_embedded_memory;
kc_embedded_memory *kc_embedded_memory_new(void);
/* No server may be running on it. NULL is allowed; returns NULL. */
kc_embedded_memory *kc_embedded_memory_free(kc_embedded_memory *memory);
KC_AUTO_DEFINE(kc_embedded_memory, kc_embedded_memory_free)

typedef struct kc_embedded_server_opts {
    const char *dir; /* Data directory. Defaults to in-memory storage. */
    /* The in-memory storage. Defaults to a new one that is freed with the server. */
    kc_embedded_memory *memory;
    int port;    /* Port for plain HTTP on loopback, for users of this machine; 0: none, -1: any. */
    int threads; /* Event loops. Defaults to the number of processors; 1 in a simulation. */
    const kc_clock *clock; /* Defaults to the real one. */
    kc_rand *rand;         /* Defaults to the system's. */
    kc_log *log;           /* Defaults to silence. */
    kc_metrics *metrics;
} kc_embedded_server_opts;

/* Returns when the server is ready, or NULL on error. `opts` may be NULL. Blocks. */
kc_embedded_server *kc_embedded_server_start(const kc_embedded_server_opts *opts, kc_error *err);
/* Stops the server; later requests of its clients fail. NULL is allowed; returns NULL. */
kc_embedded_server *kc_embedded_server_stop(kc_embedded_server *server);
KC_AUTO_DEFINE(kc_embedded_server, kc_embedded_server_stop)

int kc_embedded_server_port(const kc_embedded_server *server);
/* The user of a transport's requests. NULL: the administrator. */
typedef kc_client_user kc_embedded_server_user;
/* A transport to the server. May be used and freed after the server stopped: requests then fail
 * with KC_SERVICE_UNAVAILABLE. */
kc_transport *kc_embedded_server_transport(kc_embedded_server *server,
                                           const kc_embedded_server_user *user);
const kc_clock *kc_embedded_server_clock(const kc_embedded_server *server);
/* A client on such a transport, with the server's clock. */
kc_client *kc_embedded_server_client(kc_embedded_server *server, kc_error *err);

#endif
