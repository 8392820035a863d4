/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vec.h: a growable array of any type.
 *
 *     KC_VEC(kc_str) names = {0};
 *     kc_vec_push(&names, KC_STR("web"));
 *     kc_vec_each(&names, name)
 *         printf("%.*s\n", KC_ARG(*name));
 *     kc_vec_done(&names);
 *
 * `items` and `n` may be read directly. Elements move when the array grows: keep indexes, not
 * pointers. The macros evaluate their arguments more than once: no side effects in them, except in
 * the pushed value. Name the type of a vector that is passed to functions: typedef KC_VEC(kc_cause)
 * kc_causes;
 */
#ifndef KC_VEC_H
#define KC_VEC_H

#include "kc/mem.h"

#define KC_VEC(type)   \
    struct {           \
        type *items;   \
        size_t n, cap; \
    }

/* Reserves room for `more` further elements. */
#define kc_vec_reserve(vec, more)                                                          \
    ((size_t)(more) <= (vec)->cap - (vec)->n                                               \
         ? (void)0                                                                         \
         : (void)((vec)->items = kc__vec_grow((vec)->items, &(vec)->cap, (vec)->n, (more), \
                                              sizeof(*(vec)->items))))

/* Appends a value, which may be read from the vector itself. */
#define kc_vec_push(vec, ...)                   \
    do {                                        \
        kc_vec_reserve(vec, 1);                 \
        (vec)->items[(vec)->n] = (__VA_ARGS__); \
        (vec)->n++;                             \
    } while (0)

/* Appends a zeroed element and returns its address. */
#define kc_vec_add(vec)                                            \
    (__extension__({                                               \
        kc_vec_reserve(vec, 1);                                    \
        memset(&(vec)->items[(vec)->n], 0, sizeof(*(vec)->items)); \
        &(vec)->items[(vec)->n++];                                 \
    }))

/* Removes and returns the last element. The vector must not be empty. */
#define kc_vec_pop(vec) ((vec)->items[--(vec)->n])

/* The last element's address. The vector must not be empty. */
#define kc_vec_last(vec) (&(vec)->items[(vec)->n - 1])

/* Removes element `at`, keeping the order of the rest. */
#define kc_vec_remove(vec, at)                               \
    (memmove(&(vec)->items[at], &(vec)->items[(at) + 1],     \
             ((vec)->n - (at) - 1) * sizeof(*(vec)->items)), \
     (vec)->n--)

/* Runs the block for the address of each element. */
#define kc_vec_each(vec, it) \
    for (__typeof__(*(vec)->items) *it = (vec)->items; it && it < (vec)->items + (vec)->n; it++)

#define kc_vec_clear(vec) ((void)((vec)->n = 0))

/* Frees the array, but not what its elements point to. */
#define kc_vec_done(vec) \
    (free((vec)->items), (vec)->items = NULL, (void)((vec)->n = (vec)->cap = 0))

/* Sorts with qsort; not stable. */
#define kc_vec_sort(vec, compare) \
    ((vec)->n > 1 ? qsort((vec)->items, (vec)->n, sizeof(*(vec)->items), compare) : (void)0)

void *kc__vec_grow(void *items, size_t *cap, size_t n, size_t more, size_t size);

#endif
