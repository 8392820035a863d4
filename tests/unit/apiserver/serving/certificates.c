/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/serving/certificates.h"

#include "kc/file.h"

#include "apiserver/serving/kubeconfig.h"
#include "apiserver/serving/pem_files.h"
#include "testing.h"

#include <dirent.h>
#include <openssl/evp.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define DAY (24 * KC_HOUR)

/* ---- fixture: directory, clock and certificates ---- */

typedef struct fixture {
    char folder[32];
    kc_clock *clock;
    kc__serving_certificates_opts opts;
    kc__serving_certificates certs;
    kc_error err;
} fixture;

static fixture *fixture_new(void)
{
    fixture *s = kc_new(fixture);
    snprintf(s->folder, sizeof(s->folder), "/tmp/kc-certs-XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    s->clock = kc_clock_virtual_new(1763368200 * KC_SECOND);
    s->opts = (kc__serving_certificates_opts){
        .dir = s->folder, .clock = s->clock, .host_name = "plane.example"};
    return s;
}

static void fixture_free(fixture *s)
{
    if (!s)
        return;
    DIR *dir = opendir(s->folder);
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(s->folder);
    kc__serving_certificates_done(&s->certs);
    kc_error_done(&s->err);
    kc_clock_free(s->clock);
    free(s);
}
KC_AUTO_DEFINE(fixture, fixture_free)

static void prepare(fixture *s)
{
    kc__serving_certificates_done(&s->certs);
    if (kc__serving_certificates_prepare(&s->opts, &s->certs, &s->err) < 0)
        fail_msg("%s", kc_error_text(&s->err));
}

static void assert_prepare_fails(fixture *s, kc_reason reason, const char *part)
{
    kc__serving_certificates untouched = {0};
    kc_error_done(&s->err);
    assert_true(kc__serving_certificates_prepare(&s->opts, &untouched, &s->err) < 0);
    assert_error(&s->err, reason, part);
    assert_null(untouched.ca_cert);
}

static char *text_of(const char *path)
{
    kc_buf text = {0};
    assert_int_equal(kc_file_read(path, KC_FILE_MAX, &text, NULL), 0);
    return kc_buf_take(&text);
}

static X509 *cert_of(const char *path)
{
    X509 *cert = NULL;
    assert_int_equal(kc__serving_cert_read(path, &cert, NULL), 0);
    return cert;
}

static bool names(const fixture *s, const char *name)
{
    X509 *cert = cert_of(s->certs.server_cert);
    const bool named = kc__cert_names(cert, name);
    X509_free(cert);
    return named;
}

static int mode_of(const char *path)
{
    struct stat found;
    assert_int_equal(stat(path, &found), 0);
    return (int)(found.st_mode & 0777);
}

/* Texts of the three certificates before something, to see what it changed. */
typedef struct before {
    char *ca, *server, *admin;
} before;

static before remember(const fixture *s)
{
    return (before){text_of(s->certs.ca_cert), text_of(s->certs.server_cert),
                    text_of(s->certs.admin_cert)};
}

static bool file_contains(const char *path, const char *text)
{
    kc_autofree char *now = text_of(path);
    return !strcmp(now, text);
}

/* Says which of them are new, and forgets. */
static const char *renewed(const fixture *s, before b)
{
    static const char *const answers[] = {"nothing", "ca",       "server",       "ca server",
                                          "admin",   "ca admin", "server admin", "all"};
    const bool ca = file_contains(s->certs.ca_cert, b.ca);
    const bool server = file_contains(s->certs.server_cert, b.server);
    const bool admin = file_contains(s->certs.admin_cert, b.admin);
    const int which = (ca ? 0 : 1) + (server ? 0 : 2) + (admin ? 0 : 4);
    free(b.ca);
    free(b.server);
    free(b.admin);
    return answers[which];
}

/* ---- tests ---- */

static void first_start_creates_all_certificates(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    prepare(s);
    X509 *ca = cert_of(s->certs.ca_cert), *server = cert_of(s->certs.server_cert);
    X509 *admin = cert_of(s->certs.admin_cert);
    assert_true(kc__cert_is_of(ca, ca));
    assert_true(kc__cert_is_of(server, ca));
    assert_true(kc__cert_is_of(admin, ca));
    assert_false(kc__cert_is_of(admin, server));
    assert_string_equal(s->certs.client_ca, s->certs.ca_cert);
    X509_free(ca);
    X509_free(server);
    X509_free(admin);
}

static void keys_are_readable_by_owner_only(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    prepare(s);
    assert_int_equal(mode_of(s->certs.ca_key), 0600);
    assert_int_equal(mode_of(s->certs.server_key), 0600);
    assert_int_equal(mode_of(s->certs.admin_key), 0600);
    assert_int_equal(mode_of(s->certs.ca_cert), 0644);
}

static void temporary_files_are_removed(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    prepare(s);
    DIR *dir = opendir(s->folder);
    int files = 0;
    for (const struct dirent *entry; (entry = readdir(dir));)
        files += entry->d_type == DT_REG;
    closedir(dir);
    assert_int_equal(files, 10);
}

static void server_certificate_has_all_names(void **state)
{
    (void)state;
    static const char *const wanted[] = {
        "localhost",  "127.0.0.1",          "::1",       "plane.example",
        "kubernetes", "kubernetes.default", "192.0.2.1", "kubernetes.default.svc",
    };
    kc_auto(fixture) *s = fixture_new();
    s->opts.bind_address = "192.0.2.1";
    prepare(s);
    for (size_t i = 0; i < KC_COUNT(wanted); i++)
        if (!names(s, wanted[i]))
            fail_msg("%s is not a name of the certificate", wanted[i]);
    assert_false(names(s, "other.example"));
    assert_false(names(s, "192.0.2.2"));
}

static void unspecified_bind_address_is_not_a_name(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    s->opts.bind_address = "0.0.0.0";
    prepare(s);
    assert_false(names(s, "0.0.0.0"));
}

static void invalid_host_name_is_left_out(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    s->opts.host_name = "x,DNS:evil.example";
    prepare(s);
    assert_false(names(s, "evil.example"));
    assert_true(names(s, "localhost"));
}

static bool verifies(const fixture *s, const char *path, int purpose)
{
    X509 *ca = cert_of(s->certs.ca_cert), *cert = cert_of(path);
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    X509_STORE_add_cert(store, ca);
    X509_STORE_CTX_init(context, store, cert, NULL);
    X509_STORE_CTX_set_purpose(context, purpose);
    X509_STORE_CTX_set_time(context, 0, (time_t)(kc_clock_wall(s->clock) / KC_SECOND));
    const bool ok = X509_verify_cert(context) == 1;
    X509_STORE_CTX_free(context);
    X509_STORE_free(store);
    X509_free(ca);
    X509_free(cert);
    return ok;
}

static void each_certificate_is_valid_for_its_purpose_only(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    prepare(s);
    assert_true(verifies(s, s->certs.server_cert, X509_PURPOSE_SSL_SERVER));
    assert_false(verifies(s, s->certs.server_cert, X509_PURPOSE_SSL_CLIENT));
    assert_true(verifies(s, s->certs.admin_cert, X509_PURPOSE_SSL_CLIENT));
    assert_false(verifies(s, s->certs.admin_cert, X509_PURPOSE_SSL_SERVER));
}

static void node_client_certificate_has_its_own_ca(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    prepare(s);
    X509 *ca = cert_of(s->certs.ca_cert), *node_ca = cert_of(s->certs.node_client_ca_cert);
    X509 *client = cert_of(s->certs.node_client_cert);
    assert_true(kc__cert_is_of(client, node_ca));
    assert_false(kc__cert_is_of(client, ca));
    assert_int_equal(mode_of(s->certs.node_client_ca_key), 0600);
    X509_free(ca);
    X509_free(node_ca);
    X509_free(client);
}

/* As folders of earlier versions have it. */
static void node_client_certificate_of_common_ca_is_replaced(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    prepare(s);
    kc_autofree char *cert = text_of(s->certs.admin_cert), *key = text_of(s->certs.admin_key);
    kc_file_write(s->certs.node_client_cert, 0644, kc_cstr(cert), NULL);
    kc_file_write(s->certs.node_client_key, 0600, kc_cstr(key), NULL);
    unlink(s->certs.node_client_ca_cert);
    unlink(s->certs.node_client_ca_key);
    const before b = remember(s);
    prepare(s);
    assert_string_equal(renewed(s, b), "nothing");
    X509 *node_ca = cert_of(s->certs.node_client_ca_cert);
    X509 *client = cert_of(s->certs.node_client_cert);
    assert_true(kc__cert_is_of(client, node_ca));
    X509_free(node_ca);
    X509_free(client);
}

static void admin_certificate_is_in_system_masters(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    prepare(s);
    X509 *admin = cert_of(s->certs.admin_cert);
    char text[64] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(admin), NID_commonName, text, sizeof(text));
    assert_string_equal(text, "admin");
    X509_NAME_get_text_by_NID(X509_get_subject_name(admin), NID_organizationName, text,
                              sizeof(text));
    assert_string_equal(text, "system:masters");
    X509_free(admin);
}

static void second_start_changes_nothing(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    prepare(s);
    const before b = remember(s);
    kc_clock_advance(s->clock, 300 * DAY);
    prepare(s);
    assert_string_equal(renewed(s, b), "nothing");
}

static void leaf_certificates_are_renewed_30_days_before_expiry(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    prepare(s);
    const before b = remember(s);
    kc_clock_advance(s->clock, 336 * DAY);
    prepare(s);
    assert_string_equal(renewed(s, b), "server admin");
    assert_true(verifies(s, s->certs.server_cert, X509_PURPOSE_SSL_SERVER));
}

static void all_certificates_are_renewed_60_days_before_ca_expiry(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    prepare(s);
    const before b = remember(s);
    kc_clock_advance(s->clock, 3595 * DAY);
    prepare(s);
    assert_string_equal(renewed(s, b), "all");
    assert_true(verifies(s, s->certs.server_cert, X509_PURPOSE_SSL_SERVER));
}

static void new_server_name_renews_the_server_certificate(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    prepare(s);
    const before b = remember(s);
    s->opts.bind_address = "192.0.2.1";
    prepare(s);
    assert_string_equal(renewed(s, b), "server");
    assert_true(names(s, "192.0.2.1"));
}

static void leaf_without_its_key_is_renewed(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    prepare(s);
    const before b = remember(s);
    unlink(s->certs.admin_key);
    prepare(s);
    assert_string_equal(renewed(s, b), "admin");
}

static void damaged_leaf_is_renewed(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    prepare(s);
    const before b = remember(s);
    kc_file_write(s->certs.server_cert, 0644, KC_STR("nonsense"), NULL);
    prepare(s);
    assert_string_equal(renewed(s, b), "server");
}

static void missing_ca_renews_all_certificates(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    prepare(s);
    const before b = remember(s);
    unlink(s->certs.ca_cert);
    prepare(s);
    assert_string_equal(renewed(s, b), "all");
}

static void ca_key_is_needed_to_sign_only(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    prepare(s);
    unlink(s->certs.ca_key);
    prepare(s);
    s->opts.bind_address = "192.0.2.1";
    assert_prepare_fails(s, KC_NOT_FOUND,
                         "lacks a name of this server and must be created: the private key of the");
}

static void damaged_ca_is_refused_and_unchanged(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    prepare(s);
    kc_file_write(s->certs.ca_cert, 0644, KC_STR("nonsense"), NULL);
    assert_prepare_fails(s, KC_INVALID, "no certificate found in /tmp/kc-certs-");
    assert_true(file_contains(s->certs.ca_cert, "nonsense"));
}

static void ca_key_of_another_ca_is_refused(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    prepare(s);
    kc_autofree char *other = text_of(s->certs.admin_key);
    kc_file_write(s->certs.ca_key, 0600, kc_cstr(other), NULL);
    assert_prepare_fails(s, KC_INVALID, "ca.key is not the key of");
}

static void operator_serving_certificate_replaces_the_generated_one(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    s->opts.without_server = true;
    prepare(s);
    assert_int_equal(access(s->certs.server_cert, F_OK), -1);
    assert_int_equal(access(s->certs.admin_cert, F_OK), 0);
}

static void operator_client_ca_is_trusted_besides_the_generated_one(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new(), *other = fixture_new();
    prepare(other);
    s->opts.client_ca_file = other->certs.ca_cert;
    prepare(s);
    kc_autofree char *both = text_of(s->certs.client_ca);
    kc_autofree char *ours = text_of(s->certs.ca_cert), *theirs = text_of(other->certs.ca_cert);
    assert_contains(both, ours);
    assert_contains(both, theirs);
    assert_string_not_equal(s->certs.client_ca, s->certs.ca_cert);
}

static void invalid_client_ca_file_is_refused(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    prepare(s);
    s->opts.client_ca_file = s->certs.ca_key;
    assert_prepare_fails(s, KC_INVALID, "no certificate found in");
    s->opts.client_ca_file = "/no/such/ca.crt";
    assert_prepare_fails(s, KC_NOT_FOUND, "cannot open /no/such/ca.crt");
}

static void file_in_place_of_directory_is_refused(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    prepare(s);
    s->opts.dir = s->certs.ca_cert;
    kc_scoped(kc_error) err = {0};
    kc__serving_certificates untouched = {0};
    assert_true(kc__serving_certificates_prepare(&s->opts, &untouched, &err) < 0);
    assert_error(&err, KC_INVALID, "ca.crt is not a directory");
}

/* ---- kubeconfig ---- */

/* "NAME: BASE64" decoded. */
static char *decoded(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    assert_non_null(at);
    at += strlen(name) + 2;
    const size_t n = strcspn(at, "\n");
    char *out = kc_calloc(1, n + 1);
    assert_true(EVP_DecodeBlock((unsigned char *)out, (const unsigned char *)at, (int)n) > 0);
    return out;
}

static void kubeconfig_has_server_ca_and_client_certificate(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    prepare(s);
    kc_autofree char *path = kc_asprintf("%s/admin.kubeconfig", s->folder);
    assert_int_equal(kc__serving_kubeconfig_write(
                         path,
                         &(kc__serving_kubeconfig_opts){.server = "https://127.0.0.1:6443",
                                                        .ca_file = s->certs.ca_cert,
                                                        .cert_file = s->certs.admin_cert,
                                                        .key_file = s->certs.admin_key},
                         NULL),
                     0);
    assert_int_equal(mode_of(path), 0600);
    kc_autofree char *text = text_of(path);
    assert_contains(text, "    server: https://127.0.0.1:6443\n");
    assert_null(strstr(text, "tls-server-name"));
    kc_autofree char *ca = decoded(text, "certificate-authority-data");
    kc_autofree char *cert = decoded(text, "client-certificate-data");
    kc_autofree char *key = decoded(text, "client-key-data");
    assert_true(file_contains(s->certs.ca_cert, ca));
    assert_true(file_contains(s->certs.admin_cert, cert));
    assert_true(file_contains(s->certs.admin_key, key));
}

static void failed_kubeconfig_write_keeps_the_old_file(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    kc_scoped(kc_error) err = {0};
    prepare(s);
    kc_autofree char *path = kc_asprintf("%s/admin.kubeconfig", s->folder);
    kc_file_write(path, 0600, KC_STR("old"), NULL);
    assert_true(
        kc__serving_kubeconfig_write(path,
                                     &(kc__serving_kubeconfig_opts){.server = "https://x",
                                                                    .ca_file = s->certs.ca_cert,
                                                                    .cert_file = "/no/such/file",
                                                                    .key_file = s->certs.admin_key},
                                     &err) < 0);
    assert_error(&err, KC_NOT_FOUND, "/no/such/file");
    assert_true(file_contains(path, "old"));
}

static void certificate_without_the_host_returns_another_name(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new();
    prepare(s);
    assert_null(kc__serving_certificate_other_name(s->certs.server_cert, "127.0.0.1"));
    assert_null(kc__serving_certificate_other_name(s->certs.admin_cert, "127.0.0.1"));
    assert_null(kc__serving_certificate_other_name("/no/such/file", "127.0.0.1"));
    kc_autofree char *name = kc__serving_certificate_other_name(s->certs.server_cert, "192.0.2.9");
    assert_string_equal(name, "localhost");
}

TESTS(first_start_creates_all_certificates, keys_are_readable_by_owner_only,
      temporary_files_are_removed, server_certificate_has_all_names,
      unspecified_bind_address_is_not_a_name, invalid_host_name_is_left_out,
      each_certificate_is_valid_for_its_purpose_only, node_client_certificate_has_its_own_ca,
      node_client_certificate_of_common_ca_is_replaced, admin_certificate_is_in_system_masters,
      second_start_changes_nothing, leaf_certificates_are_renewed_30_days_before_expiry,
      all_certificates_are_renewed_60_days_before_ca_expiry,
      new_server_name_renews_the_server_certificate, leaf_without_its_key_is_renewed,
      damaged_leaf_is_renewed, missing_ca_renews_all_certificates, ca_key_is_needed_to_sign_only,
      damaged_ca_is_refused_and_unchanged, ca_key_of_another_ca_is_refused,
      operator_serving_certificate_replaces_the_generated_one,
      operator_client_ca_is_trusted_besides_the_generated_one, invalid_client_ca_file_is_refused,
      file_in_place_of_directory_is_refused, kubeconfig_has_server_ca_and_client_certificate,
      failed_kubeconfig_write_keeps_the_old_file, certificate_without_the_host_returns_another_name)
