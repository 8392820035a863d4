/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/core/image.h"
#include "apiserver/kinds/validate_rules.h"
#include "testing.h"

/* ---- defaults ---- */

static const kc__defaults_entry inner[] = {{.field = "n", .json = "7"},
                                           {.field = "s", .json = "\"x\""}};
static const kc__defaults inner_defaults = KC__DEFAULTS(inner);
static const kc__defaults_entry outer[] = {
    {.field = "one", .of = &inner_defaults},
    {.field = "many", .of = &inner_defaults},
    {.field = "made", .json = "{}", .of = &inner_defaults},
    {.field = "flag", .json = "true"},
};
static const kc__defaults outer_defaults = KC__DEFAULTS(outer);

static void assert_filled(const char *json, const char *expected)
{
    kc_auto(kc_edit) *edit = edit_of(json);
    kc__defaults_apply(&outer_defaults, edit, kc_edit_root(edit));
    assert_node_json(kc_edit_root(edit), expected);
}

static void absent_and_null_fields_are_defaulted(void **state)
{
    (void)state;
    assert_filled("{'flag':null}", "{\"flag\":true,\"made\":{\"n\":7,\"s\":\"x\"}}");
    assert_filled("{'flag':false,'made':{'n':0,'s':''}}",
                  "{\"flag\":false,\"made\":{\"n\":0,\"s\":\"\"}}");
}

static void objects_and_list_items_are_defaulted(void **state)
{
    (void)state;
    assert_filled("{'one':{'n':1},'many':[{},{'s':'y'}],'made':{'n':1,'s':''},'flag':true}",
                  "{\"one\":{\"n\":1,\"s\":\"x\"},\"many\":[{\"n\":7,\"s\":\"x\"},{\"s\":\"y\","
                  "\"n\":7}],\"made\":{\"n\":1,\"s\":\"\"},\"flag\":true}");
}

static void absent_parent_gets_no_nested_defaults(void **state)
{
    (void)state;
    assert_filled("{'many':'text','made':{'n':1,'s':''},'flag':true}",
                  "{\"many\":\"text\",\"made\":{\"n\":1,\"s\":\"\"},\"flag\":true}");
}

/* ---- rules ---- */

static const char *const colours[] = {"red", "blue", NULL};

static void check_sum(const kc__location *place)
{
    kc__location a = kc__location_member(place, "a"), b = kc__location_member(place, "b");
    if (kc__location_number(&a) + kc__location_number(&b) > 10)
        kc__location_error(place, KC_FIELD_FORBIDDEN, "too much");
}

static const kc__validate_rule item[] = {
    {"name", .required = "say it", .name = &kc__validate_name_dns_label},
    {"colour", .one_of = colours},
    {"a", .number = KC__VALIDATE_AT_LEAST_0},
    {"b", .number = KC__VALIDATE_ABOVE_0},
    {.code = check_sum},
};
static const kc__validate_rule_table item_rules = KC__VALIDATE_RULES(item);
static const kc__validate_rule list[] = {{"items", .of = &item_rules}};
static const kc__validate_rule_table list_rules = KC__VALIDATE_RULES(list);

static void assert_complaints(const char *json, const char *expected)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_auto(kc_view) *view = view_of(json);
    kc__location root = kc__location_root(kc_view_root(view), &errors);
    kc__validate_by_rules(&list_rules, &root);
    kc_scoped(kc_buf) out = {0};
    for (size_t i = 0; i < errors.list.n; i++)
        kc_buf_printf(&out, "%s%s: %s", i ? "\n" : "", errors.list.items[i].field,
                      errors.list.items[i].body);
    assert_string_equal(kc_buf_cstr(&out), expected);
}

static void valid_object_has_no_errors(void **state)
{
    (void)state;
    assert_complaints("{}", "");
    assert_complaints("{'items':[{'name':'x','colour':'red','a':0,'b':1}]}", "");
}

static void errors_are_in_order_of_the_table(void **state)
{
    (void)state;
    assert_complaints("{'items':[{'name':'x'},{'colour':'green','a':-1,'b':0}]}",
                      "items[1].name: Required value: say it\n"
                      "items[1].colour: Unsupported value: \"green\": supported values: \"red\", "
                      "\"blue\"\n"
                      "items[1].a: Invalid value: -1: must be greater than or equal to 0\n"
                      "items[1].b: Invalid value: 0: must be greater than 0");
}

static void rule_function_validates_several_fields(void **state)
{
    (void)state;
    assert_complaints("{'items':[{'name':'x','a':6,'b':6}]}", "items[0]: Forbidden: too much");
}

/* ---- images ---- */

static void image_without_tag_is_latest(void **state)
{
    (void)state;
    assert_true(kc__image_is_latest(KC_STR("busybox")));
    assert_true(kc__image_is_latest(KC_STR("host:5000/busybox")));
    assert_true(kc__image_is_latest(KC_STR("busybox:latest")));
    assert_true(kc__image_is_latest(KC_STR("busybox:latest@sha256:00")));
    assert_false(kc__image_is_latest(KC_STR("busybox:1")));
    assert_false(kc__image_is_latest(KC_STR("host:5000/busybox:1")));
    assert_false(kc__image_is_latest(KC_STR("busybox@sha256:00")));
    assert_false(kc__image_is_latest(KC_STR("")));
}

TESTS(absent_and_null_fields_are_defaulted, objects_and_list_items_are_defaulted,
      absent_parent_gets_no_nested_defaults, valid_object_has_no_errors,
      errors_are_in_order_of_the_table, rule_function_validates_several_fields,
      image_without_tag_is_latest)
