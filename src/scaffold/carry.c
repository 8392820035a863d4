/* SPDX-License-Identifier: Apache-2.0 */
/*
 * carry.c: carries out a plan (plan.h) in a folder.
 *
 *     values ──▶ files of the parts ──▶ lines at markers ──▶ PROJECT
 *
 * PROJECT is written last: a command that failed half-way can be given again, finds what it wrote
 * before as it would write it, and goes on.
 */
#include "scaffold/carry.h"

#include "scaffold/files.h"
#include "scaffold/insert.h"

void kc__say(const kc__scaffold *s, kc__said what, const char *path, const char *lines)
{
    if (s->say)
        s->say(what, path, lines, s->user);
}

/* ---- one file ---- */

/* `former` (may be NULL) is what may be replaced without force. */
static int put_file(const kc__scaffold *s, const kc__planned_file *file, const char *path,
                    kc_str text, kc_str former, kc_error *err)
{
    kc_scoped(kc_buf) now = {0};
    const int there = kc__folder_read(s->folder, path, &now, err);
    if (there < 0)
        return there;
    const bool same = there && kc_str_eq(kc_buf_str(&now), text);
    const bool replaceable = s->force || (former.n && kc_str_eq(kc_buf_str(&now), former));
    if (same || (there && file->shared))
        return 0;
    if (there && !replaceable) {
        kc__say(s, KC__SAID_LEFT, path, NULL);
        return 0;
    }
    if (kc__folder_write(s->folder, path, text, err) < 0)
        return -1;
    kc__say(s, there ? KC__SAID_REPLACED : KC__SAID_CREATED, path, NULL);
    return 0;
}

int kc__put_file(const kc__scaffold *s, const char *path, kc_str text, kc_error *err)
{
    return put_file(s, &(kc__planned_file){0}, path, text, (kc_str){0}, err);
}

static int expand(const char *source, kc__template_values values, kc_buf *out, kc_error *err)
{
    const kc__template *found = kc__template_find(source);
    if (!found)
        return kc_error_set(err, KC_INTERNAL, "there is no template %s", source);
    if (kc__template_expand(found->text, values, out, err) < 0)
        return kc_error_wrap(err, "template %s", source);
    return 0;
}

static int put_planned(const kc__scaffold *s, const kc__planned_file *file,
                       kc__template_values values, kc_error *err)
{
    kc_scoped(kc_buf) path = {0}, text = {0}, former = {0};
    if (expand(file->source, values, &text, err) < 0 ||
        (file->former && expand(file->former, values, &former, err) < 0) ||
        kc__template_expand(kc_cstr(file->path), values, &path, err) < 0)
        return -1;
    return put_file(s, file, kc_buf_cstr(&path), kc_buf_str(&text), kc_buf_str(&former), err);
}

/* ---- lines of one ---- */

/* Lines that people go on working at are found by their first. */
static bool has_them(const kc__planned_lines *planned, kc_str text, kc_str lines)
{
    const kc_str first = kc_str_cut(&lines, '\n');
    return planned->once && kc_str_contains(text, first);
}

static int insert_planned(const kc__scaffold *s, const kc__planned_lines *planned,
                          kc__template_values values, kc_buf *last_said, kc_error *err)
{
    kc_scoped(kc_buf) path = {0}, lines = {0}, text = {0}, changed = {0};
    const kc__template *source = planned->source ? kc__template_find(planned->source) : NULL;
    const kc_str more = source ? source->text : kc_cstr(planned->lines);
    if (kc__template_expand(more, values, &lines, err) < 0 ||
        kc__template_expand(kc_cstr(planned->path), values, &path, err) < 0)
        return kc_error_wrap(err, "lines for %s", planned->path);
    const char *name = kc_buf_cstr(&path);
    if (kc__folder_read(s->folder, name, &text, err) < 0)
        return -1;
    if (has_them(planned, kc_buf_str(&text), kc_buf_str(&lines)))
        return 0;
    switch (
        kc__insert_at_marker(kc_buf_str(&text), planned->marker, kc_buf_str(&lines), &changed)) {
    case KC__INSERT_PRESENT: return 0;
    case KC__INSERT_NO_MARKER: kc__say(s, KC__SAID_NO_MARKER, name, kc_buf_cstr(&lines)); return 0;
    case KC__INSERTED: break;
    }
    if (kc__folder_write(s->folder, name, kc_buf_str(&changed), err) < 0)
        return -1;
    if (!kc_str_eq(kc_buf_str(last_said), kc_buf_str(&path)))
        kc__say(s, KC__SAID_INSERTED, name, NULL);
    kc_buf_clear(last_said);
    kc_buf_append(last_said, kc_buf_str(&path));
    return 0;
}

/* ---- places ---- */

static bool is_there(const kc__scaffold *s, const char *path)
{
    kc_scoped(kc_buf) text = {0};
    return kc__folder_read(s->folder, path, &text, NULL) > 0;
}

/* What is there decides; what is not there yet goes where the project's setting says. So people
 * may move files, or not, after the setting has changed. */
static bool is_grouped(const kc__scaffold *s, const kc__project *project, const char *folder,
                       kc_str group, const char *file)
{
    kc_autofree char *flat = kc_asprintf("%s/%s", folder, file);
    kc_autofree char *grouped = kc_asprintf("%s/%.*s/%s", folder, KC_ARG(group), file);
    if (is_there(s, flat))
        return false;
    return is_there(s, grouped) || kc__project_multigroup(project);
}

static void put_place(kc__values *values, const char *folder, bool grouped, kc_str group)
{
    kc_autofree char *path =
        grouped ? kc_asprintf("%s/%.*s", folder, KC_ARG(group)) : kc_strdup(folder);
    kc__values_put(values, folder, kc_cstr(path));
}

void kc__put_places(const kc__scaffold *s, const kc__project *project, const kc__resource *resource,
                    kc__values *values)
{
    const kc_str group = resource->group;
    kc_autofree char *controller = kc_asprintf("%s_controller.c", kc__values_get(values, "id"));
    kc_autofree char *webhook = kc_asprintf("%s_webhook.c", kc__values_get(values, "hook"));
    kc_autofree char *test = kc_asprintf("%s_test.c", kc__values_get(values, "id"));
    put_place(values, "controllers", is_grouped(s, project, "controllers", group, controller),
              group);
    put_place(values, "tests", is_grouped(s, project, "tests", group, test), group);
    put_place(values, "webhooks", is_grouped(s, project, "webhooks", group, webhook), group);
}

/* ---- a plan ---- */

static int carry_parts(const kc__scaffold *s, unsigned parts, kc__template_values with,
                       kc_error *err)
{
    kc_scoped(kc_buf) last_said = {0}; /* A file that changes twice is named once. */
    for (size_t i = 0; i < kc__n_planned_files; i++)
        if ((kc__planned_files[i].part & parts) &&
            put_planned(s, &kc__planned_files[i], with, err) < 0)
            return -1;
    for (size_t i = 0; i < kc__n_planned_lines; i++)
        if ((kc__planned_lines_of[i].part & parts) &&
            insert_planned(s, &kc__planned_lines_of[i], with, &last_said, err) < 0)
            return -1;
    return 0;
}

static int carry_with(const kc__scaffold *s, const kc__carrying *what, unsigned parts,
                      const kc__values_opts *opts, kc_error *err)
{
    kc__values values;
    kc__values_fill(&values, what->project, what->resource, opts);
    if (what->resource)
        kc__put_places(s, what->project, what->resource, &values);
    const int done = carry_parts(s, parts, kc__values_of(&values), err);
    kc__values_done(&values);
    return done;
}

static int write_project(const kc__scaffold *s, const kc__project *project, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (kc__project_write(project, &text, err) < 0)
        return -1;
    return kc__folder_write(s->folder, "PROJECT", kc_buf_str(&text), err);
}

int kc__carry_out(const kc__scaffold *s, const kc__carrying *what, kc_error *err)
{
    kc_scoped(kc_buf) license = {0};
    if (kc__folder_read(s->folder, KC__BOILERPLATE, &license, err) < 0)
        return -1;
    if (what->resource)
        kc__project_put(what->project, what->resource);
    kc__values_opts opts = {.license = kc_buf_str(&license), .controller = what->controller};
    if (carry_with(s, what, what->parts, &opts, err) < 0)
        return -1;
    for (size_t i = 0; i < what->spokes.n; i++) {
        opts.spoke = what->spokes.items[i];
        if (carry_with(s, what, KC__PART_SPOKE, &opts, err) < 0)
            return -1;
    }
    return write_project(s, what->project, err);
}
