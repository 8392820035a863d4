/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stored form of values: which provider writes and reads, stale values, reload, and values that
 * kube-apiserver v1.34.1 stored in etcd (recorded.yaml).
 */
#include "encryption_testing.h"

#include "kc/json.h"
#include "kc/yaml.h"

static const kc__encryption_resource secrets = {.name = KC_STR_INIT("secrets")};
#define KEY KC_STR("/registry/secrets/default/web")

static void seal_value(kc__encryption *e, const char *plain, kc_buf *out)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc__encryption_config) *config = kc__encryption_current(e);
    if (kc__encryption_seal(e, config, secrets, KEY, kc_cstr(plain), out, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
}

/* "plain", "plain (stale)", or the error. The caller frees it. */
static char *unseal_value(kc__encryption *e, kc_str key, kc_str stored)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    kc_str plain;
    bool stale = false;
    kc_auto(kc__encryption_config) *config = kc__encryption_current(e);
    if (kc__encryption_unseal(e, config, secrets, key, stored, &out, &plain, &stale, &err) < 0)
        return kc_strdup(kc_error_text(&err));
    return kc_asprintf("%.*s%s", KC_ARG(plain), stale ? " (stale)" : "");
}

#define expect_unsealed(e, stored, text)                       \
    do {                                                       \
        kc_autofree char *got_ = unseal_value(e, KEY, stored); \
        assert_string_equal(got_, text);                       \
    } while (0)

static void value_has_prefix_of_provider_and_key(void **state)
{
    (void)state;
    static const char *const prefixes[][2] = {{"aesgcm", "k8s:enc:aesgcm:v1:key1:"},
                                              {"aescbc", "k8s:enc:aescbc:v1:key1:"},
                                              {"secretbox", "k8s:enc:secretbox:v1:key1:"}};
    for (size_t i = 0; i < KC_COUNT(prefixes); i++) {
        kc_auto(scratch) *dir = scratch_new();
        write_encryption(dir, "secrets", {prefixes[i][0], "key1", 'a'});
        kc_auto(kc__encryption) *e = open_encryption(dir, false, 0);
        kc_scoped(kc_buf) one = {0}, two = {0};
        seal_value(e, "{\"a\":1}", &one);
        seal_value(e, "{\"a\":1}", &two);
        assert_true(kc_str_starts(kc_buf_str(&one), kc_cstr(prefixes[i][1])));
        assert_false(kc_str_contains(kc_buf_str(&one), KC_STR("{\"a\"")));
        assert_false(kc_str_eq(kc_buf_str(&one), kc_buf_str(&two)));
        expect_unsealed(e, kc_buf_str(&one), "{\"a\":1}");
    }
}

static void value_of_later_key_or_provider_is_stale(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_scoped(kc_buf) old = {0};
    write_encryption(dir, "secrets", {"aescbc", "key1", 'a'});
    kc_auto(kc__encryption) *before = open_encryption(dir, false, 0);
    seal_value(before, "{}", &old);
    write_encryption(dir, "secrets", {"secretbox", "key1", 'b'}, {"aescbc", "key1", 'a'},
                     {NULL, NULL, 0});
    kc_auto(kc__encryption) *now = open_encryption(dir, false, 0);
    kc_scoped(kc_buf) fresh = {0};
    seal_value(now, "{}", &fresh);
    expect_unsealed(now, kc_buf_str(&fresh), "{}");
    expect_unsealed(now, kc_buf_str(&old), "{} (stale)");
    expect_unsealed(now, KC_STR("{}"), "{} (stale)");
}

static void identity_first_reads_encrypted_values_as_stale(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_scoped(kc_buf) old = {0}, fresh = {0};
    write_encryption(dir, "secrets", {"aesgcm", "key1", 'a'});
    kc_auto(kc__encryption) *before = open_encryption(dir, false, 0);
    seal_value(before, "{}", &old);
    write_encryption(dir, "secrets", {NULL, NULL, 0}, {"aesgcm", "key1", 'a'});
    kc_auto(kc__encryption) *now = open_encryption(dir, false, 0);
    seal_value(now, "{}", &fresh);
    assert_str(kc_buf_str(&fresh), "{}");
    expect_unsealed(now, KC_STR("{}"), "{}");
    expect_unsealed(now, kc_buf_str(&old), "{} (stale)");
}

static void unreadable_value_is_reported_with_the_words_of_kubernetes(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_scoped(kc_buf) sealed = {0};
    write_encryption(dir, "secrets", {"aesgcm", "key1", 'a'});
    kc_auto(kc__encryption) *e = open_encryption(dir, false, 0);
    seal_value(e, "{}", &sealed);
    kc_autofree char *moved =
        unseal_value(e, KC_STR("/registry/secrets/default/other"), kc_buf_str(&sealed));
    assert_string_equal(moved, "cipher: message authentication failed");
    expect_unsealed(e, KC_STR("{}"), "no matching prefix found");
    expect_unsealed(e, KC_STR("k8s:enc:kms:v2:x:"), "no matching prefix found");
    expect_unsealed(e, KC_STR("k8s:enc:aesgcm:v1:other:x"),
                    "no matching key was found for the provided AES transformer");
    write_encryption(dir, "secrets", {"aesgcm", "key1", 'b'}, {"aesgcm", "key1", 'c'});
    kc_auto(kc__encryption) *others = open_encryption(dir, false, 0);
    expect_unsealed(others, kc_buf_str(&sealed),
                    "[cipher: message authentication failed, cipher: message authentication "
                    "failed]");
    write_encryption(dir, "configmaps", {"aesgcm", "key1", 'a'});
    kc_auto(kc__encryption) *without = open_encryption(dir, false, 0);
    expect_unsealed(without, kc_buf_str(&sealed),
                    "identity transformer tried to read encrypted data");
}

static void key_of_the_same_name_in_a_later_provider_reads(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_scoped(kc_buf) sealed = {0};
    write_encryption(dir, "secrets", {"secretbox", "key1", 'a'});
    kc_auto(kc__encryption) *before = open_encryption(dir, false, 0);
    seal_value(before, "{}", &sealed);
    write_encryption(dir, "secrets", {"secretbox", "key1", 'b'}, {"secretbox", "key1", 'a'});
    kc_auto(kc__encryption) *now = open_encryption(dir, false, 0);
    expect_unsealed(now, kc_buf_str(&sealed), "{} (stale)");
}

/* ---- reload ---- */

static void count_change(const kc__encryption_config *before, const kc__encryption_config *now,
                         void *user)
{
    assert(strcmp(before->hash, now->hash) != 0);
    atomic_fetch_add((_Atomic int *)user, 1);
}

static bool await_true(bool (*done)(void *user), void *user)
{
    for (int i = 0; i < 3000 && !done(user); i++)
        kc_clock_sleep(kc_clock_real(), 10 * KC_MILLISECOND);
    return done(user);
}

static bool has_changed(void *user)
{
    return atomic_load((_Atomic int *)user) > 0;
}

static bool is_unhealthy(void *user)
{
    return !kc__encryption_is_healthy(user);
}

static bool is_healthy(void *user)
{
    return kc__encryption_is_healthy(user);
}

static void changed_file_is_loaded(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    _Atomic int changes = 0;
    kc_scoped(kc_buf) old = {0}, fresh = {0};
    write_encryption(dir, "secrets", {"aesgcm", "key1", 'a'});
    kc_auto(kc__encryption) *e = open_encryption(dir, true, 20 * KC_MILLISECOND);
    kc__encryption_on_change(e, count_change, &changes);
    seal_value(e, "{}", &old);
    write_encryption(dir, "secrets", {"aesgcm", "key2", 'b'}, {"aesgcm", "key1", 'a'});
    assert_true(await_true(has_changed, &changes));
    seal_value(e, "{}", &fresh);
    assert_true(kc_str_starts(kc_buf_str(&fresh), KC_STR("k8s:enc:aesgcm:v1:key2:")));
    expect_unsealed(e, kc_buf_str(&old), "{} (stale)");
}

static void invalid_file_keeps_the_previous_configuration(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_scoped(kc_buf) sealed = {0};
    write_encryption(dir, "secrets", {"aesgcm", "key1", 'a'});
    kc_auto(kc__encryption) *e = open_encryption(dir, true, 20 * KC_MILLISECOND);
    scratch_write(dir, "encryption.yaml", "kind: Nonsense\n");
    assert_true(await_true(is_unhealthy, e));
    seal_value(e, "{}", &sealed);
    assert_true(kc_str_starts(kc_buf_str(&sealed), KC_STR("k8s:enc:aesgcm:v1:key1:")));
    write_encryption(dir, "secrets", {"aesgcm", "key1", 'a'});
    assert_true(await_true(is_healthy, e));
}

static void writer_is_the_same_if_only_later_providers_change(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    write_encryption(dir, "secrets", {"aesgcm", "key1", 'a'});
    kc_auto(kc__encryption) *e = open_encryption(dir, false, 0);
    kc_auto(kc__encryption_config) *a = kc__encryption_current(e);
    write_encryption(dir, "secrets", {"aesgcm", "key1", 'a'}, {"aesgcm", "key0", 'z'});
    kc_auto(kc__encryption) *f = open_encryption(dir, false, 0);
    kc_auto(kc__encryption_config) *b = kc__encryption_current(f);
    write_encryption(dir, "secrets", {"aesgcm", "key1", 'c'});
    kc_auto(kc__encryption) *g = open_encryption(dir, false, 0);
    kc_auto(kc__encryption_config) *c = kc__encryption_current(g);
    assert_true(kc__encryption_same_writer(a, b, secrets));
    assert_false(kc__encryption_same_writer(a, c, secrets));
    assert_true(
        kc__encryption_same_writer(a, c, (kc__encryption_resource){.name = KC_STR("configmaps")}));
}

/* ---- values of kube-apiserver ---- */

/* tests/unit/apiserver/storage/encryption/recorded.yaml, made by scripts/record-encryption: a
 * configuration, and keys with the bytes that kube-apiserver stored and what they mean. */
static void values_of_kube_apiserver_are_decrypted(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) text = {0};
    if (kc_file_read("unit/apiserver/storage/encryption/recorded.yaml", KC_FILE_MAX, &text, &err) <
        0)
        fail_msg("%s", kc_error_text(&err));
    kc_auto(kc_view) *view = kc_yaml_parse(kc_buf_str(&text), NULL, &err);
    assert_non_null(view);
    kc_auto(scratch) *dir = scratch_new();
    scratch_write(dir, "encryption.yaml",
                  kc_value_as_cstr(kc_value_get(kc_view_root(view), "configuration"), ""));
    kc_auto(kc__encryption) *e = open_encryption(dir, false, 0);
    kc_auto(kc__encryption_config) *config = kc__encryption_current(e);
    size_t n = 0;
    kc_value_each_item (kc_value_get(kc_view_root(view), "values"), value) {
        kc_scoped(kc_buf) stored = {0}, out = {0};
        kc_str plain;
        bool stale;
        const kc_str key = kc_value_as_str(kc_value_get(value, "key"));
        const kc__encryption_resource resource =
            kc__encryption_resource_parse(kc_value_as_str(kc_value_get(value, "resource")));
        assert_true(
            kc_base64_read(&stored, kc_value_as_str(kc_value_get(value, "stored")), KC_BASE64));
        if (kc__encryption_unseal(e, config, resource, key, kc_buf_str(&stored), &out, &plain,
                                  &stale, &err) < 0)
            fail_msg("%.*s: %s", KC_ARG(key), kc_error_text(&err));
        assert_true(kc_str_contains(plain, kc_value_as_str(kc_value_get(value, "contains"))));
        assert_int_equal(stale, kc_value_as_bool(kc_value_get(value, "stale"), false));
        n++;
    }
    assert_true(n >= 4);
}

TESTS(value_has_prefix_of_provider_and_key, value_of_later_key_or_provider_is_stale,
      identity_first_reads_encrypted_values_as_stale,
      unreadable_value_is_reported_with_the_words_of_kubernetes,
      key_of_the_same_name_in_a_later_provider_reads, changed_file_is_loaded,
      invalid_file_keeps_the_previous_configuration,
      writer_is_the_same_if_only_later_providers_change, values_of_kube_apiserver_are_decrypted)
