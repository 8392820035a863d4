/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a backup and reading it: whole, truncated, damaged, of a newer program. */
#include "maintenance_testing.h"

#include "apiserver/maintenance/backup.h"

static char *write_sample(const scratch *dir, int objects)
{
    kc_scoped(kc_error) err = {0};
    kc__maintenance_backup_header header;
    kc_auto(kc__storage) *storage = memory_store();
    char *path = scratch_path(dir, "backup");
    put_many(storage, objects);
    put_value(storage, SECRETS "s", "k8s:enc:secretbox:v1:key1:xxxx");
    if (kc__maintenance_backup(storage, path, &header, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    assert_int_equal(header.entries, objects + 1);
    assert_int_equal(header.encrypted, 1);
    assert_int_equal(header.revision, objects + 2);
    return path;
}

static int read_text(kc_str bytes, kc_buf *keys, kc__maintenance_backup_header *ret, kc_error *err)
{
    FILE *in = file_of(bytes);
    const int failed = kc__maintenance_backup_read(in, keys ? print_key : NULL, keys, ret, err);
    fclose(in);
    return failed;
}

static void backup_has_every_key_in_order_and_mode_0600(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_autofree char *path = write_sample(dir, 2);
    kc_scoped(kc_buf) bytes = {0}, keys = {0};
    kc__maintenance_backup_header header = {0};
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(kc_file_read(path, 1 << 20, &bytes, NULL), 0);
    assert_int_equal(read_text(kc_buf_str(&bytes), &keys, &header, NULL), 0);
    assert_string_equal(kc_buf_cstr(&keys), MAPS "m00000 " MAPS "m00001 " SECRETS "s ");
    assert_int_equal(header.entries, 3);
    assert_int_equal(header.encrypted, 1);
}

static void backup_of_many_pages_is_complete(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_autofree char *path = write_sample(dir, 2000);
    kc__maintenance_backup_header header = {0};
    FILE *in = fopen(path, "re");
    assert_int_equal(kc__maintenance_backup_read(in, NULL, NULL, &header, NULL), 0);
    fclose(in);
    assert_int_equal(header.entries, 2001);
}

static void backup_that_is_shorter_by_any_number_of_bytes_is_refused(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_autofree char *path = write_sample(dir, 2);
    kc_scoped(kc_buf) bytes = {0};
    kc__maintenance_backup_header header;
    assert_int_equal(kc_file_read(path, 1 << 20, &bytes, NULL), 0);
    for (size_t n = 0; n < bytes.n; n++) {
        kc_scoped(kc_error) err = {0};
        assert_true(read_text(kc_str_of(bytes.p, n), NULL, &header, &err) < 0);
        assert_error(&err, KC_INVALID, n < 24 ? "too short" : "truncated");
    }
}

static void backup_with_any_changed_byte_is_refused(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_autofree char *path = write_sample(dir, 2);
    kc_scoped(kc_buf) bytes = {0};
    kc__maintenance_backup_header header;
    assert_int_equal(kc_file_read(path, 1 << 20, &bytes, NULL), 0);
    for (size_t i = 0; i < bytes.n; i++) {
        bytes.p[i] ^= 1;
        assert_true(read_text(kc_buf_str(&bytes), NULL, &header, NULL) < 0);
        bytes.p[i] ^= 1;
    }
    kc_buf_putc(&bytes, 0);
    kc_scoped(kc_error) err = {0};
    assert_true(read_text(kc_buf_str(&bytes), NULL, &header, &err) < 0);
    assert_error(&err, KC_INVALID, "bytes follow its end");
}

static void newer_format_and_other_files_are_refused_with_a_sentence(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_autofree char *path = write_sample(dir, 2);
    kc_scoped(kc_buf) bytes = {0};
    kc_scoped(kc_error) err = {0};
    kc__maintenance_backup_header header;
    assert_int_equal(kc_file_read(path, 1 << 20, &bytes, NULL), 0);
    bytes.p[11] = 9;
    assert_true(read_text(kc_buf_str(&bytes), NULL, &header, &err) < 0);
    assert_error(&err, KC_INVALID,
                 "the backup was written by a newer program (format 9, layout 2)");
    bytes.p[0] = 'X';
    assert_true(read_text(kc_buf_str(&bytes), NULL, &header, &err) < 0);
    assert_error(&err, KC_INVALID, "the file is not a backup of 'kc store backup'");
}

static void unfinished_backup_leaves_no_file(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_autofree char *path = scratch_path(dir, "backup"), *part = scratch_path(dir, "backup.part");
    kc_auto(kc__maintenance_backup_writer) *writer = kc__maintenance_backup_create(path, 7, NULL);
    assert_non_null(writer);
    assert_int_equal(access(part, F_OK), 0);
    writer = kc__maintenance_backup_writer_free(writer);
    assert_int_equal(access(part, F_OK), -1);
    assert_int_equal(access(path, F_OK), -1);
}

TESTS(backup_has_every_key_in_order_and_mode_0600, backup_of_many_pages_is_complete,
      backup_that_is_shorter_by_any_number_of_bytes_is_refused,
      backup_with_any_changed_byte_is_refused,
      newer_format_and_other_files_are_refused_with_a_sentence, unfinished_backup_leaves_no_file)
