/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static const cel_setup plain = {0};

static void comparison_spans_numeric_types(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"1 < 2", "true"},
        {"1 == 1.0", "ERROR: <input>:1:3: found no matching overload for '_==_' applied to '(int, "
                     "double)'\n | 1 == 1.0\n | ..^"},
        {"dyn(1) == 1.0", "true"},
        {"dyn(1u) == 1", "true"},
        {"1 < 1.5", "true"},
        {"1u < 2", "true"},
        {"-1 < 1u", "true"},
        {"9223372036854775807 < 9223372036854775808.0", "false"},
        {"double('NaN') < 1.0", "error: NaN values cannot be ordered"},
        {"double('NaN') == double('NaN')", "false"},
        {"'a' < 'b'", "true"},
        {"b'a' < b'b'", "true"},
        {"false < true", "true"},
        {"[1, 2] == [1, 2]", "true"},
        {"[1, 2] == [2, 1]", "false"},
        {"{'a': 1} == {'a': 1}", "true"},
        {"{'a': 1} == {'b': 1}", "false"},
        {"dyn([1]) == dyn([1.0])", "true"},
        {"null == null", "true"},
        {"dyn(null) == dyn(1)", "false"},
        {"dyn('1') == dyn(1)", "false"},
        {"type(1) == int", "true"},
        {"type([]) == list", "true"},
        {"type(type(1)) == type", "true"},
    };
    ASSERT_CEL(&plain, rows);
}

TESTS(comparison_spans_numeric_types)
