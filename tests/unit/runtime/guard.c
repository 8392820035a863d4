/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which crashes a guarded call survives. Each test runs in a process of its own, since handlers and
 * the count of crashes belong to the process. Under sanitizers signals are theirs.
 */
#include "runtime/guard.h"

#include "kc/thread.h"
#include "testing.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* Runs it in a child; gives its exit status, or minus the signal that ended it. */
static int in_child(void (*fn)(void *user), void *user)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        static const int handled[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL};
        for (size_t i = 0; i < KC_COUNT(handled); i++)
            signal(handled[i], SIG_DFL); /* The test library has its own. */
        setrlimit(RLIMIT_CORE, &(struct rlimit){0});
        if (freopen("/dev/null", "w", stderr))
            fn(user);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void expect(bool holds, int status)
{
    if (!holds)
        _exit(status);
}

static volatile int zero;
static volatile char *volatile nowhere;

static void segfault(void *user)
{
    (void)user;
    *nowhere = 1;
}

static void divide(void *user)
{
    (void)user;
    zero = 100 / zero;
}

static void end(void *user)
{
    (void)user;
    abort();
}

static void say_no(void *user)
{
    (void)user;
    kc_reconcile_abort("no %d", 7);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winfinite-recursion"
static void overflow(void *user)
{
    volatile char room[4096];
    room[0] = (char)(uintptr_t)user;
    overflow((void *)(uintptr_t)room[0]);
    room[1] = room[0];
}
#pragma GCC diagnostic pop

static void nothing(void *user)
{
    ++*(int *)user;
}

static void survive(void *user)
{
    void (*crash)(void *) = (void (*)(void *))user;
    kc__guard guard;
    const char *what = NULL;
    kc__guard_begin(&guard);
    for (int i = 0; i < 2; i++) { /* Twice: the signal is not left blocked. */
        expect(!kc__guard_call(&guard, crash, NULL, &what), 1);
        expect(what && strlen(what) > 0, 2);
    }
    int calls = 0;
    expect(kc__guard_call(&guard, nothing, &calls, &what) && calls == 1, 3);
    kc__guard_end(&guard);
}

static void a_guarded_call_survives_its_own_crash(void **state)
{
    (void)state;
    assert_int_equal(in_child(survive, (void *)say_no), 0);
    if (SANITIZED)
        skip();
    assert_int_equal(in_child(survive, (void *)segfault), 0);
    assert_int_equal(in_child(survive, (void *)divide), 0);
    assert_int_equal(in_child(survive, (void *)end), 0);
    assert_int_equal(in_child(survive, (void *)overflow), 0);
}

static void say_what(void *user)
{
    (void)user;
    kc__guard guard;
    const char *what = NULL;
    kc__guard_begin(&guard);
    kc__guard_call(&guard, say_no, NULL, &what);
    expect(strcmp(what, "no 7") == 0, 1);
    if (!SANITIZED) {
        kc__guard_call(&guard, segfault, NULL, &what);
        expect(strncmp(what, "SIGSEGV at address ", 19) == 0, 2);
        kc__guard_call(&guard, end, NULL, &what);
        expect(strcmp(what, "SIGABRT") == 0, 3);
    }
    kc__guard_end(&guard);
}

static void a_crash_says_what_it_was(void **state)
{
    (void)state;
    assert_int_equal(in_child(say_what, NULL), 0);
}

static void crash_five_times(void *user)
{
    void (*crash)(void *) = (void (*)(void *))user;
    kc__guard guard;
    const char *what = NULL;
    kc__guard_begin(&guard);
    for (int i = 0; i < 4; i++)
        expect(!kc__guard_call(&guard, crash, NULL, &what), 1);
    kc__guard_call(&guard, crash, NULL, &what);
}

static void the_fifth_crash_ends_the_process(void **state)
{
    (void)state;
    if (SANITIZED)
        skip();
    assert_int_equal(in_child(crash_five_times, (void *)segfault), -SIGSEGV);
    assert_int_equal(in_child(crash_five_times, (void *)end), -SIGABRT);
    assert_int_equal(in_child(crash_five_times, (void *)say_no), -SIGABRT);
}

static void crash_outside(void *user)
{
    kc__guard guard;
    const char *what = NULL;
    int calls = 0;
    kc__guard_begin(&guard);
    kc__guard_call(&guard, nothing, &calls, &what);
    ((void (*)(void *))user)(NULL);
}

static void a_crash_outside_of_a_call_is_not_caught(void **state)
{
    (void)state;
    if (SANITIZED)
        skip();
    assert_int_equal(in_child(crash_outside, (void *)segfault), -SIGSEGV);
    assert_int_equal(in_child(crash_outside, (void *)end), -SIGABRT);
    assert_int_equal(in_child(crash_outside, (void *)say_no), -SIGABRT);
}

static void crash_elsewhere(void *user)
{
    kc_thread_join(kc_thread_start("other", (void (*)(void *))user, NULL, NULL));
}

static void guard_another_thread(void *user)
{
    kc__guard guard;
    const char *what = NULL;
    kc__guard_begin(&guard);
    kc__guard_call(&guard, crash_elsewhere, user, &what);
}

static void a_crash_of_another_thread_is_not_caught(void **state)
{
    (void)state;
    if (SANITIZED)
        skip();
    assert_int_equal(in_child(guard_another_thread, (void *)segfault), -SIGSEGV);
    assert_int_equal(in_child(guard_another_thread, (void *)end), -SIGABRT);
}

static void send_a_signal(void *user)
{
    (void)user;
    kill(getpid(), SIGSEGV);
    pause();
}

static void guard_a_sent_signal(void *user)
{
    kc__guard guard;
    const char *what = NULL;
    kc__guard_begin(&guard);
    kc__guard_call(&guard, send_a_signal, user, &what);
}

static void a_signal_that_somebody_sent_is_not_caught(void **state)
{
    (void)state;
    if (SANITIZED)
        skip();
    assert_int_equal(in_child(guard_a_sent_signal, NULL), -SIGSEGV);
}

static void leave_no_handler(void *user)
{
    (void)user;
    kc__guard guard;
    struct sigaction before, after;
    sigaction(SIGSEGV, NULL, &before);
    kc__guard_begin(&guard);
    kc__guard_end(&guard);
    sigaction(SIGSEGV, NULL, &after);
    expect(before.sa_handler == after.sa_handler, 1);
}

static void the_last_guard_takes_the_handlers_away(void **state)
{
    (void)state;
    assert_int_equal(in_child(leave_no_handler, NULL), 0);
}

TESTS(a_guarded_call_survives_its_own_crash, a_crash_says_what_it_was,
      the_fifth_crash_ends_the_process, a_crash_outside_of_a_call_is_not_caught,
      a_crash_of_another_thread_is_not_caught, a_signal_that_somebody_sent_is_not_caught,
      the_last_guard_takes_the_handlers_away)
