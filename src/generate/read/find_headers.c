/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find_headers.c: finds the headers to read.
 *
 * A directory with groupversion_info.h or a *_types.h header is a package, at any depth below the
 * given paths. Everything is sorted by name, because directories are unordered.
 */
#include "generate/read/read_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FOLDER_DEPTH = 16, MAX_HEADERS = 2000 };

static const kc_str info_name = KC_STR_INIT("groupversion_info.h");

void kc__gen_header_dirs_done(kc__gen_header_dirs *dirs)
{
    kc_vec_each (dirs, header_dir) {
        kc_vec_each (&header_dir->headers, header)
            free(*header);
        kc_vec_done(&header_dir->headers);
        free(header_dir->path);
    }
    kc_vec_done(dirs);
}

/* ---- adding ---- */

static kc__gen_header_dir *gen_find_headers_dir_of(kc__gen_header_dirs *dirs, kc_str path)
{
    kc_vec_each (dirs, header_dir)
        if (kc_str_is(path, header_dir->path))
            return header_dir;
    kc__gen_header_dir *header_dir = kc_vec_add(dirs);
    header_dir->path = kc_str_dup(path);
    return header_dir;
}

/* Takes an absolute path. */
static void add_header(kc__gen_header_dirs *dirs, const char *path)
{
    const char *slash = strrchr(path, '/');
    kc__gen_header_dir *header_dir =
        gen_find_headers_dir_of(dirs, kc_str_of(path, (size_t)(slash - path)));
    kc_vec_each (&header_dir->headers, header)
        if (!strcmp(*header, path))
            return;
    kc_vec_push(&header_dir->headers, kc_strdup(path));
}

static int gen_find_headers_by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const kc__gen_header_dir *)a)->path, ((const kc__gen_header_dir *)b)->path);
}

static bool is_api_header(kc_str name)
{
    return kc_str_eq(name, info_name) || kc_str_ends(name, KC_STR("_types.h"));
}

/* ---- walking ---- */

static int gen_find_headers_walk(kc__gen_header_dirs *dirs, const char *path, unsigned depth,
                                 size_t *n, kc_error *err)
{
    DIR *dir = opendir(path);
    int done = 0;
    if (!dir)
        return kc_error_set(err, KC_NOT_FOUND, "%s: %s", path, strerror(errno));
    for (struct dirent *entry; done == 0 && (entry = readdir(dir));) {
        struct stat info;
        kc_autofree char *below = kc_asprintf("%s/%s", path, entry->d_name);
        if (entry->d_name[0] == '.' || stat(below, &info) < 0)
            continue;
        if (S_ISDIR(info.st_mode) && depth < MAX_FOLDER_DEPTH)
            done = gen_find_headers_walk(dirs, below, depth + 1, n, err);
        else if (S_ISREG(info.st_mode) && is_api_header(kc_cstr(entry->d_name))) {
            if (++*n > MAX_HEADERS)
                done = kc_error_set(err, KC_TOO_LARGE, "more than %d headers are below %s",
                                    MAX_HEADERS, path);
            else
                add_header(dirs, below);
        }
    }
    closedir(dir);
    return done;
}

/* A single header also includes groupversion_info.h beside it, which names its group. */
static void add_info(kc__gen_header_dirs *dirs, const char *header)
{
    const char *slash = strrchr(header, '/');
    kc_autofree char *info = kc_asprintf("%.*s/%s", (int)(slash - header), header, info_name.p);
    if (access(info, R_OK) == 0)
        add_header(dirs, info);
}

static int add_path(kc__gen_header_dirs *dirs, const char *given, const char *cwd, kc_error *err)
{
    struct stat info;
    size_t n = 0;
    kc_str path = kc_cstr(given);
    while (kc_str_ends(path, KC_STR("/...")) || (path.n > 1 && kc_str_ends(path, KC_STR("/"))))
        path.n -= path.p[path.n - 1] == '/' ? 1 : 4;
    while (kc_str_starts(path, KC_STR("./")))
        path = kc_str_sub(path, 2, path.n);
    const bool here = kc_str_is(path, ".") || !path.n;
    kc_autofree char *absolute = path.n && path.p[0] == '/' ? kc_str_dup(path)
                                 : here                     ? kc_strdup(cwd)
                                        : kc_asprintf("%s/%.*s", cwd, KC_ARG(path));
    if (stat(absolute, &info) < 0)
        return kc_error_set(err, KC_NOT_FOUND, "%s: %s", given, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return gen_find_headers_walk(dirs, absolute, 0, &n, err);
    add_header(dirs, absolute);
    add_info(dirs, absolute);
    return 0;
}

int kc__gen_find_headers(const kc__gen_read_opts *opts, kc__gen_header_dirs *ret, kc_error *err)
{
    kc_autofree char *cwd = get_current_dir_name();
    for (size_t i = 0; i < opts->n_paths; i++)
        if (add_path(ret, opts->paths[i], cwd ? cwd : "", err) < 0)
            return kc_error_result(err);
    for (size_t i = 0; i < opts->n_sources; i++)
        if (is_api_header(kc_cstr(strrchr(opts->sources[i].path, '/') + 1)))
            add_header(ret, opts->sources[i].path);
    kc_vec_each (ret, header_dir)
        kc_vec_sort(&header_dir->headers, gen_find_headers_by_text);
    kc_vec_sort(ret, by_path);
    return 0;
}
