/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of the file backend: small commits write little, and a store whose process was
 * killed, or whose machine lost power, has every acknowledged commit. A kill is simulated by a copy
 * of the files of an open store.
 */
#include "testing.h"

#include "apiserver/storage/file/file_internal.h"
#include "apiserver/storage/stored_journal.h"
#include "kc/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- failing syncs ---- */

static bool syncs_fail;

/* These stand before those of libc, for LMDB as well. */
int fdatasync(int fd)
{
    if (!syncs_fail)
        return (int)syscall(SYS_fdatasync, fd);
    errno = EIO;
    return -1;
}

int fsync(int fd)
{
    return fdatasync(fd);
}

/* ---- helpers ---- */

typedef struct stage {
    char folder[32], copy[40];
    kc__storage_file_opts file;
    kc__storage_opts opts;
    kc__storage *storage;
} stage;

static kc__storage *open_in(stage *s, const char *folder)
{
    kc_scoped(kc_error) err = {0};
    kc__storage *storage = NULL;
    s->opts.location = folder;
    s->opts.file = &s->file;
    if (kc__storage_open(&kc__storage_file_backend, &s->opts, &storage, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    return storage;
}

static stage *stage_new(size_t journal_bytes)
{
    stage *s = kc_new(stage);
    strcpy(s->folder, "/tmp/kc-journal-XXXXXX");
    if (!mkdtemp(s->folder))
        abort();
    snprintf(s->copy, sizeof(s->copy), "%s-copy", s->folder);
    s->file = (kc__storage_file_opts){.first_bytes = 512 << 10, .journal_bytes = journal_bytes};
    s->storage = open_in(s, s->folder);
    return s;
}

static void run_command(const char *format, const char *a, const char *b)
{
    kc_autofree char *command = kc_asprintf(format, a, b);
    assert_int_equal(system(command), 0);
}

static void stage_free(stage *s)
{
    kc__storage_close(s->storage);
    run_command("rm -rf %s %s", s->folder, s->copy);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

static uint64_t put_bytes(kc__storage *storage, const char *key, kc_str value)
{
    const kc__storage_op op = {.key = kc_cstr(key), .expected = KC__STORAGE_ANY, .value = value};
    kc__storage_result result = {0};
    assert_int_equal(kc__storage_commit(storage, &op, 1, &result, NULL, NULL), 0);
    return result.revision;
}

static uint64_t put(stage *s, const char *key, const char *value)
{
    return put_bytes(s->storage, key, kc_cstr(value));
}

static void drop(stage *s, const char *key)
{
    const kc__storage_op op = {
        .verb = KC__STORAGE_DELETE, .key = kc_cstr(key), .expected = KC__STORAGE_ANY};
    kc__storage_result result = {0};
    assert_int_equal(kc__storage_commit(s->storage, &op, 1, &result, NULL, NULL), 0);
    assert_int_equal(result.outcome, KC__STORAGE_STORED);
}

static int print_entry(const kc__storage_entry *e, void *user)
{
    kc_buf_printf(user, "%.*s=%.*s@%d ", KC_ARG(e->key), KC_ARG(e->value), (int)e->revision);
    return 0;
}

static int print_event(const kc__storage_event *e, void *user)
{
    kc_buf_printf(user, "%d%c%.*s=%.*s(%.*s@%d) ", (int)e->revision,
                  e->verb == KC__STORAGE_PUT ? '+' : '-', KC_ARG(e->key), KC_ARG(e->value),
                  KC_ARG(e->previous_value), (int)e->previous_revision);
    return 0;
}

/* Live keys and history. */
static char *content_of(kc__storage *storage)
{
    kc_buf out = {0};
    kc__storage_state state = {0};
    assert_int_equal(kc__storage_load(storage, print_entry, &out, &state, NULL), 0);
    kc_buf_printf(&out, "revision %d since %d ", (int)state.revision, (int)state.compacted);
    assert_int_equal(kc__storage_history(storage, state.compacted, print_event, &out, NULL), 0);
    return kc_buf_take(&out);
}

/* The files as a kill would leave them now. */
static void copy_files(stage *s)
{
    run_command("rm -rf %2$s && cp -r %1$s %2$s", s->folder, s->copy);
}

static kc__storage *open_copy(stage *s)
{
    return open_in(s, s->copy);
}

static void assert_survives(stage *s)
{
    copy_files(s);
    kc_auto(kc__storage) *killed = open_copy(s);
    kc_autofree char *have = content_of(killed), *want = content_of(s->storage);
    assert_string_equal(have, want);
}

static void refuse_copy(stage *s, kc_reason reason, const char *part)
{
    kc_scoped(kc_error) err = {0};
    kc__storage *storage = NULL;
    s->opts.location = s->copy;
    assert_true(kc__storage_open(&kc__storage_file_backend, &s->opts, &storage, &err) < 0);
    assert_error(&err, reason, part);
}

/* Changes a byte of the copy's journal. */
static void flip(const stage *s, off_t at)
{
    kc_autofree char *path = kc_asprintf("%s/journal", s->copy);
    char byte;
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 4;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static uint64_t revision_of(kc__storage *storage)
{
    kc__storage_state state = {0};
    assert_int_equal(kc__storage_progress(storage, &state, NULL), 0);
    return state.revision;
}

/* Bytes that this process has written. */
static long written(void)
{
    long bytes = 0;
    char line[128];
    FILE *f = fopen("/proc/self/io", "r");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f))
        if (sscanf(line, "wchar: %ld", &bytes) == 1)
            break;
    fclose(f);
    return bytes;
}

/* ---- sizes ---- */

static void small_commit_writes_one_block(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(0);
    char value[600];
    memset(value, 'v', sizeof(value));
    put_bytes(s->storage, "lease", kc_str_of(value, sizeof(value)));
    for (int i = 0; i < 20; i++) {
        const long before = written();
        put_bytes(s->storage, "lease", kc_str_of(value, sizeof(value)));
        assert_int_equal(written() - before, KC__STORAGE_JOURNAL_ALIGN);
    }
}

static void thousand_small_commits_write_at_most_half_a_block_more_each(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(0);
    char value[600];
    memset(value, 'v', sizeof(value));
    for (int i = 0; i < 300; i++)
        put_bytes(s->storage, "lease", kc_str_of(value, sizeof(value)));
    const long before = written();
    for (int i = 0; i < 1000; i++)
        put_bytes(s->storage, "lease", kc_str_of(value, sizeof(value)));
    const long each = (written() - before) / 1000;
    print_message("%ld bytes for each commit, with folds\n", each);
    assert_in_range(each, KC__STORAGE_JOURNAL_ALIGN, KC__STORAGE_JOURNAL_ALIGN * 3 / 2);
}

static void large_batch_is_not_written_to_the_journal(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(0);
    kc_autofree char *value = kc_calloc(1, 3000000), *path = kc_asprintf("%s/journal", s->folder);
    struct stat st;
    memset(value, 'v', 3000000);
    put(s, "a", "1");
    put_bytes(s->storage, "b", kc_str_of(value, 3000000));
    put(s, "c", "3");
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size <= 256 << 10);
    assert_survives(s);
}

/* ---- metrics ---- */

static void assert_metrics(kc_metrics *metrics, const char *const *lines)
{
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(metrics, &text);
    for (; *lines; lines++)
        assert_contains(kc_buf_cstr(&text), *lines);
}
#define ASSERT_METRICS(metrics, ...) \
    assert_metrics(metrics, (const char *const[]){__VA_ARGS__, NULL})

static void metrics_show_what_the_journal_holds_and_when_it_was_folded(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(1000 * KC_SECOND);
    kc_auto(stage) *s = stage_new(16 << 10);
    s->storage = kc__storage_close(s->storage);
    s->opts.metrics = metrics;
    s->opts.clock = clock;
    s->storage = open_in(s, s->folder);
    ASSERT_METRICS(metrics, "kc_store_journal_changes 0\n", "kc_store_journal_bytes 0\n",
                   "kc_store_journal_folds_total 0\n",
                   "kc_store_journal_last_fold_timestamp_seconds 0\n");
    for (int i = 0; i < 4; i++)
        put(s, "a", "1");
    ASSERT_METRICS(metrics, "kc_store_journal_changes 4\n", "kc_store_journal_bytes 16384\n",
                   "kc_store_journal_folds_total 0\n");
    put(s, "a", "2"); /* Finds the journal full. */
    ASSERT_METRICS(metrics, "kc_store_journal_changes 0\n", "kc_store_journal_bytes 0\n",
                   "kc_store_journal_folds_total 1\n",
                   "kc_store_journal_last_fold_timestamp_seconds 1000\n");
    put(s, "a", "3");
    kc_clock_advance(clock, 5 * KC_SECOND);
    s->storage = kc__storage_close(s->storage);
    ASSERT_METRICS(metrics, "kc_store_journal_changes 0\n", "kc_store_journal_folds_total 2\n",
                   "kc_store_journal_last_fold_timestamp_seconds 1005\n");
}

static void batch_that_bypasses_the_journal_counts_no_fold(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_auto(stage) *s = stage_new(0);
    s->storage = kc__storage_close(s->storage);
    s->opts.metrics = metrics;
    s->storage = open_in(s, s->folder);
    kc_autofree char *value = kc_calloc(1, 300000);
    put_bytes(s->storage, "large", kc_str_of(value, 300000));
    ASSERT_METRICS(metrics, "kc_store_journal_changes 0\n", "kc_store_journal_folds_total 0\n");
    s->storage = kc__storage_close(s->storage);
}

/* ---- kills ---- */

static void change_something(stage *s, int i)
{
    char key[8], value[64];
    snprintf(key, sizeof(key), "k%d", (i - (i % 4 == 3)) % 7);
    snprintf(value, sizeof(value), "%*d", i * 13 % 60 + 1, i);
    if (i % 4 == 3) /* What was just put. */
        drop(s, key);
    else
        put(s, key, value);
}

/* With four batches to a fold: a kill after each of them. */
static void every_commit_survives_kill(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(16 << 10);
    for (int i = 0; i < 30; i++) {
        change_something(s, i);
        assert_survives(s);
    }
}

static void killed_store_continues_and_survives_the_next_kill(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(0);
    for (int i = 0; i < 12; i++) {
        change_something(s, i);
        copy_files(s);
        kc__storage_close(s->storage);
        run_command("rm -rf %1$s && mv %2$s %1$s", s->folder, s->copy);
        s->storage = open_in(s, s->folder);
        assert_int_equal(revision_of(s->storage), i + 2);
    }
}

static void torn_batch_is_not_applied(void **state)
{
    (void)state;
    enum { BLOCK = 4096 };
    kc_auto(stage) *s = stage_new(0);
    put(s, "a", "1");
    put(s, "b", "2");
    for (off_t at = BLOCK; at < BLOCK + 40; at += 3) {
        copy_files(s);
        flip(s, at);
        kc_auto(kc__storage) *cut = open_copy(s);
        assert_int_equal(revision_of(cut), 2);
        assert_int_equal(put_bytes(cut, "c", KC_STR("3")), 3);
    }
}

static void batch_of_an_older_generation_is_not_applied_again(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(16 << 10);
    for (int i = 0; i < 7; i++) /* The fifth was folded with four before it. */
        put(s, "a", "1");
    copy_files(s);
    flip(s, 4096); /* The seventh batch, over the second. */
    kc_auto(kc__storage) *cut = open_copy(s);
    assert_int_equal(revision_of(cut), 7);
}

static void closed_store_does_not_need_its_journal(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(0);
    put(s, "a", "1");
    put(s, "b", "2");
    kc_autofree char *want = content_of(s->storage);
    s->storage = kc__storage_close(s->storage);
    copy_files(s);
    run_command("rm %s/journal%s", s->copy, "");
    kc_auto(kc__storage) *without = open_copy(s);
    kc_autofree char *have = content_of(without);
    assert_string_equal(have, want);
    s->storage = open_in(s, s->folder);
}

/* ---- failed syncs ---- */

static void fail_to_put(stage *s, const char *key)
{
    kc_scoped(kc_error) err = {0};
    const kc__storage_op op = {
        .key = kc_cstr(key), .expected = KC__STORAGE_ANY, .value = KC_STR("lost")};
    kc__storage_result result;
    syncs_fail = true;
    assert_true(kc__storage_commit(s->storage, &op, 1, &result, NULL, &err) < 0);
    syncs_fail = false;
    assert_error(&err, KC_INTERNAL, "its outcome is unknown");
}

static void commit_after_failed_sync_needs_recovery(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(0);
    uint64_t revision = 0;
    put(s, "a", "1");
    put(s, "b", "2");
    fail_to_put(s, "c");
    const kc__storage_op op = {.key = KC_STR("d"), .expected = KC__STORAGE_ANY};
    kc__storage_result result;
    assert_true(kc__storage_commit(s->storage, &op, 1, &result, NULL, NULL) < 0);
    syncs_fail = true;
    assert_true(kc__storage_recover(s->storage, &revision, NULL) < 0);
    syncs_fail = false;
    assert_int_equal(kc__storage_recover(s->storage, &revision, NULL), 0);
    assert_int_equal(revision, 3); /* The refused batch was struck out. */
    assert_int_equal(put(s, "c", "3"), 4);
    assert_survives(s);
}

static void store_closed_after_failed_recovery_has_every_commit(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(0);
    uint64_t revision = 0;
    put(s, "a", "1");
    put(s, "b", "2");
    kc_autofree char *want = content_of(s->storage);
    fail_to_put(s, "c");
    syncs_fail = true;
    assert_true(kc__storage_recover(s->storage, &revision, NULL) < 0);
    s->storage = kc__storage_close(s->storage);
    syncs_fail = false;
    s->storage = open_in(s, s->folder);
    kc_autofree char *have = content_of(s->storage);
    assert_string_equal(have, want);
}

/* ---- damage ---- */

static char *read_file(const char *folder, const char *name, size_t *ret_n)
{
    kc_autofree char *path = kc_asprintf("%s/%s", folder, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    *ret_n = (size_t)lseek(fd, 0, SEEK_END);
    char *bytes = kc_alloc(*ret_n + 1);
    assert_int_equal(pread(fd, bytes, *ret_n, 0), *ret_n);
    close(fd);
    return bytes;
}

static void refuse_untouched(stage *s, const char *part)
{
    size_t n_data, n_journal, n;
    kc_autofree char *data = read_file(s->copy, "data.mdb", &n_data);
    kc_autofree char *journal = read_file(s->copy, "journal", &n_journal);
    refuse_copy(s, KC_STORE_READ_ERROR, part);
    kc_autofree char *data_after = read_file(s->copy, "data.mdb", &n);
    assert_true(n == n_data && memcmp(data, data_after, n) == 0);
    kc_autofree char *journal_after = read_file(s->copy, "journal", &n);
    assert_true(n == n_journal && memcmp(journal, journal_after, n) == 0);
}

static void damage_before_the_last_batch_is_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(0);
    for (int i = 0; i < 4; i++)
        put(s, "a", "1");
    for (off_t batch = 0; batch < 3; batch++) {
        copy_files(s);
        flip(s, batch * 4096 + 30);
        refuse_untouched(s, "journal: the file is damaged");
    }
}

static void recovery_does_not_write_to_damaged_data(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(0);
    put(s, "a", "a value that will be damaged");
    kc__storage_close(s->storage);
    s->storage = open_in(s, s->folder);
    put(s, "b", "2"); /* In the journal. */
    copy_files(s);
    size_t n;
    kc_autofree char *bytes = read_file(s->copy, "data.mdb", &n);
    kc_autofree char *path = kc_asprintf("%s/data.mdb", s->copy);
    char *at = memmem(bytes, n, "will be damaged", 15);
    assert_non_null(at);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    for (; at; at = memmem(at + 1, n - (size_t)(at + 1 - bytes), "will be damaged", 15))
        assert_int_equal(pwrite(fd, "W", 1, at - bytes), 1);
    close(fd);
    refuse_untouched(s, "damaged");
}

static void journal_of_a_newer_store_is_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(16 << 10);
    put(s, "a", "1");
    s->storage = kc__storage_close(s->storage);
    kc_autofree char *old = kc_asprintf("%s/old.mdb", s->folder);
    run_command("cp %s/data.mdb %s", s->folder, old);
    s->storage = open_in(s, s->folder);
    for (int i = 0; i < 6; i++)
        put(s, "a", "2");
    copy_files(s);
    run_command("mv %s/old.mdb %s/data.mdb", s->copy, s->copy);
    refuse_untouched(s, "one of them was replaced");
}

/* Appends a batch with one record to the copy's journal; returns the offset behind it. */
static size_t append_batch(const stage *s, size_t at, uint64_t revision, uint64_t salt)
{
    enum { VALUE = 60000 };
    static char bytes[64 << 10], value[VALUE];
    kc_autofree char *path = kc_asprintf("%s/journal", s->copy);
    char key[16];
    snprintf(key, sizeof(key), "k%d", (int)revision);
    memset(value, 'v', sizeof(value));
    const kc__storage_record record = {
        .wall = 1, .key = kc_cstr(key), .value = kc_str_of(value, sizeof(value))};
    const size_t head = KC__STORAGE_JOURNAL_HEADER + KC__STORAGE_JOURNAL_PREFIX;
    const size_t size = kc__storage_record_size(&record);
    kc__storage_put_u64(bytes + KC__STORAGE_JOURNAL_HEADER, size);
    kc__storage_record_write(&record, revision, bytes + head);
    kc__storage_journal_seal(bytes, head + size, revision - 1, salt);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, bytes, head + size, (off_t)at), head + size);
    close(fd);
    return at + kc__storage_journal_align(head + size);
}

/* Older versions of this backend filled the journal up to 768 KiB. */
static void journal_larger_than_the_limit_is_read_completely(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(0);
    uint64_t revision = put(s, "a", "1");
    copy_files(s);
    size_t n, at = KC__STORAGE_JOURNAL_ALIGN;
    kc_autofree char *journal = read_file(s->copy, "journal", &n);
    kc__storage_journal_batch batch;
    assert_true(kc__storage_journal_read(kc_str_of(journal, n), &batch));
    while (at + (64 << 10) <= KC__STORAGE_JOURNAL_READ)
        at = append_batch(s, at, ++revision, batch.salt);
    assert_true(at > 2 * KC__STORAGE_JOURNAL_MOST);
    kc_auto(kc__storage) *killed = open_copy(s);
    assert_int_equal(revision_of(killed), revision);
    put_bytes(killed, "b", KC_STR("2"));
    kc_autofree char *content = content_of(killed);
    assert_contains(content, "a=1@2 ");
    assert_contains(content, "b=2@");
}

/* A value that imitates the next batch, at the place where it would stand. */
static void value_that_looks_like_a_batch_is_not_applied(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(16 << 10);
    char value[12000] = {0};
    const kc__storage_record record = {.wall = 1, .key = KC_STR("forged"), .value = KC_STR("x")};
    const size_t size = kc__storage_record_size(&record);
    /* The value of a batch at 0 begins at 24 + 8 + 27 + 1. */
    char *forged = value + 4096 - 60;
    kc__storage_put_u64(forged + KC__STORAGE_JOURNAL_HEADER, size);
    kc__storage_record_write(&record, 6,
                             forged + KC__STORAGE_JOURNAL_HEADER + KC__STORAGE_JOURNAL_PREFIX);
    kc__storage_journal_seal(forged, KC__STORAGE_JOURNAL_HEADER + KC__STORAGE_JOURNAL_PREFIX + size,
                             5, 0);
    put_bytes(s->storage, "a", kc_str_of(value, sizeof(value)));
    put(s, "b", "1");
    put(s, "b", "2"); /* Is folded with them. */
    put(s, "b", "3"); /* Over the beginning of the value's batch. */
    copy_files(s);
    size_t n;
    kc_autofree char *journal = read_file(s->copy, "journal", &n);
    kc__storage_journal_batch batch;
    assert_true(kc__storage_journal_read(kc_str_of(journal + 4096, n - 4096), &batch));
    assert_int_equal(batch.base, 5); /* The forged one is where the next would be. */
    kc_auto(kc__storage) *killed = open_copy(s);
    assert_int_equal(revision_of(killed), 5);
}

TESTS(small_commit_writes_one_block, thousand_small_commits_write_at_most_half_a_block_more_each,
      large_batch_is_not_written_to_the_journal,
      metrics_show_what_the_journal_holds_and_when_it_was_folded,
      batch_that_bypasses_the_journal_counts_no_fold, every_commit_survives_kill,
      killed_store_continues_and_survives_the_next_kill, torn_batch_is_not_applied,
      batch_of_an_older_generation_is_not_applied_again, closed_store_does_not_need_its_journal,
      commit_after_failed_sync_needs_recovery, store_closed_after_failed_recovery_has_every_commit,
      damage_before_the_last_batch_is_refused, recovery_does_not_write_to_damaged_data,
      journal_of_a_newer_store_is_refused, journal_larger_than_the_limit_is_read_completely,
      value_that_looks_like_a_batch_is_not_applied)
