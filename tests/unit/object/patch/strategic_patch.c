/* SPDX-License-Identifier: Apache-2.0 */
/* strategic_patch.c: applying strategic merge patches, directive by directive. */
#include "kc/strategic_patch.h"
#include "pod_schema.h"
#include "testing.h"

#define gives(object, patch, result) check_gives(object, patch, result, __FILE__, __LINE__)
static void check_gives(const char *object, const char *patch, const char *result, const char *file,
                        int line)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_edit) *edit = edit_of(object);
    kc_auto(kc_view) *view = view_of(patch);
    if (kc_strategic_patch_apply(edit, kc_view_root(view), &pod_schema, &err) < 0) {
        print_error("%s\n", kc_error_text(&err));
        _fail(file, line);
    }
    kc__assert_node_json(kc_edit_root(edit), result, file, line);
}

#define fails(object, patch, message) \
    check_fails(object, patch, KC_BAD_REQUEST, message, __FILE__, __LINE__)
static void check_fails(const char *object, const char *patch, kc_reason reason,
                        const char *message, const char *file, int line)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_edit) *edit = edit_of(object), *again = edit_of(object);
    kc_auto(kc_view) *view = view_of(patch);
    if (kc_strategic_patch_apply(edit, kc_view_root(view), &pod_schema, &err) != -(int)reason) {
        print_error("did not fail so: %s\n%s\n", patch, kc_error_text(&err));
        _fail(file, line);
    }
    kc__assert_contains(kc_error_text(&err), message, file, line);
    assert_int_equal(kc_strategic_patch_apply(again, kc_view_root(view), &pod_schema, NULL),
                     -(int)reason);
}

/* ---- members ---- */

static void members_are_set_merged_and_removed(void **state)
{
    (void)state;
    gives("{'image':'a','replicas':1}", "{'replicas':2,'kind':'Pod'}",
          "{'image':'a','replicas':2,'kind':'Pod'}");
    gives("{'image':'a','replicas':1}", "{'image':null}", "{'replicas':1}");
    gives("{'image':'a'}", "{'replicas':null}", "{'image':'a'}");
    gives("{'metadata':{'labels':{'a':'1','b':'2'}}}", "{'metadata':{'labels':{'b':null,'c':'3'}}}",
          "{'metadata':{'labels':{'a':'1','c':'3'}}}");
    gives("{'image':'a'}", "{}", "{'image':'a'}");
}

static void value_of_another_type_is_replaced(void **state)
{
    (void)state;
    gives("{'image':'a'}", "{'image':{'b':1}}", "{'image':{'b':1}}");
    gives("{'metadata':[1]}", "{'metadata':{'name':'x','labels':null}}",
          "{'metadata':{'name':'x'}}");
    gives("{'days':null}", "{'days':[1]}", "{'days':[1]}");
}

static void nulls_that_remove_nothing_are_dropped(void **state)
{
    (void)state;
    gives("{}", "{'metadata':{'name':'x','labels':{'a':null}}}",
          "{'metadata':{'name':'x','labels':{}}}");
    gives("{}", "{'tolerations':[{'name':'x','value':null},null]}",
          "{'tolerations':[{'name':'x'},null]}");
    gives("{'image':null}", "{'replicas':1}", "{'image':null,'replicas':1}");
}

static void unknown_field_fails_only_if_merged(void **state)
{
    (void)state;
    gives("{'x':1}", "{'x':2,'y':{'z':1},'w':[1]}", "{'x':2,'y':{'z':1},'w':[1]}");
    fails("{'x':{}}", "{'x':{'y':1}}", "unable to find api field \"x\"");
    fails("{'x':[]}", "{'x':[1]}", "unable to find api field \"x\"");
    fails("{'metadata':{'labels':{'a':{}}}}", "{'metadata':{'labels':{'a':{}}}}",
          "unable to find api field \"a\"");
}

static void fields_with_replace_strategy_are_replaced(void **state)
{
    (void)state;
    gives("{'raw':{'a':1}}", "{'raw':{'b':null,'$patch':'x'}}", "{'raw':{'b':null,'$patch':'x'}}");
    gives("{'command':['a','b']}", "{'command':['c',null]}", "{'command':['c',null]}");
    gives("{'tolerations':[{'name':'a','value':'1'}]}", "{'tolerations':[{'name':'a'}]}",
          "{'tolerations':[{'name':'a'}]}");
}

/* ---- lists of objects ---- */

static void elements_are_merged_by_their_key(void **state)
{
    (void)state;
    gives("{'containers':[{'name':'a','image':'1'},{'name':'b','image':'2'}]}",
          "{'containers':[{'name':'b','image':'3'}]}",
          "{'containers':[{'name':'a','image':'1'},{'name':'b','image':'3'}]}");
    gives("{'containers':[{'name':'a','ports':[{'containerPort':80,'name':'x'}]}]}",
          "{'containers':[{'name':'a','ports':[{'containerPort':80,'name':'y'},"
          "{'containerPort':81}]}]}",
          "{'containers':[{'name':'a','ports':[{'containerPort':80,'name':'y'},"
          "{'containerPort':81}]}]}");
    gives("{'containers':[{'name':'a','image':'1','args':['x']}]}",
          "{'containers':[{'name':'a','image':null,'args':[]}]}",
          "{'containers':[{'name':'a','args':[]}]}");
}

static void new_elements_are_added(void **state)
{
    (void)state;
    gives("{'containers':[{'name':'a'}]}", "{'containers':[{'name':'b'}]}",
          "{'containers':[{'name':'b'},{'name':'a'}]}");
    gives("{'containers':[]}", "{'containers':[{'name':'b'},{'name':'a'}]}",
          "{'containers':[{'name':'b'},{'name':'a'}]}");
    gives("{}", "{'containers':[{'name':'b'}]}", "{'containers':[{'name':'b'}]}");
    gives("{'containers':[]}", "{'containers':[]}", "{'containers':[]}");
    gives("{'containers':[{'name':'a'}]}", "{'containers':[]}", "{'containers':[{'name':'a'}]}");
}

static void duplicate_element_is_merged_into_first(void **state)
{
    (void)state;
    gives("{'containers':[]}", "{'containers':[{'name':'a','image':'1'},{'name':'a','args':[]}]}",
          "{'containers':[{'name':'a','image':'1','args':[]}]}");
}

static void keys_compare_by_value_and_type(void **state)
{
    (void)state;
    gives("{'containers':[{'name':'a','ports':[{'containerPort':80}]}]}",
          "{'containers':[{'name':'a','ports':[{'containerPort':80.0,'name':'x'}]}]}",
          "{'containers':[{'name':'a','ports':[{'containerPort':80.0,'name':'x'}]}]}");
    gives("{'containers':[{'name':'1'}]}", "{'containers':[{'name':1,'image':'x'}]}",
          "{'containers':[{'name':1,'image':'x'},{'name':'1'}]}");
}

static void element_without_merge_key_fails(void **state)
{
    (void)state;
    fails("{'containers':[{'name':'a'}]}", "{'containers':[{'image':'b'}]}",
          "map: map[image:b] does not contain declared merge key: name");
    fails("{'containers':[{'image':'c'}]}", "{'containers':[{'name':'b'}]}",
          "map: map[image:c] does not contain declared merge key: name");
    fails("{'containers':[{'name':{}}]}", "{'containers':[{'name':'b'}]}",
          "a value of type object cannot identify a list element");
    fails("{'keyless':[{'name':'a'}]}", "{'keyless':[{'name':'b'}]}",
          "cannot merge lists without merge key for keyless");
}

static void mixed_element_types_fail(void **state)
{
    (void)state;
    fails("{'containers':[{'name':'a'}]}", "{'containers':['b']}",
          "list element types are not identical: [[map[name:a]] [b]]");
    fails("{'days':[1]}", "{'days':['b',true]}",
          "list element types are not identical: [[1] [b true]]");
    check_fails("{'days':[[1]]}", "{'days':[[2]]}", KC_INVALID, "lists of lists are not supported",
                __FILE__, __LINE__);
    gives("{'days':[1]}", "{'days':[2.5]}", "{'days':[2.5,1]}");
}

/* ---- order ---- */

static void order_of_patch_wins(void **state)
{
    (void)state;
    gives("{'containers':[{'name':'a'},{'name':'b','image':'x'},{'name':'c'}]}",
          "{'containers':[{'name':'c'},{'name':'a'},{'name':'b'}]}",
          "{'containers':[{'name':'c'},{'name':'a'},{'name':'b','image':'x'}]}");
    gives("{'days':[1,2,3]}", "{'days':[3,1,2]}", "{'days':[3,1,2]}");
}

static void server_only_elements_keep_their_successors(void **state)
{
    (void)state;
    gives("{'containers':[{'name':'a'},{'name':'b'},{'name':'c'}]}",
          "{'containers':[{'name':'c'},{'name':'a'}]}",
          "{'containers':[{'name':'b'},{'name':'c'},{'name':'a'}]}");
    gives("{'days':[1,2,3,4]}", "{'days':[3,1]}", "{'days':[2,3,1,4]}");
    gives("{'days':[1,2]}", "{'days':[9,2]}", "{'days':[9,1,2]}");
}

static void set_element_order_sorts_existing_elements(void **state)
{
    (void)state;
    gives("{'containers':[{'name':'a'},{'name':'b'},{'name':'c'}]}",
          "{'$setElementOrder/containers':[{'name':'c'},{'name':'x'},{'name':'a'}]}",
          "{'containers':[{'name':'b'},{'name':'c'},{'name':'a'}]}");
    gives("{'days':[1,3]}", "{'$setElementOrder/days':[3,2,1]}", "{'days':[3,1]}");
    gives("{'command':['a','b']}", "{'$setElementOrder/command':['b','a']}",
          "{'command':['b','a']}");
}

static void set_element_order_applies_with_its_list(void **state)
{
    (void)state;
    gives("{'containers':[{'name':'a'},{'name':'s'},{'name':'b'}]}",
          "{'$setElementOrder/containers':[{'name':'n'},{'name':'b'},{'name':'a'}],"
          "'containers':[{'name':'n'},{'name':'a','image':'x'}]}",
          "{'containers':[{'name':'n'},{'name':'s'},{'name':'b'},{'name':'a','image':'x'}]}");
    gives("{}",
          "{'$setElementOrder/containers':[{'name':'b'},{'name':'a'}],"
          "'containers':[{'name':'b','image':null},{'name':'a'}]}",
          "{'containers':[{'name':'b'},{'name':'a'}]}");
    gives("{'days':[1,2,3]}",
          "{'$setElementOrder/days':[4,3,1],'days':[4],'$deleteFromPrimitiveList/days':[2]}",
          "{'days':[4,3,1]}");
}

static void new_elements_take_positions_of_deleted_ones(void **state)
{
    (void)state;
    gives("{'containers':[{'name':'a'},{'name':'s'}]}",
          "{'$setElementOrder/containers':[{'name':'b'},{'name':'c'}],'containers':[{'name':'b'},"
          "{'name':'c'},{'name':'a','$patch':'delete'}]}",
          "{'containers':[{'name':'s'},{'name':'b'},{'name':'c'}]}");
}

static void set_element_order_of_missing_list_has_no_effect(void **state)
{
    (void)state;
    gives("{}", "{'$setElementOrder/containers':[{'name':'a'}]}", "{}");
    gives("{'days':[]}", "{'$setElementOrder/days':[1]}", "{'days':[]}");
    gives("{'days':[2,1]}", "{'$setElementOrder/days':[]}", "{'days':[2,1]}");
}

static void set_element_order_that_contradicts_list_fails(void **state)
{
    (void)state;
    fails("{'containers':[{'name':'a'},{'name':'b'}]}",
          "{'$setElementOrder/containers':[{'name':'a'},{'name':'b'}],"
          "'containers':[{'name':'b'},{'name':'a'}]}",
          "The order in patch list:\n[map[name:b] map[name:a]]\n doesn't match $setElementOrder "
          "list:\n[map[name:a] map[name:b]]\n");
    fails("{'days':[1]}", "{'$setElementOrder/days':[1],'days':[2]}", "doesn't match");
}

static void malformed_set_element_order_fails(void **state)
{
    (void)state;
    fails("{'days':[1]}", "{'$setElementOrder':[1]}",
          "invalid patch format of setElementOrder list");
    fails("{'days':[1]}", "{'$setElementOrderOf/days':[1]}",
          "invalid patch format of setElementOrder list");
    fails("{'days':[1]}", "{'$setElementOrder/days':1}",
          "expected a []interface {}, but received a int64");
    fails("{'days':7}", "{'$setElementOrder/days':[1]}",
          "expected a []interface {}, but received a int64");
    fails("{'days':[1]}", "{'$setElementOrder/days':[1],'days':null}",
          "expected a []interface {}, but received a %!s(<nil>)");
    fails("{'containers':[{'name':'a'}]}", "{'$setElementOrder/containers':['a']}",
          "expected a map[string]interface {}, but received a string");
    fails("{'containers':[{'name':'a'}]}", "{'$setElementOrder/containers':[{'image':'a'}]}",
          "does not contain declared merge key: name");
    fails("{'x':[1]}", "{'$setElementOrder/x':[1]}", "unable to find api field \"x\"");
}

/* ---- $patch ---- */

static void patch_replace_in_an_object_replaces_it(void **state)
{
    (void)state;
    gives("{'metadata':{'name':'a','labels':{'x':'1'}}}",
          "{'metadata':{'$patch':'replace','labels':{'y':'2'}}}",
          "{'metadata':{'labels':{'y':'2'}}}");
    gives("{'image':'a','replicas':1}", "{'$patch':'replace'}", "{}");
    gives("{'image':'a'}", "{'replicas':2,'$patch':'replace'}", "{'replicas':2}");
}

static void patch_delete_in_an_object_empties_it(void **state)
{
    (void)state;
    gives("{'metadata':{'labels':{'x':'1'}}}", "{'metadata':{'labels':{'$patch':'delete'}}}",
          "{'metadata':{'labels':{}}}");
    gives("{'image':'a'}", "{'$patch':'delete','image':'b'}", "{}");
}

static void patch_delete_in_an_element_removes_all_with_its_key(void **state)
{
    (void)state;
    gives("{'containers':[{'name':'a'},{'name':'b'},{'name':'a','image':'x'},{'name':'c'}]}",
          "{'containers':[{'name':'a','$patch':'delete'},{'name':'c','$patch':'delete'},"
          "{'name':'z','$patch':'delete'}]}",
          "{'containers':[{'name':'b'}]}");
    gives("{'containers':[{'name':'a','image':'x'}]}",
          "{'containers':[{'name':'a','$patch':'delete'},{'name':'a','image':'y'}]}",
          "{'containers':[{'name':'a','image':'y'}]}");
    fails("{'containers':[{'name':'a'}]}", "{'containers':[{'$patch':'delete'}]}",
          "does not contain declared merge key: name");
}

static void patch_replace_in_an_element_replaces_the_list(void **state)
{
    (void)state;
    gives("{'containers':[{'name':'a'},{'name':'b'}]}",
          "{'containers':[{'name':'c'},{'$patch':'replace'},{'name':'a','image':'x'}]}",
          "{'containers':[{'name':'c'},{'name':'a','image':'x'}]}");
    gives("{'containers':[{'name':'a'}]}", "{'containers':[{'$patch':'replace'}]}",
          "{'containers':[]}");
}

static void directives_for_missing_values_leave_nothing(void **state)
{
    (void)state;
    gives("{}", "{'metadata':{'$patch':'replace','name':'x'},'image':'a'}", "{'image':'a'}");
    gives("{}", "{'containers':[{'name':'a','$patch':'delete'},{'name':'b'}]}",
          "{'containers':[{'name':'b'}]}");
    gives("{'metadata':1}", "{'metadata':{'$patch':'delete'}}", "{}");
}

static void unknown_directives_fail(void **state)
{
    (void)state;
    fails("{}", "{'$patch':'merge'}", "unknown patch type: merge in map: map[$patch:merge]");
    fails("{}", "{'$patch':'undo','image':'a'}",
          "unknown patch type: undo in map: map[$patch:undo image:a]");
    fails("{}", "{'$patch':1}", "unknown patch type: 1 in map: map[$patch:1]");
    fails("{'containers':[{'name':'a'}]}", "{'containers':[{'name':'a','$patch':'merge'}]}",
          "merging lists cannot yet be specified in the patch");
    fails("{'containers':[{'name':'a'}]}", "{'containers':[{'name':'a','$patch':'undo'}]}",
          "unknown patch type: undo in map: map[$patch:undo name:a]");
}

/* ---- $retainKeys ---- */

static void retain_keys_removes_the_other_members(void **state)
{
    (void)state;
    gives("{'strategy':{'type':'a','maxSurge':1,'rolling':{'x':'1'}}}",
          "{'strategy':{'$retainKeys':['type','maxSurge'],'type':'b'}}",
          "{'strategy':{'type':'b','maxSurge':1}}");
    gives("{'volumes':[{'name':'v','emptyDir':{}}]}",
          "{'volumes':[{'$retainKeys':['name','hostPath'],'name':'v','hostPath':{'path':'/'}}]}",
          "{'volumes':[{'name':'v','hostPath':{'path':'/'}}]}");
    gives("{'image':'a','replicas':1}", "{'$retainKeys':['replicas']}", "{'replicas':1}");
    gives("{'image':'a'}", "{'$retainKeys':[],'image':null}", "{}");
}

static void without_retain_keys_members_stay(void **state)
{
    (void)state;
    gives("{'strategy':{'type':'a'}}", "{'strategy':{'maxSurge':1}}",
          "{'strategy':{'type':'a','maxSurge':1}}");
    gives("{'strategy':{'type':'a','maxSurge':1}}", "{'strategy':{'maxSurge':null}}",
          "{'strategy':{'type':'a'}}");
    gives("{'strategy':{'type':'a'}}", "{'strategy':{}}", "{'strategy':{'type':'a'}}");
}

static void retain_keys_without_a_set_member_fails(void **state)
{
    (void)state;
    fails("{'strategy':{'type':'a'}}", "{'strategy':{'$retainKeys':['type'],'maxSurge':1}}",
          "invalid patch format of retainKeys");
    fails("{'strategy':{'type':'a'}}", "{'strategy':{'$retainKeys':'type'}}",
          "invalid patch format of retainKeys");
    gives("{'strategy':{'type':'a','days':[1,2],'maxSurge':1}}",
          "{'strategy':{'$retainKeys':['days'],'type':null,'$deleteFromPrimitiveList/days':[1],"
          "'$setElementOrder/days':[2]}}",
          "{'strategy':{'days':[2]}}");
}

/* ---- lists of values ---- */

static void merged_values_are_unique(void **state)
{
    (void)state;
    gives("{'days':[1,2]}", "{'days':[2,3]}", "{'days':[1,2,3]}");
    gives("{'metadata':{'finalizers':['a','a','b']}}", "{'metadata':{'finalizers':['c','c']}}",
          "{'metadata':{'finalizers':['c','a','b']}}");
    gives("{'days':[1]}", "{'days':[1.0]}", "{'days':[1]}");
}

static void values_are_deleted_from_any_list(void **state)
{
    (void)state;
    gives("{'days':[1,2,3,2]}", "{'$deleteFromPrimitiveList/days':[2,9]}", "{'days':[1,3]}");
    gives("{'command':['a','b']}", "{'$deleteFromPrimitiveList/command':['a']}",
          "{'command':['b']}");
    gives("{}", "{'$deleteFromPrimitiveList/days':[1]}", "{}");
    gives("{'days':null}", "{'$deleteFromPrimitiveList/days':[1]}", "{'days':null}");
    gives("{'days':[1,2]}", "{'$deleteFromPrimitiveList/days':[1],'days':[3]}", "{'days':[3,2]}");
}

static void malformed_deletion_fails(void **state)
{
    (void)state;
    fails("{'days':[1]}", "{'$deleteFromPrimitiveList':[1]}",
          "invalid patch format of primitive list");
    fails("{'days':[1]}", "{'$deleteFromPrimitiveList/days':null}",
          "invalid patch format of primitive list");
    fails("{'containers':[{'name':'a'}]}", "{'$deleteFromPrimitiveList/containers':[{'name':'a'}]}",
          "invalid patch format of primitive list");
}

/* ---- others ---- */

static void inputs_other_than_objects_fail(void **state)
{
    (void)state;
    fails("[]", "{}", "invalid JSON document");
    fails("{}", "[]", "invalid JSON document");
    fails("{}", "null", "invalid JSON document");
}

static void long_values_in_messages_are_truncated(void **state)
{
    (void)state;
    kc_scoped(kc_buf) patch = {0};
    kc_scoped(kc_error) err = {0};
    kc_buf_puts(&patch, "{'$patch':'x','image':'");
    for (int i = 0; i < 100000; i++)
        kc_buf_puts(&patch, "é");
    kc_buf_puts(&patch, "'}");
    kc_auto(kc_edit) *edit = edit_of("{}");
    kc_auto(kc_view) *view = view_of(kc_buf_cstr(&patch));
    assert_true(kc_strategic_patch_apply(edit, kc_view_root(view), &pod_schema, &err) < 0);
    assert_true(strlen(kc_error_text(&err)) < 1100);
    assert_contains(kc_error_text(&err), "é...");
}

/* {"containers": […], "days": […]} of n each; `from` shifts and reverses them. */
static void long_lists(kc_buf *out, int n, int from, bool backwards)
{
    kc_buf_puts(out, "{'containers':[");
    for (int i = 0; i < n; i++)
        kc_buf_printf(out, "%s{'name':'c%d'%s}", i ? "," : "", backwards ? from + n - i : from + i,
                      backwards ? ",'image':'x'" : "");
    kc_buf_puts(out, "],'days':[");
    for (int i = 0; i < n; i++)
        kc_buf_printf(out, "%s%d", i ? "," : "", backwards ? from + n - i : from + i);
    kc_buf_puts(out, "]}");
}

static void long_lists_are_merged_in_linear_time(void **state)
{
    (void)state;
    enum { N = 50000 };
    kc_scoped(kc_buf) object = {0};
    kc_scoped(kc_buf) patch = {0};
    kc_scoped(kc_error) err = {0};
    long_lists(&object, N, 0, false);
    long_lists(&patch, N, N / 2, true);
    kc_auto(kc_edit) *edit = edit_of(kc_buf_cstr(&object));
    kc_auto(kc_view) *view = view_of(kc_buf_cstr(&patch));
    assert_int_equal(kc_strategic_patch_apply(edit, kc_view_root(view), &pod_schema, &err), 0);
    kc_auto(kc_view) *result = kc_edit_view(edit, NULL);
    const kc_value *containers = kc_value_get(kc_view_root(result), "containers");
    const kc_value *days = kc_value_get(kc_view_root(result), "days");
    assert_int_equal(kc_value_len(containers), N / 2 + 1 + N);
    assert_int_equal(kc_value_len(days), N / 2 + 1 + N);
    assert_value_json(kc_value_at(containers, 0), "{'name':'c75000','image':'x'}");
    assert_value_json(kc_value_at(days, N / 2 + N), "25001");

    kc_auto(kc_view) *deletion = view_of("{'containers':[{'name':'c7','$patch':'delete'}],"
                                         "'$deleteFromPrimitiveList/days':[7]}");
    assert_int_equal(kc_strategic_patch_apply(edit, kc_view_root(deletion), &pod_schema, &err), 0);
    assert_int_equal(kc_node_len(kc_node_get(kc_edit_root(edit), KC_STR("days"))), N / 2 + N);
}

TESTS(members_are_set_merged_and_removed, value_of_another_type_is_replaced,
      nulls_that_remove_nothing_are_dropped, unknown_field_fails_only_if_merged,
      fields_with_replace_strategy_are_replaced, elements_are_merged_by_their_key,
      new_elements_are_added, duplicate_element_is_merged_into_first,
      keys_compare_by_value_and_type, element_without_merge_key_fails, mixed_element_types_fail,
      order_of_patch_wins, server_only_elements_keep_their_successors,
      set_element_order_sorts_existing_elements, set_element_order_applies_with_its_list,
      new_elements_take_positions_of_deleted_ones, set_element_order_of_missing_list_has_no_effect,
      set_element_order_that_contradicts_list_fails, malformed_set_element_order_fails,
      patch_replace_in_an_object_replaces_it, patch_delete_in_an_object_empties_it,
      patch_delete_in_an_element_removes_all_with_its_key,
      patch_replace_in_an_element_replaces_the_list, directives_for_missing_values_leave_nothing,
      unknown_directives_fail, retain_keys_removes_the_other_members,
      without_retain_keys_members_stay, retain_keys_without_a_set_member_fails,
      merged_values_are_unique, values_are_deleted_from_any_list, malformed_deletion_fails,
      inputs_other_than_objects_fail, long_values_in_messages_are_truncated,
      long_lists_are_merged_in_linear_time)
