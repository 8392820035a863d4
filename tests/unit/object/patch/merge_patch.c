/* SPDX-License-Identifier: Apache-2.0 */
/* merge_patch.c: applying and creating JSON merge patches. */
#include "kc/merge_patch.h"
#include "testing.h"

#define gives(document, patch, result) check_gives(document, patch, result, __FILE__, __LINE__)
static void check_gives(const char *document, const char *patch, const char *result,
                        const char *file, int line)
{
    kc_auto(kc_edit) *edit = edit_of(document);
    kc_auto(kc_view) *view = view_of(patch);
    kc_merge_patch_apply(edit, kc_view_root(view));
    kc__assert_node_json(kc_edit_root(edit), result, file, line);
}

#define makes(from, to, patch) check_makes(from, to, patch, __FILE__, __LINE__)
static void check_makes(const char *from, const char *to, const char *patch, const char *file,
                        int line)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *a = view_of(from), *b = view_of(to);
    kc_auto(kc_edit) *made = kc_merge_patch_make(kc_view_root(a), kc_view_root(b), NULL, &err);
    kc__assert_node_json(kc_edit_root(made), patch, file, line);
}

/* Creates a three-way patch, compares it, and applies it to current. */
#define makes3(original, modified, current, patch, result) \
    check_makes3(original, modified, current, patch, result, __FILE__, __LINE__)
static void check_makes3(const char *original, const char *modified, const char *current,
                         const char *patch, const char *result, const char *file, int line)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *o = view_of(original), *m = view_of(modified), *c = view_of(current);
    kc_auto(kc_edit) *made =
        kc_merge_patch_make3(kc_view_root(o), kc_view_root(m), kc_view_root(c), NULL, &err);
    kc__assert_node_json(kc_edit_root(made), patch, file, line);
    check_gives(current, patch, result, file, line);
}

static void members_are_set_merged_and_removed(void **state)
{
    (void)state;
    gives("{'a':'b'}", "{'a':'c'}", "{'a':'c'}");
    gives("{'a':'b'}", "{'b':'c'}", "{'a':'b','b':'c'}");
    gives("{'a':'b','b':'c'}", "{'a':null}", "{'b':'c'}");
    gives("{'a':{'b':'c','d':'e'}}", "{'a':{'b':'x','d':null}}", "{'a':{'b':'x'}}");
    gives("{'a':1}", "{}", "{'a':1}");
    gives("{'a':1}", "{'b':null}", "{'a':1}");
}

static void values_other_than_objects_are_replaced(void **state)
{
    (void)state;
    gives("{'a':['b']}", "{'a':'c'}", "{'a':'c'}");
    gives("{'a':'c'}", "{'a':['b']}", "{'a':['b']}");
    gives("{'a':[{'b':'c'}]}", "{'a':[1]}", "{'a':[1]}");
    gives("{'a':{'b':1}}", "{'a':2}", "{'a':2}");
    gives("{'a':2}", "{'a':{'b':1}}", "{'a':{'b':1}}");
    gives("{'e':null}", "{'e':{'a':1}}", "{'e':{'a':1}}");
    gives("{'e':null}", "{'a':1}", "{'e':null,'a':1}");
}

static void nulls_that_remove_nothing_are_dropped(void **state)
{
    (void)state;
    gives("{}", "{'a':{'bb':{'ccc':null}}}", "{'a':{'bb':{}}}");
    gives("{'a':[1]}", "{'a':{'b':null,'c':1}}", "{'a':{'c':1}}");
    gives("{}", "{'l':[null,{'a':null,'b':1}]}", "{'l':[null,{'b':1}]}");
    gives("{'l':[1]}", "{'l':[null,{'a':null,'b':1}]}", "{'l':[null,{'b':1}]}");
    gives("{'l':{}}", "{'l':[{'a':null}]}", "{'l':[{'a':null}]}");
}

static void patch_that_is_not_an_object_becomes_document(void **state)
{
    (void)state;
    gives("{'a':'foo'}", "'bar'", "'bar'");
    gives("{'a':'foo'}", "null", "null");
    gives("{'a':'foo'}", "['c']", "['c']");
    gives("[1,2]", "{'a':'b','c':null}", "{'a':'b'}");
    gives("['a','b']", "['c','d']", "['c','d']");
}

static void long_objects_are_merged_in_linear_time(void **state)
{
    (void)state;
    enum { N = 100000 };
    kc_scoped(kc_buf) document = {0};
    kc_scoped(kc_buf) patch = {0};
    for (int i = 0; i < N; i++) {
        kc_buf_printf(&document, "%c'k%d':1", i ? ',' : '{', i);
        kc_buf_printf(&patch, "%c'k%d':%s", i ? ',' : '{', N - 1 - i + 10, i % 2 ? "null" : "2");
    }
    kc_buf_putc(&document, '}');
    kc_buf_putc(&patch, '}');
    kc_auto(kc_edit) *edit = edit_of(kc_buf_cstr(&document));
    kc_auto(kc_view) *view = view_of(kc_buf_cstr(&patch));
    kc_merge_patch_apply(edit, kc_view_root(view));
    kc_auto(kc_view) *result = kc_edit_view(edit, NULL);
    assert_int_equal(kc_value_len(kc_view_root(result)), 10 + (N - 10) / 2 + 5);
    assert_value_json(kc_value_get(kc_view_root(result), "k0"), "1");
    assert_value_json(kc_value_get(kc_view_root(result), "k11"), "2");
    assert_null(kc_value_get(kc_view_root(result), "k10"));
    assert_value_json(kc_value_get(kc_view_root(result), "k100009"), "2");

    kc_auto(kc_view) *before = view_of(kc_buf_cstr(&document));
    kc_auto(kc_edit) *made =
        kc_merge_patch_make(kc_view_root(before), kc_view_root(result), NULL, NULL);
    kc_auto(kc_edit) *again = kc_edit_of_value(kc_view_root(before));
    kc_auto(kc_view) *made_view = kc_edit_view(made, NULL);
    kc_merge_patch_apply(again, kc_view_root(made_view));
    assert_int_equal(kc_node_len(kc_edit_root(again)), kc_value_len(kc_view_root(result)));
}

static void two_way_patch_is_the_difference(void **state)
{
    (void)state;
    makes("{'a':1}", "{'a':1}", "{}");
    makes("{'a':1,'b':2}", "{'b':3,'c':4}", "{'b':3,'c':4,'a':null}");
    makes("{'a':{'x':1,'y':2}}", "{'a':{'x':1,'y':3}}", "{'a':{'y':3}}");
    makes("{'a':{'x':1}}", "{'a':{}}", "{'a':{'x':null}}");
    makes("{'a':[1,2]}", "{'a':[1,2]}", "{}");
    makes("{'a':[1,2]}", "{'a':[2,1]}", "{'a':[2,1]}");
    makes("{'a':1}", "{'a':{'b':1}}", "{'a':{'b':1}}");
    makes("{'a':9007199254740993}", "{'a':9007199254740992}", "{'a':9007199254740992}");
    makes("{'a':1.0}", "{'a':1}", "{}");
    makes("{}", "{'a':{}}", "{'a':{}}");
}

static void absent_inputs_are_empty_objects(void **state)
{
    (void)state;
    kc_auto(kc_view) *a = view_of("{'a':1}"), *list = view_of("[]");
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_edit) *made = kc_merge_patch_make(NULL, kc_view_root(a), NULL, &err);
    assert_node_json(kc_edit_root(made), "{'a':1}");
    kc_auto(kc_edit) *made3 = kc_merge_patch_make3(kc_view_root(a), NULL, NULL, NULL, &err);
    assert_node_json(kc_edit_root(made3), "{'a':null}");
    assert_null(kc_merge_patch_make(kc_view_root(a), kc_view_root(list), NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "it must be an object");
}

static void three_way_keeps_members_added_by_others(void **state)
{
    (void)state;
    makes3("{}", "{'a':1}", "{'b':2}", "{'a':1}", "{'b':2,'a':1}");
    makes3("{'a':1}", "{'a':1}", "{'a':1,'b':2}", "{}", "{'a':1,'b':2}");
    makes3("{'a':1}", "{'a':2}", "{'a':1,'b':2}", "{'a':2}", "{'a':2,'b':2}");
    makes3("{'m':{'x':1}}", "{'m':{'x':1,'y':2}}", "{'m':{'x':1,'z':3}}", "{'m':{'y':2}}",
           "{'m':{'x':1,'z':3,'y':2}}");
}

static void three_way_removes_previously_applied_members(void **state)
{
    (void)state;
    makes3("{'a':1,'b':1}", "{'b':1}", "{'a':1,'b':1,'c':1}", "{'a':null}", "{'b':1,'c':1}");
    makes3("{'m':{'x':1,'y':1}}", "{'m':{'x':1}}", "{'m':{'x':1,'y':1,'z':1}}", "{'m':{'y':null}}",
           "{'m':{'x':1,'z':1}}");
    makes3("{'a':1}", "{}", "{}", "{'a':null}", "{}");
    makes3("{'m':{'x':1}}", "{'m':{'y':2}}", "{'m':{'x':1}}", "{'m':{'x':null,'y':2}}",
           "{'m':{'y':2}}");
}

static void three_way_restores_changed_members(void **state)
{
    (void)state;
    makes3("{'a':1}", "{'a':1}", "{'a':5}", "{'a':1}", "{'a':1}");
    makes3("{'a':1}", "{'a':1}", "{}", "{'a':1}", "{'a':1}");
    makes3("{'l':[1,2]}", "{'l':[1,2]}", "{'l':[1,2,3]}", "{'l':[1,2]}", "{'l':[1,2]}");
    makes3("{'m':{'x':1}}", "{'m':{'x':1}}", "{'m':'text'}", "{'m':{'x':1}}", "{'m':{'x':1}}");
}

static void three_way_treats_nulls_as_removals(void **state)
{
    (void)state;
    makes3("{'a':1}", "{'a':null}", "{'a':1}", "{'a':null}", "{}");
    makes3("{}", "{'m':{'a':null}}", "{}", "{'m':{'a':null}}", "{'m':{}}");
    makes3("{}", "{'m':{}}", "{}", "{'m':{}}", "{'m':{}}");
    makes3("{}", "{'m':{'a':null,'b':1}}", "{}", "{'m':{'a':null,'b':1}}", "{'m':{'b':1}}");
}

static void changed_precondition_member_fails(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_merge_patch_opts opts = {.unchanged = KC_UNCHANGED_IDENTITY};
    kc_auto(kc_view) *a = view_of("{'kind':'A','metadata':{'name':'x','labels':{}}}");
    kc_auto(kc_view) *b = view_of("{'kind':'B','metadata':{'name':'x'}}");
    kc_auto(kc_view) *c = view_of("{'kind':'A','metadata':{'name':'y'}}");
    kc_auto(kc_view) *d = view_of("{'kind':'A','metadata':{'name':'x','labels':{'a':'b'}}}");
    const kc_value *from = kc_view_root(a);
    assert_null(kc_merge_patch_make(from, kc_view_root(b), &opts, &err));
    assert_error(&err, KC_INVALID,
                 "precondition failed for: map[kind:B metadata:map[labels:<nil>]]");
    assert_null(kc_merge_patch_make3(from, kc_view_root(c), from, &opts, &err));
    assert_error(&err, KC_INVALID, "precondition failed for: map[metadata:map[");
    kc_auto(kc_edit) *fine = kc_merge_patch_make(from, kc_view_root(d), &opts, &err);
    assert_node_json(kc_edit_root(fine), "{'metadata':{'labels':{'a':'b'}}}");
}

TESTS(members_are_set_merged_and_removed, values_other_than_objects_are_replaced,
      nulls_that_remove_nothing_are_dropped, patch_that_is_not_an_object_becomes_document,
      long_objects_are_merged_in_linear_time, two_way_patch_is_the_difference,
      absent_inputs_are_empty_objects, three_way_keeps_members_added_by_others,
      three_way_removes_previously_applied_members, three_way_restores_changed_members,
      three_way_treats_nulls_as_removals, changed_precondition_member_fails)
