/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply_files.c: files and folders to texts. A folder's files are taken by name, byte by byte, so
 * that every machine takes them in the same order.
 */
#include "client/apply_internal.h"

#include "kc/file.h"

#include <dirent.h>
#include <errno.h>

int kc_apply_file(kc_client *client, const char *path, const kc_apply_opts *opts, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (kc_file_read(path, KC_APPLY_MAX_TEXT, &text, err) < 0)
        return -1;
    return kc_apply_sources(client, &(kc_apply_source){path, kc_buf_str(&text)}, 1, opts, err);
}

/* ---- folders ---- */

typedef KC_VEC(kc_apply_source) sources;

static void sources_done(sources *all)
{
    kc_vec_each (all, s) {
        free((char *)s->name);
        free((char *)s->text.p);
    }
    kc_vec_done(all);
}

static bool is_manifest(const char *name)
{
    const kc_str n = kc_cstr(name);
    return name[0] != '.' && (kc_str_ends(n, KC_STR(".yaml")) || kc_str_ends(n, KC_STR(".yml")) ||
                              kc_str_ends(n, KC_STR(".json")));
}

static int by_name(const void *a, const void *b)
{
    const kc_apply_source *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static int find_files(const char *path, sources *all, kc_error *err)
{
    DIR *dir = opendir(path);
    if (!dir)
        return kc_error_set(err, errno == ENOENT ? KC_NOT_FOUND : KC_BAD_REQUEST,
                            "cannot open the folder %s: %s", path, strerror(errno));
    for (const struct dirent *entry; all->n <= KC_APPLY_MAX_FILES && (entry = readdir(dir));)
        if (is_manifest(entry->d_name))
            kc_vec_push(all, (kc_apply_source){.name = kc_asprintf("%s/%s", path, entry->d_name)});
    closedir(dir);
    kc_vec_sort(all, by_name);
    if (all->n > KC_APPLY_MAX_FILES)
        return kc_error_set(err, KC_TOO_LARGE, "%s has more than %u files", path,
                            KC_APPLY_MAX_FILES);
    return all->n ? 0
                  : kc_error_set(err, KC_NOT_FOUND, "%s has no file *.yaml, *.yml or *.json", path);
}

static int read_files(const char *path, sources *all, kc_error *err)
{
    size_t left = KC_APPLY_MAX_FOLDER;
    kc_vec_each (all, s) {
        kc_scoped(kc_buf) text = {0};
        if (kc_file_read(s->name, KC_APPLY_MAX_TEXT, &text, err) < 0)
            return -1;
        if (text.n > left)
            return kc_error_set(err, KC_TOO_LARGE, "%s has files of more than %zu bytes", path,
                                KC_APPLY_MAX_FOLDER);
        left -= text.n;
        s->text.n = text.n;
        s->text.p = kc_buf_take(&text);
    }
    return 0;
}

int kc_apply_folder(kc_client *client, const char *path, const kc_apply_opts *opts, kc_error *err)
{
    kc_scoped(sources) all = {0};
    if (find_files(path, &all, err) < 0 || read_files(path, &all, err) < 0)
        return -1;
    return kc_apply_sources(client, all.items, all.n, opts, err);
}
