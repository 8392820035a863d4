/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_schema_testing.h"

static const cel_setup plain = {0};

static void names_of_types_are_known_with_declared_types(void **state)
{
    (void)state;
    typed_self self = declare_self();
    static const cel_row rows[] = {
        {"duration", "program instantiation failed: reference to undefined type: duration"},
        {"duration == 1", "ERROR: <input>:1:10: found no matching overload for '_==_' applied to "
                          "'(type(duration), int)'\n | duration == 1\n | .........^"},
        {"timestamp{}", "error: unknown type 'timestamp'", 40},
        {"duration{seconds: 1}", "error: unknown type 'duration'", 40},
        {"duration{x: 1}", "ERROR: <input>:1:11: undefined field 'x'\n | duration{x: 1}\n | "
                           "..........^"},
    };
    ASSERT_CEL(&self.setup, rows);
    release_self(&self);
    static const cel_row without[] = {
        {"duration", "ERROR: <input>:1:1: undeclared reference to 'duration' (in container '')\n | "
                     "duration\n | ^"},
    };
    ASSERT_CEL(&plain, without);
}

static void messages_name_functions_without_the_leading_dot(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {".size(1)", "ERROR: <input>:1:6: found no matching overload for 'size' applied to "
                     "'(int)'\n | .size(1)\n | .....^"},
        {".size('ab')", "2"},
        {".nope(1)", "ERROR: <input>:1:6: undeclared reference to '.nope' (in container '')\n | "
                     ".nope(1)\n | .....^"},
    };
    ASSERT_CEL(&plain, rows);
}

TESTS(names_of_types_are_known_with_declared_types, messages_name_functions_without_the_leading_dot)
