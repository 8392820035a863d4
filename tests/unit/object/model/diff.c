/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "kc/diff.h"

static bool equal(const char *a, const char *b, kc_equal_opts opts)
{
    kc_auto(kc_view) *a_view = view_of(a);
    kc_auto(kc_view) *b_view = view_of(b);
    return kc_value_equal(kc_view_root(a_view), kc_view_root(b_view), &opts);
}

/* Equality is symmetric, and equal values have no differences. */
static bool same(const char *a, const char *b, kc_equal_opts opts)
{
    kc_scoped(kc_diff) diff = {0};
    kc_auto(kc_view) *a_view = view_of(a);
    kc_auto(kc_view) *b_view = view_of(b);
    bool result = equal(a, b, opts);
    assert_int_equal(equal(b, a, opts), result);
    assert_int_equal(kc_diff_values(kc_view_root(a_view), kc_view_root(b_view),
                                    &(kc_diff_opts){.empty_is_absent = opts.empty_is_absent},
                                    &diff),
                     result);
    return result;
}

static void assert_diff(const char *a, const char *b, kc_diff_opts opts, const char *expected)
{
    kc_scoped(kc_diff) diff = {0};
    kc_scoped(kc_buf) text = {0};
    kc_auto(kc_view) *a_view = view_of(a);
    kc_auto(kc_view) *b_view = view_of(b);
    kc_diff_values(kc_view_root(a_view), kc_view_root(b_view), &opts, &diff);
    kc_diff_write(&text, &diff, NULL);
    assert_str(kc_buf_str(&text), expected);
}

#define EXACT   ((kc_equal_opts){0})
#define LENIENT ((kc_equal_opts){.empty_is_absent = true})
#define DERIVED ((kc_equal_opts){.derived = true})

static void numbers_are_compared_by_value(void **state)
{
    (void)state;
    assert_true(same("1", "1.0", EXACT));
    assert_true(same("[1e2]", "[100]", EXACT));
    assert_true(same("0", "-0.0", EXACT));
    assert_true(same("0.1", "0.10", EXACT));
    assert_false(same("1", "1.5", EXACT));
    assert_false(same("1", "-1", EXACT));
    assert_false(same("9007199254740993", "9007199254740992.0", EXACT));
    assert_true(same("18446744073709551615", "18446744073709551615", EXACT));
    assert_false(same("18446744073709551615", "18446744073709551614", EXACT));
    assert_false(same("18446744073709551615", "-1", EXACT));
    assert_false(same("1", "'1'", EXACT));
}

static void member_order_is_ignored(void **state)
{
    (void)state;
    assert_true(same("{'a':1,'b':{'c':2,'d':[]}}", "{'b':{'d':[],'c':2.0},'a':1}", EXACT));
    assert_false(same("{'a':1,'b':2}", "{'a':2,'b':1}", EXACT));
    assert_false(same("{'a':1}", "{'b':1}", EXACT));
    assert_false(same("{'a':1}", "{'a':1,'b':1}", EXACT));
}

static void item_order_is_significant(void **state)
{
    (void)state;
    assert_true(same("[1,[2,'x']]", "[1,[2,'x']]", EXACT));
    assert_false(same("[1,2]", "[2,1]", EXACT));
    assert_false(same("[1]", "[1,1]", EXACT));
    assert_false(same("[]", "{}", EXACT));
}

static void null_and_absent_differ_by_default(void **state)
{
    (void)state;
    const char *empty = "{'a':null,'b':[],'c':{},'d':{'e':{'f':null}}}";
    assert_false(same("{'a':null}", "{}", EXACT));
    assert_false(same("{'a':null}", "{'a':[]}", EXACT));
    assert_true(same(empty, "{}", LENIENT));
    assert_true(same("{'a':null}", "{'a':[]}", LENIENT));
    assert_true(same("{'a':{'b':[]}}", "{'a':{}}", LENIENT));
    assert_true(same("{'x':1,'a':null}", "{'b':{},'x':1}", LENIENT));
    assert_false(same("{'a':''}", "{}", LENIENT));
    assert_false(same("{'a':0}", "{}", LENIENT));
    assert_false(same("{'a':[null]}", "{}", LENIENT));
    assert_false(same("{'a':{'b':{'c':1}}}", "{}", LENIENT));
    assert_false(same("{'a':false}", "{'a':null}", LENIENT));
}

static void derived_ignores_members_missing_in_first(void **state)
{
    (void)state;
    const char *have = "{'a':1,'b':{'c':'x','d':2},'l':[{'n':1,'m':2},{'n':3}],'s':'t'}";
    assert_true(equal("{'a':1,'b':{'c':'x'},'s':'','z':null,'y':[],'x':{}}", have, DERIVED));
    assert_true(equal("{'l':[{'n':1}]}", have, DERIVED));
    assert_true(equal("{}", have, DERIVED));
    assert_true(equal("null", have, DERIVED));
    assert_false(equal("{'a':0}", have, DERIVED));
    assert_false(equal("{'q':1}", have, DERIVED));
    assert_false(equal("{'l':[{},{},{}]}", have, DERIVED));
    assert_false(equal(have, "{'a':1}", DERIVED));
}

static void objects_are_equal_by_bytes_or_semantics(void **state)
{
    (void)state;
    kc_auto(kc_object) *a = object_of("{'a':1,'b':2}"), *b = object_of("{'a':1,'b':2}");
    kc_auto(kc_object) *c = object_of("{'b':2.0,'a':1}"), *d = object_of("{'a':1}");
    assert_true(kc_object_equal(a, b, NULL));
    assert_true(kc_object_equal(a, c, NULL));
    assert_false(kc_object_equal(a, d, NULL));
}

static void absent_values_equal_each_other(void **state)
{
    (void)state;
    kc_auto(kc_view) *null = view_of("null");
    assert_true(kc_value_equal(NULL, NULL, NULL));
    assert_false(kc_value_equal(NULL, kc_view_root(null), NULL));
    assert_true(kc_value_equal(NULL, kc_view_root(null), &LENIENT));
}

static void change_is_written_as_removed_and_added_line(void **state)
{
    (void)state;
    assert_diff("{'spec':{'replicas':2}}", "{'spec':{'replicas':3}}", (kc_diff_opts){0},
                "- spec.replicas: 2\n+ spec.replicas: 3\n");
    assert_diff("{'a':1,'b':2}", "{'b':2,'c':{'d':[1]}}", (kc_diff_opts){0},
                "- a: 1\n+ c: {\"d\":[1]}\n");
    assert_diff("{'a':[1,2,3]}", "{'a':[1,5]}", (kc_diff_opts){0},
                "- a[1]: 2\n+ a[1]: 5\n- a[2]: 3\n");
    assert_diff("{'x':{'a.b/c':1}}", "{'x':{'a.b/c':[]}}", (kc_diff_opts){0},
                "- x['a.b/c']: 1\n+ x['a.b/c']: []\n");
    assert_diff("1", "'1'", (kc_diff_opts){0}, "- .: 1\n+ .: \"1\"\n");
    assert_diff("{'a':null}", "{}", (kc_diff_opts){0}, "- a: null\n");
    assert_diff("{'a':null}", "{'b':[]}", (kc_diff_opts){.empty_is_absent = true}, "");
    assert_diff("{'a':1}", "{'a':1.0}", (kc_diff_opts){0}, "");
}

static void changes_are_listed(void **state)
{
    (void)state;
    kc_scoped(kc_diff) diff = {0};
    kc_auto(kc_view) *a = view_of("{'x':[{'y':1}]}"), *b = view_of("{'x':[{'y':2,'z':3}]}");
    assert_false(kc_diff_values(kc_view_root(a), kc_view_root(b), NULL, &diff));
    assert_int_equal(diff.changes.n, 2);
    assert_str(diff.changes.items[0].path, "x[0].y");
    assert_value_json(diff.changes.items[0].before, "1");
    assert_value_json(diff.changes.items[0].after, "2");
    assert_str(diff.changes.items[1].path, "x[0].z");
    assert_null(diff.changes.items[1].before);
    assert_false(diff.more);
}

static void colours_are_red_and_green(void **state)
{
    (void)state;
    kc_scoped(kc_diff) diff = {0};
    kc_scoped(kc_buf) text = {0};
    kc_auto(kc_view) *a = view_of("{'x':1}"), *b = view_of("{'x':2}");
    kc_diff_values(kc_view_root(a), kc_view_root(b), NULL, &diff);
    kc_diff_write(&text, &diff, &(kc_diff_write_opts){.colour = true});
    assert_str(kc_buf_str(&text), "\x1b[31m- x: 1\x1b[0m\n\x1b[32m+ x: 2\x1b[0m\n");
}

static void keyed_lists_are_compared_by_their_key(void **state)
{
    (void)state;
    kc_diff_opts by_name = {.list_key = "name"};
    const char *before = "{'c':[{'name':'a','i':1},{'name':'b','i':2}]}";
    assert_diff(before, "{'c':[{'name':'b','i':3}]}", by_name,
                "- c[name=\"a\"]: {\"name\":\"a\",\"i\":1}\n"
                "- c[name=\"b\"].i: 2\n+ c[name=\"b\"].i: 3\n");
    assert_diff(before, "{'c':[{'name':'z'},{'name':'a','i':1},{'name':'b','i':2}]}", by_name,
                "+ c[name=\"z\"]: {\"name\":\"z\"}\n");
    /* Moved, repeated or missing keys: by position. */
    assert_diff("[{'name':'a'},{'name':'b'}]", "[{'name':'b'},{'name':'a'}]", by_name,
                "- [0].name: \"a\"\n+ [0].name: \"b\"\n- [1].name: \"b\"\n+ [1].name: \"a\"\n");
    assert_diff("[{'name':'a'},{'name':'a'}]", "[{'name':'a'}]", by_name,
                "- [1]: {\"name\":\"a\"}\n");
    assert_diff("[1]", "[2]", by_name, "- [0]: 1\n+ [0]: 2\n");
}

static void changes_beyond_limit_set_more(void **state)
{
    (void)state;
    assert_diff("[1,2,3]", "[4,5,6]", (kc_diff_opts){.max_changes = 2},
                "- [0]: 1\n+ [0]: 4\n- [1]: 2\n+ [1]: 5\n… and more\n");
    assert_diff("[1,2]", "[4,5]", (kc_diff_opts){.max_changes = 2},
                "- [0]: 1\n+ [0]: 4\n- [1]: 2\n+ [1]: 5\n");
}

/* Names so long that copying each change's path would take gigabytes. */
static void path_text_beyond_limit_sets_more(void **state)
{
    (void)state;
    kc_scoped(kc_buf) a = {0};
    kc_scoped(kc_diff) diff = {0};
    kc_buf_puts(&a, "{\"");
    for (int i = 0; i < 1 << 20; i++)
        kc_buf_putc(&a, 'k');
    kc_buf_puts(&a, "\":[0");
    for (int i = 0; i < 5000; i++)
        kc_buf_puts(&a, ",0");
    kc_buf_puts(&a, "]}");
    kc_auto(kc_view) *before = kc_view_parse(kc_buf_str(&a), NULL, NULL);
    for (size_t i = 1 << 20; i < a.n; i++)
        a.p[i] = a.p[i] == '0' ? '1' : a.p[i];
    kc_auto(kc_view) *after = kc_view_parse(kc_buf_str(&a), NULL, NULL);
    assert_false(kc_diff_values(kc_view_root(before), kc_view_root(after), NULL, &diff));
    assert_true(diff.more);
    assert_in_range(diff.changes.n, 1, 10);
}

static kc_view *long_object(int n, int step)
{
    kc_scoped(kc_buf) json = {0};
    kc_buf_putc(&json, '{');
    for (int i = 0; i < n; i++)
        kc_buf_printf(&json, "%s\"k%d\":%d", i ? "," : "", i * step % n, i * step % n);
    kc_buf_putc(&json, '}');
    return kc_view_parse(kc_buf_str(&json), NULL, NULL);
}

/* Would take minutes with a search for each member. */
static void long_objects_in_different_order_compare_in_linear_time(void **state)
{
    (void)state;
    kc_scoped(kc_diff) diff = {0};
    kc_auto(kc_view) *a = long_object(100003, 1), *b = long_object(100003, 7);
    assert_true(kc_value_equal(kc_view_root(a), kc_view_root(b), NULL));
    assert_true(kc_value_equal(kc_view_root(a), kc_view_root(b), &LENIENT));
    assert_true(kc_diff_values(kc_view_root(a), kc_view_root(b), NULL, &diff));
}

TESTS(numbers_are_compared_by_value, member_order_is_ignored, item_order_is_significant,
      null_and_absent_differ_by_default, derived_ignores_members_missing_in_first,
      objects_are_equal_by_bytes_or_semantics, absent_values_equal_each_other,
      change_is_written_as_removed_and_added_line, changes_are_listed, colours_are_red_and_green,
      keyed_lists_are_compared_by_their_key, changes_beyond_limit_set_more,
      path_text_beyond_limit_sets_more, long_objects_in_different_order_compare_in_linear_time)
