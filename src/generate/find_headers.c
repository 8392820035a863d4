/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find_headers.c: which headers are read.
 *
 * A folder that has groupversion_info.h or a header that ends with _types.h is a package, wherever
 * it is below the folders named. Everything is sorted by name: the order of a directory is no
 * order.
 */
#include "generate/read_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FOLDER_DEPTH = 16, MAX_HEADERS = 2000 };

static const kc_str info_name = KC_STR_INIT("groupversion_info.h");

void kc__header_folders_done(kc__header_folders *folders)
{
    kc_vec_each (folders, folder) {
        kc_vec_each (&folder->headers, header)
            free(*header);
        kc_vec_done(&folder->headers);
        free(folder->path);
    }
    kc_vec_done(folders);
}

/* ---- adding ---- */

static kc__header_folder *folder_of(kc__header_folders *folders, kc_str path)
{
    kc_vec_each (folders, folder)
        if (kc_str_is(path, folder->path))
            return folder;
    kc__header_folder *folder = kc_vec_add(folders);
    folder->path = kc_str_dup(path);
    return folder;
}

/* Takes an absolute path. */
static void add_header(kc__header_folders *folders, const char *path)
{
    const char *slash = strrchr(path, '/');
    kc__header_folder *folder = folder_of(folders, kc_str_of(path, (size_t)(slash - path)));
    kc_vec_each (&folder->headers, header)
        if (!strcmp(*header, path))
            return;
    kc_vec_push(&folder->headers, kc_strdup(path));
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const kc__header_folder *)a)->path, ((const kc__header_folder *)b)->path);
}

static bool is_api_header(kc_str name)
{
    return kc_str_eq(name, info_name) || kc_str_ends(name, KC_STR("_types.h"));
}

/* ---- walking ---- */

static int walk(kc__header_folders *folders, const char *path, unsigned depth, size_t *n,
                kc_error *err)
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
            done = walk(folders, below, depth + 1, n, err);
        else if (S_ISREG(info.st_mode) && is_api_header(kc_cstr(entry->d_name))) {
            if (++*n > MAX_HEADERS)
                done = kc_error_set(err, KC_TOO_LARGE, "more than %d headers are below %s",
                                    MAX_HEADERS, path);
            else
                add_header(folders, below);
        }
    }
    closedir(dir);
    return done;
}

/* A header alone also has the file beside it that says its group. */
static void add_info(kc__header_folders *folders, const char *header)
{
    const char *slash = strrchr(header, '/');
    kc_autofree char *info = kc_asprintf("%.*s/%s", (int)(slash - header), header, info_name.p);
    if (access(info, R_OK) == 0)
        add_header(folders, info);
}

static int add_path(kc__header_folders *folders, const char *given, const char *cwd, kc_error *err)
{
    struct stat info;
    size_t n = 0;
    kc_str path = kc_cstr(given);
    while (kc_str_ends(path, KC_STR("/...")) || (path.n > 1 && kc_str_ends(path, KC_STR("/"))))
        path.n -= path.p[path.n - 1] == '/' ? 1 : 4;
    while (kc_str_starts(path, KC_STR("./")))
        path = kc_str_sub(path, 2, path.n);
    const bool here = kc_str_is(path, ".") || !path.n;
    kc_autofree char *whole = path.n && path.p[0] == '/' ? kc_str_dup(path)
                              : here                     ? kc_strdup(cwd)
                                     : kc_asprintf("%s/%.*s", cwd, KC_ARG(path));
    if (stat(whole, &info) < 0)
        return kc_error_set(err, KC_NOT_FOUND, "%s: %s", given, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return walk(folders, whole, 0, &n, err);
    add_header(folders, whole);
    add_info(folders, whole);
    return 0;
}

int kc__find_headers(const kc__read_opts *opts, kc__header_folders *ret, kc_error *err)
{
    kc_autofree char *cwd = get_current_dir_name();
    for (size_t i = 0; i < opts->n_paths; i++)
        if (add_path(ret, opts->paths[i], cwd ? cwd : "", err) < 0)
            return -1;
    for (size_t i = 0; i < opts->n_sources; i++)
        if (is_api_header(kc_cstr(strrchr(opts->sources[i].path, '/') + 1)))
            add_header(ret, opts->sources[i].path);
    kc_vec_each (ret, folder)
        kc_vec_sort(&folder->headers, by_text);
    kc_vec_sort(ret, by_path);
    return 0;
}
