/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "kc/heap.h"
#include "kc/rand.h"

typedef struct item {
    kc_heap_node node;
    uint64_t key;
} item;

static item *item_of(const kc_heap_node *node)
{
    return kc_container_of(node, item, node);
}

static bool smaller(const kc_heap_node *a, const kc_heap_node *b, void *user)
{
    ++*(size_t *)user;
    return item_of(a)->key < item_of(b)->key;
}

typedef struct fixture {
    size_t compared;
    kc_heap heap;
    item items[2000];
} fixture;

/* A heap of n items with random keys, some of them equal. */
static fixture *random_heap(size_t n, kc_rand *rand)
{
    fixture *f = kc_new(fixture);
    f->heap = (kc_heap){.less = smaller, .user = &f->compared};
    for (size_t i = 0; i < n; i++) {
        f->items[i].key = kc_rand_below(rand, n);
        kc_heap_push(&f->heap, &f->items[i].node);
    }
    return f;
}

static void fixture_free(fixture *f)
{
    kc_heap_done(&f->heap);
    free(f);
}

/* Pops all elements; returns how many came in order. */
static size_t drain(kc_heap *heap)
{
    uint64_t last = 0;
    size_t n = 0;
    for (kc_heap_node *node; (node = kc_heap_peek(heap)); n++) {
        assert_ptr_equal(kc_heap_pop(heap), node);
        assert_false(kc_heap_has(node));
        assert_true(item_of(node)->key >= last);
        last = item_of(node)->key;
    }
    return n;
}

static void elements_come_out_in_order(void **state)
{
    (void)state;
    kc_rand rand;
    kc_rand_seed(&rand, 1);
    for (size_t n = 0; n < 40; n++) {
        fixture *f = random_heap(n, &rand);
        assert_int_equal(drain(&f->heap), n);
        fixture_free(f);
    }
}

static void empty_heap_has_no_elements(void **state)
{
    (void)state;
    size_t compared = 0;
    kc_scoped(kc_heap) heap = {.less = smaller, .user = &compared};
    item alone = {.key = 1};
    assert_null(kc_heap_peek(&heap));
    assert_null(kc_heap_pop(&heap));
    kc_heap_remove(&heap, &alone.node);
    kc_heap_clear(&heap);
}

static void any_element_can_be_removed(void **state)
{
    (void)state;
    kc_rand rand;
    kc_rand_seed(&rand, 2);
    fixture *f = random_heap(1000, &rand);
    for (size_t i = 0; i < 1000; i += 3) {
        kc_heap_remove(&f->heap, &f->items[i].node);
        kc_heap_remove(&f->heap, &f->items[i].node);
        assert_false(kc_heap_has(&f->items[i].node));
    }
    assert_int_equal(drain(&f->heap), 666);
    fixture_free(f);
}

static void fix_moves_element_up_and_down(void **state)
{
    (void)state;
    kc_rand rand;
    kc_rand_seed(&rand, 3);
    fixture *f = random_heap(1000, &rand);
    for (size_t i = 0; i < 1000; i++) {
        f->items[i].key = kc_rand_below(&rand, 1000);
        kc_heap_fix(&f->heap, &f->items[i].node);
    }
    f->items[500].key = 0;
    kc_heap_fix(&f->heap, &f->items[500].node);
    assert_int_equal(item_of(kc_heap_peek(&f->heap))->key, 0);
    assert_int_equal(drain(&f->heap), 1000);
    fixture_free(f);
}

static void cleared_heap_releases_its_elements(void **state)
{
    (void)state;
    kc_rand rand;
    kc_rand_seed(&rand, 4);
    fixture *f = random_heap(50, &rand);
    kc_heap_clear(&f->heap);
    for (size_t i = 0; i < 50; i++)
        kc_heap_push(&f->heap, &f->items[i].node);
    assert_int_equal(drain(&f->heap), 50);
    fixture_free(f);
}

static void operations_take_logarithmic_time(void **state)
{
    (void)state;
    kc_rand rand;
    kc_rand_seed(&rand, 5);
    fixture *f = random_heap(2000, &rand);
    for (size_t i = 0; i < 2000; i++) {
        f->compared = 0;
        f->items[i].key = i % 2 ? 0 : 5000;
        kc_heap_fix(&f->heap, &f->items[i].node);
        kc_heap_remove(&f->heap, &f->items[i].node);
        kc_heap_push(&f->heap, &f->items[i].node);
        assert_true(f->compared <= 6 * 11);
    }
    fixture_free(f);
}

TESTS(elements_come_out_in_order, empty_heap_has_no_elements, any_element_can_be_removed,
      fix_moves_element_up_and_down, cleared_heap_releases_its_elements,
      operations_take_logarithmic_time)
