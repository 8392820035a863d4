/* SPDX-License-Identifier: Apache-2.0 */
/* edit.c: changing a tree and freezing it. */
#include "testing.h"

#include "kc/rand.h"

#include <stdio.h>

static void edit_does_not_change_its_object(void **state)
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

static void wrong_type_or_null_has_no_effect(void **state)
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

static void ensure_object_creates_object_once(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit = edit_of("{'a':null}");
    kc_node *a = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("a"));
    kc_node_set(edit, a, KC_STR("x"), kc_node_i64(edit, 1));
    assert_ptr_equal(kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("a")), a);
    assert_node_json(kc_edit_root(edit), "{'a':{'x':1}}");
}

static void copies_are_independent(void **state)
{
    (void)state;
    kc_auto(kc_view) *view = view_of("{'list':[1,{'x':'y'}]}");
    kc_auto(kc_edit) *edit = kc_edit_new();
    kc_node *root = kc_edit_root(edit);
    kc_node *first = kc_node_from_value(edit, kc_value_get(kc_view_root(view), "list"));
    kc_node_set(edit, root, KC_STR("a"), first);
    kc_node_set(edit, root, KC_STR("b"), kc_node_clone(edit, first));
    kc_node_append(first, kc_node_i64(edit, 2));
    assert_node_json(root, "{'a':[1,{'x':'y'},2],'b':[1,{'x':'y'}]}");
    assert_null(kc_node_from_value(edit, NULL));
    assert_null(kc_node_clone(edit, NULL));
}

static void loops_visit_nodes_in_order(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit = edit_of("{'a':1,'b':[2,3],'c':4}");
    kc_scoped(kc_buf) seen = {0};
    kc_node_each_member (kc_edit_root(edit), name, value)
        kc_buf_printf(&seen, "%.*s:%s ", KC_ARG(name), kc_json_type_name(kc_node_type(value)));
    kc_node_each_item (kc_node_get(kc_edit_root(edit), KC_STR("b")), item) {
        int64_t number = 0;
        kc_node_as_i64(item, &number);
        kc_buf_printf(&seen, "%d ", (int)number);
    }
    assert_string_equal(kc_buf_cstr(&seen), "a:integer b:array c:integer 2 3 ");
    kc_node_each_member (kc_edit_root(edit), name, value) {
        assert_non_null(value);
        kc_buf_append(&seen, name);
        if (kc_str_is(name, "b"))
            break;
    }
    assert_string_equal(kc_buf_cstr(&seen), "a:integer b:array c:integer 2 3 ab");
}

static void freeze_validates_the_tree(void **state)
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

/* Sets and removes members of a long object, some by functions other than kc_node_set, whose index
 * must detect that; a map has the expected members. */
static void set_in_long_object_matches_short_object(void **state)
{
    (void)state;
    enum { NAMES = 200, ROUNDS = 5000 };
    static char names[NAMES][16];
    int64_t expected[NAMES] = {0};
    kc_rand rand;
    kc_rand_seed(&rand, 5);
    kc_auto(kc_edit) *edit = kc_edit_new();
    kc_node *root = kc_edit_root(edit), *other = kc_node_object(edit);
    for (int i = 0; i < NAMES; i++)
        snprintf(names[i], sizeof(names[i]), "k%d", i);
    for (int64_t round = 1; round < ROUNDS; round++) {
        size_t at = kc_rand_below(&rand, NAMES);
        kc_str name = kc_cstr(names[at]);
        if (kc_rand_below(&rand, 16) == 0)
            kc_node_set(edit, other, name,
                        kc_node_i64(edit, -1)); /* The index belongs to one object. */
        if (kc_rand_below(&rand, 8) == 0) {
            assert_int_equal(kc_node_remove(root, name), expected[at] != 0);
            expected[at] = 0;
        } else if (!expected[at] && kc_rand_below(&rand, 8) == 0) {
            kc_node_add(edit, root, name, kc_node_i64(edit, expected[at] = round));
        } else {
            kc_node_set(edit, root, name, kc_node_i64(edit, expected[at] = round));
        }
    }
    size_t there = 0;
    for (int i = 0; i < NAMES; i++) {
        int64_t value = 0;
        kc_node_as_i64(kc_node_get(root, kc_cstr(names[i])), &value);
        assert_int_equal(value, expected[i]);
        there += expected[i] != 0;
    }
    assert_int_equal(kc_node_len(root), there);
    kc_auto(kc_object) *frozen = kc_edit_freeze(edit, NULL);
    assert_non_null(frozen);
}

static void setting_many_members_takes_linear_time(void **state)
{
    (void)state;
    enum { MANY = 300000 }; /* Takes minutes with scans. */
    kc_auto(kc_edit) *edit = kc_edit_new();
    char name[24];
    for (int twice = 0; twice < 2; twice++)
        for (int i = 0; i < MANY; i++) {
            snprintf(name, sizeof(name), "k%d", i);
            kc_node_set(edit, kc_edit_root(edit), kc_cstr(name), kc_node_i64(edit, i));
        }
    assert_int_equal(kc_node_len(kc_edit_root(edit)), MANY);
}

TESTS(edit_does_not_change_its_object, members_are_replaced_in_place_and_added_at_the_end,
      members_are_removed, array_elements_are_inserted_replaced_and_removed,
      wrong_type_or_null_has_no_effect, ensure_object_creates_object_once, copies_are_independent,
      loops_visit_nodes_in_order, freeze_validates_the_tree, frozen_floats_are_canonical,
      set_in_long_object_matches_short_object, setting_many_members_takes_linear_time)
