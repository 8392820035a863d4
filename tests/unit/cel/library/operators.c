/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static const cel_setup plain = {0};

static void arithmetic_checks_overflow_and_zero(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"1 + 2 * 3", "7"},
        {"(1 + 2) * 3", "9"},
        {"7 / 2", "3"},
        {"-7 / 2", "-3"},
        {"-7 % 3", "-1"},
        {"7u % 4u", "3u"},
        {"1.5 * 2.0", "3.0"},
        {"1.0 / 0.0", "+Inf"},
        {"-(-9223372036854775807)", "9223372036854775807"},
        {"-(-9223372036854775808)", "error: integer overflow"},
        {"9223372036854775807 + 1", "error: integer overflow"},
        {"-9223372036854775808 - 1", "error: integer overflow"},
        {"9223372036854775807 * 2", "error: integer overflow"},
        {"-9223372036854775808 / -1", "error: integer overflow"},
        {"0u - 1u", "error: unsigned integer overflow"},
        {"18446744073709551615u + 1u", "error: unsigned integer overflow"},
        {"1 / 0", "error: division by zero"},
        {"1 % 0", "error: modulus by zero"},
        {"1u / 0u", "error: division by zero"},
        {"0x1F", "31"},
        {"1e3", "1000.0"},
        {".5", "0.5"},
    };
    ASSERT_CEL(&plain, rows);
}

static void containers_index_and_contain(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"[1, 2, 3][1]", "2"},
        {"[1][5]", "error: index out of bounds: 5"},
        {"[1][-1]", "error: index out of bounds: -1"},
        {"{'a': 1}['a']", "1"},
        {"{'a': 1}.b", "error: no such key: b"},
        {"{1: 'x'}[1]", "\"x\""},
        {"{1: 'x'}[2]", "error: no such key: 2"},
        {"1 in [1, 2]", "true"},
        {"3 in [1, 2]", "false"},
        {"'a' in {'a': 1}", "true"},
        {"size('h\\u00e9llo')", "5"},
        {"size(b'\\xff\\x00')", "2"},
        {"[1, 2].size()", "2"},
        {"{'a': 1, 'a': 2}", "{\"a\": 2}"},
        {"([1] + [2] + [3])[2]", "3"},
    };
    ASSERT_CEL(&plain, rows);
}

TESTS(arithmetic_checks_overflow_and_zero, containers_index_and_contain)
