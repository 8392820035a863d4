/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaffold.c: carries out a plan (plan.h) in a folder.
 *
 *     PROJECT ──▶ checks ──▶ values ──▶ files of the parts ──▶ lines at markers ──▶ PROJECT
 *
 * PROJECT is written last: a command that failed half-way can be given again, finds what it wrote
 * before as it would write it, and goes on.
 */
#include "scaffold/scaffold.h"

#include "scaffold/files.h"
#include "scaffold/insert.h"
#include "scaffold/names.h"
#include "scaffold/values.h"

#include <limits.h>
#include <unistd.h>

#define BOILERPLATE "hack/boilerplate.txt"

static void say(const kc__scaffold *s, kc__said what, const char *path, const char *lines)
{
    if (s->say)
        s->say(what, path, lines, s->user);
}

/* ---- one file ---- */

static int put_file(const kc__scaffold *s, const char *path, kc_str text, bool shared,
                    kc_error *err)
{
    kc_scoped(kc_buf) now = {0};
    const int there = kc__folder_read(s->folder, path, &now, err);
    if (there < 0)
        return there;
    const bool same = there && kc_str_eq(kc_buf_str(&now), text);
    if (same || (there && shared))
        return 0;
    if (there && !s->force) {
        say(s, KC__SAID_LEFT, path, NULL);
        return 0;
    }
    if (kc__folder_write(s->folder, path, text, err) < 0)
        return -1;
    say(s, there ? KC__SAID_REPLACED : KC__SAID_CREATED, path, NULL);
    return 0;
}

static int put_planned(const kc__scaffold *s, const kc__planned_file *file,
                       kc__template_values values, kc_error *err)
{
    const kc__template *source = kc__template_find(file->source);
    kc_scoped(kc_buf) path = {0}, text = {0};
    if (!source)
        return kc_error_set(err, KC_INTERNAL, "there is no template %s", file->source);
    if (kc__template_expand(source->text, values, &text, err) < 0 ||
        kc__template_expand(kc_cstr(file->path), values, &path, err) < 0)
        return kc_error_wrap(err, "template %s", file->source);
    return put_file(s, kc_buf_cstr(&path), kc_buf_str(&text), file->shared, err);
}

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
    case KC__INSERT_NO_MARKER: say(s, KC__SAID_NO_MARKER, name, kc_buf_cstr(&lines)); return 0;
    case KC__INSERTED: break;
    }
    if (kc__folder_write(s->folder, name, kc_buf_str(&changed), err) < 0)
        return -1;
    if (!kc_str_eq(kc_buf_str(last_said), kc_buf_str(&path)))
        say(s, KC__SAID_INSERTED, name, NULL);
    kc_buf_clear(last_said);
    kc_buf_append(last_said, kc_buf_str(&path));
    return 0;
}

/* ---- a plan ---- */

static int carry_out(const kc__scaffold *s, unsigned parts, const kc__values *values, kc_error *err)
{
    const kc__template_values with = kc__values_of(values);
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

static int write_project(const kc__scaffold *s, const kc__project *project, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (kc__project_write(project, &text, err) < 0)
        return -1;
    return kc__folder_write(s->folder, "PROJECT", kc_buf_str(&text), err);
}

/* The parts of a kind, which is in the project then. */
static int make_parts(const kc__scaffold *s, kc__project *project, const kc__resource *resource,
                      unsigned parts, kc_error *err)
{
    kc_scoped(kc_buf) license = {0};
    if (kc__folder_read(s->folder, BOILERPLATE, &license, err) < 0)
        return -1;
    kc__project_put(project, resource);
    kc__values values;
    kc__values_fill(&values, project, resource, kc_buf_str(&license));
    int done = carry_out(s, parts, &values, err);
    kc__values_done(&values);
    return done < 0 ? done : write_project(s, project, err);
}

/* ---- init ---- */

static int put_license(const kc__scaffold *s, const kc__init_opts *opts, kc_buf *ret, kc_error *err)
{
    const char *license = opts->license ? opts->license : "apache2";
    if (strcmp(license, "apache2") != 0 && strcmp(license, "none") != 0)
        return kc_error_set(err, KC_INVALID, "there is no license '%s': apache2 or none", license);
    if (!strcmp(license, "apache2"))
        kc_buf_puts(ret, "/* SPDX-License-Identifier: Apache-2.0 */\n");
    if (opts->owner && opts->year)
        kc_buf_printf(ret, "/* Copyright %d %s */\n", opts->year, opts->owner);
    else if (opts->owner)
        kc_buf_printf(ret, "/* Copyright %s */\n", opts->owner);
    return put_file(s, BOILERPLATE, kc_buf_str(ret), false, err);
}

/* The folder's name, made one that a project may have. */
static char *name_of_folder(const char *folder)
{
    char *full = realpath(folder, NULL);
    const char *slash = full ? strrchr(full, '/') : NULL;
    char *name = kc__lower_case(kc_cstr(slash ? slash + 1 : folder));
    for (char *c = name; *c; c++)
        if (*c == '_' || *c == '.' || *c == ' ')
            *c = '-';
    free(full);
    return name;
}

int kc__scaffold_init(const kc__scaffold *s, const kc__init_opts *opts, kc_error *err)
{
    kc_scoped(kc_buf) license = {0}, old = {0};
    kc_autofree char *name = opts->name ? kc_strdup(opts->name) : name_of_folder(s->folder);
    const char *domain = opts->domain ? opts->domain : "my.domain";
    if (kc__check_domain(domain, err) < 0 || kc__check_project_name(name, err) < 0)
        return -1;
    const int there = kc__folder_read(s->folder, "PROJECT", &old, err);
    if (there && !s->force)
        return there < 0 ? there
                         : kc_error_set(err, KC_ALREADY_EXISTS,
                                        "this folder is a project already (it has a PROJECT); "
                                        "'kc create api' adds a kind to it");
    kc_auto(kc__project) *project =
        kc__project_new(kc_cstr(name), kc_cstr(domain), kc_cstr(opts->repo));
    kc__project_set_multigroup(project, opts->multigroup);
    kc__project_set_namespaced(project, opts->namespaced);
    if (put_license(s, opts, &license, err) < 0)
        return -1;
    kc__values values;
    kc__values_fill(&values, project, NULL, kc_buf_str(&license));
    const int done = carry_out(s, KC__PART_PROJECT, &values, err);
    kc__values_done(&values);
    return done < 0 ? done : write_project(s, project, err);
}

/* ---- a project that is there ---- */

/* Says where the project is if this is a folder of it. */
static int no_project(const char *folder, kc_error *err)
{
    char path[PATH_MAX];
    if (!realpath(folder, path))
        return kc_error_set(err, KC_NOT_FOUND, "there is no folder %s", folder);
    for (char *slash = strrchr(path, '/'); slash && slash > path; slash = strrchr(path, '/')) {
        *slash = 0;
        kc_autofree char *above = kc_asprintf("%s/PROJECT", path);
        if (access(above, R_OK) == 0)
            return kc_error_set(err, KC_NOT_FOUND,
                                "there is no PROJECT in this folder; did you mean to be in %s?",
                                path);
    }
    return kc_error_set(err, KC_NOT_FOUND,
                        "there is no PROJECT in this folder; 'kc init --domain example.io' "
                        "makes a project");
}

kc__project *kc__scaffold_project(const kc__scaffold *s, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    const int there = kc__folder_read(s->folder, "PROJECT", &text, err);
    if (there == 0)
        no_project(s->folder, err);
    return there > 0 ? kc__project_parse(kc_buf_str(&text), err) : NULL;
}

static int check_names(const char *group, const char *version, const char *kind, kc_error *err)
{
    const struct {
        const char *flag, *value;
        int (*check)(const char *text, kc_error *err);
    } names[] = {
        {"group", group, kc__check_group},
        {"version", version, kc__check_version},
        {"kind", kind, kc__check_kind},
    };
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        if (!names[i].value || !*names[i].value)
            return kc_error_set(err, KC_INVALID, "--%s is needed", names[i].flag);
        if (names[i].check(names[i].value, err) < 0)
            return kc_error_wrap(err, "--%s", names[i].flag);
    }
    return 0;
}

/* ---- create api ---- */

/* What was there of it, or what is to be. */
static int resource_for(const kc__project *project, const kc__api_opts *o, bool force,
                        kc__resource *ret, kc_error *err)
{
    const kc_str group = kc_cstr(o->group), version = kc_cstr(o->version), kind = kc_cstr(o->kind);
    if (!kc__project_find(project, group, version, kind, ret)) {
        if (o->no_resource)
            return kc_error_set(err, KC_NOT_FOUND,
                                "there is no %s of %s/%s in this project; without "
                                "--resource=false it is made",
                                o->kind, o->group, o->version);
        *ret = (kc__resource){.group = group, .version = version, .kind = kind};
        return 0;
    }
    const bool makes_api = !o->no_resource && ret->api;
    if (makes_api && !force)
        return kc_error_set(err, KC_ALREADY_EXISTS,
                            "there is %s of %s/%s in this project already; --force writes its "
                            "files again, over what has been changed in them",
                            o->kind, o->group, o->version);
    return 0;
}

int kc__scaffold_api(const kc__scaffold *s, const kc__api_opts *o, kc_error *err)
{
    kc_auto(kc__project) *project = kc__scaffold_project(s, err);
    if (!project || check_names(o->group, o->version, o->kind, err) < 0)
        return -1;
    if (o->plural && kc__check_plural(o->plural, err) < 0)
        return kc_error_wrap(err, "--plural");
    kc__resource resource;
    if (resource_for(project, o, s->force, &resource, err) < 0)
        return -1;
    kc_autofree char *plural = o->plural ? kc_strdup(o->plural) : kc__plural_of(kc_cstr(o->kind));
    unsigned parts = 0;
    resource.domain = kc__project_domain(project);
    if (!resource.plural.n || o->plural)
        resource.plural = kc_cstr(plural);
    if (!o->no_resource) {
        resource.api = true;
        resource.cluster_scoped = o->cluster_scoped;
        parts |= KC__PART_API;
    }
    if (!o->no_controller) {
        resource.controller = true;
        resource.controller_name = kc_cstr(o->controller_name);
        parts |= KC__PART_CONTROLLER;
    }
    return make_parts(s, project, &resource, parts, err);
}

/* ---- create webhook ---- */

static int no_such_kind(const kc__project *project, const kc__webhook_opts *o, kc_error *err)
{
    const char *names[64];
    size_t n = 0;
    for (size_t i = 0; i < kc__project_count(project) && n < KC_COUNT(names); i++)
        names[n++] = kc_str_dup(kc__project_at(project, i).kind);
    const char *nearest = kc_str_nearest(kc_cstr(o->kind), names, n);
    if (nearest && strcmp(nearest, o->kind) != 0)
        kc_error_set(err, KC_NOT_FOUND,
                     "there is no %s of %s/%s in this project; did you mean '%s'?", o->kind,
                     o->group, o->version, nearest);
    else
        kc_error_set(err, KC_NOT_FOUND,
                     "there is no %s of %s/%s in this project; 'kc create api' makes it", o->kind,
                     o->group, o->version);
    for (size_t i = 0; i < n; i++)
        free((char *)names[i]);
    return -1;
}

int kc__scaffold_webhook(const kc__scaffold *s, const kc__webhook_opts *o, kc_error *err)
{
    kc_auto(kc__project) *project = kc__scaffold_project(s, err);
    kc__resource resource;
    if (!project || check_names(o->group, o->version, o->kind, err) < 0)
        return -1;
    if (!kc__project_find(project, kc_cstr(o->group), kc_cstr(o->version), kc_cstr(o->kind),
                          &resource))
        return no_such_kind(project, o, err);
    if (!o->defaulting && !o->validation && !o->conversion)
        return kc_error_set(err, KC_INVALID,
                            "say what for: --defaulting, --programmatic-validation or "
                            "--conversion");
    const bool has_all = (!o->defaulting || resource.defaulting) &&
                         (!o->validation || resource.validation) &&
                         (!o->conversion || resource.conversion);
    if (has_all && !s->force)
        return kc_error_set(err, KC_ALREADY_EXISTS,
                            "%s of %s/%s has these webhooks already; --force adds what is missing "
                            "of them",
                            o->kind, o->group, o->version);
    resource.defaulting |= o->defaulting;
    resource.validation |= o->validation;
    resource.conversion |= o->conversion;
    const unsigned parts = KC__PART_WEBHOOK | (o->defaulting ? KC__PART_DEFAULTING : 0) |
                           (o->validation ? KC__PART_VALIDATION : 0) |
                           (o->conversion ? KC__PART_CONVERSION : 0);
    return make_parts(s, project, &resource, parts, err);
}

/* ---- edit ---- */

int kc__scaffold_edit(const kc__scaffold *s, const kc__edit_opts *opts, kc_error *err)
{
    kc_auto(kc__project) *project = kc__scaffold_project(s, err);
    if (!project)
        return -1;
    if (opts->multigroup)
        kc__project_set_multigroup(project, *opts->multigroup);
    if (opts->namespaced)
        kc__project_set_namespaced(project, *opts->namespaced);
    return write_project(s, project, err);
}
