/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.c: reads the result of an evaluation, for callers that need more than its JSON: the
 * operations of a patch are objects whose parts have types of their own.
 */
#include "cel/library/library_internal.h"

void kc_cel_each(kc_cel_value container, bool (*each)(kc_str name, kc_cel_value value, void *user),
                 void *user)
{
    kc_scoped(kc_arena) arena = {0};
    kc__cel_eval ev = {.arena = &arena, .max_bytes = SIZE_MAX, .budget = UINT64_MAX};
    const bool named = container.kind == KC_CEL_MAP || container.kind == KC_CEL_OBJECT;
    kc__cel_iter iter;
    kc_cel_value key, item = {0};
    if ((!named && container.kind != KC_CEL_LIST) || !kc__cel_iter_begin(&ev, container, &iter))
        return;
    while (kc__cel_iter_next(&ev, &iter, &key, named ? &item : NULL)) {
        const kc_str name = named && key.kind == KC_CEL_STRING ? key.text : (kc_str){0};
        if (!each(name, named ? item : key, user))
            return;
    }
}
