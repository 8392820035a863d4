/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_seccomp.c: the system calls that containers must not use.
 *
 * The filter is a deny list, because any program of the image may run: it blocks the calls through
 * which an unprivileged process reaches kernel code that ordinary programs do not need. Most of
 * them need a capability that containers lack; for these the filter is a second protection. It is
 * the only one for user namespaces (in which a process would have all capabilities), ptrace, bpf,
 * keyrings, userfaultfd and io_uring.
 *
 *     load the architecture; another one (32-bit calls)     -> kill the process
 *     load the number; one of the x32 ABI                   -> ENOSYS
 *     equal to a row of `denied`                            -> the row's error
 *     clone, unshare with a CLONE_NEW* flag                 -> EPERM
 *     socket(AF_VSOCK | AF_ALG)                             -> EAFNOSUPPORT
 *     ioctl(TIOCSTI | TIOCLINUX)                            -> EPERM
 *     everything else                                       -> allowed
 *
 * clone3 takes its flags in memory, which a filter cannot read: ENOSYS makes the C library fall
 * back to clone. io_uring gets ENOSYS for the same reason: programs have a fallback.
 *
 * The parent builds the program once; the child only installs it (process_child.c), as its last
 * step before exec. It requires no_new_privs, which every container has. Privileged containers have
 * no filter, as in Kubernetes.
 *
 * To deny one more call: a row in `denied`, inside #ifdef where an architecture lacks it.
 */
#include "pods/process_seccomp.h"

#include "kc/mem.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE

#define X32_BIT 0x40000000u

#define NAMESPACE_FLAGS                                                                       \
    ((uint32_t)(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
                CLONE_NEWPID | CLONE_NEWNET))
#define TIME_FLAG 0x80u /* CLONE_NEWTIME; in clone it is part of the exit signal. */

static const struct {
    int number, error;
} denied[] = {
    /* Mounts and roots. */
    {SYS_mount, EPERM},
    {SYS_umount2, EPERM},
    {SYS_pivot_root, EPERM},
    {SYS_fsopen, EPERM},
    {SYS_fsconfig, EPERM},
    {SYS_fsmount, EPERM},
    {SYS_fspick, EPERM},
    {SYS_move_mount, EPERM},
    {SYS_open_tree, EPERM},
    {SYS_mount_setattr, EPERM},
    {SYS_quotactl, EPERM},
    {SYS_swapon, EPERM},
    {SYS_swapoff, EPERM},
    /* Namespaces; see also `special`. */
    {SYS_setns, EPERM},
    {SYS_clone3, ENOSYS},
    /* Other processes. */
    {SYS_ptrace, EPERM},
    {SYS_process_vm_readv, EPERM},
    {SYS_process_vm_writev, EPERM},
    {SYS_process_madvise, EPERM},
    {SYS_pidfd_getfd, EPERM},
    {SYS_kcmp, EPERM},
    {SYS_move_pages, EPERM},
    {SYS_migrate_pages, EPERM},
    /* Code and tables of the kernel. */
    {SYS_kexec_load, EPERM},
    {SYS_init_module, EPERM},
    {SYS_finit_module, EPERM},
    {SYS_delete_module, EPERM},
    {SYS_bpf, EPERM},
    {SYS_perf_event_open, EPERM},
    {SYS_userfaultfd, EPERM},
    {SYS_io_uring_setup, ENOSYS},
    {SYS_io_uring_enter, ENOSYS},
    {SYS_io_uring_register, ENOSYS},
    {SYS_lookup_dcookie, EPERM},
    {SYS_fanotify_init, EPERM},
    {SYS_nfsservctl, ENOSYS},
    /* Keyrings: the kernel shares a user's keyring between containers. */
    {SYS_add_key, EPERM},
    {SYS_request_key, EPERM},
    {SYS_keyctl, EPERM},
    /* Opening files by handle escapes every root. */
    {SYS_open_by_handle_at, EPERM},
    {SYS_name_to_handle_at, EPERM},
    /* Host-wide state. */
    {SYS_reboot, EPERM},
    {SYS_acct, EPERM},
    {SYS_settimeofday, EPERM},
    {SYS_clock_settime, EPERM},
    {SYS_clock_adjtime, EPERM},
    {SYS_adjtimex, EPERM},
    {SYS_syslog, EPERM},
    {SYS_vhangup, EPERM},
#ifdef SYS_kexec_file_load
    {SYS_kexec_file_load, EPERM},
#endif
#ifdef SYS_quotactl_fd
    {SYS_quotactl_fd, EPERM},
#endif
#ifdef SYS_process_mrelease
    {SYS_process_mrelease, EPERM},
#endif
#ifdef SYS_open_tree_attr
    {SYS_open_tree_attr, EPERM},
#endif
#ifdef SYS_iopl
    {SYS_iopl, EPERM},
    {SYS_ioperm, EPERM},
#endif
#ifdef SYS_uselib
    {SYS_uselib, EPERM},
#endif
#ifdef SYS_modify_ldt
    {SYS_modify_ldt, EPERM},
#endif
#ifdef SYS_ustat
    {SYS_ustat, EPERM},
    {SYS_sysfs, EPERM},
#endif
};

typedef enum process_seccomp_comparison { EQUAL, ANY_BIT } process_seccomp_comparison;

/* Calls that are denied for some values of an argument (its lower 32 bits). */
static const struct {
    int number, argument;
    process_seccomp_comparison comparison;
    uint32_t value;
    int error;
} special[] = {
    {SYS_clone, 0, ANY_BIT, NAMESPACE_FLAGS, EPERM},
    {SYS_unshare, 0, ANY_BIT, NAMESPACE_FLAGS | TIME_FLAG, EPERM},
    {SYS_socket, 0, EQUAL, AF_VSOCK, EAFNOSUPPORT},
    {SYS_socket, 0, EQUAL, AF_ALG, EAFNOSUPPORT},
    {SYS_ioctl, 1, EQUAL, TIOCSTI, EPERM},
    {SYS_ioctl, 1, EQUAL, TIOCLINUX, EPERM},
};

static void emit(kc__process_seccomp *f, struct sock_filter instruction)
{
    f->code[f->program.len++] = instruction;
}

static void process_seccomp_load(kc__process_seccomp *f, size_t offset)
{
    emit(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void process_seccomp_return(kc__process_seccomp *f, uint32_t action)
{
    emit(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* Skips the next n instructions unless the comparison holds. */
static void unless(kc__process_seccomp *f, uint16_t jump, uint32_t value, uint8_t skip)
{
    emit(f, (struct sock_filter)BPF_JUMP((uint16_t)(BPF_JMP | BPF_K | jump), value, 0, skip));
}

/* Little-endian on both architectures: the lower half comes first. */
static void emit_special(kc__process_seccomp *f)
{
    for (size_t i = 0; i < KC_COUNT(special); i++) {
        unless(f, BPF_JEQ, (uint32_t)special[i].number, 4);
        process_seccomp_load(f,
                             offsetof(struct seccomp_data, args) + 8 * (size_t)special[i].argument);
        unless(f, special[i].comparison == EQUAL ? BPF_JEQ : BPF_JSET, special[i].value, 1);
        process_seccomp_return(f, SECCOMP_RET_ERRNO | (uint32_t)special[i].error);
        process_seccomp_load(f, offsetof(struct seccomp_data, nr));
    }
}

static void emit_all(kc__process_seccomp *f)
{
    process_seccomp_load(f, offsetof(struct seccomp_data, arch));
    emit(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_K | BPF_JEQ, ARCHITECTURE, 1, 0));
    process_seccomp_return(f, SECCOMP_RET_KILL_PROCESS);
    process_seccomp_load(f, offsetof(struct seccomp_data, nr));
    unless(f, BPF_JGE, X32_BIT, 1);
    process_seccomp_return(f, SECCOMP_RET_ERRNO | ENOSYS);
    for (size_t i = 0; i < KC_COUNT(denied); i++) {
        unless(f, BPF_JEQ, (uint32_t)denied[i].number, 1);
        process_seccomp_return(f, SECCOMP_RET_ERRNO | (uint32_t)denied[i].error);
    }
    emit_special(f);
    process_seccomp_return(f, SECCOMP_RET_ALLOW);
}

_Static_assert(7 + 2 * KC_COUNT(denied) + 5 * KC_COUNT(special) <= KC__PROCESS_SECCOMP_MAX,
               "the filter has room for all rows");

#endif

bool kc__process_seccomp_build(kc__process_seccomp *ret)
{
    ret->program = (struct sock_fprog){.filter = ret->code};
#ifdef ARCHITECTURE
    const uint32_t action = SECCOMP_RET_ERRNO;
    if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) < 0)
        return false;
    emit_all(ret);
    return true;
#else
    return false;
#endif
}
