/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files_testing.h: a directory of a test's own, in which it creates files.
 *
 *     kc_auto(scratch) *s = scratch_new();
 *     scratch_write(s, "sub/a.yaml", "a: 1\n");
 *     char *path = scratch_path(s, "sub/a.yaml");
 */
#ifndef KC_FILES_TESTING_H
#define KC_FILES_TESTING_H

#include "testing.h"

#include "kc/file.h"

#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct scratch {
    char dir[64];
} scratch;

static inline KC_UNUSED scratch *scratch_new(void)
{
    scratch *s = kc_new(scratch);
    snprintf(s->dir, sizeof s->dir, "/tmp/kc-test-XXXXXX");
    assert_non_null(mkdtemp(s->dir));
    return s;
}

static inline int scratch_remove_entry(const char *path, const struct stat *at, int flag,
                                       struct FTW *place)
{
    (void)at;
    (void)flag;
    (void)place;
    return remove(path);
}

static inline KC_UNUSED void scratch_free(scratch *s)
{
    if (s)
        nftw(s->dir, scratch_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(s);
}
KC_AUTO_DEFINE(scratch, scratch_free)

/* The caller frees it. */
static inline KC_UNUSED char *scratch_path(const scratch *s, const char *name)
{
    return kc_asprintf("%s/%s", s->dir, name);
}

/* Creates missing directories, too. */
static inline KC_UNUSED void scratch_write(const scratch *s, const char *name, const char *text)
{
    kc_autofree char *path = scratch_path(s, name);
    kc_autofree char *parent = kc_strndup(path, (size_t)(strrchr(path, '/') - path));
    assert_int_equal(kc_dir_create(parent, 0700, NULL), 0);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static inline KC_UNUSED void scratch_remove(const scratch *s, const char *name)
{
    kc_autofree char *path = scratch_path(s, name);
    assert_int_equal(remove(path), 0);
}

static inline KC_UNUSED void scratch_rename(const scratch *s, const char *from, const char *to)
{
    kc_autofree char *old = scratch_path(s, from), *new = scratch_path(s, to);
    assert_int_equal(rename(old, new), 0);
}

static inline KC_UNUSED void scratch_link(const scratch *s, const char *target, const char *name)
{
    kc_autofree char *path = scratch_path(s, name);
    assert_int_equal(symlink(target, path), 0);
}

#endif
