/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grpc_internal.h: shared by the files of the channel.
 *
 *     channel.c      open, shutdown, metadata; which endpoint a call is sent to
 *     endpoint.c     one server: its connection, backoff
 *     connection.c   one connection: connecting, settings, keepalive, input and output
 *     resolve.c      addresses of a host
 *     socket.c       a socket, plain or TLS
 *     tls_client.c   TLS settings
 *     metadata.c     fields that callers add to requests
 *     rpc.c          what calls and streams have in common: attempts, deadline, cancellation
 *     call.c         unary calls
 *     stream.c       bidirectional streams
 *
 * Below them is HTTP/2 without sockets (session.h). Everything belongs to the channel's thread
 * unless its comment says otherwise.
 */
#ifndef KC_GRPC_INTERNAL_H
#define KC_GRPC_INTERNAL_H

#include "grpc/session.h"
#include "http/loop/loop.h"
#include "kc/rand.h"
#include "kc/ref.h"

#include <openssl/bio.h>

typedef struct kc__grpc_endpoint kc__grpc_endpoint;
typedef struct kc__grpc_connection kc__grpc_connection;
typedef struct kc__grpc_rpc kc__grpc_rpc;

/* ---- endpoint.c ---- */

/* An endpoint is ready (its connection is), connecting, or in backoff (no connection). */
struct kc__grpc_endpoint {
    kc__grpc_channel *channel;
    char *url;
    bool tls;
    char *host, *port;
    char *authority;                 /* Of requests. */
    kc__grpc_connection *connection; /* NULL: in backoff. */
    kc__loop_timer retry;
    int64_t backoff;   /* The previous one; 0: none. */
    bool counted;      /* In channel->connected. */
    kc_buf last_error; /* Why it was disconnected last. */
};

/* Parses an URL. KC_INVALID if it is none of http or https with a host. */
int kc__grpc_endpoint_parse(kc__grpc_endpoint *endpoint, const char *url, kc_error *err);
void kc__grpc_endpoint_done(kc__grpc_endpoint *endpoint);
void kc__grpc_endpoint_connect(kc__grpc_endpoint *endpoint);
/* Its connection may be used. */
void kc__grpc_endpoint_ready(kc__grpc_endpoint *endpoint);
/* Its connection failed, or drains: the endpoint has none now and connects again, at once if the
 * connection has been useful for a while. */
void kc__grpc_endpoint_lost(kc__grpc_endpoint *endpoint, bool was_useful, const char *reason);
/* Stops connecting. Its connection is closed by the caller. */
void kc__grpc_endpoint_stop(kc__grpc_endpoint *endpoint);
bool kc__grpc_endpoint_is_ready(const kc__grpc_endpoint *endpoint);
/* Of a ready one: no PING is unanswered. */
bool kc__grpc_endpoint_responds(const kc__grpc_endpoint *endpoint);

/* ---- connection.c ---- */

/* Connects; the result is kc__grpc_endpoint_ready or kc__grpc_endpoint_lost, never at once. */
kc__grpc_connection *kc__grpc_connection_open(kc__grpc_endpoint *endpoint);
/* Closes at once and frees the connection later; its exchanges are lost. Does not call the
 * endpoint. */
void kc__grpc_connection_close(kc__grpc_connection *connection, const char *reason);
/* The same for all connections of a channel, those that drain included. */
void kc__grpc_connection_close_all(kc__grpc_channel *channel, const char *reason);
bool kc__grpc_connection_is_ready(const kc__grpc_connection *connection);
/* Returns whether a PING is unanswered. */
bool kc__grpc_connection_is_silent(const kc__grpc_connection *connection);
/* A call waits for its response: sends a PING if nothing was received for probe_after. Returns
 * whether one is unanswered for that long. */
bool kc__grpc_connection_probe(kc__grpc_session *session);
/* Starts an exchange. False if the connection accepts no more. */
bool kc__grpc_connection_begin(kc__grpc_connection *connection, kc__grpc_exchange *exchange,
                               const nghttp2_nv *fields, size_t n_fields);
/* Sends what the session of an exchange has queued since, before the loop sleeps. */
void kc__grpc_connection_flush(kc__grpc_session *session);

/* ---- rpc.c ---- */

typedef enum kc__grpc_rpc_state {
    KC__GRPC_RPC_NEW,     /* Not yet seen by the channel's thread. */
    KC__GRPC_RPC_WAITING, /* For an endpoint. */
    KC__GRPC_RPC_SENT,    /* Its exchange is on a connection, or has held messages. */
    KC__GRPC_RPC_ENDED,
} kc__grpc_rpc_state;

/* What a call and a stream do differently. */
typedef struct kc__grpc_rpc_kind {
    kc__grpc_exchange_ops exchange; /* `read` and `closed` are kc__grpc_rpc_…. */
    /* Prepares another attempt: forgets what was received. False if that is not possible. */
    bool (*rewind)(kc__grpc_rpc *rpc);
    /* The task has run. Defaults to nothing. */
    void (*woken)(kc__grpc_rpc *rpc);
    /* The last callback. The status is the rpc's. */
    void (*ended)(kc__grpc_rpc *rpc, kc__grpc_status *status);
    void (*free)(kc__grpc_rpc *rpc);
} kc__grpc_rpc_kind;

typedef struct kc__grpc_rpc_opts {
    const char *method;
    int64_t deadline;
    bool wait_for_ready, idempotent, quick;
    const kc__grpc_metadata *metadata;
    size_t n_metadata;
} kc__grpc_rpc_opts;

/* A field of a request, with its own copies. */
typedef struct kc__grpc_field {
    char *name, *value;
    size_t n_value;
} kc__grpc_field;

typedef KC_VEC(kc__grpc_field) kc__grpc_fields;

/* ---- metadata.c ---- */

/* Returns whether a caller may set this field. */
bool kc__grpc_field_is_valid(const char *name, kc_str value);
/* Replaces the field of that name, or appends one; an empty value removes it. */
void kc__grpc_fields_set(kc__grpc_fields *fields, const char *name, kc_str value);
void kc__grpc_fields_append(kc__grpc_fields *fields, const char *name, kc_str value);
void kc__grpc_fields_done(kc__grpc_fields *fields);

struct kc__grpc_rpc {
    kc__grpc_exchange exchange; /* First. */
    kc_ref refs;                /* The caller's, the channel's until it has ended, the task's. */
    kc__grpc_channel *channel;
    const kc__grpc_rpc_kind *kind;
    kc__grpc_rpc_state state;
    kc_dlist_link link;    /* In channel->rpcs, until it has ended. */
    kc_dlist_link waiting; /* In channel->waiting. */

    kc__loop_task task;
    _Atomic bool posted;    /* Any thread. */
    _Atomic bool over;      /* It has ended: the task is not posted any more. Any thread. */
    _Atomic bool cancelled; /* Any thread. */
    kc__loop_timer timer;
    int64_t deadline; /* KC_FOREVER: none. */
    bool wait_for_ready, idempotent, quick;
    unsigned attempts;
    int64_t dispatched;            /* When the last attempt began; kept for quick ones only. */
    bool processed;                /* The server of an earlier attempt may have processed it. */
    const kc__grpc_endpoint *last; /* Of the previous attempt. */

    char *method;
    kc__grpc_fields metadata;
    kc_buf out; /* What is sent, from out_at on. */
    size_t out_at;
    bool out_end; /* Nothing follows. */
};

void kc__grpc_rpc_init(kc__grpc_rpc *rpc, kc__grpc_channel *channel, const kc__grpc_rpc_kind *kind,
                       const kc__grpc_rpc_opts *opts);
kc__grpc_rpc *kc__grpc_rpc_unref(kc__grpc_rpc *rpc);
/* Runs the task of the rpc on the channel's thread. Any thread. */
void kc__grpc_rpc_wake(kc__grpc_rpc *rpc);
/* Any thread. */
void kc__grpc_rpc_cancel(kc__grpc_rpc *rpc);
/* Ends it, unless it has ended, with a status that is not the server's. */
void kc__grpc_rpc_fail(kc__grpc_rpc *rpc, kc__grpc_code code, const char *text);
/* Sends a waiting rpc if there is an endpoint, or fails it. */
void kc__grpc_rpc_dispatch(kc__grpc_rpc *rpc);
/* For kind->exchange. */
size_t kc__grpc_rpc_read(kc__grpc_exchange *exchange, char *to, size_t size, bool *ret_end);
void kc__grpc_rpc_closed(kc__grpc_exchange *exchange);

/* ---- channel.c ---- */

struct kc__grpc_channel {
    kc__loop *loop;
    const kc_clock *clock;
    kc_log *log;
    kc_rand rand;
    int64_t keepalive_time, keepalive_timeout, connect_timeout, max_backoff;
    int64_t probe_after; /* 0: never. */
    size_t max_receive;
    char *user_agent, *authority;
    kc__grpc_tls tls; /* Owned strings. */
    BIO_METHOD *bio;

    kc__grpc_endpoint *endpoints;
    size_t n_endpoints;
    size_t next;      /* The endpoint whose turn it is. */
    kc_dlist rpcs;    /* All that have not ended. */
    kc_dlist waiting; /* Those without an endpoint. */
    kc_dlist connections;
    bool shut;
    kc__loop_task connect; /* To all endpoints, once. */
    kc__loop_task shutdown;
    kc__loop_task retry_waiting;
    bool retrying;
    _Atomic bool shutting;    /* `shutdown` was posted. Any thread. */
    _Atomic size_t connected; /* Endpoints that are ready. Read by any thread. */
    size_t n_connections;     /* Not yet freed. */
    kc_latch closed;          /* Zero when shut, and all connections are freed. */

    KC_VEC(nghttp2_nv) head; /* Of the request that is being started. */
    kc_mutex mutex;          /* Guards `metadata`. Innermost. */
    kc__grpc_fields metadata;

    kc_metric *handled;
    kc_counter *retries, *connects, *disconnects;
    kc_gauge *ready_endpoints;
    char input[64 << 10]; /* Of the connection that reads. */
};

/* The endpoint whose turn it is, preferably one that responds, and another than `other`. NULL: none
 * is ready. */
kc__grpc_endpoint *kc__grpc_channel_pick(kc__grpc_channel *channel, const kc__grpc_endpoint *other);
/* Returns whether an endpoint is connecting or ready. */
bool kc__grpc_channel_has_hope(const kc__grpc_channel *channel);
/* Appends why no endpoint is ready. */
void kc__grpc_channel_explain(const kc__grpc_channel *channel, kc_buf *out);
/* An endpoint has changed: dispatches waiting rpcs before the loop sleeps. */
void kc__grpc_channel_changed(kc__grpc_channel *channel);
/* A connection is freed. */
void kc__grpc_channel_released(kc__grpc_channel *channel);

#endif
