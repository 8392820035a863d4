/* SPDX-License-Identifier: Apache-2.0 */
/* holds.c: old snapshots held by pages and readers share a budget; the oldest are revoked first. */
#include "store_testing.h"

#include "apiserver/governor/governor.h"

enum { VALUE = 20000 };

/* A store whose rings remember little, so that old states cost what they hold. */
static stage *small_stage(size_t snapshot_bytes)
{
    stage *s = stage_make();
    s->opts.event_bytes = 1000;
    s->opts.snapshot_bytes = snapshot_bytes;
    stage_open(s);
    return s;
}

static void put_large(stage *s, const char *key, char fill)
{
    char *value = kc_alloc(VALUE + 1);
    memset(value, fill, VALUE);
    value[VALUE] = '\0';
    kc_scoped(kc_buf) json = {0};
    kc_buf_printf(&json, "{'metadata':{'name':'%s'},'data':'%s'}", key, value);
    attempt a = {.write = {.cache = s->pods,
                           .verb = KC__STORAGE_PUT,
                           .key = kc_cstr(key),
                           .expected = KC__STORAGE_ANY,
                           .object = object_of(kc_buf_cstr(&json))}};
    attempt_submit(s, &a);
    kc_latch_wait(a.done);
    assert_int_equal(a.write.outcome, KC__STORAGE_STORED);
    attempt_done(&a);
    free(value);
}

/* A reader as a list is one: on a loop, with a snapshot. */
typedef struct reader {
    stage *s;
    kc__cow_snapshot *snapshot;
    kc__store_hold *hold;
    bool revoked;
} reader;

static void on_revoked(void *user)
{
    reader *r = user;
    r->revoked = true;
    r->snapshot = kc__cow_snapshot_unref(r->snapshot);
    r->hold = kc__store_hold_release(r->hold);
}

static void start_reading(void *user)
{
    reader *r = user;
    r->snapshot = kc__watch_cache_snapshot(r->s->pods, NULL);
    r->hold = kc__watch_cache_hold(r->s->pods, r->snapshot, r->s->loops[1], on_revoked, r);
}

static void stop_reading(void *user)
{
    reader *r = user;
    r->snapshot = kc__cow_snapshot_unref(r->snapshot);
    r->hold = kc__store_hold_release(r->hold);
}

static void page(stage *s, uint64_t *ret_revision)
{
    kc_auto(kc__cow_snapshot) *now = kc__watch_cache_snapshot(s->pods, ret_revision);
    kc__watch_cache_keep(s->pods, *ret_revision, now);
}

static bool is_kept(stage *s, uint64_t revision)
{
    kc_auto(kc__cow_snapshot) *then = kc__watch_cache_snapshot_at(s->pods, revision, NULL);
    return then != NULL;
}

static void held_pages_beyond_the_budget_expire_oldest_first(void **state)
{
    (void)state;
    kc_auto(stage) *s = small_stage(4 * VALUE);
    uint64_t pages[8];
    for (int i = 0; i < 8; i++) { /* Each page's state has one object of its own. */
        put_large(s, "ns/a", (char)('a' + i));
        page(s, &pages[i]);
    }
    put_large(s, "ns/a", 'z');
    quiesce(s);
    settle(s->loops[0]);
    size_t kept = 0;
    for (int i = 0; i < 8; i++)
        kept += is_kept(s, pages[i]);
    assert_in_range(kept, 2, 4);
    assert_false(is_kept(s, pages[0]));
    assert_true(is_kept(s, pages[7]));
}

static void pages_of_one_snapshot_are_counted_once(void **state)
{
    (void)state;
    kc_auto(stage) *s = small_stage(8 * VALUE);
    put_large(s, "ns/a", 'a');
    uint64_t revision;
    reader readers[20] = {0};
    page(s, &revision);
    for (size_t i = 0; i < KC_COUNT(readers); i++) {
        readers[i].s = s;
        on_loop(s->loops[1], start_reading, &readers[i]);
    }
    for (int i = 0; i < 4; i++)
        put_large(s, "ns/a", (char)('b' + i));
    quiesce(s);
    settle(s->loops[1]);
    assert_true(is_kept(s, revision));
    for (size_t i = 0; i < KC_COUNT(readers); i++) {
        assert_false(readers[i].revoked);
        on_loop(s->loops[1], stop_reading, &readers[i]);
    }
}

static void readers_beyond_the_budget_are_revoked_on_their_loop(void **state)
{
    (void)state;
    kc_auto(stage) *s = small_stage(3 * VALUE);
    reader old = {.s = s}, young = {.s = s};
    for (int i = 0; i < 6; i++) {
        char key[16];
        snprintf(key, sizeof(key), "ns/%d", i);
        put_large(s, key, 'a');
    }
    on_loop(s->loops[1], start_reading, &old);
    for (int i = 0; i < 6; i++) {
        char key[16];
        snprintf(key, sizeof(key), "ns/%d", i);
        put_large(s, key, 'b');
    }
    on_loop(s->loops[1], start_reading, &young);
    put_large(s, "ns/0", 'c');
    quiesce(s);
    settle(s->loops[1]);
    assert_true(old.revoked);
    assert_false(young.revoked);
    on_loop(s->loops[1], stop_reading, &young);
}

static void snapshots_within_the_event_ring_cost_almost_nothing(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_make();
    s->opts.snapshot_bytes = 2 * VALUE;
    stage_open(s);
    reader r = {.s = s};
    put_large(s, "ns/a", 'a');
    on_loop(s->loops[1], start_reading, &r);
    for (int i = 0; i < 10; i++)
        put_large(s, "ns/a", (char)('b' + i));
    quiesce(s);
    settle(s->loops[1]);
    assert_false(r.revoked);
    on_loop(s->loops[1], stop_reading, &r);
}

static void shrinking_store_revokes_all_holds_with_a_cost(void **state)
{
    (void)state;
    kc_auto(stage) *s = small_stage(1 << 30);
    kc__memory_account account = {0};
    stage_close(s);
    s->opts.memory = &account;
    stage_open(s);
    uint64_t revision;
    put_large(s, "ns/a", 'a');
    page(s, &revision);
    put_large(s, "ns/a", 'b');
    put_large(s, "ns/a", 'c');
    assert_true(is_kept(s, revision));
    kc__store_revoke_holds(s->store);
    quiesce(s);
    quiesce(s);
    assert_false(is_kept(s, revision));
    assert_int_equal(atomic_load(&account.bytes[KC__MEMORY_SNAPSHOTS]), 0);
}

static void snapshot_rebuilt_from_the_ring_has_the_same_counts(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    put(s, "ns/a", "1");
    put(s, "ns/b", "2");
    uint64_t revision;
    kc_auto(kc__cow_snapshot) *then = kc__watch_cache_snapshot(s->pods, &revision);
    put(s, "ns/a", "3");
    drop(s, "ns/b");
    put(s, "ns/c", "4");
    kc_auto(kc__cow_snapshot) *more_writes = kc__watch_cache_snapshot_at(s->pods, revision, NULL);
    kc__cow_counts a = kc__cow_snapshot_counts(then), b = kc__cow_snapshot_counts(more_writes);
    assert_int_equal(a.changes, b.changes);
    assert_int_equal(a.replaced, b.replaced);
    assert_int_equal(a.bytes, b.bytes);
}

TESTS(held_pages_beyond_the_budget_expire_oldest_first, pages_of_one_snapshot_are_counted_once,
      readers_beyond_the_budget_are_revoked_on_their_loop,
      snapshots_within_the_event_ring_cost_almost_nothing,
      shrinking_store_revokes_all_holds_with_a_cost,
      snapshot_rebuilt_from_the_ring_has_the_same_counts)
