/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h2_internal.h: what the files of HTTP/2 share.
 *
 *     h2.c           the kc__protocol: a session's life, what goes out, deadlines
 *     h2_request.c   frames that come in, until a request is whole
 *     h2_body.c      how much of bodies a client may send
 *     h2_answer.c    answers, until their last byte went out
 *     h2_stream.c    a stream's life
 *     h2_calm.c      what a client may do too often
 *
 * All of it is on the loop's thread.
 */
#ifndef KC_HTTP_H2_INTERNAL_H
#define KC_HTTP_H2_INTERNAL_H

#include "http/body.h"
#include "http/conn.h"
#include "kc/list.h"

#include <nghttp2/nghttp2.h>

/* A stream sends this much of a body unasked; more when the connection's pool has room for it. */
#define KC__H2_STREAM_WINDOW ((size_t)65535)
/* How many bodies of the largest size the pool holds. */
#define KC__H2_POOL_BODIES 4
/* DATA on its way to us, of all streams; given back as soon as it is read. */
#define KC__H2_CONNECTION_WINDOW (1 << 20)

/* A credit that is used up by doing something and comes back with time. Zeroed it is whole. */
typedef struct kc__h2_credit {
    int64_t used; /* In billionths, so that a nanosecond gives back `per_second` of them. */
    int64_t at;
} kc__h2_credit;

/* Uses one of `allowance`; false when there is none left. */
bool kc__h2_credit_use(kc__h2_credit *credit, int64_t allowance, int64_t per_second, int64_t now);
void kc__h2_credit_return(kc__h2_credit *credit, int64_t count);

/* A connection. */
typedef struct kc__h2 {
    kc__conn *conn;
    nghttp2_session *session;
    int64_t now;     /* As of the last call from the transport or a handler. */
    bool inside;     /* Called by the transport, which looks at the connection afterwards. */
    bool ending;     /* A last GOAWAY is on its way. */
    bool broken;     /* nghttp2 gave up; it is not asked again. */
    kc_list streams; /* All, also those that only wait for their handler. */
    size_t n_streams;
    size_t open; /* Of them: those the client knows. */

    /* Streams that somebody must move on with, the one that waits longest first. A stream is in
     * one of the three at most. */
    kc_list reading; /* The client, to send the body. */
    kc_list waiting; /* Others, to leave room in the pool. */
    kc_list sending; /* The client, to take the answer. */
    kc_list woken;   /* Us, to ask their source again. */

    size_t pool;          /* Bytes of large bodies that are still to be given away. */
    int64_t head_since;   /* A head (at first: the preface) is being read; KC_FOREVER: none. */
    int64_t idle_since;   /* While open is 0. */
    int64_t last_sent;    /* Any DATA of any stream. */
    kc__h2_credit resets; /* Streams that were reset by the client, or because of what it did. */
    kc__h2_credit frames; /* Frames that bring nothing. */
} kc__h2;

typedef enum kc__h2_state {
    KC__H2_HEAD,     /* Its head is being read. */
    KC__H2_BODY,     /* Its body is being read. */
    KC__H2_HANDLED,  /* The handler has it. */
    KC__H2_ANSWERED, /* The answer is on its way. */
} kc__h2_state;

typedef struct kc__h2_stream {
    kc__exchange exchange; /* First. */
    kc__h2 *h2;            /* NULL: the connection is gone. */
    kc__conn *held;        /* Then: what is left of it. */
    int32_t id;
    kc__h2_state state;
    bool closed; /* The client does not know it any more. */
    bool unread; /* Answered before all of the request came. */
    kc_link link;
    kc_link timed; /* In reading, waiting or sending; since `since`. */
    kc_link woken;
    int64_t since;

    kc_arena arena;
    kc_str path, authority;
    kc_buf body;
    size_t length;   /* As content-length announces it; SIZE_MAX: not at all. */
    size_t reserved; /* Of the pool. */
    bool asked;      /* For room in the pool. */
    int status;      /* Why it is refused; 0: it is not. */
    kc_str reason;

    kc__body out;
    kc_buf filled; /* From it; sent up to filled_at. */
    size_t filled_at;
    bool filled_all;
    bool begun; /* The body was asked once. */
    bool waits; /* The source said so, and was not woken since. */
} kc__h2_stream;

/* ---- h2.c ---- */

/* Says goodbye and closes, whatever is open. */
void kc__h2_end(kc__h2 *h2, uint32_t code);
/* Something changed: lets the transport look, unless it is about to anyway. */
void kc__h2_changed(kc__h2 *h2);

/* ---- h2_request.c and h2_answer.c: callbacks of nghttp2 ---- */

void kc__h2_request_callbacks(nghttp2_session_callbacks *callbacks);
void kc__h2_answer_callbacks(nghttp2_session_callbacks *callbacks);

/* Answers without a handler: the head or the body is not acceptable. */
void kc__h2_refuse(kc__h2_stream *stream);

/* ---- h2_calm.c: each may end the connection ---- */

void kc__h2_count_reset(kc__h2 *h2);
void kc__h2_count_frame(kc__h2 *h2, const nghttp2_frame_hd *frame);

/* ---- h2_body.c ---- */

/* There is a body to read. */
void kc__h2_body_begin(kc__h2_stream *stream);
/* Takes a part of it; false when it is too large. */
bool kc__h2_body_add(kc__h2_stream *stream, kc_str bytes);
/* It is not needed any more. */
void kc__h2_body_end(kc__h2_stream *stream);

/* ---- h2_stream.c ---- */

kc__h2_stream *kc__h2_stream_new(kc__h2 *h2, int32_t id);
kc__h2_stream *kc__h2_stream_free(kc__h2_stream *stream);
/* nghttp2 forgot it: frees it, or leaves it to the handler. */
void kc__h2_stream_closed(kc__h2_stream *stream);
/* The connection goes away: the same. */
void kc__h2_stream_cut_off(kc__h2_stream *stream);
/* Puts it at the end of a list of those that are waited for, or (NULL) of none. */
void kc__h2_stream_wait_in(kc__h2_stream *stream, kc_list *list);

extern const kc__exchange_ops kc__h2_exchange_ops;

#endif
