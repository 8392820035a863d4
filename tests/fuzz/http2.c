/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP/2 client that does anything after a valid preface. The first byte decides how the rest is
 * used:
 *
 *     even   bytes of the connection, in parts whose length the byte before each gives
 *     odd    a script: an operation, its arguments (see `operations`), the next one; among them
 *            frames of every type with valid heads, time, a transport that accepts output or not,
 *            a handler that responds late
 *
 * With its second bit set, the server decides when a head is complete: it responds to some requests
 * then, and accepts the others, which are handled or abandoned, once; and budgets are small.
 *
 * For any input: the output consists of complete frames and exceeds its limit only a little,
 * nothing is written after the end, every source is finished once, every body released once,
 * nothing leaks.
 */
#include "fuzzing.h"

#include "http/server/conn.h"

#include <nghttp2/nghttp2.h>

struct kc__loop {
    kc_clock *clock;
    char date[KC__HTTP_DATE];
};

const kc_clock *kc__loop_clock(const kc__loop *loop)
{
    return loop->clock;
}

kc_str kc__loop_date(kc__loop *loop)
{
    return kc__http_date(kc_clock_wall(loop->clock), loop->date);
}

enum { MAX_HELD = 64, MAX_FEEDS = 1000 };

typedef struct feed {
    kc__exchange *x;
    int asked;
    bool done;
    struct scene *scene;
} feed;

typedef struct scene {
    kc__loop loop;
    kc__conn conn;
    kc__http_limits limits;
    kc_str input;
    uint32_t stream; /* The newest. */
    kc__exchange *held[MAX_HELD];
    size_t n_held;
    feed *feeds[MAX_FEEDS];
    size_t n_feeds;
    long owned;
    kc__http_budget *budget;
    size_t begun;    /* Calls of begin. */
    size_t accepted; /* By begin, and neither handled nor abandoned yet. */
} scene;

static uint8_t next_byte(scene *s)
{
    uint8_t byte = s->input.n ? (uint8_t)s->input.p[0] : 0;
    s->input = kc_str_sub(s->input, 1, s->input.n);
    return byte;
}

static kc_str next_bytes(scene *s, size_t n)
{
    kc_str bytes = kc_str_sub(s->input, 0, n);
    s->input = kc_str_sub(s->input, bytes.n, s->input.n);
    return bytes;
}

/* ---- the handler ---- */

static kc__http_fill fill(kc_buf *out, size_t room, void *user)
{
    feed *f = user;
    assert(!f->done);
    size_t n = (size_t)f->asked++ % 7 * 1000;
    for (size_t i = 0; i < n; i++)
        kc_buf_putc(out, 'f');
    (void)room;
    return f->asked > 40 ? KC__HTTP_FILL_ABORT : f->asked > 30 ? KC__HTTP_FILL_END : f->asked % 3;
}

static void done(void *user)
{
    feed *f = user;
    assert(!f->done);
    f->done = true;
}

static void release(void *owner)
{
    ((scene *)owner)->owned--;
}

static void answer_source(scene *s, kc__exchange *x)
{
    static const kc__http_body_source source = {fill, done};
    feed *f = s->feeds[s->n_feeds++] = kc_new(feed);
    *f = (feed){.x = x, .scene = s};
    kc__exchange_respond(x, &(kc__http_response){.status = 200, .source = &source, .user = f});
}

static void answer_any(scene *s, kc__exchange *x)
{
    static char text[50000];
    static int statuses[] = {200, 204, 304, 404};
    size_t n = x->request.headers.list.n + x->request.target.path.n + x->request.body.n;
    if (n % 3 == 0 && s->n_feeds < MAX_FEEDS) {
        answer_source(s, x);
        return;
    }
    bool is_owned = n % 3 == 1;
    s->owned += is_owned;
    kc__exchange_respond(x, &(kc__http_response){.status = statuses[n % 4],
                                                 .body = kc_str_of(text, n * 1000 % sizeof(text)),
                                                 .gzip = true,
                                                 .owner = is_owned ? s : NULL,
                                                 .release = is_owned ? release : NULL});
}

static void check_request(const kc__http_request *request, const kc__http_limits *limits)
{
    assert(request->method.n && request->target.path.n && request->target.path.p[0] == '/');
    assert(request->body.n <= limits->max_body);
    assert(request->headers.list.n <= limits->max_headers);
    assert(request->headers.bytes <= limits->max_head + (64 << 10));
    for (size_t i = 0; i < request->headers.list.n; i++) {
        const kc__http_header *field = &request->headers.list.items[i];
        assert(kc__http_is_header_name(field->name) && kc__http_is_header_value(field->value));
        assert(field->name.p[0] != ':');
    }
}

static void handle(kc__exchange *x, void *user)
{
    scene *s = user;
    assert(!x->gone);
    if (s->conn.begin) {
        assert(x->state == s && s->accepted);
        s->accepted--;
    }
    check_request(&x->request, &s->limits);
    if (x->request.target.n_segments && s->n_held < MAX_HELD)
        s->held[s->n_held++] = x;
    else
        answer_any(s, x);
}

static bool begin(kc__exchange *x, kc__exchange_grant *grant, void *user)
{
    scene *s = user;
    assert(!x->gone && !x->state && !x->request.body.n);
    check_request(&x->request, &s->limits);
    if (s->begun++ % 5 == 3) {
        answer_any(s, x);
        return false;
    }
    s->accepted++;
    x->state = s;
    grant->authenticated = s->begun > 6;
    grant->user = s->begun % 2 ? KC_STR("alice") : (kc_str){0};
    grant->max_body = s->begun % 3 ? 0 : 1000;
    return true;
}

static void abandon(kc__exchange *x, int status, void *user)
{
    (void)status;
    scene *s = user;
    assert(x->state == s && s->accepted);
    s->accepted--;
}

static void respond_held(scene *s)
{
    for (size_t i = 0; i < s->n_held; i++)
        answer_any(s, s->held[i]);
    s->n_held = 0;
}

static void wake_all(scene *s)
{
    for (size_t i = 0; i < s->n_feeds; i++)
        if (!s->feeds[i]->done)
            kc__exchange_wake(s->feeds[i]->x);
}

/* ---- the transport ---- */

static void changed(kc__conn *conn)
{
    (void)conn;
}

static void check_output(scene *s)
{
    kc_str out = kc_buf_str(&s->conn.out);
    assert(out.n < KC__CONN_HIGH + (32 << 10));
    while (out.n) {
        const uint8_t *head = (const uint8_t *)out.p;
        assert(out.n >= 9);
        size_t n = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
        assert(n <= out.n - 9 && head[3] <= NGHTTP2_CONTINUATION);
        out = kc_str_sub(out, n + 9, out.n);
    }
}

static void take_output(scene *s)
{
    check_output(s);
    kc_buf_clear(&s->conn.out);
    kc__h2_protocol.fill(&s->conn);
}

static void receive(scene *s, kc_str bytes)
{
    if (s->conn.disposition == KC__CONN_OPEN)
        kc__h2_protocol.receive(&s->conn, bytes);
    check_output(s);
}

static void pass_time(scene *s)
{
    kc_clock_advance(s->loop.clock, next_byte(s) * KC_SECOND);
    if (s->conn.deadline <= kc_clock_now(s->loop.clock))
        kc__h2_protocol.expired(&s->conn);
    assert(s->conn.disposition != KC__CONN_OPEN || s->conn.deadline > kc_clock_now(s->loop.clock));
}

/* ---- the client's script ---- */

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

/* One of the latest streams. */
static uint32_t some_stream(scene *s)
{
    uint32_t back = next_byte(s) % 8 * 2;
    return s->stream > back ? s->stream - back : 1;
}

static void op_request(scene *s)
{
    static const kc_str blocks[] = {
        KC_STR_INIT("\x82\x86\x84\x01\x01x"),          /* GET / */
        KC_STR_INIT("\x83\x86\x84\x01\x01x"),          /* POST / */
        KC_STR_INIT("\x82\x86\x04\x05/hold\x01\x01x"), /* GET /hold */
        KC_STR_INIT("\x02\x04HEAD\x86\x84\x01\x01x"),  /* HEAD / */
        KC_STR_INIT("\x83\x87\x04\x02/h\x01\x01x\x0F\x0D\x04"
                    "5000"), /* content-length: 5000 */
    };
    uint8_t choice = next_byte(s);
    kc_scoped(kc_buf) block = {0};
    kc_buf_append(&block, blocks[choice % KC_COUNT(blocks)]);
    kc_buf_append(&block, next_bytes(s, choice >> 5));
    s->stream += 2;
    uint8_t flags = next_byte(s) & (NGHTTP2_FLAG_END_STREAM | NGHTTP2_FLAG_PADDED);
    send_frame(s, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | flags, s->stream, kc_buf_str(&block));
}

static void op_data(scene *s)
{
    static char text[16384];
    size_t n = (size_t)next_byte(s) * 64;
    uint8_t flags = next_byte(s) & (NGHTTP2_FLAG_END_STREAM | NGHTTP2_FLAG_PADDED);
    send_frame(s, NGHTTP2_DATA, flags, some_stream(s), kc_str_of(text, n));
}

static void op_reset(scene *s)
{
    send_frame(s, NGHTTP2_RST_STREAM, 0, some_stream(s), KC_STR("\0\0\0\x08"));
}

static void op_window(scene *s)
{
    uint32_t id = next_byte(s) % 2 ? some_stream(s) : 0;
    char payload[4] = {0, (char)next_byte(s), (char)next_byte(s), 1};
    send_frame(s, NGHTTP2_WINDOW_UPDATE, 0, id, kc_str_of(payload, 4));
}

static void op_settings(scene *s)
{
    char payload[6] = {0, (char)(next_byte(s) % 10), 0, (char)next_byte(s), (char)next_byte(s), 0};
    send_frame(s, NGHTTP2_SETTINGS, 0, 0, kc_str_of(payload, 6));
}

static void op_any_frame(scene *s)
{
    uint8_t type = next_byte(s) % 12, flags = next_byte(s);
    uint32_t id = next_byte(s) % 4 ? some_stream(s) : 0;
    send_frame(s, type, flags, id, next_bytes(s, next_byte(s)));
}

static void op_ping(scene *s)
{
    for (int i = next_byte(s); i >= 0; i--)
        send_frame(s, NGHTTP2_PING, 0, 0, KC_STR("12345678"));
}

static void op_drain(scene *s)
{
    kc__h2_protocol.drain(&s->conn);
}

static void (*const operations[])(scene *s) = {
    op_request,   op_data,  op_reset,   op_window, op_settings,
    op_any_frame, op_ping,  op_drain,   pass_time, take_output,
    respond_held, wake_all, op_request, op_data,   take_output,
};

/* ---- */

static void scene_open(scene *s, bool decides)
{
    static const char greeting[] =
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\0\x04\x01\0\0\0\0";
    s->loop.clock = kc_clock_virtual_new(0);
    s->limits = (kc__http_limits){.max_body = 100000,
                                  .max_head = 4096,
                                  .max_headers = 20,
                                  .head_timeout = 32 * KC_SECOND,
                                  .body_timeout = 60 * KC_SECOND,
                                  .idle_timeout = 180 * KC_SECOND,
                                  .write_timeout = 30 * KC_SECOND,
                                  .max_streams = 20,
                                  .max_unauthenticated_streams = 4,
                                  .max_heads = 20000,
                                  .max_resets = 10};
    if (decides)
        s->budget = kc__http_budget_new(
            &(kc__http_budget_opts){.unauthenticated = 9000, .in_flight = 40000}, NULL);
    s->conn = (kc__conn){.loop = &s->loop,
                         .protocol = &kc__h2_protocol,
                         .limits = &s->limits,
                         .begin = decides ? begin : NULL,
                         .handle = handle,
                         .abandon = decides ? abandon : NULL,
                         .budget = s->budget,
                         .user = s,
                         .changed = changed};
    s->stream = UINT32_MAX; /* The first is 1. */
    kc__h2_protocol.open(&s->conn);
    receive(s, kc_str_of(greeting, sizeof(greeting) - 1));
}

static void scene_close(scene *s)
{
    kc__h2_protocol.close(&s->conn);
    for (size_t i = 0; i < s->n_held; i++)
        assert(s->held[i]->gone && s->held[i]->request.method.n);
    assert(s->conn.holds == s->n_held);
    respond_held(s);
    assert(s->owned == 0 && s->conn.holds == 0 && s->accepted == 0);
    kc__http_budget_free(s->budget);
    for (size_t i = 0; i < s->n_feeds; i++) {
        assert(s->feeds[i]->done);
        free(s->feeds[i]);
    }
    kc_buf_done(&s->conn.out);
    kc_clock_free(s->loop.clock);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scene s = {.input = kc_str_of((const char *)data, KC_MIN(size, (size_t)20000))};
    uint8_t first = next_byte(&s);
    bool script = first & 1;
    scene_open(&s, first & 2);
    while (s.input.n && s.conn.disposition == KC__CONN_OPEN) {
        if (script)
            operations[next_byte(&s) % KC_COUNT(operations)](&s);
        else
            receive(&s, next_bytes(&s, next_byte(&s)));
    }
    bool over = s.conn.disposition != KC__CONN_OPEN;
    take_output(&s);
    assert(!over || s.conn.out.n == 0);
    scene_close(&s);
    return 0;
}
