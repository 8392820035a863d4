/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.c: see file.h. A new file beside it (PATH.new), its bytes on the disk, renamed over the old
 * one, and the folder's entry on the disk too: who looks sees the old bytes or the new ones.
 *
 * The lock is on a file of its own, since the one it is about is another one after every write. It
 * is the kernel's, and ends with the process, however that ends.
 */
#include "network/service/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

struct kc__whole_file {
    char *path, *fresh; /* `fresh` is where the next one is written. */
    int folder, lock;   /* Open, or -1. */
};

static int fail(kc_error *err, const char *what, const char *path)
{
    return kc_error_set(err, KC_INTERNAL, "cannot %s %s: %s", what, path, strerror(errno));
}

static int take_lock(kc__whole_file *file, kc_error *err)
{
    kc_autofree char *path = kc_asprintf("%s.lock", file->path);
    file->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file->lock < 0)
        return fail(err, "open", path);
    if (flock(file->lock, LOCK_EX | LOCK_NB) == 0)
        return 0;
    if (errno == EWOULDBLOCK)
        return kc_error_set(err, KC_CONFLICT, "%s is in use by another process", file->path);
    return fail(err, "lock", path);
}

static int open_folder(kc__whole_file *file, kc_error *err)
{
    kc_autofree char *copy = kc_strdup(file->path);
    const char *folder = dirname(copy);
    file->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return file->folder < 0 ? fail(err, "open the folder", folder) : 0;
}

kc__whole_file *kc__whole_file_open(const char *path, kc_error *err)
{
    kc_auto(kc__whole_file) *file = kc_new(kc__whole_file);
    file->path = kc_strdup(path);
    file->fresh = kc_asprintf("%s.new", path);
    file->folder = file->lock = -1;
    if (open_folder(file, err) < 0 || take_lock(file, err) < 0)
        return NULL;
    return kc_take(file);
}

kc__whole_file *kc__whole_file_close(kc__whole_file *file)
{
    if (!file)
        return NULL;
    if (file->lock >= 0)
        close(file->lock);
    if (file->folder >= 0)
        close(file->folder);
    free(file->path);
    free(file->fresh);
    free(file);
    return NULL;
}

/* ---- reading ---- */

static int read_all(int fd, kc_buf *out)
{
    char chunk[16384];
    for (;;) {
        const ssize_t n = read(fd, chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return (int)n;
        kc_buf_append(out, kc_str_of(chunk, (size_t)n));
    }
}

int kc__whole_file_read(const kc__whole_file *file, kc_buf *out, kc_error *err)
{
    const int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : fail(err, "open", file->path);
    int result = read_all(fd, out);
    if (result < 0)
        result = fail(err, "read", file->path);
    else if (out->failed)
        result =
            kc_error_set(err, KC_TOO_LARGE, "%s is longer than %zu bytes", file->path, out->limit);
    close(fd);
    return result;
}

/* ---- writing ---- */

static bool write_all(int fd, kc_str bytes)
{
    while (bytes.n) {
        const ssize_t n = write(fd, bytes.p, bytes.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        bytes = kc_str_sub(bytes, (size_t)n, bytes.n);
    }
    return fsync(fd) == 0;
}

int kc__whole_file_write(kc__whole_file *file, kc_str bytes, kc_error *err)
{
    const int fd = open(file->fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail(err, "open", file->fresh);
    const bool written = write_all(fd, bytes);
    const int result = written ? 0 : fail(err, "write", file->fresh);
    close(fd);
    if (result < 0) {
        unlink(file->fresh);
        return result;
    }
    if (rename(file->fresh, file->path) < 0)
        return fail(err, "rename", file->fresh);
    return fsync(file->folder) < 0 ? fail(err, "write the folder of", file->path) : 0;
}
