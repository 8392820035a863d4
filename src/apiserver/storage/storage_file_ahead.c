/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_file_ahead.c: blocks of the disk before they are needed.
 *
 * The data file is as long as its map but has blocks only where something was written. A commit
 * that writes to new ones makes the sync record them too, which takes a second wait of the disk's
 * on many file systems. So zeros are written behind the last page in use, much at a time and now
 * and then; commits then write over blocks that are there. (Reserving them by fallocate does not
 * help: that they hold data now would have to be recorded all the same.)
 *
 * By the committer, before its transaction begins: then no page behind the last is in use, while a
 * large transaction writes some before it commits. Its sync covers the zeros as well. A failure is
 * no error: what has no room fails in the commit itself.
 */
#include "apiserver/storage/storage_file_internal.h"

#include <unistd.h>

#define STEP   ((size_t)1 << 20)
#define MARGIN ((size_t)256 << 10) /* More than most commits need. */

static void write_zeros(int fd, size_t from, size_t to)
{
    static const char zeros[64 << 10];
    while (from < to) {
        const ssize_t n = pwrite(fd, zeros, KC_MIN(sizeof(zeros), to - from), (off_t)from);
        if (n <= 0)
            return;
        from += (size_t)n;
    }
}

void kc__file_write_ahead(kc__file *file)
{
    MDB_envinfo info;
    MDB_stat stat;
    int fd;
    if (mdb_env_info(file->env, &info) || mdb_env_stat(file->env, &stat) ||
        mdb_env_get_fd(file->env, &fd))
        return;
    const size_t used = (info.me_last_pgno + 1) * stat.ms_psize;
    if (used + MARGIN <= file->ahead)
        return;
    const size_t from = KC_MAX(used, file->ahead), to = KC_MIN(used + STEP, info.me_mapsize);
    write_zeros(fd, from, to);
    file->ahead = to;
}
