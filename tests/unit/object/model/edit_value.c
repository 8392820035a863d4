/* SPDX-License-Identifier: Apache-2.0 */
/* edit_value.c: an edit that is finished gives the object and the view that freezing and parsing
 * give. */
#include "object/model/edit_value.h"
#include "kc/diff.h"
#include "object/model/object_internal.h"
#include "testing.h"

static void assert_finishes(kc_edit *edit)
{
    kc_auto(kc_object) *frozen = kc_edit_freeze(edit, NULL);
    kc_auto(kc_view) *parsed = kc_view_of(frozen), *view = NULL;
    kc_auto(kc_object) *finished = kc__object_finish_edit(edit, &view, NULL);
    assert_non_null(finished);
    assert_true(kc_str_eq(kc_object_json(finished), kc_object_json(frozen)));
    assert_true(kc_str_eq(kc_object_name(finished), kc_object_name(frozen)));
    assert_true(kc_str_eq(kc_object_kind(finished), kc_object_kind(frozen)));
    assert_true(kc_str_eq(kc_object_labels_json(finished), kc_object_labels_json(frozen)));
    assert_int_equal(finished->has, frozen->has);
    const kc_value *a = kc_view_root(view), *b = kc_view_root(parsed);
    const size_t n = kc_value_count(b);
    assert_int_equal(kc_value_count(a), n);
    assert_true(kc_value_equal(a, b, NULL));
    for (size_t i = 0; i < n; i++)
        assert_int_equal(kc_value_type(&a[i]), kc_value_type(&b[i]));
}

static void finished_edit_equals_frozen_and_parsed_one(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "{}",
        "{'metadata':{}}",
        "{'apiVersion':'v1','kind':'A','metadata':{'name':'a','labels':{'x':'y'}},'spec':{'a':[]}}",
        "{'spec':{'n':[0,-1,1.5,1e300,18446744073709551615,true,null,'\\u0001\\\\\\'']},'kind':'A'}",
        "{'kind':'a\\nb','metadata':{'name':'c\\td'}}",
        "{'kind':7,'metadata':[],'apiVersion':null}",
        "{'\\n':1,'metadata':{'generation':'x'}}",
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_auto(kc_object) *object = object_of(cases[i]);
        assert_finishes(kc_edit_of(object));
    }
}

static void whole_floating_point_number_becomes_an_integer(void **state)
{
    (void)state;
    static const double numbers[] = {0.0, -0.0, 3, -3, 1e17, 1e18, -1e18, 1e21, 0.5};
    kc_edit *edit = kc_edit_new();
    kc_node *list = kc_node_array(edit);
    for (size_t i = 0; i < KC_COUNT(numbers); i++)
        kc_node_append(list, kc_node_f64(edit, numbers[i]));
    kc_node_set(edit, kc_edit_root(edit), KC_STR("n"), list);
    assert_finishes(edit);
}

static void edited_tree_is_finished_with_its_changes(void **state)
{
    (void)state;
    kc_auto(kc_object) *object = object_of("{'a':1,'b':[1,2,3],'c':{'d':'e'}}");
    kc_edit *edit = kc_edit_of(object);
    kc_node *root = kc_edit_root(edit);
    kc_node_remove(root, KC_STR("a"));
    kc_node_remove_at(kc_node_get(root, KC_STR("b")), 0);
    kc_node_add(edit, root, KC_STR("f"), kc_node_object(edit));
    assert_finishes(edit);
}

static void tree_that_nests_too_deeply_is_an_error(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_view *view = NULL;
    kc_edit *edit = kc_edit_new();
    kc_node *at = kc_edit_root(edit);
    for (unsigned i = 0; i < KC_JSON_MAX_DEPTH; i++) {
        kc_node *below = kc_node_object(edit);
        kc_node_add(edit, at, KC_STR("a"), below);
        at = below;
    }
    assert_null(kc__object_finish_edit(edit, &view, &err));
    assert_null(view);
    assert_error(&err, KC_BAD_REQUEST, "nested too deeply");
}

static void skipped_member_is_not_part_of_the_value(void **state)
{
    (void)state;
    kc_auto(kc_object) *object = object_of("{'a':{'x':1,'y':[2],'z':3}}");
    kc_auto(kc_view) *expected = view_of("{'a':{'x':1,'z':3}}");
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_node *a = kc_node_get(kc_edit_root(edit), KC_STR("a"));
    kc_value cells[16];
    assert_int_equal(kc__node_measure(kc_edit_root(edit)).cells, 10);
    assert_int_equal(kc__node_measure(kc_edit_root(edit)).depth, 3);
    kc__node_copy(cells, kc_edit_root(edit), kc__node_find_key(a, KC_STR("y")));
    assert_true(kc_value_equal(cells, kc_view_root(expected), NULL));
    assert_int_equal(kc_value_count(cells), 7);
}

TESTS(finished_edit_equals_frozen_and_parsed_one, whole_floating_point_number_becomes_an_integer,
      edited_tree_is_finished_with_its_changes, tree_that_nests_too_deeply_is_an_error,
      skipped_member_is_not_part_of_the_value)
