/* SPDX-License-Identifier: Apache-2.0 */
/* The store through its header, over the file backend: writing, reading, the past, restarts. */
#include "held_storage.h"

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

static void a_conflict_is_answered_without_the_storage(void **state)
{
    (void)state;
    kc_auto(stage) *s = held_stage();
    put(s, "a", "1");
    const size_t before = held_of(s->storage)->commits;
    kc_scoped(attempt) a = try_write(s, s->pods, "a", KC_STORAGE_ABSENT, "2");
    kc_scoped(attempt) b = try_write(s, s->pods, "b", KC_STORAGE_ANY, NULL);
    assert_int_equal(a.write.outcome, KC_STORAGE_CONFLICT);
    assert_int_equal(b.write.outcome, KC_STORAGE_CONFLICT);
    assert_int_equal(held_of(s->storage)->commits, before);
}

static void what_the_store_does_is_counted(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    {
        kc_auto(stage) *s = stage_make();
        s->opts.metrics = metrics;
        stage_open(s);
        put(s, "a", "1");
        kc_scoped(attempt) a = try_write(s, s->pods, "a", KC_STORAGE_ABSENT, "2");
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
    kc__write writes[LINE];
    size_t places[STAGE_LOOPS][LINE], n[STAGE_LOOPS];
    kc_latch done;
    stage *s;
} line;

static line *line_of;

static void note_place(kc__write *write)
{
    const size_t i = (size_t)(write - line_of->writes);
    const size_t loop = i % STAGE_LOOPS;
    line_of->places[loop][line_of->n[loop]++] = i;
    kc_object_unref(write->result);
    kc_error_done(&write->error);
    kc_latch_count_down(&line_of->done);
}

static void done_runs_on_its_loop_in_the_order_of_submission(void **state)
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
        l->writes[i] = (kc__write){.cache = s->pods,
                                   .key = KC_STR("a"),
                                   .expected = i % 4 ? KC_STORAGE_ANY : KC_STORAGE_ABSENT,
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

TESTS(a_new_store_is_empty, a_stored_object_is_visible_when_done_is_called,
      a_wrong_expectation_conflicts_and_shows_what_is_there,
      deleting_shows_the_last_state_at_the_revision_of_the_deletion,
      a_deletion_may_show_another_object, what_the_storage_does_not_take_is_refused_with_a_reason,
      resources_do_not_mix, writes_that_wait_share_one_commit_and_see_each_other,
      a_conflict_is_answered_without_the_storage, what_the_store_does_is_counted,
      done_runs_on_its_loop_in_the_order_of_submission)
