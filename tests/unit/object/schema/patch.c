/* SPDX-License-Identifier: Apache-2.0 */
/* patch.c: strategic merge patches driven by a compiled OpenAPI schema. */
#include "testing.h"

#include "kc/strategic_patch.h"

static const char openapi[] =
    "{'type':'object','properties':{"
    "'metadata':{'type':'object','properties':{"
    "'labels':{'type':'object','additionalProperties':{'type':'string'}},"
    "'finalizers':{'type':'array','items':{'type':'string'},'x-kubernetes-patch-strategy':'merge'}}},"
    "'spec':{'type':'object','properties':{"
    "'containers':{'type':'array','x-kubernetes-patch-strategy':'merge','x-kubernetes-patch-merge-key':'name',"
    "'items':{'type':'object','properties':{'name':{'type':'string'},'image':{'type':'string'},"
    "'args':{'type':'array','items':{'type':'string'}},"
    "'ports':{'type':'array','x-kubernetes-patch-strategy':'merge','x-kubernetes-patch-merge-key':'containerPort',"
    "'items':{'type':'object','properties':{'containerPort':{'type':'integer'},'name':{'type':'string'}}}}}}},"
    "'volumes':{'type':'array','x-kubernetes-patch-strategy':'merge,retainKeys','x-kubernetes-patch-merge-key':'name',"
    "'items':{'type':'object','properties':{'name':{'type':'string'},'emptyDir':{'type':'object'},"
    "'hostPath':{'type':'object'}}}},"
    "'extra':{'type':'object','x-kubernetes-preserve-unknown-fields':true}}}}}";

static kc_schema *compiled(void)
{
    kc_auto(kc_view) *view = view_of(openapi);
    kc_schema *schema = kc_schema_compile(kc_view_root(view), NULL, NULL);
    assert_non_null(schema);
    return schema;
}

static void assert_patched(const char *before, const char *patch, const char *after)
{
    kc_auto(kc_schema) *schema = compiled();
    kc_patch_schema strategies = kc_patch_schema_of(schema);
    kc_auto(kc_edit) *edit = edit_of(before);
    kc_auto(kc_view) *view = view_of(patch);
    kc_scoped(kc_error) err = {0};
    if (kc_strategic_patch_apply(edit, kc_view_root(view), &strategies, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    assert_node_json(kc_edit_root(edit), after);
}

static void lists_with_a_merge_key_are_merged_at_every_depth(void **state)
{
    (void)state;
    assert_patched(
        "{'spec':{'containers':[{'name':'a','image':'a:1','ports':[{'containerPort':80}]},{'name':'b'}]}}",
        "{'spec':{'containers':[{'name':'a','image':'a:2','ports':[{'containerPort':443,'name':'tls'}]}]}}",
        "{'spec':{'containers':[{'name':'a','image':'a:2','ports':[{'containerPort':443,'name':'tls'},"
        "{'containerPort':80}]},{'name':'b'}]}}");
}

static void lists_of_values_follow_patch_strategy(void **state)
{
    (void)state;
    assert_patched(
        "{'metadata':{'finalizers':['a']},'spec':{'containers':[{'name':'a','args':['x','y']}]}}",
        "{'metadata':{'finalizers':['b']},'spec':{'containers':[{'name':'a','args':['z']}]}}",
        "{'metadata':{'finalizers':['b','a']},'spec':{'containers':[{'name':'a','args':['z']}]}}");
}

static void maps_and_unknown_members_are_merged(void **state)
{
    (void)state;
    assert_patched(
        "{'metadata':{'labels':{'a':'1','b':'2'}},'spec':{'extra':{'x':{'y':1},'l':[1,2]}}}",
        "{'metadata':{'labels':{'a':null,'c':'3'}},'spec':{'extra':{'x':{'z':2},'l':[3]}}}",
        "{'metadata':{'labels':{'b':'2','c':'3'}},'spec':{'extra':{'x':{'y':1,'z':2},'l':[3]}}}");
}

static void created_patches_contain_retain_keys(void **state)
{
    (void)state;
    kc_auto(kc_schema) *schema = compiled();
    kc_patch_schema strategies = kc_patch_schema_of(schema);
    kc_auto(kc_view) *from = view_of("{'spec':{'volumes':[{'name':'v','emptyDir':{}}]}}");
    kc_auto(kc_view) *to = view_of("{'spec':{'volumes':[{'name':'v','hostPath':{}}]}}");
    kc_auto(kc_edit) *made =
        kc_strategic_patch_make(kc_view_root(from), kc_view_root(to), &strategies, NULL, NULL);
    kc_scoped(kc_buf) text = {0};
    kc_node_write(&text, kc_edit_root(made));
    assert_contains(kc_buf_cstr(&text), "\"$retainKeys\":[\"hostPath\",\"name\"]");
    kc_auto(kc_view) *patch = kc_edit_view(made, NULL);
    kc_auto(kc_edit) *edit = kc_edit_of_value(kc_view_root(from));
    assert_int_equal(kc_strategic_patch_apply(edit, kc_view_root(patch), &strategies, NULL), 0);
    assert_node_json(kc_edit_root(edit), "{'spec':{'volumes':[{'name':'v','hostPath':{}}]}}");
}

TESTS(lists_with_a_merge_key_are_merged_at_every_depth, lists_of_values_follow_patch_strategy,
      maps_and_unknown_members_are_merged, created_patches_contain_retain_keys)
