/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static const cel_setup plain = {0};

static void constant_arguments_are_checked_at_compilation(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"duration('1x')", "ERROR: <input>:1:10: invalid duration argument\n | duration('1x')\n | "
                           ".........^"},
        {"timestamp('x')", "ERROR: <input>:1:11: invalid timestamp argument\n | timestamp('x')\n | "
                           "..........^"},
        {"'a'.matches('(')", "ERROR: <input>:1:13: invalid matches argument\n | 'a'.matches('(')\n "
                             "| ............^"},
    };
    ASSERT_CEL(&plain, rows);
}

TESTS(constant_arguments_are_checked_at_compilation)
