/* SPDX-License-Identifier: Apache-2.0 */
/* view.c: reading parsed JSON: types, members, numbers, loops. */
#include "testing.h"

static void lookups_in_null_return_absent(void **state)
{
    (void)state;
    kc_auto(kc_view) *view = view_of("{'spec':{'containers':[{'image':'nginx'}]}}");
    const kc_value *root = kc_view_root(view);
    assert_str(
        kc_value_as_str(kc_value_get(
            kc_value_at(kc_value_get(kc_value_get(root, "spec"), "containers"), 0), "image")),
        "nginx");
    assert_null(kc_value_get(kc_value_at(kc_value_get(kc_value_get(root, "status"), "x"), 3), "y"));
    assert_null(kc_value_get(kc_value_get(kc_value_get(root, "spec"), "containers"), "image"));
    assert_null(kc_value_at(root, 0));
    assert_int_equal(kc_value_len(NULL), 0);
    assert_null(kc_value_as_str(root).p);
    assert_null(kc_view_root(NULL));
}

static void types_are_distinguished(void **state)
{
    (void)state;
    kc_auto(kc_view) *view = view_of("[null,true,1,1.5,'s',[],{}]");
    static const kc_json_type types[] = {KC_JSON_NULL,  KC_JSON_BOOL,   KC_JSON_INT,
                                         KC_JSON_FLOAT, KC_JSON_STRING, KC_JSON_ARRAY,
                                         KC_JSON_OBJECT};
    static const char *const names[] = {"null",   "boolean", "integer", "number",
                                        "string", "array",   "object"};
    for (size_t i = 0; i < KC_COUNT(types); i++) {
        kc_json_type type = kc_value_type(kc_value_at(kc_view_root(view), i));
        assert_int_equal(type, types[i]);
        assert_string_equal(kc_json_type_name(type), names[i]);
    }
    assert_int_equal(kc_value_type(NULL), KC_JSON_ABSENT);
}

static void numbers_convert_only_without_loss(void **state)
{
    (void)state;
    kc_auto(kc_view) *view =
        view_of("[3,-3,3.0,3.5,'3',18446744073709551615,9223372036854775807,-1e300,9.3e18,true]");
    const kc_value *root = kc_view_root(view);
    int64_t i = 99;
    uint64_t u = 99;
    double f = 99;
    assert_true(kc_value_as_i64(kc_value_at(root, 0), &i) && i == 3);
    assert_true(kc_value_as_i64(kc_value_at(root, 1), &i) && i == -3);
    assert_true(kc_value_as_i64(kc_value_at(root, 2), &i) && i == 3);
    assert_false(kc_value_as_i64(kc_value_at(root, 3), &i));
    assert_false(kc_value_as_i64(kc_value_at(root, 4), &i));
    assert_false(kc_value_as_i64(kc_value_at(root, 5), &i));
    assert_true(kc_value_as_u64(kc_value_at(root, 5), &u) && u == UINT64_MAX);
    assert_true(kc_value_as_i64(kc_value_at(root, 6), &i) && i == INT64_MAX);
    assert_false(kc_value_as_i64(kc_value_at(root, 7), &i));
    assert_false(kc_value_as_u64(kc_value_at(root, 1), &u));
    assert_false(kc_value_as_i64(kc_value_at(root, 8), &i));
    assert_true(kc_value_as_u64(kc_value_at(root, 8), &u) && u == 9300000000000000000u);
    assert_true(kc_value_as_f64(kc_value_at(root, 3), &f) && f == 3.5);
    assert_false(kc_value_as_f64(kc_value_at(root, 9), &f));
    assert_int_equal(kc_value_as_i64_or(kc_value_at(root, 4), 7), 7);
}

static void loops_visit_all_values_in_order(void **state)
{
    (void)state;
    kc_auto(kc_view) *view = view_of("{'b':[1,[2,3],4],'a':{'x':1},'c':null}");
    kc_scoped(kc_buf) seen = {0};
    kc_value_each_member (kc_view_root(view), name, value)
        kc_buf_printf(&seen, "%.*s:%s ", KC_ARG(name), kc_json_type_name(kc_value_type(value)));
    kc_value_each_item (kc_value_get(kc_view_root(view), "b"), item)
        kc_buf_printf(&seen, "%s ", kc_json_type_name(kc_value_type(item)));
    assert_string_equal(kc_buf_cstr(&seen), "b:array a:object c:null integer array integer ");
}

static void break_and_continue_work_in_loops(void **state)
{
    (void)state;
    kc_auto(kc_view) *view = view_of("{'a':1,'b':2,'c':3,'d':[5,6,7]}");
    int sum = 0;
    kc_value_each_member (kc_view_root(view), name, value) {
        if (kc_str_is(name, "a"))
            continue;
        sum += (int)kc_value_as_i64_or(value, 0);
        if (kc_str_is(name, "b"))
            break;
    }
    assert_int_equal(sum, 2);
    kc_value_each_item (kc_value_get(kc_view_root(view), "d"), item) {
        if (kc_value_as_i64_or(item, 0) == 6)
            break;
        sum += (int)kc_value_as_i64_or(item, 0);
    }
    assert_int_equal(sum, 7);
}

static void loops_over_other_types_do_nothing(void **state)
{
    (void)state;
    kc_auto(kc_view) *view = view_of("{'a':'text','e':{},'f':[]}");
    const kc_value *root = kc_view_root(view);
    int visits = 0;
    kc_value_each_item (root, item)
        visits += item != NULL;
    kc_value_each_member (kc_value_get(root, "a"), name, value)
        visits += name.n && value;
    kc_value_each_member (kc_value_get(root, "e"), name, value)
        visits += name.n && value;
    kc_value_each_item (kc_value_get(root, "f"), item)
        visits += item != NULL;
    kc_value_each_item (NULL, item)
        visits += item != NULL;
    assert_int_equal(visits, 0);
}

static void view_may_have_a_root_of_any_type(void **state)
{
    (void)state;
    kc_auto(kc_view) *text = view_of("'x'");
    assert_str(kc_value_as_str(kc_view_root(text)), "x");
    kc_auto(kc_view) *number = view_of(" 5 ");
    assert_int_equal(kc_value_as_i64_or(kc_view_root(number), 0), 5);
    kc_scoped(kc_error) err = {0};
    assert_null(kc_view_parse(KC_STR("{\"a\":1]"), NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "line 1, column 7");
}

static void values_are_written_indented(void **state)
{
    (void)state;
    kc_auto(kc_view) *view = view_of("{'a':[1,{'b':'c'}],'e':{},'f':[]}");
    kc_scoped(kc_buf) text = {0};
    kc_json_write_pretty(&text, kc_view_root(view));
    assert_string_equal(kc_buf_cstr(&text),
                        "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"c\"\n    }\n  ],\n"
                        "  \"e\": {},\n  \"f\": []\n}");
}

static void quoting_replaces_invalid_utf8(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_json_quote(&text, KC_STR("a\"\\\n\x01\xff\xC3\xA9\xE2\x82"));
    assert_string_equal(kc_buf_cstr(&text),
                        "\"a\\\"\\\\\\n\\u0001\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

static void floats_are_formatted_as_in_go(void **state)
{
    (void)state;
    static const struct {
        double number;
        const char *text;
    } cases[] = {{0.1, "0.1"},
                 {1.0, "1"},
                 {-2.5, "-2.5"},
                 {1e-6, "0.000001"},
                 {1.5e-7, "1.5e-7"},
                 {1e-10, "1e-10"},
                 {1e17, "100000000000000000"},
                 {1e100, "1e+100"},
                 {123.456, "123.456"},
                 {1.0 / 3, "0.3333333333333333"},
                 {5e-324, "5e-324"},
                 {1.7976931348623157e308, "1.7976931348623157e+308"}};
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc_buf) text = {0};
        kc_json_write_double(&text, cases[i].number);
        assert_string_equal(kc_buf_cstr(&text), cases[i].text);
    }
}

TESTS(lookups_in_null_return_absent, types_are_distinguished, numbers_convert_only_without_loss,
      loops_visit_all_values_in_order, break_and_continue_work_in_loops,
      loops_over_other_types_do_nothing, view_may_have_a_root_of_any_type,
      values_are_written_indented, quoting_replaces_invalid_utf8, floats_are_formatted_as_in_go)
