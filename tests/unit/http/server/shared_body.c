/* SPDX-License-Identifier: Apache-2.0 */
/* shared_body.c: bodies of shared bytes over real sockets, plain and TLS. */
#include "tls_testing.h"

#include "http/server/body.h"

enum { PIECES = 400 };

typedef struct stage {
    char folder[32], cert[64], key[64];
    identity id;
    kc__tls *tls;
    kc__http_server *server;
    kc__http_shared_bytes *pieces[PIECES];
    kc_buf expected;
} stage;

/* One answer: pieces, and text of its own between some of them. */
typedef struct piecewise {
    stage *stage;
    size_t next;
} piecewise;

static kc__http_fill fill_shared(kc__http_body_sink *sink, size_t room, void *user)
{
    piecewise *p = user;
    for (size_t n = 0; n < room && p->next < PIECES; p->next++) {
        if (p->next % 3 == 0)
            kc_buf_puts(sink->text, "[own]");
        kc__http_body_sink_put(sink, p->stage->pieces[p->next]);
        n += p->stage->pieces[p->next]->n;
    }
    return p->next < PIECES ? KC__HTTP_FILL_MORE : KC__HTTP_FILL_END;
}

static kc__http_fill fill_bytes(kc_buf *out, size_t room, void *user)
{
    return fill_shared(&(kc__http_body_sink){.text = out}, room, user);
}

static void end_piecewise(void *user)
{
    free(user);
}

static const kc__http_body_source source = {fill_bytes, end_piecewise, fill_shared};

static void handle(kc__exchange *x, void *user)
{
    piecewise *p = kc_new(piecewise);
    p->stage = user;
    kc__exchange_respond(x, &(kc__http_response){.status = 200, .source = &source, .user = p});
}

/* Pieces of 1 byte to 150 KB. */
static void make_pieces(stage *s)
{
    for (size_t i = 0; i < PIECES; i++) {
        kc_scoped(kc_buf) text = {0};
        const size_t n = i % 50 == 7 ? 150000 : 1 + i * 37 % 5000;
        while (text.n < n)
            kc_buf_putc(&text, (char)('a' + (i + text.n) % 26));
        s->pieces[i] = kc__http_shared_bytes_new(kc_buf_str(&text));
        if (i % 3 == 0)
            kc_buf_puts(&s->expected, "[own]");
        kc_buf_append(&s->expected, kc_buf_str(&text));
    }
}

static stage *stage_new(void)
{
    stage *s = kc_new(stage);
    kc_scoped(kc_error) err = {0};
    s->id = identity_new("localhost", NULL, NULL);
    snprintf(s->folder, sizeof(s->folder), "/tmp/kc-shared-XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    snprintf(s->cert, sizeof(s->cert), "%s/cert.pem", s->folder);
    snprintf(s->key, sizeof(s->key), "%s/key.pem", s->folder);
    write_cert(&s->id, s->cert);
    write_key(&s->id, s->key);
    make_pieces(s);
    s->tls = kc__tls_new(&(kc__tls_opts){.cert_file = s->cert, .key_file = s->key}, &err);
    const kc__http_listener listeners[] = {{.tls = s->tls}, {0}};
    s->server = kc__http_server_start(
        &(kc__http_server_opts){
            .listeners = listeners, .n_listeners = 2, .loops = 2, .handle = handle, .user = s},
        &err);
    if (!s->server)
        fail_msg("%s", kc_error_text(&err));
    return s;
}

static void stage_free(stage *s)
{
    if (!s)
        return;
    kc__http_server_stop(s->server, 0);
    kc__tls_free(s->tls);
    identity_done(&s->id);
    unlink(s->cert);
    unlink(s->key);
    rmdir(s->folder);
    for (size_t i = 0; i < PIECES; i++) {
        assert_int_equal(kc_ref_count(&s->pieces[i]->refs), 1);
        kc__http_shared_bytes_unref(s->pieces[i]);
    }
    kc_buf_done(&s->expected);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

static client *connect_to(const stage *s, bool tls)
{
    return tls ? client_connect_tls(kc__http_server_port(s->server, 0), (tls_client_opts){0})
               : client_connect(kc__http_server_port(s->server, 1));
}

/* Takes the chunks of a body apart. */
static void unchunk(kc_str chunks, kc_buf *out)
{
    for (;;) {
        char *end;
        const size_t n = strtoul(chunks.p, &end, 16);
        const size_t head = (size_t)(end - chunks.p) + 2;
        if (!n)
            return;
        kc_buf_append(out, kc_str_sub(chunks, head, head + n));
        chunks = kc_str_sub(chunks, head + n + 2, chunks.n);
    }
}

static void assert_body(const stage *s, client *c, bool chunked)
{
    const char *body = strstr(kc_buf_cstr(&c->in), "\r\n\r\n") + 4;
    kc_scoped(kc_buf) got = {0};
    kc_str all = kc_str_of(body, c->in.n - (size_t)(body - c->in.p));
    if (chunked)
        unchunk(all, &got);
    else
        kc_buf_append(&got, all);
    assert_int_equal(got.n, s->expected.n);
    assert_memory_equal(got.p, s->expected.p, got.n);
}

static void chunked_body_of_shared_bytes_is_complete(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    for (int tls = 0; tls <= 1; tls++) {
        kc_auto(client) *c = connect_to(s, tls);
        client_send(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        client_expect(c, "\r\n0\r\n\r\n");
        assert_body(s, c, true);
    }
}

static void unchunked_body_of_shared_bytes_is_complete(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    for (int tls = 0; tls <= 1; tls++) {
        kc_auto(client) *c = connect_to(s, tls);
        client_send(c, "GET / HTTP/1.0\r\n\r\n");
        while (client_read(c))
            ;
        assert_body(s, c, false);
    }
}

static void disconnect_drops_shared_bytes(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    for (int tls = 0; tls <= 1; tls++) {
        kc_auto(client) *c = connect_to(s, tls);
        client_send(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        client_expect(c, "[own]");
    }
}

TESTS(chunked_body_of_shared_bytes_is_complete, unchunked_body_of_shared_bytes_is_complete,
      disconnect_drops_shared_bytes)
