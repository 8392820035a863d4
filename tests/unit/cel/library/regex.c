/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static const cel_setup plain = {0};

static void regular_expressions_find(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"'abc 123'.find('[0-9]+')", "\"123\""},
        {"'abc'.find('[0-9]+')", "\"\""},
        {"'1 22 333'.findAll('[0-9]+')", "[\"1\", \"22\", \"333\"]"},
        {"'1 22 333'.findAll('[0-9]+', 2)", "[\"1\", \"22\"]"},
        {"'abc'.findAll('x*')", "[\"\", \"\", \"\", \"\"]"},
        {"'a'.findAll('(|a)*')", "[\"\", \"\"]"}, /* As Go, which prefers the first empty x. */
        {"'a'.findAll('(|a){2,}')", "[\"\", \"\"]"},
        {"'aab'.findAll('a{2,}|b')", "[\"aa\", \"b\"]"},
        {"'abxa'.findAll('x*|b')", "[\"\", \"\", \"x\", \"\"]"},
    };
    ASSERT_CEL(&plain, rows);
}

TESTS(regular_expressions_find)
