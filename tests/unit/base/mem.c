/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/sanitizer.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Makes malloc return NULL under the sanitizers, as it does without them. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

typedef struct thing {
    int *freed;
} thing;

static thing *thing_new(int *freed)
{
    thing *t = kc_new(thing);
    t->freed = freed;
    return t;
}

static thing *thing_free(thing *t)
{
    if (t)
        ++*t->freed;
    free(t);
    return NULL;
}
KC_AUTO_DEFINE(thing, thing_free)

static void thing_done(thing *t)
{
    ++*t->freed;
}

static thing *made_and_taken(int *freed)
{
    kc_auto(thing) *t = thing_new(freed);
    return kc_take(t);
}

static void auto_pointer_is_freed_at_the_end_of_its_scope(void **state)
{
    (void)state;
    int freed = 0;
    {
        kc_auto(thing) *t = thing_new(&freed);
        kc_auto(thing) *none = NULL;
        assert_non_null(t);
        assert_null(none);
    }
    assert_int_equal(freed, 1);
}

static void taken_pointer_is_not_freed(void **state)
{
    (void)state;
    int freed = 0;
    kc_auto(thing) *t = made_and_taken(&freed);
    assert_non_null(t);
    assert_int_equal(freed, 0);
}

static void scoped_value_is_released_at_the_end_of_its_scope(void **state)
{
    (void)state;
    int freed = 0;
    {
        kc_scoped(thing) t = {&freed};
        assert_ptr_equal(t.freed, &freed);
    }
    assert_int_equal(freed, 1);
}

static void size_zero_returns_pointer(void **state)
{
    (void)state;
    kc_autofree char *a = kc_alloc(0);
    kc_autofree char *b = kc_calloc(0, 8);
    kc_autofree char *c = kc_try_alloc(0, 0);
    a = kc_realloc(a, 0);
    b = kc_reallocarray(b, 0, 0);
    assert_true(a && b && c);
}

static void new_object_is_zeroed(void **state)
{
    (void)state;
    thing *t = kc_new(thing);
    assert_null(t->freed);
    free(t);
}

static void copies_of_text_are_terminated(void **state)
{
    (void)state;
    kc_autofree char *part = kc_strndup("website", 3);
    kc_autofree char *nothing = kc_strndup(NULL, 0);
    kc_autofree char *whole = kc_strdup(part);
    kc_autofree char *made = kc_asprintf("%s-%d", whole, 7);
    assert_string_equal(part, "web");
    assert_string_equal(nothing, "");
    assert_string_equal(made, "web-7");
}

static void try_realloc_beyond_limit_fails_and_keeps_block(void **state)
{
    (void)state;
    assert_null(kc_try_alloc(11, 10));
    char *old = kc_try_alloc(10, 10);
    assert_non_null(old);
    memset(old, 'x', 10);
    assert_null(kc_try_realloc(old, 11, 10));
    assert_int_equal(old[9], 'x');
    free(old);
}

static void try_alloc_beyond_memory_fails(void **state)
{
    (void)state;
    volatile size_t huge = SIZE_MAX / 2;
    assert_null(kc_try_alloc(huge, SIZE_MAX));
}

static void exit_with_seven(size_t size)
{
    _exit(size == SIZE_MAX ? 7 : 8);
}

/* The exit status of a process that allocates more than the available memory. */
static int status_of_too_much(void (*hook)(size_t size))
{
    pid_t child = fork();
    if (child == 0) {
        volatile size_t huge = SIZE_MAX / 2;
        close(STDERR_FILENO);
        kc_set_oom_hook(hook);
        free(kc_calloc(huge, 4));
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void out_of_memory_calls_the_hook_with_the_size(void **state)
{
    (void)state;
    int status = status_of_too_much(exit_with_seven);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
}

static void out_of_memory_aborts(void **state)
{
    (void)state;
    int status = status_of_too_much(NULL);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

/* ---- the reserve ---- */

enum { RESERVE = 32 << 20, ROOM = 8 << 20, BLOCK = 1 << 20, BLOCKS = 64 };

/* Limits the growth of this process's address space. */
static void limit_growth(size_t bytes)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_true(file && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
    limit.rlim_cur = pages * (rlim_t)sysconf(_SC_PAGESIZE) + bytes;
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
}

/* Runs it in a child process; returns the exit status. */
static int status_of(int (*run)(void))
{
    pid_t child = fork();
    if (child == 0)
        _exit(run());
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int fill_until_short(void **blocks, int *n)
{
    for (*n = 0; *n < BLOCKS && !kc_mem_short(); ++*n)
        blocks[*n] = kc_alloc(BLOCK);
    return kc_mem_short() ? 0 : 1;
}

static int use_up_and_restore(void)
{
    void *blocks[BLOCKS];
    int n;
    kc_mem_reserve(RESERVE);
    limit_growth(ROOM);
    if (kc_mem_short() || !kc_mem_has_room(BLOCK) || kc_mem_has_room(RESERVE))
        return 2;
    if (fill_until_short(blocks, &n) || kc_mem_restore())
        return 3;
    for (int i = 0; i < n; i++)
        free(blocks[i]);
    limit_growth(3 * RESERVE);
    return kc_mem_restore() && !kc_mem_short() ? 0 : 4;
}

static void allocation_beyond_the_limit_uses_the_reserve_until_it_is_restored(void **state)
{
    (void)state;
    if (KC__SANITIZED)
        skip();
    assert_int_equal(status_of(use_up_and_restore), 0);
}

static int zero_from_reserve(void)
{
    void *blocks[BLOCKS];
    int n;
    kc_mem_reserve(RESERVE);
    limit_growth(ROOM);
    if (fill_until_short(blocks, &n))
        return 2;
    char *zeroed = kc_calloc(BLOCK, 1);
    zeroed = kc_realloc(zeroed, 2 * BLOCK);
    for (int i = 0; i < BLOCK; i++)
        if (zeroed[i])
            return 3;
    return 0;
}

static void memory_from_the_reserve_is_zeroed_and_keeps_its_content(void **state)
{
    (void)state;
    if (KC__SANITIZED)
        skip();
    assert_int_equal(status_of(zero_from_reserve), 0);
}

static void without_a_reserve_memory_is_never_short(void **state)
{
    (void)state;
    assert_false(kc_mem_short());
    assert_true(kc_mem_restore());
    assert_true(kc_mem_has_room(SIZE_MAX));
}

TESTS(auto_pointer_is_freed_at_the_end_of_its_scope, taken_pointer_is_not_freed,
      scoped_value_is_released_at_the_end_of_its_scope, size_zero_returns_pointer,
      new_object_is_zeroed, copies_of_text_are_terminated,
      try_realloc_beyond_limit_fails_and_keeps_block, try_alloc_beyond_memory_fails,
      out_of_memory_calls_the_hook_with_the_size, out_of_memory_aborts,
      allocation_beyond_the_limit_uses_the_reserve_until_it_is_restored,
      memory_from_the_reserve_is_zeroed_and_keeps_its_content,
      without_a_reserve_memory_is_never_short)
