/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The copy-on-write tree through its header, compared with a model: the keys are all texts of one
 * to six of the characters "/", "a" and "b" (so that many are prefixes of others), and the model
 * records the object of each.
 */
#include "testing.h"

#include "apiserver/store/cow_tree.h"
#include "kc/rand.h"
#include "kc/thread.h"

#include <stdio.h>

/* ---- helpers ---- */

static kc_object *object_at(uint64_t revision)
{
    char json[80];
    int n = snprintf(json, sizeof(json), "{\"metadata\":{\"resourceVersion\":\"%llu\"}}",
                     (unsigned long long)revision);
    return kc_object_parse(kc_str_of(json, (size_t)n), NULL, NULL);
}

static void put(kc__cow_tree *tree, const char *key, uint64_t revision)
{
    kc_auto(kc_object) *object = object_at(revision);
    kc_object_unref(kc__cow_tree_put(tree, kc_cstr(key), object));
}

static kc__cow_tree *tree_of(const char *const *keys, size_t n)
{
    kc__cow_tree *tree = kc__cow_tree_new();
    for (size_t i = 0; i < n; i++)
        put(tree, keys[i], i + 1);
    kc__cow_tree_publish(tree, n);
    return tree;
}

/* The keys of a range, each followed by a space. Checks what the walk tells on its way. */
static const char *keys_in(kc__cow_tree *tree, kc__cow_range range)
{
    static char text[512];
    kc_auto(kc__cow_snapshot) *snapshot = kc__cow_tree_snapshot(tree);
    kc__cow_iter it = kc__cow_iter_start(snapshot, &range);
    size_t n = 0, used = 0;
    assert_int_equal(it.left, kc__cow_snapshot_count_in(snapshot, &range));
    for (text[0] = 0; kc__cow_iter_next(&it); n++) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%.*s ", KC_ARG(it.key));
        assert_ptr_equal(it.object, kc__cow_snapshot_get(snapshot, it.key));
        assert_int_equal(it.left + n + 1, kc__cow_snapshot_count_in(snapshot, &range));
    }
    assert_int_equal(n, kc__cow_snapshot_count_in(snapshot, &range));
    assert_false(kc__cow_iter_next(&it));
    return text;
}

/* ---- single entries ---- */

static void empty_tree_has_no_entries(void **state)
{
    (void)state;
    kc_auto(kc__cow_tree) *tree = kc__cow_tree_new();
    kc_auto(kc__cow_snapshot) *snapshot = kc__cow_tree_snapshot(tree);
    assert_int_equal(kc__cow_tree_count(tree), 0);
    assert_null(kc__cow_tree_get(tree, KC_STR("a")));
    assert_null(kc__cow_tree_remove(tree, KC_STR("a")));
    assert_int_equal(kc__cow_snapshot_count(snapshot), 0);
    assert_int_equal(kc__cow_snapshot_revision(snapshot), 0);
    assert_null(kc__cow_snapshot_get(snapshot, KC_STR("a")));
    assert_int_equal(kc__cow_snapshot_count_in(snapshot, NULL), 0);
    assert_string_equal(keys_in(tree, (kc__cow_range){0}), "");
    assert_string_equal(
        keys_in(tree, (kc__cow_range){.prefix = KC_STR("a/"), .after = KC_STR("a/b")}), "");
}

static void release_functions_accept_null(void **state)
{
    (void)state;
    assert_null(kc__cow_tree_free(NULL));
    assert_null(kc__cow_snapshot_unref(NULL));
    assert_null(kc__cow_snapshot_ref(NULL));
}

static void put_of_existing_key_returns_the_old_object(void **state)
{
    (void)state;
    kc_auto(kc__cow_tree) *tree = kc__cow_tree_new();
    kc_auto(kc_object) *first = object_at(1), *second = object_at(2);
    assert_null(kc__cow_tree_put(tree, KC_STR("ns/a"), first));
    kc_auto(kc_object) *replaced = kc__cow_tree_put(tree, KC_STR("ns/a"), second);
    assert_ptr_equal(replaced, first);
    assert_ptr_equal(kc__cow_tree_get(tree, KC_STR("ns/a")), second);
    assert_int_equal(kc__cow_tree_count(tree), 1);
}

static void same_object_can_be_put_again(void **state)
{
    (void)state;
    kc_auto(kc__cow_tree) *tree = kc__cow_tree_new();
    kc_auto(kc_object) *object = object_at(1);
    assert_null(kc__cow_tree_put(tree, KC_STR("a"), object));
    kc_auto(kc_object) *replaced = kc__cow_tree_put(tree, KC_STR("a"), object);
    assert_ptr_equal(replaced, object);
    assert_null(kc__cow_tree_put(tree, KC_STR("b"), object));
    assert_int_equal(kc__cow_tree_count(tree), 2);
}

static void removed_entry_is_returned_once(void **state)
{
    (void)state;
    kc_auto(kc__cow_tree) *tree = kc__cow_tree_new();
    put(tree, "a", 1);
    kc_auto(kc_object) *removed = kc__cow_tree_remove(tree, KC_STR("a"));
    assert_int_equal(kc_object_revision(removed), 1);
    assert_null(kc__cow_tree_remove(tree, KC_STR("a")));
    assert_int_equal(kc__cow_tree_count(tree), 0);
    put(tree, "a", 2);
    assert_int_equal(kc_object_revision(kc__cow_tree_get(tree, KC_STR("a"))), 2);
}

static void keys_are_copied_and_may_hold_any_bytes(void **state)
{
    (void)state;
    kc_auto(kc__cow_tree) *tree = kc__cow_tree_new();
    kc_auto(kc_object) *object = object_at(1);
    char key[] = {'a', 0, 'b'};
    assert_null(kc__cow_tree_put(tree, kc_str_of(key, 3), object));
    key[2] = '\xff';
    assert_null(kc__cow_tree_put(tree, kc_str_of(key, 3), object));
    assert_non_null(kc__cow_tree_get(tree, kc_str_of("a\0b", 3)));
    assert_non_null(kc__cow_tree_get(tree, kc_str_of("a\0\xff", 3)));
    assert_null(kc__cow_tree_get(tree, KC_STR("a")));
    assert_null(kc__cow_tree_get(tree, KC_STR("")));
}

static void very_long_keys_are_stored(void **state)
{
    (void)state;
    enum { LONG_KEYS = 200, BYTES = 10000 };
    kc_auto(kc__cow_tree) *tree = kc__cow_tree_new();
    for (int i = 0; i < LONG_KEYS; i++) {
        kc_autofree char *key = kc_asprintf("%0*d", BYTES, i * 7919 % LONG_KEYS);
        put(tree, key, (uint64_t)i + 1);
    }
    kc__cow_tree_publish(tree, 1);
    assert_int_equal(kc__cow_tree_count(tree), LONG_KEYS);
    kc_auto(kc__cow_snapshot) *snapshot = kc__cow_tree_snapshot(tree);
    kc__cow_iter it = kc__cow_iter_start(snapshot, NULL);
    for (int i = 0; kc__cow_iter_next(&it); i++) {
        kc_autofree char *key = kc_asprintf("%0*d", BYTES, i);
        assert_str(it.key, key);
    }
}

/* ---- publishing ---- */

static void snapshot_has_published_changes_only(void **state)
{
    (void)state;
    kc_auto(kc__cow_tree) *tree = kc__cow_tree_new();
    put(tree, "a", 1);
    kc_auto(kc__cow_snapshot) *before = kc__cow_tree_snapshot(tree);
    assert_int_equal(kc__cow_snapshot_count(before), 0);
    kc__cow_tree_publish(tree, 7);
    put(tree, "b", 2);
    kc_auto(kc__cow_snapshot) *after = kc__cow_tree_snapshot(tree);
    assert_int_equal(kc__cow_snapshot_revision(after), 7);
    assert_int_equal(kc__cow_snapshot_count(after), 1);
    assert_non_null(kc__cow_snapshot_get(after, KC_STR("a")));
    assert_null(kc__cow_snapshot_get(after, KC_STR("b")));
    assert_int_equal(kc__cow_tree_count(tree), 2);
    assert_int_equal(kc__cow_snapshot_count(before), 0);
}

static void revision_moves_without_a_change(void **state)
{
    (void)state;
    kc_auto(kc__cow_tree) *tree = tree_of((const char *[]){"a"}, 1);
    kc_auto(kc__cow_snapshot) *first = kc__cow_tree_snapshot(tree);
    kc__cow_tree_publish(tree, 9);
    kc_auto(kc__cow_snapshot) *second = kc__cow_tree_snapshot(tree);
    assert_int_equal(kc__cow_snapshot_revision(first), 1);
    assert_int_equal(kc__cow_snapshot_revision(second), 9);
    assert_ptr_equal(kc__cow_snapshot_get(first, KC_STR("a")),
                     kc__cow_snapshot_get(second, KC_STR("a")));
}

static void snapshot_outlives_its_tree_and_other_owners(void **state)
{
    (void)state;
    kc__cow_tree *tree = tree_of((const char *[]){"a", "b"}, 2);
    kc__cow_snapshot *snapshot = kc__cow_tree_snapshot(tree);
    kc_object_unref(kc__cow_tree_remove(tree, KC_STR("a")));
    kc__cow_tree_free(tree);
    kc_auto(kc__cow_snapshot) *mine = kc__cow_snapshot_ref(snapshot);
    kc__cow_snapshot_unref(snapshot);
    assert_int_equal(kc_object_revision(kc__cow_snapshot_get(mine, KC_STR("a"))), 1);
}

static void tree_from_snapshot_changes_independently(void **state)
{
    (void)state;
    const char *const keys[] = {"a", "b", "c"};
    kc_auto(kc__cow_tree) *tree = tree_of(keys, KC_COUNT(keys));
    kc_auto(kc__cow_snapshot) *then = kc__cow_tree_snapshot(tree);
    kc_auto(kc__cow_tree) *branch = kc__cow_tree_of(then);
    kc_auto(kc__cow_snapshot) *same = kc__cow_tree_snapshot(branch);
    assert_ptr_equal(same, then);
    put(branch, "d", 9);
    kc_object_unref(kc__cow_tree_remove(branch, KC_STR("a")));
    kc__cow_tree_publish(branch, 9);
    put(tree, "b2", 10);
    kc__cow_tree_publish(tree, 10);
    assert_string_equal(keys_in(branch, (kc__cow_range){0}), "b c d ");
    assert_string_equal(keys_in(tree, (kc__cow_range){0}), "a b b2 c ");
    assert_int_equal(kc__cow_snapshot_count(then), 3);
}

static void key_of_a_snapshot_can_be_removed_from_its_tree(void **state)
{
    (void)state;
    kc_auto(kc__cow_tree) *tree = tree_of((const char *[]){"a", "b", "c"}, 3);
    kc_auto(kc__cow_snapshot) *snapshot = kc__cow_tree_snapshot(tree);
    kc__cow_iter it = kc__cow_iter_start(snapshot, NULL);
    while (kc__cow_iter_next(&it))
        kc_object_unref(kc__cow_tree_remove(tree, it.key));
    assert_int_equal(kc__cow_tree_count(tree), 0);
    assert_int_equal(kc__cow_snapshot_count(snapshot), 3);
}

/* ---- ranges ---- */

static const char *const some_keys[] = {"a",    "a-b/x", "a/x", "a/xy",  "a/y",
                                        "ab/x", "b",     "b/x", "b/x/y", "c/\xff"};

static void prefix_selects_keys_that_start_with_it(void **state)
{
    (void)state;
    kc_auto(kc__cow_tree) *tree = tree_of(some_keys, KC_COUNT(some_keys));
#define IN(text) keys_in(tree, (kc__cow_range){.prefix = KC_STR(text)})
    assert_string_equal(IN("a/"), "a/x a/xy a/y ");
    assert_string_equal(IN("a"), "a a-b/x a/x a/xy a/y ab/x ");
    assert_string_equal(IN("a/x"), "a/x a/xy ");
    assert_string_equal(IN("b/x"), "b/x b/x/y ");
    assert_string_equal(IN("c/\xff"), "c/\xff ");
    assert_string_equal(IN("c/\xff\xff"), "");
    assert_string_equal(IN("0"), "");
    assert_string_equal(IN("a0"), "");
    assert_string_equal(IN("\xff"), "");
#undef IN
}

static void iteration_starts_at_or_after_a_key(void **state)
{
    (void)state;
    kc_auto(kc__cow_tree) *tree = tree_of(some_keys, KC_COUNT(some_keys));
#define FROM(text)  keys_in(tree, (kc__cow_range){.from = KC_STR(text)})
#define AFTER(text) keys_in(tree, (kc__cow_range){.after = KC_STR(text)})
    assert_string_equal(FROM("b/x"), "b/x b/x/y c/\xff ");
    assert_string_equal(AFTER("b/x"), "b/x/y c/\xff ");
    assert_string_equal(FROM("b/x/"), "b/x/y c/\xff ");
    assert_string_equal(AFTER("b/x/"), "b/x/y c/\xff ");
    assert_string_equal(FROM("c/\xff"), "c/\xff ");
    assert_string_equal(AFTER("c/\xff"), "");
    assert_string_equal(FROM("d"), "");
    assert_string_equal(FROM("b/w"), "b/x b/x/y c/\xff ");
    assert_string_equal(AFTER("b/w"), "b/x b/x/y c/\xff ");
    assert_string_equal(FROM("0"), "a a-b/x a/x a/xy a/y ab/x b b/x b/x/y c/\xff ");
    assert_string_equal(AFTER("0"), "a a-b/x a/x a/xy a/y ab/x b b/x b/x/y c/\xff ");
#undef FROM
#undef AFTER
}

static void prefix_from_and_after_combine(void **state)
{
    (void)state;
    kc_auto(kc__cow_tree) *tree = tree_of(some_keys, KC_COUNT(some_keys));
#define IN(...) keys_in(tree, (kc__cow_range){__VA_ARGS__})
    assert_string_equal(IN(.prefix = KC_STR("a/"), .after = KC_STR("a/x")), "a/xy a/y ");
    assert_string_equal(IN(.prefix = KC_STR("a/"), .from = KC_STR("a/x")), "a/x a/xy a/y ");
    assert_string_equal(IN(.prefix = KC_STR("a/"), .after = KC_STR("a/y")), "");
    assert_string_equal(IN(.prefix = KC_STR("a/"), .after = KC_STR("b")), "");
    assert_string_equal(IN(.prefix = KC_STR("b/"), .after = KC_STR("a/x")), "b/x b/x/y ");
    assert_string_equal(IN(.from = KC_STR("b"), .after = KC_STR("a")), "b b/x b/x/y c/\xff ");
    assert_string_equal(IN(.from = KC_STR("a"), .after = KC_STR("b/x")), "b/x/y c/\xff ");
#undef IN
}

/* ---- against the model ---- */

enum { UNIVERSE = 3 + 9 + 27 + 81 + 243 + 729, KEY_MAX = 6 };

typedef struct model {
    char (*keys)[KEY_MAX + 1]; /* All there could be, in order. */
    const kc_object *objects[UNIVERSE];
    size_t n;
} model;

static size_t add_keys(char (*keys)[KEY_MAX + 1], size_t n, const char *stem, size_t depth)
{
    for (const char *letter = "/ab"; *letter && depth < KEY_MAX; letter++) {
        memcpy(keys[n], stem, depth);
        keys[n][depth] = *letter;
        keys[n][depth + 1] = 0;
        const char *key = keys[n++];
        n = add_keys(keys, n, key, depth + 1);
    }
    return n;
}

static bool admits(const kc__cow_range *range, kc_str key)
{
    return kc_str_starts(key, range->prefix) &&
           (!range->from.n || kc_str_cmp(key, range->from) >= 0) &&
           (!range->after.n || kc_str_cmp(key, range->after) > 0);
}

static void assert_range(const kc__cow_snapshot *snapshot, const model *m,
                         const kc__cow_range *range)
{
    kc__cow_iter it = kc__cow_iter_start(snapshot, range);
    size_t n = 0;
    for (size_t i = 0; i < UNIVERSE; i++) {
        if (!m->objects[i] || !admits(range, kc_cstr(m->keys[i])))
            continue;
        n++;
        assert_true(kc__cow_iter_next(&it));
        assert_str(it.key, m->keys[i]);
        assert_ptr_equal(it.object, m->objects[i]);
    }
    assert_false(kc__cow_iter_next(&it));
    assert_int_equal(kc__cow_snapshot_count_in(snapshot, range), n);
}

/* A key of the universe, cut or not; or none. */
static kc_str random_bound(const model *m, kc_rand *rand)
{
    kc_str key = kc_cstr(m->keys[kc_rand_below(rand, UNIVERSE)]);
    return kc_str_sub(key, 0, kc_rand_below(rand, KEY_MAX + 1));
}

static void assert_same(const kc__cow_snapshot *snapshot, const model *m, kc_rand *rand)
{
    assert_int_equal(kc__cow_snapshot_count(snapshot), m->n);
    assert_range(snapshot, m, &(kc__cow_range){0});
    for (int i = 0; i < 3; i++) {
        kc__cow_range range = {.prefix = kc_str_sub(random_bound(m, rand), 0, 3)};
        assert_range(snapshot, m, &range);
        range.after = random_bound(m, rand);
        assert_range(snapshot, m, &range);
        range.from = random_bound(m, rand);
        assert_range(snapshot, m, &range);
    }
    for (size_t i = 0; i < UNIVERSE; i++)
        assert_ptr_equal(kc__cow_snapshot_get(snapshot, kc_cstr(m->keys[i])), m->objects[i]);
}

static void change_at_random(kc__cow_tree *tree, model *m, kc_rand *rand, uint64_t percent_put)
{
    size_t i = kc_rand_below(rand, UNIVERSE);
    const kc_object *before = m->objects[i];
    kc_str key = kc_cstr(m->keys[i]);
    kc_auto(kc_object) *object = NULL, *old = NULL;
    if (kc_rand_below(rand, 100) < percent_put) {
        object = object_at(kc_rand_u64(rand) >> 1);
        old = kc__cow_tree_put(tree, key, object);
    } else {
        old = kc__cow_tree_remove(tree, key);
    }
    assert_ptr_equal(old, before);
    assert_ptr_equal(kc__cow_tree_get(tree, key), object);
    m->objects[i] = object;
    m->n = m->n + !!object - !!before;
    assert_int_equal(kc__cow_tree_count(tree), m->n);
}

enum { KEPT = 24 };

/* A version that is kept, and what it must hold. */
typedef struct version {
    kc__cow_snapshot *snapshot;
    model model;
} version;

/* Checks a version, lets it go, and keeps the newest in its place. */
static void renew(version *v, kc__cow_tree *tree, const model *m, kc_rand *rand)
{
    if (v->snapshot)
        assert_same(v->snapshot, &v->model, rand);
    kc__cow_snapshot_unref(v->snapshot);
    v->snapshot = kc__cow_tree_snapshot(tree);
    v->model = *m;
}

/* Grows the tree, shrinks it to nearly nothing and grows it again, in batches of random size. */
static void run_against_model(uint64_t seed)
{
    static const uint64_t percent_put[] = {90, 50, 10, 2, 70};
    kc_rand rand;
    kc_rand_seed(&rand, seed);
    kc_auto(kc__cow_tree) *tree = kc__cow_tree_new();
    kc_autofree char *keys = kc_calloc(UNIVERSE, KEY_MAX + 1);
    kc_autofree model *m = kc_new(model);
    kc_autofree version *kept = kc_calloc(KEPT, sizeof(version));
    m->keys = (char(*)[KEY_MAX + 1]) keys;
    assert_int_equal(add_keys(m->keys, 0, "", 0), UNIVERSE);
    for (size_t phase = 0; phase < KC_COUNT(percent_put); phase++) {
        for (int batch = 0; batch < 60; batch++) {
            for (uint64_t i = kc_rand_below(&rand, 100); i > 0; i--)
                change_at_random(tree, m, &rand, percent_put[phase]);
            kc__cow_tree_publish(tree, kc_rand_u64(&rand));
            renew(&kept[kc_rand_below(&rand, KEPT)], tree, m, &rand);
        }
    }
    for (int i = 0; i < KEPT; i++) {
        renew(&kept[i], tree, m, &rand);
        assert_same(kept[i].snapshot, m, &rand);
        kc__cow_snapshot_unref(kept[i].snapshot);
    }
}

static void random_changes_match_the_model_and_keep_old_snapshots(void **state)
{
    (void)state;
    one_thread();
    for (uint64_t seed = 1; seed <= 5; seed++)
        run_against_model(seed);
}

/* ---- many ---- */

enum { NAMESPACES = 100, PODS = 1000, PAGE = 300 };

static kc__cow_tree *hundred_thousand(bool in_order)
{
    kc__cow_tree *tree = kc__cow_tree_new();
    kc_auto(kc_object) *object = object_at(1);
    char key[40];
    for (uint64_t i = 0; i < NAMESPACES * PODS; i++) {
        uint64_t at = in_order ? i : i * 7919 % (NAMESPACES * PODS);
        int n = snprintf(key, sizeof(key), "namespace-%02d/pod-%06d", (int)(at / PODS),
                         (int)(at % PODS));
        assert_null(kc__cow_tree_put(tree, kc_str_of(key, (size_t)n), object));
    }
    kc__cow_tree_publish(tree, 1);
    return tree;
}

/* Lists a namespace in pages, each from the token of the one before. */
static void assert_pages(const kc__cow_snapshot *snapshot, kc_str prefix)
{
    kc__cow_range range = {.prefix = prefix};
    for (size_t seen = 0; seen < PODS;) {
        kc__cow_iter it = kc__cow_iter_start(snapshot, &range);
        for (size_t i = 0; i < PAGE && kc__cow_iter_next(&it); i++, seen++)
            assert_true(kc_str_starts(it.key, prefix));
        range.after = it.key;
        assert_int_equal(it.left, PODS - seen);
        assert_int_equal(kc__cow_snapshot_count_in(snapshot, &range), PODS - seen);
    }
}

static void hundred_thousand_objects_are_listed_in_pages(void **state)
{
    (void)state;
    one_thread();
    for (int in_order = 0; in_order < 2; in_order++) {
        kc_auto(kc__cow_tree) *tree = hundred_thousand(in_order);
        kc_auto(kc__cow_snapshot) *snapshot = kc__cow_tree_snapshot(tree);
        assert_int_equal(kc__cow_snapshot_count(snapshot), NAMESPACES * PODS);
        for (int i = 0; i < NAMESPACES; i++) {
            char prefix[40];
            snprintf(prefix, sizeof(prefix), "namespace-%02d/", i);
            assert_pages(snapshot, kc_cstr(prefix));
        }
        kc__cow_iter it = kc__cow_iter_start(snapshot, NULL), gone = it;
        while (kc__cow_iter_next(&gone))
            kc_object_unref(kc__cow_tree_remove(tree, gone.key));
        assert_int_equal(kc__cow_tree_count(tree), 0);
        size_t n = 0;
        while (kc__cow_iter_next(&it))
            n++;
        assert_int_equal(n, NAMESPACES * PODS);
    }
}

/* ---- threads ---- */

enum { READERS = 4, KEYS = 150, BATCHES = 200, HELD = 3 };

typedef struct race {
    kc__cow_tree *tree;
    _Atomic bool over;
    _Atomic int faults; /* cmocka's asserts are for the main thread only. */
} race;

static void key_text(char out[48], size_t i)
{
    snprintf(out, 48, "ns-%zu/%zu", i % 7, i);
}

/* In the version of revision r all objects are of revision r, and the key r % KEYS is not there. */
static bool is_complete(const kc__cow_snapshot *snapshot)
{
    uint64_t revision = kc__cow_snapshot_revision(snapshot);
    char missing[48];
    key_text(missing, revision % KEYS);
    if (revision == 0)
        return kc__cow_snapshot_count(snapshot) == 0;
    kc__cow_iter it = kc__cow_iter_start(snapshot, NULL);
    size_t n = 0;
    for (; kc__cow_iter_next(&it); n++)
        if (kc_object_revision(it.object) != revision || kc_str_is(it.key, missing))
            return false;
    return n == KEYS - 1 && kc__cow_snapshot_count(snapshot) == n;
}

static void read_versions(void *user)
{
    race *r = user;
    kc__cow_snapshot *held[HELD] = {0};
    uint64_t newest = 0;
    for (size_t i = 0; !r->over || i < 10; i++) {
        kc__cow_snapshot **place = &held[i % HELD];
        if (*place && !is_complete(*place))
            r->faults++;
        kc__cow_snapshot_unref(*place);
        *place = kc__cow_tree_snapshot(r->tree);
        if (!is_complete(*place) || kc__cow_snapshot_revision(*place) < newest)
            r->faults++;
        newest = kc__cow_snapshot_revision(*place);
    }
    for (size_t i = 0; i < HELD; i++)
        kc__cow_snapshot_unref(held[i]);
}

static void write_version(kc__cow_tree *tree, uint64_t revision)
{
    char key[48];
    for (size_t i = 0; i < KEYS; i++) {
        key_text(key, i);
        put(tree, key, revision);
    }
    key_text(key, revision % KEYS);
    kc_object_unref(kc__cow_tree_remove(tree, kc_cstr(key)));
    kc__cow_tree_publish(tree, revision);
}

static void readers_get_complete_snapshots_during_writes(void **state)
{
    (void)state;
    kc_auto(kc__cow_tree) *tree = kc__cow_tree_new();
    race r = {.tree = tree};
    kc_thread *readers[READERS];
    for (int i = 0; i < READERS; i++)
        readers[i] = kc_thread_start("reader", read_versions, &r, NULL);
    for (uint64_t revision = 1; revision <= BATCHES; revision++)
        write_version(tree, revision);
    r.over = true;
    for (int i = 0; i < READERS; i++)
        kc_thread_join(readers[i]);
    assert_int_equal(r.faults, 0);
}

TESTS(empty_tree_has_no_entries, release_functions_accept_null,
      put_of_existing_key_returns_the_old_object, same_object_can_be_put_again,
      removed_entry_is_returned_once, keys_are_copied_and_may_hold_any_bytes,
      very_long_keys_are_stored, snapshot_has_published_changes_only,
      revision_moves_without_a_change, snapshot_outlives_its_tree_and_other_owners,
      tree_from_snapshot_changes_independently, key_of_a_snapshot_can_be_removed_from_its_tree,
      prefix_selects_keys_that_start_with_it, iteration_starts_at_or_after_a_key,
      prefix_from_and_after_combine, random_changes_match_the_model_and_keep_old_snapshots,
      hundred_thousand_objects_are_listed_in_pages, readers_get_complete_snapshots_during_writes)
