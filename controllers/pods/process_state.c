/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_state.c: the state of each attempt on disk, and the cleanup of leftover containers.
 *
 * A state file has lines of "key value", the message last, with all the bytes that follow. It is
 * written before a container may run and again after its exit, each time atomically.
 *
 * Containers die with the process that runs them (PR_SET_PDEATHSIG, process_child.c). So a
 * container that a state file calls running when a process opens the directory has exited, or, if
 * the signal was not available, is killed now: no container survives unobserved or runs twice. A
 * pid alone may have been reused; with its start time and the boot id it identifies one process.
 *
 * To store more about a container: a field in kc__process_proc_state, written and read here.
 */
#include "pods/process_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The reasons that a state may have; only displayed, never compared. */
static const char *const reasons[] = {"OOMKilled", "StartError", "ContainerStatusUnknown"};

static const char *process_state_reason_of(kc_str text)
{
    for (size_t i = 0; i < KC_COUNT(reasons); i++)
        if (kc_str_is(text, reasons[i]))
            return reasons[i];
    return NULL;
}

static void boot_id(kc_buf *out)
{
    kc__process_file_bytes(AT_FDCWD, "/proc/sys/kernel/random/boot_id", 36, false, out);
}

int kc__process_proc_state_write(int dir_fd, int attempt, const kc__process_proc_state *state,
                                 kc_error *err)
{
    const kc__pod_container_report *r = &state->report;
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "boot ");
    boot_id(&text);
    kc_buf_printf(&text, "\npid %d\nbegan %llu\nphase %d\nstarted %lld\nended %lld\n", state->pid,
                  (unsigned long long)state->pid_started, (int)r->phase, (long long)r->started,
                  (long long)r->ended);
    kc_buf_printf(&text, "exit %d\nsignal %d\nreason %s\nmessage %s", r->exit_code, r->signal,
                  r->reason ? r->reason : "", r->message);
    char name[32];
    snprintf(name, sizeof(name), "%d.state", attempt);
    return kc__process_file_replace(dir_fd, name, kc_buf_str(&text), err);
}

static void process_state_read_field(kc_str key, kc_str value, kc__process_proc_state *s)
{
    int64_t n = 0;
    kc_str_to_i64(value, &n);
    if (kc_str_is(key, "pid"))
        s->pid = (pid_t)n;
    else if (kc_str_is(key, "began"))
        s->pid_started = (uint64_t)n;
    else if (kc_str_is(key, "phase"))
        s->report.phase =
            n == KC__POD_CONTAINER_RUNNING ? KC__POD_CONTAINER_RUNNING : KC__POD_CONTAINER_ENDED;
    else if (kc_str_is(key, "started"))
        s->report.started = n;
    else if (kc_str_is(key, "ended"))
        s->report.ended = n;
    else if (kc_str_is(key, "exit"))
        s->report.exit_code = (int)n;
    else if (kc_str_is(key, "signal"))
        s->report.signal = (int)n;
    else if (kc_str_is(key, "reason"))
        s->report.reason = process_state_reason_of(value);
}

bool kc__process_proc_state_read(int dir_fd, int attempt, kc__process_proc_state *ret)
{
    char name[32];
    snprintf(name, sizeof(name), "%d.state", attempt);
    kc_scoped(kc_buf) text = {0}, boot = {0};
    if (!kc__process_file_bytes(dir_fd, name, 8192, false, &text) || text.n == 0)
        return false;
    boot_id(&boot);
    *ret = (kc__process_proc_state){.report.attempt = attempt};
    bool same_boot = true;
    kc_str rest = kc_buf_str(&text);
    while (rest.p && !kc_str_starts(rest, KC_STR("message "))) {
        kc_str value = kc_str_cut(&rest, '\n');
        const kc_str key = kc_str_cut(&value, ' ');
        if (kc_str_is(key, "boot"))
            same_boot = kc_str_eq(value, kc_buf_str(&boot));
        else
            process_state_read_field(key, value, ret);
    }
    const kc_str message = kc_str_sub(rest, sizeof("message ") - 1, rest.n);
    memcpy(ret->report.message, message.n ? message.p : "",
           KC_MIN(message.n, KC__PROCESS_MESSAGE_MAX));
    if (!same_boot)
        ret->pid = 0;
    return true;
}

/* The attempt of "12.state"; -1: another name. */
static int attempt_of(const char *name, const char **ret_rest)
{
    kc_str rest = kc_cstr(name);
    int64_t n;
    const kc_str number = kc_str_cut(&rest, '.');
    if (!rest.p || !kc_str_to_i64(number, &n) || n < 0 || n > INT_MAX)
        return -1;
    if (ret_rest)
        *ret_rest = rest.p;
    return (int)n;
}

int kc__process_proc_state_latest(int dir_fd)
{
    kc__process_names names = {0};
    int latest = -1;
    kc__process_dir_names(dir_fd, &names, NULL);
    kc_vec_each (&names, name) {
        const char *rest = NULL;
        const int attempt = attempt_of(*name, &rest);
        if (attempt > latest && strcmp(rest, "state") == 0)
            latest = attempt;
    }
    kc__process_names_done(&names);
    return latest;
}

void kc__process_proc_state_prune(int dir_fd, int attempt)
{
    kc__process_names names = {0};
    kc__process_dir_names(dir_fd, &names, NULL);
    kc_vec_each (&names, name) {
        const char *rest = "";
        const int old = attempt_of(*name, &rest);
        const int keep = strcmp(rest, "tmp") == 0 ? attempt : attempt - 1;
        if (old >= 0 && old < keep && unlinkat(dir_fd, *name, 0) < 0)
            kc__process_dir_remove(dir_fd, *name, NULL);
    }
    kc__process_names_done(&names);
}

/* ---- leftover containers ---- */

char *kc__process_container_mark(const kc__process_runtime *rt, const char *key)
{
    struct stat dir_fd = {0};
    fstat(rt->dir_fd, &dir_fd);
    return kc_asprintf("%llx-%llx/%s", (unsigned long long)dir_fd.st_dev,
                       (unsigned long long)dir_fd.st_ino, key);
}

void kc__process_container_kill_marked(const kc__process_runtime *rt, const char *key)
{
    kc_autofree char *mark = kc__process_container_mark(rt, key);
    kc__process_kill_marked(mark);
}

static void end_left_over(kc__process_runtime *rt, int dir_fd, const char *key,
                          kc__process_proc_state *state)
{
    const int fd = state->pid ? (int)syscall(SYS_pidfd_open, state->pid, 0) : -1;
    if (fd >= 0 && kc__process_start_time(state->pid) == state->pid_started) {
        syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
        kc_log_warn(rt->log, "killed a container left over from an earlier process",
                    kc_kv("container", key));
    }
    if (fd >= 0)
        close(fd);
    if (rt->isolation.namespaces == KC__PROCESS_NAMESPACES_NONE)
        kc__process_container_kill_marked(rt, key);
    kc__pod_container_report *r = &state->report;
    r->phase = KC__POD_CONTAINER_ENDED;
    r->ended = kc_clock_wall(rt->clock);
    r->exit_code = 137;
    r->signal = 0;
    r->reason = "ContainerStatusUnknown";
    snprintf(r->message, sizeof(r->message),
             "The container ended with the process that ran it. It used to be Running");
    kc__process_proc_state_write(dir_fd, r->attempt, state, NULL);
}

static void sweep_container(kc__process_runtime *rt, int pod, const char *uid, const char *name)
{
    const int dir_fd = kc__process_dir_open(pod, name, 0, NULL);
    const int latest = dir_fd < 0 ? -1 : kc__process_proc_state_latest(dir_fd);
    for (int attempt = latest; attempt >= 0 && attempt > latest - 2; attempt--) {
        kc__process_proc_state state;
        char key[600];
        snprintf(key, sizeof(key), "%s/%s/%d", uid, name, attempt);
        if (!kc__process_proc_state_read(dir_fd, attempt, &state) ||
            state.report.phase == KC__POD_CONTAINER_ENDED)
            continue;
        end_left_over(rt, dir_fd, key, &state);
    }
    if (dir_fd >= 0)
        close(dir_fd);
}

static void sweep_pod(kc__process_runtime *rt, const char *uid)
{
    const int pod = kc__process_dir_open(rt->pods_fd, uid, 0, NULL);
    kc__process_names names = {0};
    if (pod >= 0)
        kc__process_dir_names(pod, &names, NULL);
    kc_vec_each (&names, name)
        if (kc__process_file_name_ok(kc_cstr(*name)))
            sweep_container(rt, pod, uid, *name);
    kc__process_names_done(&names);
    if (pod >= 0)
        close(pod);
}

void kc__process_proc_state_sweep(kc__process_runtime *rt)
{
    kc__process_names uids = {0};
    kc__process_dir_names(rt->pods_fd, &uids, NULL);
    kc__process_cgroup_remove_pod(rt, NULL);
    kc_vec_each (&uids, uid)
        sweep_pod(rt, *uid);
    kc__process_names_done(&uids);
}
