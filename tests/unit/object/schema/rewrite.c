/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite_testing.h"
#include "schema_testing.h"

#include "kc/rand.h"

static void kc__assert_agrees(const char *schema_json, const char *object_json,
                              const kc_schema_default_opts *budget, const char *file, int line)
{
    kc_auto(kc_schema) *schema = schema_of(schema_json);
    kc_auto(kc_object) *object = object_of(object_json);
    kc_autofree char *difference = any_rewrite_difference(schema, object, budget);
    if (difference)
        fail_msg("%s:%d: %s", file, line, difference);
}

#define assert_agrees(schema, object) kc__assert_agrees(schema, object, NULL, __FILE__, __LINE__)

static kc_object *rewritten(const char *schema_json, const char *object_json)
{
    kc_auto(kc_schema) *schema = schema_of(schema_json);
    kc_auto(kc_object) *object = object_of(object_json);
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc__schema_rewrite_opts steps = {.prunes = true, .drops_nulls = true, .defaults = true};
    return kc__schema_rewrite(schema, object, &view, &steps, NULL);
}

#define STAGES                                                                               \
    "{'type':'object','properties':{'spec':{'type':'object','properties':{'image':{'type':"  \
    "'string'},'n':{'type':'integer','default':1},'stages':{'type':'array','items':{'type':" \
    "'object','properties':{'name':{'type':'string'},'port':{'type':'integer'},'protocol':{" \
    "'type':'string','default':'TCP'},'retries':{'type':'number','default':3.0}}}}}}}}"

static void unknown_nulls_and_defaults_are_handled_together(void **state)
{
    (void)state;
    kc_auto(kc_object) *result =
        rewritten(STAGES, "{'apiVersion':'v1','kind':'X','metadata':{'name':'a'},'spec':{'colour':"
                          "'blue','image':null,'stages':[{'name':'x','y':{'z':[1]}},{}]}}");
    kc_auto(kc_object) *expected =
        object_of("{'apiVersion':'v1','kind':'X','metadata':{'name':'a'},'spec':{'stages':[{'name':"
                  "'x','protocol':'TCP','retries':3},{'protocol':'TCP','retries':3}],'n':1}}");
    assert_true(kc_str_eq(kc_object_json(result), kc_object_json(expected)));
    assert_str(kc_object_name(result), "a");
}

static void object_without_changes_is_returned_itself(void **state)
{
    (void)state;
    kc_auto(kc_schema) *schema = schema_of(STAGES);
    kc_auto(kc_object) *object = object_of("{'spec':{'n':2,'stages':[]}}");
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_view *before = view;
    const kc__schema_rewrite_opts steps = {.prunes = true, .drops_nulls = true, .defaults = true};
    kc_auto(kc_object) *result = kc__schema_rewrite(schema, object, &view, &steps, NULL);
    assert_ptr_equal(result, object);
    assert_ptr_equal(view, before);
}

static void view_outlives_schema_and_object(void **state)
{
    (void)state;
    kc_schema *schema = schema_of(STAGES);
    kc_object *object = object_of("{'spec':{'stages':[{'name':'x'}]}}");
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc__schema_rewrite_opts steps = {.defaults = true};
    kc_auto(kc_object) *result = kc__schema_rewrite(schema, object, &view, &steps, NULL);
    kc_schema_unref(schema);
    kc_object_unref(object);
    const kc_value *stage = kc_value_at(kc_value_nested(kc_view_root(view), "spec.stages"), 0);
    assert_str(kc_value_as_str(kc_value_get(stage, "protocol")), "TCP");
    assert_str(kc_value_as_str(kc_value_get(stage, "name")), "x");
    assert_non_null(result);
}

static void first_and_last_and_only_members_are_removed(void **state)
{
    (void)state;
    const char *schema = "{'type':'object','properties':{'s':{'type':'object','properties':{'a':{"
                         "'type':'string'},'b':{'type':'string'}}}}}";
    static const char *const objects[] = {"{'s':{'x':1,'a':'1','b':'2'}}",
                                          "{'s':{'a':'1','x':1,'b':'2'}}",
                                          "{'s':{'a':'1','b':'2','x':1}}",
                                          "{'s':{'x':1,'y':[2],'a':'1'}}",
                                          "{'s':{'x':1,'y':2}}",
                                          "{'s':{'x':1,'a':null,'y':2}}",
                                          "{'x':{'a':1},'s':{'x':1}}",
                                          "{'s':{},'x':1,'y':2}",
                                          "{'x':1}",
                                          "{}",
                                          "{'s':[{'x':1},{'x':2},3]}",
                                          "{'s':'a','x':-1.5e-9,'y':true,'z':false}"};
    for (size_t i = 0; i < KC_COUNT(objects); i++)
        assert_agrees(schema, objects[i]);
}

static void items_need_not_have_the_members_of_the_item_before(void **state)
{
    (void)state;
    assert_agrees(STAGES, "{'spec':{'stages':[{'name':'x','port':1},{'port':1,'name':'x'},{},"
                          "{'z':1,'port':1},{'name':'x','z':1},{'protocol':'UDP','name':null},"
                          "{'name':'x','port':1,'retries':1,'protocol':'UDP'}]}}");
    /* Two lists on one level, whose items have different schemas. */
    assert_agrees("{'type':'object','properties':{'a':{'type':'array','items':{'type':'object',"
                  "'properties':{'x':{'type':'integer'},'y':{'type':'integer','default':1}}}},"
                  "'b':{'type':'array','items':{'type':'object','properties':{'y':{'type':"
                  "'integer'},'z':{'type':'integer','default':2}}}}}}",
                  "{'a':[{'x':1,'z':1},{'x':1,'y':1}],'b':[{'x':1,'y':1},{'y':1,'z':1}]}");
}

static void names_of_defaults_with_escapes_are_quoted(void **state)
{
    (void)state;
    assert_agrees("{'type':'object','properties':{'a\\'b':{'type':'string','default':'\\n'},"
                  "'a':{'type':'integer','default':1},'\\t':{'type':'object','default':{}}}}",
                  "{}");
    assert_agrees("{'type':'object','properties':{'a\\'b':{'type':'string','default':'\\n'},"
                  "'a':{'type':'integer','default':1}}}",
                  "{'x':1}");
}

static void texts_with_escapes_keep_their_length(void **state)
{
    (void)state;
    const char *schema =
        "{'type':'object','properties':{'a':{'type':'string'},'b':{'type':'string',"
        "'default':'\\u0001\\n\\\\'},'m':{'type':'object','additionalProperties':{"
        "'type':'string','default':'\\\\'}},'q\\\\':{'default':'\\''}}}";
    assert_agrees(schema, "{'a':'\\\\','x':'\\\\\\\\','m':{'k\\\\':null,'\\\\':'\\n'}}");
    assert_agrees(schema, "{'x\\\\':[1,'\\\\'],'a':'a\\u0001b','y':2}");
}

static void parts_follow_their_members(void **state)
{
    (void)state;
    const char *schema =
        "{'type':'object','properties':{'kind':{'type':'string'},'metadata':{'type'"
        ":'object','properties':{'name':{'type':'string'}}},'s':{'type':'object',"
        "'default':{},'properties':{'d':{'type':'integer','default':1}}}}}";
    assert_agrees(schema,
                  "{'x':1,'kind':'K','s':{},'metadata':{'labels':{'a':'b'},'name':'n','uid':"
                  "'u'},'y':2,'apiVersion':'v1'}");
    assert_agrees(schema, "{'metadata':{'name':null,'namespace':'ns'},'apiVersion':'v1'}");
    assert_agrees(schema, "{'s':{},'kind':null,'apiVersion':3,'metadata':null}");
    assert_agrees(schema, "{'x':1,'metadata':{'name':'a\\\\b','finalizers':[]}}");
}

static void root_members_that_are_defaults_are_indexed(void **state)
{
    (void)state;
    assert_agrees(
        "{'type':'object','properties':{'kind':{'type':'string','default':'K'},'metadata':"
        "{'type':'object','default':{},'properties':{'name':{'type':'string','default':"
        "'n'}}}}}",
        "{'apiVersion':'v1'}");
}

static void defaults_inside_defaults_are_applied(void **state)
{
    (void)state;
    const char *schema =
        "{'type':'object','properties':{'a':{'type':'object','default':{'l':[{},{'p':1},null]},"
        "'properties':{'l':{'type':'array','items':{'type':'object','default':{'p':2.0},"
        "'properties':{'p':{'type':'integer','default':9},'e':{'type':'object','default':{}}}}},"
        "'z':{'type':'string','default':'z\\\\'}}}}}";
    assert_agrees(schema, "{}");
    assert_agrees(schema, "{'a':null}");
    assert_agrees(schema, "{'a':{'l':[null,{}],'x':1}}");
}

static void preserved_and_embedded_fields_stay(void **state)
{
    (void)state;
    const char *schema =
        "{'type':'object','properties':{'p':{'type':'object','x-kubernetes-preserve-unknown-fields':"
        "true,'properties':{'k':{'type':'object'}}},'l':{'type':'array',"
        "'x-kubernetes-preserve-unknown-fields':true,'items':{'type':'object','properties':{'a':{"
        "'type':'object'}}}},'free':{'type':'array','x-kubernetes-preserve-unknown-fields':true},"
        "'e':{'type':'object','x-kubernetes-embedded-resource':true,'properties':{'spec':{'type':"
        "'object'}}},'m':{'type':'object','additionalProperties':true},'r':{'type':'object',"
        "'required':['q']},'n':{'type':'array','items':{'type':'array','items':{'type':'object'}}}}}";
    assert_agrees(schema,
                  "{'p':{'k':{'x':1},'u':{'v':null}},'l':[{'x':1,'a':{'y':2}},[{'z':1}],3]}");
    assert_agrees(schema, "{'free':[{'x':null}],'e':{'kind':'K','metadata':{'x':1},'spec':{'y':1},"
                          "'status':{}},'m':{'k':{'b':1},'l':[{'c':1}]},'r':{'q':1}}");
    assert_agrees(schema, "{'n':[[{'x':1},{}],[]],'m':{'k':null},'r':null}");
}

static void exceeded_budget_names_the_same_field(void **state)
{
    (void)state;
    const char *object = "{'spec':{'stages':[{},{},{}]}}";
    for (size_t bytes = 1; bytes < 130; bytes++)
        kc__assert_agrees(STAGES, object, &(kc_schema_default_opts){.max_bytes = bytes}, __FILE__,
                          __LINE__);
    for (size_t values = 1; values < 16; values++)
        kc__assert_agrees(STAGES, object, &(kc_schema_default_opts){.max_values = values}, __FILE__,
                          __LINE__);
}

/* The object is as deep as an object may be, so a default in the innermost member is too deep. */
static void default_that_nests_too_deeply_is_an_error_of_the_parser(void **state)
{
    (void)state;
    kc_auto(kc_view) *definitions =
        view_of("{'N':{'type':'object','properties':{'c':{'$ref':'#/definitions/N'},'d':{'type':"
                "'array','default':[],'items':{'type':'string'}}}}}");
    kc_auto(kc_schema_defs) *defs = kc_schema_defs_compile(kc_view_root(definitions), NULL, NULL);
    kc_auto(kc_view) *root =
        view_of("{'type':'object','properties':{'c':{'$ref':'#/definitions/N'}}}");
    kc_auto(kc_schema) *schema =
        kc_schema_compile(kc_view_root(root), &(kc_schema_opts){.defs = defs}, NULL);
    for (unsigned levels = KC_JSON_MAX_DEPTH - 1; levels <= KC_JSON_MAX_DEPTH; levels++) {
        kc_scoped(kc_buf) json = {0};
        for (unsigned i = 1; i < levels; i++)
            kc_buf_puts(&json, "{'c':");
        kc_buf_puts(&json, "{}");
        for (unsigned i = 1; i < levels; i++)
            kc_buf_putc(&json, '}');
        kc_auto(kc_object) *object = object_of(kc_buf_cstr(&json));
        kc_autofree char *difference = any_rewrite_difference(schema, object, NULL);
        assert_null(difference);
        kc_auto(kc_view) *view = kc_view_of(object);
        kc_auto(kc_object) *result = kc__schema_rewrite(
            schema, object, &view, &(kc__schema_rewrite_opts){.defaults = true}, NULL);
        assert_int_equal(result != NULL, levels < KC_JSON_MAX_DEPTH);
    }
}

static void schema_with_many_properties_finds_missing_ones(void **state)
{
    (void)state;
    kc_scoped(kc_buf) schema = {0};
    for (int i = 0; i < 200; i++)
        kc_buf_printf(&schema, "%s'p%d':{'type':'integer','default':%d}",
                      i ? "," : "{'type':'object','properties':{", i, i);
    kc_buf_puts(&schema, "}}");
    assert_agrees(kc_buf_cstr(&schema), "{'p7':1,'p199':null,'x':2,'p64':3}");
}

/* ---- random objects ---- */

typedef struct random_json {
    kc_rand *rand;
    kc_buf text;
} random_json;

static size_t pick(random_json *j, size_t n)
{
    return (size_t)kc_rand_below(j->rand, n);
}

static void put_random(random_json *j, unsigned depth)
{
    static const char *const scalars[] = {
        "null", "1",  "-2.5",     "'TCP'",  "''",
        "true", "[]", "{'x':{}}", "'\\\\'", "12345678901234567890"};
    static const char *const names[] = {"a", "b", "c", "d", "kind", "metadata", "name", "q\\\\"};
    const size_t kind = depth ? pick(j, 3) : 2;
    if (kind == 2) {
        kc_buf_puts(&j->text, scalars[pick(j, KC_COUNT(scalars))]);
        return;
    }
    const size_t first = pick(j, KC_COUNT(names)), n = pick(j, 4);
    kc_buf_putc(&j->text, kind ? '{' : '[');
    for (size_t i = 0; i < n; i++) {
        kc_buf_puts(&j->text, i ? "," : "");
        if (kind)
            kc_buf_printf(&j->text, "'%s':", names[(first + i) % KC_COUNT(names)]);
        put_random(j, depth - 1);
    }
    kc_buf_putc(&j->text, kind ? '}' : ']');
}

static void put_random_schema(random_json *j, unsigned depth)
{
    static const char *const defaults[] = {",'default':{}", ",'default':{'a':{},'b':[null,{}]}",
                                           ",'default':[{},null]", ",'default':'\\\\'",
                                           ",'default':2.0"};
    static const char *const flags[] = {",'x-kubernetes-preserve-unknown-fields':true",
                                        ",'nullable':true",
                                        ",'x-kubernetes-embedded-resource':true",
                                        ",'additionalProperties':true", ",'required':['c','d']"};
    static const char *const names[] = {"a", "b", "metadata", "kind", "q\\\\"};
    kc_buf_puts(&j->text, "{'description':''");
    if (!pick(j, 3))
        kc_buf_puts(&j->text, defaults[pick(j, KC_COUNT(defaults))]);
    if (!pick(j, 3))
        kc_buf_puts(&j->text, flags[pick(j, KC_COUNT(flags))]);
    if (depth && pick(j, 4)) {
        kc_buf_puts(&j->text, ",'items':");
        put_random_schema(j, depth - 1);
    }
    for (size_t i = 0; depth && i < KC_COUNT(names); i++) {
        kc_buf_printf(&j->text, "%s'%s':", i ? "," : ",'properties':{", names[i]);
        put_random_schema(j, depth - 1);
    }
    kc_buf_puts(&j->text, depth ? "}}" : "}");
}

static void put_random_object(random_json *j)
{
    kc_buf_puts(&j->text, "{'apiVersion':'v1','a':");
    put_random(j, 4);
    kc_buf_puts(&j->text, ",'metadata':");
    put_random(j, 2);
    kc_buf_puts(&j->text, ",'b':");
    put_random(j, 3);
    kc_buf_putc(&j->text, '}');
}

static void random_objects_and_schemas_agree_with_trees(void **state)
{
    enum { SCHEMAS = 200, OBJECTS = 25 };
    (void)state;
    kc_rand rand = {0};
    kc_rand_seed(&rand, 42);
    for (int i = 0; i < SCHEMAS; i++) {
        random_json json = {.rand = &rand};
        put_random_schema(&json, 2);
        kc_auto(kc_schema) *schema = schema_of(kc_buf_cstr(&json.text));
        for (int k = 0; k < OBJECTS; k++) {
            kc_buf_clear(&json.text);
            put_random_object(&json);
            kc_auto(kc_object) *object = object_of(kc_buf_cstr(&json.text));
            kc_autofree char *difference = any_rewrite_difference(schema, object, NULL);
            if (difference)
                fail_msg("schema %d, %s: %s", i, kc_buf_cstr(&json.text), difference);
        }
        kc_buf_done(&json.text);
    }
}

TESTS(unknown_nulls_and_defaults_are_handled_together, object_without_changes_is_returned_itself,
      view_outlives_schema_and_object, first_and_last_and_only_members_are_removed,
      items_need_not_have_the_members_of_the_item_before, names_of_defaults_with_escapes_are_quoted,
      texts_with_escapes_keep_their_length, parts_follow_their_members,
      root_members_that_are_defaults_are_indexed, defaults_inside_defaults_are_applied,
      preserved_and_embedded_fields_stay, exceeded_budget_names_the_same_field,
      default_that_nests_too_deeply_is_an_error_of_the_parser,
      schema_with_many_properties_finds_missing_ones, random_objects_and_schemas_agree_with_trees)
