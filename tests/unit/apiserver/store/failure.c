/* SPDX-License-Identifier: Apache-2.0 */
/* The store when its storage fails, and when it is closed during writes. */
#include "held_storage.h"

static void expect_failure(stage *s, const char *key, kc_reason reason, const char *part)
{
    kc_scoped(attempt) a = try_write(s, s->pods, key, KC__STORAGE_ANY, "lost");
    assert_int_equal(a.write.outcome, KC__STORAGE_REFUSED);
    assert_null(a.write.result);
    assert_error(&a.write.error, reason, part);
}

static void failed_commit_changes_nothing_and_the_next_one_succeeds(void **state)
{
    (void)state;
    kc_auto(stage) *s = held_stage();
    held *h = held_of(s->storage);
    put(s, "a", "1");
    put(s, "b", "1");
    h->fail = KC_SERVICE_UNAVAILABLE;
    kc_scoped(attempt) gone = try_write(s, s->pods, "a", KC__STORAGE_ANY, NULL);
    assert_error(&gone.write.error, KC_SERVICE_UNAVAILABLE, "on fire");
    expect_failure(s, "b", KC_SERVICE_UNAVAILABLE, "on fire");
    expect_failure(s, "c", KC_SERVICE_UNAVAILABLE, "on fire");
    kc_scoped(kc_error) err = {0};
    assert_true(kc__store_health(s->store, &err) < 0);
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "on fire");
    expect_now(s->pods, "a=1@2 b=1@3 ");
    assert_int_equal(kc__store_revision(s->store), 3);
    h->fail = 0;
    assert_int_equal(put(s, "c", "2"), 4);
    assert_int_equal(kc__store_health(s->store, NULL), 0);
    expect_now(s->pods, "a=1@2 b=1@3 c=2@4 ");
    expect_at(s->pods, 2, "a=1@2 ");
    stage_reopen(s);
    expect_now(s->pods, "a=1@2 b=1@3 c=2@4 ");
}

static void health_recovers_after_a_period_without_writes(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    kc_auto(stage) *s = stage_make();
    s->backend = &held_backend;
    s->opts.clock = clock;
    stage_open(s);
    held_of(s->storage)->fail = KC_SERVICE_UNAVAILABLE;
    expect_failure(s, "a", KC_SERVICE_UNAVAILABLE, "on fire");
    kc_clock_advance(clock, 9 * KC_SECOND);
    assert_true(kc__store_health(s->store, NULL) < 0);
    kc_clock_advance(clock, 2 * KC_SECOND);
    assert_int_equal(kc__store_health(s->store, NULL), 0);
    stage_close(s);
}

static void every_write_of_a_failed_batch_gets_the_error(void **state)
{
    (void)state;
    kc_auto(stage) *s = held_stage();
    held *h = held_of(s->storage);
    put(s, "a", "1");
    attempt first, a[5];
    hold(s, &first);
    attempt_start(s, &a[0], s->pods, "a", KC__STORAGE_ANY, "2");
    attempt_start(s, &a[1], s->pods, "a", KC__STORAGE_ABSENT, "3");
    attempt_start(s, &a[2], s->pods, "a", KC__STORAGE_ANY, NULL);
    attempt_start(s, &a[3], s->pods, "a", KC__STORAGE_ANY, "4");
    attempt_start(s, &a[4], s->maps, "x", KC__STORAGE_ANY, "5");
    h->fail = KC_SERVICE_UNAVAILABLE;
    h->hold = false;
    for (int i = 0; i < 5; i++) {
        kc_latch_wait(a[i].done);
        assert_error(&a[i].write.error, KC_SERVICE_UNAVAILABLE, "on fire");
        assert_null(a[i].write.result);
        attempt_done(&a[i]);
    }
    kc_latch_wait(first.done);
    attempt_done(&first);
    expect_now(s->pods, "a=1@2 ");
    expect_now(s->maps, "");
    h->fail = 0;
    assert_int_equal(put(s, "a", "6"), 3);
    expect_at(s->pods, 2, "a=1@2 ");
}

static void unknown_commit_outcome_makes_the_store_fail_until_reopened(void **state)
{
    (void)state;
    kc_auto(stage) *s = held_stage();
    held *h = held_of(s->storage);
    put(s, "a", "1");
    h->fail = KC_INTERNAL;
    expect_failure(s, "a", KC_INTERNAL, "on fire");
    h->fail = 0;
    const size_t commits = h->commits;
    expect_failure(s, "b", KC_INTERNAL, "on fire");
    assert_int_equal(h->commits, commits);
    kc_scoped(kc_error) err = {0};
    assert_true(kc__store_health(s->store, &err) < 0);
    assert_int_equal(err.code, 500);
    expect_now(s->pods, "a=1@2 ");
    stage_reopen(s);
    assert_int_equal(put(s, "a", "2"), 3);
}

/* Returns a result as if another writer had written too. */
static int another_writer(kc__storage *storage, const kc__storage_op *ops, size_t n,
                          kc__storage_result *ret_results, uint64_t *ret_revision, kc_error *err)
{
    int failed = held_commit(storage, ops, n, ret_results, ret_revision, err);
    ret_results[0].revision++;
    return failed;
}

static void storage_revision_that_differs_makes_the_store_fail(void **state)
{
    (void)state;
    kc_auto(stage) *s = held_stage();
    kc__storage_backend odd = held_backend;
    odd.commit = another_writer;
    s->storage->backend = &odd;
    expect_failure(s, "a", KC_INTERNAL, "differ at revision 2");
    s->storage->backend = &held_backend;
    expect_failure(s, "a", KC_INTERNAL, "differ at revision 2");
    expect_now(s->pods, "");
}

/* ---- a storage that differs ends the process ---- */

static void note_inconsistent(void *user, const kc_error *err)
{
    kc_buf_puts(user, kc_error_text(err));
}

static int recover_elsewhere(kc__storage *storage, uint64_t *ret_revision, kc_error *err)
{
    (void)storage, (void)err;
    *ret_revision = 7;
    return 0;
}

static void owner_is_told_when_recovery_finds_another_revision(void **state)
{
    (void)state;
    kc_scoped(kc_buf) told = {0};
    kc_auto(stage) *s = stage_make();
    kc__storage_backend odd = held_backend;
    odd.recover = recover_elsewhere;
    s->backend = &held_backend;
    s->opts.inconsistent = note_inconsistent;
    s->opts.user = &told;
    stage_open(s);
    s->storage->backend = &odd;
    held_of(s->storage)->fail = KC_INTERNAL;
    expect_failure(s, "a", KC_INTERNAL, "on fire");
    assert_int_equal(told.n, 0);
    held_of(s->storage)->fail = 0;
    kc_scoped(kc_error) err = {0};
    do {
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
        kc_error_done(&err);
        kc__store_health(s->store, &err);
    } while (!strstr(kc_error_text(&err), "must be restarted"));
    stage_close(s); /* The committer has ended. */
    assert_contains(kc_buf_cstr(&told), "the storage is at revision 7 and the store at 1");
}

static void full_storage_fails_writes_and_recovers_after_reopening(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_make();
    s->storage_opts.max_bytes = 256 << 10;
    s->storage_opts.history_events = 1;
    stage_open(s);
    char key[32], big[200];
    memset(big, 'x', sizeof(big));
    big[sizeof(big) - 1] = '\0';
    int n = 0;
    for (kc_reason reason = KC_OK; reason == KC_OK; n++) {
        snprintf(key, sizeof(key), "k%d", n);
        kc_scoped(attempt) a = try_write(s, s->pods, key, KC__STORAGE_ANY, big);
        reason = a.write.error.reason;
        assert_true(n < 10000);
        if (reason)
            assert_error(&a.write.error, KC_SERVICE_UNAVAILABLE, "the size limit");
    }
    assert_true(n > 10);
    const uint64_t revision = kc__store_revision(s->store);
    stage_close(s);
    s->storage_opts.max_bytes = 0;
    stage_open(s);
    assert_int_equal(kc__store_revision(s->store), revision);
    assert_int_equal(put(s, key, "fits"), revision + 1);
}

enum { STEPS = 400, KEYS = 6 };

/* What each key should hold; "": nothing. */
typedef struct expected {
    char values[KEYS][16];
    uint64_t revisions[KEYS];
} expected;

static void expect_model(stage *s, const expected *e)
{
    kc_scoped(kc_buf) text = {0};
    for (int i = 0; i < KEYS; i++)
        if (e->values[i][0])
            kc_buf_printf(&text, "k%d=%s@%llu ", i, e->values[i],
                          (unsigned long long)e->revisions[i]);
    expect_now(s->pods, kc_buf_cstr(&text));
}

/* A few writes at once, all of which are stored or none. */
static void burst(stage *s, kc_rand *random, expected *e, int step)
{
    attempt a[3];
    char keys[3][8], value[16];
    size_t at[3];
    snprintf(value, sizeof(value), "v%d", step);
    for (int i = 0; i < 3; i++) {
        at[i] = kc_rand_below(random, KEYS);
        snprintf(keys[i], sizeof(keys[i]), "k%zu", at[i]);
        attempt_start(s, &a[i], s->pods, keys[i], KC__STORAGE_ANY,
                      kc_rand_below(random, 3) ? value : NULL);
    }
    for (int i = 0; i < 3; i++) {
        kc_latch_wait(a[i].done);
        if (a[i].write.outcome == KC__STORAGE_STORED) {
            snprintf(e->values[at[i]], sizeof(e->values[0]), "%s",
                     a[i].write.verb == KC__STORAGE_PUT ? value : "");
            e->revisions[at[i]] = a[i].write.revision;
        }
        attempt_done(&a[i]);
    }
}

static void failures_at_any_commit_leave_no_trace(void **state)
{
    (void)state;
    kc_auto(stage) *s = held_stage();
    expected e = {0};
    kc_rand random;
    kc_rand_seed(&random, 3);
    for (int step = 0; step < STEPS; step++) {
        held_of(s->storage)->fail = kc_rand_below(&random, 3) ? 0 : KC_SERVICE_UNAVAILABLE;
        burst(s, &random, &e, step);
        expect_model(s, &e);
        if (step % 100 == 99) {
            stage_reopen(s);
            expect_model(s, &e);
        }
    }
}

/* ---- closing ---- */

enum { FLOOD = 500 };

typedef struct flood {
    kc__store_write writes[FLOOD];
    stage *s;
    _Atomic size_t done, more_writes;
} flood;

static flood *flood_of;

static void on_flood(kc__store_write *write)
{
    kc_object_unref(write->result);
    kc_error_done(&write->error);
    flood_of->done++;
    if (write->verb == KC__STORAGE_PUT && flood_of->more_writes++ < 50) { /* A last word. */
        write->verb = KC__STORAGE_DELETE;
        write->object = NULL;
        kc__store_submit(flood_of->s->store, write);
    }
}

static void close_completes_writes_submitted_meanwhile(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_auto(kc_object) *object = object_of("{}");
    kc_autofree flood *f = flood_of = kc_new(flood);
    f->s = s;
    for (size_t i = 0; i < FLOOD; i++) {
        f->writes[i] = (kc__store_write){.cache = s->pods,
                                         .key = KC_STR("a"),
                                         .expected = KC__STORAGE_ANY,
                                         .object = object,
                                         .loop = s->loops[i % STAGE_LOOPS],
                                         .done = on_flood};
        kc__store_submit(s->store, &f->writes[i]);
    }
    kc__store_close(s->store);
    assert_int_equal(f->done, FLOOD + 50);
    stage_open(s);
    assert_true(kc__store_revision(s->store) > FLOOD);
}

/* ---- opening ---- */

static void unreadable_object_fails_the_open(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *part;
    } bad[] = {
        {"/registry/pods/a", "not JSON", "the stored object \"/registry/pods/a\" cannot be read"},
        {"/registry/pods/", "{}", "the stored key \"/registry/pods/\" names no object"},
        {"pods", "{}", "the stored key \"pods\" names no object"},
    };
    for (size_t i = 0; i < KC_COUNT(bad); i++) {
        kc_auto(stage) *s = stage_make();
        kc_scoped(kc_error) err = {0};
        kc__storage_result result;
        kc__storage_op op = {.key = kc_cstr(bad[i].key),
                             .expected = KC__STORAGE_ANY,
                             .value = kc_cstr(bad[i].value)};
        assert_int_equal(kc__storage_open(s->backend, &s->storage_opts, &s->storage, &err), 0);
        assert_int_equal(kc__storage_commit(s->storage, &op, 1, &result, NULL, &err), 0);
        assert_null(kc__store_open(&(kc__store_opts){.storage = s->storage}, &err));
        assert_contains(kc_error_text(&err), bad[i].part);
    }
}

static void loaded_object_has_the_revision_of_the_storage(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_make();
    kc__storage_result result;
    kc__storage_op op = {.key = KC_STR("/registry/pods/a"),
                         .expected = KC__STORAGE_ANY,
                         .value = KC_STR("{\"data\":\"1\"}")};
    assert_int_equal(kc__storage_open(s->backend, &s->storage_opts, &s->storage, NULL), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(kc__storage_commit(s->storage, &op, 1, &result, NULL, NULL), 0);
    kc__storage_close(s->storage);
    stage_open(s);
    expect_now(s->pods, "a=1@3 ");
    expect_at(s->pods, 2, "a=1@2 ");
}

TESTS(failed_commit_changes_nothing_and_the_next_one_succeeds,
      health_recovers_after_a_period_without_writes, every_write_of_a_failed_batch_gets_the_error,
      unknown_commit_outcome_makes_the_store_fail_until_reopened,
      storage_revision_that_differs_makes_the_store_fail,
      owner_is_told_when_recovery_finds_another_revision,
      full_storage_fails_writes_and_recovers_after_reopening, failures_at_any_commit_leave_no_trace,
      close_completes_writes_submitted_meanwhile, unreadable_object_fails_the_open,
      loaded_object_has_the_revision_of_the_storage)
