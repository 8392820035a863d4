/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_project.c: reads markers that may be anywhere in a project: RBAC rules and webhooks.
 *
 * They are in .c files, which only a whole build could parse; comments need no parser. Build
 * directories, dependencies, hidden directories and very large files are skipped.
 */
#include "generate/read/read_internal.h"

#include "kc/file.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

enum { MAX_FOLDER_DEPTH = 16, MAX_FILES = 20000 };

static void gen_read_project_append(kc__gen_markers *list, const kc__gen_marker *marker,
                                    kc_arena *arena)
{
    /* Room doubles at each power of two. */
    if ((list->n & (list->n - 1)) == 0) {
        kc__gen_marker *more =
            kc_arena_alloc(arena, (list->n ? 2 * list->n : 1) * sizeof(kc__gen_marker));
        if (list->n)
            memcpy(more, list->items, list->n * sizeof(kc__gen_marker));
        list->items = more;
    }
    ((kc__gen_marker *)list->items)[list->n++] = *marker;
}

static kc__gen_markers *list_for(kc__gen_model *model, kc_str name)
{
    if (kc_str_is(name, "kubebuilder:rbac"))
        return &model->rbac;
    if (kc_str_is(name, "kubebuilder:webhook") ||
        kc_str_is(name, "kubebuilder:webhookconfiguration"))
        return &model->webhooks;
    return NULL;
}

/* Only known prefixes are read here: other markers are checked with their types. */
static bool may_be_ours(kc_str line)
{
    return kc_str_starts(line, KC_STR("+kubebuilder:rbac")) ||
           kc_str_starts(line, KC_STR("+kubebuilder:webhook"));
}

int kc__gen_read_project_text(kc_str text, const char *display, kc__gen_model *model, kc_error *err)
{
    kc_scoped(kc_arena) scratch = {0};
    kc__gen_comments comments;
    int failed = 0;
    kc__gen_comments_scan(&comments, text, &scratch);
    for (size_t i = 0; i < comments.n_lines; i++) {
        const kc__gen_comment_line *line = &comments.lines[i];
        kc__gen_marker marker;
        if (!may_be_ours(kc_str_trim(line->text)))
            continue;
        const kc__gen_at at = {display, line->line, line->column};
        const int read =
            kc__gen_marker_parse(line->text, at, KC__GEN_SCOPE_ANY, &model->arena, &marker, err);
        if (read < 0)
            failed = read;
        if (read > 0 && list_for(model, marker.name))
            gen_read_project_append(list_for(model, marker.name), &marker, &model->arena);
    }
    return failed;
}

/* ---- files ---- */

/* The state of a walk over a project. */
typedef struct gen_read_project_walk {
    kc__gen_model *model;
    size_t n_files;
    kc_error *err;
    bool failed;
} gen_read_project_walk;

static int read_one(gen_read_project_walk *w, const char *path, kc_str display)
{
    kc_scoped(kc_buf) text = {0};
    if (kc_file_read(path, KC__GEN_MAX_FILE, &text, w->err) < 0)
        return -1;
    const char *name = kc_arena_strndup(&w->model->arena, display.p, display.n);
    if (kc__gen_read_project_text(kc_buf_str(&text), name, w->model, w->err) < 0)
        w->failed = true;
    return 0;
}

static bool is_passed_over(const char *name)
{
    static const char *const names[] = {"build", "node_modules", "vendor", "third_party"};
    for (size_t i = 0; i < KC_COUNT(names); i++)
        if (!strcmp(name, names[i]))
            return true;
    return name[0] == '.';
}

static int gen_read_project_by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int walk_folder(gen_read_project_walk *w, const char *path, const char *display,
                       unsigned depth);

static int walk_entry(gen_read_project_walk *w, const char *path, const char *display,
                      const char *name, unsigned depth)
{
    struct stat info;
    kc_autofree char *below = kc_asprintf("%s/%s", path, name);
    kc_autofree char *shown = *display ? kc_asprintf("%s/%s", display, name) : kc_strdup(name);
    if (is_passed_over(name) || lstat(below, &info) < 0)
        return 0;
    if (S_ISDIR(info.st_mode))
        return depth < MAX_FOLDER_DEPTH ? walk_folder(w, below, shown, depth + 1) : 0;
    const kc_str text = kc_cstr(name);
    if (!S_ISREG(info.st_mode) || info.st_size > (off_t)KC__GEN_MAX_FILE ||
        !(kc_str_ends(text, KC_STR(".c")) || kc_str_ends(text, KC_STR(".h"))))
        return 0;
    if (++w->n_files > MAX_FILES)
        return kc_error_set(w->err, KC_TOO_LARGE, "the project has more than %d C files",
                            MAX_FILES);
    return read_one(w, below, kc_cstr(shown));
}

static int walk_folder(gen_read_project_walk *w, const char *path, const char *display,
                       unsigned depth)
{
    struct dirent **entries = NULL;
    const int n = scandir(path, &entries, NULL, gen_read_project_by_name);
    int done = n < 0 ? kc_error_set(w->err, KC_NOT_FOUND, "%s: %s", path, strerror(errno)) : 0;
    for (int i = 0; i < n; i++) {
        if (done == 0)
            done = walk_entry(w, path, display, entries[i]->d_name, depth);
        free(entries[i]);
    }
    free(entries);
    return done;
}

int kc__gen_read_project(const char *dir, kc__gen_model *model, kc_error *err)
{
    gen_read_project_walk w = {.model = model, .err = err};
    const int done = walk_folder(&w, dir, strcmp(dir, ".") ? dir : "", 0);
    if (done < 0)
        return done;
    return w.failed ? kc_error_result(err) : 0;
}
