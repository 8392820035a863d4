/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.h: how requests get to a server: over HTTP, or to one in the same process.
 *
 *     kc_auto(kc_transport) *t = kc_transport_http_new(config, &(kc_transport_http_opts){0}, err);
 *     kc_http_response *r = kc_transport_open(t, &(kc_http_request){
 *         .method = "GET", .target = KC_STR("/api/v1/pods")}, err);
 *     while ((n = kc_http_read(r, chunk, sizeof(chunk), err)) > 0)
 *         …
 *     kc_http_close(r);
 *
 * Those who write controllers never see one: they give a client (client.h) a configuration. It is
 * a contract so that an embedded server, and faults in tests, can stand in its place.
 *
 * A transport takes any number of requests from any number of threads at a time. A response is read
 * by one thread. Reading is pulling: a body that nobody reads stops its sender after some hundred
 * kilobytes.
 */
#ifndef KC_TRANSPORT_H
#define KC_TRANSPORT_H

#include "kc/cancel.h"
#include "kc/kubeconfig.h"
#include "kc/metrics.h"

typedef struct kc_http_field {
    kc_str name, value;
} kc_http_field;

typedef struct kc_http_request {
    const char *method;
    kc_str target; /* Path and query, escaped. */
    const kc_http_field *fields;
    size_t n_fields;
    kc_str body; /* Is the caller's until kc_transport_open returns. */
    int64_t
        deadline; /* For everything up to the end of the body, in the transport's clock. 0: none. */
    kc_cancel *cancel; /* Ends open and read early. Defaults to none. */
} kc_http_request;

typedef struct kc_transport kc_transport;
typedef struct kc_transport_ops kc_transport_ops;

/* Implementations embed these two as their first member. */
struct kc_transport {
    const kc_transport_ops *ops;
};

typedef struct kc_http_response {
    const kc_transport_ops *ops;
    int status;
    const kc_http_field *fields; /* Names in lower case. */
    size_t n_fields;
    /* Set by who reads, at any time between reads: when it passes and nothing has come, read fails
     * with KC_TIMEOUT, nothing is lost, and may be called again. 0: none. For watches. */
    int64_t read_deadline;
} kc_http_response;

/*
 * The contract. Errors are those of the way, not of the server: KC_SERVICE_UNAVAILABLE when it
 * could not be reached (code 0: nothing was sent, so that the request surely was not carried out)
 * or the connection broke (code 503: it may have been), KC_TIMEOUT when the deadline passed or it
 * was cancelled, KC_UNAUTHORIZED when there are no credentials to send, KC_BAD_REQUEST for what is
 * no request. An answer of any status is a success.
 */
struct kc_transport_ops {
    /* Sends a request and blocks until the head of the answer is there. NULL on error. */
    kc_http_response *(*open)(kc_transport *t, const kc_http_request *request, kc_error *err);
    /* Up to n bytes of the body, as soon as there are any; 0 at its end; negative on error. */
    ssize_t (*read)(kc_http_response *response, char *ret_bytes, size_t n, kc_error *err);
    /* Ends the response, wherever it is, and frees it. */
    void (*close)(kc_http_response *response);
    /* All responses are closed. */
    void (*free)(kc_transport *t);
};

kc_http_response *kc_transport_open(kc_transport *t, const kc_http_request *request, kc_error *err);
ssize_t kc_http_read(kc_http_response *response, char *ret_bytes, size_t n, kc_error *err);
/* NULL is allowed; returns NULL. */
kc_http_response *kc_http_close(kc_http_response *response);
KC_AUTO_DEFINE(kc_http_response, kc_http_close)
/* The first value of a field (`name` in lower case), empty without one; lives as the response. */
kc_str kc_http_field_of(const kc_http_response *response, kc_str name);
/*
 * All of it in one call: appends the whole body to `out` and gives the status, or negative, as
 * above; KC_TOO_LARGE when the body is longer than the limit of `out`. For services of others:
 *
 *     kc_scoped(kc_buf) body = {.limit = 1 << 20};
 *     int status = kc_http_fetch(t, &(kc_http_request){.method = "GET", …}, &body, err);
 */
int kc_http_fetch(kc_transport *t, const kc_http_request *request, kc_buf *out, kc_error *err);
/* NULL is allowed; returns NULL. */
kc_transport *kc_transport_free(kc_transport *t);
KC_AUTO_DEFINE(kc_transport, kc_transport_free)

typedef struct kc_transport_http_opts {
    const kc_clock *clock;   /* Defaults to the real one. */
    const char *user_agent;  /* Defaults to the program's name. */
    int64_t connect_timeout; /* Defaults to 30 s. */
    /* To the server; what needs another one waits. Defaults to 16 with HTTP/2, which needs one or
     * two, and to 1024 with HTTP/1.1, where each watch takes one. */
    int max_connections;
    bool http1;          /* Do not try HTTP/2. */
    kc_metrics *metrics; /* Runs of exec plugins. Defaults to none. */
} kc_transport_http_opts;

/*
 * Over HTTP or HTTPS as the configuration says: one pool of connections, one thread that moves the
 * bytes, HTTP/2 over TLS where the server has it. Credentials that change (token files, exec
 * plugins, certificates) are read again when they expire or are refused. A GET may be sent twice
 * when a kept connection turns out to be dead; nothing else is, unless it was answered with 401 and
 * there are newer credentials. Both arguments are copied; opts may be NULL. The clock and the
 * metrics must outlive it.
 */
kc_transport *kc_transport_http_new(const kc_config *config, const kc_transport_http_opts *opts,
                                    kc_error *err);

#endif
