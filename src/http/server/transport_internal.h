/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport_internal.h: a connection over a socket.
 *
 *     HANDSHAKE (TLS) ──▶ SPEAKING ──▶ LINGERING ──▶ CLOSED
 *     CHOOSING (plain) ──▶ ┘
 *
 * transport.c       states, timers, closing
 * transport_io.c    socket input and output
 * transport_evict.c selection of connections to close to make room for others
 */
#ifndef KC_HTTP_TRANSPORT_INTERNAL_H
#define KC_HTTP_TRANSPORT_INTERNAL_H

#include "http/loop/loop_internal.h"
#include "http/server/protocols.h"
#include "http/server/transport.h"
#include "http/tls/tls_internal.h"

typedef enum transport_state {
    TRANSPORT_HANDSHAKE,
    TRANSPORT_CHOOSING,  /* Selecting the protocol by the first bytes. */
    TRANSPORT_OPEN,      /* The protocol has a session. */
    TRANSPORT_LINGERING, /* All output is sent and the sending side is shut down; input is dropped.
                          */
    TRANSPORT_CLOSED,
} transport_state;

struct kc__transport {
    kc__conn conn; /* First: protocols see only this. */
    kc__transport_context *context;
    kc_dlist_link link;
    bool listed_authenticated; /* Which of the context's lists it is in. */
    int64_t listed;            /* When it was added to the end of that list. */
    transport_state state;

    uv_poll_t poll;
    int fd;
    int events; /* Polled events. */
    SSL *ssl;   /* NULL: plain. */
    kc__conn_client_cert *cert;

    bool eof;           /* The client has shut down its sending side. */
    bool failed;        /* The socket is unusable. */
    bool write_blocked; /* Until the socket is writable. */
    bool read_blocked; /* Until the socket is readable; relevant for TLS only, which reads ahead. */
    bool read_wants_write, write_wants_read; /* Because of TLS protocol messages. */

    bool busy;         /* Inside a call of the protocol: its changes are processed afterwards. */
    bool another_pass; /* Another pass was requested. */
    bool posted;       /* `task` is posted. */
    bool uv_closed;
    kc__loop_task task;

    kc__loop_timer timer;
    int64_t write_deadline; /* For the bytes in conn.out; KC_FOREVER: none. */
    int64_t own_deadline;   /* For the states without a session. */

    size_t n_first; /* In state CHOOSING. */
    char first[KC__CONN_PREFACE_BYTES];
};

typedef enum kc__transport_io_result {
    KC__TRANSPORT_IO_DONE,
    KC__TRANSPORT_IO_BLOCKED,
    KC__TRANSPORT_IO_EOF,
    KC__TRANSPORT_IO_FAILED,
} kc__transport_io_result;

/* Reads once, up to `size` bytes. */
kc__transport_io_result kc__transport_read(kc__transport *t, char *to, size_t size, size_t *ret_n);
/* Returns whether another read may return data without waiting. */
bool kc__transport_has_more(const kc__transport *t, size_t got, size_t size);
/* Sends as much of conn.out as possible and removes it. Returns false if nothing was sent. */
bool kc__transport_write(kc__transport *t);
kc__transport_io_result kc__transport_handshake(kc__transport *t);
/* Closes immediately, with a shutdown message if the socket accepts it. */
void kc__transport_evict(kc__transport *t);
/* Shuts down the sending side. */
void kc__transport_shutdown(kc__transport *t);

#endif
