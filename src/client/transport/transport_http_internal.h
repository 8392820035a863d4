/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport_http_internal.h: shared by the files of the HTTP transport.
 *
 *     caller's thread                    driver
 *     open: transfer, handle, options
 *           kc__client_transport_loop_begin ────────────▶ curl_multi_add_handle
 *           waits                        header, write callbacks fill the transfer
 *           ◀──────────────────────────  publish
 *     read: takes the body, resume ────▶ curl_easy_pause
 *     close: end ──────────────────────▶ curl_multi_remove_handle
 *
 * A transport loop is a connection pool. Its driver is the caller itself while it waits, or the
 * loop's thread (http/client/curl_loop.h). Lock order: a transfer's mutex, then a loop's; neither
 * is held while calling out or into curl.
 */
#ifndef KC_CLIENT_TRANSPORT_HTTP_INTERNAL_H
#define KC_CLIENT_TRANSPORT_HTTP_INTERNAL_H

#include "http/client/curl_loop.h"
#include "kc/arena.h"
#include "kc/transport.h"
#include "kubeconfig/credentials.h"

#include <curl/curl.h>

/* Unread bytes of a body above which the sender is paused. */
#define KC__CLIENT_TRANSPORT_MAX_BUFFERED ((size_t)256 << 10)
/* Maximum size of a response head. */
#define KC__CLIENT_TRANSPORT_MAX_HEAD        ((size_t)256 << 10)
#define KC__CLIENT_TRANSPORT_MAX_HEAD_FIELDS 1000
/* Maximum size of a request target. */
#define KC__CLIENT_TRANSPORT_MAX_TARGET ((size_t)1 << 20)

typedef struct kc__client_transport_loop kc__client_transport_loop;
typedef struct kc__client_transport_transfer kc__client_transport_transfer;

/* ---- the transport ---- */

typedef struct kc__client_transport_http {
    kc_transport transport; /* First. */
    kc_config *config;      /* A copy. */
    const kc_clock *clock;
    kc__credentials *credentials;
    char *base; /* https://host:port/prefix */
    char *host; /* host:port, as in Host: */
    char *user_agent;
    struct curl_slist connect_to;   /* With tls-server-name: the address to connect to instead. */
    struct curl_slist *fixed;       /* Header lines of every request; */
    struct curl_slist *impersonate; /* the same with impersonation. May be equal. */
    kc_arena arena;                 /* Memory of these lines. */
    bool tls, loopback;
    long connect_timeout_ms;
    kc__client_transport_loop *quick; /* For requests with short responses; */
    kc__client_transport_loop *slow;  /* for lists and watches, see http.c. May be equal. */

    kc_mutex mutex;          /* Guards the fields below. Last in the lock order. */
    kc__credential *refused; /* The last credential with which a stream got a 401; NULL: none. */
} kc__client_transport_http;

/* A stream got a 401: the next stream fetches a newer credential. Any thread. */
void kc__client_transport_refuse_credential(kc__client_transport_http *http,
                                            kc__credential *credential);

/* ---- easy handles with the constant options (http_handle.c) ---- */

typedef struct kc__client_transport_handle {
    CURL *easy;
    kc__credential *credential; /* Its certificates are set in the handle. */
    char error[CURL_ERROR_SIZE];
} kc__client_transport_handle;

/* Creates a handle for a credential, for HTTP/1.1 or the version that the server offers. NULL if
 * out of memory. */
kc__client_transport_handle *kc__client_transport_handle_new(const kc__client_transport_http *http,
                                                             kc__credential *credential,
                                                             bool http1);
kc__client_transport_handle *kc__client_transport_handle_free(kc__client_transport_handle *handle);

/* ---- one request and its response ---- */

struct kc__client_transport_transfer {
    kc_http_response response;            /* First: the public part. */
    kc_ref refs;                          /* The caller's, one of the loop, one of its inbox. */
    kc_stream stream;                     /* Public part of a stream, with the next two fields. */
    const kc_stream_callbacks *callbacks; /* NULL: a response that is read. */
    void *stream_user;
    kc__client_transport_http *http;
    kc__client_transport_loop *loop;
    const char *method;
    int64_t deadline;
    kc_cancel *cancel; /* With a reference; may be NULL. */
    kc_cancel_hook hook;
    kc_arena arena; /* Strings of the request, header fields of the response. */

    /* Owned by the caller before START and after the head, by the driver in between. */
    kc__client_transport_handle *handle;
    kc__credential *credential;
    bool replayable; /* May be sent twice: it changes nothing. */
    bool requested_gzip;

    kc__curl_transfer transfer;

    /* Owned by the driver. */
    kc_dlist_link in_touched;
    KC_VEC(kc_http_field) fields;
    size_t head_bytes;
    unsigned attempts; /* How many times it was about to be sent. */
    bool gzip, refused_to_repeat, head_over;

    kc_mutex mutex; /* Guards the fields below. */
    kc_cond changed;
    bool head, done, cancelled, paused;
    CURLcode result; /* Valid if `done` is set. */
    char *why;       /* Valid if `done` is set, after a failure. */
    kc_buf filling;  /* Body bytes received and not taken. */

    kc_buf draining; /* Owned by the reader: bytes taken. */
    size_t drained;  /* Bytes of `draining` already read. */
};

/* Creates a transfer with one reference, the caller's, and hooks it to the request's
 * cancellation token, unless that has fired already. */
kc__client_transport_transfer *kc__client_transport_transfer_new(kc__client_transport_http *http,
                                                                 const kc_http_request *request);
kc__client_transport_transfer *kc__client_transport_transfer_unref(
    kc__client_transport_transfer *x);
/* Waits for the head. Returns 0 or an error; after an error the transfer is cancelled. */
int kc__client_transport_transfer_wait_head(kc__client_transport_transfer *x, kc_error *err);
ssize_t kc__client_transport_transfer_read(kc__client_transport_transfer *x, char *ret_bytes,
                                           size_t n, kc_error *err);
/* Stops the transfer in any state and drops the caller's reference. */
void kc__client_transport_transfer_close(kc__client_transport_transfer *x);

/* For the loop, on its driver: ends the transfer with curl's result. */
void kc__client_transport_transfer_finish(kc__client_transport_transfer *x, CURLcode result);

/* ---- streams (http_stream.c) ---- */

/* Before the start: passes the response to callbacks. */
void kc__client_transport_set_callbacks(kc__client_transport_transfer *x,
                                        const kc_stream_callbacks *callbacks, void *user);
/* On the loop's thread. The second returns what kc__client_transport_on_body must return. */
void kc__client_transport_tell_head(kc__client_transport_transfer *x);
size_t kc__client_transport_tell_body(kc__client_transport_transfer *x, kc_str bytes);
void kc__client_transport_tell_end(kc__client_transport_transfer *x);

/* Callbacks of curl, on the driver; `user` is the transfer. (http_response.c) */
size_t kc__client_transport_on_header(char *line, size_t size, size_t n, void *user);
size_t kc__client_transport_on_body(char *bytes, size_t size, size_t n, void *user);
int kc__client_transport_on_connect(void *user, char *remote, char *local, int remote_port,
                                    int local_port);

/* ---- requests (http_request.c) ---- */

/* Sets the options that differ from request to request. */
int kc__client_transport_transfer_prepare(kc__client_transport_transfer *x,
                                          const kc_http_request *request, kc_error *err);
/* Returns whether the response may be long and read slowly. */
bool kc__client_transport_request_is_slow(const kc_http_request *request);
/* Returns a node of a list of header lines, allocated in an arena. */
struct curl_slist *kc__client_transport_header_line(kc_arena *arena, kc_str name, kc_str value,
                                                    struct curl_slist *next);

/* ---- errors (http_error.c) ---- */

/* Error of a transfer that is done, with a result other than CURLE_OK. Returns a negative value. */
int kc__client_transport_transfer_error(const kc__client_transport_transfer *x, kc_error *err);

/* ---- transport loops (loop.c) ---- */

/* Never NULL. */
kc__client_transport_loop *kc__client_transport_loop_new(const char *name, bool http1,
                                                         int max_connections);
/* All transfers must be closed. NULL is allowed; returns NULL. */
kc__client_transport_loop *kc__client_transport_loop_free(kc__client_transport_loop *loop);
bool kc__client_transport_loop_is_http1(const kc__client_transport_loop *loop);
/* Starts a transfer that has a handle; the others resume and end it. Any thread; none blocks. */
int kc__client_transport_loop_begin(kc__client_transport_loop *loop,
                                    kc__client_transport_transfer *x, kc_error *err);
void kc__client_transport_loop_resume(kc__client_transport_loop *loop,
                                      kc__client_transport_transfer *x);
void kc__client_transport_loop_end(kc__client_transport_loop *loop,
                                   kc__client_transport_transfer *x);
/* Makes the driver run a turn. Any thread. */
void kc__client_transport_loop_wake(kc__client_transport_loop *loop);
/* As kc__curl_loop_enter, _turn, _sleep and _leave, for the thread that waits for the transfer; the
 * deadline is in real time. A transfer that needs the thread cannot enter. */
bool kc__client_transport_loop_enter(kc__client_transport_loop *loop,
                                     const kc__client_transport_transfer *x);
bool kc__client_transport_loop_turn(kc__client_transport_loop *loop);
void kc__client_transport_loop_sleep(kc__client_transport_loop *loop, int64_t deadline);
void kc__client_transport_loop_leave(kc__client_transport_loop *loop,
                                     const kc__client_transport_transfer *x);
/* On the driver: wakes the waiter of the transfer at the end of this turn. */
void kc__client_transport_loop_touch(kc__client_transport_loop *loop,
                                     kc__client_transport_transfer *x);
/* Returns an unused handle that was made for the same credential, or NULL. Any thread. */
kc__client_transport_handle *kc__client_transport_loop_take_handle(
    kc__client_transport_loop *loop, const kc__credential *credential);
/* Returns a handle for reuse. Any thread. */
void kc__client_transport_loop_put_handle(kc__client_transport_loop *loop,
                                          kc__client_transport_handle *handle);

#endif
