/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport_internal.h: a connection over a socket.
 *
 *     HANDSHAKE (TLS) ──▶ SPEAKING ──▶ LINGERING ──▶ CLOSED
 *     CHOOSING (plain) ──▶ ┘
 *
 * transport.c    its states, timers, its end
 * transport_io.c bytes in and out of the socket
 */
#ifndef KC_HTTP_TRANSPORT_INTERNAL_H
#define KC_HTTP_TRANSPORT_INTERNAL_H

#include "http/loop_internal.h"
#include "http/protocols.h"
#include "http/tls_internal.h"
#include "http/transport.h"

typedef enum transport_state {
    TRANSPORT_HANDSHAKE,
    TRANSPORT_CHOOSING,  /* Which protocol: by the first bytes. */
    TRANSPORT_SPEAKING,  /* The protocol has a session. */
    TRANSPORT_LINGERING, /* All is sent and said; what still comes is dropped. */
    TRANSPORT_CLOSED,
} transport_state;

struct kc__transport {
    kc__conn conn; /* First: protocols see only this. */
    kc__home *home;
    kc_link link;
    transport_state state;

    uv_poll_t poll;
    int fd;
    int events; /* What is polled for. */
    SSL *ssl;   /* NULL: plain. */
    kc__client_cert *cert;

    bool eof;           /* The client sends no more. */
    bool failed;        /* The socket is of no use any more. */
    bool write_blocked; /* Until the socket takes more. */
    bool read_blocked;  /* Until the socket has more; only of interest to TLS, which keeps some. */
    bool read_wants_write, write_wants_read; /* TLS' own messages. */

    bool busy;   /* The protocol is at work: what it changes is looked at afterwards. */
    bool again;  /* It asked to be asked again. */
    bool posted; /* `task` is on its way. */
    bool uv_closed;
    kc__task task;

    kc__timer timer;
    int64_t write_deadline; /* Of what is in conn.out; KC_FOREVER: nothing. */
    int64_t own_deadline;   /* Of the states without a session. */

    size_t n_first; /* While choosing. */
    char first[KC__PREFACE];
};

typedef enum kc__io {
    KC__IO_DONE,
    KC__IO_BLOCKED,
    KC__IO_EOF,
    KC__IO_FAILED,
} kc__io;

/* Reads once, up to `size` bytes. */
kc__io kc__transport_read(kc__transport *t, char *to, size_t size, size_t *ret_n);
/* Whether another read may find something without waiting. */
bool kc__transport_has_more(const kc__transport *t, size_t got, size_t size);
/* Sends what it can of conn.out and takes it out. False when nothing of it went. */
bool kc__transport_write(kc__transport *t);
kc__io kc__transport_handshake(kc__transport *t);
/* Says goodbye; sends no more. */
void kc__transport_shutdown(kc__transport *t);

#endif
