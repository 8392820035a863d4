/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the frames of a WebSocket client. The first byte of an input decides how to split
 * the rest and the limit of messages.
 *
 * Any split gives the same events; no payload exceeds its limit; text is UTF-8; nothing follows a
 * close or an error. Frames written from the same bytes are read back after masking. The same bytes
 * as headers of a handshake give a complete response or none.
 */
#include "fuzzing.h"

#include "http/server/websocket.h"
#include "kc/utf8.h"

static bool is_utf8(kc_str text)
{
    while (text.n) {
        size_t n = kc_utf8_next(text, NULL);
        if (!n)
            return false;
        text = kc_str_sub(text, n, text.n);
    }
    return true;
}

static void check(const kc__websocket_reader *r, kc__websocket_event event, kc_str payload)
{
    switch (event) {
    case KC__WEBSOCKET_MORE: break;
    case KC__WEBSOCKET_MESSAGE:
        assert(payload.n <= r->max_message && (r->binary || is_utf8(payload)));
        break;
    case KC__WEBSOCKET_PINGED:
    case KC__WEBSOCKET_PONGED: assert(payload.n <= KC__WEBSOCKET_CONTROL); break;
    case KC__WEBSOCKET_CLOSED:
        assert(r->ended && (!r->code || (r->code >= 1000 && r->code <= 4999)));
        break;
    case KC__WEBSOCKET_BROKEN:
        assert(r->ended && (r->code == 1002 || r->code == 1007 || r->code == 1009));
        break;
    }
}

static void write_down(kc_buf *out, const kc__websocket_reader *r, kc__websocket_event event,
                       kc_str payload)
{
    if (event == KC__WEBSOCKET_MORE)
        return;
    kc_buf_printf(out, "%d %d %d %zu ", event, r->code, r->binary, payload.n);
    kc_buf_append(out, payload);
}

/* One piece, in a block of its own so that looking beyond it is seen. */
static void read_piece(kc__websocket_reader *r, kc_str piece, kc_buf *log)
{
    char *alone = kc_alloc(piece.n);
    if (piece.n)
        memcpy(alone, piece.p, piece.n);
    kc_str rest = kc_str_of(alone, piece.n);
    while (rest.n) {
        kc_str payload = {0};
        bool ended = r->ended;
        kc__websocket_event event = kc__websocket_read(r, &rest, &payload);
        assert(!ended || event == KC__WEBSOCKET_MORE);
        assert(event != KC__WEBSOCKET_MORE || !rest.n);
        assert(r->message.n <= r->max_message);
        check(r, event, payload);
        write_down(log, r, event, payload);
    }
    free(alone);
}

static void split_anywhere(kc_str bytes, size_t max_message, uint32_t random)
{
    kc__websocket_reader at_once = {.max_message = max_message}, r = {.max_message = max_message};
    kc_scoped(kc_buf) expected = {0}, log = {0};
    read_piece(&at_once, bytes, &expected);
    while (bytes.n) {
        random = random * 1664525 + 1013904223;
        size_t n = 1 + (random >> 16) % 9;
        read_piece(&r, kc_str_sub(bytes, 0, n), &log);
        bytes = kc_str_sub(bytes, n, bytes.n);
    }
    assert(kc_str_eq(kc_buf_str(&log), kc_buf_str(&expected)));
    kc__websocket_reader_done(&at_once);
    kc__websocket_reader_done(&r);
}

/* ---- writing ---- */

static void write_and_read(kc_str payload, kc__websocket_op op)
{
    kc__websocket_reader r = {.max_message = payload.n + 1};
    kc_scoped(kc_buf) frame = {0}, masked = {0};
    kc_str back = {0};
    if (op == KC__WEBSOCKET_PING)
        payload = kc_str_sub(payload, 0, KC__WEBSOCKET_CONTROL);
    kc__websocket_write(&frame, op, payload);
    size_t head = frame.n - payload.n;
    frame.p[1] = (char)((uint8_t)frame.p[1] | 0x80);
    kc_buf_append(&masked, kc_str_of(frame.p, head));
    kc_buf_append(&masked, kc_str_of("\0\0\0\0", 4));
    kc_buf_append(&masked, payload);
    kc_str rest = kc_buf_str(&masked);
    kc__websocket_event event = kc__websocket_read(&r, &rest, &back);
    assert(event == (op == KC__WEBSOCKET_PING ? KC__WEBSOCKET_PINGED : KC__WEBSOCKET_MESSAGE));
    assert(!rest.n && kc_str_eq(back, payload));
    kc__websocket_reader_done(&r);
}

/* ---- shaking hands ---- */

static void shake(kc_str text)
{
    kc__http_headers headers = {0};
    kc_scoped(kc_error) err = {0};
    kc__websocket_handshake_request hello;
    const kc_str key = kc_str_cut(&text, '\n');
    if (kc__http_headers_add(&headers, KC_STR("Sec-WebSocket-Key"), key, NULL) == 0 &&
        kc__http_headers_add(&headers, KC_STR("Sec-WebSocket-Version"), KC_STR("13"), NULL) == 0 &&
        kc__http_headers_add(&headers, KC_STR("Sec-WebSocket-Protocol"), text, NULL) == 0 &&
        kc__websocket_handshake(&headers, &hello, &err) == 0) {
        assert(strlen(hello.accept) == 28);
        assert(!hello.protocol.n || kc__http_is_header_name(hello.protocol));
        assert(!kc_str_starts(hello.protocol, KC_STR(KC__WEBSOCKET_TOKEN)));
    }
    kc__http_headers_done(&headers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t limits[] = {1, 16, 300, 100000};
    if (!size)
        return 0;
    kc_str bytes = kc_str_of((const char *)data + 1, size - 1);
    split_anywhere(bytes, limits[data[0] % KC_COUNT(limits)], data[0]);
    write_and_read(bytes, KC__WEBSOCKET_BINARY);
    write_and_read(bytes, KC__WEBSOCKET_PING);
    shake(bytes);
    return 0;
}
