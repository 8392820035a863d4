/* SPDX-License-Identifier: Apache-2.0 */
/* The store through its header, over the file backend: writing, reading, the past, restarts. */
#include "store_testing.h"

/* ---- writing ---- */

static void a_new_store_is_empty(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    uint64_t revision = 0;
    kc_auto(kc_cow_snapshot) *now = kc__cache_snapshot(s->pods, &revision);
    assert_int_equal(revision, KC_STORAGE_FIRST);
    assert_int_equal(kc_cow_snapshot_count(now), 0);
    assert_null(kc__cache_get(s->pods, KC_STR("default/web")));
    assert_int_equal(kc__store_health(s->store, NULL), 0);
    assert_null(kc__store_close(NULL));
}

static void a_stored_object_is_visible_when_done_is_called(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_scoped(attempt) a = try_write(s, s->pods, "default/web", KC_STORAGE_ABSENT, "1");
    assert_int_equal(a.write.outcome, KC_STORAGE_STORED);
    assert_int_equal(a.write.revision, 2);
    assert_int_equal(kc_object_revision(a.write.result), 2);
    kc_auto(kc_object) *object = kc__cache_get(s->pods, KC_STR("default/web"));
    assert_ptr_equal(object, a.write.result);
    assert_int_equal(kc__store_revision(s->store), 2);
    expect_now(s->maps, "");
}

static void a_wrong_expectation_conflicts_and_shows_what_is_there(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    put(s, "a", "1");
    const uint64_t wrong[] = {KC_STORAGE_ABSENT, 1, 3};
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        kc_scoped(attempt) a = try_write(s, s->pods, "a", wrong[i], "2");
        assert_int_equal(a.write.outcome, KC_STORAGE_CONFLICT);
        assert_int_equal(kc_object_revision(a.write.result), 2);
        assert_int_equal(a.write.error.reason, KC_OK);
        assert_int_equal(a.write.revision, 2);
    }
    kc_scoped(attempt) absent = try_write(s, s->pods, "b", 7, "2");
    assert_int_equal(absent.write.outcome, KC_STORAGE_CONFLICT);
    assert_null(absent.write.result);
    kc_scoped(attempt) right = try_write(s, s->pods, "a", 2, "2");
    assert_int_equal(right.write.outcome, KC_STORAGE_STORED);
    expect_now(s->pods, "a=2@3 ");
}

static void deleting_shows_the_last_state_at_the_revision_of_the_deletion(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    put(s, "a", "1");
    kc_scoped(attempt) a = try_write(s, s->pods, "a", 2, NULL);
    assert_int_equal(a.write.outcome, KC_STORAGE_STORED);
    assert_object_json(a.write.result,
                       "{\"metadata\":{\"resourceVersion\":\"3\",\"name\":\"a\"},\"data\":\"1\"}");
    expect_now(s->pods, "");
    kc_scoped(attempt) again = try_write(s, s->pods, "a", KC_STORAGE_ANY, NULL);
    assert_int_equal(again.write.outcome, KC_STORAGE_CONFLICT);
    assert_null(again.write.result);
}

static void a_deletion_may_show_another_object(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    put(s, "a", "1");
    kc_auto(kc_object) *shown = object_of("{'metadata':{'name':'a'},'data':'going'}");
    attempt a = {.write = {
                     .cache = s->pods,
                     .verb = KC_STORAGE_DELETE,
                     .key = KC_STR("a"),
                     .expected = 2,
                     .object = kc_object_ref(shown),
                 }};
    attempt_submit(s, &a);
    kc_latch_wait(a.done);
    assert_contains(kc_object_json(a.write.result).p, "going");
    assert_int_equal(kc_object_revision(a.write.result), 3);
    attempt_done(&a);
}

static void what_the_storage_does_not_take_is_refused_with_a_reason(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    char key[KC_STORAGE_MAX_KEY + 1];
    memset(key, 'k', sizeof(key));
    key[sizeof(key) - 1] = '\0';
    kc_scoped(attempt) empty = try_write(s, s->pods, "", KC_STORAGE_ANY, "1");
    assert_int_equal(empty.write.outcome, KC_STORAGE_REFUSED);
    assert_error(&empty.write.error, KC_INVALID, "the key is empty");
    kc_auto(kc_object) *object = object_of("{}");
    attempt a = {.write = {
                     .cache = s->pods,
                     .key = kc_cstr(key),
                     .expected = KC_STORAGE_ANY,
                     .object = kc_object_ref(object),
                 }};
    attempt_submit(s, &a);
    kc_latch_wait(a.done);
    assert_int_equal(a.write.outcome, KC_STORAGE_REFUSED);
    assert_error(&a.write.error, KC_INVALID, "longer than 1000 bytes");
    attempt_done(&a);
    assert_int_equal(put(s, "a", "1"), 2);
    assert_int_equal(kc__store_health(s->store, NULL), 0);
}

static void resources_do_not_mix(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    put(s, "a", "pod");
    kc_scoped(attempt) a = try_write(s, s->maps, "a", KC_STORAGE_ABSENT, "map");
    assert_int_equal(a.write.outcome, KC_STORAGE_STORED);
    expect_now(s->pods, "a=pod@2 ");
    expect_now(s->maps, "a=map@3 ");
    assert_ptr_equal(kc__store_cache(s->store, PODS), s->pods);
}

/* ---- batches ---- */

/* Holds the loop and so nothing: the committer is held by a backend instead. */
typedef struct held {
    kc_storage storage;
    kc_storage *inner;
    _Atomic bool hold;
    _Atomic int fail; /* Of a kc_reason: the next commits fail with it. */
    _Atomic size_t commits, ops;
} held;

static held *held_of(kc_storage *storage)
{
    return kc_container_of(storage, held, storage);
}

static int held_load(kc_storage *storage, kc_storage_entry_fn *each, void *user,
                     kc_storage_state *ret_state, kc_error *err)
{
    return kc_storage_load(held_of(storage)->inner, each, user, ret_state, err);
}

static int held_commit(kc_storage *storage, const kc_storage_op *ops, size_t n,
                       kc_storage_result *ret_results, uint64_t *ret_revision, kc_error *err)
{
    held *h = held_of(storage);
    h->commits++;
    while (h->hold)
        usleep(100);
    h->ops += n;
    if (h->fail)
        return kc_error_set(err, (kc_reason)h->fail, "the disk is on fire");
    return kc_storage_commit(h->inner, ops, n, ret_results, ret_revision, err);
}

static int held_history(kc_storage *storage, uint64_t since, kc_storage_event_fn *each, void *user,
                        kc_error *err)
{
    return kc_storage_history(held_of(storage)->inner, since, each, user, err);
}

static void held_close(kc_storage *storage)
{
    kc_storage_close(held_of(storage)->inner);
    free(held_of(storage));
}

static int held_open(const kc_storage_opts *opts, kc_storage **ret_storage, kc_error *err);

/* The file backend with a hand on it. */
static const kc_storage_backend held_backend = {
    .name = "held",
    .open = held_open,
    .load = held_load,
    .commit = held_commit,
    .history = held_history,
    .close = held_close,
};

static int held_open(const kc_storage_opts *opts, kc_storage **ret_storage, kc_error *err)
{
    held *h = kc_new(held);
    h->storage.backend = &held_backend;
    if (kc_storage_open(&kc_storage_file, opts, &h->inner, err) < 0) {
        free(h);
        return -1;
    }
    *ret_storage = &h->storage;
    return 0;
}

static stage *held_stage(void)
{
    stage *s = stage_make();
    s->backend = &held_backend;
    stage_open(s);
    return s;
}

/* Lets the committer wait in a commit. */
static void hold(stage *s, attempt *first)
{
    held *h = held_of(s->storage);
    const size_t before = h->commits;
    h->hold = true;
    attempt_start(s, first, s->pods, "first", KC_STORAGE_ANY, "1");
    while (h->commits == before)
        usleep(100);
}

static void writes_that_wait_share_one_commit_and_see_each_other(void **state)
{
    (void)state;
    kc_auto(stage) *s = held_stage();
    held *h = held_of(s->storage);
    attempt first, a[6];
    hold(s, &first);
    attempt_start(s, &a[0], s->pods, "a", KC_STORAGE_ABSENT, "1");
    attempt_start(s, &a[1], s->pods, "a", KC_STORAGE_ABSENT, "2");
    attempt_start(s, &a[2], s->pods, "a", 3, "3");
    attempt_start(s, &a[3], s->pods, "a", KC_STORAGE_ANY, NULL);
    attempt_start(s, &a[4], s->pods, "a", KC_STORAGE_ABSENT, "5");
    attempt_start(s, &a[5], s->maps, "a", KC_STORAGE_ABSENT, "6");
    h->hold = false;
    for (int i = 0; i < 6; i++)
        kc_latch_wait(a[i].done);
    assert_int_equal(h->commits, 2);
    assert_int_equal(h->ops, 6);
    assert_int_equal(a[1].write.outcome, KC_STORAGE_CONFLICT);
    assert_int_equal(kc_object_revision(a[1].write.result), 3);
    assert_int_equal(a[2].write.outcome, KC_STORAGE_STORED);
    assert_int_equal(a[4].write.revision, 6);
    expect_now(s->pods, "a=5@6 first=1@2 ");
    expect_now(s->maps, "a=6@7 ");
    expect_at(s->pods, 3, "a=1@3 first=1@2 ");
    expect_at(s->pods, 5, "first=1@2 ");
    for (int i = 0; i < 6; i++)
        attempt_done(&a[i]);
    attempt_done(&first);
    stage_reopen(s);
    expect_now(s->pods, "a=5@6 first=1@2 ");
}

TESTS(a_new_store_is_empty, a_stored_object_is_visible_when_done_is_called,
      a_wrong_expectation_conflicts_and_shows_what_is_there,
      deleting_shows_the_last_state_at_the_revision_of_the_deletion,
      a_deletion_may_show_another_object, what_the_storage_does_not_take_is_refused_with_a_reason,
      resources_do_not_mix, writes_that_wait_share_one_commit_and_see_each_other)
