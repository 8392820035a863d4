/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_lock.c: locks a directory for one process.
 *
 * LMDB lets several processes share a file, but the server serves from memory and must be the only
 * writer. So the directory has a lock of its own beside LMDB's: flock on the file `owner`, which
 * holds the process id for the error message. The kernel releases the lock however the process
 * ends. The file is never removed: otherwise two processes could lock two different files of the
 * same name.
 *
 * flock belongs to the open file description, so it also keeps the same process from opening a
 * store twice, which LMDB forbids.
 */
#include "apiserver/storage/file/file_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

static int in_use(const char *dir, int fd, kc_error *err)
{
    char text[32];
    const ssize_t n = pread(fd, text, sizeof(text), 0);
    const kc_str pid = kc_str_trim(kc_str_of(text, n > 0 ? (size_t)n : 0));
    if (kc_str_empty(pid))
        return kc_error_set(err, KC_CONFLICT, "%s is in use by another process", dir);
    return kc_error_set(err, KC_CONFLICT, "%s is in use by process %.*s", dir, KC_ARG(pid));
}

static int write_pid(const char *path, int fd, kc_error *err)
{
    char text[32];
    const int n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)n, 0) != n)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "cannot write %s: %s", path,
                            strerror(errno));
    return 0;
}

int kc__storage_file_lock(const char *dir, int *ret_fd, kc_error *err)
{
    kc_autofree char *path = kc_asprintf("%s/owner", dir);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return kc_error_set(err, KC_INTERNAL, "cannot open %s: %s", path, strerror(errno));
    int failed = 0;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        failed = errno == EWOULDBLOCK
                     ? in_use(dir, fd, err)
                     : kc_error_set(err, KC_INTERNAL, "cannot lock %s: %s", path, strerror(errno));
    else
        failed = write_pid(path, fd, err);
    if (failed) {
        close(fd);
        return failed;
    }
    *ret_fd = fd;
    return 0;
}
