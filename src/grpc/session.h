/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h: the client side of HTTP/2, without a socket: bytes in, bytes out.
 *
 *     session.c    the session: frames, through nghttp2
 *     exchange.c   one stream of it: the request and its response
 *
 * An exchange outlives its session; it is on one session at a time. All of it runs on the channel's
 * thread.
 */
#ifndef KC_GRPC_SESSION_H
#define KC_GRPC_SESSION_H

#include "grpc/frame.h"
#include "grpc/response.h"
#include "kc/dlist.h"

#include <nghttp2/nghttp2.h>
#include <stdatomic.h>

/* Bytes that a server may send on all streams before they are read. */
#define KC__GRPC_CONNECTION_WINDOW (16 << 20)

typedef struct kc__grpc_exchange kc__grpc_exchange;

typedef struct kc__grpc_session {
    nghttp2_session *h2;
    kc_dlist exchanges;
    size_t n_exchanges;
    bool ready;    /* The server's settings have arrived. */
    bool draining; /* The server accepts no more streams here. */
    kc_buf error;  /* What nghttp2 said last about the server's frames. */
} kc__grpc_session;

void kc__grpc_session_open(kc__grpc_session *session);
/* Closes all exchanges as lost, with this reason. Not from a callback of an exchange. */
void kc__grpc_session_close(kc__grpc_session *session, const char *reason);

/* Processes received bytes. False: the session is unusable; `error` says why. */
bool kc__grpc_session_receive(kc__grpc_session *session, kc_str bytes);
/* Appends frames to `out` until it has `high` bytes. False: the session has ended or is unusable;
 * what is in `out` may still be sent. */
bool kc__grpc_session_fill(kc__grpc_session *session, kc_buf *out, size_t high);

/* Starts an exchange with these fields. False if the session accepts no more: it is draining. */
bool kc__grpc_session_begin(kc__grpc_session *session, kc__grpc_exchange *exchange,
                            const nghttp2_nv *fields, size_t n_fields);
/* The exchange has bytes to send again. */
void kc__grpc_session_resume(kc__grpc_session *session, kc__grpc_exchange *exchange);
/* The exchange leaves the session without a callback; the server learns that it is cancelled. */
void kc__grpc_session_cancel(kc__grpc_session *session, kc__grpc_exchange *exchange);
/* The same when the server has ended the response: it learns of it only if it has not received the
 * whole request yet, which it then does not need. */
void kc__grpc_session_finish(kc__grpc_session *session, kc__grpc_exchange *exchange);
/* Of a draining session: closes the exchanges that wait for their turn, which may never come. Not
 * from a callback of an exchange. */
void kc__grpc_session_drop_unsent(kc__grpc_session *session);
/* Returns the flow-control window of consumed bytes to the server. */
void kc__grpc_session_consume(kc__grpc_session *session, const kc__grpc_exchange *exchange,
                              size_t n);
void kc__grpc_session_ping(kc__grpc_session *session);

/* ---- exchanges ---- */

/* What the owner of an exchange does. */
typedef struct kc__grpc_exchange_ops {
    /* Copies up to `size` bytes of the request. *ret_end: these are the last. 0 without *ret_end:
     * there is nothing at the moment. */
    size_t (*read)(kc__grpc_exchange *exchange, char *to, size_t size, bool *ret_end);
    /* The server has accepted the call. */
    void (*opened)(kc__grpc_exchange *exchange);
    /* A message of the response. False, with *failure set, ends the exchange. */
    bool (*message)(kc__grpc_exchange *exchange, kc_str message, kc__grpc_status *failure);
    /* The exchange has ended with exchange->status and is on no session; the last callback. */
    void (*closed)(kc__grpc_exchange *exchange);
} kc__grpc_exchange_ops;

/* Embedded in its owner. */
struct kc__grpc_exchange {
    const kc__grpc_exchange_ops *ops;
    kc__grpc_session *session; /* NULL: on none. */
    int32_t id;                /* Of its stream. */
    kc_dlist_link link;        /* In the session's list. */
    bool sent;                 /* The head of the request was sent, or is about to be. */
    bool deferred;             /* `read` had nothing to send. */

    _Atomic bool paused; /* Any thread. No message is passed on. */
    kc__grpc_response response;
    kc__grpc_deframer deframer;
    kc_buf held; /* Received while paused, from held_at on; the server's window is not returned. */
    size_t held_at;

    bool closing;           /* Only `held` has to be passed on. */
    kc__grpc_status status; /* Valid when closed. */
    bool lost;              /* Ended with its connection: the server may have processed it. */
};

void kc__grpc_exchange_init(kc__grpc_exchange *exchange, const kc__grpc_exchange_ops *ops,
                            size_t max_receive);
/* Frees the contents; another attempt may begin. It must be on no session. */
void kc__grpc_exchange_clear(kc__grpc_exchange *exchange);
/* Passes on what was held, unless it is paused again. */
void kc__grpc_exchange_resume(kc__grpc_exchange *exchange);
/* Leaves its session (if any) without a callback. */
void kc__grpc_exchange_cancel(kc__grpc_exchange *exchange);

/* ---- exchange.c, for session.c ---- */

void kc__grpc_exchange_field(kc__grpc_exchange *exchange, kc_str name, kc_str value);
void kc__grpc_exchange_head(kc__grpc_exchange *exchange, bool end);
void kc__grpc_exchange_data(kc__grpc_exchange *exchange, kc_str bytes);
/* The server has ended the response. */
void kc__grpc_exchange_end(kc__grpc_exchange *exchange);
/* The stream ended without the end of the response; the status is set by the caller. The exchange
 * is on no session. */
void kc__grpc_exchange_close(kc__grpc_exchange *exchange);

#endif
