/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static const cel_setup plain = {0};

static void strings_change_and_search(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"'tacocat'.charAt(3)", "\"o\""},
        {"'tacocat'.charAt(7)", "\"\""},
        {"'tacocat'.charAt(8)", "error: index out of range: 8"},
        {"'hello mellow'.indexOf('ello')", "1"},
        {"'hello mellow'.indexOf('jello')", "-1"},
        {"'hello mellow'.indexOf('')", "0"},
        {"'hello mellow'.indexOf('ello', 2)", "7"},
        {"'hello mellow'.indexOf('ello', 20)", "-1"},
        {"'hello mellow'.indexOf('e', -1)", "error: index out of range: -1"},
        {"'hello mellow'.lastIndexOf('ello')", "7"},
        {"'hello mellow'.lastIndexOf('ello', 6)", "1"},
        {"'hello mellow'.lastIndexOf('')", "12"},
        {"'ta©o©αT'.indexOf('©')", "2"},
        {"'ta©o©αT'.lastIndexOf('©')", "4"},
        {"'TacoCät'.lowerAscii()", "\"tacocät\""},
        {"'tacoCät'.upperAscii()", "\"TACOCäT\""},
        {"'hello hello'.replace('he', 'we')", "\"wello wello\""},
        {"'hello hello'.replace('he', 'we', 1)", "\"wello hello\""},
        {"'ab'.replace('', '_')", "\"_a_b_\""},
        {"'hello hello'.split(' ')", "[\"hello\", \"hello\"]"},
        {"'a,b,c'.split(',', 2)", "[\"a\", \"b,c\"]"},
        {"'a,b'.split(',', 0)", "[]"},
        {"'abc'.split('')", "[\"a\", \"b\", \"c\"]"},
        {"''.split(',')", "[\"\"]"},
        {"'tacocat'.substring(4)", "\"cat\""},
        {"'tacocat'.substring(0, 4)", "\"taco\""},
        {"'tacocat'.substring(9)", "error: index out of range: 9"},
        {"'tacocat'.substring(2, 1)", "error: invalid substring range. start: 2, end: 1"},
        {"'  \\u00a0trim\\n'.trim()", "\"trim\""},
        {"['x', 'y'].join()", "\"xy\""},
        {"['x', 'y'].join('-')", "\"x-y\""},
        {"strings.quote('a\"b\\n')", "\"\\\"a\\\\\\\"b\\\\n\\\"\""},
    };
    ASSERT_CEL(&plain, rows);
}

TESTS(strings_change_and_search)
