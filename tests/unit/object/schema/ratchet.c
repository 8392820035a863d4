/* SPDX-License-Identifier: Apache-2.0 */
#include "schema_testing.h"

/* Validates a value that replaces `old` and compares the errors. */
static void assert_update(const char *schema_json, const char *old_json, const char *json,
                          const char *expected)
{
    kc_auto(kc_schema) *schema = schema_of(schema_json);
    kc_auto(kc_view) *old = view_of(old_json), *value = view_of(json);
    kc_scoped(kc_field_errors) errors = {0};
    bool ok = kc_schema_validate(schema, kc_view_root(value),
                                 &(kc_schema_validate_opts){.old = kc_view_root(old)}, &errors);
    kc_scoped(kc_buf) text = {0};
    kc_vec_each (&errors.list, error)
        kc_buf_printf(&text, "%s%s: %s", text.n ? "\n" : "", error->field, error->body);
    assert_string_equal(kc_buf_cstr(&text), expected);
    assert_int_equal(ok, !*expected);
}

#define TWO                                                                           \
    "{'type':'object','properties':{'a':{'type':'string','maxLength':1},'b':{'type':" \
    "'string','maxLength':1}}}"
#define TOO_LONG(field) field ": Too long: may not be more than 1 byte"

static void errors_in_unchanged_parts_are_ignored(void **state)
{
    (void)state;
    assert_update(TWO, "{'a':'long','b':'x'}", "{'a':'long','b':'y'}", "");
}

static void errors_in_changed_parts_are_reported(void **state)
{
    (void)state;
    assert_update(TWO, "{'a':'long','b':'x'}", "{'a':'longer','b':'y'}", TOO_LONG("a"));
    assert_update(TWO, "{'a':'long','b':'x'}", "{'a':'long','b':'yy'}", TOO_LONG("b"));
    assert_update(TWO, "{}", "{'a':'long'}", TOO_LONG("a"));
}

static void unchanged_object_has_no_errors(void **state)
{
    (void)state;
    assert_update("{'type':'object','required':['x'],'maxProperties':1}", "{'a':1,'b':2}",
                  "{'b':2,'a':1.0}", "");
}

static void newly_missing_member_is_error_of_changed_object(void **state)
{
    (void)state;
    const char *schema = "{'type':'object','properties':{'s':{'type':'object','required':['x']},"
                         "'t':{'type':'string'}}}";
    assert_update(schema, "{'s':{'y':1},'t':'a'}", "{'s':{'y':1},'t':'b'}", "");
    assert_update(schema, "{'s':{'y':1}}", "{'s':{'y':2}}", "s.x: Required value");
}

#define ITEMS(type)                                                                        \
    "{'type':'object','properties':{'l':{'type':'array'," type "'items':{'type':'object'," \
    "'properties':{'k':{'type':'string'},'v':{'type':'string','maxLength':1}}}}}}"
#define MAP "'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['k'],"

static void items_of_map_correspond_by_key(void **state)
{
    (void)state;
    assert_update(ITEMS(MAP), "{'l':[{'k':'a','v':'long'},{'k':'b','v':'x'}]}",
                  "{'l':[{'k':'c','v':'y'},{'k':'a','v':'long'}]}", "");
    assert_update(ITEMS(MAP), "{'l':[{'k':'a','v':'long'}]}",
                  "{'l':[{'k':'a','v':'long'},{'k':'b','v':'long'}]}", TOO_LONG("l[1].v"));
}

static void other_lists_are_compared_as_a_whole(void **state)
{
    (void)state;
    assert_update(ITEMS(""), "{'l':[{'v':'long'}]}", "{'l':[{'v':'long'}]}", "");
    assert_update(ITEMS(""), "{'l':[{'v':'long'}]}", "{'l':[{'v':'long'},{'v':'x'}]}",
                  TOO_LONG("l[0].v"));
}

static void values_of_maps_correspond_by_name(void **state)
{
    (void)state;
    assert_update("{'type':'object','additionalProperties':{'type':'string','maxLength':1}}",
                  "{'p':'long'}", "{'p':'long','q':'x'}", "");
}

static void errors_of_branches_are_ignored_with_unchanged_value(void **state)
{
    (void)state;
    const char *schema = "{'type':'object','properties':{'a':{'anyOf':[{'maximum':1},{'minimum':9}]"
                         "},'b':{'type':'integer'},'c':{'not':{'enum':[3]}}}}";
    assert_update(schema, "{'a':5,'b':1,'c':3}", "{'a':5,'b':2,'c':3}", "");
    assert_update(schema, "{'a':5,'b':1,'c':4}", "{'a':5,'b':2,'c':3}",
                  "<nil>: Invalid value: \"\": \"c\" must not validate the schema (not)");
}

static void branch_may_validate_parts(void **state)
{
    (void)state;
    const char *schema =
        "{'type':'object','properties':{'a':{'type':'integer'},'b':{'type':'integer'}},"
        "'allOf':[{'properties':{'a':{'maximum':1}}}]}";
    assert_update(schema, "{'a':5,'b':1}", "{'a':5,'b':2}", "");
}

static void errors_in_kind_are_never_ignored(void **state)
{
    (void)state;
    assert_update("{'type':'object','properties':{'kind':{'type':'string','maxLength':1},"
                  "'a':{'type':'integer'}}}",
                  "{'kind':'Kk','a':1}", "{'kind':'Kk','a':2}", TOO_LONG("kind"));
}

static void long_objects_are_compared_in_linear_time(void **state)
{
    (void)state;
    kc_scoped(kc_buf) old = {0}, now = {0};
    enum { N = 20000 };
    for (int i = 0; i < N; i++) {
        kc_buf_printf(&old, "%s'k%d':'long'", i ? "," : "{", i);
        kc_buf_printf(&now, "%s'k%d':'long'", i ? "," : "{'new':'x',", N - 1 - i);
    }
    kc_buf_putc(&old, '}');
    kc_buf_putc(&now, '}');
    assert_update("{'type':'object','additionalProperties':{'type':'string','maxLength':1}}",
                  kc_buf_cstr(&old), kc_buf_cstr(&now), "");
}

static void old_value_of_other_type_ignores_nothing(void **state)
{
    (void)state;
    assert_update(TWO, "[1]", "{'a':'long'}", TOO_LONG("a"));
    assert_update(ITEMS(MAP), "{'l':'x'}", "{'l':[{'k':'a','v':'long'}]}", TOO_LONG("l[0].v"));
    assert_update(TWO, "{'a':null}", "{'a':'long'}", TOO_LONG("a"));
}

TESTS(errors_in_unchanged_parts_are_ignored, errors_in_changed_parts_are_reported,
      unchanged_object_has_no_errors, newly_missing_member_is_error_of_changed_object,
      items_of_map_correspond_by_key, other_lists_are_compared_as_a_whole,
      values_of_maps_correspond_by_name, errors_of_branches_are_ignored_with_unchanged_value,
      branch_may_validate_parts, errors_in_kind_are_never_ignored,
      long_objects_are_compared_in_linear_time, old_value_of_other_type_ignores_nothing)
