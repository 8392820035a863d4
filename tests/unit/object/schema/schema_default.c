/* SPDX-License-Identifier: Apache-2.0 */
#include "schema_testing.h"

/* Applies defaults, and checks that the read-only variant agrees before and after. */
static void kc__assert_defaulted(const char *schema_json, const char *value_json,
                                 const char *expected, const char *file, int line)
{
    kc_auto(kc_schema) *schema = schema_of(schema_json);
    kc_auto(kc_view) *value = view_of(value_json);
    kc_auto(kc_edit) *edit = edit_of(value_json);
    kc_scoped(kc_buf) before = {0};
    kc_scoped(kc_buf) after = {0};
    kc_node_write(&before, kc_edit_root(edit));
    assert_int_equal(kc_schema_default(schema, edit, NULL, NULL), 0);
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

static void null_becomes_default_unless_nullable(void **state)
{
    (void)state;
    assert_defaulted("{'type':'object','properties':{'a':{'type':'integer','default':1},"
                     "'b':{'type':'integer','nullable':true,'default':2},'c':{'type':'integer'}}}",
                     "{'a':null,'b':null,'c':null}", "{'a':1,'b':null,'c':null}");
}

static void defaults_are_applied_in_lists_and_maps(void **state)
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

static void defaults_are_themselves_defaulted(void **state)
{
    (void)state;
    assert_defaulted("{'type':'object','properties':{'spec':{'type':'object','default':{},"
                     "'properties':{'n':{'type':'integer','default':3},'deep':{'type':'object',"
                     "'default':{'x':1},'properties':{'x':{'type':'integer'},'y':{'type':'integer',"
                     "'default':2}}}}}}}",
                     "{}", "{'spec':{'n':3,'deep':{'x':1,'y':2}}}");
}

static void missing_parents_of_default_are_not_created(void **state)
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

static void each_object_gets_its_own_copy(void **state)
{
    (void)state;
    kc_auto(kc_schema) *schema =
        schema_of("{'properties':{'l':{'items':{'type':'object','properties':{'o':{'type':'object',"
                  "'default':{'k':'v'},'additionalProperties':{'type':'string'}}}}}}}");
    kc_auto(kc_edit) *edit = edit_of("{'l':[{},{}]}");
    assert_int_equal(kc_schema_default(schema, edit, NULL, NULL), 0);
    kc_node *first = kc_node_at(kc_node_get(kc_edit_root(edit), KC_STR("l")), 0);
    kc_node_set(edit, kc_node_get(first, KC_STR("o")), KC_STR("k"), kc_node_i64(edit, 1));
    assert_node_json(kc_edit_root(edit), "{'l':[{'o':{'k':1}},{'o':{'k':'v'}}]}");
}

static void object_may_have_more_than_64_defaults(void **state)
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

/* ---- the budget ---- */

/* {'l':[{},{}…]} nested in itself, `depth` levels deep. */
static kc_schema *nested_lists(unsigned depth, kc_buf *json)
{
    kc_scoped(kc_buf) list = {0};
    for (int i = 0; i < 100; i++)
        kc_buf_puts(&list, i ? ",{}" : "{}");
    for (unsigned i = 0; i < depth; i++)
        kc_buf_printf(json,
                      "{'type':'object','properties':{'l':{'type':'array','default':[%s],'items':",
                      kc_buf_cstr(&list));
    kc_buf_puts(json, "{'type':'object','properties':{'x':{'type':'string','default':'y'}}}");
    for (unsigned i = 0; i < depth; i++)
        kc_buf_puts(json, "}}}");
    return schema_of(kc_buf_cstr(json));
}

static void defaults_beyond_the_budget_fail_and_name_the_field(void **state)
{
    (void)state;
    kc_scoped(kc_buf) json = {0};
    kc_auto(kc_schema) *schema = nested_lists(5, &json);
    kc_auto(kc_edit) *edit = edit_of("{}");
    kc_scoped(kc_error) err = {0};
    assert_int_equal(kc_schema_default(schema, edit, NULL, &err), -KC_TOO_LARGE);
    assert_int_equal(err.reason, KC_TOO_LARGE);
    assert_int_equal(err.causes.n, 1);
    assert_string_equal(err.causes.items[0].field, "l");
    assert_int_equal(kc_node_len(kc_edit_root(edit)), 0);
}

static void budget_counts_bytes_and_values_that_are_added(void **state)
{
    (void)state;
    kc_auto(kc_schema) *schema =
        schema_of("{'properties':{'l':{'items':{'type':'object','properties':{'k':{'type':'string',"
                  "'default':'vvvv'}}}}}}");
    const char *three = "{'l':[{},{},{}]}";
    kc_auto(kc_edit) *enough = edit_of(three), *bytes = edit_of(three), *values = edit_of(three);
    kc_schema_default_opts opts = {.max_bytes = 33, .max_values = 6}; /* "k":"vvvv", three times */
    kc_scoped(kc_error) err = {0};
    assert_int_equal(kc_schema_default(schema, enough, &opts, NULL), 0);
    opts.max_bytes = 32;
    assert_int_equal(kc_schema_default(schema, bytes, &opts, &err), -KC_TOO_LARGE);
    assert_string_equal(err.causes.items[0].field, "l[2].k");
    opts = (kc_schema_default_opts){.max_values = 5};
    assert_int_equal(kc_schema_default(schema, values, &opts, NULL), -KC_TOO_LARGE);
}

static void nulls_that_become_defaults_count(void **state)
{
    (void)state;
    kc_auto(kc_schema) *schema =
        schema_of("{'properties':{'l':{'items':{'type':'string','default':'vvvv'}}}}");
    kc_auto(kc_edit) *edit = edit_of("{'l':[null,null]}");
    kc_schema_default_opts opts = {.max_bytes = 15};
    assert_int_equal(kc_schema_default(schema, edit, &opts, NULL), -KC_TOO_LARGE);
}

static void schema_whose_defaults_exceed_budget_is_invalid(void **state)
{
    (void)state;
    for (unsigned depth = 1; depth < 40; depth += depth < 5 ? 1 : 17) {
        kc_scoped(kc_buf) json = {0};
        kc_scoped(kc_field_errors) errors = {0};
        kc_auto(kc_schema) *schema = nested_lists(depth, &json);
        kc_auto(kc_view) *view = view_of(kc_buf_cstr(&json));
        bool ok = kc_schema_check(kc_view_root(view), NULL, &errors);
        assert_non_null(schema); /* A stored schema must compile. */
        assert_int_equal(ok, depth < 3);
        assert_int_equal(errors.list.n, depth < 3 ? 0 : 1);
        if (ok)
            continue;
        assert_int_equal(errors.list.items[0].type, KC_FIELD_TOO_LONG);
        assert_contains(errors.list.items[0].field, "properties[l].default");
    }
}

static void long_list_of_empty_objects_is_measured_in_linear_time(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    kc_scoped(kc_buf) json = {0};
    kc_buf_puts(&json, "{'type':'object','properties':{'l':{'type':'array','default':[");
    for (int i = 0; i < MANY; i++)
        kc_buf_puts(&json, i ? ",{}" : "{}");
    kc_buf_puts(&json, "],'items':{'type':'object','properties':{");
    for (int i = 0; i < MANY; i++)
        kc_buf_printf(&json, "%s'p%d':{'type':'string','default':'x'}", i ? "," : "", i);
    kc_buf_puts(&json, "}}}}}");
    kc_auto(kc_schema) *schema = schema_of(kc_buf_cstr(&json));
    kc_auto(kc_edit) *edit = edit_of("{}");
    assert_int_equal(kc_schema_default(schema, edit, NULL, NULL), -KC_TOO_LARGE);
}

TESTS(absent_members_get_their_default, null_becomes_default_unless_nullable,
      defaults_are_applied_in_lists_and_maps, null_elements_and_values_become_defaults,
      defaults_are_themselves_defaulted, missing_parents_of_default_are_not_created,
      mistyped_values_are_left_for_validation, each_object_gets_its_own_copy,
      object_may_have_more_than_64_defaults, defaults_beyond_the_budget_fail_and_name_the_field,
      budget_counts_bytes_and_values_that_are_added, nulls_that_become_defaults_count,
      schema_whose_defaults_exceed_budget_is_invalid,
      long_list_of_empty_objects_is_measured_in_linear_time)
