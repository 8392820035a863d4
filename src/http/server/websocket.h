/* SPDX-License-Identifier: Apache-2.0 */
/*
 * websocket.h: WebSocket (RFC 6455), server side, without I/O: the handshake in the header fields,
 * writing frames, parsing frames. For the ownership of the connection see kc__http_upgrade in
 * exchange.h.
 *
 *     if (kc__websocket_is_requested(&x->request) &&
 *         kc__websocket_handshake(&x->request.headers, &hello, err) == 0)
 *         … respond 101 with Sec-WebSocket-Accept: hello.accept …
 *
 *     kc__websocket_write(out, KC__WEBSOCKET_TEXT, KC_STR("hello"));
 *
 *     while (bytes.n)
 *         switch (kc__websocket_read(&reader, &bytes, &payload)) …
 */
#ifndef KC_HTTP_WEBSOCKET_H
#define KC_HTTP_WEBSOCKET_H

#include "http/server/exchange.h"
#include "kc/buf.h"

/* ---- the handshake ---- */

/* Prefix of a pseudo subprotocol: clients that cannot set header fields pass their bearer token
 * in it. It is never selected, so never sent back. */
#define KC__WEBSOCKET_TOKEN "base64url.bearer.authorization.k8s.io."

/* Returns whether a GET requests an upgrade to WebSocket. (Not possible with HTTP/1.0: RFC 9110,
 * 7.8.) */
bool kc__websocket_is_requested(const kc__http_request *request);

typedef struct kc__websocket_handshake_request {
    char accept[29]; /* For Sec-WebSocket-Accept. */
    kc_str
        protocol; /* For Sec-WebSocket-Protocol; a slice of the request. Empty: none was offered. */
} kc__websocket_handshake_request;

/*
 * Parses the fields of such a request. KC_BAD_REQUEST for a version other than 13, a key that is
 * not 16 bytes in base64, or several subprotocols: the offered one is selected only if it is the
 * only one, because the server knows none of them.
 */
int kc__websocket_handshake(const kc__http_headers *headers, kc__websocket_handshake_request *ret,
                            kc_error *err);

/* ---- writing ---- */

typedef enum kc__websocket_op {
    KC__WEBSOCKET_CONTINUATION = 0,
    KC__WEBSOCKET_TEXT = 1,
    KC__WEBSOCKET_BINARY = 2,
    KC__WEBSOCKET_CLOSE = 8,
    KC__WEBSOCKET_PING = 9,
    KC__WEBSOCKET_PONG = 10,
} kc__websocket_op;

/* Close codes. */
enum {
    KC__WEBSOCKET_NO_CODE = 0, /* A close frame without one. */
    KC__WEBSOCKET_NORMAL = 1000,
    KC__WEBSOCKET_PROTOCOL_ERROR = 1002,
    KC__WEBSOCKET_BAD_TEXT = 1007,
    KC__WEBSOCKET_TOO_LARGE = 1009,
};

enum { KC__WEBSOCKET_CONTROL = 125 }; /* Maximum payload of a control frame. */

/* Appends one complete, unmasked message. The payload of a control frame has at most
 * KC__WEBSOCKET_CONTROL bytes. */
void kc__websocket_write(kc_buf *out, kc__websocket_op op, kc_str payload);
void kc__websocket_write_close(kc_buf *out, int code);

/* ---- reading ---- */

typedef enum kc__websocket_event {
    KC__WEBSOCKET_MORE, /* All bytes were consumed; no message is complete. */
    KC__WEBSOCKET_MESSAGE,
    KC__WEBSOCKET_PINGED,
    KC__WEBSOCKET_PONGED,
    KC__WEBSOCKET_CLOSED, /* reader.code is the client's close code. */
    KC__WEBSOCKET_BROKEN, /* Protocol error; reader.code is the close code to send. */
} kc__websocket_event;

/* Ready when zero-initialized. Not thread-safe. */
typedef struct kc__websocket_reader {
    size_t max_message; /* Maximum size of a message, all fragments together. Defaults to 64 KiB. */
    bool binary;        /* Type of the last message. */
    int code;
    bool ended; /* Further input is ignored. */

    /* Private. */
    uint8_t head[14]; /* Header of the current frame. */
    size_t n_head;
    bool in_payload;
    uint64_t left; /* Remaining bytes of its payload. */
    size_t at;     /* Bytes of it so far, for the mask. */
    bool begun;    /* A fragmented message has begun. */
    bool complete; /* The last call returned `message`. */
    kc_buf message;
    uint8_t control[KC__WEBSOCKET_CONTROL];
    size_t n_control;
} kc__websocket_reader;

void kc__websocket_reader_done(kc__websocket_reader *reader);

/*
 * Consumes bytes from the front of *bytes, up to the end of one message or control frame. *ret is
 * its payload, owned by the reader and valid until the next call; other events leave it untouched.
 * After CLOSED and BROKEN all input is dropped. A message takes no more memory than was received of
 * it.
 */
kc__websocket_event kc__websocket_read(kc__websocket_reader *reader, kc_str *bytes, kc_str *ret);

#endif
