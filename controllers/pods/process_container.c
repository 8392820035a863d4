/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_container.c: one container: it is started, looked at, stopped.
 *
 * A container ends in three ways: by itself, by `stop`, or with this process. The loop sees the
 * first two (process_loop.c); for the third the kernel kills it (process_child.c), and who opens
 * the folder next writes it down (process_state.c).
 *
 * A kc__proc is made by `start`, is known from then on by its key, belongs to the loop while it
 * runs, and is freed when it has ended and nobody uses it: by a later attempt, or with its pod.
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

kc__proc *kc__proc_free(kc__proc *proc)
{
    if (!proc)
        return NULL;
    kc__launch_free(proc->launch);
    close_fd(&proc->folder);
    close_fd(&proc->cgroup);
    close_fd(&proc->pidfd);
    close_fd(&proc->out.fd);
    close_fd(&proc->err.fd);
    kc__log_file_close(&proc->log);
    kc_buf_done(&proc->out.line);
    kc_buf_done(&proc->err.line);
    free(proc->key);
    free(proc->uid);
    free(proc->name);
    free(proc);
    return NULL;
}
KC_AUTO_DEFINE(kc__proc, kc__proc_free)

void kc__proc_settle(kc__proc *proc)
{
    if (proc->users > 0 || proc->report.phase != KC__CONTAINER_ENDED)
        return;
    proc->launch = kc__launch_free(proc->launch);
    close_fd(&proc->pidfd);
    close_fd(&proc->cgroup);
    close_fd(&proc->folder);
}

static kc__proc *new_proc(kc__process_runtime *rt, const kc__container_start *what, kc_error *err)
{
    kc_auto(kc__proc) *proc = kc_new(kc__proc);
    proc->folder = proc->cgroup = proc->pidfd = -1;
    proc->exit.fd = proc->out.fd = proc->err.fd = proc->log.fd = -1;
    proc->uid = kc_strdup(what->pod->metadata.uid ? what->pod->metadata.uid : "");
    proc->name = kc_strdup(what->container->name ? what->container->name : "");
    proc->attempt = what->attempt;
    proc->key = kc_asprintf("%s/%s/%d", proc->uid, proc->name, proc->attempt);
    proc->family = kc_str_of(proc->key, strlen(proc->uid) + 1 + strlen(proc->name));
    const char *policy = what->container->termination_message_policy;
    proc->fallback_to_logs = policy && strcmp(policy, "FallbackToLogsOnError") == 0;
    proc->report = (kc__container_report){.attempt = proc->attempt};
    proc->folder = kc__container_folder(rt, kc_cstr(proc->uid), kc_cstr(proc->name), true, err);
    return proc->folder < 0 ? NULL : kc_take(proc);
}

/* With one signal where all of it is in a namespace or a cgroup; else with several. */
void kc__proc_kill(kc__process_runtime *rt, kc__proc *proc)
{
    const bool alone = rt->isolation.namespaces == KC__NAMESPACES_NONE;
    kc_locked (&rt->mutex) {
        if (!proc->reaped && proc->pidfd >= 0) {
            syscall(SYS_pidfd_send_signal, proc->pidfd, SIGKILL, NULL, 0);
            if (alone)
                kill(-proc->pid, SIGKILL);
        }
    }
    kc__cgroup_kill(proc->cgroup);
    if (alone && proc->cgroup < 0)
        kc__marked_kill(rt, proc->key);
}

/* ---- starting ---- */

/* A file that the container writes its message to. */
static int make_message(kc__proc *proc, const kc__launch *l, kc_error *err)
{
    char name[32];
    snprintf(name, sizeof(name), "%d.message", proc->attempt);
    unlinkat(proc->folder, name, 0);
    const int fd = openat(proc->folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || (l->set_ids && fchown(fd, l->uid, l->gid) < 0) || fchmod(fd, 0644) < 0) {
        kc__errno_set(err, "make a file for the termination message");
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

static int make_scratch(kc__proc *proc, kc_error *err)
{
    char name[32];
    snprintf(name, sizeof(name), "%d.tmp", proc->attempt);
    const int fd = kc__folder_open(proc->folder, name, 0700, err);
    if (fd < 0)
        return -1;
    fchmod(fd, 01777);
    close(fd);
    return 0;
}

static int make_files(kc__proc *proc, kc__launch *l, kc_error *err)
{
    const int message = make_message(proc, l, err);
    if (message < 0 || make_scratch(proc, err) < 0) {
        if (message >= 0)
            close(message);
        return -1;
    }
    if (l->own_mounts) {
        close(message);
        return 0;
    }
    l->message_fd = fcntl(message, F_DUPFD_CLOEXEC, 10);
    close(message);
    return l->message_fd < 0 ? kc__errno_set(err, "open the termination message") : 0;
}

static void set_sources(kc__proc *proc, const kc__spawned *s)
{
    proc->pid = s->pid;
    proc->pidfd = s->pidfd;
    proc->exit = (kc__source){.kind = KC__SOURCE_EXIT, .fd = s->pidfd, .proc = proc};
    proc->out =
        (kc__source){.kind = KC__SOURCE_OUTPUT, .fd = s->out, .proc = proc, .stream = "stdout"};
    proc->err =
        (kc__source){.kind = KC__SOURCE_OUTPUT, .fd = s->err, .proc = proc, .stream = "stderr"};
}

static void undo_start(kc__process_runtime *rt, kc__proc *proc)
{
    static const char *const kinds[] = {"state", "message", "log"};
    char name[32];
    for (size_t i = 0; i < KC_COUNT(kinds); i++) {
        snprintf(name, sizeof(name), "%d.%s", proc->attempt, kinds[i]);
        unlinkat(proc->folder, name, 0);
    }
    snprintf(name, sizeof(name), "%d.tmp", proc->attempt);
    kc__folder_remove(proc->folder, name, NULL);
    kc__cgroup_remove(rt, proc->uid, proc->name, proc->attempt);
}

/* The last two attempts stay known. With the mutex. */
static void make_known(kc__process_runtime *rt, kc__proc *proc)
{
    kc_scoped(kc_buf) older = {0};
    kc_map_put(&rt->procs, kc_cstr(proc->key), proc);
    kc_map_put(&rt->latest, proc->family, proc);
    kc_buf_printf(&older, "%.*s/%d", KC_ARG(proc->family), proc->attempt - 2);
    kc__proc *old = kc_map_get(&rt->procs, kc_buf_str(&older));
    if (old && old->report.phase == KC__CONTAINER_ENDED && old->users == 0) {
        kc_map_remove(&rt->procs, kc_buf_str(&older));
        kc__proc_free(old);
    }
}

/* It was let go and could not run: as if it had run and failed. */
static void start_failed(kc__process_runtime *rt, kc__proc *proc, const kc_error *why)
{
    kc__container_report r = proc->report;
    r.exit_code = 128;
    r.reason = "StartError";
    snprintf(r.message, sizeof(r.message), "%s", kc_error_text(why));
    undo_start(rt, proc);
    kc__log_file_open(&proc->log, proc->folder, proc->attempt);
    kc__log_file_close(&proc->log);
    r.phase = KC__CONTAINER_ENDED;
    r.ended = r.started;
    proc->report = r;
    kc_locked (&rt->mutex)
        make_known(rt, proc);
    kc__proc_ended(rt, proc, &r);
}

static int let_go(kc__process_runtime *rt, kc__proc *proc, kc__spawned *s, kc_error *err)
{
    kc__proc_state state = {.pid = s->pid, .pid_started = kc__process_started(s->pid)};
    proc->report.phase = KC__CONTAINER_RUNNING;
    proc->report.started = kc_clock_wall(rt->clock);
    state.report = proc->report;
    /* On disk before it may run: what runs is always seen. */
    if (kc__proc_state_write(proc->folder, proc->attempt, &state, err) < 0) {
        kc__spawn_cancel(s);
        return -1;
    }
    return kc__spawn_go(proc->launch, s, err);
}

static int run(kc__process_runtime *rt, kc__proc *proc, kc_error *err)
{
    kc__spawned spawned;
    int done = 0;
    proc->launch->cgroup = proc->cgroup;
    if (kc__spawn(rt->spawner, proc->launch, false, &spawned, err) < 0 ||
        let_go(rt, proc, &spawned, err) < 0)
        return -1;
    set_sources(proc, &spawned);
    kc__log_file_open(&proc->log, proc->folder, proc->attempt);
    kc_locked (&rt->mutex) {
        done = kc__proc_loop_watch(rt, proc, err);
        if (done == 0) {
            kc_list_push(&rt->running, &proc->link);
            make_known(rt, proc);
        }
    }
    if (done < 0) {
        kc__spawn_cancel(&spawned);
        proc->pidfd = proc->out.fd = proc->err.fd = -1;
    }
    return done;
}

static bool is_known(kc__process_runtime *rt, const char *key)
{
    bool known = false;
    kc_locked (&rt->mutex)
        known = kc_map_get(&rt->procs, kc_cstr(key)) != NULL;
    return known;
}

int kc__container_begin(kc__runtime *runtime, const kc__container_start *what, kc_error *err)
{
    kc__process_runtime *rt = kc__process_of(runtime);
    kc_auto(kc__proc) *proc = new_proc(rt, what, err);
    if (!proc)
        return -1;
    if (is_known(rt, proc->key))
        return kc_error_set(err, KC_ALREADY_EXISTS, "container %s was started", proc->key);
    kc__proc_state_prune(proc->folder, proc->attempt);
    proc->launch = kc__launch_new(rt, what, err);
    if (!proc->launch)
        return err ? -(int)err->reason : -1;
    proc->cgroup = kc__cgroup_make(rt, proc, what->container);
    if (make_files(proc, proc->launch, err) < 0) {
        undo_start(rt, proc);
        return -1;
    }
    kc_scoped(kc_error) why = {0};
    if (run(rt, proc, &why) < 0 && why.reason != KC_BAD_REQUEST) {
        undo_start(rt, proc);
        kc_error_move(err, &why);
        return kc_error_wrap(err, "container %s", what->container->name);
    }
    kc__proc *known = kc_take(proc);
    if (why.reason) {
        start_failed(rt, known, &why);
        return 0;
    }
    if (rt->base.changed)
        rt->base.changed(kc_cstr(what->pod->metadata.uid), rt->base.changed_user);
    return 0;
}

/* ---- looking and stopping ---- */

static void observe_disk(kc__process_runtime *rt, kc__container_id id, kc__container_report *ret)
{
    const int folder = kc__container_folder(rt, id.pod_uid, id.name, false, NULL);
    kc__proc_state state;
    if (folder < 0)
        return;
    const int attempt = id.attempt == KC__LATEST ? kc__proc_state_latest(folder) : id.attempt;
    if (attempt >= 0 && kc__proc_state_read(folder, attempt, &state))
        *ret = state.report;
    close(folder);
}

static kc__proc *find(kc__process_runtime *rt, kc__container_id id)
{
    kc_scoped(kc_buf) key = {0};
    kc_buf_printf(&key, "%.*s/%.*s", KC_ARG(id.pod_uid), KC_ARG(id.name));
    if (id.attempt == KC__LATEST)
        return kc_map_get(&rt->latest, kc_buf_str(&key));
    kc_buf_printf(&key, "/%d", id.attempt);
    return kc_map_get(&rt->procs, kc_buf_str(&key));
}

void kc__container_observe(kc__runtime *runtime, kc__container_id id, kc__container_report *ret)
{
    kc__process_runtime *rt = kc__process_of(runtime);
    bool known = false;
    *ret = (kc__container_report){.attempt = -1};
    kc_locked (&rt->mutex) {
        const kc__proc *proc = find(rt, id);
        known = proc != NULL;
        if (known)
            *ret = proc->report;
    }
    if (!known)
        observe_disk(rt, id, ret);
}

void kc__proc_release(kc__process_runtime *rt, kc__proc *proc)
{
    if (!proc)
        return;
    kc_locked (&rt->mutex) {
        proc->users--;
        kc__proc_settle(proc);
        kc_cond_broadcast(&rt->ended);
    }
}

kc__proc *kc__proc_use(kc__process_runtime *rt, kc__container_id id)
{
    kc__proc *proc = NULL;
    kc_locked (&rt->mutex) {
        proc = find(rt, id);
        if (proc && proc->report.phase == KC__CONTAINER_RUNNING)
            proc->users++;
        else
            proc = NULL;
    }
    return proc;
}

void kc__container_stop(kc__runtime *runtime, kc__container_id id, bool now)
{
    kc__process_runtime *rt = kc__process_of(runtime);
    kc__proc *proc = kc__proc_use(rt, id);
    if (proc && now)
        kc__proc_kill(rt, proc);
    else if (proc)
        syscall(SYS_pidfd_send_signal, proc->pidfd, SIGTERM, NULL, 0);
    kc__proc_release(rt, proc);
}
