/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes, split anywhere, as HTTP/1.1. The first byte of an input decides how to split the rest
 * and how fast the client reads; the path of a request decides its response: at once, later, from a
 * source, with a large body, only after the client has disconnected, by an upgrade of the
 * connection. Half of the inputs use a server that decides when a head is complete: it responds to
 * some requests then, and accepts the others, which are handled or abandoned, once; and budgets are
 * small.
 *
 * Each request is answered once. The output is a sequence of responses, checked by a parser: one
 * for each request, in order, at most one refusal, nothing after the last. Nothing leaks, also when
 * the connection ends in the middle.
 */
#include "fuzzing.h"

#include "memory_conn.h"

#include <llhttp.h>

enum { MAX_OUT = 1 << 20, BIG = 100 * 1000 };

typedef struct run {
    memory_conn m;
    uint32_t random;
    kc__exchange *late;
    int waits; /* Bytes until a waiting source is woken. */
    kc__exchange *waiting;
    bool reading_answers;
    size_t handled, answered, sources, ended;
    size_t accepted; /* By begin, and neither handled nor abandoned yet. */
    bool cut;        /* Some body did not come to its end on purpose. */
    bool upgraded;   /* What comes out is no answer any more. */
    KC_VEC(bool) heads;
    /* What came out. */
    llhttp_t parser;
    size_t heard;
    bool last; /* The answer said that it was. */
} run;

static uint32_t next_random(run *r)
{
    r->random = r->random * 1664525 + 1013904223;
    return r->random >> 16;
}

/* ---- answering ---- */

static kc__http_fill fill(kc_buf *out, size_t room, void *user)
{
    run *r = user;
    (void)room;
    switch (next_random(r) % 5) {
    case 0: kc_buf_puts(out, "some of it\n"); return KC__HTTP_FILL_MORE;
    case 1: return KC__HTTP_FILL_WAIT;
    case 2: kc_buf_puts(out, "and the end"); return KC__HTTP_FILL_END;
    case 3: return KC__HTTP_FILL_END;
    default: kc_buf_puts(out, "x"); return KC__HTTP_FILL_MORE;
    }
}

static kc__http_fill fill_abort(kc_buf *out, size_t room, void *user)
{
    (void)room;
    ((run *)user)->cut = true;
    kc_buf_puts(out, "oops");
    return KC__HTTP_FILL_ABORT;
}

static void done(void *user)
{
    run *r = user;
    r->ended++;
    r->waiting = NULL;
}

/* Takes what it likes. */
static size_t receive(kc_str bytes, void *user)
{
    run *r = user;
    assert(r->upgraded && bytes.n && r->ended < r->sources);
    return next_random(r) % 3 ? bytes.n : next_random(r) % (bytes.n + 1);
}

static const kc__http_upgrade upgrade = {.protocol = "any", .receive = receive};
static const kc__http_body_source source = {fill, done};
static const kc__http_body_source aborting = {fill_abort, done};

static void answer(run *r, kc__exchange *x)
{
    static const char big[BIG];
    kc_str path = x->request.target.path;
    kc__http_response a = {.status = 200, .body = x->request.body, .gzip = true};
    if (kc_str_is(path, "/big"))
        a.body = kc_str_of(big, sizeof(big));
    if (kc_str_is(path, "/204"))
        a.status = 204;
    if (kc_str_is(path, "/upgrade") && x->request.upgradable) {
        a = (kc__http_response){.status = 101, .upgrade = &upgrade};
        r->upgraded = r->cut = true;
    }
    if (kc_str_is(path, "/source") || kc_str_is(path, "/abort") || a.upgrade) {
        a.source = kc_str_is(path, "/abort") ? &aborting : &source;
        a.user = r;
        r->sources++;
        r->waiting = x;
    }
    r->answered++;
    kc__exchange_respond(x, &a);
}

static void handle(kc__exchange *x, void *user)
{
    run *r = user;
    const kc__http_request *request = &x->request;
    assert(request->method.n && request->target.path.n && request->target.path.p[0] == '/');
    assert(request->body.n <= r->m.limits.max_body && !x->gone && !r->late);
    assert(!r->m.conn.begin || (x->state == r && r->accepted == 1));
    r->accepted = 0;
    r->handled++;
    kc_vec_push(&r->heads, kc_str_is(request->method, "HEAD"));
    if (kc_str_is(request->target.path, "/late") || kc_str_is(request->target.path, "/gone"))
        r->late = x;
    else
        answer(r, x);
}

static bool begin(kc__exchange *x, kc__exchange_grant *grant, void *user)
{
    run *r = user;
    assert(!x->state && !x->request.body.n && !r->accepted && !r->late);
    if (next_random(r) % 3 == 0) {
        r->handled++;
        kc_vec_push(&r->heads, kc_str_is(x->request.method, "HEAD"));
        answer(r, x);
        return false;
    }
    r->accepted = 1;
    x->state = r;
    grant->authenticated = next_random(r) % 2;
    grant->user = next_random(r) % 2 ? KC_STR("alice") : (kc_str){0};
    grant->max_body = next_random(r) % 2000;
    return true;
}

static void abandon(kc__exchange *x, int status, void *user)
{
    (void)status;
    run *r = user;
    assert(x->state == r && r->accepted == 1);
    r->accepted = 0;
}

static void answer_late(run *r, bool even_nobody)
{
    kc__exchange *x = r->late;
    if (!x || (kc_str_is(x->request.target.path, "/gone") && !even_nobody))
        return;
    r->late = NULL;
    answer(r, x);
}

/* ---- reading what came out ---- */

static int on_head(llhttp_t *parser)
{
    run *r = parser->data;
    if (parser->status_code == 100)
        return 0;
    assert(r->heard <= r->handled);
    bool head = r->heard < r->heads.n && r->heads.items[r->heard];
    r->last = !llhttp_should_keep_alive(parser) && !llhttp_message_needs_eof(parser);
    return head ? 1 : 0;
}

static int on_complete(llhttp_t *parser)
{
    run *r = parser->data;
    r->heard += parser->status_code != 100;
    return 0;
}

static const llhttp_settings_t settings = {.on_headers_complete = on_head,
                                           .on_message_complete = on_complete};

static void send_out(run *r)
{
    kc_buf *out = &r->m.conn.out;
    assert(out->n < KC__CONN_HIGH + 64 * 1024);
    size_t n = next_random(r) % 4 ? out->n : next_random(r) % (out->n + 1);
    if (!n)
        return;
    if (llhttp_get_errno(&r->parser) != HPE_PAUSED_UPGRADE) {
        llhttp_errno_t e = llhttp_execute(&r->parser, out->p, n);
        assert(e == HPE_OK || (e == HPE_PAUSED_UPGRADE && r->upgraded));
    }
    memmove(out->p, out->p + n, out->n - n);
    out->n -= n;
}

/* ---- one input ---- */

static void step(run *r, kc_str bytes)
{
    if (r->m.conn.disposition == KC__CONN_OPEN && !r->m.conn.full && bytes.n)
        memory_conn_receive(&r->m, bytes);
    memory_conn_fill(&r->m);
    send_out(r);
    if (next_random(r) % 3 == 0)
        answer_late(r, false);
    if (r->waiting && !r->late && next_random(r) % 2)
        kc__exchange_wake(r->waiting);
    memory_conn_fill(&r->m);
    send_out(r);
}

static void feed(run *r, kc_str bytes)
{
    while (bytes.n) {
        size_t n = KC_MIN(bytes.n, 1 + next_random(r) % (next_random(r) % 2 ? 200 : 8));
        step(r, kc_str_sub(bytes, 0, n));
        bytes = kc_str_sub(bytes, n, bytes.n);
    }
}

/* Lets everything come to its end, unless the client has left by then. */
static void settle(run *r)
{
    for (int i = 0; i < 1000; i++) {
        if (i % 100 == 50 && next_random(r) % 8 == 0)
            r->m.conn.protocol->expired(&r->m.conn);
        step(r, (kc_str){0});
    }
}

static void check(run *r, bool left)
{
    assert(r->answered == r->handled && r->sources == r->ended);
    if (left || r->cut || r->m.conn.disposition == KC__CONN_ABORT)
        return;
    assert(r->heard >= r->handled || llhttp_message_needs_eof(&r->parser));
}

static kc__loop *the_loop(void)
{
    static kc__loop *loop;
    static kc_clock *clock;
    if (!loop) {
        clock = kc_clock_virtual_new(KC_HOUR);
        loop = kc__loop_start("fuzz", clock, NULL);
    }
    return loop;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    run r = {.random = data[0] * 2654435761u, .m.limits = {.max_body = 2000, .max_head = 4000}};
    llhttp_init(&r.parser, HTTP_RESPONSE, &settings);
    r.parser.data = &r;
    kc__http_budget *budget = kc__http_budget_new(
        &(kc__http_budget_opts){.unauthenticated = 6000, .in_flight = 3000, .per_user = 1500},
        NULL);
    if (data[0] & 4) {
        r.m.conn.begin = begin;
        r.m.conn.abandon = abandon;
        r.m.conn.budget = budget;
    }
    memory_conn_open(&r.m, the_loop(), &kc__h1_protocol, handle, &r);
    feed(&r, kc_str_of((const char *)data + 1, size - 1));
    bool left = data[0] % 4 == 3;
    if (!left)
        settle(&r);
    left = left || r.late || r.waiting || r.m.conn.out.n;
    memory_conn_close(&r.m);
    if (r.late)
        assert(r.late->gone);
    answer_late(&r, true);
    assert(r.m.conn.holds == 0 && !r.accepted);
    kc__http_budget_free(budget);
    check(&r, left);
    kc_vec_done(&r.heads);
    return 0;
}
