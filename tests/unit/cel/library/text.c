/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static const cel_setup plain = {0};

static void strings_match_patterns(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"'hello'.contains('ell')", "true"},
        {"'hello'.startsWith('he')", "true"},
        {"'hello'.endsWith('lo')", "true"},
        {"'hello'.matches('^h.*o$')", "true"},
        {"matches('hello', 'l+')", "true"},
        {"'hello'.matches('^l')", "false"},
        {"'x'.matches('x' + '(')", "error: error parsing regexp: missing closing ): `x(`"},
        {"'a' + 'b' == 'ab'", "true"},
        {"r'\\d' == '\\\\d'", "true"},
        {"'''a'b''' == \"a'b\"", "true"},
        {"'\\U0001F600'.size()", "1"},
    };
    ASSERT_CEL(&plain, rows);
}

TESTS(strings_match_patterns)
