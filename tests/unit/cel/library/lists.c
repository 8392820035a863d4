/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static const cel_setup plain = {0};

static void lists_reduce_and_search(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"[1, 2, 3].sum()", "6"},
        {"[1.5, 2.5].sum()", "4.0"},
        {"[duration('1s'), duration('2s')].sum()", "duration(\"3s\")"},
        {"[3, 1, 2].min()", "1"},
        {"['a', 'c', 'b'].max()", "\"c\""},
        {"[1, 2].filter(x, x > 5).max()", "error: max called on empty list"},
        {"[1, 2, 2].isSorted()", "true"},
        {"[2, 1].isSorted()", "false"},
        {"[1, 2, 1].indexOf(1)", "0"},
        {"[1, 2, 1].lastIndexOf(1)", "2"},
    };
    ASSERT_CEL(&plain, rows);
}

static void elements_without_an_order_are_refused(void **state)
{
    (void)state;
    static const cel_setup lists = {.json = "[[1, {'a': 1}], [1, 'a'], [[1]]]"};
    static const cel_row rows[] = {
        {"self[0].min()", "error: no such overload"},
        {"self[1].min()", "1"},
        {"self[2].isSorted()", "error: no such overload: isSorted(list)"},
    };
    ASSERT_CEL(&lists, rows);
}

TESTS(elements_without_an_order_are_refused, lists_reduce_and_search)
