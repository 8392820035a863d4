/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_contract.h: the tests that every exclusive storage backend must pass: file and memory.
 * The test of a backend defines its location and its table, and runs them together with its own:
 *
 *     static char *new_location(void) { … }           an empty location
 *     static void remove_location(const char *location) { … }
 *     #define STORAGE_BACKEND kc__storage_file_backend
 *     #include "storage_contract.h"
 *     TESTS(STORAGE_CONTRACT, second_open_by_another_process_is_refused, …)
 */
#ifndef KC_STORAGE_CONTRACT_H
#define KC_STORAGE_CONTRACT_H

#include "apiserver/storage/storage.h"
#include "testing.h"

#include "kc/buf.h"

#include <stdio.h>

#define STORAGE_CONTRACT                                                                          \
    new_store_is_empty, put_is_loaded_with_its_revision, keys_are_loaded_in_byte_order,           \
        create_of_existing_key_conflicts, update_with_stale_revision_conflicts,                   \
        delete_of_absent_key_conflicts, operations_of_a_batch_see_earlier_ones,                   \
        operations_of_a_batch_fail_independently, batch_without_effect_keeps_the_revision,        \
        key_or_value_beyond_limits_is_refused, value_may_hold_any_bytes,                          \
        long_keys_with_common_prefix_are_distinct, objects_survive_reopening,                     \
        revisions_continue_after_reopening, history_has_every_change, history_survives_reopening, \
        history_after_latest_revision_is_empty, compacted_history_is_expired,                     \
        compaction_keeps_live_objects, compaction_beyond_latest_revision_is_refused,              \
        history_beyond_its_age_is_dropped, history_within_its_age_is_kept,                        \
        history_beyond_its_count_is_dropped, history_beyond_its_bytes_is_dropped,                 \
        callback_can_stop_a_walk, get_of_a_key_returns_its_value_and_revision,                    \
        list_of_a_prefix_returns_its_keys_in_pages, list_at_an_old_revision_returns_that_state,   \
        list_at_a_compacted_or_future_revision_fails, group_is_stored_as_a_whole,                 \
        failed_group_stores_nothing_and_other_groups_are_stored,                                  \
        group_that_fails_at_its_end_restores_what_it_replaced,                                    \
        group_with_one_key_twice_is_refused, group_that_is_too_large_is_refused,                  \
        watch_delivers_past_and_later_events, watch_resumes_after_reopening,                      \
        watch_from_a_compacted_revision_is_expired, watch_of_a_prefix_reports_progress,           \
        watch_that_its_callback_ended_receives_nothing_more, progress_returns_the_latest_revision

/* A store, and what is needed to open it again. */
typedef struct stage {
    char *location;
    kc_clock *clock;
    kc__storage_opts opts;
    kc__storage *storage;
} stage;

static inline stage *stage_open(stage *s)
{
    kc_scoped(kc_error) err = {0};
    s->opts.location = s->location;
    s->opts.clock = s->clock;
    if (kc__storage_open(&STORAGE_BACKEND, &s->opts, &s->storage, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    return s;
}

static inline stage *stage_reopen(stage *s)
{
    s->storage = kc__storage_close(s->storage);
    return stage_open(s);
}

static inline stage *stage_new(kc__storage_opts opts)
{
    stage *s = kc_new(stage);
    s->location = new_location();
    s->clock = kc_clock_virtual_new(1763368200 * KC_SECOND);
    s->opts = opts;
    return stage_open(s);
}

static inline void stage_free(stage *s)
{
    kc__storage_close(s->storage);
    kc_clock_free(s->clock);
    remove_location(s->location);
    free(s->location);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

#define NEW_STAGE(...) stage_new((kc__storage_opts){__VA_ARGS__})

/* ---- writes ---- */

static inline kc__storage_op put_op(kc_str key, uint64_t expected, kc_str value)
{
    return (kc__storage_op){
        .verb = KC__STORAGE_PUT, .key = key, .expected = expected, .value = value};
}

static inline kc__storage_op delete_op(kc_str key, uint64_t expected)
{
    return (kc__storage_op){.verb = KC__STORAGE_DELETE, .key = key, .expected = expected};
}

static inline kc__storage_result commit_one(stage *s, kc__storage_op op)
{
    kc_scoped(kc_error) err = {0};
    kc__storage_result result = {0};
    if (kc__storage_commit(s->storage, &op, 1, &result, NULL, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    return result;
}

static inline uint64_t put(stage *s, const char *key, const char *value)
{
    const kc__storage_result r =
        commit_one(s, put_op(kc_cstr(key), KC__STORAGE_ANY, kc_cstr(value)));
    assert_int_equal(r.outcome, KC__STORAGE_STORED);
    return r.revision;
}

static inline uint64_t removed(stage *s, const char *key)
{
    const kc__storage_result r = commit_one(s, delete_op(kc_cstr(key), KC__STORAGE_ANY));
    assert_int_equal(r.outcome, KC__STORAGE_STORED);
    return r.revision;
}

#define assert_result(result, the_outcome, the_revision)              \
    do {                                                              \
        const kc__storage_result result_ = (result);                  \
        assert_int_equal(result_.outcome, KC__STORAGE_##the_outcome); \
        assert_int_equal(result_.revision, the_revision);             \
    } while (0)

/* ---- reads ---- */

static inline int print_entry(const kc__storage_entry *e, void *user)
{
    kc_buf_printf(user, "%.*s=%.*s@%d ", KC_ARG(e->key), KC_ARG(e->value), (int)e->revision);
    return 0;
}

/* "a=1@2 b=2@3 revision 3" */
static inline void assert_live_(stage *s, const char *expected)
{
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    kc__storage_state state = {0};
    if (kc__storage_load(s->storage, print_entry, &out, &state, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    kc_buf_printf(&out, "revision %d", (int)state.revision);
    assert_string_equal(kc_buf_cstr(&out), expected);
}
#define assert_live(s, expected) assert_live_(s, expected)

static inline int print_event(const kc__storage_event *e, void *user)
{
    kc_buf_printf(user, "%d:%s%.*s", (int)e->revision, e->verb == KC__STORAGE_PUT ? "+" : "-",
                  KC_ARG(e->key));
    if (e->verb == KC__STORAGE_PUT)
        kc_buf_printf(user, "=%.*s", KC_ARG(e->value));
    if (e->previous_revision)
        kc_buf_printf(user, "(%.*s@%d)", KC_ARG(e->previous_value), (int)e->previous_revision);
    kc_buf_putc(user, ' ');
    return 0;
}

/* "2:+a=1 3:+a=2(1@2) 4:-a(2@3) " */
static inline void assert_history(stage *s, uint64_t since, const char *expected)
{
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    if (kc__storage_history(s->storage, since, print_event, &out, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    assert_string_equal(kc_buf_cstr(&out), expected);
}

static inline void assert_expired(stage *s, uint64_t since)
{
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    assert_true(kc__storage_history(s->storage, since, print_event, &out, &err) < 0);
    assert_error(&err, KC_EXPIRED, "too old");
    assert_int_equal(out.n, 0);
}

static inline uint64_t compacted(stage *s)
{
    kc__storage_state state = {0};
    assert_int_equal(kc__storage_load(s->storage, NULL, NULL, &state, NULL), 0);
    return state.compacted;
}

/* ---- the contract ---- */

static void new_store_is_empty(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    assert_live(s, "revision 1");
    assert_history(s, KC__STORAGE_FIRST, "");
    assert_int_equal(compacted(s), KC__STORAGE_FIRST);
}

static void put_is_loaded_with_its_revision(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    assert_int_equal(put(s, "pods/a", "{}"), 2);
    assert_live(s, "pods/a={}@2 revision 2");
    assert_int_equal(put(s, "pods/a", "[]"), 3);
    assert_live(s, "pods/a=[]@3 revision 3");
}

static void keys_are_loaded_in_byte_order(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    const char *const keys[] = {"b", "a/b", "\xff", "a", "ab", "a-b"};
    for (size_t i = 0; i < KC_COUNT(keys); i++)
        put(s, keys[i], "");
    assert_live(s, "a=@5 a-b=@7 a/b=@3 ab=@6 b=@2 \xff=@4 revision 7");
}

static void create_of_existing_key_conflicts(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    const kc__storage_op create = put_op(KC_STR("a"), KC__STORAGE_ABSENT, KC_STR("1"));
    assert_result(commit_one(s, create), STORED, 2);
    assert_result(commit_one(s, create), CONFLICT, 2);
    removed(s, "a");
    assert_result(commit_one(s, create), STORED, 4);
}

static void update_with_stale_revision_conflicts(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    put(s, "a", "1");
    assert_result(commit_one(s, put_op(KC_STR("a"), 2, KC_STR("2"))), STORED, 3);
    assert_result(commit_one(s, put_op(KC_STR("a"), 2, KC_STR("3"))), CONFLICT, 3);
    assert_result(commit_one(s, put_op(KC_STR("b"), 2, KC_STR("3"))), CONFLICT, 0);
    assert_result(commit_one(s, delete_op(KC_STR("a"), 2)), CONFLICT, 3);
    assert_result(commit_one(s, delete_op(KC_STR("a"), 3)), STORED, 4);
    assert_live(s, "revision 4");
}

static void delete_of_absent_key_conflicts(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    assert_result(commit_one(s, delete_op(KC_STR("a"), KC__STORAGE_ANY)), CONFLICT, 0);
    assert_result(commit_one(s, delete_op(KC_STR("a"), KC__STORAGE_ABSENT)), CONFLICT, 0);
    assert_live(s, "revision 1");
}

static void operations_of_a_batch_see_earlier_ones(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    const kc__storage_op ops[] = {
        put_op(KC_STR("a"), KC__STORAGE_ABSENT, KC_STR("1")),
        put_op(KC_STR("a"), 2, KC_STR("2")),
        delete_op(KC_STR("a"), 3),
        put_op(KC_STR("a"), KC__STORAGE_ABSENT, KC_STR("3")),
    };
    kc__storage_result results[KC_COUNT(ops)];
    uint64_t revision = 0;
    assert_int_equal(kc__storage_commit(s->storage, ops, KC_COUNT(ops), results, &revision, NULL),
                     0);
    for (size_t i = 0; i < KC_COUNT(ops); i++)
        assert_result(results[i], STORED, i + 2);
    assert_int_equal(revision, 5);
    assert_live(s, "a=3@5 revision 5");
    assert_history(s, 1, "2:+a=1 3:+a=2(1@2) 4:-a(2@3) 5:+a=3 ");
}

static void operations_of_a_batch_fail_independently(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    const kc__storage_op ops[] = {
        put_op(KC_STR("a"), KC__STORAGE_ABSENT, KC_STR("1")),
        put_op(KC_STR("b"), 7, KC_STR("1")),
        put_op(KC_STR(""), KC__STORAGE_ANY, KC_STR("1")),
        put_op(KC_STR("c"), KC__STORAGE_ANY, KC_STR("1")),
    };
    kc__storage_result results[KC_COUNT(ops)];
    assert_int_equal(kc__storage_commit(s->storage, ops, KC_COUNT(ops), results, NULL, NULL), 0);
    assert_result(results[0], STORED, 2);
    assert_result(results[1], CONFLICT, 0);
    assert_result(results[2], REFUSED, 0);
    assert_result(results[3], STORED, 3);
}

static void batch_without_effect_keeps_the_revision(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    put(s, "a", "1");
    commit_one(s, put_op(KC_STR("a"), KC__STORAGE_ABSENT, KC_STR("2")));
    uint64_t revision = 0;
    assert_int_equal(kc__storage_commit(s->storage, NULL, 0, NULL, &revision, NULL), 0);
    assert_int_equal(revision, 2);
    assert_live(s, "a=1@2 revision 2");
}

static void key_or_value_beyond_limits_is_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc_autofree char *big = kc_calloc(1, KC__STORAGE_MAX_VALUE + 1);
    char key[KC__STORAGE_MAX_KEY + 1];
    memset(key, 'k', sizeof(key));
    const kc__storage_op bad[] = {
        put_op((kc_str){0}, KC__STORAGE_ANY, KC_STR("1")),
        put_op(kc_str_of(key, sizeof(key)), KC__STORAGE_ANY, KC_STR("1")),
        put_op(kc_str_of("a\0b", 3), KC__STORAGE_ANY, KC_STR("1")),
        put_op(KC_STR("a"), KC__STORAGE_ANY, kc_str_of(big, KC__STORAGE_MAX_VALUE + 1)),
    };
    for (size_t i = 0; i < KC_COUNT(bad); i++) {
        assert_non_null(kc__storage_op_problem(&bad[i]));
        assert_result(commit_one(s, bad[i]), REFUSED, 0);
    }
    assert_live(s, "revision 1");
    const kc_str longest = kc_str_of(key, KC__STORAGE_MAX_KEY);
    assert_result(commit_one(s, put_op(longest, 0, kc_str_of(big, KC__STORAGE_MAX_VALUE))), STORED,
                  2);
}

static int check_bytes(const kc__storage_entry *entry, void *user)
{
    assert_true(kc_str_eq(entry->value, *(const kc_str *)user));
    return 0;
}

static void value_may_hold_any_bytes(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    char bytes[256];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)i;
    kc_str value = kc_str_of(bytes, sizeof(bytes));
    commit_one(s, put_op(KC_STR("a"), KC__STORAGE_ANY, value));
    assert_int_equal(kc__storage_load(s->storage, check_bytes, &value, NULL, NULL), 0);
}

static int append_last(const kc__storage_entry *entry, void *user)
{
    kc_buf_printf(user, "%zu%c=%.*s@%d ", entry->key.n, entry->key.p[entry->key.n - 1],
                  KC_ARG(entry->value), (int)entry->revision);
    return 0;
}

/* Whatever length a backend cuts keys at. */
static void long_keys_with_common_prefix_are_distinct(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    char key[KC__STORAGE_MAX_KEY];
    memset(key, 'k', sizeof(key));
    for (size_t n = 250; n <= 1000; n += 1 + (n % 251 == 0) * 240)
        commit_one(s, put_op(kc_str_of(key, n), KC__STORAGE_ABSENT, KC_STR("x")));
    char other[700];
    memset(other, 'z', sizeof(other));
    const char *const ends = "cab";
    for (const char *end = ends; *end; end++) {
        other[699] = *end;
        commit_one(s, put_op(kc_str_of(other, 700), KC__STORAGE_ABSENT, KC_STR("1")));
    }
    kc_scoped(kc_buf) out = {0};
    kc__storage_load(s->storage, append_last, &out, NULL, NULL);
    const char *tail = strstr(kc_buf_cstr(&out), "700a");
    assert_non_null(tail);
    int a, b, c;
    assert_int_equal(sscanf(tail, "700a=1@%d 700b=1@%d 700c=1@%d", &a, &b, &c), 3);
    assert_int_equal(b, a + 1);
    assert_int_equal(c, a - 1);
    /* Each is changed and deleted without the others. */
    other[699] = 'b';
    assert_int_equal(commit_one(s, put_op(kc_str_of(other, 700), (uint64_t)b, KC_STR("2"))).outcome,
                     0);
    other[699] = 'a';
    assert_int_equal(commit_one(s, delete_op(kc_str_of(other, 700), (uint64_t)a)).outcome, 0);
    kc_buf_clear(&out);
    stage_reopen(s);
    kc__storage_load(s->storage, append_last, &out, NULL, NULL);
    char expected[64];
    snprintf(expected, sizeof(expected), " 700b=2@%d 700c=1@%d ", b + 1, c);
    assert_contains(kc_buf_cstr(&out), expected);
    assert_null(strstr(kc_buf_cstr(&out), "700a"));
}

static void objects_survive_reopening(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    put(s, "a", "1");
    put(s, "b", "2");
    put(s, "a", "3");
    removed(s, "b");
    assert_live(stage_reopen(s), "a=3@4 revision 5");
    assert_live(stage_reopen(s), "a=3@4 revision 5");
}

static void revisions_continue_after_reopening(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    put(s, "a", "1");
    removed(s, "a");
    stage_reopen(s);
    assert_int_equal(put(s, "a", "1"), 4);
}

static void history_has_every_change(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    put(s, "a", "1");
    put(s, "b", "1");
    put(s, "a", "2");
    removed(s, "b");
    assert_history(s, 1, "2:+a=1 3:+b=1 4:+a=2(1@2) 5:-b(1@3) ");
    assert_history(s, 3, "4:+a=2(1@2) 5:-b(1@3) ");
    assert_history(s, 5, "");
}

static void history_survives_reopening(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    put(s, "a", "1");
    put(s, "a", "2");
    stage_reopen(s);
    removed(s, "a");
    assert_history(stage_reopen(s), 1, "2:+a=1 3:+a=2(1@2) 4:-a(2@3) ");
}

static void history_after_latest_revision_is_empty(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    put(s, "a", "1");
    assert_history(s, 100, "");
    assert_history(s, UINT64_MAX, "");
}

static void compacted_history_is_expired(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    assert_expired(s, 0);
    put(s, "a", "1");
    put(s, "a", "2");
    put(s, "a", "3");
    assert_int_equal(kc__storage_compact(s->storage, 3, NULL), 0);
    assert_int_equal(compacted(s), 3);
    assert_expired(s, 2);
    assert_history(s, 3, "4:+a=3(2@3) ");
    assert_int_equal(kc__storage_compact(s->storage, 2, NULL), 0);
    assert_int_equal(compacted(s), 3);
    stage_reopen(s);
    assert_expired(s, 2);
    assert_history(s, 3, "4:+a=3(2@3) ");
}

static void compaction_keeps_live_objects(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    put(s, "a", "1");
    put(s, "b", "1");
    put(s, "a", "2");
    removed(s, "b");
    put(s, "c", "1");
    for (uint64_t revision = 1; revision <= 6; revision++) {
        assert_int_equal(kc__storage_compact(s->storage, revision, NULL), 0);
        assert_live(s, "a=2@4 c=1@6 revision 6");
    }
    assert_history(s, 6, "");
    put(s, "b", "2");
    removed(s, "a");
    assert_live(stage_reopen(s), "b=2@7 c=1@6 revision 8");
    assert_history(s, 6, "7:+b=2 8:-a(2@4) ");
}

static void compaction_beyond_latest_revision_is_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc_scoped(kc_error) err = {0};
    put(s, "a", "1");
    assert_true(kc__storage_compact(s->storage, 3, &err) < 0);
    assert_error(&err, KC_BAD_REQUEST, "the latest is 2");
    assert_int_equal(compacted(s), 1);
}

static void history_beyond_its_age_is_dropped(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.history_age = KC_MINUTE);
    put(s, "a", "1");
    kc_clock_advance(s->clock, 50 * KC_SECOND);
    put(s, "a", "2");
    assert_int_equal(compacted(s), 1);
    kc_clock_advance(s->clock, 20 * KC_SECOND);
    stage_reopen(s);
    put(s, "b", "1");
    assert_int_equal(compacted(s), 2);
    assert_history(s, 2, "3:+a=2(1@2) 4:+b=1 ");
    kc_clock_advance(s->clock, KC_HOUR);
    put(s, "b", "2");
    assert_int_equal(compacted(s), 4);
    assert_live(s, "a=2@3 b=2@5 revision 5");
}

static void history_within_its_age_is_kept(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    for (int i = 0; i < 30; i++) {
        kc_clock_advance(s->clock, 10 * KC_SECOND);
        put(s, "a", "1");
    }
    assert_int_equal(compacted(s), 1);
}

static void history_beyond_its_count_is_dropped(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.history_events = 3);
    for (int i = 0; i < 10; i++)
        put(s, "a", "1");
    assert_int_equal(compacted(s), 8);
    assert_history(s, 8, "9:+a=1(1@8) 10:+a=1(1@9) 11:+a=1(1@10) ");
}

static void history_beyond_its_bytes_is_dropped(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.history_bytes = 10000);
    char value[1001] = {0};
    memset(value, 'x', 1000);
    for (int i = 0; i < 30; i++)
        put(s, "a", value);
    const uint64_t kept = 31 - compacted(s);
    assert_in_range(kept, 5, 10);
}

static int stop_at_second(const kc__storage_entry *entry, void *user)
{
    (void)entry;
    return ++*(int *)user == 2 ? 42 : 0;
}

static int stop_at_second_event(const kc__storage_event *event, void *user)
{
    (void)event;
    return ++*(int *)user == 2 ? 43 : 0;
}

static void callback_can_stop_a_walk(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc__storage_state untouched = {.revision = 99};
    int calls = 0;
    put(s, "a", "1");
    put(s, "b", "1");
    put(s, "c", "1");
    assert_int_equal(kc__storage_load(s->storage, stop_at_second, &calls, &untouched, NULL), 42);
    assert_int_equal(calls, 2);
    assert_int_equal(untouched.revision, 99);
    calls = 0;
    assert_int_equal(kc__storage_history(s->storage, 1, stop_at_second_event, &calls, NULL), 43);
    assert_int_equal(calls, 2);
}

#include "storage_contract_group.h"
#include "storage_contract_list.h"
#include "storage_contract_watch.h"

#endif
