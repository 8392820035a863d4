/* SPDX-License-Identifier: Apache-2.0 */
/* Older states that a store reads from a shared storage. */
#include "shared_plane.h"

typedef struct history_plane {
    shared_storage all;
    stage *s;
} history_plane;

/* A server whose rings hold almost nothing, with some history: a@2, b@3, a@4, b deleted@5, c@6. */
static history_plane *plane_new(void)
{
    history_plane *p = kc_new(history_plane);
    const kc__store_opts opts = {.event_bytes = 1};
    shared_storage_init(&p->all);
    p->s = server_over(&p->all, &opts);
    put(p->s, "a", "1");
    put(p->s, "b", "1");
    put(p->s, "a", "2");
    drop(p->s, "b");
    put(p->s, "c", "1");
    return p;
}

static history_plane *plane_free(history_plane *p)
{
    stage_leave(p->s);
    shared_storage_done(&p->all);
    free(p);
    return NULL;
}
KC_AUTO_DEFINE(history_plane, plane_free)

typedef struct storage_reader {
    kc__store_storage_read read;
    kc_latch done;
} storage_reader;

static void on_read(kc__store_storage_read *read)
{
    kc_latch_count_down(&kc_container_of(read, storage_reader, read)->done);
}

static void start_past(stage *s, uint64_t revision, storage_reader *r)
{
    *r = (storage_reader){
        .read = {.cache = s->pods, .revision = revision, .loop = s->loops[1], .done = on_read}};
    kc_latch_init(&r->done);
    kc_latch_add(&r->done, 1);
    kc__store_storage_read_start(&r->read);
}

static void finish_past(storage_reader *r)
{
    kc_latch_wait(&r->done);
    kc_latch_done(&r->done);
}

static kc_error read_past_now(stage *s, uint64_t revision)
{
    storage_reader r;
    start_past(s, revision, &r);
    finish_past(&r);
    return r.read.error;
}

static void state_that_the_rings_do_not_reach_is_read_from_the_storage(void **state)
{
    (void)state;
    kc_auto(history_plane) *p = plane_new();
    assert_false(kc__watch_cache_reaches(p->s->pods, 3));
    assert_null(kc__watch_cache_snapshot_at(p->s->pods, 3, NULL));
    kc_scoped(kc_error) err = read_past_now(p->s, 3);
    assert_int_equal(err.reason, 0);
    assert_true(kc__watch_cache_reaches(p->s->pods, 3));
    kc_auto(kc__cow_snapshot) *then = kc__watch_cache_snapshot_at(p->s->pods, 3, NULL);
    assert_non_null(then);
    assert_int_equal(kc__cow_snapshot_count(then), 2);
    assert_int_equal(kc_object_revision(kc__cow_snapshot_get(then, KC_STR("a"))), 2);
    assert_int_equal(kc_object_revision(kc__cow_snapshot_get(then, KC_STR("b"))), 3);
    expect_now(p->s->pods, "a=2@4 c=1@6 ");
}

static void compacted_state_is_expired(void **state)
{
    (void)state;
    kc_auto(history_plane) *p = plane_new();
    assert_int_equal(kc__storage_compact(p->all.inner, 4, NULL), 0);
    kc_scoped(kc_error) err = read_past_now(p->s, 3);
    assert_int_equal(err.reason, KC_EXPIRED);
    assert_false(kc__watch_cache_reaches(p->s->pods, 3));
}

static void many_readers_of_one_revision_are_served_and_too_many_are_refused(void **state)
{
    (void)state;
    enum { READERS = 200 };
    kc_auto(history_plane) *p = plane_new();
    storage_reader *readers = kc_calloc(READERS, sizeof(*readers));
    size_t refused = 0;
    for (size_t i = 0; i < READERS; i++)
        start_past(p->s, 2 + i % 4, &readers[i]);
    for (size_t i = 0; i < READERS; i++) {
        finish_past(&readers[i]);
        refused += readers[i].read.error.reason == KC_TOO_MANY_REQUESTS;
        assert_true(!readers[i].read.error.reason ||
                    readers[i].read.error.reason == KC_TOO_MANY_REQUESTS);
        kc_error_done(&readers[i].read.error);
    }
    assert_true(refused < READERS);
    kc_scoped(kc_error) err = read_past_now(p->s, 3);
    assert_int_equal(err.reason, 0);
    free(readers);
}

static void state_with_more_old_objects_than_the_budget_is_expired(void **state)
{
    (void)state;
    shared_storage all;
    const kc__store_opts opts = {.event_bytes = 1, .snapshot_bytes = 64};
    shared_storage_init(&all);
    stage *s = server_over(&all, &opts);
    const uint64_t then = put(s, "a", "old");
    put(s, "a", "new");
    put(s, "b", "new");
    kc_scoped(kc_error) err = read_past_now(s, then);
    assert_int_equal(err.reason, KC_EXPIRED);
    stage_leave(s);
    shared_storage_done(&all);
}

TESTS(state_that_the_rings_do_not_reach_is_read_from_the_storage, compacted_state_is_expired,
      many_readers_of_one_revision_are_served_and_too_many_are_refused,
      state_with_more_old_objects_than_the_budget_is_expired)
