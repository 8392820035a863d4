/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "kc/view.h"

static void dotted_names_find_value(void **state)
{
    (void)state;
    kc_auto(kc_view) *view = view_of("{'a':{'b':{'c':7}},'':{'x':1}}");
    assert_value_json(kc_value_nested(kc_view_root(view), "a"), "{\"b\":{\"c\":7}}");
    assert_value_json(kc_value_nested(kc_view_root(view), "a.b.c"), "7");
    assert_value_json(kc_value_nested(kc_view_root(view), ".x"), "1");
}

static void missing_member_is_absent(void **state)
{
    (void)state;
    kc_auto(kc_view) *view = view_of("{'a':{'b':[1]},'s':'text'}");
    assert_null(kc_value_nested(kc_view_root(view), "b"));
    assert_null(kc_value_nested(kc_view_root(view), "a.b.c"));
    assert_null(kc_value_nested(kc_view_root(view), "a.b.0"));
    assert_null(kc_value_nested(kc_view_root(view), "s.length"));
    assert_null(kc_value_nested(kc_view_root(view), "a."));
    assert_null(kc_value_nested(NULL, "a"));
}

static void value_is_set_at_dotted_names(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit = edit_of("{'a':{'b':1,'c':2}}");
    kc_edit_set_nested(edit, "a.b", kc_node_i64(edit, 3));
    kc_edit_set_nested(edit, "d", kc_node_bool(edit, true));
    assert_node_json(kc_edit_root(edit), "{\"a\":{\"b\":3,\"c\":2},\"d\":true}");
}

static void missing_parents_are_created(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit = edit_of("{'a':'text'}");
    kc_edit_set_nested(edit, "a.b.c", kc_node_i64(edit, 1));
    kc_edit_set_nested(edit, "a.b.d", kc_node_i64(edit, 2));
    assert_node_json(kc_edit_root(edit), "{\"a\":{\"b\":{\"c\":1,\"d\":2}}}");
}

TESTS(dotted_names_find_value, missing_member_is_absent, value_is_set_at_dotted_names,
      missing_parents_are_created)
