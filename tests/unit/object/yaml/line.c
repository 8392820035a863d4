/* SPDX-License-Identifier: Apache-2.0 */
/* line.c: the line of a member. */
#include "kc/yaml.h"
#include "testing.h"

static const char text[] = "# a comment\n"           /* 1 */
                           "first: 1\n"              /* 2 */
                           "second:\n"               /* 3 */
                           "- {inner: 1, deep: 2}\n" /* 4 */
                           "third:\n"                /* 5 */
                           "  {a: 1,\n"              /* 6 */
                           "   'b': {c: [1,\n"       /* 7 */
                           "     2],\n"              /* 8 */
                           "     d: x}}\n"           /* 9 */
                           "fourth: |\n"             /* 10 */
                           "  fifth: 1\n"            /* 11 */
                           "fifth:\n";               /* 12 */

static void line_is(const char *names, size_t line)
{
    assert_int_equal(kc_yaml_line_of(kc_cstr(text), names), line);
}

static void members_are_found_at_every_depth(void **state)
{
    (void)state;
    line_is("first", 2);
    line_is("third", 5);
    line_is("third.a", 6);
    line_is("third.b", 7);
    line_is("third.b.c", 7);
    line_is("third.b.d", 9);
    line_is("fifth", 12);
}

static void missing_member_has_no_line(void **state)
{
    (void)state;
    line_is("sixth", 0);
    line_is("first.a", 0);
    line_is("second.inner", 0);
    line_is("third.b.d.e", 0);
    line_is("", 0);
}

static void invalid_text_has_no_lines(void **state)
{
    (void)state;
    assert_int_equal(kc_yaml_line_of(KC_STR(""), "a"), 0);
    assert_int_equal(kc_yaml_line_of(KC_STR("a"), "a"), 0);
    assert_int_equal(kc_yaml_line_of(KC_STR("b: [\na: 1"), "a"), 0);
    assert_int_equal(kc_yaml_line_of(KC_STR("\xff"), "a"), 0);
    assert_int_equal(kc_yaml_line_of(KC_STR("? {x: y}\n: 1\na: 2\n"), "a"), 3);
}

TESTS(members_are_found_at_every_depth, missing_member_has_no_line, invalid_text_has_no_lines)
