/* SPDX-License-Identifier: Apache-2.0 */
#include "scaffold/template.h"
#include "testing.h"

static const kc__scaffold_template_value items[] = {
    {"kind", "Robot"}, {"api_group", "apps.example.io"}, {"nothing", NULL}, {"braces", "{{kind}}"}};
static const kc__scaffold_template_values values = {items, KC_COUNT(items)};

static void assert_expands(const char *text, const char *expected)
{
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    assert_int_equal(kc__scaffold_template_expand(kc_cstr(text), values, &out, &err), 0);
    assert_str(kc_buf_str(&out), expected);
}

static void names_are_replaced_by_values(void **state)
{
    (void)state;
    assert_expands("{{kind}}", "Robot");
    assert_expands("a {{kind}} of {{api_group}}.\n", "a Robot of apps.example.io.\n");
    assert_expands("{{kind}}{{kind}}", "RobotRobot");
    assert_expands("[{{nothing}}]", "[]");
    assert_expands("", "");
}

static void other_braces_stay(void **state)
{
    (void)state;
    assert_expands("struct a = {{0}};", "struct a = {{0}};");
    assert_expands("{{ kind }} {kind} {{}} {{Kind}} {{kind} {{kind",
                   "{{ kind }} {kind} {{}} {{Kind}} {{kind} {{kind");
    assert_expands("{{{kind}}}", "{Robot}");
    assert_expands("{", "{");
    assert_expands("{{", "{{");
}

static void values_are_not_expanded_again(void **state)
{
    (void)state;
    assert_expands("{{braces}}", "{{kind}}");
}

static void unknown_value_is_an_error_with_its_line(void **state)
{
    (void)state;
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    assert_true(kc__scaffold_template_expand(KC_STR("a\nb {{color}}\n"), values, &out, &err) < 0);
    assert_error(&err, KC_INVALID, "line 2: unknown value 'color'");
}

static void templates_are_found_by_name(void **state)
{
    (void)state;
    const kc__scaffold_template *main_c = kc__scaffold_template_find("project/main.c.in");
    assert_non_null(main_c);
    assert_true(kc_str_contains(main_c->text, KC_STR("int main(void)")));
    assert_null(kc__scaffold_template_find("project/none"));
}

TESTS(names_are_replaced_by_values, other_braces_stay, values_are_not_expanded_again,
      unknown_value_is_an_error_with_its_line, templates_are_found_by_name)
