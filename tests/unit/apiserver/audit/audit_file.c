/* SPDX-License-Identifier: Apache-2.0 */
/* The file of the audit log: rotation, old files, compression, a file that was moved away. */
#include "files_testing.h"

#include "apiserver/audit/audit_file.h"

#include <dirent.h>

typedef struct log_stage {
    scratch *dir;
    kc_clock *clock;
    kc__audit_output *output;
} log_stage;

static void log_stage_start(log_stage *t, kc__audit_file_opts opts)
{
    kc_scoped(kc_error) err = {0};
    t->dir = scratch_new();
    t->clock = kc_clock_virtual_new(INT64_C(1767323045) * KC_SECOND); /* 2026-01-02T03:04:05Z */
    kc_autofree char *path = scratch_path(t->dir, "logs/audit.log");
    opts.path = path;
    opts.clock = t->clock;
    t->output = kc__audit_file_new(&opts, &err);
    if (!t->output)
        fail_msg("%s", kc_error_text(&err));
}

static void log_stage_done(log_stage *t)
{
    t->output->free(t->output);
    kc_clock_free(t->clock);
    scratch_free(t->dir);
}

static void deliver_bytes(log_stage *t, char byte, size_t n)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *text = kc_alloc(n);
    memset(text, byte, n);
    text[n - 1] = '\n';
    const size_t ends[] = {n};
    if (t->output->deliver(t->output, &(kc__audit_events){text, ends, 1}, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
}

static size_t size_of(const log_stage *t, const char *name)
{
    struct stat st;
    kc_autofree char *path = scratch_path(t->dir, name);
    return stat(path, &st) == 0 ? (size_t)st.st_size : 0;
}

static size_t count_files(const log_stage *t)
{
    kc_autofree char *path = scratch_path(t->dir, "logs");
    size_t n = 0;
    DIR *dir = opendir(path);
    for (const struct dirent *entry; (entry = readdir(dir));)
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

enum { HALF = 600 << 10 };

static void file_is_rotated_under_the_name_of_kubernetes(void **state)
{
    (void)state;
    kc_scoped(log_stage) t = {0};
    log_stage_start(&t, (kc__audit_file_opts){.max_megabytes = 1});
    deliver_bytes(&t, 'a', HALF);
    kc_clock_advance(t.clock, 678 * KC_MILLISECOND);
    deliver_bytes(&t, 'b', HALF);
    assert_int_equal(size_of(&t, "logs/audit.log"), HALF);
    assert_int_equal(size_of(&t, "logs/audit-2026-01-02T03-04-05.678.log"), HALF);
}

static void rotated_files_beyond_their_number_are_removed(void **state)
{
    (void)state;
    kc_scoped(log_stage) t = {0};
    log_stage_start(&t, (kc__audit_file_opts){.max_megabytes = 1, .max_backups = 2});
    scratch_write(t.dir, "logs/audit-other.log", "another program's");
    for (int i = 0; i < 6; i++) {
        deliver_bytes(&t, 'a', HALF);
        kc_clock_advance(t.clock, KC_SECOND);
    }
    assert_int_equal(count_files(&t), 4);
    assert_true(size_of(&t, "logs/audit-other.log") > 0);
}

static void rotated_files_beyond_their_age_are_removed(void **state)
{
    (void)state;
    kc_scoped(log_stage) t = {0};
    log_stage_start(&t, (kc__audit_file_opts){.max_megabytes = 1, .max_days = 2});
    for (int i = 0; i < 6; i++) {
        deliver_bytes(&t, 'a', HALF);
        kc_clock_advance(t.clock, 23 * KC_HOUR);
    }
    assert_int_equal(count_files(&t), 4);
}

static void rotated_file_is_compressed(void **state)
{
    (void)state;
    kc_scoped(log_stage) t = {0};
    log_stage_start(&t, (kc__audit_file_opts){.max_megabytes = 1, .compress = true});
    deliver_bytes(&t, 'a', HALF);
    deliver_bytes(&t, 'b', HALF);
    assert_int_equal(size_of(&t, "logs/audit-2026-01-02T03-04-05.000.log"), 0);
    const size_t size = size_of(&t, "logs/audit-2026-01-02T03-04-05.000.log.gz");
    assert_true(size > 0 && size < 10000);
}

static void file_that_was_moved_away_is_created_again(void **state)
{
    (void)state;
    kc_scoped(log_stage) t = {0};
    log_stage_start(&t, (kc__audit_file_opts){0});
    deliver_bytes(&t, 'a', 10);
    kc_autofree char *from = scratch_path(t.dir, "logs/audit.log");
    kc_autofree char *to = scratch_path(t.dir, "logs/moved");
    assert_int_equal(rename(from, to), 0);
    deliver_bytes(&t, 'b', 20);
    assert_int_equal(size_of(&t, "logs/audit.log"), 20);
    assert_int_equal(size_of(&t, "logs/moved"), 10);
}

static void mode_of_the_file_is_0600(void **state)
{
    (void)state;
    kc_scoped(log_stage) t = {0};
    struct stat st;
    log_stage_start(&t, (kc__audit_file_opts){0});
    kc_autofree char *path = scratch_path(t.dir, "logs/audit.log");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

TESTS(file_is_rotated_under_the_name_of_kubernetes, rotated_files_beyond_their_number_are_removed,
      rotated_files_beyond_their_age_are_removed, rotated_file_is_compressed,
      file_that_was_moved_away_is_created_again, mode_of_the_file_is_0600)
