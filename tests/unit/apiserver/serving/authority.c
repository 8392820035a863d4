/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/serving/authority.h"

#include "kc/file.h"

#include "apiserver/serving/leaf.h"
#include "apiserver/serving/pem_files.h"
#include "testing.h"

#include <unistd.h>

#define DAY    KC__SERVING_DAY
#define CA_END (3650 * DAY)

/* ---- fixture: the files of one CA, at a time that the test sets ---- */

typedef struct fixture {
    char folder[40];
    char *cert, *key, *next_cert, *next_key;
    kc__serving_certificates_opts opts;
    int64_t start, wall;
    bool replace_now;
    bool changed; /* By the last pass. */
} fixture;

static fixture *fixture_new(void)
{
    fixture *f = kc_new(fixture);
    snprintf(f->folder, sizeof(f->folder), "/tmp/kc-authority-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    f->cert = kc_asprintf("%s/ca.crt", f->folder);
    f->key = kc_asprintf("%s/ca.key", f->folder);
    f->next_cert = kc_asprintf("%s/ca-next.crt", f->folder);
    f->next_key = kc_asprintf("%s/ca-next.key", f->folder);
    f->opts.dir = f->folder;
    f->wall = f->start = 1763368200 * KC_SECOND;
    return f;
}

static void fixture_free(fixture *f)
{
    char *const paths[] = {f->cert, f->key, f->next_cert, f->next_key};
    for (size_t i = 0; i < KC_COUNT(paths); i++) {
        unlink(paths[i]);
        free(paths[i]);
    }
    rmdir(f->folder);
    free(f);
}
KC_AUTO_DEFINE(fixture, fixture_free)

static int try_ensure(fixture *f, const char *name, kc_error *err)
{
    kc__serving_pass pass = {.opts = &f->opts, .wall = f->wall};
    kc__serving_authority ca = {
        .name = name, .cert_path = f->cert, .key_path = f->key, .replace_now = f->replace_now};
    const int result = kc__serving_authority_ensure(&pass, &ca, err);
    kc__serving_authority_done(&ca);
    f->changed = pass.changed;
    return result;
}

static void ensure(fixture *f)
{
    kc_scoped(kc_error) err = {0};
    if (try_ensure(f, "test-ca", &err) < 0)
        fail_msg("%s", kc_error_text(&err));
}

/* A pass at the given time after the creation of the first CA. */
static void ensure_after(fixture *f, int64_t elapsed)
{
    f->wall = f->start + elapsed;
    ensure(f);
}

static bool count_cert(X509 *cert, void *user)
{
    (void)cert;
    (void)user;
    return true;
}

static size_t trusted_certs(const fixture *f)
{
    kc_scoped(kc_buf) text = {0};
    assert_int_equal(kc_file_read(f->cert, KC_FILE_MAX, &text, NULL), 0);
    return kc__cert_each(kc_buf_str(&text), count_cert, NULL);
}

static char *first_cert(const char *path)
{
    X509 *cert = NULL;
    kc_buf text = {0};
    assert_int_equal(kc__serving_cert_read(path, &cert, NULL), 0);
    assert_int_equal(kc__cert_write(cert, &text, NULL), 0);
    X509_free(cert);
    return kc_buf_take(&text);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* ---- tests ---- */

static void ca_with_more_than_a_year_left_is_unchanged(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    ensure(f);
    assert_true(f->changed);
    ensure_after(f, CA_END - 367 * DAY);
    assert_false(f->changed);
    assert_int_equal(trusted_certs(f), 1);
    assert_false(exists(f->next_cert));
}

static void successor_is_trusted_a_year_before_the_ca_ends(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    ensure(f);
    kc_autofree char *old = first_cert(f->cert);
    ensure_after(f, CA_END - 360 * DAY);
    kc_autofree char *signing = first_cert(f->cert);
    assert_string_equal(signing, old);
    assert_int_equal(trusted_certs(f), 2);
    assert_true(exists(f->next_key));
    ensure_after(f, CA_END - 359 * DAY);
    assert_false(f->changed);
}

static void successor_signs_60_days_before_the_ca_ends(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    ensure(f);
    ensure_after(f, CA_END - 360 * DAY);
    kc_autofree char *successor = first_cert(f->next_cert);
    ensure_after(f, CA_END - 59 * DAY);
    kc_autofree char *signing = first_cert(f->cert);
    assert_string_equal(signing, successor);
    assert_int_equal(trusted_certs(f), 2);
    assert_false(exists(f->next_cert));
    assert_false(exists(f->next_key));
    ensure_after(f, CA_END - 58 * DAY);
    assert_false(f->changed);
}

static void expired_ca_is_no_longer_trusted(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    ensure(f);
    ensure_after(f, CA_END - 59 * DAY);
    assert_int_equal(trusted_certs(f), 2);
    ensure_after(f, CA_END + DAY);
    assert_true(f->changed);
    assert_int_equal(trusted_certs(f), 1);
}

static void ca_that_expired_without_a_successor_is_replaced(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    ensure(f);
    kc_autofree char *old = first_cert(f->cert);
    ensure_after(f, CA_END + 100 * DAY);
    kc_autofree char *signing = first_cert(f->cert);
    assert_string_not_equal(signing, old);
    assert_int_equal(trusted_certs(f), 1);
}

static void switch_that_a_crash_interrupted_is_completed(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    ensure(f);
    kc_autofree char *old = first_cert(f->cert);
    ensure_after(f, CA_END - 360 * DAY);
    kc_autofree char *successor = first_cert(f->next_cert);
    kc_autofree char *both = kc_asprintf("%s%s", successor, old);
    assert_int_equal(kc_file_write(f->cert, 0644, kc_cstr(both), NULL), 0);
    ensure(f);
    kc_autofree char *signing = first_cert(f->cert);
    assert_string_equal(signing, successor);
    assert_int_equal(trusted_certs(f), 2);
    assert_false(exists(f->next_key));
}

static void replacement_on_request_takes_one_step_at_a_time(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    ensure(f);
    kc_autofree char *old = first_cert(f->cert);
    f->replace_now = true;
    ensure(f);
    kc_autofree char *after_one = first_cert(f->cert);
    assert_string_equal(after_one, old);
    assert_int_equal(trusted_certs(f), 2);
    ensure(f);
    kc_autofree char *after_two = first_cert(f->cert);
    assert_string_not_equal(after_two, old);
    assert_int_equal(trusted_certs(f), 2);
    assert_false(exists(f->next_key));
}

static void ca_of_the_operator_is_never_replaced(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    kc_scoped(kc_error) err = {0};
    ensure(f);
    f->wall = f->start + CA_END - 10 * DAY;
    assert_int_equal(try_ensure(f, "another-name", &err), 0);
    assert_false(f->changed);
    f->wall = f->start + CA_END + DAY;
    assert_true(try_ensure(f, "another-name", &err) < 0);
    assert_error(&err, KC_INVALID, "was not created by this server");
}

static void leaf_does_not_outlive_its_ca(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    kc__serving_pass pass = {.opts = &f->opts, .wall = f->wall};
    kc__serving_authority ca = {.name = "test-ca", .cert_path = f->cert, .key_path = f->key};
    const kc__serving_leaf leaf = {
        f->next_cert,
        f->next_key,
        {.use = KC__CERT_CLIENT, .common_name = "x", .lifetime = KC__SERVING_LEAF_LIFETIME}};
    assert_int_equal(kc__serving_authority_ensure(&pass, &ca, NULL), 0);
    pass.wall += CA_END - 20 * DAY;
    assert_int_equal(kc__serving_leaf_ensure(&pass, &ca, &leaf, NULL), 0);
    X509 *cert = NULL;
    assert_int_equal(kc__serving_cert_read(f->next_cert, &cert, NULL), 0);
    assert_int_equal(kc__cert_not_after(cert), kc__cert_not_after(ca.pair.cert));
    X509_free(cert);
    pass.changed = false;
    assert_int_equal(kc__serving_leaf_ensure(&pass, &ca, &leaf, NULL), 0);
    assert_false(pass.changed);
    kc__serving_authority_done(&ca);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ca_with_more_than_a_year_left_is_unchanged),
        cmocka_unit_test(successor_is_trusted_a_year_before_the_ca_ends),
        cmocka_unit_test(successor_signs_60_days_before_the_ca_ends),
        cmocka_unit_test(expired_ca_is_no_longer_trusted),
        cmocka_unit_test(ca_that_expired_without_a_successor_is_replaced),
        cmocka_unit_test(switch_that_a_crash_interrupted_is_completed),
        cmocka_unit_test(replacement_on_request_takes_one_step_at_a_time),
        cmocka_unit_test(ca_of_the_operator_is_never_replaced),
        cmocka_unit_test(leaf_does_not_outlive_its_ca),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
