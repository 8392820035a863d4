/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes of the copy-on-write tree: what snapshots share, and that the tree stays balanced.
 * Behaviour is tested in cow_tree.c.
 */
#include "testing.h"

#include "apiserver/store/cow_internal.h"
#include "kc/map.h"
#include "kc/rand.h"

#include <stdio.h>

enum { MANY = 5000 };

static void put_number(kc__cow_tree *tree, uint64_t number)
{
    char key[40];
    int n = snprintf(key, sizeof(key), "some-namespace/%06llu", (unsigned long long)number);
    kc_auto(kc_object) *object = object_of("{}");
    kc_object_unref(kc__cow_tree_put(tree, kc_str_of(key, (size_t)n), object));
}

static void remove_number(kc__cow_tree *tree, uint64_t number)
{
    char key[40];
    int n = snprintf(key, sizeof(key), "some-namespace/%06llu", (unsigned long long)number);
    kc_object_unref(kc__cow_tree_remove(tree, kc_str_of(key, (size_t)n)));
}

static kc__cow_tree *tree_of_many(void)
{
    kc__cow_tree *tree = kc__cow_tree_new();
    for (uint64_t i = 0; i < MANY; i++)
        put_number(tree, i);
    return tree;
}

static const kc__cow_node *root_of(const kc__cow_snapshot *snapshot)
{
    return kc__cow_iter_start(snapshot, NULL).root;
}

static kc__cow_snapshot *publish(kc__cow_tree *tree)
{
    kc__cow_tree_publish(tree, 1);
    return kc__cow_tree_snapshot(tree);
}

/* ---- sharing ---- */

static void note_nodes(const kc__cow_node *node, kc_map *nodes)
{
    kc_map_put(nodes, kc_cstr(kc_asprintf("%p", (const void *)node)), (void *)(uintptr_t)node);
    for (size_t i = 0; node->height && i < node->n; i++)
        note_nodes(node->slots[i].child, nodes);
}

static void done_nodes(kc_map *nodes)
{
    kc_map_each (nodes, entry)
        free((char *)(uintptr_t)entry->key.p);
    kc_map_done(nodes);
}

/* How many nodes of `later` are not in `earlier`. */
static size_t new_nodes(const kc__cow_snapshot *earlier, const kc__cow_snapshot *later)
{
    kc_map old = {0}, new = {0};
    size_t n = 0;
    note_nodes(root_of(earlier), &old);
    note_nodes(root_of(later), &new);
    kc_map_each (&new, entry)
        n += !kc_map_get(&old, entry->key);
    done_nodes(&old);
    done_nodes(&new);
    return n;
}

static void change_copies_only_the_path_to_it(void **state)
{
    (void)state;
    kc_auto(kc__cow_tree) *tree = tree_of_many();
    kc_auto(kc__cow_snapshot) *first = publish(tree);
    size_t levels = root_of(first)->height + 1u;
    assert_true(levels >= 3);
    put_number(tree, 77);
    put_number(tree, 77);
    kc_auto(kc__cow_snapshot) *second = publish(tree);
    assert_int_equal(new_nodes(first, second), levels);
    remove_number(tree, 77);
    kc_auto(kc__cow_snapshot) *third = publish(tree);
    assert_int_equal(new_nodes(second, third), levels);
}

static void removal_of_absent_key_copies_nothing(void **state)
{
    (void)state;
    kc_auto(kc__cow_tree) *tree = tree_of_many();
    kc_auto(kc__cow_snapshot) *first = publish(tree);
    remove_number(tree, MANY + 1);
    kc_auto(kc__cow_snapshot) *second = publish(tree);
    assert_ptr_equal(root_of(first), root_of(second));
}

static void node_references_are_released_with_the_snapshot(void **state)
{
    (void)state;
    kc_auto(kc__cow_tree) *tree = tree_of_many();
    kc__cow_snapshot *first = publish(tree);
    put_number(tree, 77);
    kc_auto(kc__cow_snapshot) *second = publish(tree);
    const kc__cow_node *shared = root_of(second)->slots[root_of(second)->n - 1].child;
    assert_int_equal(kc_ref_count(&shared->refs), 2);
    kc__cow_snapshot_unref(first);
    assert_int_equal(kc_ref_count(&shared->refs), 1);
}

static void loading_in_order_fills_the_nodes(void **state)
{
    (void)state;
    kc_auto(kc__cow_tree) *tree = tree_of_many();
    kc_auto(kc__cow_snapshot) *snapshot = publish(tree);
    kc_map nodes = {0};
    note_nodes(root_of(snapshot), &nodes);
    size_t leaves = MANY / KC__COW_MAX + 1;
    assert_in_range(nodes.n, leaves, leaves + leaves / KC__COW_MAX + 3);
    done_nodes(&nodes);
}

/* ---- balance ---- */

/* Checks everything cow_tree.c promises about the nodes under one, whose keys must be at least
 * `low` and, unless it is empty, below `high`. */
static void assert_balanced(const kc__cow_node *node, kc_str low, kc_str high)
{
    assert_in_range(node->n, 1, KC__COW_MAX);
    assert_true(node->ends[node->n - 1] <= node->text_cap);
    for (size_t i = node->height ? 1 : 0; i < node->n; i++) {
        kc_str key = kc__cow_key(node, i);
        assert_true(kc_str_cmp(low, key) <= 0);
        assert_true(high.n == 0 || kc_str_cmp(key, high) < 0);
        assert_true(i < 2 || kc_str_cmp(kc__cow_key(node, i - 1), key) < 0);
    }
    for (size_t i = 0; node->height && i < node->n; i++) {
        const kc__cow_node *child = node->slots[i].child;
        assert_int_equal(child->height + 1, node->height);
        assert_int_equal(node->counts[i], kc__cow_count(child));
        if (i > 0)
            assert_true(node->slots[i - 1].child->n + child->n > KC__COW_MAX / 2);
        assert_balanced(child, i ? kc__cow_key(node, i) : low,
                        i + 1 < node->n ? kc__cow_key(node, i + 1) : high);
    }
}

static void assert_tree_balanced(kc__cow_tree *tree)
{
    kc_auto(kc__cow_snapshot) *snapshot = publish(tree);
    if (root_of(snapshot))
        assert_balanced(root_of(snapshot), KC_STR(""), KC_STR(""));
    else
        assert_int_equal(kc__cow_tree_count(tree), 0);
}

static void random_changes_keep_the_tree_balanced(void **state)
{
    (void)state;
    static const uint64_t percent_put[] = {95, 50, 5, 0, 60};
    kc_auto(kc__cow_tree) *tree = kc__cow_tree_new();
    kc_rand rand;
    kc_rand_seed(&rand, 11);
    for (size_t phase = 0; phase < KC_COUNT(percent_put); phase++) {
        for (int i = 0; i < 3 * MANY; i++) {
            uint64_t number = kc_rand_below(&rand, MANY);
            if (kc_rand_below(&rand, 100) < percent_put[phase])
                put_number(tree, number);
            else
                remove_number(tree, number);
            if (i % 500 == 0)
                assert_tree_balanced(tree);
        }
    }
}

/* Orders that hurt careless trees: up, down, towards the middle, and out from it; then the same for
 * removing. */
static uint64_t nth(int order, uint64_t i)
{
    switch (order) {
    case 0: return i;
    case 1: return MANY - 1 - i;
    case 2: return i % 2 ? MANY - 1 - i / 2 : i / 2;
    default: return i % 2 ? MANY / 2 + i / 2 : MANY / 2 - 1 - i / 2;
    }
}

static void any_order_of_changes_keeps_the_tree_balanced(void **state)
{
    (void)state;
    for (int orders = 0; orders < 16; orders++) {
        kc_auto(kc__cow_tree) *tree = kc__cow_tree_new();
        for (uint64_t i = 0; i < MANY; i++) {
            put_number(tree, nth(orders / 4, i));
            if (i % 400 == 0)
                assert_tree_balanced(tree);
        }
        assert_int_equal(kc__cow_tree_count(tree), MANY);
        for (uint64_t i = 0; i < MANY; i++) {
            remove_number(tree, nth(orders % 4, i));
            if (i % 400 == 0)
                assert_tree_balanced(tree);
        }
        assert_int_equal(kc__cow_tree_count(tree), 0);
        assert_tree_balanced(tree);
    }
}

static void remove_numbers(kc__cow_tree *tree, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        remove_number(tree, i);
}

/* The second inner node loses its first leaf, gets an entry that belongs there (below all the keys
 * it still has), and is joined to the first: the key between the two must come from above them. */
static void entry_below_the_keys_of_an_inner_node_survives_a_merge(void **state)
{
    (void)state;
    enum { UNDER_INNER = KC__COW_MAX * KC__COW_MAX };
    kc_auto(kc__cow_tree) *tree = tree_of_many();
    remove_numbers(tree, UNDER_INNER, UNDER_INNER + KC__COW_MAX);
    put_number(tree, UNDER_INNER + 5);
    remove_numbers(tree, 0, UNDER_INNER - 3 * KC__COW_MAX);
    remove_numbers(tree, UNDER_INNER + 4 * KC__COW_MAX, 2 * UNDER_INNER);
    kc_auto(kc__cow_snapshot) *snapshot = publish(tree);
    assert_int_equal(root_of(snapshot)->height, 2);
    assert_true(root_of(snapshot)->n < MANY / UNDER_INNER + 1);
    assert_tree_balanced(tree);
    assert_non_null(kc__cow_tree_get(tree, KC_STR("some-namespace/001029")));
}

TESTS(change_copies_only_the_path_to_it, removal_of_absent_key_copies_nothing,
      node_references_are_released_with_the_snapshot, loading_in_order_fills_the_nodes,
      random_changes_keep_the_tree_balanced, any_order_of_changes_keeps_the_tree_balanced,
      entry_below_the_keys_of_an_inner_node_survives_a_merge)
