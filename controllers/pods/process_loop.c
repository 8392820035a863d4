/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_loop.c: the thread that reads the output of containers and sees them exit.
 *
 * One epoll instance serves all. Each container has three sources: its pidfd, which becomes
 * readable on exit, and two pipes. An iteration reads a chunk of every readable pipe, so that a
 * container that writes without pause does not starve others; then it handles exits. On exit the
 * remaining processes of the container are killed and the pipes are drained: no output written
 * before the exit is lost.
 *
 * Children are reaped one by one, by pidfd: a library must not reap processes that it did not
 * create.
 *
 * A container is alive as long as one of its sources is in the epoll: this thread removes them
 * before `report` says ENDED, and only then may other threads free it.
 */
#include "pods/process_internal.h"
#include "pods/process_logs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK      ((size_t)64 << 10)
#define MAX_EVENTS 64
#define MAX_DRAIN                                                                    \
    ((size_t)8 << 20) /* Drain limit on exit, if a process still writes to the pipe. \
                       * \ */

static void close_source(kc__process_runtime *rt, kc__process_source *source)
{
    if (source->fd < 0)
        return;
    epoll_ctl(rt->epoll, EPOLL_CTL_DEL, source->fd, NULL);
    if (source->kind == KC__PROCESS_SOURCE_OUTPUT)
        close(source->fd);
    source->fd = -1;
}

/* Reads a chunk of output. False: there is no more for now. */
static bool read_chunk(kc__process_runtime *rt, kc__process_source *source)
{
    char chunk[CHUNK];
    const ssize_t n = source->fd < 0 ? 0 : read(source->fd, chunk, sizeof(chunk));
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return errno == EINTR;
    if (n > 0) {
        kc__process_log_file_take(rt, &source->proc->log, source, kc_str_of(chunk, (size_t)n),
                                  false);
        return true;
    }
    close_source(rt, source);
    return false;
}

static void process_loop_drain(kc__process_runtime *rt, kc__process_source *source)
{
    for (size_t read = 0; read < MAX_DRAIN && read_chunk(rt, source); read += CHUNK)
        ;
    kc__process_log_file_take(rt, &source->proc->log, source, (kc_str){0}, true);
    close_source(rt, source);
}

/* ---- exits ---- */

static void reap(kc__process_proc *proc, kc__pod_container_report *r)
{
    siginfo_t info = {0};
    int done;
    do
        done = waitid((idtype_t)P_PIDFD, (id_t)proc->pidfd, &info, WEXITED);
    while (done < 0 && errno == EINTR);
    if (done < 0) { /* Another part of the program has reaped it: perhaps SIGCHLD is ignored. */
        r->exit_code = 137;
        r->reason = "ContainerStatusUnknown";
    } else if (info.si_code == CLD_EXITED) {
        r->exit_code = info.si_status;
    } else {
        r->signal = info.si_status;
        r->exit_code = 128 + info.si_status;
    }
}

static void set_message(kc__pod_container_report *r, kc_str text)
{
    kc_scoped(kc_buf) clean = {0};
    kc__process_text_put(&clean, text, KC__PROCESS_MESSAGE_MAX);
    memcpy(r->message, kc_buf_cstr(&clean), clean.n + 1);
}

static void process_loop_read_message(kc__process_proc *proc, kc__pod_container_report *r)
{
    char name[32];
    kc_scoped(kc_buf) text = {0};
    snprintf(name, sizeof(name), "%d.message", proc->attempt);
    kc__process_file_bytes(proc->dir_fd, name, KC__PROCESS_MESSAGE_MAX, true, &text);
    if (text.n == 0 && proc->fallback_to_logs && r->exit_code != 0)
        kc__process_logs_tail(proc->dir_fd, proc->attempt, 80, 2048, &text);
    set_message(r, kc_buf_str(&text));
    unlinkat(proc->dir_fd, name, 0);
}

/* Its /tmp stays until the next attempt or the pod's end: this thread serves all containers and
 * must not remove a million files. */
static void clean_up(kc__process_runtime *rt, kc__process_proc *proc)
{
    kc__process_log_file_close(&proc->log);
    kc__process_cgroup_remove(rt, proc->uid, proc->name, proc->attempt);
}

void kc__process_proc_ended(kc__process_runtime *rt, kc__process_proc *proc,
                            const kc__pod_container_report *how)
{
    kc__process_proc_state state = {.report = *how};
    kc_scoped(kc_error) err = {0};
    state.report.phase = KC__POD_CONTAINER_ENDED;
    state.report.ended = kc_clock_wall(rt->clock);
    if (kc__process_proc_state_write(proc->dir_fd, proc->attempt, &state, &err) < 0)
        kc_log_warn(rt->log, "failed to record container exit on disk",
                    kc_kv("container", (const char *)proc->key), kc_kv("err", &err));
    kc_autofree char *uid = kc_strdup(proc->uid);
    kc_locked (&rt->mutex) {
        proc->report = state.report;
        kc_dlist_remove(&proc->link);
        kc__process_proc_finish(proc);
        kc_cond_broadcast(&rt->ended);
    }
    if (rt->base.changed && !rt->stopping)
        rt->base.changed(kc_cstr(uid), rt->base.changed_user);
}

static void process_loop_end(kc__process_runtime *rt, kc__process_proc *proc)
{
    kc__pod_container_report r;
    kc__process_proc_kill(rt, proc);
    kc_locked (&rt->mutex) { /* Also waits for callers that have just started to watch it. */
        r = proc->report;
        proc->reaped = true; /* From now on the pid may be reused. */
    }
    reap(proc, &r);
    close_source(rt, &proc->exit);
    process_loop_drain(rt, &proc->out);
    process_loop_drain(rt, &proc->err);
    if (r.exit_code == 137 && kc__process_cgroup_oom(proc->cgroup))
        r.reason = "OOMKilled";
    process_loop_read_message(proc, &r);
    clean_up(rt, proc);
    kc__process_proc_ended(rt, proc, &r);
}

/* ---- the thread ---- */

/* An exit frees its container or lets other threads free it: after the first exit, no other source
 * of this iteration is used except those of other exits. */
static void process_loop_turn(kc__process_runtime *rt, const struct epoll_event *events, int n)
{
    kc__process_proc *ended[MAX_EVENTS];
    int n_ended = 0;
    for (int i = 0; i < n; i++) {
        kc__process_source *source = events[i].data.ptr;
        uint64_t count;
        if (source->kind == KC__PROCESS_SOURCE_OUTPUT)
            read_chunk(rt, source);
        else if (source->kind == KC__PROCESS_SOURCE_EXIT)
            ended[n_ended++] = source->proc;
        else if (read(source->fd, &count, sizeof(count)) < 0)
            continue; /* A wake-up for another reason. */
    }
    for (int i = 0; i < n_ended; i++)
        process_loop_end(rt, ended[i]);
}

static bool some_run(kc__process_runtime *rt)
{
    bool some = false;
    kc_locked (&rt->mutex)
        some = !kc_dlist_empty(&rt->running);
    return some;
}

static void run_loop(void *user)
{
    kc__process_runtime *rt = user;
    struct epoll_event events[MAX_EVENTS];
    while (!rt->stopping || some_run(rt)) {
        const int n = epoll_wait(rt->epoll, events, MAX_EVENTS, -1);
        if (n > 0)
            process_loop_turn(rt, events, n);
    }
}

static int process_loop_add_source(kc__process_runtime *rt, kc__process_source *source,
                                   kc_error *err)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};
    if (source->fd < 0 || epoll_ctl(rt->epoll, EPOLL_CTL_ADD, source->fd, &event) == 0)
        return 0;
    return kc__process_errno_set(err, "watch container process");
}

int kc__process_proc_loop_start(kc__process_runtime *rt, kc_error *err)
{
    rt->epoll = epoll_create1(EPOLL_CLOEXEC);
    rt->wake = (kc__process_source){.kind = KC__PROCESS_SOURCE_WAKE,
                                    .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (rt->epoll < 0 || rt->wake.fd < 0)
        return kc__process_errno_set(err, "create epoll instance");
    if (process_loop_add_source(rt, &rt->wake, err) < 0)
        return kc_error_result(err);
    rt->loop_thread = kc_thread_start("pods-loop", run_loop, rt, err);
    return rt->loop_thread ? 0 : kc_error_result(err);
}

void kc__process_proc_loop_stop(kc__process_runtime *rt)
{
    const uint64_t one = 1;
    rt->stopping = true;
    if (rt->loop_thread && write(rt->wake.fd, &one, sizeof(one)) < 0)
        kc_log_debug(rt->log, "failed to wake the event loop");
    rt->loop_thread = kc_thread_join(rt->loop_thread);
    if (rt->wake.fd >= 0)
        close(rt->wake.fd);
    if (rt->epoll >= 0)
        close(rt->epoll);
}

/* Needs the mutex: the loop takes it before it handles an exit, so that all three sources are
 * registered by then. */
int kc__process_proc_loop_watch(kc__process_runtime *rt, kc__process_proc *proc, kc_error *err)
{
    if (process_loop_add_source(rt, &proc->exit, err) < 0)
        return kc_error_result(err);
    if (process_loop_add_source(rt, &proc->out, err) < 0 ||
        process_loop_add_source(rt, &proc->err, err) < 0)
        syscall(SYS_pidfd_send_signal, proc->pidfd, SIGKILL, NULL, 0);
    return 0;
}
