/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_container.c: starts, observes and stops one container.
 *
 * A container ends in three ways: it exits, `stop` kills it, or it dies with this process. The loop
 * sees the first two (process_loop.c); in the third the kernel kills it (process_child.c), and the
 * next process that opens the directory records it (process_state.c).
 *
 * `start` creates a kc__process_proc, which is registered by its key and belongs to the loop while
 * it runs. It is freed after its exit when it has no users: by a later attempt, or with its pod.
 */
#include "pods/process_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- one container ---- */

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

kc__process_proc *kc__process_proc_free(kc__process_proc *proc)
{
    if (!proc)
        return NULL;
    kc__process_launch_free(proc->launch);
    close_fd(&proc->dir_fd);
    close_fd(&proc->cgroup);
    close_fd(&proc->pidfd);
    close_fd(&proc->out.fd);
    close_fd(&proc->err.fd);
    kc__process_log_file_close(&proc->log);
    kc_buf_done(&proc->out.line);
    kc_buf_done(&proc->err.line);
    free(proc->key);
    free(proc->uid);
    free(proc->name);
    free(proc);
    return NULL;
}
KC_AUTO_DEFINE(kc__process_proc, kc__process_proc_free)

void kc__process_proc_finish(kc__process_proc *proc)
{
    if (proc->users > 0 || proc->report.phase != KC__POD_CONTAINER_ENDED)
        return;
    proc->launch = kc__process_launch_free(proc->launch);
    close_fd(&proc->pidfd);
    close_fd(&proc->cgroup);
    close_fd(&proc->dir_fd);
}

static kc__process_proc *new_proc(kc__process_runtime *rt, const kc__pod_container_start *what,
                                  kc_error *err)
{
    kc_auto(kc__process_proc) *proc = kc_new(kc__process_proc);
    proc->dir_fd = proc->cgroup = proc->pidfd = -1;
    proc->exit.fd = proc->out.fd = proc->err.fd = proc->log.fd = -1;
    proc->uid = kc_strdup(what->pod->metadata.uid ? what->pod->metadata.uid : "");
    proc->name = kc_strdup(what->container->name ? what->container->name : "");
    proc->attempt = what->attempt;
    proc->key = kc_asprintf("%s/%s/%d", proc->uid, proc->name, proc->attempt);
    proc->family = kc_str_of(proc->key, strlen(proc->uid) + 1 + strlen(proc->name));
    const char *policy = what->container->termination_message_policy;
    proc->fallback_to_logs = policy && strcmp(policy, "FallbackToLogsOnError") == 0;
    proc->report = (kc__pod_container_report){.attempt = proc->attempt};
    proc->dir_fd =
        kc__process_container_dir(rt, kc_cstr(proc->uid), kc_cstr(proc->name), true, err);
    return proc->dir_fd < 0 ? NULL : kc_take(proc);
}

/* With one signal if a namespace or a cgroup contains all of it; else with several. */
void kc__process_proc_kill(kc__process_runtime *rt, kc__process_proc *proc)
{
    const bool alone = rt->isolation.namespaces == KC__PROCESS_NAMESPACES_NONE;
    kc_locked (&rt->mutex) {
        if (!proc->reaped && proc->pidfd >= 0) {
            syscall(SYS_pidfd_send_signal, proc->pidfd, SIGKILL, NULL, 0);
            if (alone)
                kill(-proc->pid, SIGKILL);
        }
    }
    kc__process_cgroup_kill(proc->cgroup);
    if (alone && proc->cgroup < 0)
        kc__process_container_kill_marked(rt, proc->key);
}

/* ---- start ---- */

/* Creates the file for the termination message. */
static int make_message(kc__process_proc *proc, const kc__process_launch *l, kc_error *err)
{
    char name[32];
    snprintf(name, sizeof(name), "%d.message", proc->attempt);
    unlinkat(proc->dir_fd, name, 0);
    const int fd = openat(proc->dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || (l->set_ids && fchown(fd, l->uid, l->gid) < 0) || fchmod(fd, 0644) < 0) {
        kc__process_errno_set(err, "create the termination message file");
        if (fd >= 0)
            close(fd);
        return kc_error_result(err);
    }
    return fd;
}

static int make_scratch(kc__process_proc *proc, kc_error *err)
{
    char name[32];
    snprintf(name, sizeof(name), "%d.tmp", proc->attempt);
    const int fd = kc__process_dir_open(proc->dir_fd, name, 0700, err);
    if (fd < 0)
        return kc_error_result(err);
    fchmod(fd, 01777);
    close(fd);
    return 0;
}

static int make_files(kc__process_proc *proc, kc__process_launch *l, kc_error *err)
{
    const int message = make_message(proc, l, err);
    if (message < 0 || make_scratch(proc, err) < 0) {
        if (message >= 0)
            close(message);
        return kc_error_result(err);
    }
    if (l->own_mounts) {
        close(message);
        return 0;
    }
    l->message_fd = fcntl(message, F_DUPFD_CLOEXEC, 10);
    close(message);
    return l->message_fd < 0 ? kc__process_errno_set(err, "open the termination message file") : 0;
}

static void set_sources(kc__process_proc *proc, const kc__process_spawned *s)
{
    proc->pid = s->pid;
    proc->pidfd = s->pidfd;
    proc->exit =
        (kc__process_source){.kind = KC__PROCESS_SOURCE_EXIT, .fd = s->pidfd, .proc = proc};
    proc->out = (kc__process_source){
        .kind = KC__PROCESS_SOURCE_OUTPUT, .fd = s->out, .proc = proc, .stream = "stdout"};
    proc->err = (kc__process_source){
        .kind = KC__PROCESS_SOURCE_OUTPUT, .fd = s->err, .proc = proc, .stream = "stderr"};
}

static void undo_start(kc__process_runtime *rt, kc__process_proc *proc)
{
    static const char *const kinds[] = {"state", "message", "log"};
    char name[32];
    for (size_t i = 0; i < KC_COUNT(kinds); i++) {
        snprintf(name, sizeof(name), "%d.%s", proc->attempt, kinds[i]);
        unlinkat(proc->dir_fd, name, 0);
    }
    snprintf(name, sizeof(name), "%d.tmp", proc->attempt);
    kc__process_dir_remove(proc->dir_fd, name, NULL);
    kc__process_cgroup_remove(rt, proc->uid, proc->name, proc->attempt);
}

/* Keeps the last two attempts. Needs the mutex. */
static void make_known(kc__process_runtime *rt, kc__process_proc *proc)
{
    kc_scoped(kc_buf) older = {0};
    kc_map_put(&rt->procs, kc_cstr(proc->key), proc);
    kc_map_put(&rt->latest, proc->family, proc);
    kc_buf_printf(&older, "%.*s/%d", KC_ARG(proc->family), proc->attempt - 2);
    kc__process_proc *old = kc_map_get(&rt->procs, kc_buf_str(&older));
    if (old && old->report.phase == KC__POD_CONTAINER_ENDED && old->users == 0) {
        kc_map_remove(&rt->procs, kc_buf_str(&older));
        kc__process_proc_free(old);
    }
}

/* It was released and failed before exec: recorded as a run that failed. */
static void start_failed(kc__process_runtime *rt, kc__process_proc *proc, const kc_error *why)
{
    kc__pod_container_report r = proc->report;
    r.exit_code = 128;
    r.reason = "StartError";
    snprintf(r.message, sizeof(r.message), "%s", kc_error_text(why));
    undo_start(rt, proc);
    kc__process_log_file_open(&proc->log, proc->dir_fd, proc->attempt);
    kc__process_log_file_close(&proc->log);
    r.phase = KC__POD_CONTAINER_ENDED;
    r.ended = r.started;
    proc->report = r;
    kc_locked (&rt->mutex)
        make_known(rt, proc);
    kc__process_proc_ended(rt, proc, &r);
}

static int process_container_release(kc__process_runtime *rt, kc__process_proc *proc,
                                     kc__process_spawned *s, kc_error *err)
{
    kc__process_proc_state state = {.pid = s->pid, .pid_started = kc__process_start_time(s->pid)};
    proc->report.phase = KC__POD_CONTAINER_RUNNING;
    proc->report.started = kc_clock_wall(rt->clock);
    state.report = proc->report;
    /* Written to disk before it may run: a running container is always recorded. */
    if (kc__process_proc_state_write(proc->dir_fd, proc->attempt, &state, err) < 0) {
        kc__process_spawn_cancel(s);
        return kc_error_result(err);
    }
    return kc__process_spawn_go(proc->launch, s, err);
}

static int process_container_run(kc__process_runtime *rt, kc__process_proc *proc, kc_error *err)
{
    kc__process_spawned spawned;
    int done = 0;
    proc->launch->cgroup = proc->cgroup;
    if (kc__process_spawn(rt->spawner, proc->launch, false, &spawned, err) < 0 ||
        process_container_release(rt, proc, &spawned, err) < 0)
        return kc_error_result(err);
    set_sources(proc, &spawned);
    kc__process_log_file_open(&proc->log, proc->dir_fd, proc->attempt);
    kc_locked (&rt->mutex) {
        done = kc__process_proc_loop_watch(rt, proc, err);
        if (done == 0) {
            kc_dlist_push(&rt->running, &proc->link);
            make_known(rt, proc);
        }
    }
    if (done < 0) {
        kc__process_spawn_cancel(&spawned);
        proc->pidfd = proc->out.fd = proc->err.fd = -1;
    }
    return done;
}

static bool process_container_is_known(kc__process_runtime *rt, const char *key)
{
    bool known = false;
    kc_locked (&rt->mutex)
        known = kc_map_get(&rt->procs, kc_cstr(key)) != NULL;
    return known;
}

int kc__process_container_begin(kc__pods_runtime *runtime, const kc__pod_container_start *what,
                                kc_error *err)
{
    kc__process_runtime *rt = kc__process_runtime_of(runtime);
    kc_auto(kc__process_proc) *proc = new_proc(rt, what, err);
    if (!proc)
        return kc_error_result(err);
    if (process_container_is_known(rt, proc->key))
        return kc_error_set(err, KC_ALREADY_EXISTS, "container %s was already started", proc->key);
    kc__process_proc_state_prune(proc->dir_fd, proc->attempt);
    proc->launch = kc__process_launch_new(rt, what, err);
    if (!proc->launch)
        return kc_error_result(err);
    proc->cgroup = kc__process_cgroup_make(rt, proc, what->container);
    if (make_files(proc, proc->launch, err) < 0) {
        undo_start(rt, proc);
        return kc_error_result(err);
    }
    kc_scoped(kc_error) why = {0};
    if (process_container_run(rt, proc, &why) < 0 && why.reason != KC_BAD_REQUEST) {
        undo_start(rt, proc);
        kc_error_move(err, &why);
        return kc_error_wrap(err, "container %s", what->container->name);
    }
    kc__process_proc *known = kc_take(proc);
    if (why.reason) {
        start_failed(rt, known, &why);
        return 0;
    }
    if (rt->base.changed)
        rt->base.changed(kc_cstr(what->pod->metadata.uid), rt->base.changed_user);
    return 0;
}

/* ---- observe and stop ---- */

static void observe_disk(kc__process_runtime *rt, kc__pod_container_id id,
                         kc__pod_container_report *ret)
{
    const int dir_fd = kc__process_container_dir(rt, id.pod_uid, id.name, false, NULL);
    kc__process_proc_state state;
    if (dir_fd < 0)
        return;
    const int attempt =
        id.attempt == KC__POD_LATEST_ATTEMPT ? kc__process_proc_state_latest(dir_fd) : id.attempt;
    if (attempt >= 0 && kc__process_proc_state_read(dir_fd, attempt, &state))
        *ret = state.report;
    close(dir_fd);
}

static kc__process_proc *process_container_find(kc__process_runtime *rt, kc__pod_container_id id)
{
    kc_scoped(kc_buf) key = {0};
    kc_buf_printf(&key, "%.*s/%.*s", KC_ARG(id.pod_uid), KC_ARG(id.name));
    if (id.attempt == KC__POD_LATEST_ATTEMPT)
        return kc_map_get(&rt->latest, kc_buf_str(&key));
    kc_buf_printf(&key, "/%d", id.attempt);
    return kc_map_get(&rt->procs, kc_buf_str(&key));
}

void kc__process_container_observe(kc__pods_runtime *runtime, kc__pod_container_id id,
                                   kc__pod_container_report *ret)
{
    kc__process_runtime *rt = kc__process_runtime_of(runtime);
    bool known = false;
    *ret = (kc__pod_container_report){.attempt = -1};
    kc_locked (&rt->mutex) {
        const kc__process_proc *proc = process_container_find(rt, id);
        known = proc != NULL;
        if (known)
            *ret = proc->report;
    }
    if (!known)
        observe_disk(rt, id, ret);
}

void kc__process_proc_release(kc__process_runtime *rt, kc__process_proc *proc)
{
    if (!proc)
        return;
    kc_locked (&rt->mutex) {
        proc->users--;
        kc__process_proc_finish(proc);
        kc_cond_broadcast(&rt->ended);
    }
}

kc__process_proc *kc__process_proc_use(kc__process_runtime *rt, kc__pod_container_id id)
{
    kc__process_proc *proc = NULL;
    kc_locked (&rt->mutex) {
        proc = process_container_find(rt, id);
        if (proc && proc->report.phase == KC__POD_CONTAINER_RUNNING)
            proc->users++;
        else
            proc = NULL;
    }
    return proc;
}

void kc__process_container_stop(kc__pods_runtime *runtime, kc__pod_container_id id, bool now)
{
    kc__process_runtime *rt = kc__process_runtime_of(runtime);
    kc__process_proc *proc = kc__process_proc_use(rt, id);
    if (proc && now)
        kc__process_proc_kill(rt, proc);
    else if (proc)
        syscall(SYS_pidfd_send_signal, proc->pidfd, SIGTERM, NULL, 0);
    kc__process_proc_release(rt, proc);
}
