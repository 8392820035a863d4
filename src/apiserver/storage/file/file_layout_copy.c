/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_layout_copy.c: the automatic backup of a store before its layout is migrated.
 *
 *     data.mdb (layout 1) ─▶ data.mdb.layout-1.part ─▶ data.mdb.layout-1     then the migration
 *
 * The migration changes data.mdb in place, and older programs refuse the result; the copy is the
 * way back to them. Layouts before the journal have all their data in data.mdb, which is not
 * written before the copy is complete, synced and has its name. A crash leaves a part, which the
 * next start overwrites. The copy stays until it is removed by hand; one of the same layout is
 * replaced, since the store that is migrated now is newer.
 *
 * A disk without room for the copy does not keep a server from starting: the migration itself
 * survives crashes. The log says that there is no copy.
 */
#include "apiserver/storage/file/file_internal.h"

#include "kc/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Left for the migration, which writes new pages before it frees old ones. */
#define ROOM_LEFT (UINT64_C(32) << 20)

/* Copies the bytes from `at` to `end`. 0 or an errno. */
static int copy_extent(int from, int to, off_t at, off_t end)
{
    char chunk[64 << 10];
    while (at < end) {
        const ssize_t n = pread(from, chunk, (size_t)KC_MIN(end - at, (off_t)sizeof(chunk)), at);
        if (n < 0)
            return errno;
        if (n == 0)
            return EIO;
        for (ssize_t done = 0; done < n;) {
            const ssize_t more = pwrite(to, chunk + done, (size_t)(n - done), at + done);
            if (more < 0)
                return errno;
            done += more;
        }
        at += n;
    }
    return 0;
}

/* The file is sparse, and so is its copy. 0 or an errno. */
static int copy_sparse(int from, int to, off_t size)
{
    if (ftruncate(to, size) < 0)
        return errno;
    for (off_t at = 0; at < size;) {
        const off_t data = lseek(from, at, SEEK_DATA);
        if (data < 0)
            return errno == ENXIO ? 0 : errno; /* ENXIO: a hole up to the end. */
        const off_t hole = lseek(from, data, SEEK_HOLE);
        if (hole < 0)
            return errno;
        const int code = copy_extent(from, to, data, hole);
        if (code)
            return code;
        at = hole;
    }
    return 0;
}

/* 0 or an errno. */
static int write_layout_copy(const char *data, const char *part, off_t size)
{
    (void)unlink(part); /* Of an attempt that was interrupted. */
    const int from = open(data, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const int to = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int code = from < 0 || to < 0 ? errno : copy_sparse(from, to, size);
    if (!code && fdatasync(to) < 0)
        code = errno;
    if (to >= 0)
        close(to);
    if (from >= 0)
        close(from);
    return code;
}

static bool has_room_for_copy(const char *dir, const struct stat *st)
{
    struct statvfs fs;
    if (statvfs(dir, &fs) < 0)
        return true;
    return (uint64_t)fs.f_bavail * fs.f_frsize >= (uint64_t)st->st_blocks * 512 + ROOM_LEFT;
}

static int without_copy(const kc__storage_file *file, const char *part)
{
    (void)unlink(part);
    kc_log_warn(file->opts.log, "no room for a copy of the store; migrating its layout without one",
                kc_kv("path", file->data_path));
    return 0;
}

static int copy_failed(const char *part, int code, kc_error *err)
{
    (void)unlink(part);
    return kc_error_set(err, KC_INTERNAL,
                        "cannot copy the store to %s before its layout is migrated: %s; it was not "
                        "modified",
                        part, strerror(code));
}

int kc__storage_file_keep_layout(const kc__storage_file *file, kc_error *err)
{
    struct stat st;
    kc_autofree char *copy =
        kc_asprintf("%s.layout-%u", file->data_path, (unsigned)file->state.version);
    kc_autofree char *part = kc_asprintf("%s.part", copy);
    if (stat(file->data_path, &st) < 0)
        return copy_failed(part, errno, err);
    if (!has_room_for_copy(file->dir, &st))
        return without_copy(file, part);
    int code = write_layout_copy(file->data_path, part, st.st_size);
    if (code == ENOSPC || code == EDQUOT)
        return without_copy(file, part);
    if (!code && rename(part, copy) < 0)
        code = errno;
    if (code)
        return copy_failed(part, code, err);
    kc_log_info(file->opts.log, "copied the store before its layout is migrated",
                kc_kv("path", copy));
    return kc_dir_sync(file->dir, err);
}
