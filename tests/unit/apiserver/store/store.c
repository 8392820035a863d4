/* SPDX-License-Identifier: Apache-2.0 */
/* The store through its header, over the file backend: writes, reads, groups, restarts. */
#include "held_storage.h"

/* ---- writing ---- */

static void new_store_is_empty(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    uint64_t revision = 0;
    kc_auto(kc__cow_snapshot) *now = kc__watch_cache_snapshot(s->pods, &revision);
    assert_int_equal(revision, KC__STORAGE_FIRST);
    assert_int_equal(kc__cow_snapshot_count(now), 0);
    assert_null(kc__watch_cache_get(s->pods, KC_STR("default/web")));
    assert_int_equal(kc__store_health(s->store, NULL), 0);
    assert_null(kc__store_close(NULL));
}

static void stored_object_is_visible_when_done_is_called(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_scoped(attempt) a = try_write(s, s->pods, "default/web", KC__STORAGE_ABSENT, "1");
    assert_int_equal(a.write.outcome, KC__STORAGE_STORED);
    assert_int_equal(a.write.revision, 2);
    assert_int_equal(kc_object_revision(a.write.result), 2);
    kc_auto(kc_object) *object = kc__watch_cache_get(s->pods, KC_STR("default/web"));
    assert_ptr_equal(object, a.write.result);
    assert_int_equal(kc__store_revision(s->store), 2);
    expect_now(s->maps, "");
}

static void wrong_expected_revision_conflicts_and_returns_current_object(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    put(s, "a", "1");
    const uint64_t wrong[] = {KC__STORAGE_ABSENT, 1, 3};
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        kc_scoped(attempt) a = try_write(s, s->pods, "a", wrong[i], "2");
        assert_int_equal(a.write.outcome, KC__STORAGE_CONFLICT);
        assert_int_equal(kc_object_revision(a.write.result), 2);
        assert_int_equal(a.write.error.reason, KC_OK);
        assert_int_equal(a.write.revision, 2);
    }
    kc_scoped(attempt) absent = try_write(s, s->pods, "b", 7, "2");
    assert_int_equal(absent.write.outcome, KC__STORAGE_CONFLICT);
    assert_null(absent.write.result);
    kc_scoped(attempt) right = try_write(s, s->pods, "a", 2, "2");
    assert_int_equal(right.write.outcome, KC__STORAGE_STORED);
    expect_now(s->pods, "a=2@3 ");
}

static void delete_returns_last_object_at_revision_of_deletion(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    put(s, "a", "1");
    kc_scoped(attempt) a = try_write(s, s->pods, "a", 2, NULL);
    assert_int_equal(a.write.outcome, KC__STORAGE_STORED);
    assert_object_json(a.write.result,
                       "{\"metadata\":{\"resourceVersion\":\"3\",\"name\":\"a\"},\"data\":\"1\"}");
    expect_now(s->pods, "");
    kc_scoped(attempt) more_writes = try_write(s, s->pods, "a", KC__STORAGE_ANY, NULL);
    assert_int_equal(more_writes.write.outcome, KC__STORAGE_CONFLICT);
    assert_null(more_writes.write.result);
}

static void delete_may_return_another_object(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    put(s, "a", "1");
    kc_auto(kc_object) *shown = object_of("{'metadata':{'name':'a'},'data':'going'}");
    attempt a = {.write = {
                     .cache = s->pods,
                     .verb = KC__STORAGE_DELETE,
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

static void invalid_key_or_value_is_refused_with_reason(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    char key[KC__STORAGE_MAX_KEY + 1];
    memset(key, 'k', sizeof(key));
    key[sizeof(key) - 1] = '\0';
    kc_scoped(attempt) empty = try_write(s, s->pods, "", KC__STORAGE_ANY, "1");
    assert_int_equal(empty.write.outcome, KC__STORAGE_REFUSED);
    assert_error(&empty.write.error, KC_INVALID, "the key is empty");
    kc_auto(kc_object) *object = object_of("{}");
    attempt a = {.write = {
                     .cache = s->pods,
                     .key = kc_cstr(key),
                     .expected = KC__STORAGE_ANY,
                     .object = kc_object_ref(object),
                 }};
    attempt_submit(s, &a);
    kc_latch_wait(a.done);
    assert_int_equal(a.write.outcome, KC__STORAGE_REFUSED);
    assert_error(&a.write.error, KC_INVALID, "longer than 1000 bytes");
    attempt_done(&a);
    assert_int_equal(put(s, "a", "1"), 2);
    assert_int_equal(kc__store_health(s->store, NULL), 0);
}

static void resources_have_separate_keys(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    put(s, "a", "pod");
    kc_scoped(attempt) a = try_write(s, s->maps, "a", KC__STORAGE_ABSENT, "map");
    assert_int_equal(a.write.outcome, KC__STORAGE_STORED);
    expect_now(s->pods, "a=pod@2 ");
    expect_now(s->maps, "a=map@3 ");
    assert_ptr_equal(kc__store_watch_cache(s->store, PODS), s->pods);
}

/* ---- batches ---- */

static void queued_writes_share_one_commit_and_see_each_other(void **state)
{
    (void)state;
    kc_auto(stage) *s = held_stage();
    held *h = held_of(s->storage);
    attempt first, a[6];
    hold(s, &first);
    attempt_start(s, &a[0], s->pods, "a", KC__STORAGE_ABSENT, "1");
    attempt_start(s, &a[1], s->pods, "a", KC__STORAGE_ABSENT, "2");
    attempt_start(s, &a[2], s->pods, "a", 3, "3");
    attempt_start(s, &a[3], s->pods, "a", KC__STORAGE_ANY, NULL);
    attempt_start(s, &a[4], s->pods, "a", KC__STORAGE_ABSENT, "5");
    attempt_start(s, &a[5], s->maps, "a", KC__STORAGE_ABSENT, "6");
    h->hold = false;
    for (int i = 0; i < 6; i++)
        kc_latch_wait(a[i].done);
    assert_int_equal(h->commits, 2);
    assert_int_equal(h->ops, 6);
    assert_int_equal(a[1].write.outcome, KC__STORAGE_CONFLICT);
    assert_int_equal(kc_object_revision(a[1].write.result), 3);
    assert_int_equal(a[2].write.outcome, KC__STORAGE_STORED);
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

static void conflict_is_detected_without_a_commit(void **state)
{
    (void)state;
    kc_auto(stage) *s = held_stage();
    put(s, "a", "1");
    const size_t before = held_of(s->storage)->commits;
    kc_scoped(attempt) a = try_write(s, s->pods, "a", KC__STORAGE_ABSENT, "2");
    kc_scoped(attempt) b = try_write(s, s->pods, "b", KC__STORAGE_ANY, NULL);
    assert_int_equal(a.write.outcome, KC__STORAGE_CONFLICT);
    assert_int_equal(b.write.outcome, KC__STORAGE_CONFLICT);
    assert_int_equal(held_of(s->storage)->commits, before);
}

/* ---- groups ---- */

/* Submits attempts as one group. */
static void submit_group(stage *s, attempt *attempts, size_t n)
{
    kc__store_write *writes[KC__STORAGE_MAX_GROUP];
    for (size_t i = 0; i < n; i++) {
        attempt_arm(s, &attempts[i]);
        writes[i] = &attempts[i].write;
    }
    kc__store_submit_group(s->store, writes, n);
}

static void finish_group(attempt *attempts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        attempt_done(&attempts[i]);
}

static void wait_for_group(attempt *attempts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        kc_latch_wait(attempts[i].done);
}

static void group_of_writes_is_stored_as_a_whole(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    put(s, "quota", "0");
    attempt a[] = {attempt_of(s->pods, "web", KC__STORAGE_ABSENT, "1"),
                   attempt_of(s->maps, "allocation", KC__STORAGE_ABSENT, "2"),
                   attempt_of(s->pods, "quota", 2, "1")};
    submit_group(s, a, 3);
    wait_for_group(a, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(a[i].write.outcome, KC__STORAGE_STORED);
        assert_int_equal(kc_object_revision(a[i].write.result), i + 3);
    }
    finish_group(a, 3);
    for (int i = 0; i < 2; i++) {
        expect_now(s->pods, "quota=1@5 web=1@3 ");
        expect_now(s->maps, "allocation=2@4 ");
        stage_reopen(s);
    }
}

static void failed_group_changes_nothing_and_other_groups_are_stored(void **state)
{
    (void)state;
    kc_auto(stage) *s = held_stage();
    held *h = held_of(s->storage);
    put(s, "quota", "0");
    attempt first, before, after;
    attempt a[] = {attempt_of(s->pods, "quota", 2, "1"),
                   attempt_of(s->maps, "x", KC__STORAGE_ABSENT, "1")};
    attempt b[] = {attempt_of(s->pods, "web", KC__STORAGE_ABSENT, "1"),
                   attempt_of(s->pods, "quota", 2, "2"), /* The other group was faster. */
                   attempt_of(s->maps, "y", KC__STORAGE_ABSENT, "1")};
    hold(s, &first);
    attempt_start(s, &before, s->pods, "web", KC__STORAGE_ABSENT, "before");
    attempt_start(s, &after, s->pods, "web", KC__STORAGE_ANY, NULL);
    submit_group(s, a, 2);
    submit_group(s, b, 3);
    attempt c[] = {attempt_of(s->pods, "web", KC__STORAGE_ABSENT, "3")};
    submit_group(s, c, 1);
    h->hold = false;
    wait_for_group(c, 1);
    assert_int_equal(h->commits, 3);
    assert_int_equal(a[0].write.outcome, KC__STORAGE_STORED);
    assert_int_equal(a[1].write.outcome, KC__STORAGE_STORED);
    assert_int_equal(b[0].write.outcome, KC__STORAGE_SKIPPED);
    assert_null(b[0].write.result);
    assert_int_equal(b[1].write.outcome, KC__STORAGE_CONFLICT);
    assert_int_equal(kc_object_revision(b[1].write.result), 6);
    assert_int_equal(b[2].write.outcome, KC__STORAGE_SKIPPED);
    assert_null(b[2].write.result);
    assert_int_equal(b[2].write.error.reason, KC_OK);
    assert_int_equal(c[0].write.outcome, KC__STORAGE_STORED);
    assert_int_equal(c[0].write.revision, 8);
    finish_group(a, 2);
    finish_group(b, 3);
    finish_group(c, 1);
    finish_group((attempt[]){first}, 1);
    finish_group((attempt[]){before}, 1);
    finish_group((attempt[]){after}, 1);
    for (int i = 0; i < 2; i++) {
        expect_now(s->pods, "first=1@3 quota=1@6 web=3@8 ");
        expect_now(s->maps, "x=1@7 ");
        stage_reopen(s);
    }
}

static void group_of_writes_with_one_key_twice_is_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    attempt a[] = {attempt_of(s->pods, "a", KC__STORAGE_ANY, "1"),
                   attempt_of(s->pods, "a", KC__STORAGE_ANY, "2")};
    submit_group(s, a, 2);
    wait_for_group(a, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(a[i].write.outcome, KC__STORAGE_REFUSED);
        assert_error(&a[i].write.error, KC_INVALID, "two operations on one key");
        assert_null(a[i].write.result);
    }
    finish_group(a, 2);
    expect_now(s->pods, "");
    assert_int_equal(put(s, "a", "3"), 2);
    assert_int_equal(kc__store_health(s->store, NULL), 0);
}

static void group_larger_than_a_batch_is_one_commit(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_make();
    s->backend = &held_backend;
    s->opts.max_batch = 3;
    stage_open(s);
    attempt a[10];
    char keys[10][16];
    for (int i = 0; i < 10; i++) {
        snprintf(keys[i], sizeof(keys[i]), "k%d", i);
        a[i] = attempt_of(s->pods, keys[i], KC__STORAGE_ABSENT, "1");
    }
    submit_group(s, a, 10);
    wait_for_group(a, 10);
    assert_int_equal(held_of(s->storage)->commits, 1);
    assert_int_equal(a[9].write.revision, 11);
    finish_group(a, 10);
}

static void metrics_count_commits_conflicts_and_events(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    {
        kc_auto(stage) *s = stage_make();
        s->opts.metrics = metrics;
        stage_open(s);
        put(s, "a", "1");
        kc_scoped(attempt) a = try_write(s, s->pods, "a", KC__STORAGE_ABSENT, "2");
    }
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(metrics, &text);
    assert_contains(kc_buf_cstr(&text), "kc_store_commit_changes_count 1\n");
    assert_contains(kc_buf_cstr(&text), "kc_store_conflicts_total 1\n");
    assert_contains(kc_buf_cstr(&text), "kc_store_events 1\n");
}

enum { LINE = 300 };

/* Writes that note the order they are done in. */
typedef struct line {
    kc__store_write writes[LINE];
    size_t places[STAGE_LOOPS][LINE], n[STAGE_LOOPS];
    kc_latch done;
    stage *s;
} line;

static line *line_of;

static void note_place(kc__store_write *write)
{
    const size_t i = (size_t)(write - line_of->writes);
    const size_t loop = i % STAGE_LOOPS;
    line_of->places[loop][line_of->n[loop]++] = i;
    kc_object_unref(write->result);
    kc_error_done(&write->error);
    kc_latch_count_down(&line_of->done);
}

static void done_runs_on_its_loop_in_order_of_submission(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    s->opts.max_batch = 7;
    stage_reopen(s);
    kc_auto(kc_object) *object = object_of("{}");
    kc_autofree line *l = line_of = kc_new(line);
    kc_latch_init(&l->done);
    kc_latch_add(&l->done, LINE);
    for (size_t i = 0; i < LINE; i++) {
        l->writes[i] = (kc__store_write){.cache = s->pods,
                                         .key = KC_STR("a"),
                                         .expected = i % 4 ? KC__STORAGE_ANY : KC__STORAGE_ABSENT,
                                         .object = object,
                                         .loop = s->loops[i % STAGE_LOOPS],
                                         .done = note_place};
        kc__store_submit(s->store, &l->writes[i]);
    }
    kc_latch_wait(&l->done);
    for (size_t loop = 0; loop < STAGE_LOOPS; loop++)
        for (size_t i = 0; i < LINE / STAGE_LOOPS; i++)
            assert_int_equal(l->places[loop][i], i * STAGE_LOOPS + loop);
    kc_latch_done(&l->done);
}

TESTS(new_store_is_empty, stored_object_is_visible_when_done_is_called,
      wrong_expected_revision_conflicts_and_returns_current_object,
      delete_returns_last_object_at_revision_of_deletion, delete_may_return_another_object,
      invalid_key_or_value_is_refused_with_reason, resources_have_separate_keys,
      queued_writes_share_one_commit_and_see_each_other, conflict_is_detected_without_a_commit,
      group_of_writes_is_stored_as_a_whole,
      failed_group_changes_nothing_and_other_groups_are_stored,
      group_of_writes_with_one_key_twice_is_refused, group_larger_than_a_batch_is_one_commit,
      metrics_count_commits_conflicts_and_events, done_runs_on_its_loop_in_order_of_submission)
