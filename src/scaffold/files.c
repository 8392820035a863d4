/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.c: reads and replaces files. A file is written beside its place and moved there, so that a
 * full disk leaves the old one.
 */
#include "scaffold/files.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILE = 4 << 20 };

static int fail(const char *path, kc_error *err)
{
    return kc_error_set(err, KC_INTERNAL, "%s: %s", path, strerror(errno));
}

int kc__folder_read(const char *folder, const char *path, kc_buf *out, kc_error *err)
{
    kc_autofree char *full = kc_asprintf("%s/%s", folder, path);
    FILE *file = fopen(full, "re");
    if (!file)
        return errno == ENOENT ? 0 : fail(path, err);
    out->limit = MAX_FILE;
    size_t n;
    char chunk[8192];
    while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0)
        kc_buf_append(out, kc_str_of(chunk, n));
    const bool failed = ferror(file) != 0;
    fclose(file);
    if (out->failed)
        return kc_error_set(err, KC_TOO_LARGE, "%s has more than %d bytes", path, MAX_FILE);
    return failed ? fail(path, err) : 1;
}

static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path,
              0777); /* What fails here fails again, with a reason, when the file is opened. */
        *slash = '/';
    }
}

int kc__folder_write(const char *folder, const char *path, kc_str text, kc_error *err)
{
    kc_autofree char *full = kc_asprintf("%s/%s", folder, path);
    kc_autofree char *fresh = kc_asprintf("%s.new", full);
    make_folders(full);
    FILE *file = fopen(fresh, "we");
    bool good = file && (!text.n || fwrite(text.p, 1, text.n, file) == text.n);
    if (file && fclose(file) != 0)
        good = false;
    if (good && rename(fresh, full) == 0)
        return 0;
    fail(path, err);
    unlink(fresh);
    return -1;
}
