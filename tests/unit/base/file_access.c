/* SPDX-License-Identifier: Apache-2.0 */
/* file_access.c: which files other users can read, change or replace. */
#include "kc/file.h"

#include "testing.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct place {
    char folder[64];
    char file[100];
} place;

static void begin(place *p)
{
    snprintf(p->folder, sizeof(p->folder), "/tmp/kc-access-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    snprintf(p->file, sizeof(p->file), "%s/file", p->folder);
    assert_int_equal(kc_file_write(p->file, 0600, KC_STR("x"), NULL), 0);
}

static void place_done(place *p)
{
    unlink(p->file);
    rmdir(p->folder);
}

static kc_file_access access_with(const char *path, mode_t mode)
{
    kc_file_access access;
    assert_int_equal(chmod(path, mode), 0);
    assert_int_equal(kc_file_access_of(path, &access, NULL), 0);
    return access;
}

static void mode_determines_access_of_others(void **state)
{
    (void)state;
    kc_scoped(place) p;
    begin(&p);
    assert_false(access_with(p.file, 0600).others_read);
    assert_true(access_with(p.file, 0604).others_read);
    assert_false(access_with(p.file, 0644).others_write);
    assert_true(access_with(p.file, 0602).others_write);
    assert_false(access_with(p.file, 0660).others_write); /* The process's own group. */
    assert_true(access_with(p.folder, 0777).others_write);
    assert_false(access_with(p.folder, 01777).others_write);
    assert_true(access_with(p.folder, 01777).others_add);
    assert_true(access_with(p.folder, 0777).others_add);
    assert_false(access_with(p.folder, 0755).others_add);
    assert_false(access_with(p.file, 0602).others_add);
    access_with(p.folder, 0700);
}

static void missing_file_returns_not_found(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_file_access access;
    assert_true(kc_file_access_of("/nowhere/at/all", &access, &err) < 0);
    assert_int_equal(err.reason, KC_NOT_FOUND);
}

static void file_in_directory_writable_by_others_is_not_trusted(void **state)
{
    (void)state;
    kc_scoped(place) p;
    kc_scoped(kc_error) err = {0};
    begin(&p);
    assert_int_equal(kc_file_check_trusted(p.file, &err), 0);
    access_with(p.folder, 0777);
    assert_true(kc_file_check_trusted(p.file, &err) < 0);
    assert_error(&err, KC_FORBIDDEN, "other users can write to /tmp/kc-access-");
    access_with(p.folder, 0700);
    access_with(p.file, 0666);
    assert_true(kc_file_check_trusted(p.file, &err) < 0);
    assert_error(&err, KC_FORBIDDEN, "/file");
}

static void file_of_another_user_or_group_is_not_trusted(void **state)
{
    (void)state;
    kc_scoped(place) p;
    kc_scoped(kc_error) err = {0};
    if (geteuid() != 0)
        skip();
    begin(&p);
    assert_int_equal(chown(p.file, 12345, 0), 0);
    assert_true(kc_file_check_trusted(p.file, &err) < 0);
    assert_error(&err, KC_FORBIDDEN, "is owned by a user other than root");
    assert_int_equal(chown(p.file, 0, 12345), 0);
    assert_int_equal(kc_file_check_trusted(p.file, &err), 0);
    assert_int_equal(chmod(p.file, 0660), 0);
    assert_true(kc_file_check_trusted(p.file, &err) < 0);
    assert_error(&err, KC_FORBIDDEN, "other users can write");
}

TESTS(mode_determines_access_of_others, missing_file_returns_not_found,
      file_in_directory_writable_by_others_is_not_trusted,
      file_of_another_user_or_group_is_not_trusted)
