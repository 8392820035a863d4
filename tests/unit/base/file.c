/* SPDX-License-Identifier: Apache-2.0 */
/* Files read and written whole. */
#include "kc/file.h"
#include "testing.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder of the test's own, and a file in it that is not there yet. */
typedef struct place {
    char folder[32];
    char *path;
} place;

static void place_done(place *p)
{
    kc_autofree char *command = kc_asprintf("rm -r '%s'", p->folder);
    assert_int_equal(system(command), 0);
    free(p->path);
}

static place place_new(void)
{
    place p = {.folder = "/tmp/kc-file-XXXXXX"};
    assert_non_null(mkdtemp(p.folder));
    p.path = kc_asprintf("%s/file", p.folder);
    return p;
}

static bool holds(const char *name, const char *text)
{
    kc_scoped(kc_buf) now = {0};
    return kc_file_read(name, KC_FILE_MAX, &now, NULL) == 0 && kc_str_is(kc_buf_str(&now), text);
}

static unsigned mode_of(const char *name)
{
    struct stat found;
    assert_int_equal(stat(name, &found), 0);
    return found.st_mode & 07777;
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    kc_scoped(place) p = place_new();
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "before ");
    assert_int_equal(kc_file_write(p.path, 0640, KC_STR("text"), NULL), 0);
    assert_int_equal(mode_of(p.path), 0640);
    assert_int_equal(kc_file_read(p.path, 4, &text, NULL), 0);
    assert_string_equal(kc_buf_cstr(&text), "before text");
    assert_int_equal(kc_file_put(p.path, KC_STR("other"), NULL), 0);
    assert_true(holds(p.path, "other"));
    assert_int_equal(kc_file_remove(p.path, NULL), 0);
    assert_int_equal(kc_file_remove(p.path, NULL), 0);
}

static void a_file_that_is_not_there_is_not_found(void **state)
{
    (void)state;
    kc_scoped(place) p = place_new();
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) text = {0};
    assert_true(kc_file_read("/no/such/file", 10, &text, &err) < 0);
    assert_error(&err, KC_NOT_FOUND, "cannot open /no/such/file: No such file");
    assert_true(kc_file_write("/no/such/file", 0600, KC_STR("x"), &err) < 0);
    assert_error(&err, KC_NOT_FOUND, "cannot write /no/such/file");
    assert_true(kc_file_put("/no/such/file", KC_STR("x"), &err) < 0);
    assert_true(kc_file_read(p.folder, 10, &text, &err) < 0);
    assert_error(&err, KC_BAD_REQUEST, "Is a directory");
}

static void a_file_beyond_the_limit_is_refused(void **state)
{
    (void)state;
    kc_scoped(place) p = place_new();
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "before");
    kc_file_write(p.path, 0600, KC_STR("x"), NULL);
    assert_int_equal(truncate(p.path, 100001), 0);
    assert_true(kc_file_read(p.path, 100000, &text, &err) < 0);
    assert_error(&err, KC_TOO_LARGE, "has more than 100000 bytes");
    assert_string_equal(kc_buf_cstr(&text), "before");
    assert_int_equal(kc_file_read(p.path, 100001, &text, NULL), 0);
    assert_true(kc_file_read("/dev/zero", 5000, &text, &err) < 0);
    assert_error(&err, KC_TOO_LARGE, "/dev/zero has more than 5000 bytes");
}

static void a_pipe_that_nobody_writes_to_is_not_waited_for(void **state)
{
    (void)state;
    kc_scoped(place) p = place_new();
    kc_scoped(kc_buf) text = {0};
    assert_int_equal(mkfifo(p.path, 0600), 0);
    assert_int_equal(kc_file_read(p.path, 10, &text, NULL), 0);
    assert_int_equal(text.n, 0);
}

static void a_file_that_is_as_it_should_be_is_left_alone(void **state)
{
    (void)state;
    kc_scoped(place) p = place_new();
    struct stat first, second;
    assert_int_equal(kc_file_write(p.path, 0600, KC_STR("text"), NULL), 0);
    stat(p.path, &first);
    assert_int_equal(kc_file_write(p.path, 0600, KC_STR("text"), NULL), 0);
    stat(p.path, &second);
    assert_true(first.st_ino == second.st_ino && first.st_ctim.tv_nsec == second.st_ctim.tv_nsec);
    chmod(p.path, 0644);
    assert_int_equal(kc_file_write(p.path, 0600, KC_STR("text"), NULL), 0);
    assert_int_equal(mode_of(p.path), 0600);
}

static void a_link_is_replaced_and_not_followed(void **state)
{
    (void)state;
    kc_scoped(place) p = place_new();
    kc_autofree char *target = kc_asprintf("%s/target", p.folder);
    kc_file_write(target, 0644, KC_STR("target"), NULL);
    assert_int_equal(symlink(target, p.path), 0);
    assert_int_equal(kc_file_write(p.path, 0600, KC_STR("secret"), NULL), 0);
    assert_true(holds(target, "target"));
    assert_true(holds(p.path, "secret"));
}

static void a_folder_is_made_with_those_above_it(void **state)
{
    (void)state;
    kc_scoped(place) p = place_new();
    kc_scoped(kc_error) err = {0};
    kc_autofree char *above = kc_asprintf("%s/a", p.folder);
    kc_autofree char *below = kc_asprintf("%s/a/b", p.folder);
    assert_int_equal(kc_folder_make(below, 0700, NULL), 0);
    assert_int_equal(kc_folder_make(below, 0700, NULL), 0);
    assert_int_equal(mode_of(above), 0700);
    assert_int_equal(mode_of(below), 0700);
    kc_file_put(p.path, KC_STR("x"), NULL);
    assert_true(kc_folder_make(p.path, 0700, &err) < 0);
    assert_error(&err, KC_INVALID, "is not a folder");
}

TESTS(what_is_written_is_read, a_file_that_is_not_there_is_not_found,
      a_file_beyond_the_limit_is_refused, a_pipe_that_nobody_writes_to_is_not_waited_for,
      a_file_that_is_as_it_should_be_is_left_alone, a_link_is_replaced_and_not_followed,
      a_folder_is_made_with_those_above_it)
