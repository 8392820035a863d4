/* SPDX-License-Identifier: Apache-2.0 */
/* scaffold_init.c: `kc init`: a project without kinds. */
#include "scaffold/carry.h"
#include "scaffold/files.h"
#include "scaffold/license.h"
#include "scaffold/names.h"

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

static int check_no_project(const kc__scaffold *s, kc_error *err)
{
    kc_scoped(kc_buf) old = {0};
    const int there = kc__folder_read(s->folder, "PROJECT", &old, err);
    if (there <= 0 || s->force)
        return there < 0 ? there : 0;
    return kc_error_set(err, KC_ALREADY_EXISTS,
                        "this folder is a project already (it has a PROJECT); 'kc create api' adds "
                        "a kind to it, 'kc edit' changes its settings");
}

int kc__scaffold_init(const kc__scaffold *s, const kc__init_opts *opts, kc_error *err)
{
    kc_scoped(kc_buf) license = {0};
    kc_autofree char *name = opts->name ? kc_strdup(opts->name) : name_of_folder(s->folder);
    const char *domain = opts->domain ? opts->domain : "my.domain";
    if (kc__check_domain(domain, err) < 0)
        return kc_error_wrap(err, "--domain");
    if (kc__check_project_name(name, err) < 0)
        return opts->name ? kc_error_wrap(err, "--project-name")
                          : kc_error_wrap(err, "the folder's name (--project-name gives another)");
    if (check_no_project(s, err) < 0 || kc__license_text(&opts->license, &license, err) < 0)
        return -1;
    kc_auto(kc__project) *project =
        kc__project_new(kc_cstr(name), kc_cstr(domain), kc_cstr(opts->repo));
    kc__project_set_multigroup(project, opts->multigroup);
    kc__project_set_namespaced(project, opts->namespaced);
    if (kc__put_file(s, KC__BOILERPLATE, kc_buf_str(&license), err) < 0)
        return -1;
    const kc__carrying carrying = {
        .project = project,
        .parts =
            KC__PART_PROJECT | (opts->namespaced ? KC__PART_NAMESPACED : KC__PART_ALL_NAMESPACES)};
    return kc__carry_out(s, &carrying, err);
}
