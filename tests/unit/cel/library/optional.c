/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static const cel_setup plain = {0};

static void optionals_hold_what_may_be_absent(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"optional.of(1).hasValue()", "true"},
        {"optional.none().hasValue()", "false"},
        {"{'a': 1}.?a", "optional.of(1)"},
        {"{'a': 1}.?b", "optional.none()"},
        {"{'a': 1}.?b.orValue(2)", "2"},
        {"{'a': {'b': 1}}.?a.b", "optional.of(1)"},
        {"{'a': {'b': 1}}.?a.c", "optional.none()"},
        {"[1][?0]", "optional.of(1)"},
        {"[1][?1]", "optional.none()"},
        {"optional.of(1).optMap(x, x + 1)", "optional.of(2)"},
        {"optional.none().optMap(x, x + 1)", "optional.none()"},
        {"optional.of(1).optFlatMap(x, optional.of(x + 1))", "optional.of(2)"},
        {"[?optional.of(1), ?optional.none(), 3]", "[1, 3]"},
        {"{?'a': optional.of(1), ?'b': optional.none()}", "{\"a\": 1}"},
        {"optional.ofNonZeroValue(0)", "optional.none()"},
        {"optional.none().value()", "error: optional.none() dereference"},
        {"optional.none().or(optional.of(1)).value()", "1"},
        {"has({'a': {'b': 1}}.?a.b)", "true"},
    };
    ASSERT_CEL(&plain, rows);
}

static void optionals_of_lists_are_first_last_and_unwrapped(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"[1, 2].first().value()", "1"},
        {"[1, 2].last().orValue(0)", "2"},
        {"[].first().hasValue()", "false"},
        {"optional.unwrap([optional.of(1), optional.none()])", "[1]"},
        {"[optional.of('a'), optional.of('b')].unwrapOpt()", "[\"a\", \"b\"]"},
        {"[dyn([1]), dyn([2])].sort()", "error: list elements must be comparable"},
        {"dyn(['a']).first().value().size()", "1"},
    };
    ASSERT_CEL(&plain, rows);
}

TESTS(optionals_hold_what_may_be_absent, optionals_of_lists_are_first_last_and_unwrapped)
