/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_child.c: the child process from clone to exec.
 *
 * It is a copy of a process whose other threads are gone, possibly in the middle of a malloc: so it
 * uses raw system calls only, no C library function that keeps state, and nothing that a sanitizer
 * would instrument or intercept. The launch contains everything it needs.
 *
 * The order matters. Mounts come first, because they need privileges; then the new root; then
 * limits and capabilities; then the user, which cannot be undone; then the parent death signal,
 * which a change of user clears; then the working directory, which the user must be able to enter;
 * last the seccomp filter, so that it restricts the program and none of these steps.
 *
 * Until exec the process has a copy of its parent's memory, which processes of the container's user
 * must not read. A change of user prevents that, and PR_SET_DUMPABLE does where there is none.
 *
 * Paths that a container may have manipulated are resolved by openat2, inside the new root or below
 * a volume; a symlink to /etc resolves to the container's.
 */
#include "pods/process_child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BARE \
    __attribute__((no_sanitize("address"), no_sanitize("thread"), no_sanitize("undefined")))

/* Raw system calls: the C library's wrappers are cancellation points. */
#define SYS(name, ...) syscall(SYS_##name __VA_OPT__(, ) __VA_ARGS__)

const char *kc__process_child_step_text(int step)
{
    static const char *const texts[] = {
#define KC__PROCESS_CHILD_STEP_TEXT(name, text) text,
        KC__PROCESS_CHILD_STEPS(KC__PROCESS_CHILD_STEP_TEXT)
#undef KC__PROCESS_CHILD_STEP_TEXT
    };
    return step >= 0 && (size_t)step < KC_COUNT(texts) ? texts[step] : "start";
}

BARE static _Noreturn void process_child_leave(int code)
{
    for (;;)
        SYS(exit_group, code);
}

BARE static _Noreturn void process_child_fail(const kc__process_launch *l,
                                              kc__process_child_step step, int at)
{
    kc__process_failure failure = {.step = (int)step, .error = errno, .at = at};
    SYS(write, l->failures_fd, &failure, sizeof(failure));
    process_child_leave(127);
}

BARE static size_t length(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    return n;
}

/* ---- mounts ---- */

BARE static int open_in(int root, const char *path, int flags, uint64_t resolve)
{
    struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC), .resolve = resolve};
    return (int)SYS(openat2, root, path, &how, sizeof(how));
}

BARE static int open_target(int root, const char *path)
{
    return open_in(root, path, O_PATH, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

/* The parent directory of a path that has one. */
BARE static int open_above(int root, const char *path, size_t n)
{
    char above[PATH_MAX];
    while (n > 0 && path[n - 1] != '/')
        n--;
    if (n == 0)
        return open_target(root, "/");
    for (size_t i = 0; i < n; i++)
        above[i] = path[i];
    above[n] = '\0';
    return open_target(root, above);
}

/* Creates the entry named by `part`, the first n bytes of a path, in an existing directory. */
BARE static int make_one(int root, char *part, size_t n, bool file)
{
    int there = open_target(root, part);
    if (there < 0 && errno != ENOENT)
        return -1;
    if (there >= 0)
        return (int)SYS(close, there);
    size_t name = n;
    while (name > 0 && part[name - 1] != '/')
        name--;
    const int above = open_above(root, part, n);
    if (above < 0)
        return -1;
    int made = file ? (int)SYS(mknodat, above, part + name, S_IFREG | 0644, 0)
                    : (int)SYS(mkdirat, above, part + name, 0755);
    const int why = errno;
    SYS(close, above);
    errno = why;
    return made;
}

BARE static int make_path(int root, const char *path, bool file)
{
    char part[PATH_MAX];
    const size_t n = length(path);
    if (n >= sizeof(part)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        part[i] = path[i];
        part[i + 1] = '\0';
        const bool end = i + 1 == n;
        if ((end || path[i + 1] == '/') && path[i] != '/' &&
            make_one(root, part, i + 1, end && file) < 0)
            return -1;
    }
    return 0;
}

BARE static int open_source(const kc__process_mount_step *step)
{
    const unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC |
                           (step->flags & KC__PROCESS_MOUNT_ONE ? 0u : (unsigned)AT_RECURSIVE);
    if (!step->beneath)
        return (int)SYS(open_tree, AT_FDCWD, step->source, flags | AT_SYMLINK_NOFOLLOW);
    const int base = (int)SYS(openat, AT_FDCWD, step->source, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    if (base < 0)
        return -1;
    const int below = open_in(base, step->beneath, O_PATH, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
    if (below < 0)
        return -1;
    return (int)SYS(open_tree, below, "", flags | AT_EMPTY_PATH);
}

BARE static int set_attributes(int mount, uint64_t attributes, bool below)
{
    struct mount_attr attr = {.attr_set = attributes};
    return (int)SYS(mount_setattr, mount, "", AT_EMPTY_PATH | (below ? AT_RECURSIVE : 0), &attr,
                    sizeof(attr));
}

BARE static int attach_tree(int root, const kc__process_mount_step *step)
{
    const int tree = open_source(step);
    if (tree < 0)
        return -1;
    const uint64_t attributes =
        (step->flags & KC__PROCESS_MOUNT_READ_ONLY ? MOUNT_ATTR_RDONLY : 0u) |
        (step->flags & KC__PROCESS_MOUNT_NO_DEV ? MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID : 0u);
    if (attributes && set_attributes(tree, attributes, true) < 0)
        return -1;
    const int target = open_target(root, step->target);
    if (target < 0 || SYS(move_mount, tree, "", target, "",
                          MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
        return -1;
    SYS(close, target);
    SYS(close, tree);
    return 0;
}

/* "/proc/self/fd/N": the mount call takes paths only. */
BARE static void name_of_fd(int fd, char ret[32])
{
    static const char prefix[] = "/proc/self/fd/";
    size_t n = 0;
    for (; prefix[n]; n++)
        ret[n] = prefix[n];
    int unit = 1;
    while (fd / unit >= 10)
        unit *= 10;
    for (; unit > 0; unit /= 10)
        ret[n++] = (char)('0' + fd / unit % 10);
    ret[n] = '\0';
}

BARE static int mount_new(int root, const kc__process_mount_step *step)
{
    const int target = open_target(root, step->target);
    if (target < 0)
        return -1;
    char name[32];
    name_of_fd(target, name);
    const unsigned long flags = MS_NOSUID |
                                (step->flags & KC__PROCESS_MOUNT_NO_DEV ? MS_NODEV : 0u) |
                                (step->flags & KC__PROCESS_MOUNT_READ_ONLY ? MS_RDONLY : 0u);
    const int done = (int)SYS(mount, step->source, name, step->source, flags, step->options);
    const int why = errno;
    SYS(close, target);
    errno = why;
    return done;
}

BARE static int make_link(int root, const kc__process_mount_step *step)
{
    const size_t n = length(step->target);
    size_t name = n;
    while (name > 0 && step->target[name - 1] != '/')
        name--;
    const int above = open_above(root, step->target, n);
    return above < 0 ? -1 : (int)SYS(symlinkat, step->source, above, step->target + name);
}

BARE static int seal(int root, const kc__process_mount_step *step)
{
    const int target = open_target(root, step->target);
    return target < 0 ? -1 : set_attributes(target, MOUNT_ATTR_RDONLY, false);
}

BARE static int take_step(int root, const kc__process_mount_step *step)
{
    switch (step->kind) {
    case KC__PROCESS_MOUNT_TREE: return attach_tree(root, step);
    case KC__PROCESS_MOUNT_DIR: return make_path(root, step->target, false);
    case KC__PROCESS_MOUNT_FILE: return make_path(root, step->target, true);
    case KC__PROCESS_MOUNT_LINK: return make_link(root, step);
    case KC__PROCESS_MOUNT_NEW: return mount_new(root, step);
    case KC__PROCESS_MOUNT_SEAL: return seal(root, step);
    }
    return 0;
}

BARE static void build_root(const kc__process_launch *l)
{
    if (SYS(mount, NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        process_child_fail(l, KC__PROCESS_CHILD_PRIVATE, 0);
    if (SYS(mount, "tmpfs", l->new_root, "tmpfs", MS_NODEV | MS_NOSUID, "mode=755,size=16m") < 0)
        process_child_fail(l, KC__PROCESS_CHILD_ROOT, 0);
    const int root = (int)SYS(openat, AT_FDCWD, l->new_root, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    if (root < 0)
        process_child_fail(l, KC__PROCESS_CHILD_ROOT, 0);
    for (size_t i = 0; i < l->mounts.n; i++)
        if (take_step(root, &l->mounts.items[i]) < 0 &&
            !(l->mounts.items[i].flags & KC__PROCESS_MOUNT_OPTIONAL))
            process_child_fail(l, KC__PROCESS_CHILD_MOUNT, (int)i);
    if (SYS(fchdir, root) < 0 || SYS(pivot_root, ".", ".") < 0 ||
        SYS(umount2, ".", MNT_DETACH) < 0 || SYS(chdir, "/") < 0)
        process_child_fail(l, KC__PROCESS_CHILD_PIVOT, 0);
}

/* ---- user and capabilities ---- */

BARE static int write_file(const char *path, const char *text)
{
    const int fd = (int)SYS(openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    const long written = SYS(write, fd, text, length(text));
    const int why = errno;
    SYS(close, fd);
    errno = why;
    return written < 0 ? -1 : 0;
}

BARE static void map_users(const kc__process_launch *l)
{
    if (write_file("/proc/self/setgroups", "deny") < 0 ||
        write_file("/proc/self/gid_map", l->gid_map) < 0 ||
        write_file("/proc/self/uid_map", l->uid_map) < 0)
        process_child_fail(l, KC__PROCESS_CHILD_MAP_USER, 0);
}

/* Drops capabilities for this process and its children. A failure is harmless without root: there
 * are no capabilities, and no_new_privs keeps it so. */
BARE static void drop_bounds(const kc__process_launch *l)
{
    for (unsigned cap = 0; cap < 64; cap++) {
        if (l->capabilities >> cap & 1 || SYS(prctl, PR_CAPBSET_READ, cap, 0, 0, 0) <= 0)
            continue;
        if (SYS(prctl, PR_CAPBSET_DROP, cap, 0, 0, 0) < 0 && l->set_ids && l->uid == 0)
            process_child_fail(l, KC__PROCESS_CHILD_CAPABILITIES, 0);
    }
    SYS(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

BARE static void drop_capabilities(const kc__process_launch *l)
{
    const uint64_t keep = l->set_ids && l->uid == 0 ? l->capabilities : 0;
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {
        {.effective = (uint32_t)keep, .permitted = (uint32_t)keep},
        {.effective = (uint32_t)(keep >> 32), .permitted = (uint32_t)(keep >> 32)},
    };
    if (SYS(capset, &head, data) < 0 || SYS(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        process_child_fail(l, KC__PROCESS_CHILD_CAPABILITIES, 0);
}

BARE static void become(const kc__process_launch *l)
{
    const bool one_more = l->group != l->gid;
    if (SYS(setgroups, one_more ? 1 : 0, &l->group) < 0 ||
        SYS(setresgid, l->gid, l->gid, l->gid) < 0 || SYS(setresuid, l->uid, l->uid, l->uid) < 0)
        process_child_fail(l, KC__PROCESS_CHILD_USER, 0);
}

BARE static void set_limits(const kc__process_launch *l)
{
    const struct rlimit none = {0}, processes = {l->max_processes, l->max_processes};
    if (SYS(prlimit64, 0, RLIMIT_CORE, &none, NULL) < 0 ||
        (l->max_processes && SYS(prlimit64, 0, RLIMIT_NPROC, &processes, NULL) < 0))
        process_child_fail(l, KC__PROCESS_CHILD_LIMITS, 0);
}

/* ---- descriptors and signals ---- */

/* Descriptors of the launch are above 9. */
BARE static void set_files(const kc__process_launch *l)
{
    if (SYS(dup3, l->stdin_fd, 0, 0) < 0 || SYS(dup3, l->stdout_fd, 1, 0) < 0 ||
        SYS(dup3, l->stderr_fd, 2, 0) < 0 ||
        (l->message_fd >= 0 && SYS(dup3, l->message_fd, 3, 0) < 0) ||
        SYS(close_range, l->message_fd >= 0 ? 4u : 3u, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
        process_child_fail(l, KC__PROCESS_CHILD_OUTPUT, 0);
}

/* Resets signals: default actions, empty mask. */
BARE static void reset_signals(void)
{
    const uint64_t action[4] = {0}; /* The kernel's struct sigaction: SIG_DFL, no flags. */
    const uint64_t none = 0;
    for (int sig = 1; sig <= 64; sig++)
        SYS(rt_sigaction, sig, action, NULL, sizeof(none));
    SYS(rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof(none));
}

/* ---- start and exec ---- */

BARE static void await_go(const kc__process_launch *l)
{
    char byte;
    long n;
    do
        n = SYS(read, l->go_fd, &byte, 1);
    while (n < 0 && errno == EINTR);
    if (n != 1)
        process_child_leave(127);
}

/* From here on the child is killed with the thread that cloned it. If that has exited already:
 * exit. */
BARE static void die_with_parent(const kc__process_launch *l)
{
    SYS(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    struct pollfd go = {.fd = l->go_fd, .events = POLLIN};
    const struct timespec at_once = {0};
    if (SYS(ppoll, &go, 1, &at_once, NULL, 8) == 1 && go.revents & POLLHUP)
        process_child_leave(127);
}

BARE static _Noreturn void process_child_wait_for(pid_t child)
{
    int status = 0;
    SYS(close_range, 0u, ~0u, 0);
    while (SYS(wait4, child, &status, 0, NULL) < 0 && errno == EINTR)
        ;
    process_child_leave(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* Joins a container. Joining a pid namespace affects only children: so it forks once more and waits
 * for that child. */
BARE static void process_child_join(const kc__process_launch *l)
{
    if (SYS(setns, l->join_pidfd, l->join_flags) < 0)
        process_child_fail(l, KC__PROCESS_CHILD_JOIN, 0);
    const pid_t child = (pid_t)SYS(clone, SIGCHLD, 0, 0, 0, 0);
    if (child < 0)
        process_child_fail(l, KC__PROCESS_CHILD_FORK, 0);
    if (child > 0)
        process_child_wait_for(child);
    SYS(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

BARE static void process_child_enter(const kc__process_launch *l)
{
    /* When memory is short, the OOM killer prefers containers to the runtime. */
    write_file("/proc/self/oom_score_adj", "500");
    if (l->own_user_namespace)
        map_users(l);
    SYS(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (l->join_pidfd >= 0)
        process_child_join(l);
    SYS(setsid);
    SYS(umask, 022);
    SYS(keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL); /* A new environment: ours may hold secrets. */
    if (l->own_mounts)
        build_root(l);
    else if (l->chroot && (SYS(chroot, l->chroot) < 0 || SYS(chdir, "/") < 0))
        process_child_fail(l, KC__PROCESS_CHILD_PIVOT, 0);
    if (l->hostname && SYS(sethostname, l->hostname, length(l->hostname)) < 0)
        process_child_fail(l, KC__PROCESS_CHILD_HOSTNAME, 0);
}

BARE static _Noreturn void execute(const kc__process_launch *l)
{
    int why = ENOENT;
    for (char **path = l->paths; *path; path++) {
        SYS(execve, *path, l->argv, l->envp);
        if (errno != ENOENT && errno != ENOTDIR)
            why = errno;
    }
    errno = why;
    process_child_fail(l, KC__PROCESS_CHILD_EXEC, 0);
}

BARE _Noreturn void kc__process_child_run(const kc__process_launch *l)
{
    SYS(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    await_go(l);
    process_child_enter(l);
    set_limits(l);
    if (!l->all_capabilities)
        drop_bounds(l);
    if (l->set_ids)
        become(l);
    if (!l->all_capabilities)
        drop_capabilities(l);
    SYS(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
    die_with_parent(l);
    set_files(l);
    reset_signals();
    if (SYS(chdir, l->workdir) < 0)
        process_child_fail(l, KC__PROCESS_CHILD_WORKDIR, 0);
    if (l->seccomp && SYS(seccomp, SECCOMP_SET_MODE_FILTER, 0, l->seccomp) < 0)
        process_child_fail(l, KC__PROCESS_CHILD_SECCOMP, 0);
    if (l->dry)
        process_child_leave(0);
    execute(l);
}
