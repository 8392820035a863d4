/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "kc/view.h"

static void names_lead_to_a_value(void **state)
{
    (void)state;
    kc_auto(kc_view) *view = view_of("{'a':{'b':{'c':7}},'':{'x':1}}");
    assert_value_json(kc_dig(kc_view_root(view), "a"), "{\"b\":{\"c\":7}}");
    assert_value_json(kc_dig(kc_view_root(view), "a.b.c"), "7");
    assert_value_json(kc_dig(kc_view_root(view), ".x"), "1");
}

static void what_is_not_there_is_absent(void **state)
{
    (void)state;
    kc_auto(kc_view) *view = view_of("{'a':{'b':[1]},'s':'text'}");
    assert_null(kc_dig(kc_view_root(view), "b"));
    assert_null(kc_dig(kc_view_root(view), "a.b.c"));
    assert_null(kc_dig(kc_view_root(view), "a.b.0"));
    assert_null(kc_dig(kc_view_root(view), "s.length"));
    assert_null(kc_dig(kc_view_root(view), "a."));
    assert_null(kc_dig(NULL, "a"));
}

static void a_value_is_put_where_names_lead(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit = edit_of("{'a':{'b':1,'c':2}}");
    kc_edit_put(edit, "a.b", kc_node_i64(edit, 3));
    kc_edit_put(edit, "d", kc_node_bool(edit, true));
    assert_node_json(kc_edit_root(edit), "{\"a\":{\"b\":3,\"c\":2},\"d\":true}");
}

static void what_is_missing_on_the_way_is_made(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit = edit_of("{'a':'text'}");
    kc_edit_put(edit, "a.b.c", kc_node_i64(edit, 1));
    kc_edit_put(edit, "a.b.d", kc_node_i64(edit, 2));
    assert_node_json(kc_edit_root(edit), "{\"a\":{\"b\":{\"c\":1,\"d\":2}}}");
}

TESTS(names_lead_to_a_value, what_is_not_there_is_absent, a_value_is_put_where_names_lead,
      what_is_missing_on_the_way_is_made)
