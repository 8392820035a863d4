/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static const cel_setup plain = {0};

static void lists_are_compared_as_sets(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"sets.contains([1, 2, 3], [2, 3])", "true"},   {"sets.contains([1], [1, 2])", "false"},
        {"sets.equivalent([1, 2], [2, 1, 1])", "true"}, {"sets.intersects([1, 2], [2, 3])", "true"},
        {"sets.intersects([1], [2])", "false"},
    };
    ASSERT_CEL(&plain, rows);
}

TESTS(lists_are_compared_as_sets)
