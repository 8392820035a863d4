/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_ahead.c: allocates disk blocks before they are needed.
 *
 * The data file is as long as its map but has blocks only where something was written. If a fold
 * writes to new blocks, the sync must record their allocation too, which costs a second disk wait
 * on many file systems. So this file writes zeros behind the last page in use, a large piece at a
 * time and only from time to time; folds then overwrite allocated blocks. (fallocate does not help:
 * the file system would still have to record that the blocks now hold data.)
 *
 * Runs before a transaction begins, when no page behind the last one is in use; a large transaction
 * writes pages there before it commits. The fold's sync covers the zeros as well. A failure is not
 * an error: if the disk is full, the commit itself fails.
 */
#include "apiserver/storage/file/file_internal.h"

#include <unistd.h>

#define STEP   ((size_t)1 << 20)
#define MARGIN ((size_t)256 << 10) /* More than most commits need. */

/* Returns the offset up to which it wrote. */
static size_t write_zeros(int fd, size_t from, size_t to)
{
    static const char zeros[64 << 10];
    while (from < to) {
        const ssize_t n = pwrite(fd, zeros, KC_MIN(sizeof(zeros), to - from), (off_t)from);
        if (n <= 0)
            break;
        from += (size_t)n;
    }
    return from;
}

void kc__storage_file_write_ahead(kc__storage_file *file)
{
    MDB_envinfo info;
    MDB_stat stat;
    int fd;
    if (mdb_env_info(file->env, &info) || mdb_env_stat(file->env, &stat) ||
        mdb_env_get_fd(file->env, &fd))
        return;
    const size_t used = (info.me_last_pgno + 1) * stat.ms_psize;
    kc__storage_file_keep_reserve(file, fd, used, info.me_mapsize);
    if (used + MARGIN <= file->ahead)
        return;
    const size_t from = KC_MAX(used, file->ahead), to = KC_MIN(used + STEP, info.me_mapsize);
    file->ahead = write_zeros(fd, from, to);
}
