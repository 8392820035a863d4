/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.c: small files read and written whole.
 *
 * A file is read to its end, not by its size, which is a guess: what a configuration names may be a
 * pipe or lie in /proc. Something that has no end is stopped by the limit.
 *
 * A write goes to a temporary file beside the target (so that it is on the same file system), which
 * is synced and renamed over it; then the folder is synced, for a rename is a change of the folder.
 * A sync takes as long as the disk needs, so a start that changes nothing syncs nothing. mkstemp
 * makes the file with mode 0600, and only then is it given the mode asked for: a secret is never
 * readable by others, not even while it is empty. A temporary file that a crash leaves behind is
 * named ".NAME.XXXXXX" and harmless.
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

static int failed(kc_error *err, int code, const char *what, const char *path)
{
    return kc_error_set(err, reason_of(code), "cannot %s %s: %s", what, path, strerror(code));
}

/* What may have been a secret. */
static void wipe(kc_buf *buf)
{
    if (buf->p)
        explicit_bzero(buf->p, buf->n);
    kc_buf_done(buf);
}

/* ---- reading ---- */

enum { STEP = 4096 };

/* Room for all of it at once, where its size is known: growing would leave copies of a secret. */
static int read_all(int fd, const char *path, size_t limit, kc_buf *ret, kc_error *err)
{
    struct stat found;
    size_t room = STEP;
    if (fstat(fd, &found) == 0 && found.st_size > 0)
        room += KC_MIN((size_t)found.st_size, limit);
    for (;; room = STEP) {
        const ssize_t n = read(fd, kc_buf_reserve(ret, room), room);
        if (n < 0 && errno != EINTR)
            return failed(err, errno, "read", path);
        if (n == 0)
            return 0;
        ret->n += n > 0 ? (size_t)n : 0;
        if (ret->n > limit)
            return kc_error_set(err, KC_TOO_LARGE, "%s has more than %zu bytes", path, limit);
    }
}

int kc_file_read(const char *path, size_t limit, kc_buf *out, kc_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return failed(err, errno, "open", path);
    kc_buf text = {0};
    const int result = read_all(fd, path, limit, &text, err);
    close(fd);
    if (result == 0 && !out->p) {
        *out = (kc_buf){.p = text.p, .n = text.n, .cap = text.cap, .limit = out->limit};
        return 0;
    }
    if (result == 0)
        kc_buf_append(out, kc_buf_str(&text));
    wipe(&text);
    return result;
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

/* "a/b/name" is "a/b", "name" is ".". */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return kc_strdup(".");
    return slash == path ? kc_strdup("/") : kc_strndup(path, (size_t)(slash - path));
}

int kc_folder_sync(const char *folder, kc_error *err)
{
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return failed(err, errno, "open", folder);
    const int code = fsync(fd) < 0 ? errno : 0;
    close(fd);
    return code ? failed(err, code, "sync", folder) : 0;
}

/* 0 or the code of what went wrong. */
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
    const char *slash = strrchr(path, '/');
    kc_autofree char *folder = folder_of(path);
    kc_autofree char *temporary = kc_asprintf("%s/.%s.XXXXXX", folder, slash ? slash + 1 : path);
    const int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return failed(err, errno, "write", path);
    int code = fill_temporary(fd, mode, text);
    if (!code && rename(temporary, path) < 0)
        code = errno;
    if (!code)
        return 0;
    unlink(temporary);
    return failed(err, code, "write", path);
}

static bool is_already(const char *path, unsigned mode, kc_str text)
{
    struct stat found;
    kc_buf old = {0};
    if (lstat(path, &found) < 0 || !S_ISREG(found.st_mode) || (found.st_mode & 07777) != mode ||
        (size_t)found.st_size != text.n || kc_file_read(path, text.n, &old, NULL) < 0)
        return false;
    const bool same = kc_str_eq(kc_buf_str(&old), text);
    wipe(&old);
    return same;
}

int kc_file_write(const char *path, unsigned mode, kc_str text, kc_error *err)
{
    if (is_already(path, mode, text))
        return 0;
    const int result = kc_file_replace(path, mode, text, err);
    if (result)
        return result;
    kc_autofree char *folder = folder_of(path);
    return kc_folder_sync(folder, err);
}

int kc_file_put(const char *path, kc_str text, kc_error *err)
{
    kc_autofree char *fresh = kc_asprintf("%s.new", path);
    const int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return failed(err, errno, "write", path);
    int code = write_all(fd, text) < 0 ? errno : 0;
    if (close(fd) < 0 && !code)
        code = errno;
    if (!code && rename(fresh, path) < 0)
        code = errno;
    if (!code)
        return 0;
    unlink(fresh);
    return failed(err, code, "write", path);
}

int kc_file_remove(const char *path, kc_error *err)
{
    if (unlink(path) < 0)
        return errno == ENOENT ? 0 : failed(err, errno, "remove", path);
    kc_autofree char *folder = folder_of(path);
    return kc_folder_sync(folder, err);
}

int kc_folder_make(const char *path, unsigned mode, kc_error *err)
{
    kc_autofree char *part = kc_strdup(path);
    struct stat found;
    for (char *at = part + 1; *part && *at; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        if (mkdir(part, (mode_t)mode) < 0 && errno != EEXIST)
            return failed(err, errno, "make the folder", part);
        *at = '/';
    }
    if (mkdir(path, (mode_t)mode) < 0 && errno != EEXIST)
        return failed(err, errno, "make the folder", path);
    if (stat(path, &found) < 0)
        return failed(err, errno, "look at", path);
    if (!S_ISDIR(found.st_mode))
        return kc_error_set(err, KC_INVALID, "%s is not a folder", path);
    return 0;
}
