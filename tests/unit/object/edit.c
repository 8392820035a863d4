/* SPDX-License-Identifier: Apache-2.0 */
/* edit.c: changing a tree and freezing it. */
#include "testing.h"

static void an_edit_leaves_its_object_alone(void **state)
{
    (void)state;
    kc_auto(kc_object) *before = object_of("{'metadata':{'name':'a'},'spec':{'replicas':1}}");
    kc_auto(kc_edit) *edit = kc_edit_of(before);
    kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    kc_node_set(edit, spec, KC_STR("replicas"), kc_node_i64(edit, 3));
    kc_auto(kc_object) *after = kc_edit_freeze(edit, NULL);
    assert_object_json(before, "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"replicas\":1}}");
    assert_object_json(after, "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"replicas\":3}}");
}

static void members_are_replaced_in_place_and_added_at_the_end(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit = edit_of("{'a':1,'b':2,'c':3}");
    kc_node *root = kc_edit_root(edit);
    kc_node_set(edit, root, KC_STR("a"), kc_node_str(edit, KC_STR("x")));
    kc_node_set(edit, root, KC_STR("c"), kc_node_bool(edit, true));
    kc_node_set(edit, root, KC_STR("d"), kc_node_null(edit));
    assert_node_json(root, "{'a':'x','b':2,'c':true,'d':null}");
    kc_node_set(edit, root, KC_STR("d"), kc_node_f64(edit, 1.5));
    kc_node_add(edit, root, KC_STR("e"), kc_node_u64(edit, UINT64_MAX));
    assert_node_json(root, "{'a':'x','b':2,'c':true,'d':1.5,'e':18446744073709551615}");
}

static void members_are_removed(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit = edit_of("{'a':1,'b':2,'c':3}");
    kc_node *root = kc_edit_root(edit);
    assert_true(kc_node_remove(root, KC_STR("c")));
    assert_true(kc_node_remove(root, KC_STR("a")));
    assert_false(kc_node_remove(root, KC_STR("a")));
    assert_node_json(root, "{'b':2}");
    assert_true(kc_node_remove(root, KC_STR("b")));
    assert_node_json(root, "{}");
    kc_node_set(edit, root, KC_STR("z"), kc_node_array(edit));
    assert_node_json(root, "{'z':[]}");
}

static void array_elements_are_inserted_replaced_and_removed(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit = edit_of("[1,2]");
    kc_node *root = kc_edit_root(edit);
    kc_node_append(root, kc_node_i64(edit, 3));
    kc_node_insert(root, 0, kc_node_i64(edit, -1));
    kc_node_insert(root, 4, kc_node_i64(edit, 4));
    assert_node_json(root, "[-1,1,2,3,4]");
    kc_node_replace_at(root, 4, kc_node_str(edit, KC_STR("end")));
    kc_node_remove_at(root, 0);
    assert_node_json(root, "[1,2,3,'end']");
    assert_int_equal(kc_node_len(root), 4);
    assert_str(kc_node_as_str(kc_node_at(root, 3)), "end");
}

static void wrong_types_and_null_change_nothing(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit = edit_of("{'a':[1]}");
    kc_node *root = kc_edit_root(edit), *array = kc_node_get(root, KC_STR("a"));
    kc_node_set(edit, array, KC_STR("x"), kc_node_null(edit));
    kc_node_append(root, kc_node_null(edit));
    kc_node_set(edit, root, KC_STR("b"), NULL);
    kc_node_set(edit, NULL, KC_STR("b"), kc_node_null(edit));
    assert_false(kc_node_remove(array, KC_STR("x")));
    assert_false(kc_node_remove(NULL, KC_STR("x")));
    kc_node_remove_at(array, 5);
    assert_node_json(root, "{'a':[1]}");
    int64_t number;
    assert_false(kc_node_as_i64(root, &number));
    assert_true(kc_node_as_i64(kc_node_at(array, 0), &number) && number == 1);
}

static void a_needed_object_is_made_once(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit = edit_of("{'a':null}");
    kc_node *a = kc_node_need_object(edit, kc_edit_root(edit), KC_STR("a"));
    kc_node_set(edit, a, KC_STR("x"), kc_node_i64(edit, 1));
    assert_ptr_equal(kc_node_need_object(edit, kc_edit_root(edit), KC_STR("a")), a);
    assert_node_json(kc_edit_root(edit), "{'a':{'x':1}}");
}

static void copies_are_independent(void **state)
{
    (void)state;
    kc_auto(kc_view) *view = view_of("{'list':[1,{'x':'y'}]}");
    kc_auto(kc_edit) *edit = kc_edit_new();
    kc_node *root = kc_edit_root(edit);
    kc_node *first = kc_node_copy(edit, kc_get(kc_view_root(view), "list"));
    kc_node_set(edit, root, KC_STR("a"), first);
    kc_node_set(edit, root, KC_STR("b"), kc_node_clone(edit, first));
    kc_node_append(first, kc_node_i64(edit, 2));
    assert_node_json(root, "{'a':[1,{'x':'y'},2],'b':[1,{'x':'y'}]}");
    assert_null(kc_node_copy(edit, NULL));
    assert_null(kc_node_clone(edit, NULL));
}

static void loops_visit_nodes_in_order(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit = edit_of("{'a':1,'b':[2,3],'c':4}");
    kc_scoped(kc_buf) seen = {0};
    kc_node_members (kc_edit_root(edit), name, value)
        kc_buf_printf(&seen, "%.*s:%s ", KC_ARG(name), kc_type_name(kc_node_type(value)));
    kc_node_items (kc_node_get(kc_edit_root(edit), KC_STR("b")), item) {
        int64_t number = 0;
        kc_node_as_i64(item, &number);
        kc_buf_printf(&seen, "%d ", (int)number);
    }
    assert_string_equal(kc_buf_cstr(&seen), "a:integer b:array c:integer 2 3 ");
    kc_node_members (kc_edit_root(edit), name, value) {
        assert_non_null(value);
        kc_buf_append(&seen, name);
        if (kc_str_is(name, "b"))
            break;
    }
    assert_string_equal(kc_buf_cstr(&seen), "a:integer b:array c:integer 2 3 ab");
}

static void freezing_checks_what_was_built(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_edit) *edit = edit_of("[1]");
    assert_null(kc_edit_freeze(edit, &err));
    assert_error(&err, KC_BAD_REQUEST, "an object is needed");
    kc_auto(kc_view) *view = kc_edit_view(edit, &err);
    assert_value_json(kc_view_root(view), "[1]");

    kc_auto(kc_edit) *deep = kc_edit_new();
    for (unsigned i = 0; i < KC_JSON_MAX_DEPTH; i++) {
        kc_node *outer = kc_node_object(deep);
        kc_node_add(deep, outer, KC_STR("a"), kc_edit_root(deep));
        kc_edit_set_root(deep, outer);
    }
    assert_null(kc_edit_freeze(deep, &err));
    assert_error(&err, KC_BAD_REQUEST, "nested too deeply");

    kc_edit_set_root(edit, NULL);
    assert_null(kc_edit_freeze(edit, &err));
    assert_error(&err, KC_INTERNAL, "cannot write");
}

static void frozen_floats_are_canonical(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit = kc_edit_new();
    kc_node_set(edit, kc_edit_root(edit), KC_STR("x"), kc_node_f64(edit, 100.0));
    kc_auto(kc_object) *o = kc_edit_freeze(edit, NULL);
    assert_object_json(o, "{\"x\":100}");
}

TESTS(an_edit_leaves_its_object_alone, members_are_replaced_in_place_and_added_at_the_end,
      members_are_removed, array_elements_are_inserted_replaced_and_removed,
      wrong_types_and_null_change_nothing, a_needed_object_is_made_once, copies_are_independent,
      loops_visit_nodes_in_order, freezing_checks_what_was_built, frozen_floats_are_canonical)
