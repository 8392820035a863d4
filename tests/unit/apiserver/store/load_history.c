/* SPDX-License-Identifier: Apache-2.0 */
/* The history that a store over a shared storage has when it is opened. */
#include "shared_plane.h"

typedef struct history_plane {
    shared_storage all;
    stage *first, *second; /* The second one is opened by the test. */
} history_plane;

static const kc__store_opts plain_opts = {0};

static history_plane *plane_new(void)
{
    history_plane *p = kc_new(history_plane);
    shared_storage_init(&p->all);
    p->first = server_over(&p->all, &plain_opts);
    return p;
}

static history_plane *plane_free(history_plane *p)
{
    stage_leave(p->first);
    if (p->second)
        stage_leave(p->second);
    shared_storage_done(&p->all);
    free(p);
    return NULL;
}
KC_AUTO_DEFINE(history_plane, plane_free)

static void watch_of_an_older_revision_continues_on_a_server_that_starts(void **state)
{
    (void)state;
    kc_auto(history_plane) *p = plane_new();
    put(p->first, "a", "1");
    put(p->first, "a", "2");
    put(p->first, "b", "1");
    drop(p->first, "a");
    p->second = server_over(&p->all, &plain_opts);
    expect_watch(p->second, p->second->pods, 2, "MODIFIED a@3 ADDED b@4 DELETED a@5 ",
                 KC__STORE_WATCH_EMPTY);
}

static void snapshot_of_an_older_revision_exists_on_a_server_that_starts(void **state)
{
    (void)state;
    kc_auto(history_plane) *p = plane_new();
    put(p->first, "a", "1");
    put(p->first, "b", "1");
    put(p->first, "a", "2");
    drop(p->first, "b");
    p->second = server_over(&p->all, &plain_opts);
    kc_auto(kc__cow_snapshot) *old = kc__watch_cache_snapshot_at(p->second->pods, 3, NULL);
    assert_non_null(old);
    assert_int_equal(kc__cow_snapshot_count(old), 2);
    assert_int_equal(kc_object_revision(kc__cow_snapshot_get(old, KC_STR("a"))), 2);
}

static void resource_whose_objects_are_all_deleted_has_its_history(void **state)
{
    (void)state;
    kc_auto(history_plane) *p = plane_new();
    put(p->first, "a", "1");
    drop(p->first, "a");
    p->second = server_over(&p->all, &plain_opts);
    expect_watch(p->second, p->second->pods, 1, "ADDED a@2 DELETED a@3 ", KC__STORE_WATCH_EMPTY);
}

static void history_begins_after_the_compacted_revision(void **state)
{
    (void)state;
    kc_auto(history_plane) *p = plane_new();
    put(p->first, "a", "1");
    put(p->first, "a", "2");
    put(p->first, "a", "3");
    assert_int_equal(kc__storage_compact(p->all.inner, 3, NULL), 0);
    p->second = server_over(&p->all, &plain_opts);
    expect_watch(p->second, p->second->pods, 2, "", KC__STORE_WATCH_EXPIRED);
    expect_watch(p->second, p->second->pods, 3, "MODIFIED a@4 ", KC__STORE_WATCH_EMPTY);
    assert_int_equal(kc__watch_cache_oldest(p->second->maps), 3);
}

static void storage_without_history_is_opened(void **state)
{
    (void)state;
    kc_auto(history_plane) *p = plane_new();
    put(p->first, "a", "1");
    const uint64_t last = put(p->first, "a", "2");
    assert_int_equal(kc__storage_compact(p->all.inner, last, NULL), 0);
    p->second = server_over(&p->all, &plain_opts);
    expect_watch(p->second, p->second->pods, last - 1, "", KC__STORE_WATCH_EXPIRED);
    expect_watch(p->second, p->second->pods, last, "", KC__STORE_WATCH_EMPTY);
}

static void store_raw(history_plane *p, const char *key, const char *value)
{
    const kc__storage_op op = {.verb = KC__STORAGE_PUT,
                               .key = kc_cstr(key),
                               .expected = KC__STORAGE_ANY,
                               .value = kc_cstr(value)};
    kc__storage_result result = {0};
    kc_locked (&p->all.mutex) {
        assert_int_equal(kc__storage_commit(p->all.inner, &op, 1, &result, NULL, NULL), 0);
        shared_wake_all(&p->all);
    }
}

static void history_begins_after_an_event_that_cannot_be_read(void **state)
{
    (void)state;
    kc_auto(history_plane) *p = plane_new();
    put(p->first, "a", "1");
    store_raw(p, "/registry/pods/strange", "?");
    store_raw(p, "/elsewhere", "?");
    put(p->first, "a", "2");
    p->second = server_over(&p->all, &plain_opts);
    expect_watch(p->second, p->second->pods, 2, "", KC__STORE_WATCH_EXPIRED);
    expect_watch(p->second, p->second->pods, 3, "MODIFIED a@5 ", KC__STORE_WATCH_EMPTY);
}

static void history_is_limited_by_the_bytes_of_the_rings(void **state)
{
    (void)state;
    enum { WRITES = 200 };
    kc_auto(history_plane) *p = plane_new();
    kc__store_opts small = plain_opts;
    small.event_bytes = 4096;
    for (int i = 0; i < WRITES; i++)
        put(p->first, "a", "1");
    p->second = server_over(&p->all, &small);
    const uint64_t oldest = kc__watch_cache_oldest(p->second->pods);
    assert_true(oldest > WRITES / 2 && oldest < WRITES);
    expect_watch(p->second, p->second->pods, 2, "", KC__STORE_WATCH_EXPIRED);
}

static void server_starts_although_its_history_does_not_arrive(void **state)
{
    (void)state;
    kc_auto(history_plane) *p = plane_new();
    put(p->first, "a", "1");
    const uint64_t last = put(p->first, "a", "2");
    stage *s = p->second = kc_new(stage);
    for (int i = 0; i < STAGE_LOOPS; i++)
        s->loops[i] = kc__loop_start("test", NULL, NULL);
    s->folder = kc_strdup("");
    s->opts = plain_opts;
    s->opts.storage = s->storage = shared_open(&p->all);
    shared_hold(s->storage, true);
    s->store = kc__store_open(&s->opts, NULL);
    assert_non_null(s->store);
    s->pods = kc__store_watch_cache(s->store, PODS);
    shared_hold(s->storage, false);
    expect_now(s->pods, "a=2@3 ");
    assert_int_equal(kc__watch_cache_oldest(s->pods), last);
}

TESTS(watch_of_an_older_revision_continues_on_a_server_that_starts,
      snapshot_of_an_older_revision_exists_on_a_server_that_starts,
      resource_whose_objects_are_all_deleted_has_its_history,
      history_begins_after_the_compacted_revision, storage_without_history_is_opened,
      history_begins_after_an_event_that_cannot_be_read,
      history_is_limited_by_the_bytes_of_the_rings,
      server_starts_although_its_history_does_not_arrive)
