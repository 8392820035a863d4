/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static const cel_setup plain = {0};

static void clauses_format_their_arguments(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"'%s is %s'.format(['a', 'b'])", "\"a is b\""},
        {"'%d%%'.format([5])", "\"5%\""},
        {"'%.3f'.format([1052.03291])", "\"1,052.033\""},
        {"'%e'.format([1052.032911275])", "\"1.052033×10⁰³\""},
        {"'%.9e'.format([double('Infinity')])", "\"        ∞\""},
        {"'%x %X %b %o'.format([255, 255, 5, 8])", "\"ff FF 101 10\""},
        {"'%s'.format([[1, 2]])", "\"[1, 2]\""},
        {"'%s'.format([{'b': 1, 'a': 2}])", "\"{\\\"a\\\":2, \\\"b\\\":1}\""},
        {"'%d'.format([dyn('x')])",
         "error: error during formatting: decimal clause can only be used on integers, was given "
         "string"},
        {"'%d'.format(['x'])",
         "ERROR: <input>:1:14: error during formatting: decimal clause can only be used on "
         "integers, was given string\n | '%d'.format(['x'])\n | .............^"},
        {"'%s'.format(['a', 'b'])",
         "ERROR: <input>:1:12: too many arguments supplied to string.format (expected 1, got 2)\n "
         "| '%s'.format(['a', 'b'])\n | ...........^"},
        {"'%s %d'.format(['a', 1])", "\"a 1\""},
        {"'%s'.format([1234567.0])", "\"1.234567e+06\""},
        {"'%.1f'.format([-0.0])", "\"0.0\""},
    };
    ASSERT_CEL(&plain, rows);
}

TESTS(clauses_format_their_arguments)
