/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_loop.c: the thread that reads what containers write, and sees them end.
 *
 * One epoll for all. Each container has three sources: its pidfd, which becomes readable when it
 * has ended, and two pipes. A turn reads a chunk of every pipe that has something, so that one who
 * writes without end gets no more of us than others; then come the ends. At an end everything else
 * of the container is killed, and the pipes are read until they are empty: nothing that was written
 * before the end is lost.
 *
 * Children are waited for one by one, by pidfd: a library does not reap what it has not made.
 *
 * A source's container is alive as long as the source is in the epoll: it is taken out, on this
 * thread, before `report` says ENDED, and only then may others free it.
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
#define MAX_DRAIN  ((size_t)8 << 20) /* At an end, from a pipe that somebody still writes to. */

static void close_source(kc__process_runtime *rt, kc__source *source)
{
    if (source->fd < 0)
        return;
    epoll_ctl(rt->epoll, EPOLL_CTL_DEL, source->fd, NULL);
    if (source->kind == KC__SOURCE_OUTPUT)
        close(source->fd);
    source->fd = -1;
}

/* A chunk of output. False: there is no more for now. */
static bool read_chunk(kc__process_runtime *rt, kc__source *source)
{
    char chunk[CHUNK];
    const ssize_t n = source->fd < 0 ? 0 : read(source->fd, chunk, sizeof(chunk));
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return errno == EINTR;
    if (n > 0) {
        kc__log_file_take(rt, &source->proc->log, source, kc_str_of(chunk, (size_t)n), false);
        return true;
    }
    close_source(rt, source);
    return false;
}

static void drain(kc__process_runtime *rt, kc__source *source)
{
    for (size_t read = 0; read < MAX_DRAIN && read_chunk(rt, source); read += CHUNK)
        ;
    kc__log_file_take(rt, &source->proc->log, source, (kc_str){0}, true);
    close_source(rt, source);
}

/* ---- ends ---- */

static void reap(kc__proc *proc, kc__container_report *r)
{
    siginfo_t info = {0};
    int done;
    do
        done = waitid((idtype_t)P_PIDFD, (id_t)proc->pidfd, &info, WEXITED);
    while (done < 0 && errno == EINTR);
    if (done < 0) { /* Somebody else has waited for it: SIGCHLD is ignored, perhaps. */
        r->exit_code = 137;
        r->reason = "ContainerStatusUnknown";
    } else if (info.si_code == CLD_EXITED) {
        r->exit_code = info.si_status;
    } else {
        r->signal = info.si_status;
        r->exit_code = 128 + info.si_status;
    }
}

static void set_message(kc__container_report *r, kc_str text)
{
    kc_scoped(kc_buf) clean = {0};
    kc__text_put(&clean, text, KC__MESSAGE_MAX);
    memcpy(r->message, kc_buf_cstr(&clean), clean.n + 1);
}

static void read_message(kc__proc *proc, kc__container_report *r)
{
    char name[32];
    kc_scoped(kc_buf) text = {0};
    snprintf(name, sizeof(name), "%d.message", proc->attempt);
    kc__file_bytes(proc->folder, name, KC__MESSAGE_MAX, true, &text);
    if (text.n == 0 && proc->fallback_to_logs && r->exit_code != 0)
        kc__logs_tail(proc->folder, proc->attempt, 80, 2048, &text);
    set_message(r, kc_buf_str(&text));
    unlinkat(proc->folder, name, 0);
}

/* Its /tmp stays, until the next attempt or the pod's end: removing a million files is no work for
 * the thread that serves all containers. */
static void clean_up(kc__process_runtime *rt, kc__proc *proc)
{
    kc__log_file_close(&proc->log);
    kc__cgroup_remove(rt, proc->uid, proc->name, proc->attempt);
}

void kc__proc_ended(kc__process_runtime *rt, kc__proc *proc, const kc__container_report *how)
{
    kc__proc_state state = {.report = *how};
    kc_scoped(kc_error) err = {0};
    state.report.phase = KC__CONTAINER_ENDED;
    state.report.ended = kc_clock_wall(rt->clock);
    if (kc__proc_state_write(proc->folder, proc->attempt, &state, &err) < 0)
        kc_log_warn(rt->log, "a container's end is not on disk",
                    kc_kv("container", (const char *)proc->key), kc_kv("err", &err));
    kc_autofree char *uid = kc_strdup(proc->uid);
    kc_locked (&rt->mutex) {
        proc->report = state.report;
        kc_list_remove(&proc->link);
        kc__proc_settle(proc);
        kc_cond_broadcast(&rt->ended);
    }
    if (rt->base.changed && !rt->stopping)
        rt->base.changed(kc_cstr(uid), rt->base.changed_user);
}

static void end(kc__process_runtime *rt, kc__proc *proc)
{
    kc__container_report r;
    kc__proc_kill(rt, proc);
    kc_locked (&rt->mutex) { /* Also waits for who has just begun to watch it. */
        r = proc->report;
        proc->reaped = true; /* From now on its pid may be another's. */
    }
    reap(proc, &r);
    close_source(rt, &proc->exit);
    drain(rt, &proc->out);
    drain(rt, &proc->err);
    if (r.exit_code == 137 && kc__cgroup_oom(proc->cgroup))
        r.reason = "OOMKilled";
    read_message(proc, &r);
    clean_up(rt, proc);
    kc__proc_ended(rt, proc, &r);
}

/* ---- the thread ---- */

/* An end frees its container, or lets others do so: after the first, no other source of this turn
 * is touched but those of other ends. */
static void turn(kc__process_runtime *rt, const struct epoll_event *events, int n)
{
    kc__proc *ended[MAX_EVENTS];
    int n_ended = 0;
    for (int i = 0; i < n; i++) {
        kc__source *source = events[i].data.ptr;
        uint64_t count;
        if (source->kind == KC__SOURCE_OUTPUT)
            read_chunk(rt, source);
        else if (source->kind == KC__SOURCE_EXIT)
            ended[n_ended++] = source->proc;
        else if (read(source->fd, &count, sizeof(count)) < 0)
            continue; /* Somebody else's wake-up. */
    }
    for (int i = 0; i < n_ended; i++)
        end(rt, ended[i]);
}

static bool some_run(kc__process_runtime *rt)
{
    bool some = false;
    kc_locked (&rt->mutex)
        some = !kc_list_empty(&rt->running);
    return some;
}

static void run_loop(void *user)
{
    kc__process_runtime *rt = user;
    struct epoll_event events[MAX_EVENTS];
    while (!rt->stopping || some_run(rt)) {
        const int n = epoll_wait(rt->epoll, events, MAX_EVENTS, -1);
        if (n > 0)
            turn(rt, events, n);
    }
}

static int add_source(kc__process_runtime *rt, kc__source *source, kc_error *err)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};
    if (source->fd < 0 || epoll_ctl(rt->epoll, EPOLL_CTL_ADD, source->fd, &event) == 0)
        return 0;
    return kc__errno_set(err, "watch a container");
}

int kc__proc_loop_start(kc__process_runtime *rt, kc_error *err)
{
    rt->epoll = epoll_create1(EPOLL_CLOEXEC);
    rt->wake = (kc__source){.kind = KC__SOURCE_WAKE, .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (rt->epoll < 0 || rt->wake.fd < 0)
        return kc__errno_set(err, "make an epoll");
    if (add_source(rt, &rt->wake, err) < 0)
        return -1;
    rt->loop_thread = kc_thread_start("pods-loop", run_loop, rt, err);
    return rt->loop_thread ? 0 : -1;
}

void kc__proc_loop_stop(kc__process_runtime *rt)
{
    const uint64_t one = 1;
    rt->stopping = true;
    if (rt->loop_thread && write(rt->wake.fd, &one, sizeof(one)) < 0)
        kc_log_debug(rt->log, "cannot wake the loop");
    rt->loop_thread = kc_thread_join(rt->loop_thread);
    if (rt->wake.fd >= 0)
        close(rt->wake.fd);
    if (rt->epoll >= 0)
        close(rt->epoll);
}

/* With the mutex: the loop takes it before it ends one, so that all three are watched by then. */
int kc__proc_loop_watch(kc__process_runtime *rt, kc__proc *proc, kc_error *err)
{
    if (add_source(rt, &proc->exit, err) < 0)
        return -1;
    if (add_source(rt, &proc->out, err) < 0 || add_source(rt, &proc->err, err) < 0)
        syscall(SYS_pidfd_send_signal, proc->pidfd, SIGKILL, NULL, 0);
    return 0;
}
