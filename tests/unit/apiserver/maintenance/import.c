/* SPDX-License-Identifier: Apache-2.0 */
#include "encryption_testing.h"
#include "maintenance_testing.h"

#include "apiserver/maintenance/import.h"

static int import_text(kc__storage *storage, const char *text, kc__maintenance_import_opts opts,
                       kc__maintenance_imported *ret, kc_error *err)
{
    *ret = (kc__maintenance_imported){0};
    FILE *in = file_of(kc_cstr(text));
    const int failed = kc__maintenance_import(storage, in, &opts, ret, err);
    fclose(in);
    return failed;
}

#define IMPORT(storage, text, ret, ...) \
    import_text(storage, text, (kc__maintenance_import_opts){__VA_ARGS__}, ret, &err)

static void get_value(kc__storage *storage, const char *key, kc_buf *out)
{
    uint64_t revision = 0;
    assert_int_equal(kc__storage_get(storage, kc_cstr(key), out, &revision, NULL), 0);
    assert_true(revision > 0);
}

static void lines_are_stored_with_uid_and_creation_time(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = memory_store();
    kc__maintenance_imported result;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) value = {0};
    assert_int_equal(
        IMPORT(storage, ROBOTS "\n\n" NAMESPACE("default") "\n" ROBOT("r2") "\n" CONFIG_MAP("a"),
               &result),
        0);
    assert_int_equal(result.stored, 4);
    assert_keys(storage, ROBOTS_KEY " " MAPS "a /registry/example.com/robots/default/r2 "
                                    "/registry/namespaces/default ");
    get_value(storage, MAPS "a", &value);
    assert_string_equal(kc_buf_cstr(&value), CONFIG_MAP("a"));
}

static void wrong_line_is_named_and_its_group_is_not_stored(void **state)
{
    (void)state;
    static const struct {
        const char *line, *error;
    } cases[] = {
        {"{", "line 2: "},
        {"[]", "line 2: "},
        {"{\"kind\":\"ConfigMap\"}", "line 2: the object has no apiVersion or no kind"},
        {ROBOT("r2"), "line 2: no stored kind is \"Robot\" of \"example.com/v1\""},
        {"{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"b\","
         "\"namespace\":\"default\"}}",
         "line 2: metadata.uid is missing"},
        {"{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\"," METADATA("\"name\":\"b\"") "}",
         "line 2: metadata.namespace is missing"},
        {"{\"kind\":\"Namespace\",\"apiVersion\":\"v1\"," METADATA("\"name\":\"a/b\"") "}",
         "line 2: metadata.name is missing or invalid"},
        {"{\"kind\":\"Namespace\",\"apiVersion\":\"v1\"," METADATA(
             "\"name\":\"a\"") ",\"colour\":\"red\"}",
         "line 2: unknown field \"colour\""},
        {"{\"kind\":\"Namespace\",\"kind\":\"Namespace\",\"apiVersion\":\"v1\"," METADATA(
             "\"name\":\"a\"") "}",
         "line 2: the member \"kind\" occurs twice"},
        {CONFIG_MAP("a"), "line 2: the object is the same as in line 1"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_auto(kc__storage) *storage = memory_store();
        kc__maintenance_imported result;
        kc_scoped(kc_error) err = {0};
        kc_autofree char *text = kc_asprintf("%s\n%s\n", CONFIG_MAP("a"), cases[i].line);
        assert_true(IMPORT(storage, text, &result) < 0);
        assert_contains(kc_error_text(&err), cases[i].error);
        assert_keys(storage, "");
        assert_int_equal(result.lines, 0);
    }
}

static void existing_object_is_refused_skipped_or_overwritten(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = memory_store();
    kc__maintenance_imported result;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) kept = {0}, replaced = {0};
    const char *text = CONFIG_MAP("a") "\n" CONFIG_MAP("b") "\n";
    put_value(storage, MAPS "b", "{\"old\":true}");
    assert_true(IMPORT(storage, text, &result) < 0);
    assert_error(&err, KC_ALREADY_EXISTS, "line 2: " MAPS "b exists in the store");
    assert_keys(storage, MAPS "b ");
    assert_int_equal(IMPORT(storage, text, &result, .existing = KC__MAINTENANCE_SKIP), 0);
    assert_int_equal(result.stored, 1);
    assert_int_equal(result.skipped, 1);
    get_value(storage, MAPS "b", &kept);
    assert_string_equal(kc_buf_cstr(&kept), "{\"old\":true}");
    assert_int_equal(IMPORT(storage, text, &result, .existing = KC__MAINTENANCE_OVERWRITE), 0);
    assert_int_equal(result.stored, 2);
    get_value(storage, MAPS "b", &replaced);
    assert_string_equal(kc_buf_cstr(&replaced), CONFIG_MAP("b"));
}

static void check_only_finds_errors_and_stores_nothing(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = memory_store();
    kc__maintenance_imported result;
    kc_scoped(kc_error) err = {0};
    assert_int_equal(IMPORT(storage, CONFIG_MAP("a"), &result, .check_only = true), 0);
    assert_keys(storage, "");
    put_map(storage, "a");
    assert_true(IMPORT(storage, CONFIG_MAP("a"), &result, .check_only = true) < 0);
    assert_error(&err, KC_ALREADY_EXISTS, "line 1");
}

static void groups_before_a_wrong_line_are_stored_and_skipping_continues(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = memory_store();
    kc__maintenance_imported result;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) text = {0};
    for (int i = 0; i < 100; i++)
        kc_buf_printf(
            &text,
            "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n%d\","
            "\"uid\":\"u\",\"creationTimestamp\":\"2026-01-02T03:04:05Z\"}}\n",
            i);
    const size_t good = text.n;
    kc_buf_puts(&text, "{}\n");
    assert_true(IMPORT(storage, kc_buf_cstr(&text), &result) < 0);
    assert_contains(kc_error_text(&err), "line 101: ");
    assert_int_equal(result.lines, 64);
    assert_int_equal(result.stored, 64);
    text.n = good;
    assert_int_equal(IMPORT(storage, kc_buf_cstr(&text), &result, .existing = KC__MAINTENANCE_SKIP),
                     0);
    assert_int_equal(result.skipped, 64);
    assert_int_equal(result.stored, 36);
}

static void values_are_encrypted_as_configured(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *storage = memory_store();
    kc__maintenance_imported result;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) secret = {0}, map = {0};
    write_encryption(dir, "secrets", {"secretbox", "key1", 'a'}, {NULL, NULL, 0});
    kc_auto(kc__encryption) *encryption = open_encryption(dir, false, 0);
    assert_int_equal(
        IMPORT(storage, SECRET("s") "\n" CONFIG_MAP("a"), &result, .encryption = encryption), 0);
    get_value(storage, SECRETS "s", &secret);
    assert_true(kc_str_starts(kc_buf_str(&secret), KC_STR("k8s:enc:secretbox:v1:key1:")));
    get_value(storage, MAPS "a", &map);
    assert_string_equal(kc_buf_cstr(&map), CONFIG_MAP("a"));
}

static void line_longer_than_a_value_is_refused(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = memory_store();
    kc__maintenance_imported result;
    kc_scoped(kc_error) err = {0};
    kc_autofree char *text = kc_calloc(1, KC__STORAGE_MAX_VALUE + 2);
    memset(text, ' ', KC__STORAGE_MAX_VALUE + 1);
    assert_true(IMPORT(storage, text, &result) < 0);
    assert_error(&err, KC_TOO_LARGE, "line 1: the object is longer than 16 MiB");
}

static void incomplete_store_is_refused(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = memory_store();
    kc__maintenance_imported result;
    kc_scoped(kc_error) err = {0};
    put_value(storage, KC__STORAGE_MARKER_KEY, "migrate\n4\n");
    assert_true(IMPORT(storage, CONFIG_MAP("a"), &result) < 0);
    assert_error(&err, KC_STORE_READ_ERROR, "'kc store migrate' was interrupted");
}

TESTS(lines_are_stored_with_uid_and_creation_time, wrong_line_is_named_and_its_group_is_not_stored,
      existing_object_is_refused_skipped_or_overwritten, check_only_finds_errors_and_stores_nothing,
      groups_before_a_wrong_line_are_stored_and_skipping_continues,
      values_are_encrypted_as_configured, line_longer_than_a_value_is_refused,
      incomplete_store_is_refused)
