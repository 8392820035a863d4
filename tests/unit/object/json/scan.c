/* SPDX-License-Identifier: Apache-2.0 */
/* scan.c: which texts the scanner accepts without the full parser. Texts use ' for ". */
#include "object/model/object_internal.h"
#include "testing.h"

static bool scan(const char *quoted)
{
    char text[256];
    kc__object_scan_result result;
    const size_t n = strlen(quoted);
    assert_true(n < sizeof(text));
    for (size_t i = 0; i <= n; i++)
        text[i] = quoted[i] == '\'' ? '"' : quoted[i];
    return kc__json_scan(text, n, KC_JSON_MAX_DEPTH, false, &result);
}

static void names_with_short_escapes_are_accepted(void **state)
{
    (void)state;
    assert_true(scan("{'k:{\\'name\\':\\'a\\'}':{},'k:{\\'name\\':\\'b\\'}':{}}"));
    assert_true(scan("{'a rather long name before\\n':1,'\\\\':2,'\\t':3,'\xC3\xA9':4}"));
}

static void duplicate_names_with_escapes_are_not_accepted(void **state)
{
    (void)state;
    assert_false(scan("{'k:{\\'name\\':\\'a\\'}':{},'b':1,'k:{\\'name\\':\\'a\\'}':{}}"));
    assert_false(scan("{'\xC3\xA9':1,'\xC3\xA9':2}"));
}

static void names_with_two_spellings_are_left_to_the_parser(void **state)
{
    (void)state;
    assert_false(scan("{'a\\u0062':1}"));
    assert_false(scan("{'a\\/b':1}"));
    assert_false(scan("{'a\\'}"));
    assert_false(scan("{'a\nb':1}"));
    assert_false(scan("{'\xC3':1}"));
}

TESTS(names_with_short_escapes_are_accepted, duplicate_names_with_escapes_are_not_accepted,
      names_with_two_spellings_are_left_to_the_parser)
