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

/* ---- a folder, a clock and what was made ---- */

typedef struct shop {
    char folder[32];
    kc_clock *clock;
    kc__certificates_opts opts;
    kc__certificates certs;
    kc_error err;
} shop;

static shop *shop_new(void)
{
    shop *s = kc_new(shop);
    snprintf(s->folder, sizeof(s->folder), "/tmp/kc-certs-XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    s->clock = kc_clock_virtual_new(1763368200 * KC_SECOND);
    s->opts = (kc__certificates_opts){
        .folder = s->folder, .clock = s->clock, .host_name = "plane.example"};
    return s;
}

static void shop_free(shop *s)
{
    if (!s)
        return;
    DIR *dir = opendir(s->folder);
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(s->folder);
    kc__certificates_done(&s->certs);
    kc_error_done(&s->err);
    kc_clock_free(s->clock);
    free(s);
}
KC_AUTO_DEFINE(shop, shop_free)

static void prepare(shop *s)
{
    kc__certificates_done(&s->certs);
    if (kc__certificates_prepare(&s->opts, &s->certs, &s->err) < 0)
        fail_msg("%s", kc_error_text(&s->err));
}

static void refuse(shop *s, kc_reason reason, const char *part)
{
    kc__certificates untouched = {0};
    kc_error_done(&s->err);
    assert_true(kc__certificates_prepare(&s->opts, &untouched, &s->err) < 0);
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
    assert_int_equal(kc__cert_read(path, &cert, NULL), 0);
    return cert;
}

static bool names(const shop *s, const char *name)
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

static before remember(const shop *s)
{
    return (before){text_of(s->certs.ca_cert), text_of(s->certs.server_cert),
                    text_of(s->certs.admin_cert)};
}

static bool is_still(const char *path, const char *text)
{
    kc_autofree char *now = text_of(path);
    return !strcmp(now, text);
}

/* Says which of them are new, and forgets. */
static const char *made_anew(const shop *s, before b)
{
    static const char *const answers[] = {"nothing", "ca",       "server",       "ca server",
                                          "admin",   "ca admin", "server admin", "all"};
    const bool ca = is_still(s->certs.ca_cert, b.ca);
    const bool server = is_still(s->certs.server_cert, b.server);
    const bool admin = is_still(s->certs.admin_cert, b.admin);
    const int which = (ca ? 0 : 1) + (server ? 0 : 2) + (admin ? 0 : 4);
    free(b.ca);
    free(b.server);
    free(b.admin);
    return answers[which];
}

/* ---- tests ---- */

static void a_first_start_makes_everything(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new();
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

static void keys_are_for_the_owner_only(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new();
    prepare(s);
    assert_int_equal(mode_of(s->certs.ca_key), 0600);
    assert_int_equal(mode_of(s->certs.server_key), 0600);
    assert_int_equal(mode_of(s->certs.admin_key), 0600);
    assert_int_equal(mode_of(s->certs.ca_cert), 0644);
}

static void no_temporary_file_stays(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new();
    prepare(s);
    DIR *dir = opendir(s->folder);
    int files = 0;
    for (const struct dirent *entry; (entry = readdir(dir));)
        files += entry->d_type == DT_REG;
    closedir(dir);
    assert_int_equal(files, 8);
}

static void the_server_is_named_in_every_usual_way(void **state)
{
    (void)state;
    static const char *const wanted[] = {
        "localhost",  "127.0.0.1",          "::1",       "plane.example",
        "kubernetes", "kubernetes.default", "192.0.2.1", "kubernetes.default.svc",
    };
    kc_auto(shop) *s = shop_new();
    s->opts.bind_address = "192.0.2.1";
    prepare(s);
    for (size_t i = 0; i < KC_COUNT(wanted); i++)
        if (!names(s, wanted[i]))
            fail_msg("%s is not named", wanted[i]);
    assert_false(names(s, "other.example"));
    assert_false(names(s, "192.0.2.2"));
}

static void an_address_for_all_is_not_named(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new();
    s->opts.bind_address = "0.0.0.0";
    prepare(s);
    assert_false(names(s, "0.0.0.0"));
}

static void a_host_name_that_is_none_is_left_out(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new();
    s->opts.host_name = "x,DNS:evil.example";
    prepare(s);
    assert_false(names(s, "evil.example"));
    assert_true(names(s, "localhost"));
}

static bool verifies(const shop *s, const char *path, int purpose)
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

static void each_certificate_is_good_for_its_use_alone(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new();
    prepare(s);
    assert_true(verifies(s, s->certs.server_cert, X509_PURPOSE_SSL_SERVER));
    assert_false(verifies(s, s->certs.server_cert, X509_PURPOSE_SSL_CLIENT));
    assert_true(verifies(s, s->certs.admin_cert, X509_PURPOSE_SSL_CLIENT));
    assert_false(verifies(s, s->certs.admin_cert, X509_PURPOSE_SSL_SERVER));
}

static void the_administrator_is_of_system_masters(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new();
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

static void a_second_start_changes_nothing(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new();
    prepare(s);
    const before b = remember(s);
    kc_clock_advance(s->clock, 300 * DAY);
    prepare(s);
    assert_string_equal(made_anew(s, b), "nothing");
}

static void leaves_are_made_again_a_month_before_their_end(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new();
    prepare(s);
    const before b = remember(s);
    kc_clock_advance(s->clock, 336 * DAY);
    prepare(s);
    assert_string_equal(made_anew(s, b), "server admin");
    assert_true(verifies(s, s->certs.server_cert, X509_PURPOSE_SSL_SERVER));
}

static void all_are_made_again_a_month_before_the_authoritys_end(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new();
    prepare(s);
    const before b = remember(s);
    kc_clock_advance(s->clock, 3625 * DAY);
    prepare(s);
    assert_string_equal(made_anew(s, b), "all");
    assert_true(verifies(s, s->certs.server_cert, X509_PURPOSE_SSL_SERVER));
}

static void a_new_name_makes_the_servers_certificate_again(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new();
    prepare(s);
    const before b = remember(s);
    s->opts.bind_address = "192.0.2.1";
    prepare(s);
    assert_string_equal(made_anew(s, b), "server");
    assert_true(names(s, "192.0.2.1"));
}

static void a_leaf_without_its_key_is_made_again(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new();
    prepare(s);
    const before b = remember(s);
    unlink(s->certs.admin_key);
    prepare(s);
    assert_string_equal(made_anew(s, b), "admin");
}

static void a_damaged_leaf_is_made_again(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new();
    prepare(s);
    const before b = remember(s);
    kc_file_write(s->certs.server_cert, 0644, KC_STR("nonsense"), NULL);
    prepare(s);
    assert_string_equal(made_anew(s, b), "server");
}

static void a_lost_authority_makes_all_again(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new();
    prepare(s);
    const before b = remember(s);
    unlink(s->certs.ca_cert);
    prepare(s);
    assert_string_equal(made_anew(s, b), "all");
}

static void an_authoritys_key_is_needed_only_to_sign(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new();
    prepare(s);
    unlink(s->certs.ca_key);
    prepare(s);
    s->opts.bind_address = "192.0.2.1";
    refuse(s, KC_NOT_FOUND, "lacks a name of this server and has to be made: the key of the");
}

static void a_damaged_authority_is_refused_and_left_alone(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new();
    prepare(s);
    kc_file_write(s->certs.ca_cert, 0644, KC_STR("nonsense"), NULL);
    refuse(s, KC_INVALID, "there is no certificate in /tmp/kc-certs-");
    assert_true(is_still(s->certs.ca_cert, "nonsense"));
}

static void a_key_of_another_authority_is_refused(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new();
    prepare(s);
    kc_autofree char *other = text_of(s->certs.admin_key);
    kc_file_write(s->certs.ca_key, 0600, kc_cstr(other), NULL);
    refuse(s, KC_INVALID, "ca.key is not the key of");
}

static void the_operators_own_serving_certificate_needs_none_of_ours(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new();
    s->opts.without_server = true;
    prepare(s);
    assert_int_equal(access(s->certs.server_cert, F_OK), -1);
    assert_int_equal(access(s->certs.admin_cert, F_OK), 0);
}

static void the_operators_authorities_are_trusted_beside_ours(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new(), *other = shop_new();
    prepare(other);
    s->opts.client_ca_file = other->certs.ca_cert;
    prepare(s);
    kc_autofree char *both = text_of(s->certs.client_ca);
    kc_autofree char *ours = text_of(s->certs.ca_cert), *theirs = text_of(other->certs.ca_cert);
    assert_contains(both, ours);
    assert_contains(both, theirs);
    assert_string_not_equal(s->certs.client_ca, s->certs.ca_cert);
}

static void authorities_that_are_none_are_refused(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new();
    prepare(s);
    s->opts.client_ca_file = s->certs.ca_key;
    refuse(s, KC_INVALID, "there is no certificate in");
    s->opts.client_ca_file = "/no/such/ca.crt";
    refuse(s, KC_NOT_FOUND, "cannot open /no/such/ca.crt");
}

static void a_file_in_the_folders_place_is_refused(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new();
    prepare(s);
    s->opts.folder = s->certs.ca_cert;
    kc_scoped(kc_error) err = {0};
    kc__certificates untouched = {0};
    assert_true(kc__certificates_prepare(&s->opts, &untouched, &err) < 0);
    assert_error(&err, KC_INVALID, "ca.crt is not a folder");
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

static void a_kubeconfig_holds_all_that_is_needed(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new();
    prepare(s);
    kc_autofree char *path = kc_asprintf("%s/admin.kubeconfig", s->folder);
    assert_int_equal(kc__kubeconfig_write(path,
                                          &(kc__kubeconfig_opts){.server = "https://127.0.0.1:6443",
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
    assert_true(is_still(s->certs.ca_cert, ca));
    assert_true(is_still(s->certs.admin_cert, cert));
    assert_true(is_still(s->certs.admin_key, key));
}

static void a_kubeconfig_that_cannot_be_written_leaves_the_old_one(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new();
    kc_scoped(kc_error) err = {0};
    prepare(s);
    kc_autofree char *path = kc_asprintf("%s/admin.kubeconfig", s->folder);
    kc_file_write(path, 0600, KC_STR("old"), NULL);
    assert_true(kc__kubeconfig_write(path,
                                     &(kc__kubeconfig_opts){.server = "https://x",
                                                            .ca_file = s->certs.ca_cert,
                                                            .cert_file = "/no/such/file",
                                                            .key_file = s->certs.admin_key},
                                     &err) < 0);
    assert_error(&err, KC_NOT_FOUND, "/no/such/file");
    assert_true(is_still(path, "old"));
}

static void a_certificate_for_other_names_gives_one_of_them(void **state)
{
    (void)state;
    kc_auto(shop) *s = shop_new();
    prepare(s);
    assert_null(kc__certificate_other_name(s->certs.server_cert, "127.0.0.1"));
    assert_null(kc__certificate_other_name(s->certs.admin_cert, "127.0.0.1"));
    assert_null(kc__certificate_other_name("/no/such/file", "127.0.0.1"));
    kc_autofree char *name = kc__certificate_other_name(s->certs.server_cert, "192.0.2.9");
    assert_string_equal(name, "localhost");
}

TESTS(a_first_start_makes_everything, keys_are_for_the_owner_only, no_temporary_file_stays,
      the_server_is_named_in_every_usual_way, an_address_for_all_is_not_named,
      a_host_name_that_is_none_is_left_out, each_certificate_is_good_for_its_use_alone,
      the_administrator_is_of_system_masters, a_second_start_changes_nothing,
      leaves_are_made_again_a_month_before_their_end,
      all_are_made_again_a_month_before_the_authoritys_end,
      a_new_name_makes_the_servers_certificate_again, a_leaf_without_its_key_is_made_again,
      a_damaged_leaf_is_made_again, a_lost_authority_makes_all_again,
      an_authoritys_key_is_needed_only_to_sign, a_damaged_authority_is_refused_and_left_alone,
      a_key_of_another_authority_is_refused,
      the_operators_own_serving_certificate_needs_none_of_ours,
      the_operators_authorities_are_trusted_beside_ours, authorities_that_are_none_are_refused,
      a_file_in_the_folders_place_is_refused, a_kubeconfig_holds_all_that_is_needed,
      a_kubeconfig_that_cannot_be_written_leaves_the_old_one,
      a_certificate_for_other_names_gives_one_of_them)
