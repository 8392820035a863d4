/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_server.h: an HTTP server for programs, beside their controllers: for the logs of a node's
 * containers, or for an external system that sends data.
 *
 *     static void handle(kc_http_call *call, void *user)
 *     {
 *         if (!kc_str_is(kc_http_request_path(call), "/hello")) {
 *             kc_http_response_send(call, 404, "text/plain", KC_STR("page not found\n"));
 *             return;
 *         }
 *         kc_http_response_begin(call, 200, "text/plain");
 *         while (kc_http_response_write(call, KC_STR("hello\n")))      false: client disconnected
 *             kc_clock_sleep(kc_clock_real(), KC_SECOND);
 *     }
 *
 * Each call has a thread and may take any time: writes block while the client is slow. HTTP/1.1 and
 * HTTP/2, plain or over TLS with a key of the server's own, which clients verify by
 * kc_http_server_pinned_key.
 */
#ifndef KC_HTTP_SERVER_PUBLIC_H
#define KC_HTTP_SERVER_PUBLIC_H

#include "kc/clock.h"
#include "kc/error.h"
#include "kc/log.h"

typedef struct kc_http_server kc_http_server;
typedef struct kc_http_call kc_http_call;

/* Runs on its own thread. The server responds with 500 if the handler returns without a response.
 */
typedef void kc_http_handler_fn(kc_http_call *call, void *user);

typedef struct kc_http_server_opts {
    const char *address; /* "127.0.0.1:0", ":8080" (all addresses). */
    kc_http_handler_fn *handle;
    void *user;
    bool tls; /* With a key and a certificate created at start. */
    /* With TLS: PEM of CAs. Clients may present a certificate of theirs
     * (kc_http_request_peer). */
    kc_str client_ca;
    int max_calls; /* Concurrent calls; the server responds 503 to others. Defaults to 100. */
    const kc_clock *clock; /* Defaults to the real one. */
    kc_log *log;           /* Defaults to silence. */
} kc_http_server_opts;

/* Returns when the server accepts connections. NULL on error. */
kc_http_server *kc_http_server_start(const kc_http_server_opts *opts, kc_error *err);
/* Disconnects the running calls and blocks until their handlers have returned. NULL is allowed;
 * returns NULL. */
kc_http_server *kc_http_server_stop(kc_http_server *server);
KC_AUTO_DEFINE(kc_http_server, kc_http_server_stop)

int kc_http_server_port(const kc_http_server *server);
/* The hash of the server's public key, "sha256//…", in the format of curl's --pinnedpubkey; ""
 * without TLS. */
const char *kc_http_server_pinned_key(const kc_http_server *server);
/* Replaces the client CAs, for new connections. */
int kc_http_server_set_client_ca(kc_http_server *server, kc_str client_ca, kc_error *err);

/* ---- a call; all strings live as long as it ---- */

kc_str kc_http_request_method(const kc_http_call *call);
/* Without the query, unescaped. */
kc_str kc_http_request_path(const kc_http_call *call);
/* The first value of a query parameter; false when it is absent. */
bool kc_http_request_query(const kc_http_call *call, const char *name, kc_str *ret);
/* Empty when absent. */
kc_str kc_http_request_header(const kc_http_call *call, const char *name);
kc_str kc_http_request_body(const kc_http_call *call);
/* The name in the client's certificate, if one of the CAs signed it; else empty. */
kc_str kc_http_request_peer(const kc_http_call *call);

/* Adds a response header, before kc_http_response_begin: kc_http_response_set_header(call, "ETag",
 * "\"7\""). KC_BAD_REQUEST, and no header, when name or value is invalid. */
int kc_http_response_set_header(kc_http_call *call, const char *name, const char *value,
                                kc_error *err);
/* Sends the response headers; the body is what is written until the handler returns. */
void kc_http_response_begin(kc_http_call *call, int status, const char *type);
/* Blocks while the client is slow. False when the client has disconnected. */
bool kc_http_response_write(kc_http_call *call, kc_str bytes);
/* Blocks until the client disconnects or the deadline passes. True if it has disconnected. */
bool kc_http_request_wait_closed(kc_http_call *call, int64_t deadline);
/* Sends a whole response. */
void kc_http_response_send(kc_http_call *call, int status, const char *type, kc_str body);

#endif
