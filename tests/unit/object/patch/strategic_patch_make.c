/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategic_patch_make.c: creating strategic merge patches. Most tests are tables: each row has the
 * last applied state, the state to apply and the server's state, then the two-way patch, the
 * three-way patch, and the server's state after it.
 */
#include "kc/strategic_patch.h"
#include "pod_schema.h"
#include "testing.h"

typedef struct row {
    const char *original, *modified, *current;
    const char *two_way, *three_way, *result;
    const char *two_way_result; /* Of two_way on original; NULL means modified. */
    bool conflicts;             /* The server's changes conflict with the patch. */
} row;

static void apply(const char *object, const kc_edit *patch, const char *result, int line)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_edit) *edit = edit_of(object);
    kc_auto(kc_view) *view = kc_edit_view(patch, &err);
    if (kc_strategic_patch_apply(edit, kc_view_root(view), &pod_schema, &err) < 0) {
        print_error("%s\n", kc_error_text(&err));
        _fail(__FILE__, line);
    }
    kc__assert_node_json(kc_edit_root(edit), result, __FILE__, line);
}

static void check_two_way(const row *r, const kc_value *from, const kc_value *to, int line)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_edit) *made = kc_strategic_patch_make(from, to, &pod_schema, NULL, &err);
    if (!made) {
        print_error("%s\n", kc_error_text(&err));
        _fail(__FILE__, line);
    }
    kc__assert_node_json(kc_edit_root(made), r->two_way, __FILE__, line);
    apply(r->original, made, r->two_way_result ? r->two_way_result : r->modified, line);
}

static void check_row(const row *r, int line)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *o = view_of(r->original), *m = view_of(r->modified), *c = view_of(r->current);
    const kc_value *original = kc_view_root(o), *modified = kc_view_root(m);
    check_two_way(r, original, modified, line);
    kc_auto(kc_edit) *made =
        kc_strategic_patch_make3(original, modified, kc_view_root(c), &pod_schema, NULL, &err);
    if (!made) {
        print_error("%s\n", kc_error_text(&err));
        _fail(__FILE__, line);
    }
    kc__assert_node_json(kc_edit_root(made), r->three_way, __FILE__, line);
    apply(r->current, made, r->result, line);

    kc_auto(kc_edit) *careful =
        kc_strategic_patch_make3(original, modified, kc_view_root(c), &pod_schema,
                                 &(kc_strategic_patch_opts){.refuse_conflicts = true}, &err);
    if (r->conflicts != !careful || r->conflicts != kc_error_has_reason(&err, KC_CONFLICT)) {
        print_error("%s conflict expected: %s\n", r->conflicts ? "a" : "no", kc_error_text(&err));
        _fail(__FILE__, line);
    }
}

/* Checks rows; each expands at its own line, so a failure points to it. */
#define check(...) check_row(&(row){__VA_ARGS__}, __LINE__)

static void equal_objects_yield_empty_patch(void **state)
{
    (void)state;
    check("{}", "{}", "{}", "{}", "{}", "{}");
    check("{'image':'a','raw':{'x':1}}", "{'image':'a','raw':{'x':1}}",
          "{'image':'a','raw':{'x':1}}", "{}", "{}", "{'image':'a','raw':{'x':1}}");
    check("{'containers':[]}", "{'containers':[]}", "{'containers':[]}", "{}", "{}",
          "{'containers':[]}");
    check("{'strategy':{'type':'a','rolling':{'x':'1'}}}",
          "{'strategy':{'type':'a','rolling':{'x':'1'}}}",
          "{'strategy':{'type':'a','rolling':{'x':'1'}}}", "{}", "{}",
          "{'strategy':{'type':'a','rolling':{'x':'1'}}}");
}

static void members_are_added_changed_and_removed(void **state)
{
    (void)state;
    check("{}", "{'image':'a'}", "{'replicas':1}", "{'image':'a'}", "{'image':'a'}",
          "{'replicas':1,'image':'a'}");
    check("{'image':'a'}", "{'image':'a','replicas':2}", "{'image':'a','kind':'x'}",
          "{'replicas':2}", "{'replicas':2}", "{'image':'a','kind':'x','replicas':2}");
    check("{'image':'a'}", "{'image':'b'}", "{'image':'a','kind':'x'}", "{'image':'b'}",
          "{'image':'b'}", "{'image':'b','kind':'x'}");
    check("{'image':'a','replicas':1}", "{'replicas':1}", "{'image':'a','replicas':1,'kind':'x'}",
          "{'image':null}", "{'image':null}", "{'replicas':1,'kind':'x'}");
    check("{'image':'a'}", "{'replicas':1}", "{'image':'a','kind':'x'}",
          "{'replicas':1,'image':null}", "{'image':null,'replicas':1}",
          "{'kind':'x','replicas':1}");
    check("{'image':'a'}", "{'image':{'b':1}}", "{'image':'a'}", "{'image':{'b':1}}",
          "{'image':{'b':1}}", "{'image':{'b':1}}");
}

static void nested_members_are_compared(void **state)
{
    (void)state;
    check("{'metadata':{'labels':{'a':'1','b':'1'}}}", "{'metadata':{'labels':{'a':'2'}}}",
          "{'metadata':{'labels':{'a':'1','b':'1','c':'1'}}}",
          "{'metadata':{'labels':{'a':'2','b':null}}}",
          "{'metadata':{'labels':{'b':null,'a':'2'}}}",
          "{'metadata':{'labels':{'a':'2','c':'1'}}}");
}

static void changes_on_the_server_conflict_with_the_patch(void **state)
{
    (void)state;
    check("{'image':'a'}", "{'image':'a'}", "{'image':'b'}", "{}", "{'image':'a'}", "{'image':'a'}",
          .conflicts = true);
    check("{'image':'a'}", "{'replicas':1}", "{'image':'b'}", "{'replicas':1,'image':null}",
          "{'image':null,'replicas':1}", "{'replicas':1}", .conflicts = true);
    check("{'metadata':{'labels':{'a':'1','b':'1'}}}", "{'metadata':{'labels':{'a':'1'}}}",
          "{'metadata':{'labels':{'a':'x','b':'1'}}}", "{'metadata':{'labels':{'b':null}}}",
          "{'metadata':{'labels':{'b':null,'a':'1'}}}", "{'metadata':{'labels':{'a':'1'}}}",
          .conflicts = true);
    check("{'image':'a'}", "{}", "{}", "{'image':null}", "{'image':null}", "{}");
}

static void explicit_nulls_are_kept_as_removals(void **state)
{
    (void)state;
    check("{'image':'a'}", "{'image':null}", "{'image':'b','kind':'x'}", "{'image':null}",
          "{'image':null}", "{'kind':'x'}", "{}", .conflicts = true);
    check("{}", "{'metadata':{'name':'x','labels':null}}", "{}",
          "{'metadata':{'name':'x','labels':null}}", "{'metadata':{'name':'x','labels':null}}",
          "{'metadata':{'name':'x'}}", "{'metadata':{'name':'x'}}");
    check("{'image':null}", "{'image':null,'kind':'x'}", "{'image':null}", "{'kind':'x'}",
          "{'kind':'x'}", "{'image':null,'kind':'x'}");
}

static void lists_without_a_strategy_are_replaced(void **state)
{
    (void)state;
    check("{'command':['a','b']}", "{'command':['b','c']}", "{'command':['a','b']}",
          "{'command':['b','c']}", "{'command':['b','c']}", "{'command':['b','c']}");
    check("{'command':['a','b']}", "{'command':['b','c']}", "{'command':['a','d']}",
          "{'command':['b','c']}", "{'command':['b','c']}", "{'command':['b','c']}",
          .conflicts = true);
    check("{'tolerations':[{'name':'a'}]}", "{'tolerations':[{'name':'a','value':'1'}]}",
          "{'tolerations':[{'name':'a'}]}", "{'tolerations':[{'name':'a','value':'1'}]}",
          "{'tolerations':[{'name':'a','value':'1'}]}",
          "{'tolerations':[{'name':'a','value':'1'}]}");
    check("{'command':['a']}", "{'command':[]}", "{'command':['a']}", "{'command':[]}",
          "{'command':[]}", "{'command':[]}");
}

static void objects_with_replace_strategy_are_complete(void **state)
{
    (void)state;
    check("{'raw':{'a':1,'b':1}}", "{'raw':{'a':2}}", "{'raw':{'a':1,'b':1}}", "{'raw':{'a':2}}",
          "{'raw':{'a':2}}", "{'raw':{'a':2}}");
    check("{'raw':{'a':1},'containers':[{'name':'x'}]}",
          "{'raw':{'b':1},'containers':[{'name':'x'},{'name':'y'}]}",
          "{'raw':{'a':1},'containers':[{'name':'x'},{'name':'z'}]}",
          "{'raw':{'b':1},'$setElementOrder/containers':[{'name':'x'},{'name':'y'}],"
          "'containers':[{'name':'y'}]}",
          "{'$setElementOrder/containers':[{'name':'x'},{'name':'y'}],"
          "'containers':[{'name':'y'}],'raw':{'b':1}}",
          "{'raw':{'b':1},'containers':[{'name':'x'},{'name':'y'},{'name':'z'}]}");
}

static void elements_are_added(void **state)
{
    (void)state;
    check("{'containers':[{'name':'a'}]}", "{'containers':[{'name':'a'},{'name':'b'}]}",
          "{'containers':[{'name':'a'},{'name':'s'}]}",
          "{'$setElementOrder/containers':[{'name':'a'},{'name':'b'}],'containers':[{'name':'b'}]}",
          "{'$setElementOrder/containers':[{'name':'a'},{'name':'b'}],'containers':[{'name':'b'}]}",
          "{'containers':[{'name':'a'},{'name':'b'},{'name':'s'}]}");
    check("{'containers':[]}", "{'containers':[{'name':'a'}]}", "{'containers':[{'name':'s'}]}",
          "{'containers':[{'name':'a'}]}",
          "{'$setElementOrder/containers':[{'name':'a'}],'containers':[{'name':'a'}]}",
          "{'containers':[{'name':'a'},{'name':'s'}]}");
    check("{}", "{'containers':[{'name':'a'}]}", "{'containers':[{'name':'a','image':'x'}]}",
          "{'containers':[{'name':'a'}]}", "{}", "{'containers':[{'name':'a','image':'x'}]}");
}

static void elements_are_changed(void **state)
{
    (void)state;
    check("{'containers':[{'name':'a','image':'1'},{'name':'b'}]}",
          "{'containers':[{'name':'a','image':'2'},{'name':'b'}]}",
          "{'containers':[{'name':'a','image':'1','args':['x']},{'name':'b'},{'name':'s'}]}",
          "{'$setElementOrder/containers':[{'name':'a'},{'name':'b'}],"
          "'containers':[{'image':'2','name':'a'}]}",
          "{'$setElementOrder/containers':[{'name':'a'},{'name':'b'}],"
          "'containers':[{'image':'2','name':'a'}]}",
          "{'containers':[{'name':'a','image':'2','args':['x']},{'name':'b'},{'name':'s'}]}");
    check("{'containers':[{'name':'a','image':'1'}]}", "{'containers':[{'name':'a','image':'2'}]}",
          "{'containers':[{'name':'a','image':'3'}]}",
          "{'$setElementOrder/containers':[{'name':'a'}],'containers':[{'image':'2','name':'a'}]}",
          "{'$setElementOrder/containers':[{'name':'a'}],'containers':[{'image':'2','name':'a'}]}",
          "{'containers':[{'name':'a','image':'2'}]}", .conflicts = true);
    check("{'containers':[{'name':'a','image':'1'}]}", "{'containers':[{'name':'a'}]}",
          "{'containers':[{'name':'a','image':'1','args':[]}]}",
          "{'$setElementOrder/containers':[{'name':'a'}],'containers':[{'image':null,'name':'a'}]}",
          "{'$setElementOrder/containers':[{'name':'a'}],'containers':[{'image':null,'name':'a'}]}",
          "{'containers':[{'name':'a','args':[]}]}");
}

static void elements_are_deleted(void **state)
{
    (void)state;
    check("{'containers':[{'name':'b'},{'name':'a'},{'name':'c'}]}",
          "{'containers':[{'name':'c'}]}",
          "{'containers':[{'name':'b'},{'name':'a','image':'x'},{'name':'c'},{'name':'s'}]}",
          "{'$setElementOrder/containers':[{'name':'c'}],'containers':["
          "{'name':'a','$patch':'delete'},{'name':'b','$patch':'delete'}]}",
          "{'$setElementOrder/containers':[{'name':'c'}],'containers':["
          "{'name':'a','$patch':'delete'},{'name':'b','$patch':'delete'}]}",
          "{'containers':[{'name':'c'},{'name':'s'}]}", .conflicts = true);
    check("{'containers':[{'name':'a'}]}", "{'containers':[]}",
          "{'containers':[{'name':'a'},{'name':'s'}]}",
          "{'containers':[{'name':'a','$patch':'delete'}]}",
          "{'containers':[{'name':'a','$patch':'delete'}]}", "{'containers':[{'name':'s'}]}");
    check("{'containers':[{'name':'a'}]}", "{}", "{'containers':[{'name':'a'},{'name':'s'}]}",
          "{'containers':null}", "{'containers':null}", "{}", .conflicts = true);
    check("{'containers':[{'name':'a'}]}", "{'containers':[]}", "{'containers':[]}",
          "{'containers':[{'name':'a','$patch':'delete'}]}",
          "{'containers':[{'name':'a','$patch':'delete'}]}", "{'containers':[]}");
}

static void elements_are_added_and_deleted_together(void **state)
{
    (void)state;
    check("{'containers':[{'name':'a'},{'name':'b'},{'name':'c'}]}",
          "{'containers':[{'name':'n'},{'name':'a'},{'name':'c','image':'x'}]}",
          "{'containers':[{'name':'a'},{'name':'b'},{'name':'c'}]}",
          "{'$setElementOrder/containers':[{'name':'n'},{'name':'a'},{'name':'c'}],'containers':["
          "{'name':'n'},{'image':'x','name':'c'},{'name':'b','$patch':'delete'}]}",
          "{'$setElementOrder/containers':[{'name':'n'},{'name':'a'},{'name':'c'}],'containers':["
          "{'name':'n'},{'image':'x','name':'c'},{'name':'b','$patch':'delete'}]}",
          "{'containers':[{'name':'n'},{'name':'a'},{'name':'c','image':'x'}]}");
}

static void elements_are_reordered(void **state)
{
    (void)state;
    check("{'containers':[{'name':'a'},{'name':'b'},{'name':'c'}]}",
          "{'containers':[{'name':'c'},{'name':'a'},{'name':'b'}]}",
          "{'containers':[{'name':'a'},{'name':'s'},{'name':'b'},{'name':'c'},{'name':'t'}]}",
          "{'$setElementOrder/containers':[{'name':'c'},{'name':'a'},{'name':'b'}]}",
          "{'$setElementOrder/containers':[{'name':'c'},{'name':'a'},{'name':'b'}]}",
          "{'containers':[{'name':'s'},{'name':'c'},{'name':'a'},{'name':'b'},{'name':'t'}]}");
    check("{'days':[2,1]}", "{'days':[1,2]}", "{'days':[2,9,1]}", "{'$setElementOrder/days':[1,2]}",
          "{'$setElementOrder/days':[1,2]}", "{'days':[9,1,2]}");
    check("{'containers':[{'name':'a'},{'name':'b'}],'volumes':[{'name':'v'},{'name':'w'}]}",
          "{'containers':[{'name':'b'}],'volumes':[{'name':'w'},{'name':'v'}]}",
          "{'containers':[{'name':'a'},{'name':'b'}],'volumes':[{'name':'v'},{'name':'w'}]}",
          "{'$setElementOrder/containers':[{'name':'b'}],'containers':[{'name':'a',"
          "'$patch':'delete'}],'$setElementOrder/volumes':[{'name':'w'},{'name':'v'}]}",
          "{'$setElementOrder/containers':[{'name':'b'}],'containers':[{'name':'a',"
          "'$patch':'delete'}],'$setElementOrder/volumes':[{'name':'w'},{'name':'v'}]}",
          "{'containers':[{'name':'b'}],'volumes':[{'name':'w'},{'name':'v'}]}");
}

static void lists_in_elements_are_compared(void **state)
{
    (void)state;
    check(
        "{'containers':[{'name':'a','args':['x'],'env':[{'name':'e','value':'1'}]}]}",
        "{'containers':[{'name':'a','args':['x','y'],'env':[{'name':'e','value':'2'}]}]}",
        "{'containers':[{'name':'a','args':['x'],'env':[{'name':'e','value':'1'},{'name':'f'}]}]}",
        "{'$setElementOrder/containers':[{'name':'a'}],'containers':[{'args':['x','y'],"
        "'$setElementOrder/env':[{'name':'e'}],'env':[{'value':'2','name':'e'}],'name':'a'}]}",
        "{'$setElementOrder/containers':[{'name':'a'}],'containers':[{'args':['x','y'],"
        "'$setElementOrder/env':[{'name':'e'}],'env':[{'value':'2','name':'e'}],'name':'a'}]}",
        "{'containers':[{'name':'a','args':['x','y'],'env':[{'name':'e','value':'2'},"
        "{'name':'f'}]}]}");
    check("{'containers':[{'name':'a','ports':[{'containerPort':80}]}]}",
          "{'containers':[{'name':'a','ports':[{'containerPort':81}]}]}",
          "{'containers':[{'name':'a','ports':[{'containerPort':80},{'containerPort':90}]}]}",
          "{'$setElementOrder/containers':[{'name':'a'}],'containers':[{"
          "'$setElementOrder/ports':[{'containerPort':81}],'ports':[{'containerPort':81},"
          "{'containerPort':80,'$patch':'delete'}],'name':'a'}]}",
          "{'$setElementOrder/containers':[{'name':'a'}],'containers':[{"
          "'$setElementOrder/ports':[{'containerPort':81}],'ports':[{'containerPort':81},"
          "{'containerPort':80,'$patch':'delete'}],'name':'a'}]}",
          "{'containers':[{'name':'a','ports':[{'containerPort':90},{'containerPort':81}]}]}");
    check("{'containers':[{'name':'a','args':['x']}]}",
          "{'containers':[{'name':'a','args':['y']}]}",
          "{'containers':[{'name':'a','args':['x','z']}]}",
          "{'$setElementOrder/containers':[{'name':'a'}],'containers':[{'args':['y'],'name':'a'}]}",
          "{'$setElementOrder/containers':[{'name':'a'}],'containers':[{'args':['y'],'name':'a'}]}",
          "{'containers':[{'name':'a','args':['y']}]}", .conflicts = true);
}

static void values_are_added_and_deleted(void **state)
{
    (void)state;
    check("{'days':[1,2]}", "{'days':[1,2,3]}", "{'days':[1,2,9]}",
          "{'$setElementOrder/days':[1,2,3],'days':[3]}",
          "{'$setElementOrder/days':[1,2,3],'days':[3]}", "{'days':[1,2,3,9]}");
    check("{'days':[1,2,3]}", "{'days':[1,3]}", "{'days':[1,2,3,4]}",
          "{'$setElementOrder/days':[1,3],'$deleteFromPrimitiveList/days':[2]}",
          "{'$setElementOrder/days':[1,3],'$deleteFromPrimitiveList/days':[2]}",
          "{'days':[1,3,4]}");
    check("{'days':[2,1,3]}", "{'days':[4,1]}", "{'days':[2,1,3]}",
          "{'$setElementOrder/days':[4,1],'days':[4],'$deleteFromPrimitiveList/days':[2,3]}",
          "{'$setElementOrder/days':[4,1],'$deleteFromPrimitiveList/days':[2,3],'days':[4]}",
          "{'days':[4,1]}");
    check("{'days':[1,2]}", "{'days':[]}", "{'days':[1,2,3]}",
          "{'$deleteFromPrimitiveList/days':[1,2]}", "{'$deleteFromPrimitiveList/days':[1,2]}",
          "{'days':[3]}");
    check("{'metadata':{'finalizers':['a']}}", "{'metadata':{'finalizers':['a','b']}}",
          "{'metadata':{'finalizers':['a','b']}}",
          "{'metadata':{'$setElementOrder/finalizers':['a','b'],'finalizers':['b']}}", "{}",
          "{'metadata':{'finalizers':['a','b']}}");
    check("{'days':[1,2,3,3]}", "{'days':[1,2]}", "{'days':[1,2,3,3,4]}",
          "{'$setElementOrder/days':[1,2],'$deleteFromPrimitiveList/days':[3]}",
          "{'$setElementOrder/days':[1,2],'$deleteFromPrimitiveList/days':[3]}",
          "{'days':[1,2,4]}");
}

static void deletions_on_both_sides_do_not_conflict(void **state)
{
    (void)state;
    check("{'days':[1,2]}", "{'days':[2]}", "{'days':[2]}",
          "{'$setElementOrder/days':[2],'$deleteFromPrimitiveList/days':[1]}",
          "{'$setElementOrder/days':[2],'$deleteFromPrimitiveList/days':[1]}", "{'days':[2]}");
    check("{'containers':[{'name':'a'},{'name':'b'}]}", "{'containers':[{'name':'b'}]}",
          "{'containers':[{'name':'b'}]}",
          "{'$setElementOrder/containers':[{'name':'b'}],'containers':[{'name':'a',"
          "'$patch':'delete'}]}",
          "{'$setElementOrder/containers':[{'name':'b'}],'containers':[{'name':'a',"
          "'$patch':'delete'}]}",
          "{'containers':[{'name':'b'}]}");
}

static void retain_keys_lists_remaining_members(void **state)
{
    (void)state;
    check("{'strategy':{'type':'a','rolling':{'x':'1'}}}", "{'strategy':{'type':'b'}}",
          "{'strategy':{'type':'a','rolling':{'x':'1'},'maxSurge':1}}",
          "{'strategy':{'type':'b','rolling':null,'$retainKeys':['type']}}",
          "{'strategy':{'rolling':null,'$retainKeys':['type'],'type':'b'}}",
          "{'strategy':{'type':'b'}}");
    check("{'strategy':{'type':'a'}}", "{'strategy':{'type':'a','maxSurge':2}}",
          "{'strategy':{'type':'a','rolling':{}}}",
          "{'strategy':{'maxSurge':2,'$retainKeys':['maxSurge','type']}}",
          "{'strategy':{'maxSurge':2,'$retainKeys':['maxSurge','type']}}",
          "{'strategy':{'type':'a','maxSurge':2}}");
    check("{'strategy':{'type':'a'}}", "{'strategy':{'type':'a'}}",
          "{'strategy':{'type':'a','maxSurge':1}}", "{}", "{'strategy':{'$retainKeys':['type']}}",
          "{'strategy':{'type':'a'}}");
    check("{'strategy':{'type':'a','maxSurge':1}}", "{'strategy':{'type':'a'}}",
          "{'strategy':{'type':'a','maxSurge':1}}",
          "{'strategy':{'maxSurge':null,'$retainKeys':['type']}}",
          "{'strategy':{'maxSurge':null,'$retainKeys':['type']}}", "{'strategy':{'type':'a'}}");
    check("{}", "{'strategy':{'type':'a'}}", "{'strategy':{'type':'b','maxSurge':1}}",
          "{'strategy':{'type':'a'}}", "{'strategy':{'type':'a','$retainKeys':['type']}}",
          "{'strategy':{'type':'a'}}", .conflicts = true);
}

static void retain_keys_accompanies_nested_changes(void **state)
{
    (void)state;
    check("{'strategy':{'type':'a','rolling':{'x':'1'}}}",
          "{'strategy':{'type':'a','rolling':{'x':'2'}}}",
          "{'strategy':{'type':'a','rolling':{'x':'1','y':'1'},'maxSurge':1}}",
          "{'strategy':{'rolling':{'x':'2'},'$retainKeys':['rolling','type']}}",
          "{'strategy':{'rolling':{'x':'2'},'$retainKeys':['rolling','type']}}",
          "{'strategy':{'type':'a','rolling':{'x':'2','y':'1'}}}");
    check("{'strategy':{'steps':[{'name':'a'}],'type':'t'}}",
          "{'strategy':{'steps':[{'name':'b'}],'type':'t'}}",
          "{'strategy':{'steps':[{'name':'a'}],'type':'t'}}",
          "{'strategy':{'steps':[{'name':'b'}],'$retainKeys':['steps','type']}}",
          "{'strategy':{'steps':[{'name':'b'}],'$retainKeys':['steps','type']}}",
          "{'strategy':{'steps':[{'name':'b'}],'type':'t'}}");
    check("{'strategy':{'days':[1,2],'type':'t'}}", "{'strategy':{'days':[2,3],'type':'t'}}",
          "{'strategy':{'days':[1,2,9],'type':'t','maxSurge':1}}",
          "{'strategy':{'$setElementOrder/days':[2,3],'days':[3],'$deleteFromPrimitiveList/days':"
          "[1],'$retainKeys':['days','type']}}",
          "{'strategy':{'$setElementOrder/days':[2,3],'$deleteFromPrimitiveList/days':[1],"
          "'$retainKeys':['days','type'],'days':[3]}}",
          "{'strategy':{'days':[2,3,9],'type':'t'}}");
    check("{'strategy':{'hooks':[{'name':'a','value':'1'}],'type':'t'}}",
          "{'strategy':{'hooks':[{'name':'a','value':'2'}],'type':'t'}}",
          "{'strategy':{'hooks':[{'name':'a','value':'1'},{'name':'s'}],'type':'t'}}",
          "{'strategy':{'$setElementOrder/hooks':[{'name':'a'}],'hooks':[{'value':'2',"
          "'name':'a'}],'$retainKeys':['hooks','type']}}",
          "{'strategy':{'$setElementOrder/hooks':[{'name':'a'}],'hooks':[{'value':'2',"
          "'name':'a'}],'$retainKeys':['hooks','type']}}",
          "{'strategy':{'hooks':[{'name':'a','value':'2'},{'name':'s'}],'type':'t'}}");
    check("{'strategy':{'hooks':[{'name':'a'}],'type':'t'}}", "{'strategy':{'type':'t'}}",
          "{'strategy':{'hooks':[{'name':'a'},{'name':'b'}],'type':'t'}}",
          "{'strategy':{'hooks':null,'$retainKeys':['type']}}",
          "{'strategy':{'hooks':null,'$retainKeys':['type']}}", "{'strategy':{'type':'t'}}",
          .conflicts = true);
}

static void retain_keys_works_in_elements(void **state)
{
    (void)state;
    check("{'volumes':[{'name':'u'},{'name':'v','emptyDir':{}}]}",
          "{'volumes':[{'name':'u'},{'name':'v','hostPath':{'path':'/'}}]}",
          "{'volumes':[{'name':'u'},{'name':'v','emptyDir':{}}]}",
          "{'$setElementOrder/volumes':[{'name':'u'},{'name':'v'}],'volumes':[{'hostPath':"
          "{'path':'/'},'emptyDir':null,'$retainKeys':['hostPath','name'],'name':'v'}]}",
          "{'$setElementOrder/volumes':[{'name':'u'},{'name':'v'}],'volumes':[{'emptyDir':null,"
          "'$retainKeys':['hostPath','name'],'name':'v','hostPath':{'path':'/'}}]}",
          "{'volumes':[{'name':'u'},{'name':'v','hostPath':{'path':'/'}}]}");
    check("{'volumes':[{'name':'v'}]}", "{'volumes':[{'name':'v','emptyDir':{}}]}",
          "{'volumes':[{'name':'v','hostPath':{}}]}",
          "{'$setElementOrder/volumes':[{'name':'v'}],'volumes':[{'emptyDir':{},'$retainKeys':["
          "'emptyDir','name'],'name':'v'}]}",
          "{'$setElementOrder/volumes':[{'name':'v'}],'volumes':[{'emptyDir':{},'$retainKeys':["
          "'emptyDir','name'],'name':'v'}]}",
          "{'volumes':[{'name':'v','emptyDir':{}}]}");
    check("{'volumes':[{'name':'v'}]}", "{'volumes':[{'name':'v'}]}",
          "{'volumes':[{'name':'v','hostPath':{}}]}", "{}",
          "{'$setElementOrder/volumes':[{'name':'v'}],'volumes':[{'$retainKeys':['name'],"
          "'name':'v'}]}",
          "{'volumes':[{'name':'v'}]}");
}

static void elements_with_equal_keys_are_matched_in_order(void **state)
{
    (void)state;
    check("{'containers':[{'name':'a','image':'1'},{'name':'a','image':'2'}]}",
          "{'containers':[{'name':'a','image':'1'},{'name':'a','image':'2'}]}",
          "{'containers':[{'name':'a','image':'1'},{'name':'a','image':'2'}]}", "{}", "{}",
          "{'containers':[{'name':'a','image':'1'},{'name':'a','image':'2'}]}");
}

static void unknown_fields_may_be_added_and_removed_but_not_merged(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    check("{'x':{'a':1}}", "{'x':{'a':1}}", "{'x':{'a':1}}", "{}", "{}", "{'x':{'a':1}}");
    check("{'x':{'a':1},'z':true}", "{'y':[1]}", "{'x':{'a':1},'w':[1]}",
          "{'y':[1],'x':null,'z':null}", "{'x':null,'z':null,'y':[1]}", "{'w':[1],'y':[1]}");
    kc_auto(kc_view) *a = view_of("{'x':{'a':1}}"), *b = view_of("{'x':{'a':2}}");
    const kc_value *from = kc_view_root(a), *to = kc_view_root(b);
    assert_null(kc_strategic_patch_make(from, to, &pod_schema, NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "unable to find api field \"x\"");
    assert_null(kc_strategic_patch_make3(from, to, from, &pod_schema, NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "unable to find api field \"x\"");
}

#define refuses(from, to, reason, message) \
    check_refuses(from, to, reason, message, __FILE__, __LINE__)
static void check_refuses(const char *from, const char *to, kc_reason reason, const char *message,
                          const char *file, int line)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *a = view_of(from), *b = view_of(to);
    assert_null(kc_strategic_patch_make(kc_view_root(a), kc_view_root(b), &pod_schema, NULL, &err));
    assert_int_equal(err.reason, reason);
    kc__assert_contains(kc_error_text(&err), message, file, line);
}

static void incomparable_values_fail(void **state)
{
    (void)state;
    refuses("{'containers':[{'name':'a'}]}", "{'containers':[{'image':'a'}]}", KC_BAD_REQUEST,
            "map: map[image:a] does not contain declared merge key: name");
    refuses("{'days':[1]}", "{'days':['a']}", KC_BAD_REQUEST,
            "list element types are not identical: [[1] [a]]");
    refuses("{'days':[[1]]}", "{'days':[[2]]}", KC_INVALID, "lists of lists are not supported");
    refuses("{'keyless':[{'name':'a'}]}", "{'keyless':[{'name':'b'}]}", KC_BAD_REQUEST,
            "does not contain declared merge key: ");
    refuses("{'$patch':1}", "{'$patch':'replace'}", KC_BAD_REQUEST,
            "invalid value for special key: $patch");
    refuses("[]", "{}", KC_BAD_REQUEST, "invalid JSON document");
}

static void absent_inputs_are_empty_objects(void **state)
{
    (void)state;
    kc_auto(kc_view) *a = view_of("{'image':'a'}");
    kc_auto(kc_edit) *added =
        kc_strategic_patch_make(NULL, kc_view_root(a), &pod_schema, NULL, NULL);
    assert_node_json(kc_edit_root(added), "{'image':'a'}");
    kc_auto(kc_edit) *removed =
        kc_strategic_patch_make3(kc_view_root(a), NULL, NULL, &pod_schema, NULL, NULL);
    assert_node_json(kc_edit_root(removed), "{'image':null}");
}

static void changed_precondition_member_fails(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    const char *const unchanged[] = {"kind", "metadata.name", NULL};
    kc_strategic_patch_opts opts = {.unchanged = unchanged};
    kc_auto(kc_view) *a = view_of("{'kind':'x','metadata':{'name':'a'}}");
    kc_auto(kc_view) *b = view_of("{'kind':'x','metadata':{'name':'b'}}");
    const kc_value *from = kc_view_root(a), *to = kc_view_root(b);
    assert_null(kc_strategic_patch_make(from, to, &pod_schema, &opts, &err));
    assert_error(&err, KC_INVALID, "precondition failed for: map[metadata:map[name:b]]");
    assert_null(kc_strategic_patch_make3(from, to, from, &pod_schema, &opts, &err));
    assert_error(&err, KC_INVALID, "precondition failed for: map[metadata:map[name:b]]");
}

static void conflict_message_contains_both_patches(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *o = view_of("{'image':'a'}"), *m = view_of("{'image':'b'}"),
                     *c = view_of("{'image':'c'}");
    kc_strategic_patch_opts opts = {.refuse_conflicts = true};
    assert_null(kc_strategic_patch_make3(kc_view_root(o), kc_view_root(m), kc_view_root(c),
                                         &pod_schema, &opts, &err));
    assert_error(&err, KC_CONFLICT,
                 "patch:\n{\n  \"image\": \"b\"\n}\nconflicts with changes made from original to "
                 "current:\n{\n  \"image\": \"c\"\n}\n");
}

static void long_lists_are_compared_in_linear_time(void **state)
{
    (void)state;
    enum { N = 50000 };
    kc_scoped(kc_buf) from = {0};
    kc_scoped(kc_buf) to = {0};
    for (int i = 0; i < N; i++) {
        kc_buf_printf(&from, "%s{'name':'c%d'}", i ? "," : "{'containers':[", i);
        kc_buf_printf(&to, "%s{'name':'c%d'}", i ? "," : "{'containers':[", N + 10 - i);
    }
    kc_buf_puts(&from, "]}");
    kc_buf_puts(&to, "]}");
    kc_auto(kc_view) *a = view_of(kc_buf_cstr(&from)), *b = view_of(kc_buf_cstr(&to));
    kc_auto(kc_edit) *made = kc_strategic_patch_make3(kc_view_root(a), kc_view_root(b),
                                                      kc_view_root(a), &pod_schema, NULL, NULL);
    assert_int_equal(kc_node_len(kc_node_get(kc_edit_root(made), KC_STR("containers"))), 22);
    kc_auto(kc_edit) *edit = kc_edit_of_value(kc_view_root(a));
    kc_auto(kc_view) *patch = kc_edit_view(made, NULL);
    assert_int_equal(kc_strategic_patch_apply(edit, kc_view_root(patch), &pod_schema, NULL), 0);
    kc_scoped(kc_buf) wanted = {0};
    kc_scoped(kc_buf) got = {0};
    kc_json_write(&wanted, kc_view_root(b));
    kc_node_write(&got, kc_edit_root(edit));
    assert_true(kc_str_eq(kc_buf_str(&wanted), kc_buf_str(&got)));
}

TESTS(equal_objects_yield_empty_patch, members_are_added_changed_and_removed,
      nested_members_are_compared, changes_on_the_server_conflict_with_the_patch,
      explicit_nulls_are_kept_as_removals, lists_without_a_strategy_are_replaced,
      objects_with_replace_strategy_are_complete, elements_are_added, elements_are_changed,
      elements_are_deleted, elements_are_added_and_deleted_together, elements_are_reordered,
      lists_in_elements_are_compared, values_are_added_and_deleted,
      deletions_on_both_sides_do_not_conflict, retain_keys_lists_remaining_members,
      retain_keys_accompanies_nested_changes, retain_keys_works_in_elements,
      elements_with_equal_keys_are_matched_in_order,
      unknown_fields_may_be_added_and_removed_but_not_merged, incomparable_values_fail,
      absent_inputs_are_empty_objects, changed_precondition_member_fails,
      conflict_message_contains_both_patches, long_lists_are_compared_in_linear_time)
