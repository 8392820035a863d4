/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.h: sends requests to an API server: over HTTP, or to a server in the same process.
 *
 * Programs that write controllers do not use a transport: they give a client (client.h) a
 * configuration. The interface is public so that an embedded server, or faults in tests, can take
 * the place of HTTP.
 *
 * A transport has two calls. The blocking call (kc_transport_open) is for reconcilers and tools:
 *
 *     kc_auto(kc_transport) *t = kc_transport_http_new(config, &(kc_transport_http_opts){0}, err);
 *     kc_http_response *r = kc_transport_open(t, &(kc_http_request){
 *         .method = "GET", .target = KC_STR("/api/v1/pods")}, err);
 *     char chunk[4096];
 *     ssize_t n;
 *     while ((n = kc_http_response_read(r, chunk, sizeof(chunk), err)) > 0)
 *         …
 *     kc_http_response_close(r);
 *
 * The event-driven call (kc_transport_start) is for caches, which keep a watch open for each kind
 * and must not hold a thread for it:
 *
 *     static const kc_stream_callbacks callbacks = {on_head, on_body, on_object, on_end};
 *     kc_stream *s = kc_transport_start(t, &request, &callbacks, user, err);
 *     …
 *     kc_stream_cancel(s);        on_end follows, soon; and then, on a thread of the caller:
 *     kc_stream_release(s);
 *
 * A transport takes any number of requests from any number of threads at a time. Both calls have
 * back-pressure: a body that is not read (blocking), or a stream that is paused, stops its sender
 * after some hundred kilobytes.
 */
#ifndef KC_TRANSPORT_H
#define KC_TRANSPORT_H

#include "kc/cancel.h"
#include "kc/kubeconfig.h"
#include "kc/metrics.h"
#include "kc/object.h"

typedef struct kc_http_field {
    kc_str name, value;
} kc_http_field;

/* A user that a client acts as. */
typedef struct kc_client_user {
    const char *name;
    const char *const *groups; /* Ends with NULL. NULL: none. */
} kc_client_user;

typedef struct kc_http_request {
    const char *method;
    kc_str target; /* Path and query, escaped. */
    const kc_http_field *fields;
    size_t n_fields;
    kc_str body; /* Is the caller's until kc_transport_open returns. */
    int64_t
        deadline; /* For everything up to the end of the body, in the transport's clock. 0: none. */
    kc_cancel *cancel; /* Ends open and read early. Defaults to none. */
    /* For kc_transport_start: the response may come as objects (on_object) instead of bytes. A
     * transport over a network ignores it. */
    bool takes_objects;
    /* The user of the request instead of the transport's own. An embedded server accepts it; over
     * HTTP the request has the header Impersonate-User, for which the own user needs the
     * permission. Must live until the end of the request. Defaults to the transport's own. */
    const kc_client_user *as;
} kc_http_request;

typedef struct kc_transport kc_transport;
typedef struct kc_transport_ops kc_transport_ops;

/* Implementations embed these as their first member. */
struct kc_transport {
    const kc_transport_ops *ops;
};

typedef struct kc_http_response {
    const kc_transport_ops *ops;
    int status;
    const kc_http_field *fields; /* Names in lower case. */
    size_t n_fields;
    /* The reader may set it between reads: if it passes before any data arrives, read fails with
     * KC_TIMEOUT; nothing is lost, and read may be called again. 0: none. For watches. */
    int64_t read_deadline;
} kc_http_response;

/* ---- streams ---- */

/* What an object of a stream is. The first four are events of a watch. */
typedef enum kc_stream_item {
    KC_STREAM_ADDED,
    KC_STREAM_MODIFIED,
    KC_STREAM_DELETED,
    KC_STREAM_BOOKMARK, /* Only kind, apiVersion, resourceVersion and perhaps annotations are set.
                         */
    KC_STREAM_ERROR,    /* The object is a Status; the watch ends. */
    KC_STREAM_LISTED,   /* An item of a list. It has its kind and apiVersion. */
    KC_STREAM_LIST_END, /* The list without its items: resourceVersion, continue and so on. */
} kc_stream_item;

/* Implementations embed it as their first member. */
typedef struct kc_stream kc_stream;

/*
 * Callbacks of a stream run one at a time, in order, on a thread of the transport that serves other
 * streams too: the transport's thread for HTTP, a loop of the server in the same process. A
 * callback must not block; it queues what it gets and returns. It may resume and cancel streams.
 * The first callback may run before kc_transport_start returns.
 *
 *   on_head ─▶ (on_body | on_object)* ─▶ on_end
 *
 * on_end comes exactly once, whatever happens; nothing comes after it. Without a head (the server
 * was not reached, or the stream was cancelled) it comes alone.
 */
typedef struct kc_stream_callbacks {
    /* The head of the response, of any status. It is valid during the call and may be used
     * with kc_http_response_field only. */
    void (*on_head)(kc_stream *stream, const kc_http_response *head, void *user);
    /* A piece of the body, valid during the call. False pauses the stream: after what the transport
     * has at hand (64 KiB at most) no on_body and no on_object until kc_stream_resume. */
    bool (*on_body)(kc_stream *stream, kc_str bytes, void *user);
    /* One object, for a request that takes objects, in place of body bytes. A response has either
     * objects or bytes: a request that takes objects must be ready for both (a failure is a Status
     * in bytes; some responses exist only as bytes). The object is shared with the server and never
     * changes; the callback keeps it with kc_object_ref. The result is that of on_body. */
    bool (*on_object)(kc_stream *stream, kc_stream_item item, const kc_object *object, void *user);
    /* The end: `err` is NULL after a complete response, an error as kc_http_response_read sets it
     * otherwise, KC_TIMEOUT ("cancelled") after kc_stream_cancel. */
    void (*on_end)(kc_stream *stream, const kc_error *err, void *user);
} kc_stream_callbacks;

typedef struct kc_stream_ops {
    void (*resume)(kc_stream *stream);
    void (*cancel)(kc_stream *stream);
    void (*release)(kc_stream *stream);
} kc_stream_ops;

struct kc_stream {
    const kc_stream_ops *ops;
};

/*
 * The contract. Errors are transport errors, not those of the server: KC_SERVICE_UNAVAILABLE when
 * the server could not be reached (code 0: nothing was sent, so the request was certainly not
 * executed) or the connection broke (code 503: it may have been executed), KC_TIMEOUT after the
 * deadline or cancellation, KC_UNAUTHORIZED without credentials, KC_BAD_REQUEST for an invalid
 * request. A response of any status is a success.
 */
struct kc_transport_ops {
    /* Sends a request and blocks until the response headers arrive. NULL on error. */
    kc_http_response *(*open)(kc_transport *t, const kc_http_request *request, kc_error *err);
    /* Reads up to n bytes of the body as soon as any are available; 0 at its end; negative on
     * error. */
    ssize_t (*read)(kc_http_response *response, char *ret_bytes, size_t n, kc_error *err);
    /* Ends the response in any state, and frees it. */
    void (*close)(kc_http_response *response);
    /* All responses are closed; all streams have ended and are released. */
    void (*free)(kc_transport *t);
    /* Starts a request whose response comes by callbacks. Does not block, but for credentials that
     * must be made first. NULL on error; then no callback is called. Streams keep no deadline and
     * ignore the request's `deadline` and `cancel`: their owner has a timer and cancels. NULL in
     * the table: kc_transport_start calls open and read on a thread made for the stream. */
    kc_stream *(*start)(kc_transport *t, const kc_http_request *request,
                        const kc_stream_callbacks *callbacks, void *user, kc_error *err);
};

/*
 * The event-driven call. The request may be freed when it returns; callbacks and `user` must live
 * until on_end has returned. The caller owns the handle and releases it after the end.
 */
kc_stream *kc_transport_start(kc_transport *t, const kc_http_request *request,
                              const kc_stream_callbacks *callbacks, void *user, kc_error *err);
/* After a callback that returned false. Any thread; harmless when the stream is not paused. */
void kc_stream_resume(kc_stream *stream);
/* Ends the stream early: on_end comes soon, on the transport's thread. Any thread, any number of
 * times, until the release; harmless after the end. Does not wait. */
void kc_stream_cancel(kc_stream *stream);
/* Frees a stream whose on_end has been called. Not from within a callback of the stream; waits
 * until on_end has returned. NULL is allowed; returns NULL. */
kc_stream *kc_stream_release(kc_stream *stream);

kc_http_response *kc_transport_open(kc_transport *t, const kc_http_request *request, kc_error *err);
ssize_t kc_http_response_read(kc_http_response *response, char *ret_bytes, size_t n, kc_error *err);
/* NULL is allowed; returns NULL. */
kc_http_response *kc_http_response_close(kc_http_response *response);
KC_AUTO_DEFINE(kc_http_response, kc_http_response_close)
/* The first value of a header (`name` in lower case), empty if absent; lives as long as the
 * response. */
kc_str kc_http_response_field(const kc_http_response *response, kc_str name);
/*
 * Sends a request, appends the whole body to `out`, and returns the status, or a negative number as
 * above; KC_TOO_LARGE when the body exceeds the limit of `out`. For other services:
 *
 *     kc_scoped(kc_buf) body = {.limit = 1 << 20};
 *     int status = kc_http_request_send(t, &(kc_http_request){.method = "GET", …}, &body, err);
 */
int kc_http_request_send(kc_transport *t, const kc_http_request *request, kc_buf *out,
                         kc_error *err);
/* NULL is allowed; returns NULL. */
kc_transport *kc_transport_free(kc_transport *t);
KC_AUTO_DEFINE(kc_transport, kc_transport_free)

typedef struct kc_transport_http_opts {
    const kc_clock *clock;   /* Defaults to the real one. */
    const char *user_agent;  /* Defaults to the program's name. */
    int64_t connect_timeout; /* Defaults to 30 s. */
    /* To the server; further requests wait. Defaults to 16 with HTTP/2, which needs one or two, and
     * to 1024 with HTTP/1.1, where each watch takes one. */
    int max_connections;
    bool http1;          /* Disable HTTP/2. */
    kc_metrics *metrics; /* For runs of exec plugins. Defaults to none. */
} kc_transport_http_opts;

/*
 * HTTP or HTTPS as configured: one connection pool, HTTP/2 over TLS if the server supports it. I/O
 * runs on the thread of a caller that waits or, for streams and concurrent requests, on one thread
 * of the transport, which starts when it is needed. Changing credentials (token files, exec
 * plugins, certificates) are reloaded when they expire or are rejected. A GET may be sent twice if
 * a kept-alive connection turns out to be dead; other requests only after a 401, with newer
 * credentials. Copies both arguments; opts may be NULL. The clock and the metrics must outlive the
 * transport.
 */
kc_transport *kc_transport_http_new(const kc_config *config, const kc_transport_http_opts *opts,
                                    kc_error *err);

#endif
