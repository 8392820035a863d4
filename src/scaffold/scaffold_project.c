/* SPDX-License-Identifier: Apache-2.0 */
/* scaffold_project.c: the PROJECT of a folder, and what to say where there is none. */
#include "scaffold/files.h"
#include "scaffold/scaffold.h"

#include <limits.h>
#include <unistd.h>

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
