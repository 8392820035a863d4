/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grpc_server.h: a gRPC server for tests, in this process, over real sockets. The method decides
 * how it behaves, or misbehaves:
 *
 *     grpc_server *server = grpc_server_start(&(grpc_server_opts){.name = "a"});
 *     … "/test/Echo" responds with each message; tests/grpc_methods.c lists all methods
 *     grpc_server_stop(server);
 *
 * Each connection has a thread that reads and writes its socket and blocks in both.
 */
#ifndef KC_GRPC_SERVER_H
#define KC_GRPC_SERVER_H

#include "kc/buf.h"
#include "kc/dlist.h"
#include "kc/thread.h"

#include "grpc/frame.h"

#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>
#include <stdatomic.h>

typedef struct grpc_server_opts {
    const char *name;       /* For /test/Name. Defaults to "". */
    int port;               /* Defaults to a free one. */
    uint32_t max_streams;   /* Concurrent ones that the client may open. Defaults to 1000. */
    const char *cert, *key; /* Files; TLS. Default to plain. */
    const char *client_ca;  /* File; requires client certificates. Defaults to none. */
    const char *alpn;       /* Selected protocol. Defaults to "h2". */
} grpc_server_opts;

/* What happened, and what shall happen. Any thread. */
typedef struct grpc_server {
    grpc_server_opts opts;
    int port;
    char url[64];
    _Atomic int connections; /* Accepted so far. */
    _Atomic int requests;    /* Heads of requests. */
    _Atomic int cancelled;   /* RST_STREAM frames. */
    _Atomic int pings;
    _Atomic size_t sent; /* Bytes of DATA frames. */
    _Atomic bool silent; /* Reads nothing any more: an unreachable peer. */
    _Atomic bool mute;   /* Accepts connections and sends nothing, not even settings. */
    _Atomic int refuse;  /* How many of the next streams are refused. */
    _Atomic int go_away; /* How often /test/GoAway sends a GOAWAY. */
    _Atomic int drop;    /* How often /test/Drop closes the connection. */

    int listener;
    SSL_CTX *ctx;
    kc_thread *thread;
    _Atomic bool stopping;
    kc_mutex mutex; /* Guards the list. */
    kc_dlist conns;
} grpc_server;

grpc_server *grpc_server_start(const grpc_server_opts *opts);
/* Closes all connections. NULL is allowed; returns NULL. */
grpc_server *grpc_server_stop(grpc_server *server);
KC_AUTO_DEFINE(grpc_server, grpc_server_stop)
/* Closes all connections, and goes on accepting new ones. */
void grpc_server_cut(grpc_server *server);

/* ---- for tests/grpc_methods.c: on the connection's thread ---- */

typedef struct grpc_server_conn {
    grpc_server *server;
    kc_dlist_link link;
    int fd;
    SSL *ssl;
    nghttp2_session *h2;
    kc_dlist streams;
    kc_thread *thread;
    bool drop; /* Close the connection now. */
    _Atomic bool over;
} grpc_server_conn;

typedef struct grpc_server_method grpc_server_method;

typedef struct grpc_server_stream {
    grpc_server_conn *conn;
    kc_dlist_link link;
    int32_t id;
    const grpc_server_method *method;
    char *asked;    /* Value of the field x-ask. */
    char *timeout;  /* Value of grpc-timeout. */
    kc_str message; /* The current one. */
    kc__grpc_deframer deframer;
    size_t received; /* Messages. */

    bool started; /* The head of the response is submitted. */
    kc_buf out;
    size_t out_at;
    size_t chunk; /* Maximum size of a DATA frame. Defaults to no limit. */
    bool finished;
    bool without_trailers;
    char status[8];
    char *status_message; /* As it is sent. */
} grpc_server_stream;

/* NULL: nothing is done. */
struct grpc_server_method {
    const char *path;
    void (*on_message)(grpc_server_stream *stream);
    void (*on_end)(grpc_server_stream *stream);
    bool deaf; /* Does not return the window of the stream. */
};

extern const grpc_server_method grpc_server_methods[]; /* Ends with a path of NULL. */

/* A field of a head; nghttp2 copies it. */
static inline nghttp2_nv grpc_server_nv(const char *name, const char *value)
{
    return (nghttp2_nv){.name = (uint8_t *)name,
                        .value = (uint8_t *)value,
                        .namelen = strlen(name),
                        .valuelen = strlen(value)};
}

/* Sends the head, if that was not done. */
void grpc_server_open(grpc_server_stream *stream);
/* Appends raw bytes, or a message, to the response. */
void grpc_server_send_raw(grpc_server_stream *stream, kc_str bytes);
void grpc_server_send(grpc_server_stream *stream, kc_str message);
/* Ends the response after what was sent, with this status. `message` may be NULL. */
void grpc_server_finish(grpc_server_stream *stream, int status, const char *message);

#endif
