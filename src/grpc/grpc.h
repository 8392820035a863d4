/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grpc.h: a gRPC client: unary calls and bidirectional streams over HTTP/2.
 *
 *     kc__grpc_channel *channel = kc__grpc_channel_open(&(kc__grpc_channel_opts){
 *         .endpoints = urls, .n_endpoints = 3, .tls = {.ca_file = ca}}, err);
 *     kc__grpc_call *call = kc__grpc_call_start(channel, &(kc__grpc_call_opts){
 *         .method = "/etcdserverpb.KV/Range", .request = bytes, .deadline = deadline,
 *         .done = answered, .user = list});
 *     kc__grpc_call_unref(call);                           unless it may be cancelled later
 *     …
 *     static void answered(kc__grpc_reply *reply, void *user)      on the channel's thread
 *
 * A channel holds at most one connection to each of its endpoints, and one thread that runs all of
 * them. It connects in the background and reconnects with exponential backoff; calls and streams
 * are spread over the connected endpoints in turn.
 *
 * Messages are bytes: encoding and decoding of protocol buffers is the caller's work. All functions
 * may be called from any thread, also from callbacks, unless stated otherwise; none of them blocks,
 * unless stated otherwise. Callbacks run on the channel's thread and must not block.
 */
#ifndef KC_GRPC_GRPC_H
#define KC_GRPC_GRPC_H

#include "kc/buf.h"
#include "kc/cancel.h"
#include "kc/clock.h"
#include "kc/error.h"
#include "kc/log.h"
#include "kc/metrics.h"

/* ---- status ---- */

/* The status codes of gRPC: name, number. */
#define KC__GRPC_CODES(X)     \
    X(OK, 0)                  \
    X(CANCELLED, 1)           \
    X(UNKNOWN, 2)             \
    X(INVALID_ARGUMENT, 3)    \
    X(DEADLINE_EXCEEDED, 4)   \
    X(NOT_FOUND, 5)           \
    X(ALREADY_EXISTS, 6)      \
    X(PERMISSION_DENIED, 7)   \
    X(RESOURCE_EXHAUSTED, 8)  \
    X(FAILED_PRECONDITION, 9) \
    X(ABORTED, 10)            \
    X(OUT_OF_RANGE, 11)       \
    X(UNIMPLEMENTED, 12)      \
    X(INTERNAL, 13)           \
    X(UNAVAILABLE, 14)        \
    X(DATA_LOSS, 15)          \
    X(UNAUTHENTICATED, 16)

typedef enum kc__grpc_code {
#define KC__GRPC_CODE_ENUM(name, number) KC__GRPC_##name = number,
    KC__GRPC_CODES(KC__GRPC_CODE_ENUM)
#undef KC__GRPC_CODE_ENUM
} kc__grpc_code;

/* "UNAVAILABLE". */
const char *kc__grpc_code_text(kc__grpc_code code);

/* How a call or a stream ended. */
typedef struct kc__grpc_status {
    kc__grpc_code code;
    char *message; /* From the server, or the reason that the channel found. Never NULL. */
    /* The server certainly did not process the request. False if it did, or may have done so. */
    bool unsent;
} kc__grpc_status;

/* ---- channel ---- */

typedef struct kc__grpc_channel kc__grpc_channel;

typedef struct kc__grpc_metadata {
    const char *name; /* Lower case. */
    kc_str value;
} kc__grpc_metadata;

/* Of https endpoints. The files are read for each connection, so renewed ones take effect. */
typedef struct kc__grpc_tls {
    const char *ca_file;              /* PEM. Defaults to the CAs of the system. */
    const char *cert_file, *key_file; /* PEM. Default to no client certificate. */
    const char *server_name;          /* To verify. Defaults to the host of the endpoint. */
} kc__grpc_tls;

/* Everything is copied, except what is marked as borrowed. */
typedef struct kc__grpc_channel_opts {
    const char *const *endpoints; /* "https://10.0.0.7:2379", "http://[::1]:2379". */
    size_t n_endpoints;           /* At least 1. */
    kc__grpc_tls tls;
    /* A PING after this time without a received byte, while calls or streams are open. Defaults to
     * 10 s. */
    int64_t keepalive_time;
    int64_t keepalive_timeout; /* Closes a connection without an answer. Defaults to 10 s. */
    /* A PING earlier, while a call waits: after this time without a received byte, at most every
     * 5 s. Calls prefer endpoints without an unanswered PING; idempotent ones move to them.
     * Defaults to no such PING. */
    int64_t probe_after;
    int64_t connect_timeout; /* With TLS and the HTTP/2 settings. Defaults to 5 s. */
    int64_t max_backoff;     /* Between attempts to connect. Defaults to 5 s. */
    size_t max_receive;      /* Maximum size of a received message. Defaults to 16 MiB. */
    const char *user_agent;  /* Defaults to "kc-grpc". */
    const char *authority;   /* Defaults to host and port of the endpoint. */
    const kc_clock *clock;   /* Of deadlines; borrowed. Defaults to the real one. */
    kc_log *log;             /* Borrowed. Defaults to none. */
    kc_metrics *metrics;     /* Borrowed. Defaults to none. */
} kc__grpc_channel_opts;

/* Starts to connect to all endpoints; does not wait for it. NULL on error: an invalid URL, or TLS
 * files that cannot be used. */
kc__grpc_channel *kc__grpc_channel_open(const kc__grpc_channel_opts *opts, kc_error *err);
/* Ends all calls and streams with CANCELLED, and every later one at once. */
void kc__grpc_channel_shutdown(kc__grpc_channel *channel);
/* The same, and blocks until all callbacks have run. Not from a callback. No other thread may use
 * the channel any more; handles of calls and streams may still be unreferenced. NULL is allowed;
 * returns NULL. */
kc__grpc_channel *kc__grpc_channel_free(kc__grpc_channel *channel);
KC_AUTO_DEFINE(kc__grpc_channel, kc__grpc_channel_free)

/* Sets a field that all later calls and streams send, such as "authorization" or "token"; an empty
 * value removes it. False, without a change, if a field of HTTP cannot have this name or value. */
bool kc__grpc_channel_set_metadata(kc__grpc_channel *channel, const char *name, kc_str value);
/* The number of endpoints that are connected now. No caller yet. */
size_t kc__grpc_channel_connected(const kc__grpc_channel *channel);

/* ---- unary calls ---- */

typedef struct kc__grpc_call kc__grpc_call; /* Reference-counted. */

typedef struct kc__grpc_reply {
    kc__grpc_status status;
    kc_buf response; /* The message; empty unless the status is OK. */
} kc__grpc_reply;

/* Frees the contents. */
void kc__grpc_reply_done(kc__grpc_reply *reply);

/* Called once. The callback may move `response` out of the reply, which is freed afterwards. */
typedef void kc__grpc_done_fn(kc__grpc_reply *reply, void *user);

/* Everything is copied. */
typedef struct kc__grpc_call_opts {
    const char *method; /* "/etcdserverpb.KV/Range". */
    kc_str request;
    int64_t deadline; /* Monotonic, of the channel's clock. Defaults to none. */
    /* Wait for a connection until the deadline. Defaults to failing with UNAVAILABLE when no
     * endpoint can be reached. */
    bool wait_for_ready;
    /* The server may process the request twice: it is sent again after a lost connection, too.
     * Other requests are sent again only if no server has processed them. */
    bool idempotent;
    /* Of an idempotent one: a server should answer at once. It moves to another endpoint after
     * twice the channel's probe_after without an answer, although its connection is alive. */
    bool quick;
    const kc__grpc_metadata *metadata; /* In addition to the channel's. Defaults to none. */
    size_t n_metadata;
    kc__grpc_done_fn *done;
    void *user;
} kc__grpc_call_opts;

/* Starts a call. Never NULL: every failure is a status. The caller unreferences the result; that
 * does not cancel the call. */
kc__grpc_call *kc__grpc_call_start(kc__grpc_channel *channel, const kc__grpc_call_opts *opts);
/* Ends the call with CANCELLED, unless it has ended. `done` is called in either case. */
void kc__grpc_call_cancel(kc__grpc_call *call);
/* NULL is allowed; returns NULL. */
kc__grpc_call *kc__grpc_call_unref(kc__grpc_call *call);
KC_AUTO_DEFINE(kc__grpc_call, kc__grpc_call_unref)

/* Starts a call and blocks until it ends, with CANCELLED if the token (may be NULL) fires first.
 * Not from a callback. `done` and `user` are ignored. The caller frees the contents of the reply,
 * which is set in every case. No caller yet. */
void kc__grpc_call_wait(kc__grpc_channel *channel, const kc__grpc_call_opts *opts,
                        kc_cancel *cancel, kc__grpc_reply *ret_reply);

/* ---- bidirectional streams ---- */

typedef struct kc__grpc_stream kc__grpc_stream; /* Reference-counted. */

/* Everything is copied. */
typedef struct kc__grpc_stream_opts {
    const char *method;
    bool wait_for_ready;               /* As for calls; without a limit of time. */
    const kc__grpc_metadata *metadata; /* In addition to the channel's. Defaults to none. */
    size_t n_metadata;
    size_t max_queued; /* Maximum of the bytes that wait to be sent. Defaults to 4 MiB. */
    /* The server has accepted the stream. Defaults to no callback. */
    void (*opened)(void *user);
    /* A message, valid during the callback. */
    void (*message)(kc_str message, void *user);
    /* The stream has ended; the last callback, called exactly once. The status is valid during the
     * callback. */
    void (*closed)(const kc__grpc_status *status, void *user);
    void *user;
} kc__grpc_stream_opts;

/* Opens a stream. Never NULL: every failure is the status of `closed`. The caller unreferences the
 * result; that does not end the stream. A stream is never opened again: that is the caller's
 * decision. */
kc__grpc_stream *kc__grpc_stream_open(kc__grpc_channel *channel, const kc__grpc_stream_opts *opts);
/* Queues a message, also before the stream is connected; messages are sent in this order. Fails
 * with KC_TOO_MANY_REQUESTS if more than max_queued bytes would wait (one message is always
 * accepted by an empty queue), with KC_GONE after close_send or the end of the stream. */
int kc__grpc_stream_send(kc__grpc_stream *stream, kc_str message, kc_error *err);
/* Half-closes the stream: the server sees its end after the queued messages. */
void kc__grpc_stream_close_send(kc__grpc_stream *stream);
/* Ends the stream with CANCELLED, unless it has ended. */
void kc__grpc_stream_cancel(kc__grpc_stream *stream);
/* Stops delivering messages. Called from `message`: before the next one. The server is stopped by
 * flow control once the stream's receive window (KC__GRPC_STREAM_WINDOW) is full; other streams and
 * calls are not affected. */
void kc__grpc_stream_pause(kc__grpc_stream *stream);
void kc__grpc_stream_resume(kc__grpc_stream *stream);
/* NULL is allowed; returns NULL. */
kc__grpc_stream *kc__grpc_stream_unref(kc__grpc_stream *stream);
KC_AUTO_DEFINE(kc__grpc_stream, kc__grpc_stream_unref)

/* Bytes that a server may send on a stream before they are consumed. */
#define KC__GRPC_STREAM_WINDOW (1 << 20)

#endif
