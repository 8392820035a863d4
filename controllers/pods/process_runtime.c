/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_runtime.c: the runtime of process.h: start, stop, and operations on whole pods.
 * process_container.c handles containers.
 */
#include "pods/process_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHUTDOWN_TIMEOUT (2 * KC_SECOND) /* Time for containers to exit at shutdown. */
#define LOCK_TIMEOUT     (3 * KC_SECOND)

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* ---- pods ---- */

static int process_runtime_prepare(kc__pods_runtime *runtime, const kc_pod *pod, kc_error *err)
{
    kc__process_runtime *rt = kc__process_runtime_of(runtime);
    const int dir_fd = kc__process_pod_dir(rt, kc_cstr(pod->metadata.uid), true, err);
    if (dir_fd < 0)
        return dir_fd;
    close(dir_fd);
    return kc__process_volumes_prepare(rt, pod, err);
}

static int process_runtime_fill(kc__pods_runtime *runtime, const kc_pod *pod,
                                const kc_volume *volume, const kc__pod_volume_file *files, size_t n,
                                kc_error *err)
{
    return kc__process_volume_fill(kc__process_runtime_of(runtime), pod, volume, files, n, err);
}

static bool process_runtime_is_of(const kc__process_proc *proc, kc_str uid)
{
    return uid.p == NULL || kc_str_is(uid, proc->uid);
}

/* A process of a pod (without a uid: of any) that runs or is in use; needs the mutex. */
static kc__process_proc *busy_one(kc__process_runtime *rt, kc_str uid)
{
    kc_map_each (&rt->procs, entry) {
        kc__process_proc *proc = entry->value;
        if (process_runtime_is_of(proc, uid) &&
            (proc->report.phase == KC__POD_CONTAINER_RUNNING || proc->users > 0))
            return proc;
    }
    return NULL;
}

static void kill_all(kc__process_runtime *rt, kc_str uid)
{
    KC_VEC(kc__process_proc *) running = {0};
    kc_locked (&rt->mutex)
        kc_dlist_each (&rt->running, kc__process_proc, link, proc)
            if (process_runtime_is_of(proc, uid)) {
                proc->users++;
                kc_vec_push(&running, proc);
            }
    kc_vec_each (&running, proc) {
        kc__process_proc_kill(rt, *proc);
        kc__process_proc_release(rt, *proc);
    }
    kc_vec_done(&running);
}

/* Kills the processes of a pod and waits for their exit. */
static void end_all(kc__process_runtime *rt, kc_str uid)
{
    const int64_t deadline = kc_clock_deadline(kc_clock_real(), 10 * KC_SECOND);
    kill_all(rt, uid);
    kc_locked (&rt->mutex)
        while (busy_one(rt, uid) &&
               kc_cond_wait_until(&rt->ended, &rt->mutex, kc_clock_real(), deadline))
            ;
}

/* Processes that do not exit, stuck in a system call, stay registered. */
static bool process_runtime_forget(kc__process_runtime *rt, kc_str uid)
{
    bool all = true;
    kc_locked (&rt->mutex)
        kc_map_each (&rt->procs, entry) {
            kc__process_proc *proc = entry->value;
            if (!process_runtime_is_of(proc, uid))
                continue;
            if (proc->report.phase == KC__POD_CONTAINER_RUNNING || proc->users > 0) {
                all = false;
                continue;
            }
            if (kc_map_get(&rt->latest, proc->family) == proc)
                kc_map_remove(&rt->latest, proc->family);
            kc_map_remove(&rt->procs, entry->key);
            kc__process_proc_free(proc);
        }
    return all;
}

static void remove_pod(kc__pods_runtime *runtime, kc_str uid)
{
    kc__process_runtime *rt = kc__process_runtime_of(runtime);
    kc_scoped(kc_error) err = {0};
    if (!kc__process_file_name_ok(uid))
        return;
    kc_autofree char *name = kc_str_dup(uid);
    end_all(rt, uid);
    if (!process_runtime_forget(rt, uid)) {
        kc_log_warn(rt->log, "containers of the pod did not exit after SIGKILL", kc_kv("pod", uid));
        return;
    }
    const uint32_t user = kc__process_uids_peek(rt, uid);
    kc__process_cgroup_remove_pod(rt, name);
    kc__process_volumes_unmount(rt, name);
    if (kc__process_dir_remove(rt->pods_fd, name, &err) == 0)
        kc__process_uids_release(rt, user);
    else
        kc_log_warn(rt->log, "failed to remove pod directory", kc_kv("pod", uid),
                    kc_kv("err", &err));
}

static void process_runtime_each(kc__pods_runtime *runtime, void (*pod)(kc_str uid, void *user),
                                 void *user)
{
    kc__process_names uids = {0};
    kc__process_dir_names(kc__process_runtime_of(runtime)->pods_fd, &uids, NULL);
    kc_vec_each (&uids, uid)
        if (kc__process_file_name_ok(kc_cstr(*uid)))
            pod(kc_cstr(*uid), user);
    kc__process_names_done(&uids);
}

static int process_runtime_check(kc__pods_runtime *runtime, const kc_pod *pod,
                                 const kc_container *container, kc_error *err)
{
    return kc__process_support_check(kc__process_runtime_of(runtime), pod, container, err);
}

static void ignored(kc__pods_runtime *runtime, const kc_pod *pod, kc_buf *out)
{
    kc__process_support_ignored(kc__process_runtime_of(runtime), pod, out);
}

static int process_runtime_measure(kc__pods_runtime *runtime, const kc_pod *pod, kc_error *err)
{
    return kc__process_usage_check(kc__process_runtime_of(runtime), pod, err);
}

/* ---- start and stop ---- */

static bool none_runs(kc__process_runtime *rt)
{
    bool none = true;
    kc_locked (&rt->mutex)
        none = kc_dlist_empty(&rt->running);
    return none;
}

/* Sends SIGTERM to containers with a handler for it; others are killed without waiting. */
static void send_sigterm_to_all(kc__process_runtime *rt)
{
    const int64_t deadline = kc_clock_deadline(kc_clock_real(), SHUTDOWN_TIMEOUT);
    bool wait = false;
    rt->stopping = true; /* These exits are not reported: the runner has stopped. */
    kc_locked (&rt->mutex)
        kc_dlist_each (&rt->running, kc__process_proc, link, proc)
            if (!proc->reaped && kc__process_handles_signal(proc->pid, SIGTERM))
                wait = syscall(SYS_pidfd_send_signal, proc->pidfd, SIGTERM, NULL, 0) == 0 || wait;
    kc_locked (&rt->mutex)
        while (wait && !kc_dlist_empty(&rt->running) &&
               kc_cond_wait_until(&rt->ended, &rt->mutex, kc_clock_real(), deadline))
            ;
}

static kc__pods_runtime *free_runtime(kc__pods_runtime *runtime)
{
    kc__process_runtime *rt = kc__process_runtime_of(runtime);
    if (!rt)
        return NULL;
    if (!none_runs(rt))
        send_sigterm_to_all(rt);
    kill_all(rt, (kc_str){0});
    kc__process_proc_loop_stop(rt);
    end_all(rt, (kc_str){0});
    process_runtime_forget(rt, (kc_str){0});
    kc__process_spawner_stop(rt->spawner);
    if (rt->isolation.cgroup >= 0)
        kc__process_cgroup_remove_pod(rt, NULL);
    kc__process_isolation_done(&rt->isolation);
    kc__process_hidden_done(rt);
    kc__process_uids_done(&rt->uids);
    int *fds[] = {&rt->pods_fd, &rt->image_fd, &rt->null_fd, &rt->lock_fd, &rt->dir_fd};
    for (size_t i = 0; i < KC_COUNT(fds); i++)
        close_fd(fds[i]);
    kc_map_done(&rt->procs);
    kc_map_done(&rt->latest);
    kc_cond_done(&rt->ended);
    kc_mutex_done(&rt->mutex);
    free(rt->dir);
    free(rt->image);
    free(rt->new_root);
    free(rt);
    return NULL;
}

static const kc__pods_runtime_ops ops = {
    .prepare = process_runtime_prepare,
    .fill = process_runtime_fill,
    .check = process_runtime_check,
    .ignored = ignored,
    .measure = process_runtime_measure,
    .start = kc__process_container_begin,
    .observe = kc__process_container_observe,
    .stop = kc__process_container_stop,
    .probe = kc__process_probe,
    .remove = remove_pod,
    .each = process_runtime_each,
    .free = free_runtime,
};

/* Processes killed a moment ago may not have exited yet. */
static bool lock(int fd)
{
    const int64_t deadline = kc_clock_deadline(kc_clock_real(), LOCK_TIMEOUT);
    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (kc_clock_now(kc_clock_real()) >= deadline)
            return false;
        kc_clock_sleep(kc_clock_real(), 20 * KC_MILLISECOND);
    }
    return true;
}

static int open_dir(kc__process_runtime *rt, const char *dir, kc_error *err)
{
    if (mkdir(dir, 0700) < 0 && errno != EEXIST)
        return kc__process_errno_set(err, "create %s", dir);
    rt->dir = realpath(dir, NULL);
    rt->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!rt->dir || rt->dir_fd < 0)
        return kc__process_errno_set(err, "open %s", dir);
    rt->lock_fd = openat(rt->dir_fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (rt->lock_fd < 0)
        return kc__process_errno_set(err, "open %s/lock", dir);
    if (!lock(rt->lock_fd))
        return kc_error_set(err, KC_CONFLICT, "%s is used by another process", dir);
    rt->pods_fd = kc__process_dir_open(rt->dir_fd, "pods", 0700, err);
    const int root = kc__process_dir_open(rt->dir_fd, "root", 0755, err);
    if (rt->pods_fd < 0 || root < 0)
        return kc_error_result(err);
    close(root);
    fchmod(rt->pods_fd, 0700);
    rt->new_root = kc_asprintf("%s/root", rt->dir);
    return 0;
}

static int open_image(kc__process_runtime *rt, const char *image, kc_error *err)
{
    image = image && image[0] ? image : "/";
    rt->image = realpath(image, NULL);
    rt->image_fd = rt->image ? open(rt->image, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (rt->image_fd < 0) {
        kc__process_errno_set(err, "open image root %s", image);
        if (err)
            err->reason = KC_INVALID;
        return kc_error_result(err);
    }
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    rt->null_fd = null < 0 ? -1 : fcntl(null, F_DUPFD_CLOEXEC, 10);
    close_fd(&(int){null});
    return rt->null_fd < 0 ? kc__process_errno_set(err, "open /dev/null") : 0;
}

kc__pods_runtime *kc__process_runtime_new_with(const kc_pods_opts *opts,
                                               kc__process_isolation_limit limit,
                                               const kc_clock *clock, kc_log *log, kc_error *err)
{
    kc__process_runtime *rt = kc_new(kc__process_runtime);
    rt->base = (kc__pods_runtime){.ops = &ops, .name = "process", .reads_files = true};
    rt->clock = clock;
    rt->log = log;
    rt->allow_root = opts->allow_root;
    rt->placeholder = opts->placeholder;
    rt->dir_fd = rt->pods_fd = rt->image_fd = rt->lock_fd = rt->null_fd = -1;
    rt->epoll = rt->wake.fd = rt->isolation.cgroup = -1;
    kc_mutex_init(&rt->mutex);
    kc_cond_init(&rt->ended);
    kc_dlist_init(&rt->running);
    kc_pods_opts wanted = *opts;
    wanted.mode = KC_PODS_PROCESS;
    int done = opts->dir && opts->dir[0]
                   ? 0
                   : kc_error_set(err, KC_INVALID, "the process runtime requires a directory");
    if (done < 0 || kc_pods_check_user(&wanted, err) < 0 || open_dir(rt, opts->dir, err) < 0 ||
        kc__process_uids_open(rt, opts->uids, err) < 0 ||
        kc__process_hidden_open(rt, opts->hidden, err) < 0 ||
        open_image(rt, opts->image, err) < 0 || !(rt->spawner = kc__process_spawner_start(err)) ||
        kc__process_isolation_find(rt, limit, err) < 0 ||
        kc__process_hidden_check(rt, opts->unsafe_can_read_credentials, err) < 0 ||
        kc__process_proc_loop_start(rt, err) < 0)
        return free_runtime(&rt->base);
    kc__process_proc_state_sweep(rt);
    return &rt->base;
}

kc__pods_runtime *kc__process_runtime_new(const kc_pods_opts *opts, const kc_clock *clock,
                                          kc_log *log, kc_error *err)
{
    return kc__process_runtime_new_with(opts, (kc__process_isolation_limit){0}, clock, log, err);
}
