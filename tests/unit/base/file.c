/* SPDX-License-Identifier: Apache-2.0 */
/* file.c: reading and writing whole files. */
#include "kc/file.h"
#include "kc/thread.h"
#include "testing.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A directory of the test, and a file in it that does not exist yet. */
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

static void written_file_is_read_back(void **state)
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

static void missing_file_returns_not_found(void **state)
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

static void file_beyond_limit_returns_too_large(void **state)
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

static void read_of_pipe_without_writer_does_not_block(void **state)
{
    (void)state;
    kc_scoped(place) p = place_new();
    kc_scoped(kc_buf) text = {0};
    assert_int_equal(mkfifo(p.path, 0600), 0);
    assert_int_equal(kc_file_read(p.path, 10, &text, NULL), 0);
    assert_int_equal(text.n, 0);
}

/* Writes to a pipe in two parts, after pauses. */
static void write_slowly(void *user)
{
    const int fd = *(const int *)user;
    usleep(50000);
    if (write(fd, "slow ", 5) != 5)
        abort();
    usleep(50000);
    if (write(fd, "text", 4) != 4)
        abort();
    close(fd);
}

static void input_waits_for_the_writer_of_a_pipe(void **state)
{
    (void)state;
    int ends[2];
    kc_scoped(kc_buf) text = {0};
    assert_int_equal(pipe(ends), 0);
    kc_autofree char *path = kc_asprintf("/dev/fd/%d", ends[0]);
    kc_thread *writer = kc_thread_start("writer", write_slowly, &ends[1], NULL);
    assert_non_null(writer);
    assert_int_equal(kc_file_read_input(path, KC_FILE_MAX, &text, NULL), 0);
    kc_thread_join(writer);
    close(ends[0]);
    assert_string_equal(kc_buf_cstr(&text), "slow text");
}

static void input_named_dash_is_standard_input(void **state)
{
    (void)state;
    kc_scoped(place) p = place_new();
    kc_scoped(kc_buf) text = {0};
    kc_scoped(kc_error) err = {0};
    kc_file_put(p.path, KC_STR("input"), NULL);
    const int kept = dup(STDIN_FILENO), file = open(p.path, O_RDONLY);
    assert_true(file >= 0 && dup2(file, STDIN_FILENO) == STDIN_FILENO);
    const int refused = kc_file_read_input("-", 4, &text, &err);
    lseek(STDIN_FILENO, 0, SEEK_SET);
    const int read = kc_file_read_input("-", 5, &text, NULL);
    dup2(kept, STDIN_FILENO);
    close(kept);
    close(file);
    assert_true(refused < 0);
    assert_error(&err, KC_TOO_LARGE, "standard input has more than 4 bytes");
    assert_int_equal(read, 0);
    assert_string_equal(kc_buf_cstr(&text), "input");
}

static void unchanged_file_is_not_rewritten(void **state)
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

static void write_replaces_symbolic_link(void **state)
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

static void write_to_a_pipe_or_directory_is_refused(void **state)
{
    (void)state;
    kc_scoped(place) p = place_new();
    kc_scoped(kc_error) err = {0};
    assert_int_equal(mkfifo(p.path, 0600), 0);
    assert_true(kc_file_write(p.path, 0600, KC_STR("x"), &err) < 0);
    assert_error(&err, KC_INVALID, "it is not a regular file");
    assert_true(kc_file_put(p.path, KC_STR("x"), NULL) < 0);
    assert_true(kc_file_write(p.folder, 0600, KC_STR("x"), NULL) < 0);
    struct stat found;
    assert_int_equal(lstat(p.path, &found), 0);
    assert_true(S_ISFIFO(found.st_mode));
}

static void directory_is_created_with_parents(void **state)
{
    (void)state;
    kc_scoped(place) p = place_new();
    kc_scoped(kc_error) err = {0};
    kc_autofree char *above = kc_asprintf("%s/a", p.folder);
    kc_autofree char *below = kc_asprintf("%s/a/b", p.folder);
    assert_int_equal(kc_dir_create(below, 0700, NULL), 0);
    assert_int_equal(kc_dir_create(below, 0700, NULL), 0);
    assert_int_equal(mode_of(above), 0700);
    assert_int_equal(mode_of(below), 0700);
    kc_file_put(p.path, KC_STR("x"), NULL);
    assert_true(kc_dir_create(p.path, 0700, &err) < 0);
    assert_error(&err, KC_INVALID, "is not a directory");
}

TESTS(written_file_is_read_back, missing_file_returns_not_found,
      file_beyond_limit_returns_too_large, read_of_pipe_without_writer_does_not_block,
      input_waits_for_the_writer_of_a_pipe, input_named_dash_is_standard_input,
      unchanged_file_is_not_rewritten, write_replaces_symbolic_link,
      write_to_a_pipe_or_directory_is_refused, directory_is_created_with_parents)
