/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots of a real etcd as backups; tests/e2e/store-etcd.bats restores one. */
#include "maintenance_testing.h"

#include "apiserver/maintenance/snapshot.h"
#include "etcd_process.h"
#include "etcd_storage.h"

static etcd_cluster cluster = {.n = 1};

static void snapshot_gets_its_name_when_it_is_complete(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *storage = etcd_store(&cluster, "/snapshot");
    kc_autofree char *path = scratch_path(dir, "snapshot"),
                     *part = scratch_path(dir, "snapshot.part");
    kc__maintenance_snapshot snapshot = {0};
    struct stat st;
    put_map(storage, "a");
    assert_int_equal(kc_file_put(part, KC_STR("of a run that was killed"), NULL), 0);
    assert_int_equal(kc__maintenance_snapshot_write(storage, path, &snapshot, NULL), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(st.st_size, snapshot.bytes);
    assert_int_equal(access(part, F_OK), -1);
    assert_int_equal(snapshot.revision, state_of(storage).revision);
    FILE *file = fopen(path, "re");
    assert_true(kc__maintenance_is_snapshot(file));
    assert_int_equal(ftell(file), 0);
    fclose(file);
}

static void failed_snapshot_leaves_no_file(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_scoped(kc_error) err = {0};
    etcd_cluster lost = {.n = 1};
    etcd_cluster_start(&lost);
    kc_auto(kc__storage) *storage =
        etcd_store_with(&lost, &(kc__storage_etcd_opts){.timeout = KC_SECOND});
    kc_autofree char *path = scratch_path(dir, "snapshot"),
                     *part = scratch_path(dir, "snapshot.part");
    kc__maintenance_snapshot snapshot;
    etcd_member_kill(&lost.members[0]);
    assert_true(kc__maintenance_snapshot_write(storage, path, &snapshot, &err) < 0);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(access(part, F_OK), -1);
    etcd_cluster_stop(&lost);
}

static void snapshot_over_what_is_no_regular_file_is_refused(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *storage = etcd_store(&cluster, "/snapshot");
    kc_scoped(kc_error) err = {0};
    kc__maintenance_snapshot snapshot;
    assert_true(kc__maintenance_snapshot_write(storage, dir->dir, &snapshot, &err) < 0);
    assert_error(&err, KC_INVALID, "it is not a regular file");
}

static void snapshot_of_an_incomplete_store_is_refused(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *storage = etcd_store(&cluster, "/incomplete");
    kc_autofree char *path = scratch_path(dir, "snapshot");
    kc_scoped(kc_error) err = {0};
    kc__maintenance_snapshot snapshot;
    put_value(storage, KC__STORAGE_MARKER_KEY, "migrate\n4\n");
    assert_true(kc__maintenance_snapshot_write(storage, path, &snapshot, &err) < 0);
    assert_error(&err, KC_STORE_READ_ERROR, "'kc store migrate' was interrupted");
}

static void other_files_are_no_snapshots_and_the_refusal_names_the_command(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    static const char *const texts[] = {"", "KCBACKUP", "0123456789abcdef0123456789abcdef"};
    for (size_t i = 0; i < KC_COUNT(texts); i++) {
        FILE *file = file_of(kc_cstr(texts[i]));
        assert_false(kc__maintenance_is_snapshot(file));
        fclose(file);
    }
    assert_true(kc__maintenance_snapshot_refuse("/backup/s", &err) < 0);
    assert_error(&err, KC_INVALID, "etcdutl snapshot restore /backup/s --data-dir=NEW");
}

ETCD_TESTS(cluster, snapshot_gets_its_name_when_it_is_complete, failed_snapshot_leaves_no_file,
           snapshot_over_what_is_no_regular_file_is_refused,
           snapshot_of_an_incomplete_store_is_refused,
           other_files_are_no_snapshots_and_the_refusal_names_the_command)
