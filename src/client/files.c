/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.c: reads small files. A file is read to its end, not by its size: what a kubeconfig names
 * may be a pipe or lie in /proc. Something that has no end is stopped by the limit; a pipe that
 * nobody writes to is not opened for waiting.
 */
#include "client/files.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int cannot(const char *what, const char *path, kc_error *err)
{
    const kc_reason reason = errno == ENOENT || errno == ENOTDIR ? KC_NOT_FOUND : KC_BAD_REQUEST;
    return kc_error_set(err, reason, "cannot %s %s: %s", what, path, strerror(errno));
}

static int read_all(int fd, const char *path, size_t limit, kc_buf *out, kc_error *err)
{
    size_t total = 0;
    for (;;) {
        char chunk[16384];
        const ssize_t n = read(fd, chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cannot("read", path, err);
        if (n == 0)
            return 0;
        if ((size_t)n > limit - total)
            return kc_error_set(err, KC_TOO_LARGE, "%s has more than %zu bytes", path, limit);
        total += (size_t)n;
        kc_buf_append(out, kc_str_of(chunk, (size_t)n));
    }
}

int kc__config_file_read(const char *path, size_t limit, kc_buf *out, kc_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return cannot("open", path, err);
    const int result = read_all(fd, path, limit, out, err);
    close(fd);
    return result;
}
