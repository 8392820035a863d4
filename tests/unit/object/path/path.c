/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "kc/path.h"

static kc_path *path_of(const char *text)
{
    kc_scoped(kc_error) err = {0};
    kc_path *path = kc_path_parse(kc_cstr(text), &err);
    if (!path)
        fail_msg("%s", kc_error_text(&err));
    return path;
}

static void assert_get(const char *json, const char *text, const char *expected)
{
    kc_auto(kc_view) *view = view_of(json);
    kc_auto(kc_path) *path = path_of(text);
    assert_value_json(kc_path_get(path, kc_view_root(view)), expected);
}

static void assert_absent(const char *json, const char *text)
{
    kc_auto(kc_view) *view = view_of(json);
    kc_auto(kc_edit) *edit = edit_of(json);
    kc_auto(kc_path) *path = path_of(text);
    assert_null(kc_path_get(path, kc_view_root(view)));
    assert_null(kc_path_find(path, kc_edit_root(edit)));
}

static void assert_refused(const char *text, const char *why)
{
    kc_scoped(kc_error) err = {0};
    assert_null(kc_path_parse(kc_cstr(text), &err));
    assert_error(&err, KC_BAD_REQUEST, why);
}

static void assert_set(const char *json, const char *text, bool create, const char *expected)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_edit) *edit = edit_of(json);
    kc_auto(kc_path) *path = path_of(text);
    kc_path_set_opts opts = {.create = create};
    if (kc_path_set(path, edit, kc_node_i64(edit, 7), &opts, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    assert_node_json(kc_edit_root(edit), expected);
}

static void assert_set_fails(const char *json, const char *text, bool create, const char *why)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_edit) *edit = edit_of(json);
    kc_auto(kc_path) *path = path_of(text);
    kc_path_set_opts opts = {.create = create};
    assert_true(kc_path_set(path, edit, kc_node_i64(edit, 7), &opts, &err) < 0);
    assert_error(&err, KC_BAD_REQUEST, why);
    assert_node_json(kc_edit_root(edit), json);
}

static void assert_canonical(const char *text, const char *expected)
{
    kc_auto(kc_path) *path = path_of(text);
    assert_str(kc_path_text(path), expected);
    kc_auto(kc_path) *again = path_of(expected);
    assert_str(kc_path_text(again), expected);
}

static void names_and_indexes_find_value(void **state)
{
    (void)state;
    const char *pod = "{'spec':{'containers':[{'image':'a'},{'image':'b','ports':[[1,2]]}]}}";
    assert_get(pod, "spec.containers[1].image", "'b'");
    assert_get(pod, ".spec.containers[0]", "{'image':'a'}");
    assert_get(pod, "spec.containers[1].ports[0][1]", "2");
    assert_get("[[5]]", "[0][0]", "5");
}

static void quotes_and_backslashes_allow_any_name(void **state)
{
    (void)state;
    const char *object = "{'a.b/c':1,'x':{'[0]':2,'it\\\"s':3,'':4,'\\n':5,'ü':6}}";
    assert_get(object, "['a.b/c']", "1");
    assert_get(object, "[\"a.b/c\"]", "1");
    assert_get(object, "a\\.b/c", "1");
    assert_get(object, "x['[0]']", "2");
    assert_get(object, "x[\"it\\\"s\"]", "3");
    assert_get(object, "x['']", "4");
    assert_get(object, "x['\\n']", "5");
    assert_get(object, "x['\\u000a']", "5");
    assert_get(object, "x['\\u00fc']", "6");
    assert_get(object, "x.ü", "6");
}

static void empty_path_is_the_value_itself(void **state)
{
    (void)state;
    assert_get("{'a':1}", "", "{'a':1}");
    assert_get("{'a':1}", ".", "{'a':1}");
    assert_set("{'a':1}", "", false, "7");
    kc_auto(kc_edit) *edit = edit_of("{'a':1}");
    kc_auto(kc_path) *path = path_of("");
    assert_true(kc_path_remove(path, edit));
    assert_null(kc_edit_root(edit));
    assert_false(kc_path_remove(path, edit));
}

static void missing_or_mistyped_step_returns_null(void **state)
{
    (void)state;
    assert_absent("{'a':1}", "b");
    assert_absent("{'a':1}", "a.b");
    assert_absent("{'a':[1]}", "a[1]");
    assert_absent("{'a':[1]}", "a.b");
    assert_absent("{'a':{'0':1}}", "a[0]");
    assert_absent("{'a':null}", "a.b.c[3].d");
}

static void text_is_written_canonically(void **state)
{
    (void)state;
    assert_canonical(".spec['containers'][0][\"image\"]", "spec.containers[0].image");
    assert_canonical("metadata.annotations.a\\.b/c", "metadata.annotations['a.b/c']");
    assert_canonical("[\"it's\"]", "['it\\'s']");
    assert_canonical("['a\\\\b']", "['a\\\\b']");
    assert_canonical("['\\t']", "['\\u0009']");
    assert_canonical("['']['*'].ü", "['']['*']['ü']");
    assert_canonical("[007]", "[7]");
    assert_canonical(".", "");
}

static void syntax_error_fails_with_position(void **state)
{
    (void)state;
    assert_refused("a..b", "at character 3: expected a name");
    assert_refused("a.", "at character 3: expected a name");
    assert_refused("a[", "at character 3: expected an index or a quoted name");
    assert_refused("a[x]", "at character 3: expected an index or a quoted name");
    assert_refused("a[-1]", "expected an index or a quoted name");
    assert_refused("a[1", "at character 4: expected ']'");
    assert_refused("a['b]", "the quote is not closed");
    assert_refused("a['b\\q']", "unknown escape");
    assert_refused("a['\\u12']", "four hexadecimal digits");
    assert_refused("a['\\ud800']", "surrogate");
    assert_refused("a[0]b", "expected '.' or '['");
    assert_refused("a]", "must be quoted");
    assert_refused("a b", "must be quoted");
    assert_refused("a.*", "no wildcards");
    assert_refused("a\\", "must follow the backslash");
    assert_refused("a[4294967296]", "the index is too large");
    assert_refused("a[99999999999999999999]", "the index is too large");
}

static void length_and_steps_beyond_limits_fail(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    for (size_t i = 0; i < KC_PATH_MAX_STEPS; i++)
        kc_buf_puts(&text, "[0]");
    kc_auto(kc_path) *longest = path_of(kc_buf_cstr(&text));
    assert_int_equal(kc_path_text(longest).n, text.n);
    kc_buf_puts(&text, "[0]");
    assert_refused(kc_buf_cstr(&text), "at most 512 steps");
    kc_buf_clear(&text);
    for (size_t i = 0; i <= KC_PATH_MAX_BYTES; i++)
        kc_buf_putc(&text, 'a');
    assert_refused(kc_buf_cstr(&text), "at most 65536 bytes");

    kc_scoped(kc_error) err = {0};
    assert_null(kc_path_parse(KC_STR("a['\0']"), &err));
    assert_error(&err, KC_BAD_REQUEST, "NUL");
}

static void set_replaces_in_place_or_adds(void **state)
{
    (void)state;
    assert_set("{'a':1,'b':2}", "a", false, "{'a':7,'b':2}");
    assert_set("{'a':1}", "b", false, "{'a':1,'b':7}");
    assert_set("{'a':[1,2]}", "a[0]", false, "{'a':[7,2]}");
    assert_set("{'a':[1,2]}", "a[2]", false, "{'a':[1,2,7]}");
    assert_set("{'a':{'b':null}}", "a.b", false, "{'a':{'b':7}}");
}

static void set_with_create_creates_missing_parents(void **state)
{
    (void)state;
    assert_set("{}", "a.b.c", true, "{'a':{'b':{'c':7}}}");
    assert_set("{'a':null}", "a.b", true, "{'a':{'b':7}}");
    assert_set("{'a':{}}", "a.b[0].c", true, "{'a':{'b':[{'c':7}]}}");
    assert_set("{'a':[{}]}", "a[1].b", true, "{'a':[{},{'b':7}]}");
    assert_set("null", "a.b", true, "{'a':{'b':7}}");
}

static void set_with_missing_parent_fails_and_changes_nothing(void **state)
{
    (void)state;
    assert_set_fails("{}", "a.b", false, "cannot set a.b: a does not exist");
    assert_set_fails("{'a':null}", "a.b", false, "a is of type null, not object");
    assert_set_fails("{'a':'x'}", "a.b", true, "a is of type string, not object");
    assert_set_fails("{'a':{}}", "a[0]", true, "a is of type object, not array");
    assert_set_fails("{'a':[1]}", "a[2]", true, "a has too few items");
    assert_set_fails("{}", "a.b[1]", true, "a.b has too few items");
    assert_set_fails("[]", "a", true, "the value is of type array, not object");
}

static void remove_returns_whether_value_existed(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit = edit_of("{'a':[1,2,3],'b':{'c':1}}");
    kc_auto(kc_path) *item = path_of("a[1]"), *member = path_of("b.c"), *missing = path_of("b.d.e");
    assert_true(kc_path_remove(item, edit));
    assert_true(kc_path_remove(member, edit));
    assert_false(kc_path_remove(member, edit));
    assert_false(kc_path_remove(missing, edit));
    assert_node_json(kc_edit_root(edit), "{'a':[1,3],'b':{}}");
}

static void path_is_created_from_steps(void **state)
{
    (void)state;
    kc_path_step steps[] = {{.name = KC_STR("a.b")}, {.index = 3}, {.name = KC_STR("c")}};
    kc_auto(kc_path) *path = kc_path_of(steps, KC_COUNT(steps), NULL);
    assert_str(kc_path_text(path), "['a.b'][3].c");
    size_t n;
    const kc_path_step *back = kc_path_steps(path, &n);
    assert_int_equal(n, 3);
    assert_str(back[0].name, "a.b");
    assert_null(back[1].name.p);
    assert_int_equal(back[1].index, 3);
}

TESTS(names_and_indexes_find_value, quotes_and_backslashes_allow_any_name,
      empty_path_is_the_value_itself, missing_or_mistyped_step_returns_null,
      text_is_written_canonically, syntax_error_fails_with_position,
      length_and_steps_beyond_limits_fail, set_replaces_in_place_or_adds,
      set_with_create_creates_missing_parents, set_with_missing_parent_fails_and_changes_nothing,
      remove_returns_whether_value_existed, path_is_created_from_steps)
