/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static const cel_setup patches = {.env = {.with_patches = true}, .json = "{'a':1,'k':'x/y~z'}"};

static void keys_of_patches_are_escaped(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"jsonpatch.escapeKey('a/b~c')", "\"a~1b~0c\"", 1},
        {"'/metadata/labels/' + jsonpatch.escapeKey(self.k)", "\"/metadata/labels/x~1y~0z\""},
    };
    ASSERT_CEL(&patches, rows);
}

static void constructed_objects_are_checked(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"Object{}.x", "error: no such key: x"},
        {"Object{spec: Object.spec{replicas: 3}}.spec.replicas", "3"},
        {"Object{a: 1} == Object{a: 1}", "true"},
        {"Object{?a: optional.none()} == Object{}", "true"},
        {"JSONPatch{op: 'add', path: '/a', value: self.a}.op", "\"add\""},
        {"[JSONPatch{op: 'add'}, JSONPatch{op: 'remove'}].map(p, p.op)", "[\"add\", \"remove\"]"},
        {"JSONPatch{op: 1}",
         "ERROR: <input>:1:13: expected type of field 'op' is 'string' but provided type is 'int'\n "
         "| JSONPatch{op: 1}\n | ............^"},
        {"JSONPatch{none: 1}",
         "ERROR: <input>:1:15: expected type of field 'none' is '' but provided type is 'int'\n | JSONPatch{none: 1}\n | ..............^"},
        {"Objects{}",
         "ERROR: <input>:1:8: undeclared reference to 'Objects' (in container '')\n | Objects{}\n | "
         ".......^"},
    };
    ASSERT_CEL(&patches, rows);
}

static void patch_types_exist_on_demand_only(void **state)
{
    (void)state;
    static const cel_setup plain = {0};
    static const cel_row rows[] = {
        {"Object{}",
         "ERROR: <input>:1:7: undeclared reference to 'Object' (in container '')\n | Object{}\n | "
         "......^"},
        {"jsonpatch.escapeKey('a')",
         "ERROR: <input>:1:1: undeclared reference to 'jsonpatch' (in container '')\n | "
         "jsonpatch.escapeKey('a')\n | ^\nERROR: <input>:1:20: undeclared reference to 'escapeKey' "
         "(in container '')\n | jsonpatch.escapeKey('a')\n | ...................^"},
    };
    ASSERT_CEL(&plain, rows);
}

/* JSON of a constructed value, and the result of the check of names. */
static void assert_constructed(const char *expression, const char *json, const char *names)
{
    kc_auto(kc_cel_env) *env = kc_cel_env_new(&patches.env);
    kc_scoped(kc_cel_errors) errors = {0};
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_buf) text = {0}, why = {0};
    kc_auto(kc_cel_program) *program = kc_cel_compile(env, kc_cstr(expression), NULL, &errors);
    assert_non_null(program);
    kc_cel_value value;
    assert_int_equal(
        kc_cel_evaluate(program, NULL, &(kc_cel_eval_opts){.arena = &arena}, &value, NULL), 0);
    assert_true(kc_cel_write_json(value, &text));
    assert_string_equal(kc_buf_cstr(&text), json);
    assert_int_equal(kc_cel_check_object_names(value, &why), !*names);
    assert_string_equal(kc_buf_cstr(&why), names);
}

static void constructed_objects_become_json(void **state)
{
    (void)state;
    assert_constructed("Object{spec: Object.spec{containers: [Object.spec.containers{name: 'a'}]}}",
                       "{\"spec\":{\"containers\":[{\"name\":\"a\"}]}}", "");
    assert_constructed("Object{metadata: Object.metadata{labels: {'a': 'b'}}}",
                       "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}", "");
    assert_constructed("Object{spec: Object.other{}}", "{\"spec\":{}}",
                       "unexpected type name \"Object.other\", expected \"Object.spec\", which "
                       "matches field name path from root Object type");
    assert_constructed("[JSONPatch{op: 'add', path: '/x', value: Object{a: 1}}]",
                       "[{\"op\":\"add\",\"path\":\"/x\",\"value\":{\"a\":1}}]", "");
}

static void construction_costs_as_in_kubernetes(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"Object{a: 1}.a", "1", 42},
        {"JSONPatch{op: 'add'}.op", "\"add\"", 42},
    };
    ASSERT_CEL(&patches, rows);
}

TESTS(keys_of_patches_are_escaped, constructed_objects_are_checked,
      patch_types_exist_on_demand_only, constructed_objects_become_json,
      construction_costs_as_in_kubernetes)
