/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_files.c: file operations relative to directory descriptors.
 *
 * Containers write to volumes and may plant symlinks there or swap parts of a path while it is
 * resolved. So every function takes the descriptor of a directory and a single name in it, and
 * never follows symlinks.
 */
#include "pods/process_internal.h"

#include "kc/utf8.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int kc__process_errno_set(kc_error *err, const char *fmt, ...)
{
    const int why = errno;
    kc_scoped(kc_buf) text = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&text, fmt, args);
    va_end(args);
    const kc_reason reason = why == ENOENT                    ? KC_NOT_FOUND
                             : why == EACCES || why == EPERM  ? KC_FORBIDDEN
                             : why == EAGAIN || why == ENOMEM ? KC_TOO_MANY_REQUESTS
                                                              : KC_INTERNAL;
    const char *more = why == EAGAIN   ? " (process limit reached?)"
                       : why == ENOSPC ? " (no space left)"
                                       : "";
    return kc_error_set(err, reason, "%s: %s%s", kc_buf_cstr(&text), strerrordesc_np(why), more);
}

void kc__process_text_put(kc_buf *out, kc_str text, size_t max)
{
    text = kc_str_sub(text, text.n - KC_MIN(text.n, max), text.n);
    while (text.n > 0) {
        const size_t n = text.p[0] ? kc_utf8_next(text, NULL) : 0;
        kc_buf_append(out, n ? kc_str_sub(text, 0, n) : KC_STR("?"));
        text = kc_str_sub(text, n ? n : 1, text.n);
    }
}

bool kc__process_file_name_ok(kc_str name)
{
    if (name.n == 0 || name.n > 253 || name.p[0] == '.')
        return false;
    for (size_t i = 0; i < name.n; i++) {
        const char c = name.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '-' || c == '.' || c == '_'))
            return false;
    }
    return true;
}

bool kc__process_file_path_ok(const char *path)
{
    kc_str rest = kc_cstr(path);
    if (rest.n == 0 || rest.n >= 2048)
        return false;
    while (rest.p) {
        const kc_str part = kc_str_cut(&rest, '/');
        if (part.n == 0 || part.n > 255 || kc_str_is(part, ".") || kc_str_is(part, ".."))
            return false;
    }
    return true;
}

int kc__process_dir_open(int at, const char *name, mode_t mode, kc_error *err)
{
    if (mode && mkdirat(at, name, mode) < 0 && errno != EEXIST)
        return kc__process_errno_set(err, "create directory %s", name);
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return kc__process_errno_set(err, "open directory %s", name);
    return fd;
}

void kc__process_names_done(kc__process_names *names)
{
    kc_vec_each (names, name)
        free(*name);
    kc_vec_done(names);
}

int kc__process_dir_names(int dir_fd, kc__process_names *ret, kc_error *err)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        kc__process_errno_set(err, "list directory");
        if (fd >= 0)
            close(fd);
        return kc_error_result(err);
    }
    for (struct dirent *entry; (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            kc_vec_push(ret, kc_strdup(entry->d_name));
    closedir(dir);
    return 0;
}

/* ---- remove ---- */

/* Nested directories are moved to the top first: the depth of a tree that a container made costs
 * neither stack nor descriptors. */
#define MAX_DEPTH 64

typedef struct removal {
    int top;
    unsigned carried;
} removal;

static bool remove_in(removal *r, int dir_fd, int depth);

static bool carry_up(removal *r, int dir_fd, const char *name)
{
    char to[32];
    snprintf(to, sizeof(to), "..carried.%u", r->carried++);
    return renameat(dir_fd, name, r->top, to) == 0;
}

static bool remove_entry(removal *r, int dir_fd, const char *name, int depth)
{
    if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
        return true;
    if (depth >= MAX_DEPTH && carry_up(r, dir_fd, name))
        return true;
    int below = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below < 0 && errno == EACCES && fchmodat(dir_fd, name, 0700, 0) == 0)
        below = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below < 0)
        return false;
    fchmod(below, 0700);
    const bool emptied = remove_in(r, below, depth + 1);
    close(below);
    return unlinkat(dir_fd, name, AT_REMOVEDIR) == 0 && emptied;
}

static bool remove_in(removal *r, int dir_fd, int depth)
{
    kc__process_names names = {0};
    bool all = kc__process_dir_names(dir_fd, &names, NULL) == 0;
    kc_vec_each (&names, name)
        all = remove_entry(r, dir_fd, *name, depth) && all;
    kc__process_names_done(&names);
    return all;
}

int kc__process_dir_remove(int at, const char *name, kc_error *err)
{
    removal r = {.top = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (r.top < 0)
        return errno == ENOENT ? 0 : kc__process_errno_set(err, "open directory %s", name);
    unsigned carried;
    bool all;
    do {
        carried = r.carried;
        all = remove_in(&r, r.top, 0);
    } while (carried != r.carried);
    close(r.top);
    if (all && unlinkat(at, name, AT_REMOVEDIR) == 0)
        return 0;
    return kc__process_errno_set(err, "remove directory %s", name);
}

/* ---- files ---- */

int kc__process_write_whole(int fd, kc_str bytes)
{
    while (bytes.n > 0) {
        const ssize_t n = write(fd, bytes.p, bytes.n);
        if (n < 0 && errno != EINTR)
            return -1;
        bytes = kc_str_sub(bytes, n > 0 ? (size_t)n : 0, bytes.n);
    }
    return 0;
}

int kc__process_file_replace(int at, const char *name, kc_str bytes, kc_error *err)
{
    char temporary[280];
    snprintf(temporary, sizeof(temporary), "%s.new", name);
    unlinkat(at, temporary, 0);
    const int fd = openat(at, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return kc__process_errno_set(err, "create file %s", name);
    const bool written = kc__process_write_whole(fd, bytes) == 0;
    const int why = errno;
    close(fd);
    errno = why;
    if (written && renameat(at, temporary, at, name) == 0)
        return 0;
    kc__process_errno_set(err, "write file %s", name);
    unlinkat(at, temporary, 0);
    return kc_error_result(err);
}

bool kc__process_file_bytes(int at, const char *name, size_t max, bool end, kc_buf *out)
{
    const int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    off_t at_byte = end && st.st_size > (off_t)max ? st.st_size - (off_t)max : 0;
    for (size_t left = max; left > 0;) {
        char chunk[4096];
        const ssize_t n = pread(fd, chunk, KC_MIN(left, sizeof(chunk)), at_byte);
        if (n <= 0)
            break;
        kc_buf_append(out, kc_str_of(chunk, (size_t)n));
        at_byte += n;
        left -= (size_t)n;
    }
    close(fd);
    return true;
}

/* ---- directories of pods ---- */

int kc__process_pod_dir(kc__process_runtime *rt, kc_str uid, bool make, kc_error *err)
{
    if (!kc__process_file_name_ok(uid))
        return kc_error_set(err, KC_INVALID, "\"%.*s\" is not a valid pod UID", KC_ARG(uid));
    kc_autofree char *name = kc_str_dup(uid);
    return kc__process_dir_open(rt->pods_fd, name, make ? 0700 : 0, err);
}

int kc__process_container_dir(kc__process_runtime *rt, kc_str uid, kc_str name, bool make,
                              kc_error *err)
{
    if (!kc__process_file_name_ok(name))
        return kc_error_set(err, KC_INVALID, "\"%.*s\" is not a valid container name",
                            KC_ARG(name));
    const int pod = kc__process_pod_dir(rt, uid, make, err);
    if (pod < 0)
        return pod;
    kc_autofree char *text = kc_str_dup(name);
    const int dir_fd = kc__process_dir_open(pod, text, make ? 0700 : 0, err);
    close(pod);
    return dir_fd;
}
