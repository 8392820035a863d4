/* SPDX-License-Identifier: Apache-2.0 */
/*
 * websocket.c: the handshake and the frames of WebSocket, server side.
 *
 * A frame:
 *
 *     FIN, three bits that are 0, four bits of opcode
 *     one bit: masked, seven bits of length; 126: two bytes follow, 127: eight
 *     four bytes of mask, if masked: clients must mask, servers must not
 *     the payload, each byte XORed with that of the mask
 *
 * The reader is a state machine over bytes split anywhere. It first collects the header, whose
 * second byte determines its length. The payload then goes to the message or, for a control frame
 * (which may come between the fragments of a message), to a small array. A header is validated as
 * soon as it is complete, so an excessive length costs nothing. Extensions are never negotiated.
 */
#include "http/server/websocket.h"

#include "kc/base64.h"
#include "kc/utf8.h"

#include <assert.h>
#include <openssl/evp.h>

enum { MAX_MESSAGE = 64 * 1024, FIN = 0x80, RESERVED = 0x70, OPCODE = 0x0F, MASKED = 0x80 };

/* ---- the handshake ---- */

static bool list_has(const kc__http_headers *headers, kc_str name, kc_str token)
{
    size_t at = 0;
    kc_str value;
    while (kc__http_headers_next(headers, name, &at, &value))
        while (value.p)
            if (kc_str_eq_nocase(kc_str_trim(kc_str_cut(&value, ',')), token))
                return true;
    return false;
}

bool kc__websocket_is_requested(const kc__http_request *request)
{
    return kc_str_is(request->method, "GET") &&
           !kc_str_is(kc_cstr(request->protocol), "HTTP/1.0") &&
           list_has(&request->headers, KC_STR("Upgrade"), KC_STR("websocket")) &&
           list_has(&request->headers, KC_STR("Connection"), KC_STR("upgrade"));
}

/* Returns the value of a field that occurs exactly once: two different values would be
 * ambiguous. */
static kc_str only_value(const kc__http_headers *headers, kc_str name)
{
    size_t at = 0;
    kc_str value = {0}, other;
    if (!kc__http_headers_next(headers, name, &at, &value) ||
        kc__http_headers_next(headers, name, &at, &other))
        return (kc_str){0};
    return kc_str_trim(value);
}

static bool is_key(kc_str key)
{
    kc_scoped(kc_buf) nonce = {0};
    return key.n == 24 && kc_base64_read(&nonce, key, KC_BASE64) && nonce.n == 16;
}

static void accept_key(kc_str key, char out[29])
{
    kc_scoped(kc_buf) text = {0};
    kc_scoped(kc_buf) base64 = {0};
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    kc_buf_append(&text, key);
    kc_buf_puts(&text, "258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    int r = EVP_Digest(text.p, text.n, digest, &n, EVP_sha1(), NULL);
    assert(r == 1 && n == 20);
    (void)r;
    kc_base64_write(&base64, kc_str_of((const char *)digest, n), KC_BASE64);
    memcpy(out, kc_buf_cstr(&base64), 29);
}

/* Returns false if there are several to choose from. */
static bool find_protocol(const kc__http_headers *headers, kc_str *ret)
{
    size_t at = 0;
    kc_str value, found = {0};
    while (kc__http_headers_next(headers, KC_STR("Sec-WebSocket-Protocol"), &at, &value))
        while (value.p) {
            kc_str name = kc_str_trim(kc_str_cut(&value, ','));
            if (!name.n || kc_str_starts(name, KC_STR(KC__WEBSOCKET_TOKEN)))
                continue;
            if (found.n)
                return false;
            found = name;
        }
    *ret = found;
    return true;
}

int kc__websocket_handshake(const kc__http_headers *headers, kc__websocket_handshake_request *ret,
                            kc_error *err)
{
    kc_str key = only_value(headers, KC_STR("Sec-WebSocket-Key")), protocol;
    if (!kc_str_is(only_value(headers, KC_STR("Sec-WebSocket-Version")), "13"))
        return kc_error_set(err, KC_BAD_REQUEST, "missing or bad WebSocket Version");
    if (!is_key(key))
        return kc_error_set(err, KC_BAD_REQUEST, "missing or bad Sec-WebSocket-Key");
    if (!find_protocol(headers, &protocol) || (protocol.n && !kc__http_is_header_name(protocol)))
        return kc_error_set(err, KC_BAD_REQUEST, "missing or bad WebSocket-Protocol");
    accept_key(key, ret->accept);
    ret->protocol = protocol;
    return 0;
}

/* ---- writing ---- */

static void put_big_endian(kc_buf *out, uint64_t number, size_t bytes)
{
    while (bytes-- > 0)
        kc_buf_putc(out, (char)(number >> (8 * bytes) & 0xFF));
}

void kc__websocket_write(kc_buf *out, kc__websocket_op op, kc_str payload)
{
    assert(op < KC__WEBSOCKET_CLOSE || payload.n <= KC__WEBSOCKET_CONTROL);
    kc_buf_reserve(out, payload.n + 10);
    kc_buf_putc(out, (char)(FIN | op));
    if (payload.n <= 125) {
        put_big_endian(out, payload.n, 1);
    } else if (payload.n <= UINT16_MAX) {
        kc_buf_putc(out, 126);
        put_big_endian(out, payload.n, 2);
    } else {
        kc_buf_putc(out, 127);
        put_big_endian(out, payload.n, 8);
    }
    kc_buf_append(out, payload);
}

void kc__websocket_write_close(kc_buf *out, int code)
{
    const char bytes[2] = {(char)(code >> 8), (char)code};
    kc__websocket_write(out, KC__WEBSOCKET_CLOSE, kc_str_of(bytes, code ? sizeof(bytes) : 0));
}

/* ---- reading: frame headers ---- */

static kc__websocket_event fail_websocket(kc__websocket_reader *r, int code)
{
    r->code = code;
    r->ended = true;
    return KC__WEBSOCKET_BROKEN;
}

static unsigned opcode_of(const kc__websocket_reader *r)
{
    return r->head[0] & OPCODE;
}

static bool is_control(const kc__websocket_reader *r)
{
    return opcode_of(r) >= KC__WEBSOCKET_CLOSE;
}

static size_t length_bytes(const kc__websocket_reader *r)
{
    unsigned n = r->head[1] & ~MASKED;
    return n == 126 ? 2 : n == 127 ? 8 : 0;
}

/* The first two bytes determine the length of the header. */
static size_t head_length(const kc__websocket_reader *r)
{
    return r->n_head < 2 ? 2 : 2 + length_bytes(r) + 4;
}

static const uint8_t *mask_of(const kc__websocket_reader *r)
{
    return r->head + 2 + length_bytes(r);
}

/* Validates the first two bytes. */
static bool is_start_ok(const kc__websocket_reader *r)
{
    unsigned op = opcode_of(r);
    if ((r->head[0] & RESERVED) || !(r->head[1] & MASKED))
        return false;
    if (is_control(r))
        return op <= KC__WEBSOCKET_PONG && (r->head[0] & FIN) && !length_bytes(r);
    return r->begun ? op == KC__WEBSOCKET_CONTINUATION
                    : op == KC__WEBSOCKET_TEXT || op == KC__WEBSOCKET_BINARY;
}

static uint64_t payload_length(const kc__websocket_reader *r)
{
    uint64_t length = 0;
    size_t bytes = length_bytes(r);
    if (!bytes)
        return r->head[1] & ~MASKED;
    for (size_t i = 0; i < bytes; i++)
        length = length << 8 | r->head[2 + i];
    return length;
}

/* The length is not minimally encoded, or has the highest bit set. */
static bool is_length_wrong(const kc__websocket_reader *r, uint64_t length)
{
    size_t bytes = length_bytes(r);
    return (bytes == 2 && length < 126) ||
           (bytes == 8 && (length <= UINT16_MAX || length > INT64_MAX));
}

static kc__websocket_event begin_payload(kc__websocket_reader *r)
{
    size_t max = r->max_message ? r->max_message : MAX_MESSAGE;
    uint64_t length = payload_length(r);
    if (is_length_wrong(r, length))
        return fail_websocket(r, KC__WEBSOCKET_PROTOCOL_ERROR);
    if (!is_control(r)) {
        if (length > max - r->message.n)
            return fail_websocket(r, KC__WEBSOCKET_TOO_LARGE);
        if (!r->begun)
            r->binary = opcode_of(r) == KC__WEBSOCKET_BINARY;
        r->begun = true;
    }
    r->in_payload = true;
    r->left = length;
    r->at = r->n_control = 0;
    return KC__WEBSOCKET_MORE;
}

static kc__websocket_event read_head(kc__websocket_reader *r, kc_str *bytes)
{
    while (bytes->n && r->n_head < head_length(r)) {
        r->head[r->n_head++] = (uint8_t)bytes->p[0];
        *bytes = kc_str_sub(*bytes, 1, bytes->n);
        if (r->n_head == 2 && !is_start_ok(r))
            return fail_websocket(r, KC__WEBSOCKET_PROTOCOL_ERROR);
    }
    return r->n_head == head_length(r) ? begin_payload(r) : KC__WEBSOCKET_MORE;
}

/* ---- reading: payloads ---- */

static void unmask(kc__websocket_reader *r, char *to, kc_str from)
{
    const uint8_t *mask = mask_of(r);
    for (size_t i = 0; i < from.n; i++)
        to[i] = (char)((uint8_t)from.p[i] ^ mask[(r->at + i) % 4]);
    r->at += from.n;
}

static void read_payload(kc__websocket_reader *r, kc_str *bytes)
{
    kc_str piece = kc_str_sub(*bytes, 0, (size_t)KC_MIN(r->left, (uint64_t)bytes->n));
    *bytes = kc_str_sub(*bytes, piece.n, bytes->n);
    r->left -= piece.n;
    if (is_control(r)) {
        unmask(r, (char *)r->control + r->n_control, piece);
        r->n_control += piece.n;
    } else if (piece.n) {
        unmask(r, kc_buf_reserve(&r->message, piece.n), piece);
        r->message.n += piece.n;
    }
}

/* Codes that a peer may send (RFC 6455, 7.4, and the registry); the others only denote events
 * without a close frame. */
static bool is_close_code(int code)
{
    return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
           (code >= 3000 && code <= 4999);
}

static kc__websocket_event end_close(kc__websocket_reader *r)
{
    int code = r->n_control >= 2 ? r->control[0] << 8 | r->control[1] : KC__WEBSOCKET_NO_CODE;
    kc_str reason = kc_str_sub(kc_str_of((const char *)r->control, r->n_control), 2, SIZE_MAX);
    if (r->n_control == 1 || (code && !is_close_code(code)) || (r->n_control >= 2 && !code))
        return fail_websocket(r, KC__WEBSOCKET_PROTOCOL_ERROR);
    if (!kc_utf8_is_valid(reason))
        return fail_websocket(r, KC__WEBSOCKET_BAD_TEXT);
    r->code = code;
    r->ended = true;
    return KC__WEBSOCKET_CLOSED;
}

static kc__websocket_event end_message(kc__websocket_reader *r, kc_str *ret)
{
    if (!(r->head[0] & FIN))
        return KC__WEBSOCKET_MORE;
    r->begun = false;
    if (!r->binary && !kc_utf8_is_valid(kc_buf_str(&r->message)))
        return fail_websocket(r, KC__WEBSOCKET_BAD_TEXT);
    r->complete = true;
    *ret = kc_buf_str(&r->message);
    return KC__WEBSOCKET_MESSAGE;
}

static kc__websocket_event end_frame(kc__websocket_reader *r, kc_str *ret)
{
    r->in_payload = false;
    r->n_head = 0;
    if (!is_control(r))
        return end_message(r, ret);
    if (opcode_of(r) == KC__WEBSOCKET_CLOSE)
        return end_close(r);
    *ret = kc_str_of((const char *)r->control, r->n_control);
    return opcode_of(r) == KC__WEBSOCKET_PING ? KC__WEBSOCKET_PINGED : KC__WEBSOCKET_PONGED;
}

kc__websocket_event kc__websocket_read(kc__websocket_reader *r, kc_str *bytes, kc_str *ret)
{
    kc__websocket_event event = KC__WEBSOCKET_MORE;
    if (r->complete) /* Most connections are idle: an empty buffer keeps no memory. */
        kc_buf_done(&r->message);
    r->complete = false;
    while (bytes->n && !r->ended && event == KC__WEBSOCKET_MORE) {
        if (!r->in_payload)
            event = read_head(r, bytes);
        else
            read_payload(r, bytes);
        if (r->in_payload && !r->left && !r->ended)
            event = end_frame(r, ret);
    }
    if (r->ended) {
        kc_buf_done(&r->message);
        *bytes = (kc_str){0};
    }
    return event;
}

void kc__websocket_reader_done(kc__websocket_reader *r)
{
    kc_buf_done(&r->message);
    r->complete = r->begun = false;
}
