/* SPDX-License-Identifier: Apache-2.0 */
/* scaffold_init.c: `kc init`: a project without kinds. */
#include "scaffold/execute.h"
#include "scaffold/files.h"
#include "scaffold/license.h"
#include "scaffold/names.h"

/* The directory's name, converted to a valid project name. */
static char *name_of_dir(const char *dir)
{
    char *full = realpath(dir, NULL);
    const char *slash = full ? strrchr(full, '/') : NULL;
    char *name = kc__scaffold_lower_case(kc_cstr(slash ? slash + 1 : dir));
    for (char *c = name; *c; c++)
        if (*c == '_' || *c == '.' || *c == ' ')
            *c = '-';
    free(full);
    return name;
}

static int check_no_project(const kc__scaffold *s, kc_error *err)
{
    kc_scoped(kc_buf) old = {0};
    const int there = kc__scaffold_dir_read(s->dir, "PROJECT", &old, err);
    if (there <= 0 || s->force)
        return there < 0 ? there : 0;
    return kc_error_set(err, KC_ALREADY_EXISTS,
                        "this directory already contains a project (PROJECT exists); 'kc create "
                        "api' adds a kind to it, 'kc edit' changes its settings");
}

int kc__scaffold_init(const kc__scaffold *s, const kc__scaffold_init_opts *opts, kc_error *err)
{
    kc_scoped(kc_buf) license = {0};
    kc_autofree char *name = opts->name ? kc_strdup(opts->name) : name_of_dir(s->dir);
    const char *domain = opts->domain ? opts->domain : "my.domain";
    if (kc__scaffold_check_domain(domain, err) < 0)
        return kc_error_wrap(err, "--domain");
    if (kc__scaffold_check_project_name(name, err) < 0)
        return opts->name ? kc_error_wrap(err, "--project-name")
                          : kc_error_wrap(err, "the directory's name (--project-name sets "
                                               "another)");
    if (check_no_project(s, err) < 0 ||
        kc__scaffold_license_text(&opts->license, &license, err) < 0)
        return kc_error_result(err);
    kc_auto(kc__scaffold_project_file) *project =
        kc__scaffold_project_new(kc_cstr(name), kc_cstr(domain), kc_cstr(opts->repo));
    kc__scaffold_project_set_multigroup(project, opts->multigroup);
    kc__scaffold_project_set_namespaced(project, opts->namespaced);
    if (kc__scaffold_write_file(s, KC__SCAFFOLD_BOILERPLATE, kc_buf_str(&license), err) < 0)
        return kc_error_result(err);
    const kc__scaffold_execution carrying = {
        .project = project,
        .parts = KC__SCAFFOLD_PART_PROJECT | (opts->namespaced ? KC__SCAFFOLD_PART_NAMESPACED
                                                               : KC__SCAFFOLD_PART_ALL_NAMESPACES)};
    return kc__scaffold_execute(s, &carrying, err);
}
