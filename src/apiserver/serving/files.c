/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.c: small files read and written whole.
 *
 * A write goes to a temporary file beside the target (so that it is on the same file system), which
 * is synced and renamed over it; then the folder is synced, for a rename is a change of the folder.
 * A sync takes as long as the disk needs, so a start that changes nothing syncs nothing. mkstemp
 * makes the file with mode 0600, and only then is it given the mode asked for: a secret is never
 * readable by others, not even while it is empty. A temporary file that a crash leaves behind is
 * named ".NAME.XXXXXX" and harmless.
 */
#include "apiserver/serving/files.h"

#include "http/certificate.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static kc_reason reason_of(int code)
{
    switch (code) {
    case ENOENT:
    case ENOTDIR: return KC_NOT_FOUND;
    case ENOSPC:
    case EDQUOT: return KC_SERVICE_UNAVAILABLE;
    default: return KC_INTERNAL;
    }
}

static int failed(kc_error *err, int code, const char *what, const char *path)
{
    return kc_error_set(err, reason_of(code), "cannot %s %s: %s", what, path, strerror(code));
}

/* ---- reading ---- */

enum { STEP = 4096 };

static int too_large(kc_error *err, const char *path)
{
    return kc_error_set(err, KC_TOO_LARGE, "%s is larger than %zu MiB", path, KC__FILE_MAX >> 20);
}

/* Room for all of it at once, where its size is known: growing would leave copies of a secret. */
static int read_all(int fd, const char *path, kc_buf *ret, kc_error *err)
{
    struct stat found;
    size_t room = STEP;
    if (fstat(fd, &found) == 0 && found.st_size > 0)
        room += (size_t)found.st_size;
    for (;; room = STEP) {
        char *to = kc_buf_reserve(ret, room);
        if (!to)
            return too_large(err, path);
        const ssize_t n = read(fd, to, room);
        if (n < 0 && errno != EINTR)
            return failed(err, errno, "read", path);
        if (n == 0)
            return 0;
        ret->n += n > 0 ? (size_t)n : 0;
    }
}

int kc__read_file(const char *path, kc_buf *ret, kc_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return failed(err, errno, "open", path);
    kc_buf text = {.limit = KC__FILE_MAX + STEP};
    const int result = read_all(fd, path, &text, err);
    close(fd);
    if (result == 0)
        *ret = text;
    else
        kc__wipe(&text);
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

int kc__sync_folder(const char *folder, kc_error *err)
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

int kc__replace_file(const char *path, unsigned mode, kc_str text, kc_error *err)
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
        (size_t)found.st_size != text.n || kc__read_file(path, &old, NULL) < 0)
        return false;
    const bool same = kc_str_eq(kc_buf_str(&old), text);
    kc__wipe(&old);
    return same;
}

int kc__write_file(const char *path, unsigned mode, kc_str text, kc_error *err)
{
    if (is_already(path, mode, text))
        return 0;
    const int result = kc__replace_file(path, mode, text, err);
    if (result)
        return result;
    kc_autofree char *folder = folder_of(path);
    return kc__sync_folder(folder, err);
}

int kc__remove_file(const char *path, kc_error *err)
{
    if (unlink(path) < 0)
        return errno == ENOENT ? 0 : failed(err, errno, "remove", path);
    kc_autofree char *folder = folder_of(path);
    return kc__sync_folder(folder, err);
}

int kc__make_folder(const char *path, kc_error *err)
{
    kc_autofree char *part = kc_strdup(path);
    struct stat found;
    for (char *at = part + 1; *part && *at; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        if (mkdir(part, 0700) < 0 && errno != EEXIST)
            return failed(err, errno, "make the folder", part);
        *at = '/';
    }
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return failed(err, errno, "make the folder", path);
    if (stat(path, &found) < 0)
        return failed(err, errno, "look at", path);
    if (!S_ISDIR(found.st_mode))
        return kc_error_set(err, KC_INVALID, "%s is not a folder", path);
    return 0;
}
