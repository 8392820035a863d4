/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to other servers: what comes back, and what is said where nothing does. */
#include "tls_testing.h"

#include "http/ask.h"
#include "kc/thread.h"

typedef struct stage {
    char folder[32], cert[64], key[64];
    identity ca, other_ca, server_id;
    kc_buf ca_pem, other_pem;
    kc__tls *tls;
    kc__server *server;
    kc__loop *loop;
    kc__asker *asker;
    kc_mutex mutex; /* Guards what follows. */
    kc_cond changed;
    size_t answers;
    int status;
    kc_buf body, error;
} stage;

/* "/echo" what was sent, "/port" whence, "/long" too much; else 418. */
static void handle(kc__exchange *x, void *user)
{
    (void)user;
    const kc_str path = x->request.target.path;
    kc_autofree char *much = NULL;
    char port[16];
    kc__answer a = {.status = 200, .type = KC_STR("text/plain"), .body = x->request.body};
    if (kc_str_is(path, "/long")) {
        much = kc_calloc(1, KC__ASK_MOST + 1);
        a.body = kc_str_of(much, KC__ASK_MOST + 1);
    } else if (kc_str_is(path, "/port")) {
        snprintf(port, sizeof(port), "%d", x->request.peer->port);
        a.body = kc_cstr(port);
    } else if (!kc_str_is(path, "/echo")) {
        a.status = 418;
    }
    kc__exchange_answer(x, &a);
}

static void read_file(const char *path, kc_buf *out)
{
    char chunk[4096];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (size_t n; (n = fread(chunk, 1, sizeof(chunk), file)) > 0;)
        kc_buf_append(out, kc_str_of(chunk, n));
    fclose(file);
}

static stage *stage_new(void)
{
    stage *s = kc_new(stage);
    kc_scoped(kc_error) err = {0};
    s->ca = identity_new("ca", NULL, NULL);
    s->other_ca = identity_new("other ca", NULL, NULL);
    s->server_id = identity_new("localhost", NULL, &s->ca);
    snprintf(s->folder, sizeof(s->folder), "/tmp/kc-ask-XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    snprintf(s->cert, sizeof(s->cert), "%s/cert.pem", s->folder);
    snprintf(s->key, sizeof(s->key), "%s/key.pem", s->folder);
    write_cert(&s->ca, s->cert);
    read_file(s->cert, &s->ca_pem);
    write_cert(&s->other_ca, s->cert);
    read_file(s->cert, &s->other_pem);
    write_cert(&s->server_id, s->cert);
    write_key(&s->server_id, s->key);
    s->tls = kc__tls_new(&(kc__tls_opts){.cert_file = s->cert, .key_file = s->key}, &err);
    const kc__listener listener = {.address = "127.0.0.1", .tls = s->tls};
    s->server = kc__server_start(
        &(kc__server_opts){.listeners = &listener, .n_listeners = 1, .loops = 1, .handle = handle},
        &err);
    assert_non_null(s->server);
    s->loop = kc__loop_start("asker", NULL, NULL);
    s->asker = kc__asker_new();
    kc_mutex_init(&s->mutex);
    kc_cond_init(&s->changed);
    return s;
}

static void stage_free(stage *s)
{
    if (!s)
        return;
    kc__asker_stop(s->asker);
    kc__loop_stop(s->loop);
    kc__asker_free(s->asker);
    kc__server_stop(s->server, 0);
    kc__tls_free(s->tls);
    remove(s->cert);
    remove(s->key);
    remove(s->folder);
    identity_done(&s->ca);
    identity_done(&s->other_ca);
    identity_done(&s->server_id);
    kc_buf_done(&s->ca_pem);
    kc_buf_done(&s->other_pem);
    kc_buf_done(&s->body);
    kc_buf_done(&s->error);
    kc_cond_done(&s->changed);
    kc_mutex_done(&s->mutex);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

static void answered(const kc__ask_answer *answer, void *user)
{
    stage *s = user;
    assert_true(kc__loop_is_mine(s->loop));
    kc_locked (&s->mutex) {
        s->status = answer->status;
        kc_buf_clear(&s->body);
        kc_buf_append(&s->body, answer->body);
        kc_buf_clear(&s->error);
        kc_buf_puts(&s->error, answer->error);
        s->answers++;
        kc_cond_broadcast(&s->changed);
    }
}

static void await(stage *s, size_t n)
{
    kc_locked (&s->mutex) {
        while (s->answers < n)
            kc_cond_wait(&s->changed, &s->mutex);
        s->answers = 0;
    }
}

/* The path of the server, or a whole URL; *request has the rest. */
static void ask(stage *s, const char *target, kc__ask_request request)
{
    kc_autofree char *url = *target == '/' ? kc_asprintf("https://localhost:%d%s",
                                                         kc__server_port(s->server, 0), target)
                                           : kc_strdup(target);
    request.url = url;
    kc__ask_start(s->asker, &request, s->loop, answered, s);
}

static void ask_and_wait(stage *s, const char *target, kc__ask_request request)
{
    ask(s, target, request);
    await(s, 1);
}

static void the_answer_comes_as_a_whole(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    for (int http2 = 0; http2 < 2; http2++) {
        ask_and_wait(s, "/echo",
                     (kc__ask_request){
                         .body = KC_STR("hello"), .ca = kc_buf_str(&s->ca_pem), .http2 = http2});
        assert_int_equal(s->status, 200);
        assert_string_equal(kc_buf_cstr(&s->body), "hello");
    }
    ask_and_wait(s, "/", (kc__ask_request){.ca = kc_buf_str(&s->ca_pem)});
    assert_int_equal(s->status, 418);
}

static void a_connection_is_used_again(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    for (int http2 = 0; http2 < 2; http2++) {
        const kc__ask_request request = {.ca = kc_buf_str(&s->ca_pem), .http2 = http2};
        ask_and_wait(s, "/port", request);
        kc_autofree char *first = kc_strdup(kc_buf_cstr(&s->body));
        ask_and_wait(s, "/port", request);
        assert_string_equal(kc_buf_cstr(&s->body), first);
    }
}

/* What one hook's authorities vouch for, another's do not. */
static void a_connection_is_not_used_by_who_trusts_others(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    ask_and_wait(s, "/port", (kc__ask_request){.ca = kc_buf_str(&s->ca_pem)});
    assert_int_equal(s->status, 200);
    ask_and_wait(s, "/port", (kc__ask_request){.ca = kc_buf_str(&s->other_pem)});
    assert_int_equal(s->status, 0);
}

static void many_wait_on_one_thread(void **state)
{
    (void)state;
    enum { MANY = 60 };
    kc_auto(stage) *s = stage_new();
    for (int i = 0; i < MANY; i++)
        ask(s, "/echo",
            (kc__ask_request){.body = KC_STR("x"),
                              .ca = kc_buf_str(&s->ca_pem),
                              .http2 = i % 2,
                              .patience = KC_MINUTE});
    await(s, MANY);
    assert_int_equal(s->status, 200);
}

static void nobody_else_is_trusted_where_authorities_are_named(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    ask_and_wait(s, "/echo", (kc__ask_request){.ca = kc_buf_str(&s->other_pem)});
    assert_int_equal(s->status, 0);
    assert_string_equal(kc_buf_cstr(&s->error),
                        "tls: failed to verify certificate: x509: certificate signed by unknown "
                        "authority");
    ask_and_wait(s, "/echo", (kc__ask_request){0});
    assert_int_equal(s->status, 0);
}

static void where_nobody_listens_the_connection_is_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    ask_and_wait(s, "https://127.0.0.1:1/x", (kc__ask_request){0});
    assert_int_equal(s->status, 0);
    assert_string_equal(kc_buf_cstr(&s->error),
                        "dial tcp 127.0.0.1:1: connect: connection refused");
    /* Also where another place stands for the name. */
    ask_and_wait(s, "https://nowhere.invalid/x", (kc__ask_request){.connect_to = "127.0.0.1:1"});
    assert_string_equal(kc_buf_cstr(&s->error),
                        "dial tcp 127.0.0.1:1: connect: connection refused");
}

static void a_name_is_reached_where_it_is_said_to_be(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    char place[32];
    snprintf(place, sizeof(place), "127.0.0.1:%d", kc__server_port(s->server, 0));
    ask_and_wait(s, "https://localhost:1/echo",
                 (kc__ask_request){
                     .body = KC_STR("hello"), .connect_to = place, .ca = kc_buf_str(&s->ca_pem)});
    assert_string_equal(kc_buf_cstr(&s->body), "hello");
    /* Its certificate must be for the name. */
    ask_and_wait(s, "https://other.invalid/echo",
                 (kc__ask_request){.connect_to = place, .ca = kc_buf_str(&s->ca_pem)});
    assert_string_equal(kc_buf_cstr(&s->error), "tls: failed to verify certificate: x509: "
                                                "certificate is not valid for other.invalid");
}

static void an_answer_that_is_too_long_is_none(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    ask_and_wait(s, "/long", (kc__ask_request){.ca = kc_buf_str(&s->ca_pem)});
    assert_int_equal(s->status, 0);
    assert_contains(kc_buf_cstr(&s->error), "the answer is longer than");
}

static void plain_http_is_not_spoken(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    ask_and_wait(s, "http://127.0.0.1:1/", (kc__ask_request){0});
    assert_int_equal(s->status, 0);
    assert_contains(kc_buf_cstr(&s->error), "http");
}

static void nothing_is_asked_after_the_end(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc__asker_end_by(s->asker, kc_clock_now(kc_clock_real()));
    ask_and_wait(s, "/echo", (kc__ask_request){0});
    assert_string_equal(kc_buf_cstr(&s->error), "the server is going down");
}

TESTS(the_answer_comes_as_a_whole, a_connection_is_used_again,
      a_connection_is_not_used_by_who_trusts_others, many_wait_on_one_thread,
      nobody_else_is_trusted_where_authorities_are_named,
      where_nobody_listens_the_connection_is_refused, a_name_is_reached_where_it_is_said_to_be,
      an_answer_that_is_too_long_is_none, plain_http_is_not_spoken, nothing_is_asked_after_the_end)
