/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_project.c: markers that may stand anywhere: what a controller may do, which webhooks there
 * are.
 *
 * They stand beside the code they are about, in .c files that need a whole build to be parsed; a
 * comment needs none. Folders of builds, of dependencies and hidden ones are passed over, and files
 * too large to be written by hand.
 */
#include "generate/read_internal.h"

#include "kc/file.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

enum { MAX_FOLDER_DEPTH = 16, MAX_FILES = 20000 };

static void append(kc__gen_markers *list, const kc__gen_marker *marker, kc_arena *arena)
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

/* Only what begins as one of ours is read here: other markers are checked where types are. */
static bool may_be_ours(kc_str line)
{
    return kc_str_starts(line, KC_STR("+kubebuilder:rbac")) ||
           kc_str_starts(line, KC_STR("+kubebuilder:webhook"));
}

int kc__read_project_text(kc_str text, const char *display, kc__gen_model *model, kc_error *err)
{
    kc_scoped(kc_arena) scratch = {0};
    kc__comments comments;
    int failed = 0;
    kc__comments_scan(&comments, text, &scratch);
    for (size_t i = 0; i < comments.n_lines; i++) {
        const kc__comment_line *line = &comments.lines[i];
        kc__gen_marker marker;
        if (!may_be_ours(kc_str_trim(line->text)))
            continue;
        const kc__gen_at at = {display, line->line, line->column};
        const int read =
            kc__marker_parse(line->text, at, KC__ON_ANYTHING, &model->arena, &marker, err);
        if (read < 0)
            failed = read;
        if (read > 0 && list_for(model, marker.name))
            append(list_for(model, marker.name), &marker, &model->arena);
    }
    return failed;
}

/* ---- files ---- */

/* A walk over a project. */
typedef struct walk {
    kc__gen_model *model;
    size_t n_files;
    kc_error *err;
    bool failed;
} walk;

static int read_one(walk *w, const char *path, kc_str display)
{
    kc_scoped(kc_buf) text = {0};
    if (kc_file_read(path, KC__GEN_MAX_FILE, &text, w->err) < 0)
        return -1;
    const char *name = kc_arena_strndup(&w->model->arena, display.p, display.n);
    if (kc__read_project_text(kc_buf_str(&text), name, w->model, w->err) < 0)
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

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int walk_folder(walk *w, const char *path, const char *display, unsigned depth);

static int walk_entry(walk *w, const char *path, const char *display, const char *name,
                      unsigned depth)
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

static int walk_folder(walk *w, const char *path, const char *display, unsigned depth)
{
    struct dirent **entries = NULL;
    const int n = scandir(path, &entries, NULL, by_name);
    int done = n < 0 ? kc_error_set(w->err, KC_NOT_FOUND, "%s: %s", path, strerror(errno)) : 0;
    for (int i = 0; i < n; i++) {
        if (done == 0)
            done = walk_entry(w, path, display, entries[i]->d_name, depth);
        free(entries[i]);
    }
    free(entries);
    return done;
}

int kc__read_project(const char *folder, kc__gen_model *model, kc_error *err)
{
    walk w = {.model = model, .err = err};
    const int done = walk_folder(&w, folder, strcmp(folder, ".") ? folder : "", 0);
    if (done < 0)
        return done;
    return w.failed ? -KC_INVALID : 0;
}
