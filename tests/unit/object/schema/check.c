/* SPDX-License-Identifier: Apache-2.0 */
#include "schema_testing.h"

static void kc__assert_checked(const char *json, const kc_schema_check_opts *opts,
                               const char *expected, const char *file, int line)
{
    kc_auto(kc_view) *view = view_of(json);
    kc_scoped(kc_field_errors) errors = {0};
    bool ok = kc_schema_check(kc_view_root(view), opts, &errors);
    kc_autofree char *lines = lines_of(&errors);
    kc__assert_str(kc_cstr(lines), expected, file, line);
    assert_int_equal(ok, errors.list.n == 0);
}

#define assert_checked(json, expected) \
    kc__assert_checked(json, &(kc_schema_check_opts){.base = "s"}, expected, __FILE__, __LINE__)
#define OBJECT(rest)  "{'type':'object'," rest "}"
#define FIELD(schema) OBJECT("'properties':{'f':" schema "}")

static void structural_schema_is_valid(void **state)
{
    (void)state;
    assert_checked(
        OBJECT(
            "'properties':{'metadata':{'type':'object','properties':{'name':{'type':'string',"
            "'maxLength':5}}},'spec':{'type':'object','required':['a'],'properties':{'a':{"
            "'type':'string','default':'x'},'p':{'x-kubernetes-int-or-string':true,'anyOf':[{"
            "'type':'integer'},{'type':'string'}]},'q':{'x-kubernetes-int-or-string':true,"
            "'allOf':[{'anyOf':[{'type':'integer'},{'type':'string'}]},{'maxLength':3}]},"
            "'l':{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':["
            "'k'],'items':{'type':'object','required':['k'],'properties':{'k':{'type':'string'}}"
            "}},'raw':{'x-kubernetes-preserve-unknown-fields':true}},'anyOf':[{'required':['a']},"
            "{'properties':{'a':{'minLength':1}}}]}}"),
        "");
}

static void paths_start_at_schema_of_crd(void **state)
{
    (void)state;
    kc__assert_checked(
        OBJECT("'properties':{'spec':{'properties':{}}}"), NULL,
        "spec.validation.openAPIV3Schema.properties[spec].type: Required value: must "
        "not be empty for specified object fields",
        __FILE__, __LINE__);
}

static void types_are_required_everywhere(void **state)
{
    (void)state;
    assert_checked("{}", "s.type: Required value: must not be empty at the root");
    assert_checked("{'type':'array','items':{}}",
                   "s.items.type: Required value: must not be empty for specified array items\n"
                   "s.type: Invalid value: \"array\": must be object at the root");
    assert_checked(FIELD("{'type':'array'}"),
                   "s.properties[f].items: Required value: must be specified");
    assert_checked(
        FIELD("{'type':'text'}"),
        "s.properties[f].type: Unsupported value: \"text\": supported values: \"array\", "
        "\"boolean\", \"integer\", \"number\", \"object\", \"string\"");
}

static void structure_in_branches_is_forbidden(void **state)
{
    (void)state;
    assert_checked(
        FIELD("{'type':'string','oneOf':[{'type':'string','nullable':true,'description':'d',"
              "'default':'x','x-kubernetes-int-or-string':true,'additionalProperties':true}]}"),
        "s.properties[f].oneOf[0].additionalProperties: Forbidden: must be undefined to be "
        "structural\n"
        "s.properties[f].oneOf[0].default: Forbidden: must be undefined to be structural\n"
        "s.properties[f].oneOf[0].description: Forbidden: must be empty to be structural\n"
        "s.properties[f].oneOf[0].nullable: Forbidden: must be false to be structural\n"
        "s.properties[f].oneOf[0].type: Forbidden: must be empty to be structural\n"
        "s.properties[f].oneOf[0].x-kubernetes-int-or-string: Forbidden: must be false to be "
        "structural");
}

static void branches_may_restrict_only_existing_fields(void **state)
{
    (void)state;
    assert_checked(FIELD("{'type':'object','not':{'properties':{'x':{'items':{'minLength':1}}}}}"),
                   "");
    assert_checked(OBJECT("'not':{'properties':{'x':{'minLength':1}}}"),
                   "s.properties[x]: Required value: because it is defined in s.not.properties[x]");
    assert_checked(OBJECT("'properties':{'x':{'type':'string'}},'allOf':[{'properties':{'x':{"
                          "'items':{'minLength':1}}}}]"),
                   "s.properties[x].items: Required value: because it is defined in "
                   "s.allOf[0].properties[x].items");
}

static void metadata_of_root_may_not_be_specified(void **state)
{
    (void)state;
    assert_checked(OBJECT("'properties':{'metadata':{'type':'object','description':'d'}}"),
                   "s.properties[metadata]: Forbidden: must not specify anything other than name "
                   "and generateName, but metadata is implicitly specified");
    assert_checked(OBJECT("'properties':{'metadata':{'type':'string'},'kind':{'type':'integer'}}"),
                   "s.properties[kind].type: Invalid value: \"integer\": must be string\n"
                   "s.properties[metadata].type: Invalid value: \"string\": must be object");
    assert_checked(OBJECT("'anyOf':[{'properties':{'metadata':{}}}],"
                          "'properties':{'metadata':{'type':'object'}}"),
                   "s.anyOf[0].properties[metadata]: Forbidden: must not be specified in a nested "
                   "context");
}

static void embedded_resources_must_be_objects(void **state)
{
    (void)state;
    assert_checked(FIELD("{'type':'object','x-kubernetes-embedded-resource':true}"),
                   "s.properties[f].properties: Required value: must not be empty if "
                   "x-kubernetes-embedded-resource is true without "
                   "x-kubernetes-preserve-unknown-fields");
    assert_checked(FIELD("{'type':'string','x-kubernetes-embedded-resource':true,"
                         "'x-kubernetes-preserve-unknown-fields':true}"),
                   "s.properties[f].type: Invalid value: \"string\": must be object if "
                   "x-kubernetes-embedded-resource is true");
    assert_checked(
        FIELD("{'x-kubernetes-int-or-string':true,"
              "'x-kubernetes-preserve-unknown-fields':true}"),
        "s.properties[f].x-kubernetes-preserve-unknown-fields: Invalid value: true: must "
        "be false if x-kubernetes-int-or-string is true");
}

static void unsupported_keywords_are_errors(void **state)
{
    (void)state;
    assert_checked(FIELD("{'type':'string','$ref':'#/x'}"),
                   "s.properties[f].$ref: Forbidden: $ref is not supported");
    assert_checked(
        FIELD("{'type':'array','items':{'type':'string'},'uniqueItems':true}"),
        "s.properties[f].uniqueItems: Forbidden: uniqueItems cannot be set to true since "
        "the runtime complexity becomes quadratic");
    assert_checked(FIELD("{'type':'object','properties':{'a':{'type':'string'}},"
                         "'additionalProperties':{'type':'string'}}"),
                   "s.properties[f].additionalProperties: Forbidden: additionalProperties and "
                   "properties are mutual exclusive");
    assert_checked(OBJECT("'additionalProperties':true"),
                   "s.additionalProperties: Forbidden: must not be used at the root");
    assert_checked(OBJECT("'nullable':true"),
                   "s.nullable: Forbidden: nullable cannot be true at the root");
    assert_checked(OBJECT("'$schema':'x'"),
                   "s: Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported");
    assert_checked(FIELD("{'x-kubernetes-preserve-unknown-fields':false,'type':'object'}"),
                   "s.properties[f].x-kubernetes-preserve-unknown-fields: Invalid value: false: "
                   "must be true or undefined");
}

static void invalid_pattern_is_an_error(void **state)
{
    (void)state;
    assert_checked(FIELD("{'type':'string','pattern':'['}"),
                   "s.properties[f].pattern: Invalid value: \"[\": must be a valid regular "
                   "expression, but isn't: error parsing regexp: missing closing ]: `[`");
}

static void defaults_must_be_valid_and_pruned(void **state)
{
    (void)state;
    assert_checked(FIELD("{'type':'integer','default':'x'}"),
                   "s.properties[f].default: Invalid value: \"string\":  in body must be of type "
                   "integer: \"string\"");
    assert_checked(FIELD("{'type':'object','default':{'a':1,'b':{'c':200}},'properties':{'b':{"
                         "'type':'object','properties':{'c':{'type':'integer','maximum':9}}}}}"),
                   "s.properties[f].default: Invalid value: {\"a\":1,\"b\":{\"c\":200}}: must not "
                   "have unknown fields\n"
                   "s.properties[f].default.b.c: Invalid value: 200: b.c in body should be less "
                   "than or equal to 9");
    assert_checked(OBJECT("'properties':{'kind':{'type':'string','default':'X'}}"),
                   "s.properties[kind].default: Forbidden: must not be set in top-level kind");
}

static void list_types_must_match_their_items(void **state)
{
    (void)state;
    assert_checked(FIELD("{'type':'object','x-kubernetes-list-type':'bag'}"),
                   "s.properties[f].type: Invalid value: \"object\": must be array if "
                   "x-kubernetes-list-type is specified\n"
                   "s.properties[f].x-kubernetes-list-type: Unsupported value: \"bag\": supported "
                   "values: \"atomic\", \"set\", \"map\"");
    assert_checked(FIELD("{'type':'array','x-kubernetes-list-type':'set','items':{'type':'object',"
                         "'nullable':true}}"),
                   "s.properties[f].items.x-kubernetes-map-type: Invalid value: null: must be "
                   "atomic as item of a list with x-kubernetes-list-type=set\n"
                   "s.properties[f].items.nullable: Forbidden: cannot be nullable when "
                   "x-kubernetes-list-type is set");
    assert_checked(
        FIELD("{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['a',"
              "'b','b'],'items':{'type':'object','properties':{'b':{'type':'string'}}}}"),
        "s.properties[f].x-kubernetes-list-map-keys: Invalid value: [\"a\",\"b\",\"b\"]: entries "
        "must all be names of item properties\n"
        "s.properties[f].x-kubernetes-list-map-keys: Invalid value: [\"a\",\"b\",\"b\"]: must not "
        "contain duplicate entries\n"
        "s.properties[f].items.properties[b].default: Required value: this property is in "
        "x-kubernetes-list-map-keys, so it must have a default or be a required property\n"
        "s.properties[f].items.properties[b].default: Required value: this property is in "
        "x-kubernetes-list-map-keys, so it must have a default or be a required property");
    assert_checked(FIELD("{'type':'string','x-kubernetes-map-type':'odd'}"),
                   "s.properties[f].type: Invalid value: \"string\": must be object if "
                   "x-kubernetes-map-type is specified\n"
                   "s.properties[f].x-kubernetes-map-type: Unsupported value: \"odd\": supported "
                   "values: \"atomic\", \"granular\"");
}

static void form_of_cel_rules_is_checked(void **state)
{
    (void)state;
    assert_checked(
        OBJECT("'x-kubernetes-validations':[{'rule':' '},{'rule':'a\\nb'},{'rule':'a','message':"
               "' ','reason':'Odd','fieldPath':' '}]"),
        "s.x-kubernetes-validations[0].rule: Required value: rule is not specified\n"
        "s.x-kubernetes-validations[1].message: Required value: message must be specified if rule "
        "contains line breaks\n"
        "s.x-kubernetes-validations[2].message: Invalid value: \" \": must be non-empty if "
        "specified\n"
        "s.x-kubernetes-validations[2].reason: Unsupported value: \"Odd\": supported values: "
        "\"FieldValueDuplicate\", \"FieldValueForbidden\", \"FieldValueInvalid\", "
        "\"FieldValueRequired\"\n"
        "s.x-kubernetes-validations[2].fieldPath: Invalid value: \" \": must be non-empty if "
        "specified\n"
        "s.x-kubernetes-validations[2].fieldPath: Invalid value: \" \": must be a valid path");
}

static void status_subresource_restricts_the_root(void **state)
{
    (void)state;
    kc_auto(kc_view) *view = view_of(OBJECT("'maxProperties':3"));
    kc_scoped(kc_field_errors) errors = {0};
    assert_true(kc_schema_check(kc_view_root(view), NULL, &errors));
    assert_false(kc_schema_check(kc_view_root(view),
                                 &(kc_schema_check_opts){.status_subresource = true}, &errors));
    assert_contains(errors.list.items[0].body, "fields are allowed at the root of the schema if "
                                               "the status subresource is enabled");
}

static void schema_that_does_not_compile_is_an_error(void **state)
{
    (void)state;
    assert_checked(
        FIELD("{'type':'string','maxLength':'5'}"),
        "s: Invalid value: \"\": error building validator: properties[f].maxLength: must "
        "be a non-negative integer");
}

static void long_schemas_are_checked_in_linear_time(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "{'type':'object','properties':{");
    for (int i = 0; i < 20000; i++)
        kc_buf_printf(&text, "%s'p%d':{'type':'string'}", i ? "," : "", i);
    kc_buf_puts(&text, "},'allOf':[{'properties':{");
    for (int i = 0; i < 20000; i++)
        kc_buf_printf(&text, "%s'p%d':{'maxLength':9}", i ? "," : "", i);
    kc_buf_puts(&text, "}}]}");
    assert_checked(kc_buf_cstr(&text), "");
}

TESTS(structural_schema_is_valid, paths_start_at_schema_of_crd, types_are_required_everywhere,
      structure_in_branches_is_forbidden, branches_may_restrict_only_existing_fields,
      metadata_of_root_may_not_be_specified, embedded_resources_must_be_objects,
      unsupported_keywords_are_errors, invalid_pattern_is_an_error,
      defaults_must_be_valid_and_pruned, list_types_must_match_their_items,
      form_of_cel_rules_is_checked, status_subresource_restricts_the_root,
      schema_that_does_not_compile_is_an_error, long_schemas_are_checked_in_linear_time)
