/* SPDX-License-Identifier: Apache-2.0 */
/* Rewriting a store with another key, and removing old values from its files. */
#include "encryption_testing.h"

#include "apiserver/storage/encryption/encryption_rewrite.h"
#include "apiserver/storage/file/file_backend.h"

static kc__encryption_resource only_secrets(kc_str prefix)
{
    return (kc__encryption_resource){
        .name = kc_str_is(prefix, "/registry/secrets/") ? KC_STR("secrets") : KC_STR("others")};
}

static kc__storage *open_files(const scratch *dir)
{
    kc_scoped(kc_error) err = {0};
    kc__storage *storage = NULL;
    kc_autofree char *path = scratch_path(dir, "store");
    if (kc__storage_open(&kc__storage_file_backend, &(kc__storage_opts){.location = path}, &storage,
                         &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    return storage;
}

static void put_plain(kc__storage *storage, const char *key, const char *value)
{
    kc__storage_result result;
    const kc__storage_op op = {
        .key = kc_cstr(key), .expected = KC__STORAGE_ANY, .value = kc_cstr(value)};
    assert_int_equal(kc__storage_commit(storage, &op, 1, &result, NULL, NULL), 0);
    assert_int_equal(result.outcome, KC__STORAGE_STORED);
}

static kc__encryption_rewritten rewrite_with_file(const scratch *dir, kc__storage *storage)
{
    kc_scoped(kc_error) err = {0};
    kc__encryption_rewritten result = {0};
    kc_auto(kc__encryption) *e = open_encryption(dir, false, 0);
    if (kc__encryption_rewrite(storage, e, only_secrets, &result, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    return result;
}

static void fill(kc__storage *storage, int n)
{
    for (int i = 0; i < n; i++) {
        char key[64], value[64];
        snprintf(key, sizeof(key), "/registry/secrets/default/s%04d", i);
        snprintf(value, sizeof(value), "{\"data\":\"readable-%04d\"}", i);
        put_plain(storage, key, value);
    }
    put_plain(storage, "/registry/pods/default/web", "{\"data\":\"a-pod\"}");
}

static bool file_contains(const scratch *dir, const char *name, const char *text)
{
    kc_scoped(kc_buf) bytes = {0};
    kc_autofree char *path = scratch_path(dir, name);
    assert_int_equal(kc_file_read(path, (size_t)64 << 20, &bytes, NULL), 0);
    return bytes.n && memmem(bytes.p, bytes.n, text, strlen(text));
}

static int count_encrypted(const kc__storage_entry *entry, void *user)
{
    *(size_t *)user += kc_str_starts(entry->value, KC_STR("k8s:enc:secretbox:v1:key1:"));
    return 0;
}

enum { OBJECTS = 700 };

static void all_values_are_rewritten_and_a_second_run_writes_nothing(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *storage = open_files(dir);
    kc__storage_state before, after;
    size_t encrypted = 0;
    fill(storage, OBJECTS);
    write_encryption(dir, "secrets", {"secretbox", "key1", 'a'}, {NULL, NULL, 0});
    const kc__encryption_rewritten first = rewrite_with_file(dir, storage);
    assert_int_equal(first.objects, OBJECTS + 1);
    assert_int_equal(first.rewritten, OBJECTS);
    assert_int_equal(first.unreadable, 0);
    kc__storage_load(storage, count_encrypted, &encrypted, &before, NULL);
    assert_int_equal(encrypted, OBJECTS);
    assert_int_equal(rewrite_with_file(dir, storage).rewritten, 0);
    kc__storage_progress(storage, &after, NULL);
    assert_int_equal(after.revision, before.revision);
}

static void interrupted_rewrite_is_completed_by_the_next(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *storage = open_files(dir);
    fill(storage, 10);
    write_encryption(dir, "secrets", {"secretbox", "key1", 'a'}, {NULL, NULL, 0});
    rewrite_with_file(dir, storage);
    put_plain(storage, "/registry/secrets/default/s0003", "{\"data\":\"readable-again\"}");
    assert_int_equal(rewrite_with_file(dir, storage).rewritten, 1);
}

static void unreadable_values_are_counted_and_left(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *storage = open_files(dir);
    fill(storage, 3);
    write_encryption(dir, "secrets", {"secretbox", "key1", 'a'}, {NULL, NULL, 0});
    rewrite_with_file(dir, storage);
    put_plain(storage, "/registry/secrets/default/s0001", "{\"data\":\"readable\"}");
    write_encryption(dir, "secrets", {"secretbox", "key2", 'b'}, {NULL, NULL, 0});
    kc__encryption_rewritten result = rewrite_with_file(dir, storage);
    assert_int_equal(result.rewritten, 1);
    assert_int_equal(result.unreadable, 2);
    assert_contains(kc_error_text(&result.first_error), "/registry/secrets/default/s0000: ");
    kc_error_done(&result.first_error);
}

static void scrub_removes_replaced_values_from_the_files(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(scratch) *dir = scratch_new();
    kc_autofree char *path = scratch_path(dir, "store");
    kc__storage *storage = open_files(dir);
    kc__storage_state now;
    size_t encrypted = 0;
    fill(storage, OBJECTS);
    write_encryption(dir, "secrets", {"secretbox", "key1", 'a'}, {NULL, NULL, 0});
    rewrite_with_file(dir, storage);
    kc__storage_progress(storage, &now, NULL);
    assert_int_equal(kc__storage_compact(storage, now.revision, &err), 0);
    kc__storage_close(storage);
    assert_true(file_contains(dir, "store/data.mdb", "readable-"));
    if (kc__storage_file_scrub(path, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    assert_false(file_contains(dir, "store/data.mdb", "readable-"));
    assert_false(file_contains(dir, "store/journal", "readable-"));
    kc_auto(kc__storage) *again = open_files(dir);
    kc__storage_state loaded;
    kc__storage_load(again, count_encrypted, &encrypted, &loaded, NULL);
    assert_int_equal(encrypted, OBJECTS);
    assert_int_equal(loaded.revision, now.revision);
    put_plain(again, "/registry/pods/default/web", "{\"data\":\"another\"}");
}

static void scrub_of_a_store_in_use_is_refused(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(scratch) *dir = scratch_new();
    kc_autofree char *path = scratch_path(dir, "store");
    kc_auto(kc__storage) *storage = open_files(dir);
    assert_true(kc__storage_file_scrub(path, &err) < 0);
    assert_int_equal(err.reason, KC_CONFLICT);
}

TESTS(all_values_are_rewritten_and_a_second_run_writes_nothing,
      interrupted_rewrite_is_completed_by_the_next, unreadable_values_are_counted_and_left,
      scrub_removes_replaced_values_from_the_files, scrub_of_a_store_in_use_is_refused)
