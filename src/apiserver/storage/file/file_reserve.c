/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_reserve.c: reserves room for deletions on a full disk.
 *
 * LMDB never overwrites a page that is in use, so a deletion needs pages before it frees any. A few
 * megabytes behind the last page in use are allocated in advance (fallocate):
 *
 *     data.mdb   │ pages in use │ reserve: blocks without data │ … end of the map │
 *
 * While the disk has room, the reserve moves ahead of the used pages, and the journal collects only
 * changes that fit into a part of it. Once the reserve cannot move, the store is pressed and does
 * not use the journal: batches that free room (kc__storage_op.frees) may use the reserve; others
 * must fit into pages that were freed inside the file and otherwise fail with "no space", at the
 * latest when half of the reserve is used. Every commit of a pressed store drops history regardless
 * of its age, which frees pages.
 *
 * The guarantee holds where an allocated block can be overwritten in place (ext4, xfs, tmpfs), not
 * on copy-on-write file systems. Runs on the committer's thread.
 */
#include "apiserver/storage/file/file_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>

#define RESERVE ((size_t)4 << 20)
#define STEP    ((size_t)1 << 20)
/* The reserve takes at most 1/PART of a small disk, or of the store's maximum size. */
#define PART 16

/* Pages that a batch writes in addition to its values: the path to each leaf, and the free list. */
#define PAGES_PER_BATCH 32
#define PAGES_PER_OP    4

static size_t reserve_size(const kc__storage_file *file, int fd)
{
    struct statvfs disk;
    uint64_t bytes = RESERVE;
    if (fstatvfs(fd, &disk) == 0 && disk.f_blocks)
        bytes = KC_MIN(bytes, (uint64_t)disk.f_blocks * disk.f_frsize / PART);
    if (file->opts.max_bytes)
        bytes = KC_MIN(bytes, file->opts.max_bytes / PART);
    return (size_t)bytes;
}

void kc__storage_file_keep_reserve(kc__storage_file *file, int fd, size_t used, size_t map_bytes)
{
    const size_t limit = file->opts.max_bytes ? file->opts.max_bytes : SIZE_MAX;
    if (!file->reserve)
        file->reserve = reserve_size(file, fd);
    if (used + file->reserve > limit) {
        file->pressed = true;
        return;
    }
    const size_t end = KC_MIN(used + file->reserve, map_bytes);
    if (end <= file->reserved) {
        file->pressed = false;
        return;
    }
    const size_t from = KC_MAX(used, file->reserved), to = KC_MIN(end + STEP, map_bytes);
    int failed = fallocate(fd, 0, (off_t)from, (off_t)(to - from)) < 0 ? errno : 0;
    if (failed == EOPNOTSUPP || failed == ENOSYS)
        /* fallocate is not supported: nothing is guaranteed, and no batch is refused in advance. */
        failed = 0;
    file->pressed = failed != 0;
    if (!failed)
        file->reserved = to;
}

/* ---- space for batches that free nothing, in a pressed store ---- */

static int walk_free_list(MDB_txn *txn, uint64_t *ret)
{
    const MDB_dbi free_list = 0; /* LMDB's own database; only read transactions may open it. */
    MDB_cursor *cursor;
    MDB_val key, data;
    int code = mdb_cursor_open(txn, free_list, &cursor);
    if (code)
        return code;
    while ((code = mdb_cursor_get(cursor, &key, &data, MDB_NEXT)) == 0) {
        size_t n = 0;
        if (data.mv_size >= sizeof(n))
            memcpy(&n, data.mv_data, sizeof(n));
        *ret += n;
    }
    mdb_cursor_close(cursor);
    return code == MDB_NOTFOUND ? 0 : code;
}

static int count_free_pages(kc__storage_file *file, uint64_t *ret)
{
    MDB_txn *txn;
    int code = kc__storage_file_begin_read(file, &txn);
    if (code)
        return code;
    *ret = 0;
    code = walk_free_list(txn, ret);
    mdb_txn_abort(txn);
    return code;
}

static bool all_free(const kc__storage_op *ops, size_t n_ops)
{
    for (size_t i = 0; i < n_ops; i++)
        if (!ops[i].frees && ops[i].verb != KC__STORAGE_DELETE)
            return false;
    return true;
}

static uint64_t pages_for(const kc__storage_op *ops, size_t n_ops, size_t page)
{
    uint64_t pages = PAGES_PER_BATCH;
    for (size_t i = 0; i < n_ops; i++)
        pages += PAGES_PER_OP + (ops[i].value.n + ops[i].key.n) / page + 1;
    return pages;
}

int kc__storage_file_check_room(kc__storage_file *file, const kc__storage_op *ops, size_t n_ops)
{
    MDB_envinfo info;
    MDB_stat stat;
    uint64_t n_free = 0;
    if (!file->pressed || all_free(ops, n_ops))
        return 0;
    int code = mdb_env_info(file->env, &info);
    if (!code)
        code = mdb_env_stat(file->env, &stat);
    if (!code)
        code = count_free_pages(file, &n_free);
    if (code)
        return code;
    const size_t used = (info.me_last_pgno + 1) * stat.ms_psize;
    const size_t limit = file->opts.max_bytes ? file->opts.max_bytes : file->reserved;
    const bool half_is_left = used + file->reserve / 2 <= limit;
    const bool fits = n_free >= pages_for(ops, n_ops, stat.ms_psize);
    if (half_is_left && fits)
        return 0;
    return file->opts.max_bytes ? MDB_MAP_FULL : ENOSPC;
}
