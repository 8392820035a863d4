/* SPDX-License-Identifier: Apache-2.0 */
/* files.c: a project's files, by their names in its folder. */
#include "scaffold/files.h"

#include "kc/file.h"

enum { MAX_FILE = 4 << 20 };

int kc__folder_read(const char *folder, const char *path, kc_buf *out, kc_error *err)
{
    kc_autofree char *full = kc_asprintf("%s/%s", folder, path);
    kc_scoped(kc_error) why = {0};
    if (kc_file_read(full, MAX_FILE, out, &why) == 0)
        return 1;
    return why.reason == KC_NOT_FOUND ? 0 : kc_error_move(err, &why);
}

int kc__folder_write(const char *folder, const char *path, kc_str text, kc_error *err)
{
    kc_autofree char *full = kc_asprintf("%s/%s", folder, path);
    kc_autofree char *above = kc_strndup(full, (size_t)(strrchr(full, '/') - full));
    return kc_folder_make(above, 0777, err) < 0 ? -1 : kc_file_put(full, text, err);
}
