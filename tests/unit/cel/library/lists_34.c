/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static const cel_setup plain = {0};

static void lists_are_sliced_flattened_and_sorted(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"[1, 2, 3, 4].slice(1, 3)", "[2, 3]"},
        {"[1].slice(0, 2)", "error: cannot slice(0, 2), list is length 1"},
        {"[[1], [2, 3]].flatten()", "[1, 2, 3]"},
        {"dyn([1, 2]).flatten()", "[1, 2]"}, /* cel-go does not check the elements. */
        {"dyn([dyn(1), dyn([2])]).flatten()", "[1, 2]"},
        {"dyn(1).flatten()", "error: no such overload"},
        {"[1].flatten(1 / 0)",
         "error: internal error: interface conversion: ref.Val is *types.Err, not types.Int"},
        {"(1 / 0 == 1 ? [1] : [2]).sort()",
         "error: internal error: interface conversion: *types.Err is not traits.Lister: missing "
         "method Add"},
        {"[3, 1, 2].sort()", "[1, 2, 3]"},
        {"['bb', 'a'].sortBy(x, x.size())", "[\"a\", \"bb\"]"},
        {"[1, 2, 3].reverse()", "[3, 2, 1]"},
        {"[1, 2, 1, 3, 2].distinct()", "[1, 2, 3]"},
        {"lists.range(3)", "[0, 1, 2]"},
    };
    ASSERT_CEL(&plain, rows);
}

TESTS(lists_are_sliced_flattened_and_sorted)
