/* SPDX-License-Identifier: Apache-2.0 */
/* scaffold_project.c: reads the PROJECT file of a directory, or reports where it may be. */
#include "scaffold/files.h"
#include "scaffold/scaffold.h"

#include <limits.h>
#include <unistd.h>

/* Names the project's directory if this is a subdirectory of it. */
static int no_project(const char *dir, kc_error *err)
{
    char path[PATH_MAX];
    if (!realpath(dir, path))
        return kc_error_set(err, KC_NOT_FOUND, "directory %s not found", dir);
    for (char *slash = strrchr(path, '/'); slash && slash > path; slash = strrchr(path, '/')) {
        *slash = 0;
        kc_autofree char *above = kc_asprintf("%s/PROJECT", path);
        if (access(above, R_OK) == 0)
            return kc_error_set(err, KC_NOT_FOUND,
                                "no PROJECT in this directory; did you mean to run this in %s?",
                                path);
    }
    return kc_error_set(err, KC_NOT_FOUND,
                        "no PROJECT in this directory; 'kc init --domain example.io' creates a "
                        "project");
}

kc__scaffold_project_file *kc__scaffold_project(const kc__scaffold *s, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    const int there = kc__scaffold_dir_read(s->dir, "PROJECT", &text, err);
    if (there == 0)
        no_project(s->dir, err);
    return there > 0 ? kc__scaffold_project_parse(kc_buf_str(&text), err) : NULL;
}
