/* SPDX-License-Identifier: Apache-2.0 */
/*
 * execute.c: executes a plan (plan.h) in a directory.
 *
 *     values ──▶ files of the parts ──▶ lines at markers ──▶ PROJECT
 *
 * PROJECT is written last: a command that failed half-way can be repeated; it finds its earlier
 * files unchanged and continues.
 */
#include "scaffold/execute.h"

#include "scaffold/files.h"
#include "scaffold/insert.h"

void kc__scaffold_report(const kc__scaffold *s, kc__scaffold_report_kind what, const char *path,
                         const char *lines)
{
    if (s->report)
        s->report(what, path, lines, s->user);
}

/* ---- one file ---- */

/* `former` (may be NULL) may be replaced without force. */
static int scaffold_execute_put_file(const kc__scaffold *s, const kc__scaffold_planned_file *file,
                                     const char *path, kc_str text, kc_str former, kc_error *err)
{
    kc_scoped(kc_buf) now = {0};
    const int there = kc__scaffold_dir_read(s->dir, path, &now, err);
    if (there < 0)
        return there;
    const bool same = there && kc_str_eq(kc_buf_str(&now), text);
    const bool replaceable = s->force || (former.n && kc_str_eq(kc_buf_str(&now), former));
    if (same || (there && file->shared))
        return 0;
    if (there && !replaceable) {
        kc__scaffold_report(s, KC__SCAFFOLD_REPORT_SKIPPED, path, NULL);
        return 0;
    }
    if (kc__scaffold_dir_write(s->dir, path, text, err) < 0)
        return kc_error_result(err);
    kc__scaffold_report(s, there ? KC__SCAFFOLD_REPORT_REPLACED : KC__SCAFFOLD_REPORT_CREATED, path,
                        NULL);
    return 0;
}

int kc__scaffold_write_file(const kc__scaffold *s, const char *path, kc_str text, kc_error *err)
{
    return scaffold_execute_put_file(s, &(kc__scaffold_planned_file){0}, path, text, (kc_str){0},
                                     err);
}

static int expand(const char *source, kc__scaffold_template_values values, kc_buf *out,
                  kc_error *err)
{
    const kc__scaffold_template *found = kc__scaffold_template_find(source);
    if (!found)
        return kc_error_set(err, KC_INTERNAL, "template %s not found", source);
    if (kc__scaffold_template_expand(found->text, values, out, err) < 0)
        return kc_error_wrap(err, "template %s", source);
    return 0;
}

static int put_planned(const kc__scaffold *s, const kc__scaffold_planned_file *file,
                       kc__scaffold_template_values values, kc_error *err)
{
    kc_scoped(kc_buf) path = {0}, text = {0}, former = {0};
    if (expand(file->source, values, &text, err) < 0 ||
        (file->former && expand(file->former, values, &former, err) < 0) ||
        kc__scaffold_template_expand(kc_cstr(file->path), values, &path, err) < 0)
        return kc_error_result(err);
    return scaffold_execute_put_file(s, file, kc_buf_cstr(&path), kc_buf_str(&text),
                                     kc_buf_str(&former), err);
}

/* ---- lines at markers ---- */

/* Lines that users edit are found by their first one. */
static bool has_them(const kc__scaffold_planned_lines *planned, kc_str text, kc_str lines)
{
    const kc_str first = kc_str_cut(&lines, '\n');
    return planned->once && kc_str_contains(text, first);
}

static int insert_planned(const kc__scaffold *s, const kc__scaffold_planned_lines *planned,
                          kc__scaffold_template_values values, kc_buf *last_reported, kc_error *err)
{
    kc_scoped(kc_buf) path = {0}, lines = {0}, text = {0}, changed = {0};
    const kc__scaffold_template *source =
        planned->source ? kc__scaffold_template_find(planned->source) : NULL;
    const kc_str more = source ? source->text : kc_cstr(planned->lines);
    if (kc__scaffold_template_expand(more, values, &lines, err) < 0 ||
        kc__scaffold_template_expand(kc_cstr(planned->path), values, &path, err) < 0)
        return kc_error_wrap(err, "lines for %s", planned->path);
    const char *name = kc_buf_cstr(&path);
    if (kc__scaffold_dir_read(s->dir, name, &text, err) < 0)
        return kc_error_result(err);
    if (has_them(planned, kc_buf_str(&text), kc_buf_str(&lines)))
        return 0;
    switch (kc__scaffold_insert_at_marker(kc_buf_str(&text), planned->marker, kc_buf_str(&lines),
                                          &changed)) {
    case KC__SCAFFOLD_INSERT_PRESENT: return 0;
    case KC__SCAFFOLD_INSERT_NO_MARKER:
        kc__scaffold_report(s, KC__SCAFFOLD_REPORT_NO_MARKER, name, kc_buf_cstr(&lines));
        return 0;
    case KC__SCAFFOLD_INSERTED: break;
    }
    if (kc__scaffold_dir_write(s->dir, name, kc_buf_str(&changed), err) < 0)
        return kc_error_result(err);
    if (!kc_str_eq(kc_buf_str(last_reported), kc_buf_str(&path)))
        kc__scaffold_report(s, KC__SCAFFOLD_REPORT_INSERTED, name, NULL);
    kc_buf_clear(last_reported);
    kc_buf_append(last_reported, kc_buf_str(&path));
    return 0;
}

/* ---- directories ---- */

static bool is_there(const kc__scaffold *s, const char *path)
{
    kc_scoped(kc_buf) text = {0};
    return kc__scaffold_dir_read(s->dir, path, &text, NULL) > 0;
}

/* Existing files decide; new ones follow the project's setting. So users may move files, or not,
 * after the setting has changed. */
static bool is_grouped(const kc__scaffold *s, const kc__scaffold_project_file *project,
                       const char *dir, kc_str group, const char *file)
{
    kc_autofree char *flat = kc_asprintf("%s/%s", dir, file);
    kc_autofree char *grouped = kc_asprintf("%s/%.*s/%s", dir, KC_ARG(group), file);
    if (is_there(s, flat))
        return false;
    return is_there(s, grouped) || kc__scaffold_project_multigroup(project);
}

static void put_place(kc__scaffold_values *values, const char *dir, bool grouped, kc_str group)
{
    kc_autofree char *path = grouped ? kc_asprintf("%s/%.*s", dir, KC_ARG(group)) : kc_strdup(dir);
    kc__scaffold_values_put(values, dir, kc_cstr(path));
}

void kc__scaffold_write_targets(const kc__scaffold *s, const kc__scaffold_project_file *project,
                                const kc__scaffold_resource *resource, kc__scaffold_values *values)
{
    const kc_str group = resource->group;
    kc_autofree char *controller =
        kc_asprintf("%s_controller.c", kc__scaffold_values_get(values, "id"));
    kc_autofree char *webhook =
        kc_asprintf("%s_webhook.c", kc__scaffold_values_get(values, "hook"));
    kc_autofree char *test = kc_asprintf("%s_test.c", kc__scaffold_values_get(values, "id"));
    put_place(values, "controllers", is_grouped(s, project, "controllers", group, controller),
              group);
    put_place(values, "tests", is_grouped(s, project, "tests", group, test), group);
    put_place(values, "webhooks", is_grouped(s, project, "webhooks", group, webhook), group);
}

/* ---- a plan ---- */

static int carry_parts(const kc__scaffold *s, unsigned parts, kc__scaffold_template_values with,
                       kc_error *err)
{
    kc_scoped(kc_buf) last_reported = {0}; /* A file that changes twice is reported once. */
    for (size_t i = 0; i < kc__scaffold_n_planned_files; i++)
        if ((kc__scaffold_planned_files[i].part & parts) &&
            put_planned(s, &kc__scaffold_planned_files[i], with, err) < 0)
            return kc_error_result(err);
    for (size_t i = 0; i < kc__scaffold_n_planned_lines; i++)
        if ((kc__scaffold_planned_lines_of[i].part & parts) &&
            insert_planned(s, &kc__scaffold_planned_lines_of[i], with, &last_reported, err) < 0)
            return kc_error_result(err);
    return 0;
}

static int carry_with(const kc__scaffold *s, const kc__scaffold_execution *what, unsigned parts,
                      const kc__scaffold_values_opts *opts, kc_error *err)
{
    kc__scaffold_values values;
    kc__scaffold_values_fill(&values, what->project, what->resource, opts);
    if (what->resource)
        kc__scaffold_write_targets(s, what->project, what->resource, &values);
    const int done = carry_parts(s, parts, kc__scaffold_values_of(&values), err);
    kc__scaffold_values_done(&values);
    return done;
}

static int write_project(const kc__scaffold *s, const kc__scaffold_project_file *project,
                         kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (kc__scaffold_project_write(project, &text, err) < 0)
        return kc_error_result(err);
    return kc__scaffold_dir_write(s->dir, "PROJECT", kc_buf_str(&text), err);
}

int kc__scaffold_execute(const kc__scaffold *s, const kc__scaffold_execution *what, kc_error *err)
{
    kc_scoped(kc_buf) license = {0};
    if (kc__scaffold_dir_read(s->dir, KC__SCAFFOLD_BOILERPLATE, &license, err) < 0)
        return kc_error_result(err);
    if (what->resource)
        kc__scaffold_project_put(what->project, what->resource);
    kc__scaffold_values_opts opts = {.license = kc_buf_str(&license),
                                     .controller = what->controller};
    if (carry_with(s, what, what->parts, &opts, err) < 0)
        return kc_error_result(err);
    for (size_t i = 0; i < what->spokes.n; i++) {
        opts.spoke = what->spokes.items[i];
        if (carry_with(s, what, KC__SCAFFOLD_PART_SPOKE, &opts, err) < 0)
            return kc_error_result(err);
    }
    return write_project(s, what->project, err);
}
