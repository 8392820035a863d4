/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots at old revisions, compared with a model that keeps them all, and their expiration. */
#include "store_testing.h"

enum { STEPS = 400, KEYS = 12 };

/* The text of every state there was, by revision. */
typedef struct model {
    char *states[STEPS + 2];
    uint64_t newest;
} model;

static void model_done(model *m)
{
    for (size_t i = 0; i < KC_COUNT(m->states); i++)
        free(m->states[i]);
}

static void note(model *m, stage *s)
{
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc__cow_snapshot) *now = kc__watch_cache_snapshot(s->pods, &m->newest);
    describe(now, &out);
    free(m->states[m->newest]);
    m->states[m->newest] = kc_buf_take(&out);
}

/* A random change; most concern pods, some another resource. */
static void step(stage *s, model *m, kc_rand *random, int i)
{
    char key[16], value[16];
    snprintf(key, sizeof(key), "ns/%d", (int)kc_rand_below(random, KEYS));
    snprintf(value, sizeof(value), "v%d", i);
    kc__watch_cache *cache = kc_rand_below(random, 5) ? s->pods : s->maps;
    kc_scoped(attempt) a =
        try_write(s, cache, key, KC__STORAGE_ANY, kc_rand_below(random, 3) ? value : NULL);
    note(m, s);
}

static void expect_all(stage *s, const model *m, uint64_t since)
{
    for (uint64_t revision = since; revision <= m->newest; revision++)
        expect_at(s->pods, revision, m->states[revision]);
}

static void snapshot_at_any_revision_survives_restart(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_scoped(model) m = {0};
    kc_rand random;
    kc_rand_seed(&random, 42);
    note(&m, s);
    for (int i = 0; i < STEPS; i++) {
        step(s, &m, &random, i);
        if (i == STEPS / 2)
            stage_reopen(s);
    }
    expect_all(s, &m, 1);
    stage_reopen(s);
    expect_all(s, &m, 1);
    assert_int_equal(kc__watch_cache_oldest(s->pods), 1);
}

static void snapshot_at_held_revision_is_reused(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_scoped(model) m = {0};
    kc_rand random;
    kc_rand_seed(&random, 7);
    note(&m, s);
    for (int i = 0; i < STEPS; i++)
        step(s, &m, &random, i);
    for (uint64_t revision = 5; revision < m.newest; revision += 9) {
        kc_auto(kc__cow_snapshot) *then = kc__watch_cache_snapshot_at(s->pods, revision, NULL);
        kc__watch_cache_keep(s->pods, revision, then);
        kc_auto(kc__cow_snapshot) *more_writes =
            kc__watch_cache_snapshot_at(s->pods, revision, NULL);
        assert_ptr_equal(then, more_writes);
    }
    expect_all(s, &m, 1);
}

static void snapshot_at_future_revision_is_a_timeout(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    put(s, "a", "1");
    kc_scoped(kc_error) err = {0};
    assert_null(kc__watch_cache_snapshot_at(s->pods, 3, &err));
    assert_error(&err, KC_TIMEOUT, "Timeout: Too large resource version: 3, current: 2");
    assert_int_equal(err.retry_after_seconds, 1);
    assert_string_equal(err.causes.items[0].reason, "ResourceVersionTooLarge");
    assert_null(kc__watch_cache_snapshot_at(s->pods, 3, NULL));
}

static void expect_expired(stage *s, uint64_t revision)
{
    kc_scoped(kc_error) err = {0};
    assert_null(kc__watch_cache_snapshot_at(s->pods, revision, &err));
    assert_error(&err, KC_EXPIRED, "too old");
}

static void old_events_expire_but_held_snapshots_stay_for_a_time(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    {
        kc_auto(stage) *s = stage_make();
        s->opts.clock = clock;
        stage_open(s);
        put(s, "a", "1");
        put(s, "a", "2");
        kc_auto(kc__cow_snapshot) *then = kc__watch_cache_snapshot_at(s->pods, 2, NULL);
        kc_clock_advance(clock, 4 * KC_MINUTE);
        kc__watch_cache_keep(s->pods, 2, then);
        put(s, "a", "3");
        expect_at(s->pods, 2, "a=1@2 ");
        kc_clock_advance(clock, 2 * KC_MINUTE);
        put(s, "a", "4");
        put(s, "a", "5");
        quiesce(s);
        assert_int_equal(kc__watch_cache_oldest(s->pods), 3);
        expect_at(s->pods, 2, "a=1@2 ");
        expect_at(s->pods, 3, "a=2@3 ");
        expect_expired(s, 1);
        kc_clock_advance(clock, 10 * KC_MINUTE);
        put(s, "a", "6");
        put(s, "a", "7");
        quiesce(s);
        expect_expired(s, 2);
        expect_now(s->pods, "a=7@8 ");
    }
}

static void old_events_expire_without_writes(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    {
        kc_auto(stage) *s = stage_make();
        s->opts.clock = clock;
        stage_open(s);
        put(s, "a", "1");
        kc_clock_run(clock, 6 * KC_MINUTE, 1);
        assert_int_equal(kc__watch_cache_oldest(s->pods), 2);
    }
}

static void burst_of_events_settles_to_its_limit_within_the_settle_age(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    {
        kc_auto(stage) *s = stage_make();
        s->opts.clock = clock;
        s->opts.settled_bytes = 20000;
        stage_open(s);
        char value[128];
        memset(value, 'v', sizeof(value));
        value[sizeof(value) - 1] = '\0';
        for (int i = 0; i < 100; i++)
            put(s, "a", value);
        kc_clock_run(clock, 40 * KC_SECOND, 1);
        assert_int_equal(kc__watch_cache_oldest(s->pods), 1);
        kc_clock_run(clock, 15 * KC_SECOND, 1);
        const uint64_t oldest = kc__watch_cache_oldest(s->pods);
        assert_true(oldest > 20 && oldest < 100);
        kc_clock_run(clock, 3 * KC_MINUTE, 1);
        assert_int_equal(kc__watch_cache_oldest(s->pods), oldest);
    }
}

static void busy_resource_loses_its_own_events_first(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_make();
    s->opts.event_bytes = 20000;
    stage_open(s);
    char value[128];
    memset(value, 'v', sizeof(value));
    value[sizeof(value) - 1] = '\0';
    for (int i = 0; i < 100; i++)
        put(s, "a", value);
    kc_scoped(attempt) a = try_write(s, s->maps, "a", KC__STORAGE_ANY, "1");
    quiesce(s);
    const uint64_t oldest = kc__watch_cache_oldest(s->pods);
    assert_true(oldest > 20 && oldest < 100);
    assert_int_equal(kc__watch_cache_oldest(s->maps), 1);
    expect_expired(s, oldest - 1);
    kc_auto(kc__cow_snapshot) *then = kc__watch_cache_snapshot_at(s->pods, oldest, NULL);
    assert_non_null(then);
}

static void compacted_revisions_stay_expired_after_restart(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_make();
    s->storage_opts.history_events = 3;
    stage_open(s);
    for (int i = 0; i < 10; i++)
        put(s, "a", "x");
    stage_reopen(s);
    const uint64_t oldest = kc__watch_cache_oldest(s->pods);
    assert_true(oldest >= 7 && oldest <= 9);
    assert_int_equal(
        kc__watch_cache_oldest(kc__store_watch_cache(s->store, KC_STR("/registry/new/"))), oldest);
    expect_expired(s, oldest - 1);
    expect_now(s->pods, "a=x@11 ");
}

/* ---- readers beside a writer ---- */

typedef struct race {
    stage *s;
    _Atomic bool over;
    _Atomic int faults;
} race;

/* Each write sets the same value under both keys of a pair, one after the other; "n/a" first. */
static void read_along(void *user)
{
    race *r = user;
    while (!r->over) {
        uint64_t before = kc__store_revision(r->s->store), revision = 0, exact = 0;
        kc_auto(kc__cow_snapshot) *now = kc__watch_cache_snapshot(r->s->pods, &revision);
        r->faults += revision < before;
        r->faults += kc__cow_snapshot_revision(now) > revision;
        exact = revision > 20 ? revision - 20 : 1;
        kc_auto(kc__cow_snapshot) *then = kc__watch_cache_snapshot_at(r->s->pods, exact, NULL);
        r->faults += !then;
        const kc_object *a = then ? kc__cow_snapshot_get(then, KC_STR("a")) : NULL;
        r->faults += a && exact > 2 && kc_object_revision(a) != exact;
    }
}

static void readers_continue_during_commits(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    race r = {.s = s};
    kc_thread *readers[3];
    for (int i = 0; i < 3; i++)
        readers[i] = kc_thread_start("reader", read_along, &r, NULL);
    for (int i = 0; i < 500; i++)
        put(s, "a", "x");
    r.over = true;
    for (int i = 0; i < 3; i++)
        kc_thread_join(readers[i]);
    assert_int_equal(r.faults, 0);
}

TESTS(snapshot_at_any_revision_survives_restart, snapshot_at_held_revision_is_reused,
      snapshot_at_future_revision_is_a_timeout,
      old_events_expire_but_held_snapshots_stay_for_a_time, old_events_expire_without_writes,
      burst_of_events_settles_to_its_limit_within_the_settle_age,
      busy_resource_loses_its_own_events_first, compacted_revisions_stay_expired_after_restart,
      readers_continue_during_commits)