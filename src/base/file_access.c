/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_access.c: determines which other users can read or change a file.
 *
 * "Others" are all users except root and the process's own user. A group counts as others unless it
 * is root's or the process's own: with private user groups (a umask of 002) the latter contains
 * only the user. A directory with the sticky bit, such as /tmp, lets others add files but not
 * replace files of other owners, so it does not count as writable. Where the process creates files
 * with known names, others could create them first: such directories are checked with `others_add`.
 */
#include "kc/file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_own_group(gid_t group)
{
    return group == 0 || group == getegid();
}

static bool others_have(const struct stat *st, mode_t group_bit, mode_t world_bit)
{
    return (st->st_mode & world_bit) || ((st->st_mode & group_bit) && !is_own_group(st->st_gid));
}

int kc_file_access_of(const char *path, kc_file_access *ret, kc_error *err)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return kc_error_set(err, errno == ENOENT ? KC_NOT_FOUND : KC_BAD_REQUEST,
                            "cannot stat %s: %s", path, strerror(errno));
    const bool is_dir = S_ISDIR(st.st_mode), sticky = is_dir && (st.st_mode & S_ISVTX);
    const bool writable = others_have(&st, S_IWGRP, S_IWOTH);
    *ret = (kc_file_access){
        .others_read = others_have(&st, S_IRGRP, S_IROTH),
        .others_write = writable && !sticky,
        .others_own = st.st_uid != 0 && st.st_uid != geteuid(),
        .others_add = writable && is_dir,
    };
    return 0;
}

static int check_one(const char *path, const char *about, kc_error *err)
{
    kc_file_access access;
    if (kc_file_access_of(path, &access, err) < 0)
        return kc_error_result(err);
    if (access.others_write)
        return kc_error_set(err, KC_FORBIDDEN,
                            "%s is not trusted: other users can write to %s; change its mode",
                            about, path);
    if (access.others_own)
        return kc_error_set(err, KC_FORBIDDEN,
                            "%s is not trusted: %s is owned by a user other than root "
                            "and the user of kc; change its owner",
                            about, path);
    return 0;
}

int kc_file_check_trusted(const char *path, kc_error *err)
{
    kc_autofree char *real = realpath(path, NULL);
    if (!real)
        return kc_error_set(err, errno == ENOENT ? KC_NOT_FOUND : KC_BAD_REQUEST,
                            "cannot stat %s: %s", path, strerror(errno));
    if (check_one(real, path, err) < 0)
        return kc_error_result(err);
    for (char *slash; (slash = strrchr(real, '/')) && slash != real;) {
        *slash = '\0';
        if (check_one(real, path, err) < 0)
            return kc_error_result(err);
    }
    return check_one("/", path, err);
}
