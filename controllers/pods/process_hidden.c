/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_hidden.c: hides paths from pods: the runtime's directory, and the server's files and
 * directories with keys, tokens, kubeconfigs and objects (kc_pods_opts.hidden).
 *
 * There are two protections, either of which suffices:
 *
 *     mount namespaces   an empty, unreadable file system covers each directory and an empty
 *                        file each file in every container (process_mounts.c)
 *     file modes         pods run as UIDs of their own, and the path is closed to other users
 *
 * A mount over a single file is lost when the file is replaced by rename (the kernel detaches
 * mounts of other namespaces then). So a file that other users can read causes a warning even if it
 * is covered. If neither protection holds, the runtime refuses to start, unless the operator
 * accepts that pods can read the credentials.
 */
#include "pods/process_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#define EMPTY_FILE "empty"

static void process_hidden_add(kc__process_runtime *rt, const char *path)
{
    char *real = realpath(path, NULL);
    if (!real && path[0] == '/')
        real = kc_strdup(path); /* The path may be created later. */
    if (real)
        kc_vec_push(&rt->hidden, real);
}

static int by_length(const void *a, const void *b)
{
    const size_t x = strlen(*(char *const *)a), y = strlen(*(char *const *)b);
    return (x > y) - (x < y);
}

/* The cover of a file: empty, mode 0. */
static int make_empty_file(kc__process_runtime *rt, kc_error *err)
{
    const int fd = openat(rt->dir_fd, EMPTY_FILE, O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0);
    if (fd < 0 && errno != EACCES) /* Not root, and created by an earlier start. */
        return kc__process_errno_set(err, "create %s/" EMPTY_FILE, rt->dir);
    if (fd >= 0)
        close(fd);
    rt->empty_file = kc_asprintf("%s/" EMPTY_FILE, rt->dir);
    return 0;
}

int kc__process_hidden_open(kc__process_runtime *rt, const char *const *paths, kc_error *err)
{
    process_hidden_add(rt, rt->dir);
    for (; paths && *paths; paths++)
        process_hidden_add(rt, *paths);
    kc_vec_sort(&rt->hidden, by_length);
    return make_empty_file(rt, err);
}

void kc__process_hidden_done(kc__process_runtime *rt)
{
    kc_vec_each (&rt->hidden, path)
        free(*path);
    kc_vec_done(&rt->hidden);
    free(rt->empty_file);
}

static bool process_hidden_is_below(const char *path, const char *dir)
{
    const size_t n = strlen(dir);
    return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0' || n == 1);
}

bool kc__process_hidden_overlaps(const kc__process_runtime *rt, const char *path)
{
    kc_vec_each (&rt->hidden, hidden)
        if (process_hidden_is_below(path, *hidden) || process_hidden_is_below(*hidden, path))
            return true;
    return false;
}

/* ---- file modes ---- */

/* Whether a parent directory excludes other users. Paths are absolute, without symlinks. */
static bool is_enclosed(const char *path)
{
    kc_autofree char *above = kc_strdup(path);
    struct stat st;
    for (char *c = above + 1; *c; c++) {
        if (*c != '/')
            continue;
        *c = '\0';
        if (stat(above, &st) < 0 || !(st.st_mode & S_IXOTH))
            return true;
        *c = '/';
    }
    return false;
}

bool kc__process_hidden_is_visible(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return false;
    const mode_t bits = S_ISDIR(st.st_mode) ? S_IRWXO : S_IROTH | S_IWOTH;
    return st.st_mode & bits && !is_enclosed(path);
}

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

static void process_hidden_warn(kc__process_runtime *rt, const char *path, const char *text)
{
    kc_log_warn(rt->log, text, kc_kv("path", path));
}

/* Mounts cover it. */
static void check_covered(kc__process_runtime *rt, const char *path)
{
    if (rt->isolation.root && is_file(path) && kc__process_hidden_is_visible(path))
        process_hidden_warn(rt, path,
                            "credential file is readable by other users; running pods can see "
                            "it if it is replaced");
}

static int process_hidden_reject(const kc__process_runtime *rt, const char *path, kc_error *err)
{
    return kc_error_set(err, KC_FORBIDDEN,
                        "pods could read %s, which is readable by other users, and this host "
                        "has no mount namespaces to hide it (%s): restrict it (chmod o-rwx), "
                        "use --pods=simulate, or accept the risk with "
                        "--unsafe-pods-can-read-credentials",
                        path, rt->isolation.why_no_namespaces);
}

int kc__process_hidden_check(kc__process_runtime *rt, bool accepted, kc_error *err)
{
    kc_vec_each (&rt->hidden, path) {
        if (rt->isolation.namespaces != KC__PROCESS_NAMESPACES_NONE) {
            check_covered(rt, *path);
            continue;
        }
        if (rt->isolation.root && !kc__process_hidden_is_visible(*path))
            continue;
        if (!accepted)
            return process_hidden_reject(rt, *path, err);
        process_hidden_warn(rt, *path, "pods can read credentials");
    }
    return 0;
}
