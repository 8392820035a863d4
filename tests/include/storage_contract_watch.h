/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_contract_watch.h: the storage contract's tests of watches. Included only by
 * storage_contract.h.
 */
#ifndef KC_STORAGE_CONTRACT_WATCH_H
#define KC_STORAGE_CONTRACT_WATCH_H

#ifndef KC_STORAGE_CONTRACT_H
#error "include storage_contract.h"
#endif

static inline void note_progress(uint64_t revision, void *user)
{
    kc_buf_printf(user, "up to %d ", (int)revision);
}

static inline kc__storage_watch *watch_into(stage *s, const char *prefix, uint64_t since,
                                            kc_buf *out)
{
    kc_scoped(kc_error) err = {0};
    kc__storage_watch *watch = NULL;
    const kc__storage_watch_opts opts = {.prefix = kc_cstr(prefix),
                                         .since = since,
                                         .event = print_event,
                                         .progress = note_progress,
                                         .user = out};
    if (kc__storage_watch_start(s->storage, &opts, &watch, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    return watch;
}

/* Also clears the buffer. */
static inline void assert_delivered(kc_buf *out, const char *expected)
{
    assert_string_equal(kc_buf_cstr(out), expected);
    kc_buf_clear(out);
}

static void watch_delivers_past_and_later_events(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc_scoped(kc_buf) out = {0}, late = {0};
    put(s, "a", "1");
    put(s, "a", "2");
    kc__storage_watch *watch = watch_into(s, "", 2, &out);
    assert_delivered(&out, "3:+a=2(1@2) up to 3 ");
    kc__storage_watch *later = watch_into(s, "", 5, &late);
    const kc__storage_op ops[] = {put_op(KC_STR("b"), KC__STORAGE_ANY, KC_STR("1")),
                                  put_op(KC_STR("a"), KC__STORAGE_ABSENT, KC_STR("1")),
                                  delete_op(KC_STR("a"), KC__STORAGE_ANY)};
    kc__storage_result results[KC_COUNT(ops)];
    commit_all(s, ops, results);
    assert_delivered(&out, "4:+b=1 5:-a(2@3) up to 5 ");
    assert_result(commit_one(s, ops[1]), STORED, 6);
    assert_delivered(&out, "6:+a=1 up to 6 ");
    assert_delivered(&late, "up to 5 6:+a=1 up to 6 ");
    assert_null(kc__storage_watch_stop(s->storage, watch));
    assert_null(kc__storage_watch_stop(s->storage, later));
    assert_null(kc__storage_watch_stop(s->storage, NULL));
    put(s, "a", "3");
    assert_delivered(&out, "");
}

static void watch_resumes_after_reopening(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc_scoped(kc_buf) out = {0};
    put(s, "a", "1");
    kc__storage_watch *watch = watch_into(s, "", 1, &out);
    assert_delivered(&out, "2:+a=1 up to 2 ");
    kc__storage_watch_stop(s->storage, watch);
    put(s, "a", "2");
    stage_reopen(s);
    put(s, "b", "1");
    watch = watch_into(s, "", 2, &out);
    assert_delivered(&out, "3:+a=2(1@2) 4:+b=1 up to 4 ");
    removed(s, "a");
    assert_delivered(&out, "5:-a(2@3) up to 5 ");
    kc__storage_watch_stop(s->storage, watch);
}

static void watch_from_a_compacted_revision_is_expired(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    kc__storage_watch *watch = NULL;
    for (int i = 0; i < 4; i++)
        put(s, "a", "1");
    watch = watch_into(s, "", 4, &out);
    assert_int_equal(kc__storage_compact(s->storage, 5, NULL), 0);
    kc_buf_clear(&out);
    put(s, "a", "2"); /* An open watch continues. */
    assert_delivered(&out, "6:+a=2(1@5) up to 6 ");
    watch = kc__storage_watch_stop(s->storage, watch);
    for (int i = 0; i < 2; i++) {
        const kc__storage_watch_opts opts = {.since = 4, .event = print_event, .user = &out};
        kc_error_done(&err);
        assert_true(kc__storage_watch_start(s->storage, &opts, &watch, &err) < 0);
        assert_error(&err, KC_EXPIRED, "too old");
        assert_null(watch);
        stage_reopen(s);
    }
}

static void watch_of_a_prefix_reports_progress(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc_scoped(kc_buf) out = {0};
    put(s, "p/a", "1");
    put(s, "q/a", "1");
    kc__storage_watch *watch = watch_into(s, "p/", 1, &out);
    assert_delivered(&out, "2:+p/a=1 up to 3 ");
    put(s, "q/b", "1");
    assert_delivered(&out, "up to 4 ");
    commit_one(s, put_op(KC_STR("p/a"), KC__STORAGE_ABSENT, KC_STR("2")));
    assert_delivered(&out, ""); /* Nothing was stored. */
    put(s, "p/b", "1");
    assert_delivered(&out, "5:+p/b=1 up to 5 ");
    kc__storage_watch_stop(s->storage, watch);
}

static void watch_that_its_callback_ended_receives_nothing_more(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    int calls = 0;
    kc__storage_watch *watch = NULL;
    const kc__storage_watch_opts opts = {.since = 1, .event = stop_at_second_event, .user = &calls};
    put(s, "a", "1");
    assert_int_equal(kc__storage_watch_start(s->storage, &opts, &watch, NULL), 0);
    for (int i = 0; i < 3; i++)
        put(s, "a", "2");
    assert_int_equal(calls, 2);
    kc__storage_watch_stop(s->storage, watch);
}

#endif
