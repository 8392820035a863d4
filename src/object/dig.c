/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dig.c: the short way to a value whose place the program knows: names with dots between them,
 * walked as they are written. Nothing is compiled and nothing can be wrong with such a text, so
 * there is no error to look at; what it cannot say (an index, a name that holds a dot) is said with
 * a path (path.h).
 */
#include "kc/edit.h"
#include "kc/view.h"

const kc_value *kc_dig(const kc_value *object, const char *names)
{
    kc_str rest = kc_cstr(names);
    while (rest.p && object)
        object = kc_get_str(object, kc_str_cut(&rest, '.'));
    return object;
}

void kc_edit_put(kc_edit *edit, const char *names, kc_node *value)
{
    kc_node *at = kc_edit_root(edit);
    kc_str rest = kc_cstr(names), name = kc_str_cut(&rest, '.');
    for (; rest.p; name = kc_str_cut(&rest, '.'))
        at = kc_node_need_object(edit, at, name);
    kc_node_set(edit, at, name, value);
}
