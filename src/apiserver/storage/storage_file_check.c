/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_file_check.c: whose file is this? Asked when a store is opened, before anything is
 * written: a file that is not ours, is of a later layout or was cut short stays as it is.
 *
 * What it cannot see is a damaged page in the middle of LMDB's trees: LMDB 0.9 has no checksums of
 * its own. Ours are in the records, and loading looks at them all.
 *
 * A layout that is older than ours would be brought up to date here; there is none yet.
 */
#include "apiserver/storage/storage_file_internal.h"

#include <errno.h>
#include <sys/stat.h>

static int foreign(const kc__file *file, kc_error *err)
{
    return kc_error_set(err, KC_INVALID, "%s is not a store of this program; it was left as it is",
                        file->data_path);
}

static int check_length(const kc__file *file, const MDB_envinfo *info, kc_error *err)
{
    int fd;
    struct stat st;
    const int code = mdb_env_get_fd(file->env, &fd);
    if (code || fstat(fd, &st) < 0)
        return kc__file_error(file, code ? code : errno, "look at", err);
    if ((uint64_t)st.st_size >= info->me_mapsize)
        return 0;
    return kc_error_set(err, KC_STORE_READ_ERROR,
                        "%s is %llu bytes long and should be %llu: it was cut short, or is not a "
                        "store of this program; it was left as it is",
                        file->data_path, (unsigned long long)st.st_size,
                        (unsigned long long)info->me_mapsize);
}

static int check_state(kc__file *file, MDB_txn *txn, kc_error *err)
{
    kc__state state = {0};
    int code = mdb_dbi_open(txn, "state", 0, &file->state_db);
    if (!code)
        code = kc__log_get_state(file, txn, &state);
    if (code == MDB_NOTFOUND || code == MDB_INCOMPATIBLE || code == MDB_INVALID)
        return foreign(file, err);
    if (code)
        return kc__file_error(file, code, "read", err);
    if (state.version != KC__LAYOUT_VERSION)
        return kc_error_set(err, KC_INVALID,
                            "%s has layout %u, and this program knows only layout %d: it needs a "
                            "newer program; it was left as it is",
                            file->data_path, (unsigned)state.version, KC__LAYOUT_VERSION);
    code = mdb_dbi_open(txn, "index", MDB_DUPSORT, &file->index_db);
    if (!code)
        code = mdb_dbi_open(txn, "log", 0, &file->log_db);
    if (code)
        return kc__file_error(file, code == MDB_NOTFOUND ? MDB_CORRUPTED : code, "read", err);
    file->state = state;
    return 0;
}

int kc__file_check(kc__file *file, bool *ret_empty, kc_error *err)
{
    MDB_envinfo info;
    MDB_txn *txn;
    int code = mdb_env_info(file->env, &info);
    if (code)
        return kc__file_error(file, code, "look at", err);
    /* Two header pages and nothing else: new, or the process that made it came no further. */
    *ret_empty = info.me_last_pgno <= 1;
    if (*ret_empty)
        return 0;
    int failed = check_length(file, &info, err);
    if (failed)
        return failed;
    code = mdb_txn_begin(file->env, NULL, MDB_RDONLY, &txn);
    if (code)
        return kc__file_error(file, code, "read", err);
    failed = check_state(file, txn, err);
    if (failed) {
        mdb_txn_abort(txn);
        return failed;
    }
    code = mdb_txn_commit(txn); /* Which keeps the handles. */
    return code ? kc__file_error(file, code, "read", err) : 0;
}
