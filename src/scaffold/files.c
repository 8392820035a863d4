/* SPDX-License-Identifier: Apache-2.0 */
/* files.c: a project's files, by paths relative to its directory. */
#include "scaffold/files.h"

#include "kc/file.h"

enum { MAX_FILE = 4 << 20 };

int kc__scaffold_dir_read(const char *dir, const char *path, kc_buf *out, kc_error *err)
{
    kc_autofree char *full = kc_asprintf("%s/%s", dir, path);
    kc_scoped(kc_error) why = {0};
    if (kc_file_read(full, MAX_FILE, out, &why) == 0)
        return 1;
    return why.reason == KC_NOT_FOUND ? 0 : kc_error_move(err, &why);
}

int kc__scaffold_dir_write(const char *dir, const char *path, kc_str text, kc_error *err)
{
    kc_autofree char *full = kc_asprintf("%s/%s", dir, path);
    kc_autofree char *above = kc_strndup(full, (size_t)(strrchr(full, '/') - full));
    return kc_dir_create(above, 0777, err) < 0 ? kc_error_result(err)
                                               : kc_file_put(full, text, err);
}
