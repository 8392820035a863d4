/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_recover.c: recovery from an unknown outcome, without a restart.
 *
 * After a failed sync, or a failed write of LMDB's header page, two things are unknown: whether the
 * last batch exists, and whether the page cache shows what the disk holds (Linux marks pages clean
 * whose write failed). So recovery trusts neither memory nor cache:
 *
 *     close LMDB ─▶ sync both files ─▶ drop their cached pages ─▶ check every page again ─▶ open
 *          ─▶ read the journal ─▶ fold it ─▶ the revision says whether the batch exists
 *
 * Each step may fail while the disk does; then the outcome stays unknown, reads fail, and the
 * caller tries again later.
 */
#include "apiserver/storage/file/file_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Makes later reads come from the disk. Returns 0 or an errno. */
static int drop_cache(const char *path)
{
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno;
    int code = fsync(fd) < 0 ? errno : 0;
    if (!code)
        code = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
    return code;
}

static void close_env(kc__storage_file *file)
{
    if (file->env)
        mdb_env_close(file->env);
    file->env = NULL;
    file->ahead = file->reserved = 0;
}

static int reopen_from_disk(kc__storage_file *file, kc_error *err)
{
    close_env(file);
    kc__storage_pending_done(&file->pending);
    int code = drop_cache(file->data_path);
    if (!code)
        code = drop_cache(file->journal_path);
    if (code)
        return kc__storage_file_error(file, code, "reopen", err);
    return kc__storage_file_reopen(file, err);
}

static int fold_recovered(kc__storage_file *file, kc_error *err)
{
    int failed = kc__storage_journal_recover(file, err);
    if (!failed && file->pending.changes.n)
        failed = kc__storage_file_verify_records(file, err);
    if (failed)
        return failed;
    const int code = kc__storage_file_fold(file);
    return code ? kc__storage_file_error(file, code, "recover", err) : 0;
}

static int recover_locked(kc__storage_file *file, uint64_t *ret_revision, kc_error *err)
{
    int failed = reopen_from_disk(file, err);
    file->unknown = failed != 0;
    if (!failed)
        failed = fold_recovered(file, err);
    kc__storage_file_metrics_update(file);
    if (failed) {
        close_env(file);
        file->unknown = true;
        return failed;
    }
    *ret_revision = file->state.revision;
    return 0;
}

int kc__storage_file_recover(kc__storage *storage, uint64_t *ret_revision, kc_error *err)
{
    kc__storage_file *file = kc__storage_file_of(storage);
    int failed = 0;
    kc_locked (&file->lock)
        failed = recover_locked(file, ret_revision, err);
    return failed;
}
