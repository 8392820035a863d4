/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gRPC server that sends anything to the client. The first byte decides how the rest is used:
 *
 *     even   bytes of the connection, after valid settings, in parts whose length the byte before
 *            each gives
 *     odd    a script: an operation, its arguments (see `operations`), the next one; among them
 *            heads and messages of responses, valid or nearly so, frames of every type, and what
 *            the owner of an exchange does: begin, pause, resume, cancel
 *
 * For any input: every exchange is closed once, with a message in its status; a message is never
 * above the limit and never passed to a paused or closed exchange; held bytes fit the window;
 * output consists of complete frames; nothing leaks.
 */
#include "fuzzing.h"

#include "grpc/session.h"

enum { EXCHANGES = 16, MAX_MESSAGE = 2000 };

typedef struct fuzzed_exchange {
    kc__grpc_exchange x; /* First. */
    bool begun, closed, pauses;
    size_t to_send;
} fuzzed_exchange;

typedef struct scene {
    kc__grpc_session session;
    fuzzed_exchange exchanges[EXCHANGES];
    kc_str input;
    bool over;
} scene;

static uint8_t next_byte(scene *s)
{
    const uint8_t byte = s->input.n ? (uint8_t)s->input.p[0] : 0;
    s->input = kc_str_sub(s->input, 1, s->input.n);
    return byte;
}

static kc_str next_bytes(scene *s, size_t n)
{
    const kc_str bytes = kc_str_sub(s->input, 0, n);
    s->input = kc_str_sub(s->input, bytes.n, s->input.n);
    return bytes;
}

/* ---- the owner of exchanges ---- */

static size_t read_some(kc__grpc_exchange *x, char *to, size_t size, bool *ret_end)
{
    fuzzed_exchange *f = (fuzzed_exchange *)x;
    const size_t n = KC_MIN(size, f->to_send);
    assert(!f->closed);
    memset(to, 0, n);
    f->to_send -= n;
    *ret_end = !f->pauses && !f->to_send;
    return n;
}

static void opened(kc__grpc_exchange *x)
{
    assert(!((fuzzed_exchange *)x)->closed);
}

static bool message_received(kc__grpc_exchange *x, kc_str message, kc__grpc_status *failure)
{
    fuzzed_exchange *f = (fuzzed_exchange *)x;
    assert(!f->closed && !atomic_load(&x->paused) && message.n <= MAX_MESSAGE);
    if (f->pauses && message.n % 2)
        atomic_store(&x->paused, true);
    if (message.n != 77)
        return true;
    kc__grpc_status_set(failure, KC__GRPC_INTERNAL, "refused by the owner");
    return false;
}

static void closed(kc__grpc_exchange *x)
{
    fuzzed_exchange *f = (fuzzed_exchange *)x;
    assert(f->begun && !f->closed && !x->session && x->status.message);
    assert(x->status.code >= KC__GRPC_OK && x->status.code <= KC__GRPC_UNAUTHENTICATED);
    f->closed = true;
}

static const kc__grpc_exchange_ops ops = {read_some, opened, message_received, closed};

static fuzzed_exchange *some_exchange(scene *s)
{
    return &s->exchanges[next_byte(s) % EXCHANGES];
}

static void op_begin(scene *s)
{
    static const nghttp2_nv head[] = {
        {(uint8_t *)":method", (uint8_t *)"POST", 7, 4, 0},
        {(uint8_t *)":scheme", (uint8_t *)"http", 7, 4, 0},
        {(uint8_t *)":path", (uint8_t *)"/a/B", 5, 4, 0},
        {(uint8_t *)":authority", (uint8_t *)"h", 10, 1, 0},
    };
    fuzzed_exchange *f = some_exchange(s);
    if (f->begun && !f->closed)
        return;
    kc__grpc_exchange_clear(&f->x);
    kc__grpc_exchange_init(&f->x, &ops, MAX_MESSAGE);
    f->closed = false;
    f->pauses = next_byte(s) & 1;
    f->to_send = next_byte(s);
    f->begun = kc__grpc_session_begin(&s->session, &f->x, head, KC_COUNT(head));
}

static void op_resume(scene *s)
{
    fuzzed_exchange *f = some_exchange(s);
    if (!f->begun || f->closed)
        return;
    atomic_store(&f->x.paused, false);
    kc__grpc_exchange_resume(&f->x);
}

static void op_send_more(scene *s)
{
    fuzzed_exchange *f = some_exchange(s);
    if (!f->begun || f->closed || !f->x.session)
        return;
    f->to_send += next_byte(s);
    kc__grpc_session_resume(&s->session, &f->x);
}

static void op_cancel(scene *s)
{
    fuzzed_exchange *f = some_exchange(s);
    if (!f->begun || f->closed)
        return;
    kc__grpc_exchange_cancel(&f->x);
    f->closed = true;
}

/* ---- the server ---- */

static void check_frames(kc_str out)
{
    const kc_str magic = KC_STR("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    if (kc_str_starts(out, magic))
        out = kc_str_sub(out, magic.n, out.n);
    while (out.n) {
        const uint8_t *head = (const uint8_t *)out.p;
        assert(out.n >= 9);
        const size_t n = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
        assert(n <= out.n - 9);
        out = kc_str_sub(out, n + 9, out.n);
    }
}

static void op_take_output(scene *s)
{
    kc_scoped(kc_buf) out = {0};
    s->over = !kc__grpc_session_fill(&s->session, &out, 1 << 20) || s->over;
    check_frames(kc_buf_str(&out));
    assert(!s->over || s->session.error.n);
}

static void receive(scene *s, kc_str bytes)
{
    if (s->over)
        return;
    s->over = !kc__grpc_session_receive(&s->session, bytes);
    assert(!s->over || s->session.error.n);
}

static void send_frame(scene *s, uint8_t type, uint8_t flags, uint32_t id, kc_str payload)
{
    kc_scoped(kc_buf) frame = {0};
    const char head[9] = {
        (char)(payload.n >> 16), (char)(payload.n >> 8), (char)payload.n, (char)type, (char)flags,
        (char)(id >> 24),        (char)(id >> 16),       (char)(id >> 8), (char)id};
    kc_buf_append(&frame, kc_str_of(head, sizeof(head)));
    kc_buf_append(&frame, payload);
    receive(s, kc_buf_str(&frame));
}

static uint32_t some_stream(scene *s)
{
    return (uint32_t)(next_byte(s) % EXCHANGES) * 2 + 1;
}

static uint8_t end_flag(scene *s)
{
    return next_byte(s) & NGHTTP2_FLAG_END_STREAM;
}

static void op_head(scene *s)
{
    static const kc_str blocks[] = {
        KC_STR_INIT("\x88\x0f\x10\x10"
                    "application/grpc"), /* The call is accepted. */
        KC_STR_INIT("\x00\x0bgrpc-status\x01"
                    "0"), /* Trailers. */
        KC_STR_INIT("\x00\x0bgrpc-status\x02"
                    "14\x00\x0cgrpc-message\x06%41%zz"),
        KC_STR_INIT("\x88\x0f\x10\x10"
                    "application/grpc\x00\x0bgrpc-status\x01"
                    "5"),    /* Trailers only. */
        KC_STR_INIT("\x8d"), /* 404 */
        KC_STR_INIT("\x08\x03"
                    "103"), /* Interim. */
    };
    const uint32_t id = some_stream(s);
    const uint8_t choice = next_byte(s);
    kc_scoped(kc_buf) block = {0};
    kc_buf_append(&block, blocks[choice % KC_COUNT(blocks)]);
    kc_buf_append(&block, next_bytes(s, choice >> 5));
    send_frame(s, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | end_flag(s), id, kc_buf_str(&block));
}

static void op_message(scene *s)
{
    static const char zeros[UINT8_MAX * 9];
    kc_scoped(kc_buf) payload = {0};
    const uint32_t id = some_stream(s);
    kc__grpc_frame_write(&payload, kc_str_of(zeros, (size_t)next_byte(s) * 9));
    kc_buf_append(&payload, next_bytes(s, next_byte(s) % 8)); /* The begin of the next. */
    send_frame(s, NGHTTP2_DATA, end_flag(s), id, kc_buf_str(&payload));
}

static void op_data(scene *s)
{
    const uint32_t id = some_stream(s);
    const kc_str bytes = next_bytes(s, next_byte(s));
    send_frame(s, NGHTTP2_DATA, end_flag(s), id, bytes);
}

static void op_reset(scene *s)
{
    const char code[4] = {0, 0, 0, (char)(next_byte(s) % 15)};
    send_frame(s, NGHTTP2_RST_STREAM, 0, some_stream(s), kc_str_of(code, sizeof(code)));
}

static void op_go_away(scene *s)
{
    const char payload[8] = {0, 0, 0, (char)some_stream(s)};
    send_frame(s, NGHTTP2_GOAWAY, 0, 0, kc_str_of(payload, sizeof(payload)));
}

static void op_settings(scene *s)
{
    const char payload[6] = {
        0, (char)(next_byte(s) % 10), 0, (char)next_byte(s), (char)next_byte(s), 0};
    send_frame(s, NGHTTP2_SETTINGS, 0, 0, kc_str_of(payload, sizeof(payload)));
}

static void op_any_frame(scene *s)
{
    const uint8_t type = next_byte(s) % 12, flags = next_byte(s);
    const uint32_t id = next_byte(s) % 4 ? some_stream(s) : 0;
    send_frame(s, type, flags, id, next_bytes(s, next_byte(s)));
}

static void op_ping(scene *s)
{
    kc__grpc_session_ping(&s->session);
    send_frame(s, NGHTTP2_PING, 0, 0, KC_STR("12345678"));
}

static void (*const operations[])(scene *s) = {
    op_begin,     op_head,      op_message, op_data,        op_take_output, op_resume,
    op_cancel,    op_reset,     op_go_away, op_head,        op_message,     op_settings,
    op_send_more, op_any_frame, op_ping,    op_take_output,
};

/* ---- */

static void check_held(const scene *s)
{
    for (size_t i = 0; i < EXCHANGES; i++) {
        const kc__grpc_exchange *x = &s->exchanges[i].x;
        assert(x->held.n - x->held_at <= KC__GRPC_STREAM_WINDOW);
        assert(!x->session || (s->exchanges[i].begun && !s->exchanges[i].closed));
    }
}

static void scene_open(scene *s)
{
    static const char settings[9] = {0, 0, 0, NGHTTP2_SETTINGS};
    kc__grpc_session_open(&s->session);
    receive(s, kc_str_of(settings, sizeof(settings)));
    assert(s->session.ready && !s->over);
    op_take_output(s);
}

static void scene_close(scene *s)
{
    kc__grpc_session_close(&s->session, "the end");
    assert(!s->session.n_exchanges);
    for (size_t i = 0; i < EXCHANGES; i++) {
        fuzzed_exchange *f = &s->exchanges[i];
        while (f->begun && !f->closed) { /* Held messages are left. */
            assert(f->x.closing && f->x.held.n);
            atomic_store(&f->x.paused, false);
            kc__grpc_exchange_resume(&f->x);
        }
        kc__grpc_exchange_clear(&f->x);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scene s = {.input = kc_str_of((const char *)data, KC_MIN(size, (size_t)20000))};
    const bool script = next_byte(&s) & 1;
    scene_open(&s);
    for (int i = 0; i < EXCHANGES / 2 && !script; i++)
        op_begin(&s);
    op_take_output(&s);
    while (s.input.n && !s.over) {
        if (script)
            operations[next_byte(&s) % KC_COUNT(operations)](&s);
        else
            receive(&s, next_bytes(&s, next_byte(&s)));
        check_held(&s);
    }
    op_take_output(&s);
    scene_close(&s);
    return 0;
}
