/* SPDX-License-Identifier: Apache-2.0 */
/* vec.c: the one function behind vec.h's macros. Capacity doubles, from 8 elements on. */
#include "kc/vec.h"

void *kc__vec_grow(void *items, size_t *cap, size_t n, size_t more, size_t size)
{
    size_t need;
    if (__builtin_add_overflow(n, more, &need))
        need = SIZE_MAX; /* More than there is: ends in the hook for lack of memory. */
    size_t bigger = KC_MAX(need, KC_MAX(*cap * 2, (size_t)8));
    items = kc_reallocarray(items, bigger, size);
    *cap = bigger;
    return items;
}
