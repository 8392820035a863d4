/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_server.c: an HTTP server of the runtime, and a proxy in front of it (http/client/proxy.h):
 *
 *     client ──▶ relay: kc__http_proxy_start ──TLS──▶ kc_http_server
 */
#include "testing.h"

#include "http/client/proxy.h"
#include "http/server/server.h"
#include "http/tls/certificate.h"
#include "kc/client.h"
#include "kc/http_server.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

typedef struct stage {
    char folder[32], cert[64], key[64];
    kc_buf ca_text;
    kc_http_server *inner;
    kc__http_proxy *http_proxy;
    kc__http_server *relay;
    const char *pin; /* What the relay takes the server for. */
    kc_client *client;
    _Atomic int begun; /* Calls that sent the first part of their response, */
    _Atomic int left;  /* and those that saw their client leave. */
} stage;

/* ---- the server ---- */

static void flood(kc_http_call *call)
{
    char line[1001];
    memset(line, 'x', 1000);
    line[1000] = '\n';
    kc_http_response_begin(call, 200, "text/plain");
    for (int i = 0; i < 4000; i++)
        kc_http_response_write(call, kc_str_of(line, sizeof(line)));
}

static void drip(kc_http_call *call, stage *s)
{
    kc_http_response_begin(call, 200, "text/plain");
    kc_http_response_write(call, KC_STR("first\n"));
    atomic_fetch_add(&s->begun, 1);
    if (kc_http_request_wait_closed(call, kc_clock_deadline(kc_clock_real(), KC_HOUR)))
        atomic_fetch_add(&s->left, 1);
}

static void handle(kc_http_call *call, void *user)
{
    const kc_str path = kc_http_request_path(call);
    kc_str name = {0};
    if (kc_str_is(path, "/hello")) {
        kc_scoped(kc_buf) text = {0};
        kc_http_request_query(call, "name", &name);
        kc_buf_printf(&text, "hello %.*s, from %.*s", KC_ARG(name),
                      KC_ARG(kc_http_request_peer(call)));
        kc_http_response_send(call, 200, "text/plain", kc_buf_str(&text));
    } else if (kc_str_is(path, "/flood")) {
        flood(call);
    } else if (kc_str_is(path, "/drip")) {
        drip(call, user);
    } else if (!kc_str_is(path, "/silence")) {
        kc_http_response_send(call, 404, "text/plain", KC_STR("nothing here\n"));
    }
}

/* ---- the relay ---- */

static void arrived(const kc__http_proxy_head *head, kc__pipe *body, void *user)
{
    kc__exchange *x = user;
    kc__http_response answer = {.status = head->status, .type = head->type, .body = head->text};
    if (head->status == 0) {
        answer.status = 502;
        answer.body = kc_cstr(kc_error_text(head->error));
    } else if (head->status == 200) {
        answer.source = &kc__pipe_source;
        answer.user = kc__pipe_read_by(body, x);
        answer.flush = true;
    }
    kc__exchange_respond(x, &answer);
}

static void relay(kc__exchange *x, void *user)
{
    stage *s = user;
    kc_scoped(kc_buf) url = {0};
    kc_buf_printf(&url, "https://127.0.0.1:%d%.*s?%.*s", kc_http_server_port(s->inner),
                  KC_ARG(x->request.target.path), KC_ARG(x->request.target.query));
    kc__http_proxy_start(s->http_proxy,
                         &(kc__http_proxy_request){.url = kc_buf_cstr(&url), .pin = s->pin}, x,
                         arrived, x);
}

static void write_file(const char *path, const kc_buf *text)
{
    FILE *file = fopen(path, "w");
    fwrite(text->p, 1, text->n, file);
    fclose(file);
}

static void make_identity(stage *s)
{
    kc_scoped(kc__cert_keypair) ca = {0}, us = {0};
    kc_scoped(kc_buf) cert = {0}, key = {0};
    const int64_t now = kc_clock_wall(kc_clock_real());
    kc__cert_spec spec = {
        .use = KC__CERT_AUTHORITY, .common_name = "authority", .lifetime = KC_HOUR};
    kc__cert_keypair_generate(&spec, NULL, now, &ca, NULL);
    spec.use = KC__CERT_CLIENT;
    spec.common_name = "relay";
    kc__cert_keypair_generate(&spec, &ca, now, &us, NULL);
    kc__cert_write(ca.cert, &s->ca_text, NULL);
    kc__cert_write(us.cert, &cert, NULL);
    kc__cert_key_write(us.key, &key, NULL);
    write_file(s->cert, &cert);
    write_file(s->key, &key);
}

static void open_stage(stage *s)
{
    kc_scoped(kc_error) err = {0};
    *s = (stage){.folder = "/tmp/kc-serve-XXXXXX"};
    assert_non_null(mkdtemp(s->folder));
    snprintf(s->cert, sizeof(s->cert), "%s/relay.crt", s->folder);
    snprintf(s->key, sizeof(s->key), "%s/relay.key", s->folder);
    make_identity(s);
    s->inner = kc_http_server_start(&(kc_http_server_opts){.address = "127.0.0.1:0",
                                                           .handle = handle,
                                                           .user = s,
                                                           .tls = true,
                                                           .client_ca = kc_buf_str(&s->ca_text)},
                                    &err);
    assert_non_null(s->inner);
    s->pin = kc_http_server_pinned_key(s->inner);
    s->http_proxy =
        kc__http_proxy_new(&(kc__http_proxy_opts){.cert_file = s->cert, .key_file = s->key});
    s->relay =
        kc__http_server_start(&(kc__http_server_opts){.listeners = &(kc__http_listener){.port = 0},
                                                      .n_listeners = 1,
                                                      .loops = 1,
                                                      .handle = relay,
                                                      .user = s},
                              &err);
    kc_autofree char *url = kc_asprintf("http://127.0.0.1:%d", kc__http_server_port(s->relay, 0));
    kc_auto(kc_config) *config = kc_config_for_url(url);
    s->client = kc_client_new(&(kc_client_opts){.config = config}, &err);
    assert_non_null(s->client);
}

static void close_stage(stage *s)
{
    kc_client_unref(s->client);
    kc__http_proxy_stop(s->http_proxy);
    kc__http_server_stop(s->relay, KC_SECOND);
    kc__http_proxy_free(s->http_proxy);
    kc_http_server_stop(s->inner);
    kc_buf_done(&s->ca_text);
    remove(s->cert);
    remove(s->key);
    rmdir(s->folder);
}

static int get(stage *s, const char *target, kc_buf *out, kc_error *err)
{
    return kc_client_raw(s->client, "GET", kc_cstr(target), (kc_str){0}, (kc_str){0}, out, err);
}

/* ---- tests ---- */

static void response_is_proxied_with_mutual_tls(void **state)
{
    (void)state;
    stage s;
    open_stage(&s);
    kc_scoped(kc_buf) out = {0};
    assert_int_equal(get(&s, "/hello?name=you", &out, NULL), 0);
    assert_string_equal(kc_buf_cstr(&out), "hello you, from relay");
    close_stage(&s);
}

static void server_with_another_pinned_key_is_refused(void **state)
{
    (void)state;
    stage s;
    open_stage(&s);
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    s.pin = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    assert_true(get(&s, "/hello", &out, &err) < 0);
    assert_non_null(strstr(kc_error_text(&err), "key"));
    close_stage(&s);
}

static void long_response_is_complete(void **state)
{
    (void)state;
    stage s;
    open_stage(&s);
    kc_scoped(kc_buf) out = {0};
    assert_int_equal(get(&s, "/flood", &out, NULL), 0);
    assert_int_equal(out.n, 4000 * 1001);
    close_stage(&s);
}

static void error_response_keeps_code_and_text(void **state)
{
    (void)state;
    stage s;
    open_stage(&s);
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    assert_true(get(&s, "/other", &out, &err) < 0);
    assert_int_equal(err.code, 404);
    assert_non_null(strstr(kc_error_text(&err), "nothing here"));
    kc_error_done(&err);
    assert_true(get(&s, "/silence", &out, &err) < 0);
    assert_int_equal(err.code, 500);
    close_stage(&s);
}

typedef struct leaver {
    stage *s;
    kc_cancel *cancel;
} leaver;

static void leave_when_begun(void *user)
{
    const leaver *l = user;
    while (!atomic_load(&l->s->begun))
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
    kc_cancel_fire(l->cancel);
}

/* A client that leaves in the middle of the response. */
static void get_and_leave(stage *s)
{
    kc_auto(kc_cancel) *cancel = kc_cancel_new(NULL);
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc_client) *hasty = kc_client_with(s->client, &(kc_client_overrides){.cancel = cancel});
    leaver l = {s, cancel};
    kc_thread *thread = kc_thread_start("leaver", leave_when_begun, &l, NULL);
    assert_true(kc_client_raw(hasty, "GET", KC_STR("/drip"), (kc_str){0}, (kc_str){0}, &out, NULL) <
                0);
    kc_thread_join(thread);
}

static void disconnected_client_cancels_the_upstream(void **state)
{
    (void)state;
    stage s;
    open_stage(&s);
    get_and_leave(&s);
    for (int i = 0; i < 6000 && !atomic_load(&s.left); i++)
        kc_clock_sleep(kc_clock_real(), 10 * KC_MILLISECOND);
    assert_int_equal(atomic_load(&s.left), 1);
    close_stage(&s);
}

static void stop_does_not_wait_for_clients(void **state)
{
    (void)state;
    stage s;
    open_stage(&s);
    get_and_leave(&s);
    close_stage(&s); /* The response would last for an hour. */
}

static void tag(kc_http_call *call, void *user)
{
    (void)user;
    kc_http_response_set_header(call, "ETag", "\"7\"", NULL);
    kc_scoped(kc_error) err = {0};
    if (kc_http_response_set_header(call, "X-Bad", "two\r\nlines: here", &err) == 0)
        return;
    kc_http_response_send(call, 200, "text/plain", kc_cstr(kc_reason_text(err.reason)));
}

static void response_has_its_own_headers(void **state)
{
    (void)state;
    kc_auto(kc_http_server) *server =
        kc_http_server_start(&(kc_http_server_opts){.address = "127.0.0.1:0", .handle = tag}, NULL);
    kc_autofree char *url = kc_asprintf("http://127.0.0.1:%d", kc_http_server_port(server));
    kc_auto(kc_config) *config = kc_config_for_url(url);
    kc_auto(kc_transport) *transport = kc_transport_http_new(config, NULL, NULL);
    kc_auto(kc_http_response) *response = kc_transport_open(
        transport, &(kc_http_request){.method = "GET", .target = KC_STR("/")}, NULL);
    assert_non_null(response);
    assert_int_equal(response->status, 200);
    assert_str(kc_http_response_field(response, KC_STR("etag")), "\"7\"");
    assert_str(kc_http_response_field(response, KC_STR("x-bad")), "");
}

TESTS(response_has_its_own_headers, response_is_proxied_with_mutual_tls,
      server_with_another_pinned_key_is_refused, long_response_is_complete,
      error_response_keeps_code_and_text, disconnected_client_cancels_the_upstream,
      stop_does_not_wait_for_clients)
