/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem.h: allocation, and the two words that make ownership readable.
 *
 *     kc_auto(kc_view) *view = kc_view_of(object);         freed when the scope ends
 *     return kc_take(view);                                unless it is given away
 *     kc_scoped(kc_buf) out = {0};                         the same for a value: kc_buf_done(&out)
 *
 * Two families of allocation. kc_alloc and its kin are for sizes the program chose: they never
 * return NULL (out of memory ends the process through one hook, see kc_set_oom_hook). kc_try_alloc
 * is for sizes that somebody outside chose: it takes a limit and may fail, and the caller must
 * look.
 */
#ifndef KC_MEM_H
#define KC_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KC_PRINTF(fmt_at, args_at) __attribute__((format(printf, fmt_at, args_at)))
#define KC_MUST_CHECK              __attribute__((warn_unused_result))
#define KC_UNUSED                  __attribute__((unused))

#define KC_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define KC_MIN(a, b)    ((a) < (b) ? (a) : (b))
#define KC_MAX(a, b)    ((a) > (b) ? (a) : (b))

/* The struct that holds `member`, given a pointer to the member. */
#define kc_container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))

/* A pointer variable freed at the end of its scope. The type must have been named in
 * KC_AUTO_DEFINE. */
#define kc_auto(type) __attribute__((cleanup(type##_auto_))) type

/* A value variable whose contents are released at the end of its scope, by type##_done. Must be
 * initialised. */
#define kc_scoped(type) __attribute__((cleanup(type##_done))) type

/* A char * (or any malloc'd pointer) freed at the end of its scope: kc_autofree char *text = NULL;
 */
#define kc_autofree __attribute__((cleanup(kc__autofree)))

/* The value of a pointer variable, which becomes NULL: hands ownership on. */
#define kc_take(var)                    \
    (__extension__({                    \
        __typeof__(var) taken_ = (var); \
        (var) = NULL;                   \
        taken_;                         \
    }))

/* Lets kc_auto(type) free with `free_fn`, which must take NULL. */
#define KC_AUTO_DEFINE(type, free_fn)                     \
    static inline KC_UNUSED void type##_auto_(type **var) \
    {                                                     \
        free_fn(*var);                                    \
    }

static inline void kc__autofree(void *var)
{
    free(*(void **)var);
}

/* Never NULL. A size of 0 gives a pointer that may be freed. */
void *kc_alloc(size_t size) __attribute__((malloc, returns_nonnull));
void *kc_calloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *kc_realloc(void *old, size_t size) __attribute__((returns_nonnull));
void *kc_reallocarray(void *old, size_t count, size_t size) __attribute__((returns_nonnull));
char *kc_strdup(const char *text) __attribute__((malloc, returns_nonnull));
char *kc_strndup(const char *text, size_t n) __attribute__((malloc, returns_nonnull));
char *kc_asprintf(const char *fmt, ...) KC_PRINTF(1, 2) __attribute__((malloc, returns_nonnull));

/* NULL when size is above limit or memory is short (and then `old` is as it was). For sizes that
 * come from outside. */
void *kc_try_alloc(size_t size, size_t limit) KC_MUST_CHECK;
void *kc_try_realloc(void *old, size_t size, size_t limit) KC_MUST_CHECK;

/* kc_new(kc_queue): a zeroed one. */
#define kc_new(type) ((type *)kc_calloc(1, sizeof(type)))

/*
 * What happens when kc_alloc finds no memory: the hook is called with the size; if it returns, the
 * process aborts. For a last message. Set once, at start, before other threads run. The default
 * writes a line to standard error.
 */
void kc_set_oom_hook(void (*hook)(size_t size));

#endif
