/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h2_internal.h: shared by the files of HTTP/2.
 *
 *     h2.c           the kc__conn_protocol: sessions, output, deadlines
 *     h2_request.c   input frames, until a request is complete
 *     h2_head.c      limits of heads
 *     h2_body.c      limits of bodies
 *     h2_response.c  responses, until their last byte is sent
 *     h2_stream.c    lifetime of a stream
 *     h2_limits.c    rate limits of a client's frames
 *
 * All of it runs on the loop's thread.
 */
#ifndef KC_HTTP_H2_INTERNAL_H
#define KC_HTTP_H2_INTERNAL_H

#include "http/server/body.h"
#include "http/server/conn.h"
#include "kc/dlist.h"

#include <nghttp2/nghttp2.h>

/* Initial window of a stream; larger bodies need a reservation in the connection's pool. */
#define KC__H2_STREAM_WINDOW ((size_t)65535)
/* Capacity of the pool in bodies of the maximum size. */
#define KC__H2_POOL_BODIES 4
/* Window of the connection, for DATA of all streams; returned as soon as DATA is read. */
#define KC__H2_CONNECTION_WINDOW (1 << 20)

/* A credit that is consumed by events and refilled over time. Zero-initialized it is full. */
typedef struct kc__h2_credit {
    int64_t used; /* In billionths, so that each nanosecond refills `per_second` of them. */
    int64_t at;
} kc__h2_credit;

/* Consumes one unit of `allowance`; false if none is left. */
bool kc__h2_credit_use(kc__h2_credit *credit, int64_t allowance, int64_t per_second, int64_t now);
void kc__h2_credit_return(kc__h2_credit *credit, int64_t count);

/* A connection. */
typedef struct kc__h2 {
    kc__conn *conn;
    nghttp2_session *session;
    int64_t now; /* Time of the last call from the transport or a handler. */
    bool inside; /* Called by the transport, which checks the connection afterwards. */
    bool ending; /* A final GOAWAY is being sent. */
    bool broken; /* nghttp2 failed; it is not called again. */
    /* The client has received the first GOAWAY. Until then, requests are accepted, until the time
     * `noticed_by`. */
    bool noticed;
    int64_t
        noticed_by;   /* KC_FOREVER: no GOAWAY was sent, or the connection is not to be drained. */
    kc_dlist streams; /* All, including those that only wait for their handler. */
    size_t n_streams;
    size_t open; /* Number of those that are open for the client. */

    /* Streams that wait for progress, the longest waiting first. A stream is in at most one of
     * the three lists. */
    kc_dlist reading; /* For the client to send the body. */
    kc_dlist waiting; /* For other streams to free room in the pool. */
    kc_dlist sending; /* For the client to read the response. */
    kc_dlist woken;   /* Sources to be called again. */
    kc_dlist spent;   /* Answered without a source: their requests are to be freed. */

    bool full_streams;  /* SETTINGS has announced max_streams to the client. */
    size_t heads;       /* Bytes of the decoded heads of all streams. */
    size_t pool;        /* Unreserved bytes for large bodies. */
    int64_t head_since; /* When the current head (at first: the preface) began; KC_FOREVER: none. */
    int64_t idle_since; /* Valid while `open` is 0. */
    int64_t last_sent;  /* When DATA of any stream was last sent. */
    kc__h2_credit resets; /* Streams reset by the client, or because of its errors. */
    kc__h2_credit frames; /* Frames without progress. */
    kc__h2_credit waste;  /* Decoded bytes of refused heads, in blocks. */
    size_t wasted;        /* Remainder of less than a block. */
    bool calm;            /* A credit was exhausted within a head: decoding stops. */
} kc__h2;

/* The client has answered a PING: it has received the notice before it. */
void kc__h2_notice_received(kc__h2 *h2);

typedef enum kc__h2_state {
    KC__H2_HEAD,      /* Its head is being read. */
    KC__H2_BODY,      /* Its body is being read. */
    KC__H2_HANDLED,   /* The handler has it. */
    KC__H2_RESPONDED, /* The response is being sent. */
} kc__h2_state;

typedef struct kc__h2_stream {
    kc__exchange exchange; /* First. */
    kc__h2 *h2;            /* NULL: the connection is gone. */
    kc__conn *held;        /* Then: the connection, held. */
    int32_t id;
    kc__h2_state state;
    bool closed;      /* Closed for the client. */
    bool unread;      /* Answered before the whole request arrived. */
    bool accepted;    /* By begin. */
    bool awaits_body; /* Accepted, but not passed to the handler yet: abandon must be called. */
    kc_dlist_link link;
    kc_dlist_link timed; /* In reading, waiting or sending, from `since` on. */
    kc_dlist_link woken;
    kc_dlist_link spent;
    int64_t since;

    kc_arena arena;
    kc_str path, authority;
    size_t head;            /* Bytes of the decoded head, as counted in h2->heads. */
    size_t free_head;       /* Bytes of them that are not charged. */
    kc__http_charge charge; /* For the head and the body. */
    kc_buf body;
    size_t length;   /* Value of content-length; SIZE_MAX: absent. */
    size_t reserved; /* Bytes reserved in the pool. */
    bool reserving;  /* A reservation was requested. */
    int status;      /* Status of the refusal; 0: not refused. */
    kc_str reason;

    kc__http_body out;
    kc__http_shared_bytes
        *shared; /* From the source, before `filled`; sent up to shared_at. NULL: none. */
    size_t shared_at;
    kc_buf filled; /* From the source; sent up to filled_at. */
    size_t filled_at;
    bool filled_all;
    bool begun; /* The body was filled at least once. */
    bool waits; /* The source returned KC__HTTP_FILL_WAIT and was not woken since. */
} kc__h2_stream;

/* ---- h2.c ---- */

/* Sends GOAWAY and closes, even with open streams. */
void kc__h2_end(kc__h2 *h2, uint32_t code);
/* The same because of a limit, which is counted. */
void kc__h2_end_by(kc__h2 *h2, uint32_t code, kc__http_ending reason);
/* State changed: notifies the transport, unless it is about to check anyway. */
void kc__h2_changed(kc__h2 *h2);

/* ---- h2_request.c and h2_response.c: callbacks of nghttp2 ---- */

void kc__h2_request_callbacks(nghttp2_session_callbacks *callbacks);
void kc__h2_response_callbacks(nghttp2_session_callbacks *callbacks);

/* Responds without a handler: the head or the body is invalid. An accepted request is abandoned. */
void kc__h2_refuse(kc__h2_stream *stream);

/* ---- h2_limits.c: each function may end the connection ---- */

void kc__h2_count_reset(kc__h2 *h2);
void kc__h2_count_frame(kc__h2 *h2, const nghttp2_frame_hd *frame);
/* Counts decoded bytes of a refused head. False: stop decoding. */
bool kc__h2_count_waste(kc__h2 *h2, size_t bytes);

/* ---- h2_head.c: limits of heads ---- */

/* Counts `n` bytes of a field before it is stored. Returns 0, or the status of the refusal. */
int kc__h2_head_add(kc__h2_stream *stream, size_t n);
/* Releases the memory of the head. */
void kc__h2_head_end(kc__h2_stream *stream);
/* Adjusts the charge to the memory of the stream. False: the budget is exhausted. */
bool kc__h2_charge(kc__h2_stream *stream);
/* Returns how many streams the client may have open now. */
size_t kc__h2_max_streams(const kc__h2 *h2);
/* Tells the client that it may open more streams once it is authenticated. */
void kc__h2_allow_streams(kc__h2 *h2);

/* ---- h2_body.c ---- */

/* Prepares for a body of at most `max` bytes. */
void kc__h2_body_begin(kc__h2_stream *stream, size_t max);
/* Appends a part of the body. Returns 0, or the status of the refusal. */
int kc__h2_body_add(kc__h2_stream *stream, kc_str bytes);
/* Releases the body. */
void kc__h2_body_end(kc__h2_stream *stream);

/* ---- h2_stream.c ---- */

kc__h2_stream *kc__h2_stream_new(kc__h2 *h2, int32_t id);
kc__h2_stream *kc__h2_stream_free(kc__h2_stream *stream);
/* nghttp2 closed the stream: frees it, or leaves it to the handler. */
void kc__h2_stream_closed(kc__h2_stream *stream);
/* The connection is closed: likewise. */
void kc__h2_stream_cut_off(kc__h2_stream *stream);
/* Moves the stream to the end of one of the waiting lists, or (NULL) to none. */
void kc__h2_stream_wait_in(kc__h2_stream *stream, kc_dlist *list);

extern const kc__exchange_ops kc__h2_exchange_ops;

#endif
