/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* So that malloc answers NULL under the sanitizers as it does without them. */
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

static void an_auto_pointer_is_freed_at_the_end_of_its_scope(void **state)
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

static void a_taken_pointer_is_not_freed(void **state)
{
    (void)state;
    int freed = 0;
    kc_auto(thing) *t = made_and_taken(&freed);
    assert_non_null(t);
    assert_int_equal(freed, 0);
}

static void a_scoped_value_is_released_at_the_end_of_its_scope(void **state)
{
    (void)state;
    int freed = 0;
    {
        kc_scoped(thing) t = {&freed};
        assert_ptr_equal(t.freed, &freed);
    }
    assert_int_equal(freed, 1);
}

static void sizes_of_zero_give_a_pointer(void **state)
{
    (void)state;
    kc_autofree char *a = kc_alloc(0);
    kc_autofree char *b = kc_calloc(0, 8);
    kc_autofree char *c = kc_try_alloc(0, 0);
    a = kc_realloc(a, 0);
    b = kc_reallocarray(b, 0, 0);
    assert_true(a && b && c);
}

static void a_new_one_is_zeroed(void **state)
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

static void trying_beyond_the_limit_fails_and_keeps_the_old(void **state)
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

static void trying_for_more_than_there_is_fails(void **state)
{
    (void)state;
    volatile size_t huge = SIZE_MAX / 2;
    assert_null(kc_try_alloc(huge, SIZE_MAX));
}

static void exit_with_seven(size_t size)
{
    _exit(size == SIZE_MAX ? 7 : 8);
}

/* The status of a process that asks for more than there is. */
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

TESTS(an_auto_pointer_is_freed_at_the_end_of_its_scope, a_taken_pointer_is_not_freed,
      a_scoped_value_is_released_at_the_end_of_its_scope, sizes_of_zero_give_a_pointer,
      a_new_one_is_zeroed, copies_of_text_are_terminated,
      trying_beyond_the_limit_fails_and_keeps_the_old, trying_for_more_than_there_is_fails,
      out_of_memory_calls_the_hook_with_the_size, out_of_memory_aborts)
