/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn.h: a connection as a protocol sees it: it receives bytes and appends bytes to `out`, and the
 * transport under it (plain or TLS) sends them as fast as the client reads them.
 *
 *     transport:  read ─▶ protocol->receive(conn, bytes)
 *                 room ─▶ protocol->fill(conn)            appends to conn->out up to the high mark
 *
 * HTTP/1.1 and HTTP/2 are each a const kc__conn_protocol. ALPN selects one on TLS, the first bytes
 * on plain connections. Everything runs on the loop's thread.
 */
#ifndef KC_HTTP_CONN_H
#define KC_HTTP_CONN_H

#include "http/server/budget.h"
#include "http/server/exchange.h"
#include "http/server/shared_bytes.h"
#include "kc/buf.h"
#include "kc/log.h"
#include "kc/metrics.h"

/* Body of a refusal, instead of a line of text. */
typedef struct kc__http_refusal {
    kc_str type, body; /* Must outlive the server. */
} kc__http_refusal;

/* Limits of a client; zero is the default. All connections of a server share one struct. */
typedef struct kc__http_limits {
    size_t max_body;            /* Defaults to 3 MiB. Beyond it: 413. */
    kc__http_refusal too_large; /* Response body of the 413. Defaults to a line of text. */
    kc__http_refusal too_many;  /* Response body of a 429, when a budget is exhausted. Defaults to a
                                   line of text. */
    size_t max_head;    /* Request line and header fields. Defaults to 128 KiB. Beyond: 431. */
    size_t max_headers; /* Fields of one request. Defaults to 128. */
    size_t max_heads;   /* Bytes of the decoded heads of all open requests of one HTTP/2
                           connection. Defaults to 2 MiB. Beyond: 431. */
    int64_t handshake_timeout; /* Of the TLS handshake. Defaults to 10 s. */
    int64_t
        head_timeout; /* From the first byte of a request to the end of its head. Default: 32 s. */
    int64_t body_timeout;  /* From there to the end of the body. Default: 60 s. */
    int64_t idle_timeout;  /* Without an open request. Defaults to 3 minutes. */
    int64_t write_timeout; /* Without progress while output is pending. Default: 30 s. */
    size_t max_streams;    /* Concurrent requests on one HTTP/2 connection. Default: 250. */
    size_t max_unauthenticated_streams; /* The same before the first authenticated request, if the
                                           server authenticates (begin). Default: 8. */
    size_t max_resets; /* Streams that a client may reset, per second of the connection, beyond an
                          allowance of 1000. Default: 100. */
} kc__http_limits;

/* Limits whose excess ends a connection, or a stream, without a response that metrics would count;
 * the second column is the metric's label. */
#define KC__HTTP_ENDINGS(X)                                                                     \
    X(HEAD_TIMEOUT, "head_timeout")   /* The preface, or a head; with HTTP/1.1 after a 408. */  \
    X(BODY_TIMEOUT, "body_timeout")   /* After a 408. */                                        \
    X(IDLE_TIMEOUT, "idle_timeout")   /* No request. */                                         \
    X(WRITE_TIMEOUT, "write_timeout") /* The client does not read. */                           \
    X(STREAMS, "streams")             /* REFUSED_STREAM. */                                     \
    X(RESETS, "resets")               /* This and the others: GOAWAY with ENHANCE_YOUR_CALM. */ \
    X(FRAMES, "frames")                                                                         \
    X(HEADS, "heads")

typedef enum kc__http_ending {
#define KC__HTTP_ENDING_ENUM(name, label) KC__HTTP_ENDED_##name,
    KC__HTTP_ENDINGS(KC__HTTP_ENDING_ENUM)
#undef KC__HTTP_ENDING_ENUM
        KC__HTTP_N_ENDINGS
} kc__http_ending;

/* Counters by kc__http_ending; NULL counts nothing. */
typedef struct kc__http_endings {
    kc_counter *counters[KC__HTTP_N_ENDINGS];
} kc__http_endings;

typedef struct kc__conn kc__conn;

typedef struct kc__conn_protocol {
    const char *name; /* As in ALPN. */
    /* Creates conn->session. */
    void (*open)(kc__conn *conn);
    /* Consumes all received bytes. */
    void (*receive)(kc__conn *conn, kc_str bytes);
    /* conn->out has room again: append pending output. */
    void (*fill)(kc__conn *conn);
    /* conn->deadline has passed. */
    void (*expired)(kc__conn *conn);
    /* The server will shut down: asks the client to use another connection for further requests;
     * those on this one are still served. NULL: nothing to do, conn->retired suffices. */
    void (*retire)(kc__conn *conn);
    /* The server is shutting down: accept no request beyond the open ones. */
    void (*drain)(kc__conn *conn);
    /* Returns whether the connection may be closed to make room for others: no accepted request
     * is open. Then *ret_since is the time of the last activity. */
    bool (*evictable)(const kc__conn *conn, int64_t *ret_since);
    /* The connection is closed: marks open exchanges as gone and ends their bodies. Frees the
     * session, except for exchanges that are still to be answered. */
    void (*close)(kc__conn *conn);
} kc__conn_protocol;

extern const kc__conn_protocol kc__h1_protocol, kc__h2_protocol;

typedef enum kc__conn_disposition {
    KC__CONN_OPEN,
    KC__CONN_CLOSE, /* After `out` is sent. */
    KC__CONN_ABORT, /* Immediately. */
} kc__conn_disposition;

/* Shared bytes within the output (conn_output.c). */
typedef struct kc__conn_slice {
    size_t at;        /* They are sent before this offset of `out`. */
    size_t next, end; /* The part that is still to be sent. */
    kc__http_shared_bytes *bytes;
} kc__conn_slice;

enum {
    KC__CONN_SLICES = 4,
    KC__CONN_PARTS = 2 * KC__CONN_SLICES + 1,
    KC__CONN_SLICE_BYTES =
        2048, /* Protocols copy shorter ones: that is cheaper than counting references. */
};

/*
 * First member of the transport's struct. The protocol appends to `out` and sets `disposition` and
 * `deadline`; the transport checks them after each call of the protocol's functions. Code that
 * changes them at another time (a later response) must call kc__conn_changed.
 */
struct kc__conn {
    kc__loop *loop;
    const kc__conn_protocol *protocol;
    void *session; /* Owned by the protocol. */
    kc_buf out;    /* Pending output; the transport removes it from the front. */
    kc_buf *spare; /* An empty buffer of the loop; NULL: none. Set by the transport. */
    bool shares;   /* The transport can send slices. Set by the transport. */
    unsigned n_slices;
    kc__conn_slice slices[KC__CONN_SLICES]; /* In sending order. */
    size_t slice_bytes;                     /* Unsent bytes in them. */
    kc__conn_disposition disposition;
    int64_t deadline; /* Monotonic; KC_FOREVER: none. The transport enforces the write timeout. */
    bool retired;     /* The next response ends the connection, if its protocol can say so. */
    bool draining;
    bool full;   /* The protocol has enough input: nothing is read until it clears this. */
    bool yields; /* The protocol has more work, after other connections had their turn. Cleared by
                    the transport. */
    kc__conn_peer peer;
    kc__conn_peer_socket socket;   /* The peer's. */
    const kc__http_limits *limits; /* Defaults filled in. */
    kc__exchange_begin_fn *begin;  /* NULL: accept. */
    kc__exchange_handle_fn *handle;
    kc__exchange_abandon_fn *abandon; /* NULL: nothing to do. */
    void *user;                       /* For these three. */
    kc__http_budget *budget;          /* NULL: no budget. */
    bool authenticated; /* At least one request was. Without begin: at least one request was
                           complete. */
    kc_log *log;
    const kc__http_endings *endings; /* NULL: not counted. */
    void (*changed)(
        kc__conn *conn); /* Set by the transport. Acts later, never from within the call. */
    size_t holds;        /* See kc__conn_hold. */
    void (*on_released)(kc__conn *conn); /* Set by the transport: the last hold was released. */
};

/* A protocol appends while `out` is below this; exceeding it by one frame is allowed. */
#define KC__CONN_HIGH ((size_t)64 << 10)
/* The same for a client that is not authenticated and has to be: refusals are short. */
#define KC__CONN_HIGH_UNAUTHENTICATED ((size_t)8 << 10)

/* Returns whether the limits of unauthenticated connections apply. */
static inline bool kc__conn_restricted(const kc__conn *conn)
{
    return conn->begin && !conn->authenticated;
}

static inline size_t kc__conn_high(const kc__conn *conn)
{
    return kc__conn_restricted(conn) ? KC__CONN_HIGH_UNAUTHENTICATED : KC__CONN_HIGH;
}

/* Counts a connection, or a stream, that a limit ends. */
static inline void kc__conn_count_ending(const kc__conn *conn, kc__http_ending ending)
{
    if (conn->endings)
        kc_counter_inc(conn->endings->counters[ending]);
}

/* Returns the number of bytes to be sent. */
static inline size_t kc__conn_pending(const kc__conn *conn)
{
    return conn->out.n + conn->slice_bytes;
}

static inline size_t kc__conn_room(const kc__conn *conn)
{
    size_t high = kc__conn_high(conn), pending = kc__conn_pending(conn);
    return pending < high ? high - pending : 0;
}

/* Sends `n` of the shared bytes after the current content of `out`, without copying them. Takes
 * a reference. Returns false if no slice is free: append a copy. */
bool kc__conn_share(kc__conn *conn, kc__http_shared_bytes *bytes, size_t from, size_t n);

/* For the transport, around calls of the protocol that append: begin gives a connection without
 * output the spare buffer of the loop, and end returns it if all output is sent. */
void kc__conn_output_begin(kc__conn *conn);
void kc__conn_output_end(kc__conn *conn);

/* For the transport: writes the bytes to be sent as parts, valid until the connection changes.
 * Returns the number of parts. */
size_t kc__conn_parts(const kc__conn *conn, kc_str parts[KC__CONN_PARTS]);
/* Removes `n` sent bytes from the front. */
void kc__conn_sent(kc__conn *conn, size_t n);
/* Drops all output. */
void kc__conn_output_done(kc__conn *conn);

/* Calls begin for an exchange of the connection. */
static inline bool kc__conn_begin(kc__conn *conn, kc__exchange *x, kc__exchange_grant *grant)
{
    if (!conn->begin)
        grant->authenticated = true;
    else if (!conn->begin(x, grant, conn->user))
        return false;
    conn->authenticated = conn->authenticated || grant->authenticated;
    return true;
}

/* Moves the charge of a request to its user after it was accepted. False: respond with 429. */
static inline bool kc__conn_charge(kc__conn *conn, kc__http_charge *charge,
                                   const kc__exchange_grant *grant)
{
    bool unknown = conn->begin && !grant->user.n;
    return unknown || kc__http_charge_to_user(conn->budget, charge, grant->user);
}

static inline void kc__conn_abandon(kc__conn *conn, kc__exchange *x, int status)
{
    if (conn->abandon)
        conn->abandon(x, status, conn->user);
}

static inline void kc__conn_changed(kc__conn *conn)
{
    conn->changed(conn);
}

/* A protocol's close holds the connection once for each exchange that is still to be answered,
 * so that the peer (and its certificate) lives as long as the exchange, and releases it with the
 * response. */
static inline void kc__conn_hold(kc__conn *conn)
{
    conn->holds++;
}

static inline void kc__conn_unhold(kc__conn *conn)
{
    if (--conn->holds == 0 && conn->on_released)
        conn->on_released(conn);
}

#endif
