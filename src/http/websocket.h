/* SPDX-License-Identifier: Apache-2.0 */
/*
 * websocket.h: WebSocket (RFC 6455), the server's side, as text and bytes: the handshake in a
 * request's fields, frames to be written, frames that were read. Who owns the connection is another
 * matter: see kc__upgrade of exchange.h.
 *
 *     if (kc__websocket_is_asked(&x->request) &&
 *         kc__websocket_shake(&x->request.headers, &hello, err) == 0)
 *         … answer 101 with Sec-WebSocket-Accept: hello.accept …
 *
 *     kc__websocket_write(out, KC__WEBSOCKET_TEXT, KC_STR("hello"));
 *
 *     while (bytes.n)
 *         switch (kc__websocket_read(&reader, &bytes, &payload)) …
 */
#ifndef KC_HTTP_WEBSOCKET_H
#define KC_HTTP_WEBSOCKET_H

#include "http/exchange.h"
#include "kc/buf.h"

/* ---- the handshake ---- */

/* A subprotocol that is none: clients that cannot set header fields put their token into it. It is
 * never chosen, so never sent back. */
#define KC__WEBSOCKET_TOKEN "base64url.bearer.authorization.k8s.io."

/* Does a GET offer to go on as WebSocket? (An HTTP/1.0 client cannot: RFC 9110, 7.8.) */
bool kc__websocket_is_asked(const kc__request *request);

typedef struct kc__websocket_hello {
    char accept[29]; /* For Sec-WebSocket-Accept. */
    kc_str protocol; /* For Sec-WebSocket-Protocol; the request's text. Empty: none was offered. */
} kc__websocket_hello;

/*
 * Reads the fields of one that does. KC_BAD_REQUEST for a version other than 13, a key that is not
 * 16 bytes in base64, or several subprotocols: the first that is offered is taken, but only when
 * the client leaves no choice, for we know none of them.
 */
int kc__websocket_shake(const kc__headers *headers, kc__websocket_hello *ret, kc_error *err);

/* ---- writing ---- */

typedef enum kc__websocket_op {
    KC__WEBSOCKET_CONTINUATION = 0,
    KC__WEBSOCKET_TEXT = 1,
    KC__WEBSOCKET_BINARY = 2,
    KC__WEBSOCKET_CLOSE = 8,
    KC__WEBSOCKET_PING = 9,
    KC__WEBSOCKET_PONG = 10,
} kc__websocket_op;

/* Why it is closed. */
enum {
    KC__WEBSOCKET_NO_CODE = 0, /* A close frame without one. */
    KC__WEBSOCKET_NORMAL = 1000,
    KC__WEBSOCKET_PROTOCOL_ERROR = 1002,
    KC__WEBSOCKET_BAD_TEXT = 1007,
    KC__WEBSOCKET_TOO_LARGE = 1009,
};

enum { KC__WEBSOCKET_CONTROL = 125 }; /* Bytes of a control frame's payload at most. */

/* Appends one whole message, not masked. That of a control frame is at most KC__WEBSOCKET_CONTROL
 * bytes long. */
void kc__websocket_write(kc_buf *out, kc__websocket_op op, kc_str payload);
void kc__websocket_write_close(kc_buf *out, int code);

/* ---- reading ---- */

typedef enum kc__websocket_event {
    KC__WEBSOCKET_MORE, /* All bytes were taken; nothing is complete. */
    KC__WEBSOCKET_MESSAGE,
    KC__WEBSOCKET_PINGED,
    KC__WEBSOCKET_PONGED,
    KC__WEBSOCKET_CLOSED, /* reader.code is what the client said. */
    KC__WEBSOCKET_BROKEN, /* reader.code is what to close with. */
} kc__websocket_event;

/* A zeroed one is ready. Not for several threads at a time. */
typedef struct kc__websocket_reader {
    size_t max_message; /* Bytes of a message, all its fragments together. Defaults to 64 KiB. */
    bool binary;        /* The message that was read. */
    int code;
    bool ended; /* Nothing that comes counts any more. */

    /* Private. */
    uint8_t head[14]; /* Of the frame that is being read. */
    size_t n_head;
    bool in_payload;
    uint64_t left; /* Of its payload. */
    size_t at;     /* Bytes of it so far, for the mask. */
    bool begun;    /* A message has begun and goes on. */
    bool complete; /* The last call gave `message` away. */
    kc_buf message;
    uint8_t control[KC__WEBSOCKET_CONTROL];
    size_t n_control;
} kc__websocket_reader;

void kc__websocket_reader_done(kc__websocket_reader *reader);

/*
 * Takes bytes from the front of *bytes, up to the end of one message or control frame. *ret is its
 * payload, the reader's until the next call; untouched by the other events. After CLOSED and BROKEN
 * everything is taken and dropped. A message takes no more memory than what came of it.
 */
kc__websocket_event kc__websocket_read(kc__websocket_reader *reader, kc_str *bytes, kc_str *ret);

#endif
