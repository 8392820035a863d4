/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP client: responses, and errors without a response. */
#include "tls_testing.h"

#include "http/client/http_client.h"
#include "http/trust/local_request.h"
#include "kc/thread.h"

typedef struct stage {
    char folder[32], cert[64], key[64];
    identity ca, other_ca, server_id;
    kc_buf ca_pem, other_pem;
    kc__tls *tls;
    kc__http_server *server;
    kc__loop *loop;
    kc__http_client *http_client;
    kc_mutex mutex; /* Guards what follows. */
    kc_cond changed;
    size_t answers;
    int status;
    kc_buf body, error;
} stage;

/* "/echo" what was sent, "/port" whence, "/local" whether it is as local clients send it, "/long"
 * too much; else 418. */
static void handle(kc__exchange *x, void *user)
{
    (void)user;
    const kc_str path = x->request.target.path;
    kc_autofree char *much = NULL;
    char port[16];
    kc__http_response a = {.status = 200, .type = KC_STR("text/plain"), .body = x->request.body};
    if (kc_str_is(path, "/long")) {
        much = kc_calloc(1, KC__HTTP_CLIENT_MAX_RESPONSE + 1);
        a.body = kc_str_of(much, KC__HTTP_CLIENT_MAX_RESPONSE + 1);
    } else if (kc_str_is(path, "/port")) {
        snprintf(port, sizeof(port), "%d", x->request.peer->port);
        a.body = kc_cstr(port);
    } else if (kc_str_is(path, "/local")) {
        a.body = kc__local_request_is_local(&x->request) ? KC_STR("yes") : KC_STR("no");
    } else if (!kc_str_is(path, "/echo")) {
        a.status = 418;
    }
    kc__exchange_respond(x, &a);
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
    const kc__http_listener listener = {.address = "127.0.0.1", .tls = s->tls};
    s->server = kc__http_server_start(
        &(kc__http_server_opts){
            .listeners = &listener, .n_listeners = 1, .loops = 1, .handle = handle},
        &err);
    assert_non_null(s->server);
    s->loop = kc__loop_start("http_client", NULL, NULL);
    s->http_client = kc__http_client_new();
    kc_mutex_init(&s->mutex);
    kc_cond_init(&s->changed);
    return s;
}

static void stage_free(stage *s)
{
    if (!s)
        return;
    kc__http_client_stop(s->http_client);
    kc__loop_stop(s->loop);
    kc__http_client_free(s->http_client);
    kc__http_server_stop(s->server, 0);
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

static void answered(const kc__http_client_response *answer, void *user)
{
    stage *s = user;
    assert_true(kc__loop_is_current(s->loop));
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
static void send_request(stage *s, const char *target, kc__http_client_request request)
{
    kc_autofree char *url = *target == '/' ? kc_asprintf("https://localhost:%d%s",
                                                         kc__http_server_port(s->server, 0), target)
                                           : kc_strdup(target);
    request.url = url;
    kc__http_client_send(s->http_client, &request, s->loop, answered, s);
}

static void send_and_wait(stage *s, const char *target, kc__http_client_request request)
{
    send_request(s, target, request);
    await(s, 1);
}

static void response_is_returned_complete(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    for (int http2 = 0; http2 < 2; http2++) {
        send_and_wait(s, "/echo",
                      (kc__http_client_request){
                          .body = KC_STR("hello"), .ca = kc_buf_str(&s->ca_pem), .http2 = http2});
        assert_int_equal(s->status, 200);
        assert_string_equal(kc_buf_cstr(&s->body), "hello");
    }
    send_and_wait(s, "/", (kc__http_client_request){.ca = kc_buf_str(&s->ca_pem)});
    assert_int_equal(s->status, 418);
}

/* Clients choose the URLs of webhooks: one that leads to the server itself gives them no rights. */
static void request_to_own_server_has_no_loopback_trust(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    send_and_wait(s, "/local", (kc__http_client_request){.ca = kc_buf_str(&s->ca_pem)});
    assert_int_equal(s->status, 200);
    assert_string_equal(kc_buf_cstr(&s->body), "no");
}

static void connection_is_reused(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    for (int http2 = 0; http2 < 2; http2++) {
        const kc__http_client_request request = {.ca = kc_buf_str(&s->ca_pem), .http2 = http2};
        send_and_wait(s, "/port", request);
        kc_autofree char *first = kc_strdup(kc_buf_cstr(&s->body));
        send_and_wait(s, "/port", request);
        assert_string_equal(kc_buf_cstr(&s->body), first);
    }
}

/* What one hook's authorities vouch for, another's do not. */
static void connection_is_not_reused_with_other_cas(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    send_and_wait(s, "/port", (kc__http_client_request){.ca = kc_buf_str(&s->ca_pem)});
    assert_int_equal(s->status, 200);
    send_and_wait(s, "/port", (kc__http_client_request){.ca = kc_buf_str(&s->other_pem)});
    assert_int_equal(s->status, 0);
}

static void sixty_requests_run_on_one_thread(void **state)
{
    (void)state;
    enum { MANY = 60 };
    kc_auto(stage) *s = stage_new();
    for (int i = 0; i < MANY; i++)
        send_request(s, "/echo",
                     (kc__http_client_request){.body = KC_STR("x"),
                                               .ca = kc_buf_str(&s->ca_pem),
                                               .http2 = i % 2,
                                               .timeout = KC_MINUTE});
    await(s, MANY);
    assert_int_equal(s->status, 200);
}

static void unknown_ca_is_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    send_and_wait(s, "/echo", (kc__http_client_request){.ca = kc_buf_str(&s->other_pem)});
    assert_int_equal(s->status, 0);
    assert_string_equal(kc_buf_cstr(&s->error),
                        "tls: failed to verify certificate: x509: certificate signed by unknown "
                        "authority");
    send_and_wait(s, "/echo", (kc__http_client_request){0});
    assert_int_equal(s->status, 0);
}

static void refused_connection_is_reported(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    send_and_wait(s, "https://127.0.0.1:1/x", (kc__http_client_request){0});
    assert_int_equal(s->status, 0);
    assert_string_equal(kc_buf_cstr(&s->error),
                        "dial tcp 127.0.0.1:1: connect: connection refused");
    /* Also where another place stands for the name. */
    send_and_wait(s, "https://nowhere.invalid/x",
                  (kc__http_client_request){.connect_to = "127.0.0.1:1"});
    assert_string_equal(kc_buf_cstr(&s->error),
                        "dial tcp 127.0.0.1:1: connect: connection refused");
}

static void connect_to_overrides_the_address(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    char place[32];
    snprintf(place, sizeof(place), "127.0.0.1:%d", kc__http_server_port(s->server, 0));
    send_and_wait(s, "https://localhost:1/echo",
                  (kc__http_client_request){
                      .body = KC_STR("hello"), .connect_to = place, .ca = kc_buf_str(&s->ca_pem)});
    assert_string_equal(kc_buf_cstr(&s->body), "hello");
    /* Its certificate must be for the name. */
    send_and_wait(s, "https://other.invalid/echo",
                  (kc__http_client_request){.connect_to = place, .ca = kc_buf_str(&s->ca_pem)});
    assert_string_equal(kc_buf_cstr(&s->error), "tls: failed to verify certificate: x509: "
                                                "certificate is not valid for other.invalid");
}

static void response_beyond_the_limit_is_an_error(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    send_and_wait(s, "/long", (kc__http_client_request){.ca = kc_buf_str(&s->ca_pem)});
    assert_int_equal(s->status, 0);
    assert_contains(kc_buf_cstr(&s->error), "the response exceeds");
}

static void plain_http_is_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    send_and_wait(s, "http://127.0.0.1:1/", (kc__http_client_request){0});
    assert_int_equal(s->status, 0);
    assert_contains(kc_buf_cstr(&s->error), "http");
}

static void request_after_the_end_is_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc__http_client_end_by(s->http_client, kc_clock_now(kc_clock_real()));
    send_and_wait(s, "/echo", (kc__http_client_request){0});
    assert_string_equal(kc_buf_cstr(&s->error), "the server is shutting down");
}

TESTS(response_is_returned_complete, request_to_own_server_has_no_loopback_trust,
      connection_is_reused, connection_is_not_reused_with_other_cas,
      sixty_requests_run_on_one_thread, unknown_ca_is_refused, refused_connection_is_reported,
      connect_to_overrides_the_address, response_beyond_the_limit_is_an_error,
      plain_http_is_refused, request_after_the_end_is_refused)
