/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maintenance_testing.h: stores with a few objects, for tests of the tools that maintain stores.
 *
 *     kc_auto(kc__storage) *storage = memory_store();
 *     put_map(storage, "a");
 *     assert_keys(storage, "/registry/configmaps/default/a ");
 */
#ifndef KC_MAINTENANCE_TESTING_H
#define KC_MAINTENANCE_TESTING_H

#include "files_testing.h"

#include "apiserver/storage/file/file_backend.h"
#include "apiserver/storage/memory/memory_backend.h"
#include "apiserver/storage/stored_marker.h"

#define METADATA(more) \
    "\"metadata\":{" more ",\"uid\":\"u-1\",\"creationTimestamp\":\"2026-01-02T03:04:05Z\"}"
#define CONFIG_MAP(name)                                       \
    "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\"," METADATA( \
        "\"name\":\"" name "\",\"namespace\":\"default\"") ",\"data\":{\"key\":\"value\"}}"
#define SECRET(name)                                        \
    "{\"kind\":\"Secret\",\"apiVersion\":\"v1\"," METADATA( \
        "\"name\":\"" name                                  \
        "\",\"namespace\":\"default\"") ",\"data\":{\"password\":\"aHVzaA==\"}}"
#define NAMESPACE(name) \
    "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\"," METADATA("\"name\":\"" name "\"") "}"
#define ROBOTS                                                                                     \
    "{\"kind\":\"CustomResourceDefinition\",\"apiVersion\":\"apiextensions.k8s.io/v1\"," METADATA( \
        "\"name\":\"robots.example.com\"") ",\"spec\":{\"group\":\"example.com\",\"names\":{"      \
                                           "\"plural\":\"robots\",\"singular\":\"robot\","         \
                                           "\"kind\":\"Robot\",\"listKind\":\"RobotList\"},"       \
                                           "\"scope\":\"Namespaced\",\"versions\":[{\"name\":"     \
                                           "\"v1\",\"served\":true,\"storage\":true}]}}"
#define ROBOT(name)                                                    \
    "{\"kind\":\"Robot\",\"apiVersion\":\"example.com/v1\"," METADATA( \
        "\"name\":\"" name "\",\"namespace\":\"default\"") "}"

#define MAPS       "/registry/configmaps/default/"
#define SECRETS    "/registry/secrets/default/"
#define ROBOTS_KEY "/registry/apiextensions.k8s.io/customresourcedefinitions/robots.example.com"

static inline KC_UNUSED kc__storage *memory_store(void)
{
    kc__storage *storage = NULL;
    assert_int_equal(
        kc__storage_open(&kc__storage_memory_backend, &(kc__storage_opts){0}, &storage, NULL), 0);
    return storage;
}

static inline KC_UNUSED kc__storage *file_store(const scratch *dir, const char *name)
{
    kc_scoped(kc_error) err = {0};
    kc__storage *storage = NULL;
    kc_autofree char *path = scratch_path(dir, name);
    if (kc__storage_open(&kc__storage_file_backend, &(kc__storage_opts){.location = path}, &storage,
                         &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    return storage;
}

static inline KC_UNUSED void put_value(kc__storage *storage, const char *key, const char *value)
{
    kc__storage_result result;
    const kc__storage_op op = {
        .key = kc_cstr(key), .expected = KC__STORAGE_ANY, .value = kc_cstr(value)};
    assert_int_equal(kc__storage_commit(storage, &op, 1, &result, NULL, NULL), 0);
    assert_int_equal(result.outcome, KC__STORAGE_STORED);
}

#define put_map(storage, name) put_value(storage, MAPS name, CONFIG_MAP(name))

/* In commits of a hundred: each waits for the disk. */
static inline KC_UNUSED void put_many(kc__storage *storage, int n)
{
    enum { AT_ONCE = 100 };
    for (int from = 0; from < n; from += AT_ONCE) {
        const int count = KC_MIN(n - from, AT_ONCE);
        char keys[AT_ONCE][64], values[AT_ONCE][256];
        kc__storage_op ops[AT_ONCE];
        kc__storage_result results[AT_ONCE];
        for (int i = 0; i < count; i++) {
            snprintf(keys[i], sizeof(keys[i]), MAPS "m%05d", from + i);
            snprintf(values[i], sizeof(values[i]), CONFIG_MAP("m%05d"), from + i);
            ops[i] = (kc__storage_op){
                .key = kc_cstr(keys[i]), .expected = KC__STORAGE_ANY, .value = kc_cstr(values[i])};
        }
        assert_int_equal(kc__storage_commit(storage, ops, (size_t)count, results, NULL, NULL), 0);
    }
}

static inline int print_key(const kc__storage_entry *entry, void *user)
{
    kc_buf_printf(user, "%.*s ", KC_ARG(entry->key));
    return 0;
}

static inline KC_UNUSED void assert_keys(kc__storage *storage, const char *expected)
{
    kc_scoped(kc_buf) out = {0};
    assert_int_equal(kc__storage_load(storage, print_key, &out, NULL, NULL), 0);
    assert_string_equal(kc_buf_cstr(&out), expected);
}

/* Keys and values without revisions, which differ between copies. */
static inline int print_content(const kc__storage_entry *entry, void *user)
{
    kc_buf_printf(user, "%.*s=%.*s\n", KC_ARG(entry->key), KC_ARG(entry->value));
    return 0;
}

static inline KC_UNUSED void assert_same_content(kc__storage *a, kc__storage *b)
{
    kc_scoped(kc_buf) left = {0}, right = {0};
    assert_int_equal(kc__storage_load(a, print_content, &left, NULL, NULL), 0);
    assert_int_equal(kc__storage_load(b, print_content, &right, NULL, NULL), 0);
    assert_string_equal(kc_buf_cstr(&left), kc_buf_cstr(&right));
}

static inline KC_UNUSED kc__storage_state state_of(kc__storage *storage)
{
    kc__storage_state state = {0};
    assert_int_equal(kc__storage_progress(storage, &state, NULL), 0);
    return state;
}

/* A file with this text, from its beginning. */
static inline KC_UNUSED FILE *file_of(kc_str text)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite(text.p, 1, text.n, file), text.n);
    rewind(file);
    return file;
}

static inline KC_UNUSED void file_text(FILE *file, kc_buf *out)
{
    char bytes[4096];
    size_t n;
    rewind(file);
    while ((n = fread(bytes, 1, sizeof(bytes), file)) > 0)
        kc_buf_append(out, kc_str_of(bytes, n));
}

#endif
