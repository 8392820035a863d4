/* SPDX-License-Identifier: Apache-2.0 */
/* WebSocket: the handshake, and encoding and decoding of frames. */
#include "testing.h"

#include "http/server/websocket.h"

#include <stdio.h>

/* ---- handshakes ---- */

/* Field lines, with line ends between them; the text must outlive the headers. */
static kc__http_headers headers_of(const char *text)
{
    kc__http_headers headers = {0};
    kc_str rest = kc_cstr(text);
    while (rest.p) {
        kc_str value = kc_str_cut(&rest, '\n'), name = kc_str_cut(&value, ':');
        if (name.n)
            assert_int_equal(kc__http_headers_add(&headers, name, value, NULL), 0);
    }
    return headers;
}

static bool is_requested(const char *method, const char *protocol, const char *fields)
{
    kc__http_request request = {
        .method = kc_cstr(method), .protocol = protocol, .headers = headers_of(fields)};
    bool requested = kc__websocket_is_requested(&request);
    kc__http_headers_done(&request.headers);
    return requested;
}

static int shake(const char *fields, kc__websocket_handshake_request *ret, kc_error *err)
{
    kc__http_headers headers = headers_of(fields);
    int r = kc__websocket_handshake(&headers, ret, err);
    kc__http_headers_done(&headers);
    return r;
}

#define KEY     "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\n"
#define VERSION "Sec-WebSocket-Version: 13\n"

static void upgrade_and_connection_headers_request_a_websocket(void **state)
{
    (void)state;
    assert_true(is_requested("GET", "HTTP/1.1", "Upgrade: websocket\nConnection: Upgrade"));
    assert_true(is_requested("GET", "HTTP/1.1", "upgrade: WebSocket\nconnection: upgrade"));
    assert_true(
        is_requested("GET", "HTTP/1.1", "Upgrade: websocket\nConnection: keep-alive, Upgrade"));
    assert_true(is_requested("GET", "HTTP/1.1",
                             "Upgrade: websocket\nConnection: keep-alive\nConnection: upgrade"));
    assert_true(is_requested("GET", "HTTP/1.1", "Upgrade: h2c, websocket\nConnection: upgrade"));
}

static void incomplete_upgrade_is_a_plain_request(void **state)
{
    (void)state;
    assert_false(is_requested("GET", "HTTP/1.1", "Upgrade: websocket"));
    assert_false(is_requested("GET", "HTTP/1.1", "Connection: Upgrade"));
    assert_false(is_requested("GET", "HTTP/1.1", "Upgrade: websockets\nConnection: Upgrade"));
    assert_false(is_requested("GET", "HTTP/1.1", "Upgrade: websocket\nConnection: upgraded"));
    assert_false(is_requested("GET", "HTTP/1.1", "Upgrade: SPDY/3.1\nConnection: Upgrade"));
    assert_false(is_requested("POST", "HTTP/1.1", "Upgrade: websocket\nConnection: Upgrade"));
    assert_false(is_requested("HEAD", "HTTP/1.1", "Upgrade: websocket\nConnection: Upgrade"));
    assert_false(is_requested("GET", "HTTP/1.0", "Upgrade: websocket\nConnection: Upgrade"));
    assert_true(is_requested("GET", NULL, "Upgrade: websocket\nConnection: Upgrade"));
}

static void handshake_accept_value_matches_the_rfc(void **state)
{
    kc__websocket_handshake_request hello;
    (void)state;
    assert_int_equal(shake(KEY VERSION, &hello, NULL), 0);
    assert_string_equal(hello.accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert_true(kc_str_empty(hello.protocol));
}

static void assert_handshake_refused(const char *fields, const char *why)
{
    kc_scoped(kc_error) err = {0};
    kc__websocket_handshake_request hello = {.accept = "untouched"};
    assert_int_equal(shake(fields, &hello, &err), -KC_BAD_REQUEST);
    assert_error(&err, KC_BAD_REQUEST, why);
    assert_string_equal(hello.accept, "untouched");
}

static void other_versions_and_invalid_keys_are_refused(void **state)
{
    (void)state;
    assert_handshake_refused(KEY, "missing or bad WebSocket Version");
    assert_handshake_refused(KEY "Sec-WebSocket-Version: 8", "WebSocket Version");
    assert_handshake_refused(KEY "Sec-WebSocket-Version: 13, 8", "WebSocket Version");
    assert_handshake_refused(KEY VERSION VERSION, "WebSocket Version");
    assert_handshake_refused(VERSION, "missing or bad Sec-WebSocket-Key");
    assert_handshake_refused(VERSION "Sec-WebSocket-Key: ", "Sec-WebSocket-Key");
    assert_handshake_refused(VERSION "Sec-WebSocket-Key: c2hvcnQ=", "Sec-WebSocket-Key");
    assert_handshake_refused(VERSION "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZSEh",
                             "Sec-WebSocket-Key");
    assert_handshake_refused(VERSION "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZ!==",
                             "Sec-WebSocket-Key");
    assert_handshake_refused(VERSION KEY KEY, "Sec-WebSocket-Key");
}

static void single_subprotocol_is_echoed_and_token_ignored(void **state)
{
    kc__websocket_handshake_request hello;
    (void)state;
    assert_int_equal(
        shake(KEY VERSION "Sec-WebSocket-Protocol: base64.binary.k8s.io", &hello, NULL), 0);
    assert_int_equal(hello.protocol.n, strlen("base64.binary.k8s.io"));
    assert_int_equal(shake(KEY VERSION "Sec-WebSocket-Protocol: " KC__WEBSOCKET_TOKEN
                                       "c2VjcmV0, v4",
                           &hello, NULL),
                     0);
    assert_int_equal(hello.protocol.n, 2);
    assert_int_equal(
        shake(KEY VERSION "Sec-WebSocket-Protocol: " KC__WEBSOCKET_TOKEN "c2VjcmV0", &hello, NULL),
        0);
    assert_true(kc_str_empty(hello.protocol));
    assert_handshake_refused(KEY VERSION "Sec-WebSocket-Protocol: a, b", "WebSocket-Protocol");
    assert_handshake_refused(KEY VERSION "Sec-WebSocket-Protocol: a\nSec-WebSocket-Protocol: b",
                             "WebSocket-Protocol");
    assert_handshake_refused(KEY VERSION "Sec-WebSocket-Protocol: not a token",
                             "WebSocket-Protocol");
}

/* ---- writing ---- */

static void short_text_has_a_two_byte_header(void **state)
{
    kc_scoped(kc_buf) out = {0};
    (void)state;
    kc__websocket_write(&out, KC__WEBSOCKET_TEXT, KC_STR("Hello"));
    assert_str(kc_buf_str(&out), "\x81\x05Hello");
}

static void lengths_use_the_shortest_encoding(void **state)
{
    static const struct {
        size_t length, head;
        const char *bytes;
    } rows[] = {
        {0, 2, "\x82\x00"},
        {125, 2, "\x82\x7d"},
        {126, 4, "\x82\x7e\x00\x7e"},
        {65535, 4, "\x82\x7e\xff\xff"},
        {65536, 10, "\x82\x7f\x00\x00\x00\x00\x00\x01\x00\x00"},
    };
    static const char zeros[65536];
    (void)state;
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        kc_scoped(kc_buf) out = {0};
        kc__websocket_write(&out, KC__WEBSOCKET_BINARY, kc_str_of(zeros, rows[i].length));
        assert_int_equal(out.n, rows[i].head + rows[i].length);
        assert_memory_equal(out.p, rows[i].bytes, rows[i].head);
    }
}

static void close_frame_has_a_code_or_is_empty(void **state)
{
    kc_scoped(kc_buf) out = {0};
    (void)state;
    kc__websocket_write_close(&out, KC__WEBSOCKET_PROTOCOL_ERROR);
    kc__websocket_write_close(&out, KC__WEBSOCKET_NO_CODE);
    assert_int_equal(out.n, 6);
    assert_memory_equal(out.p, "\x88\x02\x03\xea\x88\x00", 6);
}

/* ---- reading ---- */

/* What a client would send: masked. */
static void put_frame(kc_buf *out, unsigned first, kc_str payload)
{
    static const unsigned char mask[4] = {0x37, 0xfa, 0x21, 0x3d};
    size_t at = out->n;
    kc__websocket_write(out, KC__WEBSOCKET_TEXT, payload);
    out->p[at] = (char)first;
    out->p[at + 1] = (char)((unsigned char)out->p[at + 1] | 0x80);
    size_t head = out->n - payload.n;
    kc_buf_append(out, KC_STR("mask"));
    if (payload.n)
        memmove(out->p + head + 4, out->p + head, payload.n);
    memcpy(out->p + head, mask, 4);
    for (size_t i = 0; i < payload.n; i++)
        out->p[head + 4 + i] = (char)((unsigned char)out->p[head + 4 + i] ^ mask[i % 4]);
}

static void describe(kc_buf *out, const kc__websocket_reader *r, kc__websocket_event event,
                     kc_str payload)
{
    switch (event) {
    case KC__WEBSOCKET_MORE: break;
    case KC__WEBSOCKET_MESSAGE:
        kc_buf_printf(out, "%s %.*s; ", r->binary ? "binary" : "text", KC_ARG(payload));
        break;
    case KC__WEBSOCKET_PINGED: kc_buf_printf(out, "ping %.*s; ", KC_ARG(payload)); break;
    case KC__WEBSOCKET_PONGED: kc_buf_printf(out, "pong %.*s; ", KC_ARG(payload)); break;
    case KC__WEBSOCKET_CLOSED: kc_buf_printf(out, "closed %d; ", r->code); break;
    case KC__WEBSOCKET_BROKEN: kc_buf_printf(out, "broken %d; ", r->code); break;
    }
}

/* What the reader makes of bytes that come `step` at a time. */
static char *read_by(kc_str bytes, size_t step, size_t max_message)
{
    kc__websocket_reader reader = {.max_message = max_message};
    kc_buf out = {0};
    for (size_t at = 0; at < bytes.n; at += step) {
        kc_str piece = kc_str_sub(bytes, at, at + step);
        while (piece.n) {
            kc_str payload = {0};
            kc__websocket_event event = kc__websocket_read(&reader, &piece, &payload);
            describe(&out, &reader, event, payload);
        }
    }
    kc__websocket_reader_done(&reader);
    return kc_buf_take(&out);
}

static void reads_as_with(kc_str bytes, size_t max_message, const char *expected)
{
    static const size_t steps[] = {1, 2, 3, 7, 1000000};
    for (size_t i = 0; i < KC_COUNT(steps); i++) {
        char *got = read_by(bytes, steps[i], max_message);
        assert_string_equal(got, expected);
        free(got);
    }
}

static void reads_as(const kc_buf *bytes, const char *expected)
{
    reads_as_with(kc_buf_str(bytes), 0, expected);
}

#define RAW_READS_AS(literal, expected) reads_as_with(KC_STR(literal), 0, expected)

static void messages_are_parsed_at_any_split(void **state)
{
    kc_scoped(kc_buf) in = {0};
    (void)state;
    put_frame(&in, 0x81, KC_STR("Hello"));
    put_frame(&in, 0x82, KC_STR("bytes"));
    put_frame(&in, 0x81, KC_STR(""));
    reads_as(&in, "text Hello; binary bytes; text ; ");
}

static void long_messages_have_extended_lengths(void **state)
{
    static const size_t lengths[] = {125, 126, 65535, 65536};
    (void)state;
    for (size_t i = 0; i < KC_COUNT(lengths); i++) {
        kc_scoped(kc_buf) in = {0}, text = {0}, expected = {0};
        while (text.n < lengths[i])
            kc_buf_putc(&text, (char)('a' + text.n % 26));
        put_frame(&in, 0x82, kc_buf_str(&text));
        kc_buf_printf(&expected, "binary %s; ", kc_buf_cstr(&text));
        reads_as(&in, kc_buf_cstr(&expected));
    }
}

static void fragments_are_joined_with_control_frames_between(void **state)
{
    kc_scoped(kc_buf) in = {0};
    (void)state;
    put_frame(&in, 0x01, KC_STR("Hel"));
    put_frame(&in, 0x89, KC_STR("are you there?"));
    put_frame(&in, 0x00, KC_STR(""));
    put_frame(&in, 0x8a, KC_STR(""));
    put_frame(&in, 0x80, KC_STR("lo"));
    put_frame(&in, 0x82, KC_STR("next"));
    reads_as(&in, "ping are you there?; pong ; text Hello; binary next; ");
}

static void character_may_be_split_between_fragments(void **state)
{
    kc_scoped(kc_buf) in = {0};
    (void)state;
    put_frame(&in, 0x01, KC_STR("caf\xc3"));
    put_frame(&in, 0x80, KC_STR("\xa9"));
    reads_as(&in, "text caf\xc3\xa9; ");
}

static void frames_after_close_are_dropped(void **state)
{
    kc_scoped(kc_buf) in = {0};
    (void)state;
    put_frame(&in, 0x88,
              KC_STR("\x03\xe9"
                     "bye"));
    put_frame(&in, 0x81, KC_STR("more"));
    reads_as(&in, "closed 1001; ");
}

static void close_may_be_empty(void **state)
{
    kc_scoped(kc_buf) in = {0};
    (void)state;
    put_frame(&in, 0x88, KC_STR(""));
    reads_as(&in, "closed 0; ");
}

static void reserved_close_codes_are_refused(void **state)
{
    static const int bad[] = {0, 1, 999, 1004, 1005, 1006, 1015, 1100, 2999, 5000, 65535};
    (void)state;
    for (size_t i = 0; i < KC_COUNT(bad); i++) {
        kc_scoped(kc_buf) in = {0};
        const char code[2] = {(char)(bad[i] >> 8), (char)bad[i]};
        put_frame(&in, 0x88, kc_str_of(code, 2));
        reads_as(&in, "broken 1002; ");
    }
    kc_scoped(kc_buf) half = {0};
    put_frame(&half, 0x88, KC_STR("\x03"));
    reads_as(&half, "broken 1002; ");
}

static void unmasked_frame_is_refused(void **state)
{
    (void)state;
    RAW_READS_AS("\x81\x05Hello", "broken 1002; ");
}

static void reserved_bits_and_opcodes_are_refused(void **state)
{
    static const unsigned first[] = {0xC1, 0xA1, 0x91, 0x83, 0x87, 0x8B, 0x8F};
    (void)state;
    for (size_t i = 0; i < KC_COUNT(first); i++) {
        kc_scoped(kc_buf) in = {0};
        put_frame(&in, first[i], KC_STR("x"));
        reads_as(&in, "broken 1002; ");
    }
}

static void long_or_fragmented_control_frames_are_refused(void **state)
{
    kc_scoped(kc_buf) longest = {0}, fragment = {0};
    char text[126];
    (void)state;
    memset(text, 'p', sizeof(text));
    put_frame(&longest, 0x89, kc_str_of(text, 125));
    put_frame(&longest, 0x89, kc_str_of(text, 126));
    kc_scoped(kc_buf) expected = {0};
    kc_buf_printf(&expected, "ping %.125s; broken 1002; ", text);
    reads_as(&longest, kc_buf_cstr(&expected));
    put_frame(&fragment, 0x09, KC_STR("x"));
    reads_as(&fragment, "broken 1002; ");
}

static void fragments_out_of_order_are_refused(void **state)
{
    kc_scoped(kc_buf) orphan = {0}, nested = {0};
    (void)state;
    put_frame(&orphan, 0x80, KC_STR("x"));
    reads_as(&orphan, "broken 1002; ");
    put_frame(&nested, 0x01, KC_STR("x"));
    put_frame(&nested, 0x81, KC_STR("y"));
    reads_as(&nested, "broken 1002; ");
}

static void overlong_length_encoding_is_refused(void **state)
{
    (void)state;
    RAW_READS_AS("\x81\xfe\x00\x05mask", "broken 1002; ");
    RAW_READS_AS("\x81\xff\x00\x00\x00\x00\x00\x00\xff\xffmask", "broken 1002; ");
    RAW_READS_AS("\x81\xff\x80\x00\x00\x00\x00\x00\x00\x00mask", "broken 1002; ");
}

static void message_beyond_limit_is_refused_by_its_header(void **state)
{
    kc_scoped(kc_buf) in = {0};
    (void)state;
    RAW_READS_AS("\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xffmask", "broken 1009; ");
    RAW_READS_AS("\x82\xff\x00\x00\x00\x00\x00\x01\x00\x01mask", "broken 1009; ");
    put_frame(&in, 0x02, KC_STR("12345"));
    put_frame(&in, 0x89, KC_STR("not counted"));
    put_frame(&in, 0x80, KC_STR("678"));
    reads_as_with(kc_buf_str(&in), 8, "ping not counted; binary 12345678; ");
    reads_as_with(kc_buf_str(&in), 7, "ping not counted; broken 1009; ");
}

static void invalid_utf8_text_is_refused(void **state)
{
    kc_scoped(kc_buf) text = {0}, reason = {0}, binary = {0};
    (void)state;
    put_frame(&text, 0x81, KC_STR("caf\xe9"));
    reads_as(&text, "broken 1007; ");
    put_frame(&reason, 0x88, KC_STR("\x03\xe8\xff"));
    reads_as(&reason, "broken 1007; ");
    put_frame(&binary, 0x82, KC_STR("\xff\xfe"));
    reads_as(&binary, "binary \xff\xfe; ");
}

TESTS(upgrade_and_connection_headers_request_a_websocket, incomplete_upgrade_is_a_plain_request,
      handshake_accept_value_matches_the_rfc, other_versions_and_invalid_keys_are_refused,
      single_subprotocol_is_echoed_and_token_ignored, short_text_has_a_two_byte_header,
      lengths_use_the_shortest_encoding, close_frame_has_a_code_or_is_empty,
      messages_are_parsed_at_any_split, long_messages_have_extended_lengths,
      fragments_are_joined_with_control_frames_between, character_may_be_split_between_fragments,
      frames_after_close_are_dropped, close_may_be_empty, reserved_close_codes_are_refused,
      unmasked_frame_is_refused, reserved_bits_and_opcodes_are_refused,
      long_or_fragmented_control_frames_are_refused, fragments_out_of_order_are_refused,
      overlong_length_encoding_is_refused, message_beyond_limit_is_refused_by_its_header,
      invalid_utf8_text_is_refused)
