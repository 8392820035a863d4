/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.h: one request and its answer, whatever carries them: HTTP/1.1, a stream of HTTP/2, a
 * caller in the same process, a test.
 *
 *     static void handle(kc__exchange *x, void *user)
 *     {
 *         if (kc_str_eq(x->request.target.path, KC_STR("/healthz")))
 *             kc__exchange_answer(x, &(kc__answer){.status = 200, .type = KC_STR("text/plain"),
 *                                                  .body = KC_STR("ok")});
 *     }
 *
 * Life of an exchange. The carrier makes it when the whole request is there (head and body, within
 * the limits), and calls the handler on the loop's thread. The handler answers exactly once, at
 * once or later, on the same thread. After kc__exchange_answer the exchange belongs to the carrier
 * again; only a body that is filled bit by bit may still use it, to wake it, until its `done` is
 * called. If the client goes away before the answer, `gone` becomes true and the handler still
 * answers: that frees it.
 */
#ifndef KC_HTTP_EXCHANGE_H
#define KC_HTTP_EXCHANGE_H

#include "http/header.h"
#include "http/loop.h"
#include "http/target.h"

/* Who a verified client certificate names; of a caller in the same process, who it says it is. All
 * of it lives as long as the connection. */
typedef struct kc__client_cert {
    kc_str common_name;
    const kc_str *organizations;
    size_t n_organizations;
    char sha256[65]; /* Of the certificate, in lower-case hexadecimal digits; empty: there is none.
                      */
} kc__client_cert;

/* What is known of the connection. */
typedef struct kc__peer {
    char address[48]; /* "127.0.0.1" or "::1", as text; empty for a caller in the same process. */
    int port;
    bool loopback; /* By that address alone. */
    bool tls;
    const kc__client_cert *cert; /* NULL: none was shown. */
} kc__peer;

typedef struct kc__request {
    kc_str method;       /* "GET" */
    kc__target target;   /* Decoded and resolved. */
    kc__headers headers; /* Without pseudo headers. HTTP/2's :authority is "host". */
    kc_str body;
    const kc__peer *peer;
    const char *protocol; /* "HTTP/1.1", "HTTP/2.0". */
    kc_arena *arena;      /* For whatever lives as long as the exchange. */
    int64_t received;     /* Monotonic time at which the head was complete. */
    bool upgradable;      /* The answer may take over the connection: HTTP/1.1. See kc__upgrade. */
} kc__request;

/* ---- answers ---- */

typedef enum kc__fill {
    KC__FILL_MORE,  /* Call again when there is room. */
    KC__FILL_WAIT,  /* Nothing now; kc__exchange_wake will be called. */
    KC__FILL_END,   /* That was all. */
    KC__FILL_ABORT, /* Something went wrong in the middle: end it so that the client notices. */
} kc__fill;

/* A body made bit by bit, as fast as the client reads it. Both may be called from within
 * kc__exchange_answer: fill to see whether the body is long enough to be compressed, done when
 * nobody wants it. */
typedef struct kc__body_source {
    /* Appends to `out`, about `room` bytes; one item more than that is no harm. */
    kc__fill (*fill)(kc_buf *out, size_t room, void *user);
    /* Once, whatever happened, also when the client went away; fill is not called any more. */
    void (*done)(void *user);
} kc__body_source;

/*
 * What an answer 101 makes of the connection: it is the answer's for as long as it lasts. The
 * source gives the bytes that go out, as they are, and its end closes the connection; here come the
 * client's. When the client leaves or does not read, all is as with other sources.
 */
typedef struct kc__upgrade {
    const char *protocol; /* For the Upgrade field: "websocket". */
    /* Takes bytes the client sent, and says how many. Those it leaves are given to it again, with
     * others behind them, after kc__exchange_wake at the latest; while there are 16 KiB of them the
     * connection is not read. Not called after `done`. */
    size_t (*receive)(kc_str bytes, void *user);
} kc__upgrade;

/*
 * What to answer. Text is copied, except a body with an owner, which stays as it is until
 * release(owner).
 *
 * The carrier adds Date, Content-Length or what stands for it, and Connection; it leaves the body
 * out for HEAD, 204 and 304, and compresses (Content-Encoding, Vary) where `gzip` allows it, the
 * client accepts it and the body is long enough (KC__GZIP_FROM).
 */
typedef struct kc__answer {
    int status;
    kc_str type; /* Content-Type; empty: none. */
    const kc__header *headers;
    size_t n_headers;

    kc_str body;
    void *owner; /* Any thread may be in other uses of it; released on the loop's thread. */
    void (*release)(void *owner);

    const kc__body_source *source; /* Instead of body. */
    void *user;                    /* For the source. */
    size_t length;                 /* Of the source's body; 0: not known. */

    const kc__upgrade
        *upgrade; /* With status 101, a source, and where the request is upgradable. */

    bool gzip;
    bool flush; /* Send the head before the first byte of the body is there: watches. */
} kc__answer;

#define KC__GZIP_FROM ((size_t)128 << 10)

typedef struct kc__exchange kc__exchange;

typedef struct kc__exchange_ops {
    void (*answer)(kc__exchange *x, const kc__answer *answer);
    void (*wake)(kc__exchange *x);
} kc__exchange_ops;

/* Carriers embed this as their first member. */
struct kc__exchange {
    kc__request request;
    kc__loop *loop;
    const kc__exchange_ops *ops;
    bool gone; /* Nobody waits for the answer any more. */
};

typedef void kc__handler(kc__exchange *x, void *user);

/* Both on the loop's thread. */
static inline void kc__exchange_answer(kc__exchange *x, const kc__answer *answer)
{
    x->ops->answer(x, answer);
}

/* After KC__FILL_WAIT: there is more. Fill is called later, not from within; waking twice is
 * harmless. */
static inline void kc__exchange_wake(kc__exchange *x)
{
    x->ops->wake(x);
}

#endif
