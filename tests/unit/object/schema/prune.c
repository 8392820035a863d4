/* SPDX-License-Identifier: Apache-2.0 */
#include "schema_testing.h"

/* Prunes, and checks that the read-only variants agree with the result. */
static void kc__assert_pruned(const char *schema_json, const char *value_json, bool fragment,
                              const char *expected, const char *paths_expected, const char *file,
                              int line)
{
    kc_auto(kc_schema) *schema = schema_of(schema_json);
    kc_auto(kc_view) *value = view_of(value_json);
    kc_auto(kc_edit) *edit = edit_of(value_json);
    kc_scoped(kc_buf) before = {0};
    kc_scoped(kc_buf) after = {0};
    kc_scoped(kc_buf) joined = {0};
    kc_scoped(kc_paths) paths = {0};
    kc_schema_walk_opts opts = {.fragment = fragment};
    kc_node_write(&before, kc_edit_root(edit));
    kc_schema_prune(schema, edit, &opts);
    kc_node_write(&after, kc_edit_root(edit));
    kc__assert_node_json(kc_edit_root(edit), expected, file, line);
    assert_int_equal(kc_schema_would_prune(schema, kc_view_root(value), &opts),
                     !kc_str_eq(kc_buf_str(&before), kc_buf_str(&after)));
    kc_schema_unknown(schema, kc_view_root(value), &(kc_schema_unknown_opts){.fragment = fragment},
                      &paths);
    kc_vec_each (&paths, path)
        kc_buf_printf(&joined, "%s%s", joined.n ? " " : "", *path);
    kc__assert_str(kc_buf_str(&joined), paths_expected, file, line);
}

#define assert_pruned(schema, value, expected, paths) \
    kc__assert_pruned(schema, value, false, expected, paths, __FILE__, __LINE__)
#define assert_fragment_pruned(schema, value, expected, paths) \
    kc__assert_pruned(schema, value, true, expected, paths, __FILE__, __LINE__)

#define SPEC(schema) "{'type':'object','properties':{'spec':" schema "}}"

static void unknown_fields_are_removed_at_any_depth(void **state)
{
    (void)state;
    assert_pruned(SPEC("{'type':'object','properties':{'list':{'type':'array','items':{'type':"
                       "'object','properties':{'a':{'type':'string'}}}}}}"),
                  "{'z':1,'spec':{'b':2,'list':[{'a':'x'},{'a':'y','c':3}]}}",
                  "{'spec':{'list':[{'a':'x'},{'a':'y'}]}}", "spec.b spec.list[1].c z");
}

static void known_fields_of_any_type_stay(void **state)
{
    (void)state;
    assert_pruned(SPEC("{'type':'integer'}"), "{'spec':'text'}", "{'spec':'text'}", "");
    assert_pruned(SPEC("{'type':'integer'}"), "{'spec':[{'a':1}]}", "{'spec':[{}]}", "spec[0].a");
}

static void metadata_of_an_object_is_never_unknown(void **state)
{
    (void)state;
    assert_pruned("{'type':'object'}", "{'apiVersion':'v1','kind':'X','metadata':{'any':1},'a':1}",
                  "{'apiVersion':'v1','kind':'X','metadata':{'any':1}}", "a");
    assert_fragment_pruned("{'type':'object'}", "{'kind':'X','a':1}", "{}", "a");
    assert_fragment_pruned(SPEC("{'type':'object'}"), "{'spec':{'kind':'X'}}", "{'spec':{}}",
                           "spec.kind");
}

static void embedded_resources_keep_their_metadata(void **state)
{
    (void)state;
    assert_pruned(SPEC("{'type':'object','x-kubernetes-embedded-resource':true,'properties':{"
                       "'spec':{'type':'object'}}}"),
                  "{'spec':{'kind':'Pod','metadata':{'x':1},'spec':{'y':1},'status':{}}}",
                  "{'spec':{'kind':'Pod','metadata':{'x':1},'spec':{}}}",
                  "spec.spec.y spec.status");
}

static void preserving_objects_keep_unknown_fields(void **state)
{
    (void)state;
    assert_pruned(SPEC("{'type':'object','x-kubernetes-preserve-unknown-fields':true,'properties':{"
                       "'known':{'type':'object','properties':{'a':{'type':'string'}}}}}"),
                  "{'spec':{'free':{'b':[{'c':1}]},'known':{'a':'x','d':1}}}",
                  "{'spec':{'free':{'b':[{'c':1}]},'known':{'a':'x'}}}", "spec.known.d");
}

static void elements_of_a_preserved_list_are_preserved(void **state)
{
    (void)state;
    assert_pruned(SPEC("{'type':'array','x-kubernetes-preserve-unknown-fields':true,'items':{"
                       "'type':'object','properties':{'a':{'type':'object'}}}}"),
                  "{'spec':[{'x':1,'a':{'y':2}}]}", "{'spec':[{'x':1,'a':{}}]}", "spec[0].a.y");
}

static void maps_keep_their_keys(void **state)
{
    (void)state;
    assert_pruned(SPEC("{'type':'object','additionalProperties':{'type':'object','properties':{"
                       "'a':{'type':'string'}}}}"),
                  "{'spec':{'k':{'a':'x','b':1}}}", "{'spec':{'k':{'a':'x'}}}", "spec.k.b");
    assert_pruned(SPEC("{'type':'object','additionalProperties':true}"), "{'spec':{'k':{'b':1}}}",
                  "{'spec':{'k':{}}}", "spec.k.b");
}

static void required_name_without_property_is_unknown(void **state)
{
    (void)state;
    assert_pruned(SPEC("{'type':'object','required':['a']}"), "{'spec':{'a':1}}", "{'spec':{}}",
                  "spec.a");
}

static void null_schema_knows_no_field(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit = edit_of("{'kind':'X','a':1}");
    kc_schema_prune(NULL, edit, NULL);
    assert_node_json(kc_edit_root(edit), "{'kind':'X'}");
}

static void unknown_fields_are_listed_in_order_up_to_limit(void **state)
{
    (void)state;
    kc_auto(kc_schema) *schema = schema_of("{'type':'object'}");
    kc_auto(kc_view) *value = view_of("{'c':1,'b':1,'a':1}");
    kc_scoped(kc_paths) paths = {0};
    size_t n = kc_schema_unknown(schema, kc_view_root(value),
                                 &(kc_schema_unknown_opts){.in_order = true, .limit = 2}, &paths);
    assert_int_equal(n, 3);
    assert_int_equal(paths.n, 2);
    assert_string_equal(paths.items[0], "c");
    assert_string_equal(paths.items[1], "b");
}

static void many_unknown_fields_are_pruned_in_linear_time(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    for (int i = 0; i < 100000; i++)
        kc_buf_printf(&text, "%c'f%d':1", i ? ',' : '{', i);
    kc_buf_putc(&text, '}');
    assert_pruned("{'type':'object','properties':{'f77777':{'type':'integer'}}}",
                  kc_buf_cstr(&text), "{'f77777':1}",
                  "f0 f1 f10 f11 f12 f13 f14 f15 f16 f17 f18 f19 f2 f20 f21 f22 f23 f24 f25 f26 "
                  "f27 f28 f29 f3 f30 f31 f32 f33 f34 f35 f36 f37 f38 f39 f4 f40 f41 f42 f43 f44 "
                  "f45 f46 f47 f48 f49 f5 f50 f51 f52 f53 f54 f55 f56 f57 f58 f59 f6 f60 f61 f62 "
                  "f63 f64 f65 f66 f67 f68 f69 f7 f70 f71 f72 f73 f74 f75 f76 f77 f78 f79 f8 f80 "
                  "f81 f82 f83 f84 f85 f86 f87 f88 f89 f9 f90 f91 f92 f93 f94 f95 f96 f97 f98 "
                  "f99");
}

static void meaningless_nulls_are_removed(void **state)
{
    (void)state;
    kc_auto(kc_schema) *schema = schema_of(
        SPEC("{'type':'object','properties':{'a':{'type':'string'},'b':{'type':'string',"
             "'nullable':true},'c':{'type':'string','default':'x'},'l':{'type':'array','items':{"
             "'type':'object','properties':{'a':{'type':'string'}}}}},"
             "'x-kubernetes-preserve-unknown-fields':true}"));
    const char *text =
        "{'spec':{'a':null,'b':null,'c':null,'l':[null,{'a':null,'z':null}],'z':null},'q':null}";
    kc_auto(kc_view) *value = view_of(text);
    kc_auto(kc_edit) *edit = edit_of(text);
    assert_true(kc_schema_would_drop_nulls(schema, kc_view_root(value)));
    kc_schema_drop_nulls(schema, edit);
    assert_node_json(kc_edit_root(edit),
                     "{'spec':{'b':null,'c':null,'l':[null,{'z':null}],'z':null},'q':null}");
    kc_auto(kc_view) *after = kc_edit_view(edit, NULL);
    assert_false(kc_schema_would_drop_nulls(schema, kc_view_root(after)));
}

TESTS(unknown_fields_are_removed_at_any_depth, known_fields_of_any_type_stay,
      metadata_of_an_object_is_never_unknown, embedded_resources_keep_their_metadata,
      preserving_objects_keep_unknown_fields, elements_of_a_preserved_list_are_preserved,
      maps_keep_their_keys, required_name_without_property_is_unknown, null_schema_knows_no_field,
      unknown_fields_are_listed_in_order_up_to_limit, many_unknown_fields_are_pruned_in_linear_time,
      meaningless_nulls_are_removed)
