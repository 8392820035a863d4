/* SPDX-License-Identifier: Apache-2.0 */
#include "maintenance_testing.h"

#include "apiserver/maintenance/marker.h"
#include "apiserver/maintenance/restore.h"

static FILE *backup_of(const scratch *dir, kc__storage *storage)
{
    kc__maintenance_backup_header header;
    kc_autofree char *path = scratch_path(dir, "backup");
    assert_int_equal(kc__maintenance_backup(storage, path, &header, NULL), 0);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    return file;
}

static void restored_store_has_the_objects_and_a_raised_revision(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *storage = memory_store(), *restored = file_store(dir, "restored");
    kc__maintenance_restored result;
    kc_scoped(kc_error) err = {0};
    put_many(storage, 3000);
    FILE *backup = backup_of(dir, storage);
    if (kc__maintenance_restore(restored, backup,
                                &(kc__maintenance_restore_opts){.margin = 1000000}, &result,
                                &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    fclose(backup);
    assert_same_content(storage, restored);
    assert_true(result.revision > 3001 + 1000000);
    const kc__storage_state after = state_of(restored);
    assert_int_equal(after.revision, result.revision);
    assert_int_equal(after.compacted, result.revision);
    assert_true(kc__storage_list(restored, &(kc__storage_list_opts){.revision = 3001}, NULL, NULL,
                                 NULL, &err) < 0);
    assert_error(&err, KC_EXPIRED, "too old");
    restored = kc__storage_close(restored);
    restored = file_store(dir, "restored");
    assert_same_content(storage, restored);
    assert_int_equal(state_of(restored).revision, result.revision);
}

static void store_with_objects_is_refused(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *storage = memory_store(), *target = memory_store();
    kc__maintenance_restored result;
    kc_scoped(kc_error) err = {0};
    put_map(storage, "a");
    put_map(target, "b");
    FILE *backup = backup_of(dir, storage);
    assert_true(kc__maintenance_restore(target, backup,
                                        &(kc__maintenance_restore_opts){.margin = 1}, &result,
                                        &err) < 0);
    assert_error(&err, KC_CONFLICT, "the store has objects");
    fclose(backup);
    assert_keys(target, MAPS "b ");
}

static void damaged_backup_changes_nothing(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *storage = memory_store(), *target = memory_store();
    kc__maintenance_restored result;
    kc_scoped(kc_error) err = {0};
    put_many(storage, 10);
    fclose(backup_of(dir, storage));
    kc_autofree char *path = scratch_path(dir, "backup");
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, st.st_size - 1), 0);
    FILE *backup = fopen(path, "re");
    assert_true(kc__maintenance_restore(target, backup,
                                        &(kc__maintenance_restore_opts){.margin = 1}, &result,
                                        &err) < 0);
    assert_error(&err, KC_INVALID, "truncated");
    fclose(backup);
    assert_keys(target, "");
    assert_int_equal(state_of(target).revision, KC__STORAGE_FIRST);
}

static void interrupted_restore_starts_again(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *storage = memory_store(), *target = memory_store();
    kc__maintenance_restored result;
    put_map(storage, "a");
    FILE *backup = backup_of(dir, storage);
    /* What a kill leaves: the marker, and objects, here of another backup. */
    assert_int_equal(kc__maintenance_begin_fill(target, "restore", 9, 10, NULL, NULL), 0);
    put_map(target, "other");
    assert_int_equal(kc__maintenance_restore(target, backup,
                                             &(kc__maintenance_restore_opts){.margin = 1}, &result,
                                             NULL),
                     0);
    fclose(backup);
    assert_same_content(storage, target);
}

static void target_of_an_interrupted_migration_is_refused(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *storage = memory_store(), *target = memory_store();
    kc__maintenance_restored result;
    kc_scoped(kc_error) err = {0};
    put_map(storage, "a");
    FILE *backup = backup_of(dir, storage);
    assert_int_equal(kc__maintenance_begin_fill(target, "migrate", 9, 10, NULL, NULL), 0);
    assert_true(kc__maintenance_restore(target, backup,
                                        &(kc__maintenance_restore_opts){.margin = 1}, &result,
                                        &err) < 0);
    assert_error(&err, KC_CONFLICT, "'kc store migrate', which was interrupted");
    fclose(backup);
}

static void margin_beyond_the_largest_revision_is_refused(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *storage = memory_store(), *target = memory_store();
    kc__maintenance_restored result;
    kc_scoped(kc_error) err = {0};
    FILE *backup = backup_of(dir, storage);
    assert_true(kc__maintenance_restore(target, backup,
                                        &(kc__maintenance_restore_opts){.margin = INT64_MAX},
                                        &result, &err) < 0);
    assert_error(&err, KC_INVALID, "cannot be raised");
    fclose(backup);
}

TESTS(restored_store_has_the_objects_and_a_raised_revision, store_with_objects_is_refused,
      damaged_backup_changes_nothing, interrupted_restore_starts_again,
      target_of_an_interrupted_migration_is_refused, margin_beyond_the_largest_revision_is_refused)
