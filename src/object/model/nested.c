/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nested.c: access to a value at a fixed path: names joined by dots. Such a path is not compiled
 * and cannot be invalid, so there is no error to handle. For indexes and names that contain dots,
 * use a compiled path (path.h).
 */
#include "kc/edit.h"
#include "kc/view.h"

const kc_value *kc_value_nested(const kc_value *object, const char *names)
{
    kc_str rest = kc_cstr(names);
    while (rest.p && object)
        object = kc_value_get_str(object, kc_str_cut(&rest, '.'));
    return object;
}

void kc_edit_set_nested(kc_edit *edit, const char *names, kc_node *value)
{
    kc_node *at = kc_edit_root(edit);
    kc_str rest = kc_cstr(names), name = kc_str_cut(&rest, '.');
    for (; rest.p; name = kc_str_cut(&rest, '.'))
        at = kc_node_ensure_object(edit, at, name);
    kc_node_set(edit, at, name, value);
}
