/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_proc.c: what /proc says of a process: its start time, its signal handlers, its mark.
 *
 * All processes of a container have its mark in their environment. Without pid namespace and cgroup
 * the mark alone tells which processes are a container's. One pass over /proc does not find them
 * all: a process that was looked at may have forked just before, and one that executes another
 * program has no environment until the kernel has set up its stack. So a process in between is
 * waited for, and passes go on until two in a row find nothing.
 */
#include "pods/process_internal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MARK "KC_CONTAINER="

/* Passes over /proc, and looks at a process that executes another program; a pause follows each. */
#define MAX_PASSES 200
#define MAX_LOOKS  200

/* Of /proc/PID/stat, whose fields are numbered as in proc(5). */
typedef struct kc__process_stat {
    bool dead;
    uint64_t started;     /* In ticks since boot. */
    uint64_t memory;      /* 0: a thread of the kernel. */
    uint64_t environment; /* Its address; 0 while the process executes another program. */
} kc__process_stat;

static bool read_stat(pid_t pid, kc__process_stat *ret)
{
    enum { STATE = 3, STARTTIME = 22, VSIZE = 23, ENV_START = 50, FIELDS };
    char path[32];
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    kc_scoped(kc_buf) text = {0};
    if (pid <= 0 || !kc__process_file_bytes(AT_FDCWD, path, 4096, false, &text))
        return false;
    /* The name may contain parentheses; plain fields follow the last one. */
    kc_str rest = kc_buf_str(&text);
    rest = kc_str_sub(rest, (size_t)(kc_str_rfind(rest, ')') + 1), rest.n);
    kc_str fields[FIELDS] = {0};
    for (size_t i = 2; i < FIELDS && rest.p; i++)
        fields[i] = kc_str_cut(&rest, ' ');
    *ret =
        (kc__process_stat){.dead = kc_str_is(fields[STATE], "Z") || kc_str_is(fields[STATE], "X")};
    kc_str_to_u64(fields[STARTTIME], &ret->started);
    kc_str_to_u64(fields[VSIZE], &ret->memory);
    kc_str_to_u64(fields[ENV_START], &ret->environment);
    return true;
}

uint64_t kc__process_start_time(pid_t pid)
{
    kc__process_stat stat;
    return read_stat(pid, &stat) && !stat.dead ? stat.started : 0;
}

bool kc__process_handles_signal(pid_t pid, int sig)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%d/status", pid);
    kc_scoped(kc_buf) text = {0};
    kc__process_file_bytes(AT_FDCWD, path, 8192, false, &text);
    const char *mask = strstr(kc_buf_cstr(&text), "SigCgt:");
    return mask && strtoull(mask + 7, NULL, 16) >> (sig - 1) & 1;
}

/* ---- marks ---- */

static void pause_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
}

/* Whether the kernel is replacing its program. */
static bool is_executing(pid_t pid)
{
    kc__process_stat stat;
    return read_stat(pid, &stat) && !stat.dead && stat.memory && !stat.environment;
}

/* Reads the environment of a process; false if it has none or is not of this user. */
static bool read_environment(pid_t pid, kc_buf *text)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/environ", pid);
    for (int look = 0; look < MAX_LOOKS; look++) {
        if (!kc__process_file_bytes(AT_FDCWD, path, (size_t)256 << 10, false, text))
            return false;
        if (text->n > 0 || !is_executing(pid))
            break;
        pause_ms(1);
    }
    return text->n > 0;
}

static bool has_mark(pid_t pid, const char *mark)
{
    char want[512];
    snprintf(want, sizeof(want), MARK "%.450s", mark);
    kc_scoped(kc_buf) text = {0};
    if (!read_environment(pid, &text))
        return false;
    for (kc_str rest = kc_buf_str(&text); rest.p;)
        if (kc_str_is(kc_str_cut(&rest, '\0'), want))
            return true;
    return false;
}

/* Whether there was one. */
static bool kill_marked_once(const char *mark)
{
    bool found = false;
    const int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    kc__process_names names = {0};
    if (proc >= 0)
        kc__process_dir_names(proc, &names, NULL);
    kc_vec_each (&names, name) {
        int64_t pid;
        if (!kc_str_to_i64(kc_cstr(*name), &pid) || pid <= 1 || pid == getpid())
            continue;
        /* The pidfd is opened before the check, so that the process that was checked is killed. */
        const int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
        if (fd >= 0 && has_mark((pid_t)pid, mark)) {
            syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
            found = true;
        }
        if (fd >= 0)
            close(fd);
    }
    kc__process_names_done(&names);
    if (proc >= 0)
        close(proc);
    return found;
}

void kc__process_kill_marked(const char *mark)
{
    for (int pass = 0, clean = 0; pass < MAX_PASSES && clean < 2; pass++) {
        clean = kill_marked_once(mark) ? 0 : clean + 1;
        if (clean < 2)
            pause_ms(1);
    }
}
