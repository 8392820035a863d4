/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_map.c: the memory map that LMDB reads through, and how it grows.
 *
 * LMDB maps its file into memory at a fixed size and returns MDB_MAP_FULL when a transaction finds
 * no room. To grow, LMDB replaces the map with a larger one; no transaction may be open then, which
 * holds because every function of the backend takes file->lock. Growing is rare: the size doubles
 * each time.
 *
 * Invariant: the data file is at least as long as the map size that its own header names. So the
 * file is extended (sparsely) before anything is committed under a larger map. A shorter file was
 * truncated, and reading it would raise SIGBUS: file_check.c refuses it before a page is read.
 */
#include "apiserver/storage/file/file_internal.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

int kc__storage_file_begin_read(kc__storage_file *file, MDB_txn **ret_txn)
{
    return file->env ? mdb_txn_begin(file->env, NULL, MDB_RDONLY, ret_txn) : MDB_PANIC;
}

int kc__storage_file_begin_write(kc__storage_file *file, MDB_txn **ret_txn)
{
    return !file->env || file->unknown ? MDB_PANIC : mdb_txn_begin(file->env, NULL, 0, ret_txn);
}

int kc__storage_file_stretch(kc__storage_file *file, size_t map_bytes)
{
    int fd;
    struct stat st;
    int code = mdb_env_get_fd(file->env, &fd);
    if (code)
        return code;
    if (fstat(fd, &st) < 0)
        return errno;
    if ((uint64_t)st.st_size >= map_bytes)
        return 0;
    return ftruncate(fd, (off_t)map_bytes) < 0 || fsync(fd) < 0 ? errno : 0;
}

int kc__storage_file_grow(kc__storage_file *file)
{
    MDB_envinfo info;
    int code = mdb_env_info(file->env, &info);
    if (code)
        return code;
    const uint64_t limit = file->opts.max_bytes ? file->opts.max_bytes : (uint64_t)1 << 46;
    const size_t bytes = (size_t)KC_MIN((uint64_t)info.me_mapsize * 2, limit);
    if (bytes <= info.me_mapsize)
        return MDB_MAP_FULL;
    code = kc__storage_file_stretch(file, bytes);
    if (code)
        return code;
    kc__storage_file_map_changed(file);
    code = mdb_env_set_mapsize(file->env, bytes);
    if (code) {
        mdb_env_close(file->env); /* The map is gone: `recover` opens the file again. */
        file->env = NULL;
        file->unknown = true;
    }
    return code ? MDB_PANIC : 0;
}
