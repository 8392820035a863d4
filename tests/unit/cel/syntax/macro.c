/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static const cel_setup plain = {0};

static void macros_fold_lists_and_maps(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"[1, 2, 3].all(x, x > 0)", "true"},
        {"[].all(x, x > 0)", "true"},
        {"[1, 2, 3].exists(x, x > 2)", "true"},
        {"[1, 2, 3].exists_one(x, x > 2)", "true"},
        {"[1, 2, 3].existsOne(i, x, x > 1)", "false"},
        {"[1, 2, 3].map(x, x * 2)", "[2, 4, 6]"},
        {"[1, 2, 3].map(x, x > 1, x * 2)", "[4, 6]"},
        {"[1, 2, 3].filter(x, x % 2 == 1)", "[1, 3]"},
        {"{'a': 1, 'b': 2}.all(k, k < 'c')", "true"},
        {"{'a': 1, 'b': 2}.map(k, k)", "[\"a\", \"b\"]"},
        {"[[1, 2], [3]].map(x, x.map(y, y + 1))", "[[2, 3], [4]]"},
        {"[1, 2].map(x, [x]) + [[3]]", "[[1], [2], [3]]"},
        {"has({'a': 1}.a)", "true"},
        {"has({'a': 1}.b)", "false"},
        {"[1, 2].all(i, v, v == i + 1)", "true"},
        {"[3, 4].transformList(i, v, i * 10 + v)", "[3, 14]"},
        {"[3, 4].transformMap(i, v, v)", "{0: 3, 1: 4}"},
        {"{'a': 1, 'b': 2}.transformMap(k, v, v > 1, k + '!')", "{\"b\": \"b!\"}"},
        {"{'a': 'x', 'b': 'y'}.transformMapEntry(k, v, {v: k})", "{\"x\": \"a\", \"y\": \"b\"}"},
        {"{'a': 'x', 'b': 'x'}.transformMapEntry(k, v, {v: k})",
         "error: insert failed: key x already exists"},
        {"{'a': 1}.exists(k, v, k == 'a' && v == 1)", "true"},
    };
    ASSERT_CEL(&plain, rows);
}

static void optional_maps_chain(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"optional.of(1).optMap(v, 'x').optMap(v, [v, v])", "optional.of([\"x\", \"x\"])", 21},
        {"optional.of(1).optMap(a, 'x').optMap(b, b + b)", "optional.of(\"xx\")", 12},
        {"optional.of(1).optMap(a, [a, 2].map(b, b + a)).optMap(c, [3].map(d, c[1] + d + c[0]))",
         "optional.of([8])"},
    };
    ASSERT_CEL(&plain, rows);
}

static void error_of_a_failed_macro_is_where_the_first_one_is(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"{}.sortBy(x, x).sortBy(x, x)",
         "ERROR: <input>:1:1: sortBy can only be applied to a list, identifier, comprehension, call "
         "or select expression\n | {}.sortBy(x, x).sortBy(x, x)\n | ^\nERROR: <input>:1:1: sortBy "
         "can only be applied to a list, identifier, comprehension, call or select expression\n | "
         "{}.sortBy(x, x).sortBy(x, x)\n | ^"},
    };
    ASSERT_CEL(&plain, rows);
}

TESTS(optional_maps_chain, error_of_a_failed_macro_is_where_the_first_one_is,
      macros_fold_lists_and_maps)
