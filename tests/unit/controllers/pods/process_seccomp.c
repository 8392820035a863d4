/* SPDX-License-Identifier: Apache-2.0 */
/* The seccomp filter, in a process without other isolation. */
#include "testing.h"

#include "pods/process_seccomp.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct attempt {
    const char *what;
    long number;
    long arguments[3];
    int error; /* 0: any but the filter's (EPERM, ENOSYS). */
} attempt;

static const attempt denied[] = {
    {"mount", SYS_mount, {0}, EPERM},
    {"umount2", SYS_umount2, {0}, EPERM},
    {"pivot_root", SYS_pivot_root, {0}, EPERM},
    {"fsopen", SYS_fsopen, {0}, EPERM},
    {"unshare(NEWUSER)", SYS_unshare, {CLONE_NEWUSER}, EPERM},
    {"unshare(NEWNS)", SYS_unshare, {CLONE_NEWNS}, EPERM},
    {"unshare(NEWTIME)", SYS_unshare, {0x80}, EPERM},
    {"clone(NEWUSER)", SYS_clone, {CLONE_NEWUSER | SIGCHLD}, EPERM},
    {"clone(NEWPID)", SYS_clone, {CLONE_NEWPID | SIGCHLD}, EPERM},
    {"clone3", SYS_clone3, {0}, ENOSYS},
    {"setns", SYS_setns, {-1, 0}, EPERM},
    {"ptrace", SYS_ptrace, {0, 0}, EPERM},
    {"process_vm_readv", SYS_process_vm_readv, {1}, EPERM},
    {"process_vm_writev", SYS_process_vm_writev, {1}, EPERM},
    {"pidfd_getfd", SYS_pidfd_getfd, {-1, 0}, EPERM},
    {"kexec_load", SYS_kexec_load, {0}, EPERM},
    {"init_module", SYS_init_module, {0}, EPERM},
    {"finit_module", SYS_finit_module, {-1}, EPERM},
    {"bpf", SYS_bpf, {-1}, EPERM},
    {"perf_event_open", SYS_perf_event_open, {0}, EPERM},
    {"userfaultfd", SYS_userfaultfd, {0}, EPERM},
    {"io_uring_setup", SYS_io_uring_setup, {0}, ENOSYS},
    {"add_key", SYS_add_key, {0}, EPERM},
    {"request_key", SYS_request_key, {0}, EPERM},
    {"keyctl", SYS_keyctl, {0}, EPERM},
    {"open_by_handle_at", SYS_open_by_handle_at, {-1}, EPERM},
    {"reboot", SYS_reboot, {0}, EPERM},
    {"swapon", SYS_swapon, {0}, EPERM},
    {"acct", SYS_acct, {0}, EPERM},
    {"quotactl", SYS_quotactl, {-1}, EPERM},
    {"settimeofday", SYS_settimeofday, {0}, EPERM},
    {"clock_settime", SYS_clock_settime, {0}, EPERM},
    {"syslog", SYS_syslog, {3}, EPERM},
    {"socket(AF_VSOCK)", SYS_socket, {AF_VSOCK, SOCK_STREAM}, EAFNOSUPPORT},
    {"socket(AF_ALG)", SYS_socket, {AF_ALG, SOCK_SEQPACKET}, EAFNOSUPPORT},
    {"ioctl(TIOCSTI)", SYS_ioctl, {0, TIOCSTI}, EPERM},
#ifdef SYS_iopl
    {"iopl", SYS_iopl, {3}, EPERM},
    {"ioperm", SYS_ioperm, {0}, EPERM},
#endif
#ifdef __x86_64__
    {"a number of the x32 ABI", 0x40000000 | SYS_getpid, {0}, ENOSYS},
#endif
};

static const attempt allowed[] = {
    {"getpid", SYS_getpid, {0}, 0},
    {"unshare(FILES)", SYS_unshare, {CLONE_FILES}, 0},
    {"socket(AF_INET)", SYS_socket, {AF_INET, SOCK_STREAM}, 0},
    {"socket(AF_UNIX)", SYS_socket, {AF_UNIX, SOCK_STREAM}, 0},
    {"socket(AF_NETLINK)", SYS_socket, {AF_NETLINK, SOCK_RAW}, 0},
    {"openat", SYS_openat, {-1}, 0},
    {"ioctl(FIONREAD)", SYS_ioctl, {0, FIONREAD}, 0},
    {"prctl", SYS_prctl, {PR_GET_DUMPABLE}, 0},
};

static bool holds(const attempt *a)
{
    const long done = syscall(a->number, a->arguments[0], a->arguments[1], a->arguments[2], 0, 0);
    const int error = done < 0 ? errno : 0;
    const bool ok =
        a->error ? error == a->error : error != EPERM && error != ENOSYS && error != EAFNOSUPPORT;
    if (!ok)
        fprintf(stderr, "%s: %s\n", a->what, strerror(error));
    return ok;
}

/* Runs all in a child that has the filter. */
static int failures_of(const attempt *attempts, size_t n, const kc__process_seccomp *filter)
{
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
        int wrong = 0;
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
            syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter->program) < 0)
            _exit(255);
        for (size_t i = 0; i < n; i++)
            wrong += !holds(&attempts[i]);
        _exit(wrong);
    }
    assert_true(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static kc__process_seccomp *filter_of_this_machine(void)
{
    kc__process_seccomp *filter = kc_new(kc__process_seccomp);
    if (kc__process_seccomp_build(filter))
        return filter;
    free(filter);
    skip();
    return NULL;
}

static void dangerous_system_calls_are_denied(void **state)
{
    (void)state;
    kc_autofree kc__process_seccomp *filter = filter_of_this_machine();
    assert_int_equal(failures_of(denied, KC_COUNT(denied), filter), 0);
}

static void ordinary_system_calls_are_allowed(void **state)
{
    (void)state;
    kc_autofree kc__process_seccomp *filter = filter_of_this_machine();
    assert_int_equal(failures_of(allowed, KC_COUNT(allowed), filter), 0);
}

/* Glibc's threads and processes work without clone3. */
static void processes_and_threads_can_be_started(void **state)
{
    (void)state;
    kc_autofree kc__process_seccomp *filter = filter_of_this_machine();
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter->program) < 0)
            _exit(255);
        execl("/bin/sh", "sh", "-c", "x=$(echo a | cat) && [ \"$x\" = a ]", (char *)NULL);
        _exit(254);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TESTS(dangerous_system_calls_are_denied, ordinary_system_calls_are_allowed,
      processes_and_threads_can_be_started)
