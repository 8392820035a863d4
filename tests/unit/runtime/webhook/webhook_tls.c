/* SPDX-License-Identifier: Apache-2.0 */
/* The certificates of a webhook server as an API server sees them: trusted, renewed, reloaded. */
#include "thread_testing.h"
#include "webhook_testing.h"

#include "http/tls/certificate.h"
#include "runtime/webhook/certs.h"

#include <openssl/ssl.h>
#include <stdio.h>
#include <unistd.h>

#define DAY (24 * KC_HOUR)

static stage *serving(void)
{
    stage *s = stage_new(NULL, 0);
    kc_webhook_add_handler(s->hooks, "/allow", allow, s, NULL);
    return started(s);
}

static void client_without_the_ca_does_not_connect(void **state)
{
    (void)state;
    kc_auto(stage) *s = serving(), *other = serving();
    kc_scoped(kc_buf) ca = bundle(other), out = {0};
    kc_auto(kc_transport) *t = transport_with_ca(s, kc_buf_str(&ca), false);
    assert_true(call(t, "POST", "/allow", REVIEW("a"), &out) < 0);
    assert_contains(kc_buf_cstr(&out), "certificate");
}

/* The serial number of what is shown would do; the end of the check is what an API server sees. */
static bool answers(stage *s, kc_str ca)
{
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc_transport) *t = transport_with_ca(s, ca, true);
    return call(t, "POST", "/allow", REVIEW("a"), &out) == 200;
}

/* The certificate that the server presents, as PEM. */
static char *shown_by(stage *s)
{
    kc_buf out = {0};
    char address[32];
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    BIO *bio = BIO_new_ssl_connect(ctx);
    SSL *ssl = NULL;
    snprintf(address, sizeof(address), "127.0.0.1:%d", kc_webhook_server_port(s->hooks));
    BIO_set_conn_hostname(bio, address);
    assert_int_equal(BIO_do_handshake(bio), 1);
    BIO_get_ssl(bio, &ssl);
    X509 *cert = SSL_get1_peer_certificate(ssl);
    kc__cert_write(cert, &out, NULL);
    X509_free(cert);
    BIO_free_all(bio);
    SSL_CTX_free(ctx);
    return kc_buf_take(&out);
}

/* Made sixty days ago, and renewed now: before and after are good for the same bundle. */
static void renewed_certificate_is_served_without_interruption(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(NULL, 60 * DAY);
    kc_webhook_add_handler(s->hooks, "/allow", allow, s, NULL);
    started(s);
    kc_scoped(kc_buf) ca = bundle(s);
    kc_autofree char *before = shown_by(s), *after = NULL;
    kc_auto(kc_transport) *open = transport_with_ca(s, kc_buf_str(&ca), false);
    assert_answer(open, "/allow", REVIEW("a"), "true");
    kc_clock_advance(s->clock, 60 * DAY);
    do {
        assert_true(answers(s, kc_buf_str(&ca)));
        assert_answer(open, "/allow", REVIEW("a"), "true");
        free(after);
        after = shown_by(s);
    } while (strcmp(before, after) == 0);
    assert_true(answers(s, kc_buf_str(&ca)));
}

/* Six hundred days ago: a new authority beside the old. */
static void renewed_ca_is_published_beside_the_old_one(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(NULL, 600 * DAY);
    kc_webhook_add_handler(s->hooks, "/allow", allow, s, NULL);
    started(s);
    kc_scoped(kc_buf) first = bundle(s);
    kc_clock_advance(s->clock, 600 * DAY);
    kc_buf now = bundle(s);
    while (now.n == first.n) {
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
        kc_buf_done(&now);
        now = bundle(s);
    }
    assert_true(kc_str_ends(kc_buf_str(&now), kc_buf_str(&first)));
    while (!answers(s, kc_buf_str(&now)))
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
    kc_buf_done(&now);
}

/* ---- fixture: directory ---- */

typedef struct folder {
    char path[40];
    kc__webhook_certs certs;
} folder;

static void put(const folder *f, const char *name, const kc_buf *text)
{
    kc_autofree char *path = kc_asprintf("%s/%s", f->path, name);
    FILE *file = fopen(path, "w");
    assert_int_equal(fwrite(text->p, 1, text->n, file), text->n);
    fclose(file);
}

static void fill(folder *f)
{
    static const char *const names[] = {"127.0.0.1", NULL};
    const kc__webhook_certs_spec spec = {.names = names, .valid = DAY};
    const char *why = NULL;
    kc__webhook_certs_done(&f->certs);
    f->certs = (kc__webhook_certs){0};
    assert_int_equal(
        kc__webhook_certs_renew(&f->certs, &spec, kc_clock_wall(kc_clock_real()), &why, NULL), 0);
    put(f, "tls.crt", &f->certs.cert);
    put(f, "tls.key", &f->certs.key);
    put(f, "ca.crt", &f->certs.authorities);
}

static void folder_make(folder *f)
{
    *f = (folder){0};
    snprintf(f->path, sizeof(f->path), "/tmp/kc-webhook-XXXXXX");
    assert_non_null(mkdtemp(f->path));
}

static void folder_done(folder *f)
{
    static const char *const files[] = {"tls.crt", "tls.key", "ca.crt"};
    for (size_t i = 0; i < KC_COUNT(files); i++) {
        kc_autofree char *path = kc_asprintf("%s/%s", f->path, files[i]);
        unlink(path);
    }
    rmdir(f->path);
    kc__webhook_certs_done(&f->certs);
}

static void changed_certificate_files_are_reloaded(void **state)
{
    (void)state;
    kc_scoped(folder) f;
    folder_make(&f);
    fill(&f);
    kc_auto(stage) *s = stage_new(&(kc_webhook_server_opts){.cert_dir = f.path}, 0);
    kc_webhook_add_handler(s->hooks, "/allow", allow, s, NULL);
    started(s);
    assert_true(answers(s, kc_buf_str(&f.certs.authorities)));
    kc_scoped(kc_buf) old = bundle(s);
    assert_true(kc_str_eq(kc_buf_str(&old), kc_buf_str(&f.certs.authorities)));
    pause_time(s);
    await_other_threads(); /* One that was woken before would read the new files. */
    fill(&f);
    assert_false(answers(s, kc_buf_str(&f.certs.authorities)));
    do {
        kc_clock_advance(s->clock, 11 * KC_SECOND);
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
    } while (!answers(s, kc_buf_str(&f.certs.authorities)));
}

static void mismatched_certificate_files_are_not_served(void **state)
{
    (void)state;
    kc_scoped(folder) f, other;
    folder_make(&f);
    folder_make(&other);
    fill(&f);
    fill(&other);
    kc_auto(stage) *s = stage_new(&(kc_webhook_server_opts){.cert_dir = f.path}, 0);
    kc_webhook_add_handler(s->hooks, "/allow", allow, s, NULL);
    started(s);
    put(&f, "tls.crt", &other.certs.cert);
    for (int i = 0; i < 5; i++) {
        kc_clock_advance(s->clock, 11 * KC_SECOND);
        assert_true(answers(s, kc_buf_str(&f.certs.authorities)));
    }
    put(&f, "tls.key", &other.certs.key);
    kc_clock_advance(s->clock, 11 * KC_SECOND);
    while (!answers(s, kc_buf_str(&other.certs.authorities)))
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
}

static void expired_certificate_is_not_ready(void **state)
{
    (void)state;
    kc_scoped(folder) f;
    kc_scoped(kc_buf) out = {0};
    folder_make(&f);
    fill(&f);
    kc_auto(stage) *s = stage_new(&(kc_webhook_server_opts){.cert_dir = f.path}, 0);
    started(s);
    assert_int_equal(readiness(s, &out), 200);
    kc_clock_advance(s->clock, DAY);
    assert_int_equal(readiness(s, &out), 500);
    assert_contains(kc_buf_cstr(&out), "webhook failed: the certificate has expired");
}

static void directory_without_certificates_fails_the_manager(void **state)
{
    (void)state;
    kc_scoped(folder) f;
    kc_scoped(kc_error) err = {0};
    folder_make(&f);
    kc_auto(stage) *s = stage_new(&(kc_webhook_server_opts){.cert_dir = f.path}, 0);
    s->ticker = kc_thread_start("ticker", tick, s, NULL);
    assert_true(kc_manager_start(s->manager, &err) < 0);
    assert_error(&err, KC_NOT_FOUND, "tls.crt");
}

static bool has_bundle(stage *s)
{
    kc_auto(kc_object) *c =
        kc_client_get(s->client, &kc_kind_mutating_webhook, KC_KEY("", "hooks"), NULL, NULL);
    return c && kc_str_contains(kc_object_json(c), KC_STR("caBundle"));
}

/* Left alone it would be within a minute; here no time passes. */
static void recreated_configuration_is_patched_on_request(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(NULL, 0);
    started(s);
    assert_true(has_bundle(s));
    pause_time(s);
    kc_client_delete(s->client, &kc_kind_mutating_webhook, KC_KEY("", "hooks"), NULL, NULL);
    kc_auto(kc_object) *configuration = object_of(CONFIGURATION);
    kc_object_unref(kc_client_create(s->client, configuration, NULL, NULL));
    kc_webhook_server_publish_ca(s->hooks);
    while (!has_bundle(s))
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
}

TESTS(recreated_configuration_is_patched_on_request, client_without_the_ca_does_not_connect,
      renewed_certificate_is_served_without_interruption,
      renewed_ca_is_published_beside_the_old_one, changed_certificate_files_are_reloaded,
      mismatched_certificate_files_are_not_served, expired_certificate_is_not_ready,
      directory_without_certificates_fails_the_manager)
