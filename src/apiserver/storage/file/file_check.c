/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_check.c: checks a file when a store is opened, before anything is written: a file that is
 * not a store, has a later layout or was truncated is refused and left unchanged.
 *
 * The check does not detect a damaged page inside LMDB's trees: LMDB 0.9 has no checksums. Records
 * have checksums, and loading reads them all.
 *
 * An older layout passes: file_migrate.c migrates it.
 */
#include "apiserver/storage/file/file_internal.h"

#include <errno.h>
#include <sys/stat.h>

static int foreign(const kc__storage_file *file, kc_error *err)
{
    return kc_error_set(err, KC_INVALID, "%s is not a store of this program; it was not modified",
                        file->data_path);
}

static int check_record_length(const kc__storage_file *file, const MDB_envinfo *info, kc_error *err)
{
    int fd;
    struct stat st;
    const int code = mdb_env_get_fd(file->env, &fd);
    if (code || fstat(fd, &st) < 0)
        return kc__storage_file_error(file, code ? code : errno, "stat", err);
    if ((uint64_t)st.st_size >= info->me_mapsize)
        return 0;
    return kc_error_set(
        err, KC_STORE_READ_ERROR,
        "%s has %llu bytes, expected %llu: it was truncated, or is not a store of this program; "
        "it was not modified",
        file->data_path, (unsigned long long)st.st_size, (unsigned long long)info->me_mapsize);
}

static int ignore_event(const kc__storage_event *event, void *user)
{
    (void)event, (void)user;
    return 0;
}

static int check_state(kc__storage_file *file, MDB_txn *txn, kc_error *err)
{
    kc__storage_file_state state = {0};
    int code = mdb_dbi_open(txn, "state", 0, &file->state_db);
    if (!code)
        code = kc__storage_file_log_get_state(file, txn, &state);
    if (code == MDB_NOTFOUND || code == MDB_INCOMPATIBLE || code == MDB_INVALID)
        return foreign(file, err);
    if (code)
        return kc__storage_file_error(file, code, "read", err);
    if (state.version > KC__STORAGE_LAYOUT_VERSION)
        return kc_error_set(
            err, KC_INVALID,
            "%s has layout %u, and this program supports layouts up to %d: it requires a newer "
            "program; it was not modified",
            file->data_path, (unsigned)state.version, KC__STORAGE_LAYOUT_VERSION);
    code = mdb_dbi_open(txn, "index", MDB_DUPSORT, &file->index_db);
    if (!code)
        code = mdb_dbi_open(txn, "log", 0, &file->log_db);
    if (code)
        return kc__storage_file_error(file, code == MDB_NOTFOUND ? MDB_CORRUPTED : code, "read",
                                      err);
    file->state = file->folded = state;
    return 0;
}

int kc__storage_file_verify_records(kc__storage_file *file, kc_error *err)
{
    int failed =
        kc__storage_file_list_locked(file, &(kc__storage_list_opts){0}, NULL, NULL, NULL, err);
    if (!failed)
        failed = kc__storage_file_walk_events(file, file->state.compacted, ignore_event, NULL, err);
    return failed;
}

int kc__storage_file_check(kc__storage_file *file, bool *ret_empty, kc_error *err)
{
    MDB_envinfo info;
    MDB_txn *txn;
    int code = mdb_env_info(file->env, &info);
    if (code)
        return kc__storage_file_error(file, code, "stat", err);
    /* Only the two header pages: the file is new, or the process that created it got no further. */
    *ret_empty = info.me_last_pgno <= 1;
    if (*ret_empty)
        return 0;
    int failed = check_record_length(file, &info, err);
    if (failed)
        return failed;
    code = mdb_txn_begin(file->env, NULL, MDB_RDONLY, &txn);
    if (code)
        return kc__storage_file_error(file, code, "read", err);
    failed = check_state(file, txn, err);
    if (failed) {
        mdb_txn_abort(txn);
        return failed;
    }
    code = mdb_txn_commit(txn); /* Commit keeps the database handles. */
    return code ? kc__storage_file_error(file, code, "read", err) : 0;
}
