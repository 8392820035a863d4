/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_server.h: an HTTP server of one's own, beside controllers: what a node tells of its
 * containers, what an external system sends.
 *
 *     static void handle(kc_http_call *call, void *user)
 *     {
 *         if (!kc_str_is(kc_http_path(call), "/hello")) {
 *             kc_http_answer(call, 404, "text/plain", KC_STR("there is no such page\n"));
 *             return;
 *         }
 *         kc_http_begin(call, 200, "text/plain");
 *         while (kc_http_write(call, KC_STR("hello\n")))      false: the client has left
 *             kc_clock_sleep(clock, KC_SECOND);
 *     }
 *
 * Each call has a thread, and may take as long as it likes: writing waits for the client. HTTP/1.1
 * and HTTP/2, plain or over TLS with a key of the server's own, which clients know by
 * kc_http_server_key.
 */
#ifndef KC_HTTP_SERVER_PUBLIC_H
#define KC_HTTP_SERVER_PUBLIC_H

#include "kc/clock.h"
#include "kc/error.h"
#include "kc/log.h"

typedef struct kc_http_server kc_http_server;
typedef struct kc_http_call kc_http_call;

/* On a thread of its own. What it returns without having answered is answered with 500. */
typedef void kc_http_handler(kc_http_call *call, void *user);

typedef struct kc_http_server_opts {
    const char *address; /* "127.0.0.1:0", ":8080" (all addresses). */
    kc_http_handler *handle;
    void *user;
    bool tls; /* With a key and a certificate made at the start. */
    /* With TLS: PEM of authorities. Clients may show a certificate of theirs (kc_http_peer). */
    kc_str client_ca;
    int max_calls;         /* At a time; others are answered 503. Defaults to 100. */
    const kc_clock *clock; /* Defaults to the real one. */
    kc_log *log;           /* Defaults to silence. */
} kc_http_server_opts;

/* Serves when it returns. NULL on error. */
kc_http_server *kc_http_server_start(const kc_http_server_opts *opts, kc_error *err);
/* Calls under way find that their client has left; blocks until they have returned. NULL is
 * allowed; returns NULL. */
kc_http_server *kc_http_server_stop(kc_http_server *server);
KC_AUTO_DEFINE(kc_http_server, kc_http_server_stop)

int kc_http_server_port(const kc_http_server *server);
/* The hash of its public key, "sha256//…", as curl's --pinnedpubkey takes it; "" without TLS. */
const char *kc_http_server_key(const kc_http_server *server);
/* Other authorities for clients, for connections from now on. */
int kc_http_server_trust(kc_http_server *server, kc_str client_ca, kc_error *err);

/* ---- a call; all texts live as long as it ---- */

kc_str kc_http_method(const kc_http_call *call);
/* Without the query, its escapes resolved. */
kc_str kc_http_path(const kc_http_call *call);
/* The first value of a parameter; false when there is none. */
bool kc_http_query(const kc_http_call *call, const char *name, kc_str *ret);
/* Empty when there is none. */
kc_str kc_http_call_header(const kc_http_call *call, const char *name);
kc_str kc_http_body(const kc_http_call *call);
/* Whom the client's certificate names, which one of the authorities has signed; empty: none. */
kc_str kc_http_peer(const kc_http_call *call);

/* A field of the answer's head, before that begins: kc_http_set_header(call, "ETag", "\"7\"").
 * Negative, and it is left out, when it would not be one: KC_BAD_REQUEST. */
int kc_http_set_header(kc_http_call *call, const char *name, const char *value, kc_error *err);
/* Begins the answer; its body is what is written until the handler returns. */
void kc_http_begin(kc_http_call *call, int status, const char *type);
/* Waits while the client is slow. False when it has left: nothing can be written any more. */
bool kc_http_write(kc_http_call *call, kc_str bytes);
/* Waits until the client has left, and says whether it has, or until the deadline. */
bool kc_http_left(kc_http_call *call, int64_t deadline);
/* The whole answer. */
void kc_http_answer(kc_http_call *call, int status, const char *type, kc_str body);

#endif
