/* SPDX-License-Identifier: Apache-2.0 */
#include "schema_testing.h"

static kc_schema_defs *defs_of(const char *json)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *view = view_of(json);
    kc_schema_defs *defs = kc_schema_defs_compile(kc_view_root(view), NULL, &err);
    if (!defs)
        fail_msg("%s: %s", json, kc_error_text(&err));
    return defs;
}

static void references_share_their_definition(void **state)
{
    (void)state;
    kc_auto(kc_schema_defs) *defs =
        defs_of("{'A':{'properties':{'c':{'$ref':'#/definitions/C'}}},"
                "'B':{'properties':{'c':{'$ref':'#/components/schemas/C','description':'text'}}},"
                "'C':{'type':'string'}}");
    const kc_schema *c = kc_schema_defs_get(defs, KC_STR("C"));
    assert_ptr_equal(kc_schema_field(kc_schema_defs_get(defs, KC_STR("A")), KC_STR("c")), c);
    assert_ptr_equal(kc_schema_field(kc_schema_defs_get(defs, KC_STR("B")), KC_STR("c")), c);
    assert_null(kc_schema_defs_get(defs, KC_STR("D")));
}

static void recursive_definitions_validate_prune_and_default(void **state)
{
    (void)state;
    kc_auto(kc_schema_defs) *defs =
        defs_of("{'Props':{'type':'object','properties':{'type':{'type':'string','default':'any'},"
                "'items':{'$ref':'#/definitions/Props'},'properties':{'type':'object',"
                "'additionalProperties':{'$ref':'#/definitions/Props'}}}}}");
    const kc_schema *props = kc_schema_defs_get(defs, KC_STR("Props"));
    kc_auto(kc_view) *value = view_of("{'items':{'properties':{'p':{'items':{'type':1}}}}}");
    kc_scoped(kc_field_errors) errors = {0};
    assert_false(kc_schema_validate(props, kc_view_root(value), NULL, &errors));
    assert_string_equal(errors.list.items[0].field, "items.properties.p.items.type");

    kc_auto(kc_edit) *edit = edit_of("{'items':{'items':{'x':1}}}");
    kc_schema_prune(props, edit, &(kc_schema_walk_opts){.fragment = true});
    assert_int_equal(kc_schema_default(props, edit, NULL, NULL), 0);
    assert_node_json(kc_edit_root(edit),
                     "{'items':{'items':{'type':'any'},'type':'any'},'type':'any'}");
}

static void reference_with_own_keywords_extends_target(void **state)
{
    (void)state;
    kc_auto(kc_schema_defs) *defs =
        defs_of("{'Pod':{'properties':{'spec':{'allOf':[{'$ref':'#/components/schemas/Spec'}],"
                "'default':{},'description':'d'},'volumes':{'$ref':'#/definitions/List',"
                "'x-kubernetes-patch-strategy':'merge','x-kubernetes-patch-merge-key':'name'}}},"
                "'Spec':{'type':'object','properties':{'n':{'type':'integer'}},'required':['n']},"
                "'List':{'type':'array','items':{'$ref':'#/definitions/Spec'}}}");
    const kc_schema *pod = kc_schema_defs_get(defs, KC_STR("Pod"));
    const kc_schema *spec = kc_schema_field(pod, KC_STR("spec"));
    const kc_schema *volumes = kc_schema_field(pod, KC_STR("volumes"));
    assert_string_equal(kc_schema_type(spec), "object");
    assert_value_json(kc_schema_default_value(spec), "{}");
    assert_null(kc_schema_default_value(kc_schema_defs_get(defs, KC_STR("Spec"))));
    assert_true(kc_schema_requires(spec, KC_STR("n")));
    assert_str(kc_schema_patch_merge_key(volumes), "name");
    assert_int_equal(kc_schema_patch_strategy(volumes), KC_STRATEGY_MERGE);
    assert_ptr_equal(kc_schema_items(volumes), kc_schema_defs_get(defs, KC_STR("Spec")));

    kc_auto(kc_view) *value = view_of("{'spec':{},'volumes':[{'n':1},{'n':'x'}]}");
    kc_scoped(kc_field_errors) errors = {0};
    kc_schema_validate(pod, kc_view_root(value), NULL, &errors);
    kc_autofree char *lines = lines_of(&errors);
    assert_string_equal(lines, "spec.n: Required value\n"
                               "volumes[1].n: Invalid value: \"string\": volumes[1].n in body must "
                               "be of type integer: \"string\"");
}

static void definition_may_be_alias_of_another(void **state)
{
    (void)state;
    kc_auto(kc_schema_defs) *defs =
        defs_of("{'A':{'$ref':'#/definitions/B'},'B':{'$ref':'#/definitions/C','nullable':true},"
                "'C':{'type':'string'}}");
    assert_string_equal(kc_schema_type(kc_schema_defs_get(defs, KC_STR("A"))), "string");
    assert_true(kc_schema_nullable(kc_schema_defs_get(defs, KC_STR("A"))));
    assert_false(kc_schema_nullable(kc_schema_defs_get(defs, KC_STR("C"))));
}

static void schema_keeps_its_definitions_alive(void **state)
{
    (void)state;
    kc_auto(kc_schema_defs) *defs = defs_of("{'Meta':{'type':'object','properties':{'name':{"
                                            "'type':'string'}}}}");
    kc_auto(kc_view) *view =
        view_of("{'type':'object','properties':{'metadata':{'$ref':'#/definitions/Meta'}}}");
    kc_auto(kc_schema) *schema =
        kc_schema_compile(kc_view_root(view), &(kc_schema_opts){.defs = defs}, NULL);
    defs = kc_schema_defs_unref(defs);
    const kc_schema *meta = kc_schema_field(schema, KC_STR("metadata"));
    assert_string_equal(kc_schema_type(kc_schema_field(meta, KC_STR("name"))), "string");
}

static void dangling_references_fail(void **state)
{
    (void)state;
    static const struct {
        const char *json, *why;
    } cases[] = {
        {"{'A':{'items':{'$ref':'#/definitions/B'}}}",
         "A.items.$ref: unknown definition \"#/definitions/B\""},
        {"{'A':{'$ref':'http://elsewhere/A'}}", "unknown definition"},
        {"{'A':{'$ref':'#/definitions/A'}}", "a $ref leads back to itself"},
        {"{'A':{'$ref':'#/definitions/B'},'B':{'$ref':'#/definitions/A'}}",
         "a $ref leads back to itself"},
        {"[]", "definitions must be an object"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc_error) err = {0};
        kc_auto(kc_view) *view = view_of(cases[i].json);
        assert_null(kc_schema_defs_compile(kc_view_root(view), NULL, &err));
        assert_error(&err, KC_INVALID, cases[i].why);
    }
}

TESTS(references_share_their_definition, recursive_definitions_validate_prune_and_default,
      reference_with_own_keywords_extends_target, definition_may_be_alias_of_another,
      schema_keeps_its_definitions_alive, dangling_references_fail)
