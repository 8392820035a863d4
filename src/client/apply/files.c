/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.c: reads files and directories. The files of a directory are sorted by name, byte by byte,
 * so that the order is the same on every machine. All of them must be readable: an apply of a part
 * of a directory is a mistake that the caller does not see.
 */
#include "client/apply/apply_internal.h"

#include "client/apply/apply_tree.h"
#include "kc/file.h"

int kc_apply_file(kc_client *client, const char *path, const kc_apply_opts *opts, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (kc_file_read(path, KC_APPLY_MAX_TEXT, &text, err) < 0)
        return kc_error_result(err);
    return kc_apply_sources(client, &(kc_apply_source){path, kc_buf_str(&text)}, 1, opts, err);
}

/* ---- directories ---- */

typedef KC_VEC(kc_apply_source) apply_files_sources;

static void apply_files_sources_done(apply_files_sources *all)
{
    kc_vec_each (all, s)
        free((char *)s->text.p);
    kc_vec_done(all);
}

/* The sources borrow their names from the tree. */
static int read_files(const char *path, const kc__apply_tree *tree, apply_files_sources *all,
                      kc_error *err)
{
    size_t left = KC_APPLY_MAX_DIR;
    kc_vec_each (&tree->files, file) {
        kc_scoped(kc_buf) text = {0};
        if (file->err.reason)
            return kc_error_set(err, file->err.reason, "%s: %s", file->path,
                                kc_error_text(&file->err));
        if (kc_file_read(file->path, KC_APPLY_MAX_TEXT, &text, err) < 0)
            return kc_error_result(err);
        if (text.n > left)
            return kc_error_set(err, KC_TOO_LARGE, "%s has files of more than %zu bytes", path,
                                KC_APPLY_MAX_DIR);
        left -= text.n;
        const size_t n = text.n;
        kc_vec_push(all, (kc_apply_source){file->path, kc_str_of(kc_buf_take(&text), n)});
    }
    return 0;
}

int kc_apply_dir(kc_client *client, const char *path, const kc_apply_opts *opts, kc_error *err)
{
    kc_scoped(kc__apply_tree) tree = {0};
    kc_scoped(apply_files_sources) all = {0};
    if (kc__apply_tree_read(path, NULL, &tree, err) < 0)
        return kc_error_result(err);
    if (!tree.files.n)
        return kc_error_set(err, KC_NOT_FOUND, "%s has no file *.yaml, *.yml or *.json", path);
    if (read_files(path, &tree, &all, err) < 0)
        return kc_error_result(err);
    return kc_apply_sources(client, all.items, all.n, opts, err);
}
