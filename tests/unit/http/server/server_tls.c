/* SPDX-License-Identifier: Apache-2.0 */
/* The server over TLS: server and client certificates, protocols, resumption, large bodies. */
#include "tls_testing.h"

#include <sys/stat.h>

typedef struct stage {
    char folder[32], cert[64], key[64], ca_file[64];
    identity ca, server_id, admin, untrusted, other_ca;
    kc__tls *tls;
    kc__http_server *server;
    char *big;
} stage;

enum { BIG = 4 * 1000 * 1000 };

/* Responds with the identity of the client: "CN/O,O/64 digits/plain|tls". */
static void handle(kc__exchange *x, void *user)
{
    stage *s = user;
    kc_scoped(kc_buf) who = {0};
    const kc__conn_client_cert *cert = x->request.peer->cert;
    kc__http_response a = {.status = 200};
    if (cert) {
        kc_buf_printf(&who, "%.*s/", KC_ARG(cert->common_name));
        for (size_t i = 0; i < cert->n_organizations; i++)
            kc_buf_printf(&who, "%.*s,", KC_ARG(cert->organizations[i]));
        kc_buf_printf(&who, "/%zu", strlen(cert->sha256));
    } else {
        kc_buf_puts(&who, x->request.peer->tls ? "nobody" : "plain");
    }
    a.body = kc_buf_str(&who);
    if (kc_str_is(x->request.target.path, "/big"))
        a.body = kc_str_of(s->big, BIG);
    if (kc_str_is(x->request.target.path, "/echo"))
        a.body = x->request.body;
    kc__exchange_respond(x, &a);
}

static void make_files(stage *s)
{
    snprintf(s->folder, sizeof(s->folder), "/tmp/kc-tls-XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    snprintf(s->cert, sizeof(s->cert), "%s/cert.pem", s->folder);
    snprintf(s->key, sizeof(s->key), "%s/key.pem", s->folder);
    snprintf(s->ca_file, sizeof(s->ca_file), "%s/ca.pem", s->folder);
    write_cert(&s->server_id, s->cert);
    write_key(&s->server_id, s->key);
    write_cert(&s->ca, s->ca_file);
}

static stage *stage_with(bool asks_clients, kc__http_limits limits)
{
    stage *s = kc_new(stage);
    kc_scoped(kc_error) err = {0};
    static const char *const groups[] = {"system:masters", "dévs", NULL};
    s->ca = identity_new("ca", NULL, NULL);
    s->other_ca = identity_new("other ca", NULL, NULL);
    s->server_id = identity_new("localhost", NULL, &s->ca);
    s->admin = identity_new("admin", groups, &s->ca);
    s->untrusted = identity_new("admin", groups, &s->other_ca);
    s->big = kc_alloc(BIG);
    memset(s->big, 'b', BIG);
    make_files(s);
    s->tls = kc__tls_new(&(kc__tls_opts){.cert_file = s->cert,
                                         .key_file = s->key,
                                         .client_ca_file = asks_clients ? s->ca_file : NULL},
                         &err);
    if (!s->tls)
        fail_msg("%s", kc_error_text(&err));
    const kc__http_listener listeners[] = {{.tls = s->tls}, {0}};
    s->server = kc__http_server_start(&(kc__http_server_opts){.listeners = listeners,
                                                              .n_listeners = 2,
                                                              .loops = 2,
                                                              .limits = limits,
                                                              .handle = handle,
                                                              .user = s},
                                      &err);
    if (!s->server)
        fail_msg("%s", kc_error_text(&err));
    return s;
}

static stage *stage_new(bool asks_clients)
{
    return stage_with(asks_clients, (kc__http_limits){0});
}

static void stage_free(stage *s)
{
    if (!s)
        return;
    kc__http_server_stop(s->server, 0);
    kc__tls_free(s->tls);
    identity_done(&s->ca);
    identity_done(&s->other_ca);
    identity_done(&s->server_id);
    identity_done(&s->admin);
    identity_done(&s->untrusted);
    unlink(s->cert);
    unlink(s->key);
    unlink(s->ca_file);
    rmdir(s->folder);
    free(s->big);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

static client *connect_to(const stage *s, tls_client_opts opts)
{
    return client_connect_tls(kc__http_server_port(s->server, 0), opts);
}

static void client_is_answered(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(false);
    kc_auto(client) *c = connect_to(s, (tls_client_opts){0});
    assert_non_null(c);
    for (int i = 0; i < 20; i++) {
        client_get(c, "/");
        assert_str(client_read_response(c), "nobody");
        client_clear(c);
    }
}

static void plain_and_tls_listeners_coexist(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(false);
    kc_auto(client) *c = client_connect(kc__http_server_port(s->server, 1));
    client_get(c, "/");
    assert_str(client_read_response(c), "plain");
    kc_auto(client) *lost = client_connect(kc__http_server_port(s->server, 0));
    client_get(lost, "/");
    client_read_all(lost);
    assert_true(lost->eof);
}

static void client_certificate_identifies_the_client(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(true);
    kc_auto(client) *nobody = connect_to(s, (tls_client_opts){0});
    client_get(nobody, "/");
    assert_str(client_read_response(nobody), "nobody");
    kc_auto(client) *admin = connect_to(s, (tls_client_opts){.identity = &s->admin});
    client_get(admin, "/");
    assert_str(client_read_response(admin), "admin/system:masters,dévs,/64");
}

/* With TLS 1.3 a client hears of the refusal only when it reads. */
static void client_certificate_of_another_ca_is_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(true);
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
    for (size_t i = 0; i < KC_COUNT(versions); i++) {
        kc_auto(client) *c =
            connect_to(s, (tls_client_opts){.identity = &s->untrusted, .version = versions[i]});
        if (!c)
            continue;
        client_get(c, "/");
        assert_string_equal(client_read_all(c), "");
    }
}

static void client_certificate_is_not_requested_without_ca(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(false);
    kc_auto(client) *c = connect_to(s, (tls_client_opts){.identity = &s->untrusted});
    client_get(c, "/");
    assert_str(client_read_response(c), "nobody");
}

static void old_tls_versions_are_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(false);
    static const int old[] = {TLS1_VERSION, TLS1_1_VERSION};
    static const int accepted_versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
    for (size_t i = 0; i < 2; i++) {
        assert_null(connect_to(s, (tls_client_opts){.version = old[i]}));
        kc_auto(client) *c = connect_to(s, (tls_client_opts){.version = accepted_versions[i]});
        assert_non_null(c);
    }
}

static void alpn_protocol_is_negotiated(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(false);
    kc_auto(client) *c = connect_to(s, (tls_client_opts){.alpn = "\x08http/1.1"});
    const unsigned char *chosen = NULL;
    unsigned n = 0;
    SSL_get0_alpn_selected(c->ssl, &chosen, &n);
    assert_str(kc_str_of((const char *)chosen, n), "http/1.1");
    assert_null(connect_to(s, (tls_client_opts){.alpn = "\x04spdy"}));
}

/* The session carries the certificate: it must be known again without being shown. */
static void resumed_session_keeps_the_client_certificate(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(true);
    kc_auto(client) *first = connect_to(s, (tls_client_opts){.identity = &s->admin});
    client_get(first, "/");
    client_read_response(first);
    SSL_SESSION *session = SSL_get1_session(first->ssl);
    kc_auto(client) *again =
        connect_to(s, (tls_client_opts){.identity = &s->admin, .session = session});
    client_get(again, "/");
    assert_str(client_read_response(again), "admin/system:masters,dévs,/64");
    assert_true(SSL_session_reused(again->ssl));
    SSL_SESSION_free(session);
}

static void large_bodies_pass_both_ways(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(false);
    kc_auto(client) *c = connect_to(s, (tls_client_opts){0});
    client_get(c, "/big");
    assert_true(kc_str_eq(client_read_response(c), kc_str_of(s->big, BIG)));
    client_clear(c);
    client_send(c, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n");
    client_send_bytes(c, kc_str_of(s->big, 3000000));
    assert_true(kc_str_eq(client_read_response(c), kc_str_of(s->big, 3000000)));
}

/* What TLS has read ahead is not forgotten while answers are not read. */
static void pipelined_requests_are_all_answered(void **state)
{
    (void)state;
    enum { REQUESTS = 3000 };
    kc_auto(stage) *s = stage_new(false);
    kc_auto(client) *c = connect_to(s, (tls_client_opts){0});
    kc_scoped(kc_buf) text = {0};
    for (int i = 0; i < REQUESTS - 1; i++)
        kc_buf_puts(&text, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    kc_buf_puts(&text, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    client_send_bytes(c, kc_buf_str(&text));
    int answers = 0;
    for (const char *p = client_read_all(c); (p = strstr(p, "\r\n\r\nnobody")); p++)
        answers++;
    assert_int_equal(answers, REQUESTS);
    assert_int_equal(SSL_get_shutdown(c->ssl) & SSL_RECEIVED_SHUTDOWN, SSL_RECEIVED_SHUTDOWN);
}

static void unusable_files_are_named_in_error(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(false);
    kc_scoped(kc_error) err = {0};
    char other[80];
    assert_null(kc__tls_new(&(kc__tls_opts){.cert_file = "/nowhere/c", .key_file = s->key}, &err));
    assert_error(&err, KC_BAD_REQUEST, "cannot use certificate /nowhere/c: ");
    assert_null(kc__tls_new(&(kc__tls_opts){.cert_file = s->cert, .key_file = "/nowhere/k"}, &err));
    assert_error(&err, KC_BAD_REQUEST, "cannot use private key /nowhere/k: ");
    assert_null(kc__tls_new(
        &(kc__tls_opts){.cert_file = s->cert, .key_file = s->key, .client_ca_file = "/nowhere/ca"},
        &err));
    assert_error(&err, KC_BAD_REQUEST, "cannot use client CA bundle /nowhere/ca: ");
    snprintf(other, sizeof(other), "%s/other.pem", s->folder);
    write_key(&s->admin, other);
    assert_null(kc__tls_new(&(kc__tls_opts){.cert_file = s->cert, .key_file = other}, &err));
    assert_error(&err, KC_BAD_REQUEST, "key values mismatch");
    unlink(other);
}

/* The common name of the certificate the server has shown. */
static void assert_shown(const client *c, const char *name)
{
    char text[64] = "";
    X509 *cert = SSL_get1_peer_certificate(c->ssl);
    X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, text, sizeof(text));
    X509_free(cert);
    assert_string_equal(text, name);
}

static char *file_text(const char *path)
{
    char *text = kc_calloc(1, 8192);
    FILE *file = fopen(path, "r");
    assert_true(fread(text, 1, 8191, file) > 0);
    fclose(file);
    return text;
}

static void replaced_certificate_is_served_to_new_connections(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(false);
    kc_auto(client) *before = connect_to(s, (tls_client_opts){0});
    assert_shown(before, "localhost");
    write_cert(&s->admin, s->cert);
    write_key(&s->admin, s->key);
    kc_autofree char *cert = file_text(s->cert), *key = file_text(s->key);
    const kc__tls_opts as_text = {.cert = kc_cstr(cert), .key = kc_cstr(key)};
    assert_int_equal(kc__tls_replace(s->tls, &as_text, NULL), 0);
    kc_auto(client) *after = connect_to(s, (tls_client_opts){0});
    assert_shown(after, "admin");
    client_get(before, "/");
    assert_str(client_read_response(before), "nobody");
    client_get(after, "/");
    assert_str(client_read_response(after), "nobody");
}

static void unusable_replacement_changes_nothing(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(false);
    kc_scoped(kc_error) err = {0};
    write_key(&s->admin, s->key);
    kc_autofree char *cert = file_text(s->cert), *key = file_text(s->key);
    kc__tls_opts text = {.cert = kc_cstr(cert), .key = kc_cstr(key)};
    assert_true(kc__tls_replace(s->tls, &text, &err) < 0);
    assert_error(&err, KC_INVALID, "the private key does not match the certificate");
    text.key = KC_STR("nonsense");
    assert_true(kc__tls_replace(s->tls, &text, &err) < 0);
    assert_error(&err, KC_INVALID, "no unencrypted private key found");
    text.cert = KC_STR("nonsense");
    assert_true(kc__tls_replace(s->tls, &text, &err) < 0);
    assert_error(&err, KC_INVALID, "no certificate found");
    kc_auto(client) *c = connect_to(s, (tls_client_opts){0});
    assert_shown(c, "localhost");
}

/* Whether a client whose handshake was complete is still answered after the time for it. */
static bool complete_handshake_stays_open(const stage *s)
{
    kc_auto(client) *c = connect_to(s, (tls_client_opts){0});
    if (!c)
        return false;
    kc_clock_sleep(kc_clock_real(), 1200 * KC_MILLISECOND);
    client_get(c, "/");
    return client_read(c) && kc_str_starts(kc_buf_str(&c->in), KC_STR("HTTP/1.1 200"));
}

/* On a busy machine a whole handshake may take too long: then another client tries. */
static void stalled_handshake_is_closed(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_with(false, (kc__http_limits){.handshake_timeout = KC_SECOND});
    kc_auto(client) *silent = client_connect(kc__http_server_port(s->server, 0));
    kc_auto(client) *stalled = client_connect(kc__http_server_port(s->server, 0));
    client_send_bytes(stalled, KC_STR("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"));
    assert_string_equal(client_read_all(silent), "");
    assert_string_equal(client_read_all(stalled), "");
    bool open = complete_handshake_stays_open(s);
    for (int i = 0; i < 30 && !open; i++)
        open = complete_handshake_stays_open(s);
    assert_true(open);
}

TESTS(stalled_handshake_is_closed, client_is_answered, plain_and_tls_listeners_coexist,
      client_certificate_identifies_the_client, client_certificate_of_another_ca_is_refused,
      client_certificate_is_not_requested_without_ca, old_tls_versions_are_refused,
      alpn_protocol_is_negotiated, resumed_session_keeps_the_client_certificate,
      large_bodies_pass_both_ways, pipelined_requests_are_all_answered,
      unusable_files_are_named_in_error, replaced_certificate_is_served_to_new_connections,
      unusable_replacement_changes_nothing)
