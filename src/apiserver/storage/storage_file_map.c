/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_file_map.c: the map that LMDB reads through, and how it grows.
 *
 * LMDB maps its file into memory at a fixed size and says MDB_MAP_FULL when a transaction finds no
 * room. To grow, the map is taken away and made anew, so nobody may be looking into it: readers
 * pass a gate, and the committer closes the gate, waits until the last one is out, moves the map
 * and opens it again. That is rare, since the size doubles each time.
 *
 * Invariant: the data file is at least as long as the size of the map that its own header names. So
 * it is stretched (it takes no room by that) before anything is committed under a larger map. A
 * file that is shorter was cut, and reading it would end in SIGBUS: storage_file_check.c refuses
 * it before a page of it is read.
 */
#include "apiserver/storage/storage_file_internal.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static int enter(kc__file *file)
{
    int code = 0;
    kc_locked (&file->gate) {
        while (file->growing)
            kc_cond_wait_until(&file->gate_moved, &file->gate, file->opts.clock, KC_FOREVER);
        if (file->unmapped)
            code = MDB_PANIC;
        else
            file->readers++;
    }
    return code;
}

static void leave(kc__file *file)
{
    kc_locked (&file->gate) {
        if (--file->readers == 0)
            kc_cond_broadcast(&file->gate_moved);
    }
}

int kc__file_begin_read(kc__file *file, MDB_txn **ret_txn)
{
    int code = enter(file);
    if (code)
        return code;
    code = mdb_txn_begin(file->env, NULL, MDB_RDONLY, ret_txn);
    if (code)
        leave(file);
    return code;
}

void kc__file_end_read(kc__file *file, MDB_txn *txn)
{
    mdb_txn_abort(txn);
    leave(file);
}

int kc__file_begin_write(kc__file *file, MDB_txn **ret_txn)
{
    /* Only this thread sets them. */
    return file->unmapped || file->unknown ? MDB_PANIC : mdb_txn_begin(file->env, NULL, 0, ret_txn);
}

int kc__file_stretch(kc__file *file, size_t map_bytes)
{
    int fd;
    struct stat st;
    const size_t bytes = map_bytes + 2 * KC__REDO_PLACE;
    int code = mdb_env_get_fd(file->env, &fd);
    if (code)
        return code;
    if (fstat(fd, &st) < 0)
        return errno;
    if ((uint64_t)st.st_size >= bytes)
        return 0;
    return ftruncate(fd, (off_t)bytes) < 0 || fsync(fd) < 0 ? errno : 0;
}

static void close_gate(kc__file *file)
{
    kc_locked (&file->gate) {
        file->growing = true;
        while (file->readers > 0)
            kc_cond_wait_until(&file->gate_moved, &file->gate, file->opts.clock, KC_FOREVER);
    }
}

static void open_gate(kc__file *file, bool unmapped)
{
    kc_locked (&file->gate) {
        file->growing = false;
        file->unmapped = unmapped;
        kc_cond_broadcast(&file->gate_moved);
    }
}

int kc__file_grow(kc__file *file)
{
    MDB_envinfo info;
    int code = mdb_env_info(file->env, &info);
    if (code)
        return code;
    const uint64_t limit = file->opts.max_bytes ? file->opts.max_bytes : (uint64_t)1 << 46;
    const size_t bytes = (size_t)KC_MIN((uint64_t)info.me_mapsize * 2, limit);
    if (bytes <= info.me_mapsize)
        return MDB_MAP_FULL;
    code = mdb_env_sync(file->env, 1); /* The redo does not move along. */
    if (!code)
        code = kc__file_stretch(file, bytes);
    if (code)
        return code;
    close_gate(file);
    code = mdb_env_set_mapsize(file->env, bytes);
    open_gate(file, code != 0);
    return code;
}
