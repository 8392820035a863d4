/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which crashes a guard recovers from, and what it reports of the others. Each test runs in a
 * process of its own, because handlers and the count of crashes belong to the process. Sanitizers
 * handle signals themselves.
 */
#include "runtime/crash/guard.h"

#include "crash_testing.h"
#include "kc/file.h"
#include "kc/thread.h"

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

static void trap(void *user)
{
    (void)user;
    __builtin_trap();
}

static void abort_call(void *user)
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

static void begin_recovering(kc__guard *guard)
{
    kc__guard_begin(guard);
    guard->recovers = true;
}

static void survive(void *user)
{
    void (*crash)(void *) = (void (*)(void *))user;
    kc__guard guard;
    const char *what = NULL;
    begin_recovering(&guard);
    for (int i = 0; i < 2; i++) { /* Twice: the signal is not left blocked. */
        expect(!kc__guard_call(&guard, crash, NULL, &what), 1);
        expect(what && strlen(what) > 0, 2);
    }
    int calls = 0;
    expect(kc__guard_call(&guard, nothing, &calls, &what) && calls == 1, 3);
    kc__guard_end(&guard);
}

static void guarded_call_survives_its_own_crash(void **state)
{
    (void)state;
    assert_int_equal(in_child(survive, (void *)abort_call), 0);
    if (KC__SANITIZED)
        skip();
    assert_int_equal(in_child(survive, (void *)segfault), 0);
    assert_int_equal(in_child(survive, (void *)divide), 0);
    assert_int_equal(in_child(survive, (void *)end), 0);
    assert_int_equal(in_child(survive, (void *)overflow), 0);
    assert_int_equal(in_child(survive, (void *)trap), 0);
}

static void check_reported_signal(void *user)
{
    (void)user;
    kc__guard guard;
    const char *what = NULL;
    begin_recovering(&guard);
    kc__guard_call(&guard, abort_call, NULL, &what);
    expect(strcmp(what, "no 7") == 0, 1);
    if (!KC__SANITIZED) {
        kc__guard_call(&guard, segfault, NULL, &what);
        expect(strncmp(what, "SIGSEGV at address ", 19) == 0, 2);
        kc__guard_call(&guard, end, NULL, &what);
        expect(strcmp(what, "SIGABRT") == 0, 3);
    }
    kc__guard_end(&guard);
}

static void crash_reports_signal_and_message(void **state)
{
    (void)state;
    assert_int_equal(in_child(check_reported_signal, NULL), 0);
}

static void crash_five_times(void *user)
{
    void (*crash)(void *) = (void (*)(void *))user;
    kc__guard guard;
    const char *what = NULL;
    begin_recovering(&guard);
    guard.limited = true;
    for (int i = 0; i < 4; i++)
        expect(!kc__guard_call(&guard, crash, NULL, &what), 1);
    kc__guard_call(&guard, crash, NULL, &what);
}

static void fifth_crash_of_limited_guards_ends_the_process(void **state)
{
    (void)state;
    if (KC__SANITIZED)
        skip();
    assert_int_equal(in_child(crash_five_times, (void *)segfault), -SIGSEGV);
    assert_int_equal(in_child(crash_five_times, (void *)end), -SIGABRT);
    assert_int_equal(in_child(crash_five_times, (void *)abort_call), -SIGABRT);
}

static void crash_often(void *user)
{
    kc__guard guard;
    const char *what = NULL;
    (void)user;
    begin_recovering(&guard);
    for (int i = 0; i < 100; i++)
        expect(!kc__guard_call(&guard, segfault, NULL, &what), 1);
    kc__guard_end(&guard);
}

static void unlimited_guard_survives_a_hundred_crashes(void **state)
{
    (void)state;
    if (KC__SANITIZED)
        skip();
    assert_int_equal(in_child(crash_often, NULL), 0);
}

/* Calls through a pointer that leads nowhere. */
static void jump_to_null(void *user)
{
    void (*volatile nothing_there)(void *) = NULL;
    nothing_there(user);
}

static void check_reported_address(void *user)
{
    kc__guard guard;
    const char *what = NULL;
    kc_scoped(kc_buf) where = {0};
    begin_recovering(&guard);
    expect(!kc__guard_call(&guard, (void (*)(void *))user, NULL, &what), 1);
    kc__guard_where(&guard, &where);
    kc__guard_end(&guard);
    expect(strstr(kc_buf_cstr(&where), "test_runtime_crash_guard+0x") != NULL, 2);
}

static void crash_reports_module_and_offset(void **state)
{
    (void)state;
    assert_int_equal(in_child(check_reported_address, (void *)abort_call), 0);
    if (KC__SANITIZED)
        skip();
    assert_int_equal(in_child(check_reported_address, (void *)segfault), 0);
    assert_int_equal(in_child(check_reported_address, (void *)end), 0);
    assert_int_equal(in_child(check_reported_address, (void *)overflow), 0);
    assert_int_equal(in_child(check_reported_address, (void *)jump_to_null), 0);
}

static void crash_outside(void *user)
{
    kc__guard guard;
    const char *what = NULL;
    int calls = 0;
    begin_recovering(&guard);
    kc__guard_call(&guard, nothing, &calls, &what);
    ((void (*)(void *))user)(NULL);
}

static void crash_outside_of_a_guarded_call_is_not_caught(void **state)
{
    (void)state;
    if (KC__SANITIZED)
        skip();
    assert_int_equal(in_child(crash_outside, (void *)segfault), -SIGSEGV);
    assert_int_equal(in_child(crash_outside, (void *)end), -SIGABRT);
    assert_int_equal(in_child(crash_outside, (void *)abort_call), -SIGABRT);
}

static void crash_elsewhere(void *user)
{
    kc_thread_join(kc_thread_start("other", (void (*)(void *))user, NULL, NULL));
}

static void guard_another_thread(void *user)
{
    kc__guard guard;
    const char *what = NULL;
    begin_recovering(&guard);
    kc__guard_call(&guard, crash_elsewhere, user, &what);
}

static void crash_of_another_thread_is_not_caught(void **state)
{
    (void)state;
    if (KC__SANITIZED)
        skip();
    assert_int_equal(in_child(guard_another_thread, (void *)segfault), -SIGSEGV);
    assert_int_equal(in_child(guard_another_thread, (void *)end), -SIGABRT);
}

static void send_signal(void *user)
{
    (void)user;
    kill(getpid(), SIGSEGV);
    pause();
}

static void guard_sent_signal(void *user)
{
    kc__guard guard;
    const char *what = NULL;
    begin_recovering(&guard);
    kc__guard_call(&guard, send_signal, user, &what);
}

static void signal_sent_by_a_process_is_not_caught(void **state)
{
    (void)state;
    if (KC__SANITIZED)
        skip();
    assert_int_equal(in_child(guard_sent_signal, NULL), -SIGSEGV);
}

/* ---- without recovery ---- */

static void crash_without_recovery(void *user)
{
    kc__guard guard;
    const char *what = NULL;
    kc__guard_begin(&guard);
    guard.role = "controller";
    guard.name = "robot";
    guard.key = KC_KEY("plant", "r1");
    kc__guard_call(&guard, (void (*)(void *))user, NULL, &what);
}

static void crash_without_recovery_ends_the_process(void **state)
{
    (void)state;
    assert_int_equal(in_child(crash_without_recovery, (void *)abort_call), -SIGABRT);
    if (KC__SANITIZED)
        skip();
    assert_int_equal(in_child(crash_without_recovery, (void *)segfault), -SIGSEGV);
    assert_int_equal(in_child(crash_without_recovery, (void *)divide), -SIGFPE);
    assert_int_equal(in_child(crash_without_recovery, (void *)end), -SIGABRT);
    assert_int_equal(in_child(crash_without_recovery, (void *)overflow), -SIGSEGV);
}

static void assert_report(void (*crash)(void *), int status, const char *expected)
{
    char path[] = "/tmp/kc-report-XXXXXX";
    kc_scoped(kc_buf) report = {0};
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(in_child_reporting(crash_without_recovery, (void *)crash, path), status);
    assert_int_equal(kc_file_read(path, KC_FILE_MAX, &report, NULL), 0);
    unlink(path);
    assert_contains(kc_buf_cstr(&report), expected);
    assert_contains(kc_buf_cstr(&report), "test_runtime_crash_guard(+0x");
}

static void crash_that_ends_the_process_reports_call_and_stack(void **state)
{
    (void)state;
    if (KC__SANITIZED)
        skip();
    assert_report(segfault, -SIGSEGV, "fatal: SIGSEGV in controller robot, key plant/r1; stack:\n");
    assert_report(abort_call, -SIGABRT,
                  "no 7\nfatal: SIGABRT in controller robot, key plant/r1; stack:\n");
}

static void check_handlers_removed(void *user)
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

static void last_guard_removes_the_signal_handlers(void **state)
{
    (void)state;
    assert_int_equal(in_child(check_handlers_removed, NULL), 0);
}

TESTS(guarded_call_survives_its_own_crash, crash_reports_signal_and_message,
      fifth_crash_of_limited_guards_ends_the_process, crash_outside_of_a_guarded_call_is_not_caught,
      crash_of_another_thread_is_not_caught, signal_sent_by_a_process_is_not_caught,
      unlimited_guard_survives_a_hundred_crashes, crash_reports_module_and_offset,
      crash_without_recovery_ends_the_process, crash_that_ends_the_process_reports_call_and_stack,
      last_guard_removes_the_signal_handlers)
