/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "kc/vec.h"

typedef KC_VEC(int) ints;

static ints counting_to(int n)
{
    ints v = {0};
    for (int i = 0; i < n; i++)
        kc_vec_push(&v, i);
    return v;
}

static int descending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x < y) - (x > y);
}

static void pushed_elements_stay_in_order(void **state)
{
    (void)state;
    ints v = counting_to(1000);
    assert_int_equal(v.n, 1000);
    int expected = 0;
    kc_vec_each (&v, item)
        assert_int_equal(*item, expected++);
    assert_int_equal(expected, 1000);
    kc_vec_done(&v);
}

static void empty_vector_has_no_elements(void **state)
{
    (void)state;
    ints v = {0};
    kc_vec_each (&v, item)
        fail_msg("an element: %d", *item);
    kc_vec_sort(&v, descending);
    kc_vec_clear(&v);
    kc_vec_done(&v);
}

static void added_element_is_zeroed(void **state)
{
    (void)state;
    ints v = counting_to(8);
    kc_vec_clear(&v);
    for (int i = 0; i < 20; i++)
        assert_int_equal(*kc_vec_add(&v), 0);
    assert_int_equal(v.n, 20);
    kc_vec_done(&v);
}

static void pushed_value_may_come_from_the_vector_itself(void **state)
{
    (void)state;
    ints v = counting_to(8);
    while (v.n < 100)
        kc_vec_push(&v, v.items[v.n - 8]);
    for (int i = 0; i < 100; i++)
        assert_int_equal(v.items[i], i % 8);
    kc_vec_done(&v);
}

static void last_element_is_returned_and_popped(void **state)
{
    (void)state;
    ints v = counting_to(3);
    assert_int_equal(*kc_vec_last(&v), 2);
    assert_int_equal(kc_vec_pop(&v), 2);
    assert_int_equal(*kc_vec_last(&v), 1);
    kc_vec_done(&v);
}

static void removing_keeps_the_order_of_the_rest(void **state)
{
    (void)state;
    ints v = counting_to(5);
    kc_vec_remove(&v, 4);
    kc_vec_remove(&v, 0);
    kc_vec_remove(&v, 1);
    assert_int_equal(v.n, 2);
    assert_int_equal(v.items[0], 1);
    assert_int_equal(v.items[1], 3);
    kc_vec_done(&v);
}

static void sort_uses_compare_function(void **state)
{
    (void)state;
    ints v = counting_to(100);
    kc_vec_sort(&v, descending);
    for (int i = 0; i < 100; i++)
        assert_int_equal(v.items[i], 99 - i);
    kc_vec_done(&v);
}

static void push_into_reserved_room_does_not_move_elements(void **state)
{
    (void)state;
    ints v = {0};
    kc_vec_reserve(&v, 100);
    const int *at = v.items;
    for (int i = 0; i < 100; i++)
        kc_vec_push(&v, i);
    assert_ptr_equal(v.items, at);
    kc_vec_done(&v);
}

static void vector_after_done_is_empty_and_usable(void **state)
{
    (void)state;
    ints v = counting_to(3);
    kc_vec_done(&v);
    assert_int_equal(v.n, 0);
    assert_null(v.items);
    kc_vec_push(&v, 7);
    assert_int_equal(v.items[0], 7);
    kc_vec_done(&v);
}

TESTS(pushed_elements_stay_in_order, empty_vector_has_no_elements, added_element_is_zeroed,
      pushed_value_may_come_from_the_vector_itself, last_element_is_returned_and_popped,
      removing_keeps_the_order_of_the_rest, sort_uses_compare_function,
      push_into_reserved_room_does_not_move_elements, vector_after_done_is_empty_and_usable)
