/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state that a crashed process leaves to the next one. Each "process" is a child that opens the
 * journal and ends in its own way.
 */
#include "runtime/crash/crash_journal.h"

#include "crash_testing.h"
#include "kc/file.h"
#include "runtime/crash/guard.h"
#include "runtime/crash/quarantine.h"

typedef struct folder {
    char path[64];
} folder;

static void begin(folder *f)
{
    snprintf(f->path, sizeof(f->path), "/tmp/kc-journal-XXXXXX");
    assert_non_null(mkdtemp(f->path));
}

static void folder_done(folder *f)
{
    static const char *const names[] = {"journal", "quarantine.json"};
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_autofree char *path = kc_asprintf("%s/%s", f->path, names[i]);
        unlink(path);
    }
    rmdir(f->path);
}

#define CODE UINT64_C(7)
#define KEY  KC_KEY("plant", "r1")

static const kc__quarantine_key robot = {.controller = "robot", .code = CODE};

static kc__quarantine_key key_of_robot(void)
{
    kc__quarantine_key key = robot;
    key.key = KEY;
    return key;
}

/* ---- process exits ---- */

typedef void end_fn(kc_crash_journal *journal, kc__crash_journal_slot *slot);

static void stop_cleanly(kc_crash_journal *journal, kc__crash_journal_slot *slot)
{
    kc__crash_journal_slot_end(slot);
    kc_crash_journal_close(journal);
}

static void be_killed(kc_crash_journal *journal, kc__crash_journal_slot *slot)
{
    (void)journal, (void)slot;
    kill(getpid(), SIGKILL);
}

static void crash(void *user)
{
    (void)user;
    *(volatile char *volatile)NULL = 1;
}

/* Without crash recovery. */
static void crash_in_reconcile(kc_crash_journal *journal, kc__crash_journal_slot *slot)
{
    kc__guard guard;
    const char *what = NULL;
    (void)journal;
    kc__guard_begin(&guard);
    guard.slot = slot;
    kc__guard_call(&guard, crash, NULL, &what);
}

/* One crash more than crash recovery allows. */
static void crash_too_often(kc_crash_journal *journal, kc__crash_journal_slot *slot)
{
    kc__guard guard;
    const char *what = NULL;
    (void)journal;
    kc__guard_begin(&guard);
    guard.slot = slot;
    guard.recovers = true;
    guard.limited = true;
    for (int i = 0; i <= KC__GUARD_CRASHES; i++)
        kc__guard_call(&guard, crash, NULL, &what);
}

/* While the call goes on elsewhere. */
static void crash_outside(kc_crash_journal *journal, kc__crash_journal_slot *slot)
{
    kc__guard guard;
    (void)journal, (void)slot;
    kc__guard_begin(&guard);
    crash(NULL);
}

/* One process with a call in progress for the key. */
typedef struct process {
    const folder *folder;
    end_fn *end;
} process;

static void live(void *user)
{
    const process *p = user;
    kc_crash_journal *journal = kc_crash_journal_open(p->folder->path, NULL, NULL);
    /* A manager has a quarantine, which takes over what the last process left. */
    kc__quarantine_new(journal, kc_clock_real(), NULL);
    kc__crash_journal_slot *slot = kc__crash_journal_take_slot(journal, "robot", CODE);
    kc__crash_journal_slot_begin(slot, KEY);
    p->end(journal, slot);
}

static void run_process(const folder *f, end_fn *end)
{
    in_child(live, &(process){f, end});
}

/* What the next process makes of it. */
static kc__quarantine_verdict verdict_with(const folder *f, uint64_t code, uint64_t version,
                                           bool *ret_loop)
{
    int64_t after = 0;
    kc_auto(kc_crash_journal) *journal = kc_crash_journal_open(f->path, NULL, NULL);
    assert_non_null(journal);
    if (ret_loop)
        *ret_loop = kc_crash_journal_is_crash_loop(journal);
    kc__quarantine *q = kc__quarantine_new(journal, kc_clock_real(), NULL);
    kc__quarantine_key key = key_of_robot();
    key.code = code;
    const kc__quarantine_verdict verdict = kc__quarantine_admit(q, &key, version, &after);
    kc__quarantine_free(q);
    return verdict;
}

static void key_whose_reconcile_ended_the_process_is_held(void **state)
{
    (void)state;
    if (KC__SANITIZED)
        skip();
    kc_scoped(folder) f;
    begin(&f);
    run_process(&f, crash_in_reconcile);
    assert_int_equal(verdict_with(&f, CODE, 5, NULL), KC__QUARANTINE_HELD);
    assert_int_equal(verdict_with(&f, CODE, 5, NULL), KC__QUARANTINE_HELD);
    assert_int_equal(verdict_with(&f, CODE, 6, NULL), KC__QUARANTINE_RUN);
}

static void crash_beyond_the_limit_of_recovery_is_held(void **state)
{
    (void)state;
    if (KC__SANITIZED)
        skip();
    kc_scoped(folder) f;
    begin(&f);
    run_process(&f, crash_too_often);
    assert_int_equal(verdict_with(&f, CODE, 5, NULL), KC__QUARANTINE_HELD);
}

static void deleted_object_ends_its_quarantine_without_a_reconcile(void **state)
{
    (void)state;
    if (KC__SANITIZED)
        skip();
    kc_scoped(folder) f;
    begin(&f);
    run_process(&f, crash_in_reconcile);
    assert_int_equal(verdict_with(&f, CODE, 5, NULL), KC__QUARANTINE_HELD);
    assert_int_equal(verdict_with(&f, CODE, KC__QUARANTINE_ABSENT, NULL), KC__QUARANTINE_HELD);
    assert_int_equal(verdict_with(&f, CODE, 5, NULL), KC__QUARANTINE_RUN);
}

static void changed_code_releases_the_key(void **state)
{
    (void)state;
    if (KC__SANITIZED)
        skip();
    kc_scoped(folder) f;
    begin(&f);
    run_process(&f, crash_in_reconcile);
    assert_int_equal(verdict_with(&f, CODE, 5, NULL), KC__QUARANTINE_HELD);
    assert_int_equal(verdict_with(&f, CODE + 1, 5, NULL), KC__QUARANTINE_RUN);
}

static void key_interrupted_by_one_or_two_kills_is_not_held(void **state)
{
    (void)state;
    kc_scoped(folder) f;
    begin(&f);
    run_process(&f, be_killed);
    run_process(&f, be_killed);
    assert_int_equal(verdict_with(&f, CODE, 5, NULL), KC__QUARANTINE_RUN);
}

static void key_interrupted_by_three_kills_in_a_row_is_held_for_a_time(void **state)
{
    (void)state;
    kc_scoped(folder) f;
    begin(&f);
    for (int i = 0; i < 3; i++)
        run_process(&f, be_killed);
    assert_int_equal(verdict_with(&f, CODE, 5, NULL), KC__QUARANTINE_HELD_FOR);
    assert_int_equal(verdict_with(&f, CODE, 5, NULL), KC__QUARANTINE_HELD_FOR); /* After a stop. */
    assert_int_equal(verdict_with(&f, CODE, 6, NULL), KC__QUARANTINE_RUN);
}

static void clean_stop_holds_nothing(void **state)
{
    (void)state;
    kc_scoped(folder) f;
    begin(&f);
    for (int i = 0; i < 6; i++)
        run_process(&f, stop_cleanly);
    bool loop = true;
    assert_int_equal(verdict_with(&f, CODE, 5, &loop), KC__QUARANTINE_RUN);
    assert_false(loop);
}

static void three_crashes_soon_after_start_are_a_crash_loop(void **state)
{
    (void)state;
    if (KC__SANITIZED)
        skip();
    kc_scoped(folder) f;
    begin(&f);
    bool loop = true;
    run_process(&f, crash_outside);
    run_process(&f, crash_outside);
    run_process(&f, crash_outside);
    verdict_with(&f, CODE, 5, &loop);
    assert_true(loop);
    verdict_with(&f, CODE, 5, &loop); /* The one before stopped well. */
    assert_false(loop);
}

static void second_process_on_the_directory_is_refused(void **state)
{
    (void)state;
    kc_scoped(folder) f;
    kc_scoped(kc_error) err = {0};
    begin(&f);
    kc_auto(kc_crash_journal) *first = kc_crash_journal_open(f.path, NULL, &err);
    assert_non_null(first);
    assert_null(kc_crash_journal_open(f.path, NULL, &err));
    assert_error(&err, KC_CONFLICT, "in use by another process");
}

static void write_file(const folder *f, const char *name, const char *bytes, size_t n)
{
    kc_autofree char *path = kc_asprintf("%s/%s", f->path, name);
    assert_int_equal(kc_file_write(path, 0600, kc_str_of(bytes, n), NULL), 0);
}

static void damaged_files_are_ignored(void **state)
{
    (void)state;
    static kc__crash_journal_file noise;
    kc_scoped(folder) f;
    begin(&f);
    memset(&noise, 0x5a, sizeof(noise));
    memcpy(noise.header.magic, KC__CRASH_JOURNAL_MAGIC, sizeof(noise.header.magic));
    for (size_t i = 0; i < KC__CRASH_JOURNAL_SLOTS; i++)
        noise.slots[i].state = KC__CRASH_SLOT_CRASHED;
    write_file(&f, "journal", (const char *)&noise, sizeof(noise));
    write_file(&f, "quarantine.json", "[{\"key\":1},{]", 13);
    assert_int_equal(verdict_with(&f, CODE, 5, NULL), KC__QUARANTINE_RUN);
    write_file(&f, "quarantine.json", "[{\"key\":1},{\"controller\":\"robot\"},7]", 36);
    assert_int_equal(verdict_with(&f, CODE, 5, NULL), KC__QUARANTINE_RUN);
    write_file(&f, "journal", "short", 5);
    assert_int_equal(verdict_with(&f, CODE, 5, NULL), KC__QUARANTINE_RUN);
}

static void symlink_in_place_of_the_journal_is_refused(void **state)
{
    (void)state;
    kc_scoped(folder) f;
    kc_scoped(kc_error) err = {0};
    begin(&f);
    kc_autofree char *path = kc_asprintf("%s/journal", f.path);
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_null(kc_crash_journal_open(f.path, NULL, &err));
}

static void status_and_versions_do_not_count_as_a_change(void **state)
{
    (void)state;
    kc_auto(kc_object) *a = object_of("{'kind':'X','metadata':{'name':'a','resourceVersion':'1'},"
                                      "'spec':{'n':1},'status':{'phase':'A'}}");
    kc_auto(kc_object) *b = object_of("{'kind':'X','metadata':{'name':'a','resourceVersion':'2'},"
                                      "'spec':{'n':1},'status':{'phase':'B'}}");
    kc_auto(kc_object) *c = object_of("{'kind':'X','metadata':{'name':'a','resourceVersion':'2'},"
                                      "'spec':{'n':2},'status':{'phase':'B'}}");
    assert_int_equal(kc__quarantine_version(a), kc__quarantine_version(b));
    assert_int_not_equal(kc__quarantine_version(a), kc__quarantine_version(c));
    assert_int_not_equal(kc__quarantine_version(a), kc__quarantine_version(NULL));
    assert_int_not_equal(kc__quarantine_code((void *)&robot), 0);
}

TESTS(key_whose_reconcile_ended_the_process_is_held,
      deleted_object_ends_its_quarantine_without_a_reconcile,
      crash_beyond_the_limit_of_recovery_is_held, changed_code_releases_the_key,
      key_interrupted_by_one_or_two_kills_is_not_held,
      key_interrupted_by_three_kills_in_a_row_is_held_for_a_time, clean_stop_holds_nothing,
      three_crashes_soon_after_start_are_a_crash_loop, second_process_on_the_directory_is_refused,
      damaged_files_are_ignored, symlink_in_place_of_the_journal_is_refused,
      status_and_versions_do_not_count_as_a_change)
