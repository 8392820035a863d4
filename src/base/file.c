/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.c: reads and writes small files as a whole.
 *
 * A file is read to its end, not by its size, which is only a hint: a configured path may be a pipe
 * or a file in /proc. The limit bounds endless input.
 *
 * A write goes to a temporary file in the same directory (so on the same file system), which is
 * synced and renamed over the target. Then the directory is synced, because a rename changes the
 * directory. A sync takes as long as the disk needs, so a start that changes nothing syncs nothing.
 * mkstemp creates the file with mode 0600, and only then does it get the requested mode: other
 * users can never read a secret. A temporary file that a crash leaves behind is named
 * ".NAME.XXXXXX" and harmless.
 */
#include "kc/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static kc_reason reason_of(int code)
{
    switch (code) {
    case ENOENT:
    case ENOTDIR: return KC_NOT_FOUND;
    case ENOSPC:
    case EDQUOT: return KC_SERVICE_UNAVAILABLE;
    default: return KC_BAD_REQUEST;
    }
}

static int file_failed(kc_error *err, int code, const char *what, const char *path)
{
    return kc_error_set(err, reason_of(code), "cannot %s %s: %s", what, path, strerror(code));
}

/* ---- reading ---- */

enum { STEP = 4096 };

/* Reserves all memory at once if the size is known: growing would leave copies of a secret. */
static int read_all(int fd, const char *path, size_t limit, kc_buf *ret, kc_error *err)
{
    struct stat found;
    size_t room = STEP;
    if (fstat(fd, &found) == 0 && found.st_size > 0)
        room += KC_MIN((size_t)found.st_size, limit);
    for (;; room = STEP) {
        const ssize_t n = read(fd, kc_buf_reserve(ret, room), room);
        if (n < 0 && errno != EINTR)
            return file_failed(err, errno, "read", path);
        if (n == 0)
            return 0;
        ret->n += n > 0 ? (size_t)n : 0;
        if (ret->n > limit)
            return kc_error_set(err, KC_TOO_LARGE, "%s has more than %zu bytes", path, limit);
    }
}

/* Appends what is left of an open file. On failure `out` is unchanged. */
static int read_rest(int fd, const char *name, size_t limit, kc_buf *out, kc_error *err)
{
    kc_buf text = {0};
    const int result = read_all(fd, name, limit, &text, err);
    if (result == 0 && !out->p) {
        *out = (kc_buf){.p = text.p, .n = text.n, .cap = text.cap, .limit = out->limit};
        return 0;
    }
    if (result == 0)
        kc_buf_append(out, kc_buf_str(&text));
    kc_buf_wipe(&text);
    return result;
}

static int open_and_read(const char *path, int flags, size_t limit, kc_buf *out, kc_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
    if (fd < 0)
        return file_failed(err, errno, "open", path);
    const int result = read_rest(fd, path, limit, out, err);
    close(fd);
    return result;
}

int kc_file_read(const char *path, size_t limit, kc_buf *out, kc_error *err)
{
    return open_and_read(path, O_NONBLOCK, limit, out, err);
}

/* Standard input is read through its descriptor: /dev/stdin cannot be opened if it is a socket. */
int kc_file_read_input(const char *path, size_t limit, kc_buf *out, kc_error *err)
{
    if (!strcmp(path, "-"))
        return read_rest(STDIN_FILENO, "standard input", limit, out, err);
    return open_and_read(path, 0, limit, out, err);
}

/* ---- writing ---- */

static int write_all(int fd, kc_str text)
{
    while (text.n) {
        const ssize_t n = write(fd, text.p, text.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        text = kc_str_sub(text, (size_t)n, text.n);
    }
    return 0;
}

/* "a/b/name" becomes "a/b", "name" becomes ".". */
static char *dir_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return kc_strdup(".");
    return slash == path ? kc_strdup("/") : kc_strndup(path, (size_t)(slash - path));
}

int kc_dir_sync(const char *dir, kc_error *err)
{
    const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return file_failed(err, errno, "open", dir);
    const int code = fsync(fd) < 0 ? errno : 0;
    close(fd);
    return code ? file_failed(err, code, "sync", dir) : 0;
}

/* A rename would replace a device, such as /dev/null, by a file. */
static int check_replaceable(const char *path, kc_error *err)
{
    struct stat found;
    if (lstat(path, &found) < 0 || S_ISREG(found.st_mode) || S_ISLNK(found.st_mode))
        return 0;
    return kc_error_set(err, KC_INVALID, "cannot write %s: it is not a regular file", path);
}

/* Returns 0 or an errno code. */
static int fill_temporary(int fd, unsigned mode, kc_str text)
{
    int code = 0;
    if (fchmod(fd, (mode_t)mode) < 0 || write_all(fd, text) < 0 || fsync(fd) < 0)
        code = errno;
    if (close(fd) < 0 && !code)
        code = errno;
    return code;
}

int kc_file_replace(const char *path, unsigned mode, kc_str text, kc_error *err)
{
    if (check_replaceable(path, err) < 0)
        return kc_error_result(err);
    const char *slash = strrchr(path, '/');
    kc_autofree char *dir = dir_of(path);
    kc_autofree char *temporary = kc_asprintf("%s/.%s.XXXXXX", dir, slash ? slash + 1 : path);
    const int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return file_failed(err, errno, "write", path);
    int code = fill_temporary(fd, mode, text);
    if (!code && rename(temporary, path) < 0)
        code = errno;
    if (!code)
        return 0;
    unlink(temporary);
    return file_failed(err, code, "write", path);
}

static bool is_already(const char *path, unsigned mode, kc_str text)
{
    struct stat found;
    kc_buf old = {0};
    if (lstat(path, &found) < 0 || !S_ISREG(found.st_mode) || (found.st_mode & 07777) != mode ||
        (size_t)found.st_size != text.n || kc_file_read(path, text.n, &old, NULL) < 0)
        return false;
    const bool same = kc_str_eq(kc_buf_str(&old), text);
    kc_buf_wipe(&old);
    return same;
}

int kc_file_write(const char *path, unsigned mode, kc_str text, kc_error *err)
{
    if (is_already(path, mode, text))
        return 0;
    const int result = kc_file_replace(path, mode, text, err);
    if (result)
        return result;
    kc_autofree char *dir = dir_of(path);
    return kc_dir_sync(dir, err);
}

int kc_file_put(const char *path, kc_str text, kc_error *err)
{
    if (check_replaceable(path, err) < 0)
        return kc_error_result(err);
    kc_autofree char *fresh = kc_asprintf("%s.new", path);
    const int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return file_failed(err, errno, "write", path);
    int code = write_all(fd, text) < 0 ? errno : 0;
    if (close(fd) < 0 && !code)
        code = errno;
    if (!code && rename(fresh, path) < 0)
        code = errno;
    if (!code)
        return 0;
    unlink(fresh);
    return file_failed(err, code, "write", path);
}

int kc_file_remove(const char *path, kc_error *err)
{
    if (unlink(path) < 0)
        return errno == ENOENT ? 0 : file_failed(err, errno, "remove", path);
    kc_autofree char *dir = dir_of(path);
    return kc_dir_sync(dir, err);
}

int kc_dir_create(const char *path, unsigned mode, kc_error *err)
{
    kc_autofree char *part = kc_strdup(path);
    struct stat found;
    for (char *at = part + 1; *part && *at; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        if (mkdir(part, (mode_t)mode) < 0 && errno != EEXIST)
            return file_failed(err, errno, "create directory", part);
        *at = '/';
    }
    if (mkdir(path, (mode_t)mode) < 0 && errno != EEXIST)
        return file_failed(err, errno, "create directory", path);
    if (stat(path, &found) < 0)
        return file_failed(err, errno, "stat", path);
    if (!S_ISDIR(found.st_mode))
        return kc_error_set(err, KC_INVALID, "%s is not a directory", path);
    return 0;
}
