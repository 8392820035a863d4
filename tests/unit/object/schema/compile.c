/* SPDX-License-Identifier: Apache-2.0 */
#include "schema_testing.h"

#include "object/schema/schema_internal.h"

#include <pthread.h>

#define assert_refused(schema, why)                      \
    do {                                                 \
        kc_autofree char *refusal_ = refusal_of(schema); \
        assert_contains(refusal_, why);                  \
    } while (0)

static const kc_schema *field(const kc_schema *schema, const char *name)
{
    return kc_schema_field(schema, kc_cstr(name));
}

static void compiled_schema_can_be_inspected(void **state)
{
    (void)state;
    kc_auto(kc_schema) *s =
        schema_of("{'type':'object','required':['list','gone'],'properties':{"
                  "'list':{'type':'array','items':{'type':'integer','nullable':true}},"
                  "'map':{'type':'object','additionalProperties':{'type':'string','default':'x'}},"
                  "'port':{'x-kubernetes-int-or-string':true},"
                  "'raw':{'type':'object','x-kubernetes-preserve-unknown-fields':true,"
                  "'x-kubernetes-embedded-resource':true}}}");
    assert_string_equal(kc_schema_type(s), "object");
    assert_string_equal(kc_schema_type(kc_schema_items(field(s, "list"))), "integer");
    assert_true(kc_schema_nullable(kc_schema_items(field(s, "list"))));
    assert_string_equal(kc_schema_type(field(field(s, "map"), "any")), "string");
    assert_ptr_equal(kc_schema_additional(field(s, "map")), field(field(s, "map"), "any"));
    assert_null(kc_schema_property(field(s, "map"), KC_STR("any")));
    assert_value_json(kc_schema_default_value(field(field(s, "map"), "any")), "'x'");
    assert_string_equal(kc_schema_type(field(s, "port")), "integer,string");
    assert_true(kc_schema_int_or_string(field(s, "port")));
    assert_true(kc_schema_preserves_unknown(field(s, "raw")));
    assert_true(kc_schema_embeds_resource(field(s, "raw")));
    assert_true(kc_schema_requires(s, KC_STR("list")));
    assert_true(kc_schema_requires(s, KC_STR("gone")));
    assert_false(kc_schema_requires(s, KC_STR("map")));
    assert_null(field(s, "gone"));
    assert_null(field(s, "absent"));
    assert_null(kc_schema_field(s, (kc_str){0}));
}

static void properties_are_iterated(void **state)
{
    (void)state;
    kc_auto(kc_schema) *s =
        schema_of("{'required':['q'],'properties':{'a':{'type':'string'},'b':{'type':'integer'}}}");
    kc_str name;
    size_t n = 0, at = 0;
    for (const kc_schema *p; (p = kc_schema_property_next(s, &at, &name)); n++)
        assert_ptr_equal(p, kc_schema_property(s, name));
    assert_int_equal(n, 2);
}

static void patch_strategy_and_key_are_compiled(void **state)
{
    (void)state;
    kc_auto(kc_schema) *s =
        schema_of("{'properties':{'volumes':{'type':'array','items':{'type':'object'},"
                  "'x-kubernetes-patch-strategy':'merge,retainKeys',"
                  "'x-kubernetes-patch-merge-key':'name','x-kubernetes-list-type':'map',"
                  "'x-kubernetes-list-map-keys':['name']},'labels':{'type':'object',"
                  "'x-kubernetes-map-type':'atomic'}}}");
    const kc_schema *volumes = field(s, "volumes");
    assert_int_equal(kc_schema_patch_strategy(volumes),
                     KC_STRATEGY_MERGE | KC_STRATEGY_RETAIN_KEYS);
    assert_str(kc_schema_patch_merge_key(volumes), "name");
    assert_int_equal(kc_schema_list_type(volumes), KC_LIST_MAP);
    assert_value_json(kc_schema_list_map_keys(volumes), "['name']");
    assert_int_equal(kc_schema_map_type(field(s, "labels")), KC_MAP_ATOMIC);
    assert_int_equal(kc_schema_patch_strategy(field(s, "labels")), 0);
    assert_str(kc_schema_patch_merge_key(NULL), "");
}

static void cel_rules_are_kept_unchanged(void **state)
{
    (void)state;
    kc_auto(kc_schema) *s = schema_of(
        "{'type':'object','x-kubernetes-validations':[{'rule':'self.a < 3','message':'m'}]}");
    assert_value_json(kc_schema_validations(s), "[{'rule':'self.a < 3','message':'m'}]");
}

static void values_outlive_source_text(void **state)
{
    (void)state;
    kc_auto(kc_schema) *s = schema_of("{'properties':{'a':{'default':{'l':['x',{'y':1.5}],'e':{}},"
                                      "'x-kubernetes-preserve-unknown-fields':true}}}");
    assert_value_json(kc_schema_default_value(field(s, "a")), "{'l':['x',{'y':1.5}],'e':{}}");
}

static void equal_parts_are_stored_once(void **state)
{
    (void)state;
    kc_auto(kc_schema) *s = schema_of(
        "{'properties':{'a':{'type':'object','description':'one','properties':{'n':{'type':"
        "'string','pattern':'^a','enum':['ab']}}},'b':{'description':'two','properties':{'n':{"
        "'enum':['ab'],'pattern':'^a','type':'string'}},'type':'object'}}}");
    assert_ptr_equal(field(s, "a"), field(s, "b"));
}

static void compiled_crd_takes_kilobytes(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "{'type':'object','properties':{");
    for (int i = 0; i < 60; i++)
        kc_buf_printf(&text,
                      "%s'field%d':{'type':'object','description':'a long text, %d',"
                      "'properties':{'name':{'type':'string','maxLength':63},'n%d':{"
                      "'type':'integer','minimum':%d}}}",
                      i ? "," : "", i, i, i, i);
    kc_buf_puts(&text, "}}");
    kc_auto(kc_schema) *s = schema_of(kc_buf_cstr(&text));
    assert_true(kc_schema_memory(s) < 20 * 1024);
}

static void error_names_keyword_of_wrong_type(void **state)
{
    (void)state;
    assert_refused("{'properties':{'a':{'items':{'type':5}}}}",
                   "properties[a].items.type: must be of type string, not integer");
    assert_refused("{'properties':[]}", "properties: must be of type object, not array");
    assert_refused("{'properties':{'a':true}}", "properties[a]: must be an object");
    assert_refused("{'required':'a'}", "required: must be of type array, not string");
    assert_refused("{'required':[1]}", "required: must contain only strings");
    assert_refused("{'nullable':'yes'}", "nullable: must be of type boolean, not string");
    assert_refused("{'maxLength':-1}", "maxLength: must be a non-negative integer");
    assert_refused("{'minItems':1.5}", "minItems: must be a non-negative integer");
    assert_refused("{'minimum':'1'}", "minimum: must be a number");
    assert_refused("{'anyOf':[{},{'not':3}]}", "anyOf[1].not: must be of type object, not integer");
    assert_refused("{'items':[{}]}", "items: must be of type object, not array");
    assert_refused("[]", "must be an object");
}

static void null_keywords_count_as_absent(void **state)
{
    (void)state;
    kc_auto(kc_schema) *s = schema_of("{'type':null,'properties':null,'maxLength':null,"
                                      "'default':null,'anyOf':null,'additionalProperties':null}");
    assert_string_equal(kc_schema_type(s), "");
    assert_null(kc_schema_default_value(s));
}

static void unknown_values_fail_and_unknown_keywords_are_ignored(void **state)
{
    (void)state;
    assert_refused("{'type':'text'}", "type: unsupported value \"text\"");
    assert_refused("{'x-kubernetes-list-type':'bag'}",
                   "x-kubernetes-list-type: unsupported value \"bag\"");
    kc_auto(kc_schema) *s = schema_of("{'x-mine':{'type':5},'externalDocs':{}}");
    assert_non_null(s);
}

static void reference_without_definitions_fails(void **state)
{
    (void)state;
    assert_refused("{'properties':{'a':{'$ref':'#/definitions/A'}}}",
                   "properties[a].$ref: $ref is not supported");
}

static void invalid_pattern_fails_with_reason(void **state)
{
    (void)state;
    assert_refused("{'properties':{'a':{'pattern':'a('}}}",
                   "properties[a].pattern: must be a valid regular expression, but isn't: error "
                   "parsing regexp: missing closing ): `a(`");
}

static void schema_beyond_node_limit_fails(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *view = view_of("{'properties':{'a':{},'b':{},'c':{}}}");
    assert_null(kc_schema_compile(kc_view_root(view), &(kc_schema_opts){.max_nodes = 3}, &err));
    assert_error(&err, KC_INVALID, "the schema has more than 3 parts");
    kc_auto(kc_schema) *s =
        kc_schema_compile(kc_view_root(view), &(kc_schema_opts){.max_nodes = 4}, NULL);
    assert_non_null(s);
}

static void pattern_beyond_limit_fails(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "{'pattern':'");
    for (int i = 0; i < 20000; i++)
        kc_buf_putc(&text, 'a');
    kc_buf_puts(&text, "'}");
    assert_refused(kc_buf_cstr(&text), "it has 20000 bytes: limit is 16384");
}

static void unknown_fields_of_default_are_pruned(void **state)
{
    (void)state;
    kc_auto(kc_schema) *s = schema_of("{'properties':{'a':{'type':'object','default':{'x':1,'y':2},"
                                      "'properties':{'x':{'type':'integer'}}}}}");
    assert_value_json(kc_schema_default_value(field(s, "a")), "{'x':1}");
}

static void root_is_reference_counted(void **state)
{
    (void)state;
    kc_auto(kc_schema) *first = schema_of("{'type':'string'}");
    kc_auto(kc_schema) *second = kc_schema_ref(first);
    first = kc_schema_unref(first);
    assert_null(first);
    assert_string_equal(kc_schema_type(second), "string");
    assert_null(kc_schema_ref(NULL));
}

static void *validate_many(void *user)
{
    kc_auto(kc_view) *good = view_of("{'a':'abc'}");
    kc_auto(kc_view) *bad = view_of("{'a':'ABC'}");
    for (int i = 0; i < 200; i++) {
        kc_scoped(kc_field_errors) errors = {0};
        assert_true(kc_schema_validate(user, kc_view_root(good), NULL, &errors));
        assert_false(kc_schema_validate(user, kc_view_root(bad), NULL, &errors));
    }
    return NULL;
}

/* The number of names whose first slot has another name. */
static size_t count_displaced(const kc__schema_property_table *table)
{
    const uint16_t *slots = (const uint16_t *)(table->rows + table->n);
    size_t displaced = 0;
    for (uint32_t i = 0; i < table->n; i++)
        displaced += slots[table->rows[i].hash & table->mask] != i + 1;
    return displaced;
}

static void each_name_of_a_small_table_has_a_slot_of_its_own(void **state)
{
    (void)state;
    enum { MOST = 12 };
    for (int n = 1; n <= MOST; n++) {
        kc_scoped(kc_buf) json = {0};
        kc_buf_puts(&json, "{'properties':{");
        for (int i = 0; i < n; i++)
            kc_buf_printf(&json, "%s'name%d':{'type':'string'}", i ? "," : "", i);
        kc_buf_puts(&json, "}}");
        kc_auto(kc_schema) *s = schema_of(kc_buf_cstr(&json));
        assert_int_equal(s->fields->n, n);
        assert_int_equal(count_displaced(s->fields), 0);
    }
}

static void every_name_of_a_large_table_is_found(void **state)
{
    (void)state;
    kc_scoped(kc_buf) json = {0};
    kc_buf_puts(&json, "{'properties':{");
    for (int i = 0; i < 1000; i++)
        kc_buf_printf(&json, "%s'name%d':{'type':'string'}", i ? "," : "", i);
    kc_buf_puts(&json, "}}");
    kc_auto(kc_schema) *s = schema_of(kc_buf_cstr(&json));
    for (int i = 0; i < 1000; i++) {
        kc_autofree char *name = kc_asprintf("name%d", i);
        kc_autofree char *absent = kc_asprintf("nAme%d", i);
        assert_non_null(field(s, name));
        assert_null(field(s, absent));
    }
}

static void threads_share_a_schema(void **state)
{
    (void)state;
    kc_auto(kc_schema) *s =
        schema_of("{'properties':{'a':{'type':'string','pattern':'^[a-z]+$'}}}");
    pthread_t threads[4];
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, validate_many, s), 0);
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        pthread_join(threads[i], NULL);
}

TESTS(compiled_schema_can_be_inspected, properties_are_iterated,
      patch_strategy_and_key_are_compiled, cel_rules_are_kept_unchanged, values_outlive_source_text,
      equal_parts_are_stored_once, compiled_crd_takes_kilobytes, error_names_keyword_of_wrong_type,
      null_keywords_count_as_absent, unknown_values_fail_and_unknown_keywords_are_ignored,
      reference_without_definitions_fails, invalid_pattern_fails_with_reason,
      schema_beyond_node_limit_fails, pattern_beyond_limit_fails,
      unknown_fields_of_default_are_pruned, root_is_reference_counted,
      each_name_of_a_small_table_has_a_slot_of_its_own, every_name_of_a_large_table_is_found,
      threads_share_a_schema)
