/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_scrub.c: removes the remains of old values from a closed store.
 *
 * LMDB does not clear pages that it frees, and the journal does not clear batches that were folded.
 * Both files therefore contain values that were replaced long ago, which matters when a value was
 * stored as plain text and is encrypted now. A compacted copy of LMDB's file contains live records
 * only; it replaces the file atomically. The journal of a closed store holds nothing that LMDB does
 * not hold; it is overwritten and emptied.
 *
 * The blocks of the old file go back to the file system, which may keep their contents until it
 * uses them again.
 */
#include "apiserver/storage/file/file_internal.h"

#include "kc/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int scrub_error(const char *what, const char *path, int code, kc_error *err)
{
    return kc_error_set(err, code == ENOSPC ? KC_SERVICE_UNAVAILABLE : KC_INTERNAL,
                        "cannot %s %s: %s", what, path, mdb_strerror(code));
}

static int copy_pages(const char *dir, int to, uint64_t *ret_map)
{
    MDB_env *env = NULL;
    MDB_envinfo info = {0};
    int code = mdb_env_create(&env);
    if (!code)
        code = mdb_env_set_maxdbs(env, 3);
    if (!code)
        code = mdb_env_open(env, dir, MDB_NOTLS | MDB_NOLOCK | MDB_RDONLY, 0600);
    if (!code)
        code = mdb_env_info(env, &info);
    if (!code)
        code = mdb_env_copyfd2(env, to, MDB_CP_COMPACT);
    if (env)
        mdb_env_close(env);
    *ret_map = info.me_mapsize;
    return code;
}

/* A store is at least as long as its map. */
static int write_copy(const char *dir, const char *path, kc_error *err)
{
    uint64_t map = 0;
    unlink(path); /* Of an attempt that was interrupted. */
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return scrub_error("create", path, errno, err);
    int code = copy_pages(dir, fd, &map);
    if (!code && (ftruncate(fd, (off_t)map) < 0 || fsync(fd) < 0))
        code = errno;
    close(fd);
    if (!code)
        return 0;
    unlink(path);
    return scrub_error("write", path, code, err);
}

static int overwrite(int fd, off_t size)
{
    static const char zeros[4096];
    for (off_t at = 0; at < size; at += (off_t)sizeof(zeros))
        if (pwrite(fd, zeros, sizeof(zeros), at) != (ssize_t)sizeof(zeros))
            return errno ? errno : EIO;
    return fsync(fd) < 0 || ftruncate(fd, 0) < 0 || fsync(fd) < 0 ? errno : 0;
}

static int empty_journal(const char *path, kc_error *err)
{
    struct stat st;
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT ? 0 : scrub_error("open", path, errno, err);
    const int code = fstat(fd, &st) < 0 ? errno : overwrite(fd, st.st_size);
    close(fd);
    return code ? scrub_error("overwrite", path, code, err) : 0;
}

static int scrub_locked(const char *dir, kc_error *err)
{
    kc_autofree char *data = kc_asprintf("%s/data.mdb", dir);
    kc_autofree char *copy = kc_asprintf("%s/data.mdb.new", dir);
    kc_autofree char *journal = kc_asprintf("%s/journal", dir);
    if (write_copy(dir, copy, err) < 0)
        return kc_error_result(err);
    if (rename(copy, data) < 0)
        return scrub_error("replace", data, errno, err);
    return kc_dir_sync(dir, err) < 0 ? kc_error_result(err) : empty_journal(journal, err);
}

int kc__storage_file_scrub(const char *dir, kc_error *err)
{
    int lock = -1;
    if (kc__storage_file_lock(dir, &lock, err) < 0)
        return kc_error_result(err);
    const int failed = scrub_locked(dir, err);
    close(lock);
    return failed;
}
