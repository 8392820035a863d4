/* SPDX-License-Identifier: Apache-2.0 */
/* The differences of two versions of a tree, compared with a model of random changes. */
#include "testing.h"

#include "apiserver/store/cow_tree.h"
#include "kc/rand.h"

#include <stdio.h>

enum { KEYS = 2000 };

/* The versions of each key: 0 is missing. */
typedef struct model {
    uint64_t before[KEYS], after[KEYS];
    size_t n_differences;
} model;

static kc_object *object_at(uint64_t revision)
{
    char json[80];
    int n = snprintf(json, sizeof(json), "{\"metadata\":{\"resourceVersion\":\"%llu\"}}",
                     (unsigned long long)revision);
    return kc_object_parse(kc_str_of(json, (size_t)n), NULL, NULL);
}

static const char *key_of(size_t i)
{
    static char key[16];
    snprintf(key, sizeof(key), "k%04zu", i);
    return key;
}

static void set_key(kc__cow_tree *tree, size_t i, uint64_t version)
{
    if (!version) {
        kc_object_unref(kc__cow_tree_remove(tree, kc_cstr(key_of(i))));
        return;
    }
    kc_auto(kc_object) *object = object_at(version);
    kc_object_unref(kc__cow_tree_put(tree, kc_cstr(key_of(i)), object));
}

static uint64_t version_of(const kc_object *object)
{
    return object ? strtoull(kc_object_resource_version(object).p, NULL, 10) : 0;
}

static void compare_with_model(kc_str key, const kc_object *before, const kc_object *after,
                               void *user)
{
    model *m = user;
    uint64_t i;
    assert_true(kc_str_to_u64(kc_str_sub(key, 1, key.n), &i));
    assert_true(before != after);
    assert_int_equal(version_of(before), m->before[i]);
    assert_int_equal(version_of(after), m->after[i]);
    m->n_differences++;
}

static size_t count_differences(const model *m)
{
    size_t n = 0;
    for (size_t i = 0; i < KEYS; i++)
        n += m->before[i] != m->after[i];
    return n;
}

static void random_changes_are_found_exactly(void **state)
{
    (void)state;
    kc_rand rand;
    kc_rand_seed(&rand, 5);
    kc_auto(kc__cow_tree) *tree = kc__cow_tree_new();
    model m = {0};
    uint64_t version = 0;
    for (int round = 0; round < 300; round++) {
        kc_auto(kc__cow_snapshot) *before = kc__cow_tree_snapshot(tree);
        memcpy(m.before, m.after, sizeof(m.before));
        for (uint64_t n = kc_rand_below(&rand, round % 10 ? 5 : 500); n; n--) {
            const size_t i = (size_t)kc_rand_below(&rand, KEYS);
            m.after[i] = kc_rand_below(&rand, 3) ? ++version : 0;
            set_key(tree, i, m.after[i]);
        }
        kc__cow_tree_publish(tree, version);
        kc_auto(kc__cow_snapshot) *after = kc__cow_tree_snapshot(tree);
        m.n_differences = 0;
        kc__cow_diff(before, after, compare_with_model, &m);
        assert_int_equal(m.n_differences, count_differences(&m));
    }
}

static void missing_snapshot_is_empty(void **state)
{
    (void)state;
    kc_auto(kc__cow_tree) *tree = kc__cow_tree_new();
    model m = {0};
    for (size_t i = 0; i < 100; i++)
        set_key(tree, i, m.after[i] = i + 1);
    kc__cow_tree_publish(tree, 1);
    kc_auto(kc__cow_snapshot) *now = kc__cow_tree_snapshot(tree);
    kc__cow_diff(NULL, now, compare_with_model, &m);
    assert_int_equal(m.n_differences, 100);
    memcpy(m.before, m.after, sizeof(m.before));
    memset(m.after, 0, sizeof(m.after));
    kc__cow_diff(now, NULL, compare_with_model, &m);
    assert_int_equal(m.n_differences, 200);
    kc__cow_diff(now, now, compare_with_model, &m);
    kc__cow_diff(NULL, NULL, compare_with_model, &m);
    assert_int_equal(m.n_differences, 200);
}

TESTS(random_changes_are_found_exactly, missing_snapshot_is_empty)
