/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_duplicates.c: duplicate keys of YAML, with their lines. */
#include "object/yaml/yaml_duplicates.h"

#include "testing.h"

static void assert_duplicates(const char *yaml, const char *lines)
{
    kc_scoped(kc_buf) out = {0};
    kc__yaml_list_duplicates(&out, kc_cstr(yaml));
    assert_string_equal(kc_buf_cstr(&out), lines);
}

static void duplicate_is_listed_at_line_of_its_value(void **state)
{
    (void)state;
    assert_duplicates("a: 1\nb: 2\na: 3\n", "\n  line 3: key \"a\" already set in map");
    assert_duplicates("a: 1\na:\n  - 3\n", "\n  line 3: key \"a\" already set in map");
    assert_duplicates("{\"a\":1,\n\"a\":2}", "\n  line 2: key \"a\" already set in map");
}

static void inner_duplicates_come_first(void **state)
{
    (void)state;
    assert_duplicates("a: 1\na:\n  b: 1\n  b: 2\n", "\n  line 4: key \"b\" already set in map"
                                                    "\n  line 3: key \"a\" already set in map");
    assert_duplicates("- a: 1\n  a: 2\n- b: 1\n", "\n  line 2: key \"a\" already set in map");
}

static void text_without_duplicates_lists_nothing(void **state)
{
    (void)state;
    assert_duplicates("", "");
    assert_duplicates("a: {b: 1}\nc: {b: 1}\n---\na: 1\na: 2\n", "");
    assert_duplicates("a: [", "");
}

static void key_that_overrides_merged_one_is_a_duplicate(void **state)
{
    (void)state;
    assert_duplicates("b: &b {k: v, l: w}\na:\n  <<: *b\n  l: own\n",
                      "\n  line 4: key \"l\" already set in map");
    /* The merge comes last: the line is that of the merged value. */
    assert_duplicates("b: &b\n  k: v\na:\n  k: own\n  <<: *b\n",
                      "\n  line 2: key \"k\" already set in map");
    assert_duplicates("a:\n  <<: {k: v}\n  k: own\n", "\n  line 3: key \"k\" already set in map");
    assert_duplicates("b: &b {k: v}\nc: &c\n  <<: *b\n  l: w\na:\n  <<: *c\n  k: own\n",
                      "\n  line 7: key \"k\" already set in map");
}

static void merged_objects_are_set_from_last_to_first(void **state)
{
    (void)state;
    assert_duplicates("x: &x\n  k: 1\ny: &y\n  k: 2\na:\n  <<: [*x, *y]\n",
                      "\n  line 2: key \"k\" already set in map");
    assert_duplicates("x: &x {k: 1}\na:\n  <<: [*x, {m: 1}]\n", "");
}

static void merges_of_merges_are_limited(void **state)
{
    (void)state;
    kc_scoped(kc_buf) yaml = {0}, out = {0};
    kc_buf_puts(&yaml, "m0: &m0 {");
    for (int i = 0; i < 1000; i++)
        kc_buf_printf(&yaml, "%sk%d: 1", i ? ", " : "", i);
    kc_buf_puts(&yaml, "}\n");
    for (int i = 1; i < 2000; i++)
        kc_buf_printf(&yaml, "m%d: &m%d {<<: *m%d, n%d: 1}\n", i, i, i - 1, i);
    kc__yaml_list_duplicates(&out, kc_buf_str(&yaml));
    assert_int_equal(out.n, 0);
}

TESTS(key_that_overrides_merged_one_is_a_duplicate, merged_objects_are_set_from_last_to_first,
      merges_of_merges_are_limited, duplicate_is_listed_at_line_of_its_value,
      inner_duplicates_come_first, text_without_duplicates_lists_nothing)
