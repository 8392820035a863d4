/* SPDX-License-Identifier: Apache-2.0 */
#include "schema_testing.h"

/* Fills in, and checks that the looking variant says before and after what happens. */
static void kc__assert_defaulted(const char *schema_json, const char *value_json,
                                 const char *expected, const char *file, int line)
{
    kc_auto(kc_schema) *schema = schema_of(schema_json);
    kc_auto(kc_view) *value = view_of(value_json);
    kc_auto(kc_edit) *edit = edit_of(value_json);
    kc_scoped(kc_buf) before = {0};
    kc_scoped(kc_buf) after = {0};
    kc_node_write(&before, kc_edit_root(edit));
    kc_schema_default(schema, edit);
    kc_node_write(&after, kc_edit_root(edit));
    kc__assert_node_json(kc_edit_root(edit), expected, file, line);
    assert_int_equal(kc_schema_would_default(schema, kc_view_root(value)),
                     !kc_str_eq(kc_buf_str(&before), kc_buf_str(&after)));
    kc_auto(kc_view) *filled = kc_edit_view(edit, NULL);
    assert_false(kc_schema_would_default(schema, kc_view_root(filled)));
}

#define assert_defaulted(schema, value, expected) \
    kc__assert_defaulted(schema, value, expected, __FILE__, __LINE__)

static void absent_members_get_their_default(void **state)
{
    (void)state;
    const char *schema = "{'type':'object','properties':{'a':{'type':'integer','default':1},"
                         "'b':{'type':'string','default':'x'},'c':{'type':'string'}}}";
    assert_defaulted(schema, "{}", "{'a':1,'b':'x'}");
    assert_defaulted(schema, "{'b':'y','a':0}", "{'b':'y','a':0}");
    assert_defaulted(schema, "{'c':'z','a':2}", "{'c':'z','a':2,'b':'x'}");
}

static void a_null_becomes_the_default_unless_it_is_allowed(void **state)
{
    (void)state;
    assert_defaulted("{'type':'object','properties':{'a':{'type':'integer','default':1},"
                     "'b':{'type':'integer','nullable':true,'default':2},'c':{'type':'integer'}}}",
                     "{'a':null,'b':null,'c':null}", "{'a':1,'b':null,'c':null}");
}

static void defaults_reach_into_lists_and_maps(void **state)
{
    (void)state;
    assert_defaulted("{'type':'object','properties':{'l':{'type':'array','items':{'type':'object',"
                     "'properties':{'p':{'type':'string','default':'TCP'}}}},'m':{'type':'object',"
                     "'additionalProperties':{'type':'object','properties':{'q':{'type':'integer',"
                     "'default':0}}}}}}",
                     "{'l':[{},{'p':'UDP'}],'m':{'k':{}}}",
                     "{'l':[{'p':'TCP'},{'p':'UDP'}],'m':{'k':{'q':0}}}");
}

static void null_elements_and_values_become_defaults(void **state)
{
    (void)state;
    assert_defaulted("{'type':'object','properties':{'l':{'type':'array','items':{'type':'string',"
                     "'default':'d'}},'m':{'type':'object','additionalProperties':{'type':'object',"
                     "'default':{'a':[1,2]},'x-kubernetes-preserve-unknown-fields':true}}}}",
                     "{'l':[null,'x',null],'m':{'k':null}}",
                     "{'l':['d','x','d'],'m':{'k':{'a':[1,2]}}}");
}

static void a_default_gets_defaults_of_its_own(void **state)
{
    (void)state;
    assert_defaulted("{'type':'object','properties':{'spec':{'type':'object','default':{},"
                     "'properties':{'n':{'type':'integer','default':3},'deep':{'type':'object',"
                     "'default':{'x':1},'properties':{'x':{'type':'integer'},'y':{'type':'integer',"
                     "'default':2}}}}}}}",
                     "{}", "{'spec':{'n':3,'deep':{'x':1,'y':2}}}");
}

static void nothing_is_made_up_around_a_default(void **state)
{
    (void)state;
    assert_defaulted("{'type':'object','properties':{'spec':{'type':'object','properties':{"
                     "'n':{'type':'integer','default':3}}}}}",
                     "{}", "{}");
}

static void mistyped_values_are_left_for_validation(void **state)
{
    (void)state;
    assert_defaulted("{'type':'object','properties':{'spec':{'type':'object','properties':{"
                     "'n':{'type':'integer','default':3}}}}}",
                     "{'spec':'text'}", "{'spec':'text'}");
}

static void each_object_gets_a_copy_of_its_own(void **state)
{
    (void)state;
    kc_auto(kc_schema) *schema =
        schema_of("{'properties':{'l':{'items':{'type':'object','properties':{'o':{'type':'object',"
                  "'default':{'k':'v'},'additionalProperties':{'type':'string'}}}}}}}");
    kc_auto(kc_edit) *edit = edit_of("{'l':[{},{}]}");
    kc_schema_default(schema, edit);
    kc_node *first = kc_node_at(kc_node_get(kc_edit_root(edit), KC_STR("l")), 0);
    kc_node_set(edit, kc_node_get(first, KC_STR("o")), KC_STR("k"), kc_node_i64(edit, 1));
    assert_node_json(kc_edit_root(edit), "{'l':[{'o':{'k':1}},{'o':{'k':'v'}}]}");
}

static void an_object_may_have_more_than_64_defaults(void **state)
{
    (void)state;
    kc_scoped(kc_buf) schema = {0};
    kc_scoped(kc_buf) value = {0};
    kc_buf_puts(&schema, "{'type':'object','properties':{");
    for (int i = 0; i < 150; i++) {
        kc_buf_printf(&schema, "%s'f%d':{'type':'integer','default':%d}", i ? "," : "", i, i);
        if (i != 100)
            kc_buf_printf(&value, "%s'f%d':0", i ? "," : "{", i);
    }
    kc_buf_puts(&schema, "}}");
    kc_autofree char *expected = kc_asprintf("%s,'f100':100}", kc_buf_cstr(&value));
    kc_buf_putc(&value, '}');
    assert_defaulted(kc_buf_cstr(&schema), kc_buf_cstr(&value), expected);
}

TESTS(absent_members_get_their_default, a_null_becomes_the_default_unless_it_is_allowed,
      defaults_reach_into_lists_and_maps, null_elements_and_values_become_defaults,
      a_default_gets_defaults_of_its_own, nothing_is_made_up_around_a_default,
      mistyped_values_are_left_for_validation, each_object_gets_a_copy_of_its_own,
      an_object_may_have_more_than_64_defaults)
