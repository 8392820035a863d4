/* SPDX-License-Identifier: Apache-2.0 */
#include "maintenance_testing.h"

#include "apiserver/maintenance/migrate.h"

#include <signal.h>
#include <sys/wait.h>

static kc__maintenance_migrated migrate(kc__storage *source, kc__storage *target)
{
    kc_scoped(kc_error) err = {0};
    kc__maintenance_migrated result = {0};
    if (kc__maintenance_migrate(source, target, &(kc__maintenance_migrate_opts){0}, &result, &err) <
        0)
        fail_msg("%s", kc_error_text(&err));
    return result;
}

static void every_pair_of_backends_is_migrated(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *memory = memory_store(), *a = file_store(dir, "a"),
                         *b = file_store(dir, "b"), *back = memory_store();
    put_many(memory, 1500);
    migrate(memory, a);
    migrate(a, b);
    const kc__maintenance_migrated last = migrate(b, back);
    assert_same_content(memory, back);
    assert_int_equal(last.objects, 1500);
    assert_int_equal(last.copied, 1500);
    assert_false(last.resumed);
}

static void revision_of_the_target_is_above_that_of_the_source(void **state)
{
    (void)state;
    kc_auto(kc__storage) *source = memory_store(), *target = memory_store();
    put_map(source, "a");
    assert_int_equal(kc__storage_advance(source, 5000, NULL), 0);
    const kc__maintenance_migrated result = migrate(source, target);
    const kc__storage_state after = state_of(target);
    assert_int_equal(result.source_revision, 5000);
    assert_true(after.revision > 5000);
    assert_int_equal(after.compacted, after.revision);
    uint64_t revision = 0;
    assert_int_equal(kc__storage_get(target, KC_STR(MAPS "a"), NULL, &revision, NULL), 0);
    assert_true(revision > 5000);
}

static void target_with_objects_is_refused(void **state)
{
    (void)state;
    kc_auto(kc__storage) *source = memory_store(), *target = memory_store();
    kc_scoped(kc_error) err = {0};
    kc__maintenance_migrated result;
    put_map(target, "a");
    assert_true(kc__maintenance_migrate(source, target, &(kc__maintenance_migrate_opts){0}, &result,
                                        &err) < 0);
    assert_error(&err, KC_CONFLICT, "target: the store has objects");
}

/* ---- interruption ---- */

/* Kills the process after a number of batches. */
static void die_after(size_t objects, void *user)
{
    if (objects >= *(size_t *)user)
        kill(getpid(), SIGKILL);
}

static void migrate_and_die(const scratch *dir, size_t objects)
{
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        kc__maintenance_migrated result;
        kc__storage *source = file_store(dir, "source"), *target = file_store(dir, "target");
        const kc__maintenance_migrate_opts opts = {.progress = die_after, .user = &objects};
        (void)kc__maintenance_migrate(source, target, &opts, &result, NULL);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void killed_migration_is_continued_where_it_stopped(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc__storage *source = file_store(dir, "source");
    put_many(source, 3000);
    kc__storage_close(source);
    migrate_and_die(dir, 1000);
    source = file_store(dir, "source");
    kc__storage *target = file_store(dir, "target");
    const kc__maintenance_migrated result = migrate(source, target);
    assert_true(result.resumed);
    assert_true(result.copied < 3000 && result.copied > 0);
    assert_int_equal(result.objects, 3000);
    assert_same_content(source, target);
    kc__storage_close(source);
    kc__storage_close(target);
}

static void killed_migration_of_a_changed_source_starts_again(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc__storage *source = file_store(dir, "source");
    put_many(source, 3000);
    kc__storage_close(source);
    migrate_and_die(dir, 1000);
    source = file_store(dir, "source");
    put_value(source, MAPS "m00000", "{\"changed\":true}");
    kc__storage *target = file_store(dir, "target");
    const kc__maintenance_migrated result = migrate(source, target);
    assert_false(result.resumed);
    assert_int_equal(result.copied, 3000);
    assert_same_content(source, target);
    kc__storage_close(source);
    kc__storage_close(target);
}

TESTS(every_pair_of_backends_is_migrated, revision_of_the_target_is_above_that_of_the_source,
      target_with_objects_is_refused, killed_migration_is_continued_where_it_stopped,
      killed_migration_of_a_changed_source_starts_again)
