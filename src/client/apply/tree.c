/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.c: walks a directory and lists its manifests.
 *
 * Links are followed, because a volume of a ConfigMap consists of them:
 *
 *     a.yaml ─▶ ..data/a.yaml       ..data ─▶ ..2025_11_17_08_30_00.1234/
 *
 * The names that start with dots are skipped, so each file is found once, and a swap of ..data
 * replaces all files at once. A cycle of links ends at a directory that was read before.
 *
 * An entry that cannot be read is part of the result, with its error: the caller must not take a
 * broken file for a deleted one. The number of entries, files, directories and levels is limited,
 * so that a link to / costs a bounded time.
 */
#include "client/apply/apply_tree.h"

#include "kc/apply.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct tree_directory {
    dev_t device;
    ino_t inode;
} tree_directory;

typedef struct tree_walk {
    const char *root;
    kc__apply_tree_opts opts;
    kc__apply_tree *tree;
    size_t entries;
    KC_VEC(tree_directory) seen;
} tree_walk;

static void tree_walk_done(tree_walk *w)
{
    kc_vec_done(&w->seen);
}

bool kc__apply_tree_is_manifest(const char *name)
{
    const kc_str n = kc_cstr(name);
    return name[0] != '.' && (kc_str_ends(n, KC_STR(".yaml")) || kc_str_ends(n, KC_STR(".yml")) ||
                              kc_str_ends(n, KC_STR(".json")));
}

void kc__apply_tree_done(kc__apply_tree *tree)
{
    kc_vec_each (&tree->files, f) {
        free(f->path);
        kc_error_done(&f->err);
    }
    kc_vec_done(&tree->files);
}

/* ---- limits ---- */

static int tree_too_large(const tree_walk *w, unsigned limit, const char *what, kc_error *err)
{
    return kc_error_set(err, KC_TOO_LARGE, "%s has more than %u %s", w->root, limit, what);
}

static int count_entry(tree_walk *w, kc_error *err)
{
    if (w->entries++ < KC__APPLY_TREE_MAX_ENTRIES)
        return 0;
    return tree_too_large(w, KC__APPLY_TREE_MAX_ENTRIES, "entries", err);
}

/* Returns 1 if the directory was read before. */
static int count_directory(tree_walk *w, const struct stat *at, kc_error *err)
{
    kc_vec_each (&w->seen, d)
        if (d->device == at->st_dev && d->inode == at->st_ino)
            return 1;
    if (w->seen.n == KC__APPLY_TREE_MAX_DIRS)
        return tree_too_large(w, KC__APPLY_TREE_MAX_DIRS, "subdirectories", err);
    kc_vec_push(&w->seen, (tree_directory){at->st_dev, at->st_ino});
    return 0;
}

/* ---- entries ---- */

/* Takes the path and the error. */
static int tree_add_file(tree_walk *w, char *path, kc_error *why, kc_error *err)
{
    kc__apply_tree_file *file = kc_vec_add(&w->tree->files);
    file->path = path;
    if (why)
        kc_error_move(&file->err, why);
    if (w->tree->files.n <= KC_APPLY_MAX_FILES)
        return 0;
    return tree_too_large(w, KC_APPLY_MAX_FILES, "manifests", err);
}

static int add_unreadable(tree_walk *w, const char *path, const char *problem, int number,
                          kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    struct stat at;
    const bool vanished = number == ENOENT && lstat(path, &at) < 0 && errno == ENOENT;
    kc_error_set(&why, vanished ? KC_NOT_FOUND : KC_BAD_REQUEST, "%s%s%s", problem,
                 number ? ": " : "", number ? strerror(number) : "");
    return tree_add_file(w, kc_strdup(path), &why, err);
}

static int walk_directory(tree_walk *w, const char *path, unsigned depth, kc_error *err);

static int walk_subdirectory(tree_walk *w, const char *path, unsigned depth, kc_error *err)
{
    if (!w->opts.recursive)
        return 0;
    if (depth >= KC__APPLY_TREE_MAX_DEPTH)
        return tree_too_large(w, KC__APPLY_TREE_MAX_DEPTH, "levels of subdirectories", err);
    return walk_directory(w, path, depth + 1, err);
}

static int visit_entry(tree_walk *w, const char *dir, const struct dirent *entry, unsigned depth,
                       kc_error *err)
{
    const bool manifest = kc__apply_tree_is_manifest(entry->d_name);
    const bool plain = entry->d_type == DT_REG;
    if (entry->d_name[0] == '.' || (plain && !manifest))
        return 0;
    kc_autofree char *path = kc_asprintf("%s/%s", dir, entry->d_name);
    struct stat at = {0};
    if (!plain && stat(path, &at) < 0)
        return manifest ? add_unreadable(w, path, "cannot read the file", errno, err) : 0;
    if (S_ISDIR(at.st_mode))
        return walk_subdirectory(w, path, depth, err);
    if (!manifest)
        return 0;
    if (!plain && !S_ISREG(at.st_mode))
        return add_unreadable(w, path, "not a regular file", 0, err);
    return tree_add_file(w, kc_take(path), NULL, err);
}

/* ---- directories ---- */

static int cannot_open(tree_walk *w, const char *path, unsigned depth, int number, kc_error *err)
{
    if (depth)
        return add_unreadable(w, path, "cannot open the directory", number, err);
    return kc_error_set(err, number == ENOENT ? KC_NOT_FOUND : KC_BAD_REQUEST,
                        "cannot open directory %s: %s", path, strerror(number));
}

static DIR *open_directory(const char *path, struct stat *ret_at)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    DIR *dir = fstat(fd, ret_at) == 0 ? fdopendir(fd) : NULL;
    if (!dir)
        close(fd);
    return dir;
}

static int walk_entries(tree_walk *w, DIR *dir, const char *path, unsigned depth, kc_error *err)
{
    for (const struct dirent *entry; (errno = 0, entry = readdir(dir));)
        if (count_entry(w, err) < 0 || visit_entry(w, path, entry, depth, err) < 0)
            return kc_error_result(err);
    return errno ? cannot_open(w, path, depth, errno, err) : 0;
}

static int walk_directory(tree_walk *w, const char *path, unsigned depth, kc_error *err)
{
    struct stat at;
    if (w->opts.enter)
        w->opts.enter(path, w->opts.user);
    DIR *dir = open_directory(path, &at);
    if (!dir)
        return cannot_open(w, path, depth, errno, err);
    if (!depth) {
        w->tree->device = at.st_dev;
        w->tree->inode = at.st_ino;
    }
    int r = count_directory(w, &at, err);
    if (r == 0)
        r = walk_entries(w, dir, path, depth, err);
    closedir(dir);
    return r < 0 ? r : 0;
}

static int tree_by_path(const void *a, const void *b)
{
    const kc__apply_tree_file *x = a, *y = b;
    return strcmp(x->path, y->path);
}

int kc__apply_tree_read(const char *path, const kc__apply_tree_opts *opts, kc__apply_tree *ret,
                        kc_error *err)
{
    kc_scoped(kc__apply_tree) tree = {0};
    kc_scoped(tree_walk) w = {
        .root = path, .opts = opts ? *opts : (kc__apply_tree_opts){0}, .tree = &tree};
    if (walk_directory(&w, path, 0, err) < 0)
        return kc_error_result(err);
    kc_vec_sort(&tree.files, tree_by_path);
    *ret = tree;
    tree = (kc__apply_tree){0};
    return 0;
}
