/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static kc_cel_program *compile_object(const kc_cel_env *env, const char *expression)
{
    static const kc_cel_variable variables[2] = {{"object", NULL}, {"request", NULL}};
    kc_cel_variable declared[2];
    for (size_t i = 0; i < 2; i++)
        declared[i] = (kc_cel_variable){variables[i].name, kc_cel_type_basic(KC_CEL_DYN)};
    return compile_with(env, expression, declared, 2);
}

static void comparison_of_a_part_with_a_text_is_recognized(void **state)
{
    (void)state;
    kc_auto(kc_cel_env) *env = kc_cel_env_new(NULL);
    static const struct {
        const char *expression;
        bool negated;
        size_t variable;
    } rows[] = {
        {"object.metadata.namespace == 'x'", false, 0},
        {"'x' == request.userInfo.username", false, 1},
        {"object['a'].b != 'x'", true, 0},
    };
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        kc_auto(kc_cel_program) *program = compile_object(env, rows[i].expression);
        kc_cel_comparison found;
        assert_true(kc_cel_program_comparison(program, &found));
        assert_true(kc_str_is(found.text, "x"));
        assert_int_equal(found.negated, rows[i].negated);
        assert_int_equal(found.variable, rows[i].variable);
    }
}

static void other_programs_are_no_comparisons(void **state)
{
    (void)state;
    kc_auto(kc_cel_env) *env = kc_cel_env_new(NULL);
    static const char *const expressions[] = {"object == 'x'",
                                              "object.a == 1",
                                              "object.a == object.b",
                                              "object.a[0] == 'x'",
                                              "object.?a == optional.of('x')",
                                              "!(object.a == 'x')",
                                              "has(object.a)",
                                              "object.a == 'x' || object.b == 'y'",
                                              "object.a.size() == 1",
                                              "'a' == 'b'",
                                              "(true ? object.a : object.b) == 'x'"};
    for (size_t i = 0; i < KC_COUNT(expressions); i++) {
        kc_auto(kc_cel_program) *program = compile_object(env, expressions[i]);
        kc_cel_comparison found;
        assert_false(kc_cel_program_comparison(program, &found));
    }
}

static void programs_share_the_part_they_compare(void **state)
{
    (void)state;
    kc_auto(kc_cel_env) *env = kc_cel_env_new(NULL);
    kc_auto(kc_cel_program) *a = compile_object(env, "object.a.b == 'x'");
    kc_auto(kc_cel_program) *b = compile_object(env, "'y' != object['a'].b");
    kc_auto(kc_cel_program) *c = compile_object(env, "object.a.c == 'x'");
    kc_auto(kc_cel_program) *d = compile_object(env, "request.a.b == 'x'");
    kc_cel_comparison x, y;
    assert_true(kc_cel_program_same_part(a, b));
    assert_false(kc_cel_program_same_part(a, c));
    assert_false(kc_cel_program_same_part(a, d));
    assert_true(kc_cel_program_comparison(a, &x) && kc_cel_program_comparison(b, &y));
    assert_int_equal(x.part, y.part);
}

static void part_is_read_if_it_is_a_text(void **state)
{
    (void)state;
    kc_auto(kc_cel_env) *env = kc_cel_env_new(NULL);
    kc_auto(kc_cel_program) *program = compile_object(env, "object.a.b == 'x'");
    static const struct {
        const char *json, *text;
    } rows[] = {
        {"{\"a\":{\"b\":\"t\"}}", "t"},    {"{\"a\":{\"b\":1}}", NULL},    {"{\"a\":{}}", NULL},
        {"{\"a\":[{\"b\":\"t\"}]}", NULL}, {"{\"a\":{\"b\":null}}", NULL}, {"null", NULL},
    };
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        kc_auto(kc_view) *view = kc_view_parse(kc_cstr(rows[i].json), NULL, NULL);
        kc_cel_value value = kc_cel_of_json(kc_view_root(view), kc_cel_type_basic(KC_CEL_DYN));
        kc_str text = {0};
        assert_int_equal(kc_cel_program_read_part(program, value, &text), rows[i].text != NULL);
        assert_true(!rows[i].text || kc_str_is(text, rows[i].text));
    }
}

TESTS(comparison_of_a_part_with_a_text_is_recognized, other_programs_are_no_comparisons,
      programs_share_the_part_they_compare, part_is_read_if_it_is_a_text)
