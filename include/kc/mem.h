/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem.h: allocation, and two keywords that express ownership.
 *
 *     kc_auto(kc_view) *view = kc_view_of(object);         freed when the scope ends
 *     return kc_take(view);                                unless ownership is passed on
 *     kc_scoped(kc_buf) out = {0};                         the same for a value: kc_buf_done(&out)
 *
 * Two families of allocation functions. kc_alloc and its variants are for sizes that the program
 * chooses: they never return NULL. When memory is short they release a reserve, wait a moment for
 * other threads to free memory, and only then end the process through one hook (kc_mem_reserve,
 * kc_set_oom_hook). kc_try_alloc is for sizes that come from outside: it takes a limit and may
 * fail, and the caller must check the result.
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

/* The struct that contains `member`, given a pointer to the member. */
#define kc_container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))

/* A pointer variable that is freed at the end of its scope. The type must have a KC_AUTO_DEFINE. */
#define kc_auto(type) __attribute__((cleanup(type##_auto_))) type

/* A value variable whose contents type##_done releases at the end of its scope. Must be
 * initialised. */
#define kc_scoped(type) __attribute__((cleanup(type##_done))) type

/* A char * (or any malloc'd pointer) that is freed at the end of its scope:
 * kc_autofree char *text = NULL; */
#define kc_autofree __attribute__((cleanup(kc__mem_autofree)))

/* The value of a pointer variable, which is set to NULL: transfers ownership. */
#define kc_take(var)                    \
    (__extension__({                    \
        __typeof__(var) taken_ = (var); \
        (var) = NULL;                   \
        taken_;                         \
    }))

/* Makes kc_auto(type) free with `free_fn`, which must accept NULL. */
#define KC_AUTO_DEFINE(type, free_fn)                     \
    static inline KC_UNUSED void type##_auto_(type **var) \
    {                                                     \
        free_fn(*var);                                    \
    }

static inline void kc__mem_autofree(void *var)
{
    free(*(void **)var);
}

/* Never NULL. A size of 0 yields a pointer that may be freed. */
void *kc_alloc(size_t size) __attribute__((malloc, returns_nonnull));
void *kc_calloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *kc_realloc(void *old, size_t size) __attribute__((returns_nonnull));
void *kc_reallocarray(void *old, size_t count, size_t size) __attribute__((returns_nonnull));
char *kc_strdup(const char *text) __attribute__((malloc, returns_nonnull));
char *kc_strndup(const char *text, size_t n) __attribute__((malloc, returns_nonnull));
char *kc_asprintf(const char *fmt, ...) KC_PRINTF(1, 2) __attribute__((malloc, returns_nonnull));

/* NULL when size exceeds limit or memory is short (`old` is then unchanged). For sizes from
 * outside. */
void *kc_try_alloc(size_t size, size_t limit) KC_MUST_CHECK;
void *kc_try_realloc(void *old, size_t size, size_t limit) KC_MUST_CHECK;

/* kc_new(kc_queue): zeroed. */
#define kc_new(type) ((type *)kc_calloc(1, sizeof(type)))

/* ---- low memory ---- */

/*
 * Reserves address space that kc_alloc and its variants release to the allocator when it fails, so
 * that running work in a server can finish while no new work begins (kc_mem_short). The reserve
 * costs no memory because it is never written: malloc fails when it exceeds the address space
 * (RLIMIT_AS) or the commit limit (vm.overcommit_memory=2), and a mapping counts against both at
 * once. Without a reserve, which is the default, kc_alloc aborts at the first failure. Call at
 * start, before other threads run; 0 removes the reserve.
 */
void kc_mem_reserve(size_t bytes);
/* True when the reserve is used up. Any thread; costs one load. */
bool kc_mem_short(void);
/* Tries to restore a used reserve. True when memory is not short. Any thread. */
bool kc_mem_restore(void);
/* True if this many bytes could be allocated now without the reserve. For requests whose size is
 * known before their work begins. Always true without a reserve. Any thread; two system calls. */
bool kc_mem_has_room(size_t bytes);

/*
 * Returns free heap memory to the system if an estimated `at_least` bytes or more are free; true if
 * it did. The C library otherwise keeps free memory between blocks that are in use. Takes
 * milliseconds for a large heap, during which allocations of other threads may block: not for a
 * thread that must not block. Any thread.
 */
bool kc_mem_trim(size_t at_least);

/*
 * Sets the function that kc_alloc calls with the size when it finds no memory; if the hook returns,
 * the process aborts. For a last message. Call once, at start, before other threads run. The
 * default writes a line to standard error.
 */
void kc_set_oom_hook(void (*hook)(size_t size));

#endif
