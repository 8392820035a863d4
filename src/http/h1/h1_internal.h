/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h1_internal.h: HTTP/1.1 on one connection: the request that is being read, handled or answered. A
 * connection has one request at a time, so the exchange, its arena and its buffers are part of this
 * struct and are reused for the next request.
 *
 *     READING ──▶ HANDLING ──▶ SENDING ──▶ SENT ──▶ READING …
 *                     └──────────────────────▲  a body that fits at once
 *
 * When a head is complete, begin decides about the request (in state HANDLING). If it accepts the
 * request, READING continues with the body. If it answers the request, a body that has already
 * arrived is skipped, and any other body closes the connection.
 *
 * A response that upgrades the connection stays SENDING to its end and receives the input.
 *
 * h1.c          the operations of the protocol, and the transitions between states
 * h1_read.c     parsing with llhttp, and validation of requests
 * h1_response.c responses, their bodies, errors
 */
#ifndef KC_HTTP_H1_INTERNAL_H
#define KC_HTTP_H1_INTERNAL_H

#include "http/server/conn.h"
#include "http/server/response.h"

#include <llhttp.h>

typedef enum h1_state {
    H1_READING,  /* Between requests, or in the middle of one. */
    H1_HANDLING, /* The handler owns the exchange. */
    H1_SENDING,  /* Answered; the body is being sent. */
    H1_SENT,     /* The whole response is in conn->out. */
} h1_state;

/* Result of kc__h1_read. */
typedef enum h1_event {
    H1_MORE,     /* All bytes were consumed, or the request was refused (broken). */
    H1_HEAD,     /* The head of a request with a body is complete. */
    H1_COMPLETE, /* A request is complete. */
} h1_event;

/* Name and value of a field, as offsets in h1.text. */
typedef struct h1_field {
    uint32_t name, name_end, value, value_end;
} h1_field;

typedef struct h1 {
    kc__exchange x; /* First: carriers embed it as their first member. */
    kc__conn *conn;
    bool closed; /* The connection is gone; only the handler's response is still missing. */
    h1_state state;

    /* Reading. */
    llhttp_t parser;
    bool started;  /* At least one byte of a request has arrived. */
    int64_t since; /* When the first byte arrived. */
    int64_t now;   /* When the current input arrived. */
    bool head_done;
    bool paused;      /* llhttp stopped after the head. */
    bool complete;    /* llhttp reached the end of the request. */
    bool expects;     /* The client waits for 100 Continue. */
    bool accepted;    /* By begin; until the end of the request. */
    bool awaits_body; /* Accepted, but not passed to the handler yet: abandon must be called. */
    bool discard;     /* Answered without its body: further input is dropped. */
    bool broken;      /* Refused: likewise. */
    size_t max_body;  /* As granted by begin. */
    kc__http_charge charge;         /* For large heads and bodies. */
    const char *chunk;              /* The input that llhttp is parsing. */
    size_t line_at;                 /* In the request line: where the last part ended. */
    bool line_done;                 /* The last part of the line was seen. */
    size_t head_bytes, extra_bytes; /* Raw sizes: of the head; of chunk extensions and trailers. */
    kc_buf text;                    /* Target, names and values, concatenated. */
    size_t target_end;
    KC_VEC(h1_field) fields;
    kc_buf body;
    kc_arena arena;

    /* Input that arrived while a request was open: pipelined requests. */
    kc_buf input;
    size_t input_at;

    /* Responding. */
    kc__http_body out;
    bool keep_alive; /* The connection stays open after this response. */
    bool old;        /* HTTP/1.0: no chunked encoding. */
    bool chunked;
    bool waiting, woken;             /* The source returned KC__HTTP_FILL_WAIT; was woken. */
    const kc__http_upgrade *upgrade; /* The response owns the connection until its end. */
    void *upgrade_user;
} h1;

/* h1_read.c */

void kc__h1_reader_init(h1 *h);
/* Resets the state of the last request; keeps small buffers. */
void kc__h1_reader_reset(h1 *h);
/* Parses up to the end of a head with a body, or of a request. Returns how many bytes were
 * consumed. */
size_t kc__h1_read(h1 *h, kc_str bytes, h1_event *ret_event);
/* Returns the announced size of the body if it is at most `max` and the client sends it without
 * waiting for 100 Continue; otherwise SIZE_MAX. */
size_t kc__h1_body_within(const h1 *h, size_t max);
/* Prepares for a body of at most max_body bytes, or refuses it. */
void kc__h1_expect_body(h1 *h);
/* The request was accepted: sends 100 Continue if the client waits for it. */
void kc__h1_continue(h1 *h);
/* Releases the request's body. */
void kc__h1_drop_body(h1 *h);

/* h1_response.c */

extern const kc__exchange_ops kc__h1_exchange_ops;
/* Appends as much of the body as there is room for. */
void kc__h1_send(h1 *h);
/* Sends a short text response to an invalid request and closes the connection. An accepted
 * request is abandoned. */
void kc__h1_refuse(h1 *h, int status, const char *why);

/* h1.c */

void kc__h1_free(h1 *h);

#endif
