/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_client.h: a request to another server whose response is small and needed as a whole, such as
 * an admission webhook call.
 *
 *     kc__http_client_send(http_client, &(kc__http_client_request){.url = url, .body = review},
 *                          loop, answered, call);
 *     …
 *     static void answered(const kc__http_client_response *answer, void *user)    on that loop
 *
 * One thread sends all requests; it starts with the first one. Connections are kept and reused.
 */
#ifndef KC_HTTP_CLIENT_HTTP_CLIENT_H
#define KC_HTTP_CLIENT_HTTP_CLIENT_H

#include "http/loop/loop.h"
#include "kc/str.h"

typedef struct kc__http_client kc__http_client;

kc__http_client *kc__http_client_new(void);
/* All requests end at this time (monotonic, real clock) at the latest, and none is accepted
 * after it. Any thread; does not block. */
void kc__http_client_end_by(kc__http_client *http_client, int64_t deadline);
/* Aborts all requests and accepts no more. Must be called while the event loops still run.
 * Blocks until they have ended. */
void kc__http_client_stop(kc__http_client *http_client);
/* NULL is allowed; returns NULL. */
kc__http_client *kc__http_client_free(kc__http_client *http_client);

/* How the server is found and verified, and how the client identifies itself: what a kubeconfig
 * says. Zero: as a client without credentials. */
typedef struct kc__http_client_identity {
    bool insecure;             /* Do not verify the server's certificate. */
    const char *server_name;   /* The name to verify. Defaults to the host of the URL. */
    kc_str cert, key;          /* PEM. Default to none. */
    const char *authorization; /* Value of the header Authorization. Defaults to none. */
} kc__http_client_identity;

/* All strings are copied. */
typedef struct kc__http_client_request {
    const char *url;  /* https:// */
    bool get;         /* GET, without a body. Defaults to POST. */
    bool allow_plain; /* http:// is allowed, too: the operator chose the URL. */
    const kc__http_client_identity *identity; /* Defaults to none. */
    const char
        *connect_to;   /* "10.0.0.7:8443": address of the URL's host. Defaults to a DNS lookup. */
    kc_str body;       /* JSON; sent by POST. */
    kc_str ca;         /* PEM: the only trusted CA certificates. Defaults to the system's. */
    const char *agent; /* User-Agent. Defaults to none. */
    int64_t timeout;   /* For the whole exchange. Defaults to 10 s. */
    bool http2;        /* If the server supports it. Defaults to HTTP/1.1. */
    /* Maximum size of the response, at most KC__HTTP_CLIENT_MAX_RESPONSE, which is the default. */
    size_t max_response;
} kc__http_client_request;

enum { KC__HTTP_CLIENT_MAX_RESPONSE = 8 << 20 }; /* Maximum size of a response. */

/* The response. Valid during the callback. */
typedef struct kc__http_client_response {
    int status; /* 0: no response; `error` has the reason, worded as in Go's client. */
    kc_str type;
    kc_str body;
    const char *error; /* "dial tcp 127.0.0.1:1: connect: connection refused" */
} kc__http_client_response;

/* The status that client-go takes for success: 200 to 206. */
static inline bool kc__http_client_succeeded(const kc__http_client_response *response)
{
    return response->status >= 200 && response->status <= 206;
}

/* Called once, on the event loop. */
typedef void kc__http_client_done_fn(const kc__http_client_response *response, void *user);

/* The type of kc__http_client_send, for code whose tests replace it. `done` is called once, on the
 * loop, after the function has returned. */
typedef void kc__http_client_send_fn(kc__http_client *http_client,
                                     const kc__http_client_request *request, kc__loop *loop,
                                     kc__http_client_done_fn *done, void *user);

kc__http_client_send_fn kc__http_client_send;

#endif
