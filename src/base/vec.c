/* SPDX-License-Identifier: Apache-2.0 */
/* vec.c: the function behind the macros of vec.h. Capacity doubles, from 8 elements on. */
#include "kc/vec.h"

void *kc__vec_grow(void *items, size_t *cap, size_t n, size_t more, size_t size)
{
    size_t need;
    if (__builtin_add_overflow(n, more, &need))
        need = SIZE_MAX; /* Overflow: ends in the out-of-memory hook. */
    size_t bigger = KC_MAX(need, KC_MAX(*cap * 2, (size_t)8));
    items = kc_reallocarray(items, bigger, size);
    *cap = bigger;
    return items;
}
