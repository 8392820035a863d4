/* SPDX-License-Identifier: Apache-2.0 */
/* Calls over TLS: which servers are trusted, and the client's certificate. */
#include "grpc_testing.h"

#include "http/tls/certificate.h"

#include <stdio.h>
#include <unistd.h>

typedef struct files {
    char folder[32];
    char ca[64], other_ca[64], cert[64], key[64], client_cert[64], client_key[64];
} files;

static void write_text(const char *path, const kc_buf *text)
{
    FILE *file = fopen(path, "w");
    assert_int_equal(fwrite(text->p, 1, text->n, file), text->n);
    fclose(file);
}

static void write_pair(const kc__cert_keypair *pair, const char *cert, const char *key)
{
    kc_scoped(kc_buf) cert_text = {0}, key_text = {0};
    assert_int_equal(kc__cert_write(pair->cert, &cert_text, NULL), 0);
    assert_int_equal(kc__cert_key_write(pair->key, &key_text, NULL), 0);
    write_text(cert, &cert_text);
    if (key)
        write_text(key, &key_text);
}

static kc__cert_keypair pair_of(kc__cert_use use, const char *name, const kc__cert_keypair *issuer)
{
    static const char *const names[] = {"127.0.0.1", "etcd.test"};
    const kc__cert_spec spec = {.use = use,
                                .common_name = name,
                                .names = names,
                                .n_names = use == KC__CERT_SERVER ? KC_COUNT(names) : 0,
                                .lifetime = KC_HOUR};
    kc__cert_keypair pair = {0};
    assert_int_equal(
        kc__cert_keypair_generate(&spec, issuer, kc_clock_wall(kc_clock_real()), &pair, NULL), 0);
    return pair;
}

static files *files_new(void)
{
    files *f = kc_new(files);
    kc_scoped(kc__cert_keypair) ca = pair_of(KC__CERT_AUTHORITY, "ca", NULL);
    kc_scoped(kc__cert_keypair) other = pair_of(KC__CERT_AUTHORITY, "other", NULL);
    kc_scoped(kc__cert_keypair) server = pair_of(KC__CERT_SERVER, "server", &ca);
    kc_scoped(kc__cert_keypair) client = pair_of(KC__CERT_CLIENT, "client", &ca);
    snprintf(f->folder, sizeof(f->folder), "/tmp/kc-grpc-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->ca, sizeof(f->ca), "%s/ca", f->folder);
    snprintf(f->other_ca, sizeof(f->other_ca), "%s/other", f->folder);
    snprintf(f->cert, sizeof(f->cert), "%s/cert", f->folder);
    snprintf(f->key, sizeof(f->key), "%s/key", f->folder);
    snprintf(f->client_cert, sizeof(f->client_cert), "%s/client-cert", f->folder);
    snprintf(f->client_key, sizeof(f->client_key), "%s/client-key", f->folder);
    write_pair(&ca, f->ca, NULL);
    write_pair(&other, f->other_ca, NULL);
    write_pair(&server, f->cert, f->key);
    write_pair(&client, f->client_cert, f->client_key);
    return f;
}

static void files_free(files *f)
{
    const char *const all[] = {f->ca, f->other_ca, f->cert, f->key, f->client_cert, f->client_key};
    for (size_t i = 0; i < KC_COUNT(all); i++)
        unlink(all[i]);
    rmdir(f->folder);
    free(f);
}

static kc__grpc_channel *tls_channel(const char *url, kc__grpc_tls tls)
{
    return channel_with((kc__grpc_channel_opts){.endpoints = &url, .n_endpoints = 1, .tls = tls});
}

static void calls_pass_over_tls(void **state)
{
    (void)state;
    files *f = files_new();
    grpc_server *server = grpc_server_start(&(grpc_server_opts){.cert = f->cert, .key = f->key});
    kc__grpc_channel *channel = tls_channel(server->url, (kc__grpc_tls){.ca_file = f->ca});
    assert_reply(channel, "/test/Echo", "secret", KC__GRPC_OK, "secret");
    kc_scoped(kc__grpc_reply) large = reply_of(channel, "/test/Large", KC_STR("3000000"));
    assert_int_equal(large.response.n, 3000000);
    kc_autofree char *bytes = kc_calloc(1, 3000000);
    kc_scoped(kc__grpc_reply) size = reply_of(channel, "/test/Size", kc_str_of(bytes, 3000000));
    assert_str(kc_buf_str(&size.response), "3000000");
    kc__grpc_channel_free(channel);
    grpc_server_stop(server);
    files_free(f);
}

static void server_of_another_authority_is_refused(void **state)
{
    (void)state;
    files *f = files_new();
    grpc_server *server = grpc_server_start(&(grpc_server_opts){.cert = f->cert, .key = f->key});
    kc__grpc_channel *channel = tls_channel(server->url, (kc__grpc_tls){.ca_file = f->other_ca});
    assert_reply(channel, "/test/Echo", "x", KC__GRPC_UNAVAILABLE, "unable to get local issuer");
    assert_int_equal(atomic_load(&server->requests), 0);
    kc__grpc_channel_free(channel);
    grpc_server_stop(server);
    files_free(f);
}

static void server_name_is_verified(void **state)
{
    (void)state;
    files *f = files_new();
    grpc_server *server = grpc_server_start(&(grpc_server_opts){.cert = f->cert, .key = f->key});
    kc__grpc_channel *right =
        tls_channel(server->url, (kc__grpc_tls){.ca_file = f->ca, .server_name = "etcd.test"});
    kc__grpc_channel *wrong =
        tls_channel(server->url, (kc__grpc_tls){.ca_file = f->ca, .server_name = "other.test"});
    assert_reply(right, "/test/Echo", "x", KC__GRPC_OK, "x");
    assert_reply(wrong, "/test/Echo", "x", KC__GRPC_UNAVAILABLE, "ostname mismatch");
    kc__grpc_channel_free(right);
    kc__grpc_channel_free(wrong);
    grpc_server_stop(server);
    files_free(f);
}

static void client_certificate_is_presented(void **state)
{
    (void)state;
    files *f = files_new();
    grpc_server *server =
        grpc_server_start(&(grpc_server_opts){.cert = f->cert, .key = f->key, .client_ca = f->ca});
    kc__grpc_channel *with = tls_channel(
        server->url,
        (kc__grpc_tls){.ca_file = f->ca, .cert_file = f->client_cert, .key_file = f->client_key});
    kc__grpc_channel *without = tls_channel(server->url, (kc__grpc_tls){.ca_file = f->ca});
    assert_reply(with, "/test/Echo", "x", KC__GRPC_OK, "x");
    assert_reply(without, "/test/Echo", "x", KC__GRPC_UNAVAILABLE, "");
    kc__grpc_channel_free(with);
    kc__grpc_channel_free(without);
    grpc_server_stop(server);
    files_free(f);
}

static void server_without_http2_is_refused(void **state)
{
    (void)state;
    files *f = files_new();
    grpc_server *server =
        grpc_server_start(&(grpc_server_opts){.cert = f->cert, .key = f->key, .alpn = "http/1.1"});
    kc__grpc_channel *channel = tls_channel(server->url, (kc__grpc_tls){.ca_file = f->ca});
    assert_reply(channel, "/test/Echo", "x", KC__GRPC_UNAVAILABLE, "TLS");
    kc__grpc_channel_free(channel);
    grpc_server_stop(server);
    files_free(f);
}

static void plain_server_is_refused(void **state)
{
    (void)state;
    files *f = files_new();
    grpc_server *server = grpc_server_start(&(grpc_server_opts){0});
    kc_autofree char *url = kc_asprintf("https://127.0.0.1:%d", server->port);
    kc__grpc_channel *channel = tls_channel(url, (kc__grpc_tls){.ca_file = f->ca});
    assert_reply(channel, "/test/Echo", "x", KC__GRPC_UNAVAILABLE, "TLS");
    kc__grpc_channel_free(channel);
    grpc_server_stop(server);
    files_free(f);
}

static void key_without_certificate_is_refused_at_once(void **state)
{
    (void)state;
    files *f = files_new();
    kc_scoped(kc_error) err = {0};
    const char *url = "https://127.0.0.1:1";
    kc__grpc_channel_opts opts = {
        .endpoints = &url, .n_endpoints = 1, .tls = {.ca_file = f->ca, .key_file = f->client_key}};
    assert_null(kc__grpc_channel_open(&opts, &err));
    assert_error(&err, KC_BAD_REQUEST, "client certificate");
    opts.tls.cert_file = f->cert; /* Of another key. */
    kc_error_done(&err);
    assert_null(kc__grpc_channel_open(&opts, &err));
    assert_error(&err, KC_BAD_REQUEST, f->client_key);
    files_free(f);
}

TESTS(calls_pass_over_tls, server_of_another_authority_is_refused, server_name_is_verified,
      client_certificate_is_presented, server_without_http2_is_refused, plain_server_is_refused,
      key_without_certificate_is_refused_at_once)
