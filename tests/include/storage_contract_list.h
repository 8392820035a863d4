/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_contract_list.h: the storage contract's tests of get, list and progress. Included only by
 * storage_contract.h.
 */
#ifndef KC_STORAGE_CONTRACT_LIST_H
#define KC_STORAGE_CONTRACT_LIST_H

#ifndef KC_STORAGE_CONTRACT_H
#error "include storage_contract.h"
#endif

static void assert_value(stage *s, const char *key, const char *value, uint64_t revision)
{
    kc_scoped(kc_buf) out = {0};
    uint64_t found = 99;
    assert_int_equal(kc__storage_get(s->storage, kc_cstr(key), &out, &found, NULL), 0);
    assert_string_equal(kc_buf_cstr(&out), value);
    assert_int_equal(found, revision);
}

static void get_of_a_key_returns_its_value_and_revision(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    uint64_t revision = 99;
    put(s, "a", "1");
    put(s, "b", "2");
    put(s, "a", "3");
    removed(s, "b");
    for (int i = 0; i < 2; i++) {
        assert_value(s, "a", "3", 4);
        assert_value(s, "b", "", 0);
        assert_value(s, "c", "", 0);
        assert_value(s, "", "", 0);
        assert_int_equal(kc__storage_get(s->storage, KC_STR("a"), NULL, &revision, NULL), 0);
        assert_int_equal(revision, 4);
        stage_reopen(s);
    }
}

/* "a=1@2 b=2@3 revision 3 more" */
static void assert_list(stage *s, kc__storage_list_opts opts, const char *expected)
{
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    kc__storage_state state = {0};
    if (kc__storage_list(s->storage, &opts, print_entry, &out, &state, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    kc_buf_printf(&out, "revision %d%s", (int)state.revision, state.more ? " more" : "");
    assert_string_equal(kc_buf_cstr(&out), expected);
}
#define assert_listed(s, text, ...) assert_list(s, (kc__storage_list_opts){__VA_ARGS__}, text)

static void list_of_a_prefix_returns_its_keys_in_pages(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    const char *const keys[] = {"p/b", "q/a", "p/c", "o/z", "p/a", "p", "p0"};
    for (size_t i = 0; i < KC_COUNT(keys); i++)
        put(s, keys[i], "");
    const kc_str p = KC_STR("p/");
    for (int i = 0; i < 2; i++) {
        assert_listed(s, "p/a=@6 p/b=@2 p/c=@4 revision 8", .prefix = p);
        assert_listed(s, "p/a=@6 p/b=@2 revision 8 more", .prefix = p, .limit = 2);
        assert_listed(s, "p/c=@4 revision 8", .prefix = p, .limit = 2, .after = KC_STR("p/b"));
        assert_listed(s, "p/a=@6 p/b=@2 p/c=@4 revision 8", .prefix = p, .limit = 3);
        assert_listed(s, "p/b=@2 p/c=@4 revision 8", .prefix = p, .after = KC_STR("p/ab"));
        assert_listed(s, "p/a=@6 p/b=@2 p/c=@4 revision 8", .prefix = p, .after = KC_STR("o"));
        assert_listed(s, "revision 8", .prefix = p, .after = KC_STR("p/c"));
        assert_listed(s, "revision 8", .prefix = KC_STR("x"));
        assert_listed(s, "o/z=@5 revision 8 more", .limit = 1);
        stage_reopen(s);
    }
}

/* A model of every state of a random history. */
enum { STATES = 60, STATE_KEYS = 7 };

static void print_model(kc_buf *out, uint64_t revisions[STATE_KEYS], int revision)
{
    for (int i = 0; i < STATE_KEYS; i++)
        if (revisions[i])
            kc_buf_printf(out, "k%d=%d@%d ", i, (int)revisions[i], (int)revisions[i]);
    kc_buf_printf(out, "revision %d", revision);
}

static void list_at_an_old_revision_returns_that_state(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    uint64_t revisions[STATE_KEYS] = {0};
    kc_buf states[STATES + 2] = {0};
    char key[16], value[16];
    for (int revision = 2, seed = 1; revision <= STATES; seed = seed * 75 % 65537) {
        const int k = seed % STATE_KEYS;
        snprintf(key, sizeof(key), "k%d", k);
        snprintf(value, sizeof(value), "%d", revision);
        if (seed % 3 == 0 && !revisions[k])
            continue;
        revisions[k] = seed % 3 ? put(s, key, value) : (removed(s, key), 0);
        print_model(&states[revision], revisions, revision);
        revision++;
    }
    for (int round = 0; round < 3; round++) {
        const int oldest = round < 2 ? 2 : 20;
        if (round == 2)
            assert_int_equal(kc__storage_compact(s->storage, 20, NULL), 0);
        for (int revision = oldest; revision <= STATES; revision++)
            assert_listed(s, kc_buf_cstr(&states[revision]), .revision = (uint64_t)revision);
        if (round == 0)
            stage_reopen(s);
    }
    for (int i = 0; i < STATES + 2; i++)
        kc_buf_done(&states[i]);
}

static void list_at_a_compacted_or_future_revision_fails(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_error) early = {0};
    for (int i = 0; i < 4; i++)
        put(s, "a", "1");
    assert_int_equal(kc__storage_compact(s->storage, 4, NULL), 0);
    assert_listed(s, "a=1@4 revision 4", .revision = 4);
    const kc__storage_list_opts old = {.revision = 3}, future = {.revision = 6};
    assert_true(kc__storage_list(s->storage, &old, print_entry, NULL, NULL, &err) < 0);
    assert_error(&err, KC_EXPIRED, "too old");
    assert_true(kc__storage_list(s->storage, &future, print_entry, NULL, NULL, &early) < 0);
    assert_error(&early, KC_BAD_REQUEST, "the latest is 5");
}

static void progress_returns_the_latest_revision(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc__storage_state now = {0};
    assert_int_equal(kc__storage_progress(s->storage, &now, NULL), 0);
    assert_int_equal(now.revision, KC__STORAGE_FIRST);
    put(s, "a", "1");
    put(s, "a", "2");
    assert_int_equal(kc__storage_compact(s->storage, 2, NULL), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(kc__storage_progress(s->storage, &now, NULL), 0);
        assert_int_equal(now.revision, 3);
        assert_int_equal(now.compacted, 2);
        stage_reopen(s);
    }
}

#endif
