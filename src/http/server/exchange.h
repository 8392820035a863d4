/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.h: one request and its response, independent of the carrier: HTTP/1.1, an HTTP/2 stream,
 * a caller in the same process, a test.
 *
 *     static void handle(kc__exchange *x, void *user)
 *     {
 *         if (kc_str_eq(x->request.target.path, KC_STR("/healthz")))
 *             kc__exchange_respond(x, &(kc__http_response){
 *                 .status = 200, .type = KC_STR("text/plain"), .body = KC_STR("ok")});
 *     }
 *
 * Lifetime of an exchange. The carrier calls the server's functions on the loop's thread:
 *
 *     begin     the head is complete, no byte of the body is buffered. Either responds at once
 *               (401, 429), and then the body is not read, or accepts the request and sets the
 *               maximum size of its body
 *     handle    the body is complete. Responds exactly once, at once or later, on the same thread
 *     abandon   instead of handle: the body of an accepted request will not arrive. Does not
 *               respond: the carrier does, if the client is still there
 *
 * begin and abandon may be NULL: then every request is accepted.
 *
 * After kc__exchange_respond the exchange belongs to the carrier again; only a streamed body may
 * still use it, to wake it, until its `done` is called. If the client disconnects before the
 * response, `gone` becomes true and the handler must still respond: that frees the exchange.
 */
#ifndef KC_HTTP_EXCHANGE_H
#define KC_HTTP_EXCHANGE_H

#include "http/loop/loop.h"
#include "http/message/header.h"
#include "http/message/target.h"
#include "http/server/shared_bytes.h"
#include "kc/buf.h"

/* Attribute of a subject that holds the uid of a user, as Kubernetes defines it. */
#define KC__CONN_CERT_UID "1.3.6.1.4.1.57683.2"

/* Identity in a client certificate; for a caller in the same process, the identity it claims. Lives
 * as long as the connection. */
typedef struct kc__conn_client_cert {
    kc_str common_name;
    const kc_str *organizations;
    size_t n_organizations;
    const kc_str *uids; /* Values of KC__CONN_CERT_UID in the subject. */
    size_t n_uids;
    /* What the client presented, if the handshake has not verified it (kc__tls_opts.verify_later):
     * nothing above may be trusted before kc__cert_pool_verify. NULL: verified. */
    struct kc__cert_presented *presented;
    char sha256[65]; /* Fingerprint of the certificate in lower-case hexadecimal; empty: there is
                        none. */
} kc__conn_client_cert;

/* The accepted socket and the owner of the client's socket: see local_trust.h. On the loop's
 * thread only. */
typedef struct kc__conn_peer_socket {
    int fd;         /* -1: closed. */
    bool looked_up; /* The next two fields are final for the connection. */
    bool has_owner; /* The client's socket was open; `owner` is its user. */
    uint32_t owner;
} kc__conn_peer_socket;

/* Information about the connection. */
typedef struct kc__conn_peer {
    char address[48]; /* "127.0.0.1" or "::1"; empty for a caller in the same process. */
    int port;
    bool loopback; /* Derived from the address only. */
    bool tls;
    const kc__conn_client_cert *cert; /* NULL: the client presented none. */
    kc__conn_peer_socket *socket;     /* NULL: a caller in the same process. */
} kc__conn_peer;

typedef struct kc__http_request {
    kc_str method;            /* "GET" */
    kc__target target;        /* Decoded and resolved. */
    kc__http_headers headers; /* Without pseudo-header fields. HTTP/2's :authority is "host". */
    kc_str body;
    const kc__conn_peer *peer;
    const char *protocol; /* "HTTP/1.1", "HTTP/2.0". */
    kc_arena *arena;      /* For data that lives as long as the exchange. */
    int64_t received;     /* Monotonic time at which the head was complete. */
    bool upgradable;  /* The response may upgrade the connection: HTTP/1.1. See kc__http_upgrade. */
    bool takes_items; /* The carrier accepts objects instead of bytes: see kc__exchange_item_source.
                         Set only by a carrier in the same process. */
} kc__http_request;

/* ---- responses ---- */

typedef enum kc__http_fill {
    KC__HTTP_FILL_MORE,  /* Call again when there is room. */
    KC__HTTP_FILL_WAIT,  /* Nothing available now; kc__exchange_wake will be called. */
    KC__HTTP_FILL_END,   /* End of the body. */
    KC__HTTP_FILL_ABORT, /* Failed midway: end the body so that the client detects it. */
} kc__http_fill;

/* Where a source writes its bytes; provided by the carrier. */
typedef struct kc__http_body_sink {
    kc_buf *text; /* Bytes are appended here, … */
    /* … or passed by reference, after the current content of `text`. Takes a reference. False:
     * this carrier needs a copy. NULL: it always does. */
    bool (*share)(struct kc__http_body_sink *sink, kc__http_shared_bytes *bytes);
} kc__http_body_sink;

/* Sends shared bytes, without a copy if the carrier supports that. */
static inline void kc__http_body_sink_put(kc__http_body_sink *sink, kc__http_shared_bytes *bytes)
{
    if (!sink->share || !sink->share(sink, bytes))
        kc_buf_append(sink->text, kc__http_shared_bytes_str(bytes));
}

/* A body produced piece by piece, as fast as the client reads it. fill and done may be called
 * from within kc__exchange_respond: fill to check whether the body is long enough to be
 * compressed, done if the body is not needed. */
typedef struct kc__http_body_source {
    /* Appends about `room` bytes to `out`; exceeding it by one item is allowed. */
    kc__http_fill (*fill)(kc_buf *out, size_t room, void *user);
    /* Called once in any case, also if the client disconnected; fill is not called afterwards. */
    void (*done)(void *user);
    /* Like fill, for a source with bytes to share. NULL: it has none. A carrier may call either.
     * Not for a body of known length. */
    kc__http_fill (*fill_sink)(kc__http_body_sink *sink, size_t room, void *user);
} kc__http_body_source;

/*
 * A body of objects instead of bytes, for a carrier in the same process (a request with
 * takes_items): a watch passes its events, a list its items, without serialization. The objects are
 * shared between server and client and must never change. The body has exactly the content that the
 * bytes would have: objects of the requested version, with kind and apiVersion.
 */
struct kc_object; /* Defined by the layer above. */

typedef enum kc__exchange_item_type {
    KC__EXCHANGE_ITEM_ADDED,
    KC__EXCHANGE_ITEM_MODIFIED,
    KC__EXCHANGE_ITEM_DELETED,
    KC__EXCHANGE_ITEM_BOOKMARK,
    KC__EXCHANGE_ITEM_ERROR,    /* A Status; the last item of a watch that failed. */
    KC__EXCHANGE_ITEM_LISTED,   /* An item of a list. */
    KC__EXCHANGE_ITEM_LIST_END, /* The list object without its items; the last item of a list. */
} kc__exchange_item_type;

/* Receives items; embedded by the carrier. */
typedef struct kc__exchange_item_sink {
    /* Takes a reference of its own. */
    void (*take)(struct kc__exchange_item_sink *sink, kc__exchange_item_type type,
                 const struct kc_object *object);
} kc__exchange_item_sink;

/* Like kc__http_body_source: fill is called on the loop's thread when there is room, and after
 * WAIT when the exchange was woken. */
typedef struct kc__exchange_item_source {
    /* Passes items of about `room` bytes (the sizes of their JSON) to the sink. */
    kc__http_fill (*fill)(kc__exchange_item_sink *sink, size_t room, void *user);
    void (*done)(void *user);
} kc__exchange_item_source;

/*
 * An upgraded connection (status 101): the response owns it until its end. The source returns the
 * raw output bytes, and its end closes the connection; `receive` gets the client's bytes. A client
 * that disconnects or does not read is handled as for other sources.
 */
typedef struct kc__http_upgrade {
    const char *protocol; /* Value of the Upgrade field: "websocket". */
    /* Consumes bytes from the client and returns how many. The rest is passed again, followed by
     * new bytes, after kc__exchange_wake at the latest; while 16 KiB are unconsumed the
     * connection is not read. Not called after `done`. */
    size_t (*receive)(kc_str bytes, void *user);
} kc__http_upgrade;

/*
 * A response. Text is copied, except for a body with an owner, which must stay valid until
 * release(owner).
 *
 * The carrier adds Date, Content-Length or other framing, and Connection. It omits the body for
 * HEAD, 204 and 304, and compresses it (Content-Encoding, Vary) if `gzip` allows it, the client
 * accepts it and the body is long enough (KC__GZIP_MIN_BODY).
 */
typedef struct kc__http_response {
    int status;
    kc_str type; /* Content-Type; empty: none. */
    const kc__http_header *headers;
    size_t n_headers;

    kc_str body;
    void *owner; /* Other threads may use it at the same time; released on the loop's thread. */
    void (*release)(void *owner);

    const kc__http_body_source *source;    /* Instead of body. */
    const kc__exchange_item_source *items; /* Instead of both, if the request takes items. */
    void *user;                            /* Argument of the source, or of the items. */
    size_t length;                         /* Of the source's body; 0: unknown. */

    const kc__http_upgrade
        *upgrade; /* With status 101 and a source, if the request is upgradable. */

    bool gzip;
    bool flush; /* Send the head before the first byte of the body is available: watches. */
} kc__http_response;

#define KC__GZIP_MIN_BODY ((size_t)128 << 10)

typedef struct kc__exchange kc__exchange;

typedef struct kc__exchange_ops {
    void (*respond)(kc__exchange *x, const kc__http_response *response);
    void (*wake)(kc__exchange *x);
} kc__exchange_ops;

/* Carriers embed this as their first member. */
struct kc__exchange {
    kc__http_request request;
    kc__loop *loop;
    const kc__exchange_ops *ops;
    bool gone;   /* The client has disconnected. */
    void *state; /* State of the server from begin to handle or abandon. Initially NULL. */
};

/* What begin grants to an accepted request. Zeroed by the caller. */
typedef struct kc__exchange_grant {
    bool authenticated; /* Lifts the limits of unauthenticated connections. */
    kc_str user; /* Payer of the body, out of a share of the budget (budget.h). Empty: the budget of
                    unauthenticated requests. Read before the caller of begin continues. */
    size_t max_body; /* Maximum size of the body; beyond: 413. Defaults to the server's max_body,
                        which it cannot exceed. */
} kc__exchange_grant;

/* Returns true if the request is accepted. False: it was answered within the call; the exchange
 * must not be used any more. */
typedef bool kc__exchange_begin_fn(kc__exchange *x, kc__exchange_grant *grant, void *user);
typedef void kc__exchange_handle_fn(kc__exchange *x, void *user);
/* `status` is that of the carrier's response: 413, 408, 400; 0: the client has disconnected. */
typedef void kc__exchange_abandon_fn(kc__exchange *x, int status, void *user);

/* Both must be called on the loop's thread. */
static inline void kc__exchange_respond(kc__exchange *x, const kc__http_response *response)
{
    x->ops->respond(x, response);
}

/* After KC__HTTP_FILL_WAIT: more is available. Fill is called later, not from within the call;
 * waking twice is harmless. */
static inline void kc__exchange_wake(kc__exchange *x)
{
    x->ops->wake(x);
}

#endif
