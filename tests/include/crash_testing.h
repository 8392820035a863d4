/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash_testing.h: runs functions that crash, each in a child process: signal handlers and the end
 * of a process belong to the process. Sanitizers handle signals themselves: tests of signals are
 * skipped there (KC__SANITIZED).
 */
#ifndef KC_TESTS_CRASH_TESTING_H
#define KC_TESTS_CRASH_TESTING_H

#include "base/sanitizer.h"
#include "kc/mem.h"
#include "testing.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static inline KC_UNUSED void prepare_child(const char *report)
{
    static const int handled[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL};
    for (size_t i = 0; i < KC_COUNT(handled); i++)
        signal(handled[i], SIG_DFL); /* The test library has its own. */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    if (!freopen(report, "w", stderr))
        _exit(127);
}

/* Calls fn(user) in a child that writes its standard error to the file `report`. Returns the exit
 * status of the child, or minus the signal that ended it. */
static inline KC_UNUSED int in_child_reporting(void (*fn)(void *user), void *user,
                                               const char *report)
{
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prepare_child(report);
        fn(user);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static inline KC_UNUSED int in_child(void (*fn)(void *user), void *user)
{
    return in_child_reporting(fn, user, "/dev/null");
}

#endif
