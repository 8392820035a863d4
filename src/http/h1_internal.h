/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h1_internal.h: one connection's HTTP/1.1: the request that is being read, handled or answered. A
 * connection has one request at a time, so the exchange, its arena and its buffers are part of
 * this and are used again for the next one.
 *
 *     READING ──▶ HANDLING ──▶ SENDING ──▶ SENT ──▶ READING …
 *                     └──────────────────────▲  a body that fits at once
 *
 * An answer that takes over the connection (upgrade) is SENDING to its end, and gets what comes.
 *
 * h1.c        what the transport calls, and the steps from one state to the next
 * h1_read.c   llhttp, and what makes a request acceptable
 * h1_answer.c answers, their bodies, errors
 */
#ifndef KC_HTTP_H1_INTERNAL_H
#define KC_HTTP_H1_INTERNAL_H

#include "http/answer.h"
#include "http/conn.h"

#include <llhttp.h>

typedef enum h1_state {
    H1_READING,  /* Between requests, or in the middle of one. */
    H1_HANDLING, /* The exchange is the handler's. */
    H1_SENDING,  /* Answered; the body goes on. */
    H1_SENT,     /* All of the answer is in conn->out. */
} h1_state;

/* A field's text, as places in h1.text. */
typedef struct h1_field {
    uint32_t name, name_end, value, value_end;
} h1_field;

typedef struct h1 {
    kc__exchange x; /* First: carriers begin with it. */
    kc__conn *conn;
    bool closed; /* The connection is gone; only the handler's answer is still to come. */
    h1_state state;

    /* Reading. */
    llhttp_t parser;
    bool started;  /* Some byte of a request is there. */
    int64_t since; /* When the first came. */
    int64_t now;   /* When the bytes that are being read came. */
    bool head_done;
    bool broken;                    /* Refused: the rest of what comes is dropped. */
    size_t head_bytes, extra_bytes; /* Raw, of the head; of chunk extensions and trailers. */
    kc_buf text;                    /* Target, names and values, one after the other. */
    size_t target_end;
    KC_VEC(h1_field) fields;
    kc_buf body;
    kc_arena arena;

    /* What came while a request was open: pipelined ones. */
    kc_buf input;
    size_t input_at;

    /* Answering. */
    kc__body out;
    bool keep_alive; /* The connection goes on after this answer. */
    bool old;        /* HTTP/1.0: no chunks. */
    bool chunked;
    bool waiting, woken;        /* The source said KC__FILL_WAIT; was woken. */
    const kc__upgrade *upgrade; /* The connection is the answer's, up to its end. */
    void *upgrade_user;
} h1;

/* h1_read.c */

void kc__h1_reader_init(h1 *h);
/* Forgets the last request; keeps small buffers. */
void kc__h1_reader_reset(h1 *h);
/* Reads on, up to the end of one request. Returns how many bytes it took; then either all are
 * taken, or the request is complete (*ret_complete), or it was refused (h->broken). */
size_t kc__h1_read(h1 *h, kc_str bytes, bool *ret_complete);

/* h1_answer.c */

extern const kc__exchange_ops kc__h1_ops;
/* Appends of the body what there is room for. */
void kc__h1_send(h1 *h);
/* A short text answer to what is no proper request; closes. */
void kc__h1_refuse(h1 *h, int status, const char *why);

/* h1.c */

void kc__h1_free(h1 *h);

#endif
