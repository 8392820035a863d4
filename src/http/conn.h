/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn.h: a connection as a protocol sees it: bytes come in, bytes are put into `out`, and the
 * transport under it (plain or TLS) sends them as fast as the client takes them.
 *
 *     transport:  read ─▶ protocol->receive(conn, bytes)
 *                 room ─▶ protocol->fill(conn)            appends to conn->out up to the high mark
 *
 * HTTP/1.1 and HTTP/2 are each a const kc__protocol; which one is chosen by ALPN on TLS, by the
 * first bytes on plain connections. All of it runs on the loop's thread.
 */
#ifndef KC_HTTP_CONN_H
#define KC_HTTP_CONN_H

#include "http/exchange.h"
#include "kc/buf.h"
#include "kc/log.h"

/* What is said instead of a line of text. */
typedef struct kc__refusal {
    kc_str type, body; /* Must outlive the server. */
} kc__refusal;

/* What a client may do; zero is the default. The server hands one to all its connections. */
typedef struct kc__http_limits {
    size_t max_body;       /* Defaults to 3 MiB. Beyond it: 413. */
    kc__refusal too_large; /* Said with that. Defaults to a line of text. */
    size_t max_head;       /* Request line and header fields. Defaults to 128 KiB. Beyond: 431. */
    size_t max_headers;    /* Fields of one request. Defaults to 128. */
    int64_t head_timeout;  /* From a request's first byte to its head's end. Default: 32 s. */
    int64_t body_timeout;  /* From there to the body's end. Default: 60 s. */
    int64_t idle_timeout;  /* Without any request open. Defaults to 3 minutes. */
    int64_t write_timeout; /* Without the client taking a byte we have for it. Default: 30 s. */
    size_t max_streams;    /* Requests open at a time on one HTTP/2 connection. Default: 250. */
    size_t max_resets;     /* Streams a client may reset, per second of the connection, beyond an
                              allowance of a thousand. Default: 100. */
} kc__http_limits;

typedef struct kc__conn kc__conn;

typedef struct kc__protocol {
    const char *name; /* As ALPN has it. */
    /* Makes conn->session. */
    void (*open)(kc__conn *conn);
    /* Takes bytes that came; all of them. */
    void (*receive)(kc__conn *conn, kc_str bytes);
    /* conn->out has room again: append what waits for it. */
    void (*fill)(kc__conn *conn);
    /* conn->deadline has passed. */
    void (*expired)(kc__conn *conn);
    /* No request beyond those that are open: the server is going down. */
    void (*drain)(kc__conn *conn);
    /* The connection is gone: open exchanges become gone, bodies are done. Frees the session,
     * except exchanges that are still to be answered. */
    void (*close)(kc__conn *conn);
} kc__protocol;

extern const kc__protocol kc__http1, kc__http2;

typedef enum kc__conn_wish {
    KC__CONN_OPEN,
    KC__CONN_CLOSE, /* When `out` is sent. */
    KC__CONN_ABORT, /* At once. */
} kc__conn_wish;

/*
 * The transport's struct begins with this. The protocol appends to `out` and sets `wish` and
 * `deadline`; the transport looks at them after each call of the protocol's functions. Whoever
 * changes them at another time (an answer that comes later) calls kc__conn_changed.
 */
struct kc__conn {
    kc__loop *loop;
    const kc__protocol *protocol;
    void *session; /* The protocol's. */
    kc_buf out;    /* Still to be sent; the transport takes from its front. */
    kc__conn_wish wish;
    int64_t deadline; /* Monotonic; KC_FOREVER: none. The write timeout is the transport's. */
    bool draining;
    bool full; /* The protocol has enough to do: nothing more is read until it says otherwise. */
    kc__peer peer;
    const kc__http_limits *limits; /* Defaults filled in. */
    kc__handler *handle;
    void *user; /* For handle. */
    kc_log *log;
    void (*changed)(kc__conn *conn); /* The transport's. Acts later, never from within. */
    size_t holds;                    /* See kc__conn_hold. */
    void (*unheld)(kc__conn *conn);  /* The transport's: the last hold is gone. */
};

/* A protocol appends while `out` is below this; one frame beyond is no harm. */
#define KC__CONN_HIGH ((size_t)64 << 10)

static inline size_t kc__conn_room(const kc__conn *conn)
{
    return conn->out.n < KC__CONN_HIGH ? KC__CONN_HIGH - conn->out.n : 0;
}

static inline void kc__conn_changed(kc__conn *conn)
{
    conn->changed(conn);
}

/* A protocol's close holds the connection once for each exchange that is still to be answered, so
 * that its peer (and the certificate) lives as long as the exchange, and lets go when it is. */
static inline void kc__conn_hold(kc__conn *conn)
{
    conn->holds++;
}

static inline void kc__conn_unhold(kc__conn *conn)
{
    if (--conn->holds == 0 && conn->unheld)
        conn->unheld(conn);
}

#endif
