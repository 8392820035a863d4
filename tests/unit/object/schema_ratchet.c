/* SPDX-License-Identifier: Apache-2.0 */
#include "schema_testing.h"

/* What is said about a value that replaces `old`. */
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

static void what_did_not_change_is_forgiven(void **state)
{
    (void)state;
    assert_update(TWO, "{'a':'long','b':'x'}", "{'a':'long','b':'y'}", "");
}

static void what_changed_is_not(void **state)
{
    (void)state;
    assert_update(TWO, "{'a':'long','b':'x'}", "{'a':'longer','b':'y'}", TOO_LONG("a"));
    assert_update(TWO, "{'a':'long','b':'x'}", "{'a':'long','b':'yy'}", TOO_LONG("b"));
    assert_update(TWO, "{}", "{'a':'long'}", TOO_LONG("a"));
}

static void the_same_object_is_forgiven_everything(void **state)
{
    (void)state;
    assert_update("{'type':'object','required':['x'],'maxProperties':1}", "{'a':1,'b':2}",
                  "{'b':2,'a':1.0}", "");
}

static void what_is_missing_now_is_an_error_of_the_object_that_changed(void **state)
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

static void items_of_a_map_are_known_by_their_keys(void **state)
{
    (void)state;
    assert_update(ITEMS(MAP), "{'l':[{'k':'a','v':'long'},{'k':'b','v':'x'}]}",
                  "{'l':[{'k':'c','v':'y'},{'k':'a','v':'long'}]}", "");
    assert_update(ITEMS(MAP), "{'l':[{'k':'a','v':'long'}]}",
                  "{'l':[{'k':'a','v':'long'},{'k':'b','v':'long'}]}", TOO_LONG("l[1].v"));
}

static void items_of_other_lists_stand_and_fall_together(void **state)
{
    (void)state;
    assert_update(ITEMS(""), "{'l':[{'v':'long'}]}", "{'l':[{'v':'long'}]}", "");
    assert_update(ITEMS(""), "{'l':[{'v':'long'}]}", "{'l':[{'v':'long'},{'v':'x'}]}",
                  TOO_LONG("l[0].v"));
}

static void values_of_maps_are_known_by_their_names(void **state)
{
    (void)state;
    assert_update("{'type':'object','additionalProperties':{'type':'string','maxLength':1}}",
                  "{'p':'long'}", "{'p':'long','q':'x'}", "");
}

static void branches_are_forgiven_with_their_value(void **state)
{
    (void)state;
    const char *schema = "{'type':'object','properties':{'a':{'anyOf':[{'maximum':1},{'minimum':9}]"
                         "},'b':{'type':'integer'},'c':{'not':{'enum':[3]}}}}";
    assert_update(schema, "{'a':5,'b':1,'c':3}", "{'a':5,'b':2,'c':3}", "");
    assert_update(schema, "{'a':5,'b':1,'c':4}", "{'a':5,'b':2,'c':3}",
                  "<nil>: Invalid value: \"\": \"c\" must not validate the schema (not)");
}

static void a_branch_may_look_into_parts(void **state)
{
    (void)state;
    const char *schema =
        "{'type':'object','properties':{'a':{'type':'integer'},'b':{'type':'integer'}},"
        "'allOf':[{'properties':{'a':{'maximum':1}}}]}";
    assert_update(schema, "{'a':5,'b':1}", "{'a':5,'b':2}", "");
}

static void what_an_object_is_is_never_forgiven(void **state)
{
    (void)state;
    assert_update("{'type':'object','properties':{'kind':{'type':'string','maxLength':1},"
                  "'a':{'type':'integer'}}}",
                  "{'kind':'Kk','a':1}", "{'kind':'Kk','a':2}", TOO_LONG("kind"));
}

static void long_objects_are_compared_in_time(void **state)
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

static void an_old_value_of_another_type_forgives_nothing(void **state)
{
    (void)state;
    assert_update(TWO, "[1]", "{'a':'long'}", TOO_LONG("a"));
    assert_update(ITEMS(MAP), "{'l':'x'}", "{'l':[{'k':'a','v':'long'}]}", TOO_LONG("l[0].v"));
    assert_update(TWO, "{'a':null}", "{'a':'long'}", TOO_LONG("a"));
}

TESTS(what_did_not_change_is_forgiven, what_changed_is_not, the_same_object_is_forgiven_everything,
      what_is_missing_now_is_an_error_of_the_object_that_changed,
      items_of_a_map_are_known_by_their_keys, items_of_other_lists_stand_and_fall_together,
      values_of_maps_are_known_by_their_names, branches_are_forgiven_with_their_value,
      a_branch_may_look_into_parts, what_an_object_is_is_never_forgiven,
      long_objects_are_compared_in_time, an_old_value_of_another_type_forgives_nothing)
