/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy.h: a GET to another server whose response is streamed to the client of an exchange, as fast
 * as that client reads: container logs from a node.
 *
 *     kc__http_proxy_start(http_proxy, &(kc__http_proxy_request){.url = url}, x, arrived, call);
 *     …
 *     static void arrived(const kc__http_proxy_head *head, kc__pipe *body, void *user)
 *     {
 *         kc__exchange_respond(x, &(kc__http_response){
 *             .status = head->status, .source = &kc__pipe_source,
 *             .user = kc__pipe_read_by(body, x), .flush = true});
 *     }
 *
 * One thread runs all transfers; it starts with the first one.
 */
#ifndef KC_HTTP_FETCH_H
#define KC_HTTP_FETCH_H

#include "http/client/pipe.h"

typedef struct kc__http_proxy kc__http_proxy;

typedef struct kc__http_proxy_opts {
    /* PEM: the client certificate for servers that request one. Defaults to none. */
    const char *cert_file, *key_file;
} kc__http_proxy_opts;

kc__http_proxy *kc__http_proxy_new(const kc__http_proxy_opts *opts);
/* Aborts all transfers and accepts no more. Must be called while the event loops still run. */
void kc__http_proxy_stop(kc__http_proxy *http_proxy);
/* NULL is allowed; returns NULL. */
kc__http_proxy *kc__http_proxy_free(kc__http_proxy *http_proxy);

/* All strings are copied. */
typedef struct kc__http_proxy_request {
    const char *url;
    /* Pinned public key of the server, "sha256//…" as in curl. Defaults to no verification. */
    const char *pin;
    int64_t timeout; /* For the head. Defaults to 30 s. */
} kc__http_proxy_request;

/* The head of the response. An error status comes with its text, of which at most 50 KiB are
 * kept, and without a body. */
typedef struct kc__http_proxy_head {
    int status; /* 0: no response; `error` has the reason. */
    kc_str type;
    kc_str text;
    const kc_error *error;
} kc__http_proxy_head;

/* Called once, on the loop of the exchange, which must be answered then. */
typedef void kc__http_proxy_head_fn(const kc__http_proxy_head *head, kc__pipe *body, void *user);

void kc__http_proxy_start(kc__http_proxy *http_proxy, const kc__http_proxy_request *request,
                          kc__exchange *x, kc__http_proxy_head_fn *arrived, void *user);

#endif
