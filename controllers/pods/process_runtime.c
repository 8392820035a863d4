/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_runtime.c: the runtime of process.h: its beginning and end, and pods as a whole.
 * process_container.c has containers.
 */
#include "pods/process_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FAREWELL      (2 * KC_SECOND) /* For containers to end in, when we do. */
#define LOCK_PATIENCE (3 * KC_SECOND)

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* ---- pods ---- */

static int prepare(kc__runtime *runtime, const kc_pod *pod, kc_error *err)
{
    kc__process_runtime *rt = kc__process_of(runtime);
    const int folder = kc__pod_folder(rt, kc_cstr(pod->metadata.uid), true, err);
    if (folder < 0)
        return folder;
    close(folder);
    return kc__volumes_prepare(rt, pod, err);
}

static int fill(kc__runtime *runtime, const kc_pod *pod, const kc_volume *volume,
                const kc__volume_file *files, size_t n, kc_error *err)
{
    return kc__volume_fill(kc__process_of(runtime), pod, volume, files, n, err);
}

static bool is_of(const kc__proc *proc, kc_str uid)
{
    return uid.p == NULL || kc_str_is(uid, proc->uid);
}

/* One of a pod's (without one: of any) that runs or is used; the caller holds the mutex. */
static kc__proc *busy_one(kc__process_runtime *rt, kc_str uid)
{
    kc_map_each (&rt->procs, entry) {
        kc__proc *proc = entry->value;
        if (is_of(proc, uid) && (proc->report.phase == KC__CONTAINER_RUNNING || proc->users > 0))
            return proc;
    }
    return NULL;
}

static void kill_all(kc__process_runtime *rt, kc_str uid)
{
    KC_VEC(kc__proc *) running = {0};
    kc_locked (&rt->mutex)
        kc_list_each (&rt->running, kc__proc, link, proc)
            if (is_of(proc, uid)) {
                proc->users++;
                kc_vec_push(&running, proc);
            }
    kc_vec_each (&running, proc) {
        kc__proc_kill(rt, *proc);
        kc__proc_release(rt, *proc);
    }
    kc_vec_done(&running);
}

/* Kills what runs of a pod, and waits for its end, which is near. */
static void end_all(kc__process_runtime *rt, kc_str uid)
{
    const int64_t deadline = kc_clock_deadline(kc_clock_real(), 10 * KC_SECOND);
    kill_all(rt, uid);
    kc_locked (&rt->mutex)
        while (busy_one(rt, uid) &&
               kc_cond_wait_until(&rt->ended, &rt->mutex, kc_clock_real(), deadline))
            ;
}

/* Those that do not end, in the middle of a system call that hangs, stay known. */
static bool forget(kc__process_runtime *rt, kc_str uid)
{
    bool all = true;
    kc_locked (&rt->mutex)
        kc_map_each (&rt->procs, entry) {
            kc__proc *proc = entry->value;
            if (!is_of(proc, uid))
                continue;
            if (proc->report.phase == KC__CONTAINER_RUNNING || proc->users > 0) {
                all = false;
                continue;
            }
            if (kc_map_get(&rt->latest, proc->family) == proc)
                kc_map_remove(&rt->latest, proc->family);
            kc_map_remove(&rt->procs, entry->key);
            kc__proc_free(proc);
        }
    return all;
}

static void remove_pod(kc__runtime *runtime, kc_str uid)
{
    kc__process_runtime *rt = kc__process_of(runtime);
    kc_scoped(kc_error) err = {0};
    if (!kc__file_name_ok(uid))
        return;
    kc_autofree char *name = kc_str_dup(uid);
    end_all(rt, uid);
    if (!forget(rt, uid)) {
        kc_log_warn(rt->log, "containers of a pod do not end", kc_kv("pod", uid));
        return;
    }
    kc__cgroup_remove_pod(rt, name);
    kc__volumes_unmount(rt, name);
    if (kc__folder_remove(rt->pods_fd, name, &err) < 0)
        kc_log_warn(rt->log, "cannot remove all of a pod", kc_kv("pod", uid), kc_kv("err", &err));
}

static void each(kc__runtime *runtime, void (*pod)(kc_str uid, void *user), void *user)
{
    kc__names uids = {0};
    kc__folder_names(kc__process_of(runtime)->pods_fd, &uids, NULL);
    kc_vec_each (&uids, uid)
        if (kc__file_name_ok(kc_cstr(*uid)))
            pod(kc_cstr(*uid), user);
    kc__names_done(&uids);
}

/* ---- beginning and end ---- */

static bool none_runs(kc__process_runtime *rt)
{
    bool none = true;
    kc_locked (&rt->mutex)
        none = kc_list_empty(&rt->running);
    return none;
}

/* Lets those go in peace that know how to: who has no handler for SIGTERM is not waited for. */
static void ask_all(kc__process_runtime *rt)
{
    const int64_t deadline = kc_clock_deadline(kc_clock_real(), FAREWELL);
    bool wait = false;
    rt->stopping = true; /* Nobody is told of these ends: the runner has gone. */
    kc_locked (&rt->mutex)
        kc_list_each (&rt->running, kc__proc, link, proc)
            if (!proc->reaped && kc__process_catches(proc->pid, SIGTERM))
                wait = syscall(SYS_pidfd_send_signal, proc->pidfd, SIGTERM, NULL, 0) == 0 || wait;
    kc_locked (&rt->mutex)
        while (wait && !kc_list_empty(&rt->running) &&
               kc_cond_wait_until(&rt->ended, &rt->mutex, kc_clock_real(), deadline))
            ;
}

static kc__runtime *free_runtime(kc__runtime *runtime)
{
    kc__process_runtime *rt = kc__process_of(runtime);
    if (!rt)
        return NULL;
    if (!none_runs(rt))
        ask_all(rt);
    kill_all(rt, (kc_str){0});
    kc__proc_loop_stop(rt);
    end_all(rt, (kc_str){0});
    forget(rt, (kc_str){0});
    kc__spawner_stop(rt->spawner);
    if (rt->isolation.cgroup >= 0)
        kc__cgroup_remove_pod(rt, NULL);
    kc__isolation_done(&rt->isolation);
    int *fds[] = {&rt->pods_fd, &rt->image_fd, &rt->null_fd, &rt->lock_fd, &rt->folder_fd};
    for (size_t i = 0; i < KC_COUNT(fds); i++)
        close_fd(fds[i]);
    kc_map_done(&rt->procs);
    kc_map_done(&rt->latest);
    kc_cond_done(&rt->ended);
    kc_mutex_done(&rt->mutex);
    free(rt->folder);
    free(rt->image);
    free(rt->new_root);
    free(rt);
    return NULL;
}

static const kc__runtime_ops ops = {
    .prepare = prepare,
    .fill = fill,
    .start = kc__container_begin,
    .observe = kc__container_observe,
    .stop = kc__container_stop,
    .probe = kc__process_probe,
    .remove = remove_pod,
    .each = each,
    .free = free_runtime,
};

/* Who was killed a moment ago may still be on its way out. */
static bool lock(int fd)
{
    const int64_t deadline = kc_clock_deadline(kc_clock_real(), LOCK_PATIENCE);
    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (kc_clock_now(kc_clock_real()) >= deadline)
            return false;
        kc_clock_sleep(kc_clock_real(), 20 * KC_MILLISECOND);
    }
    return true;
}

static int open_folder(kc__process_runtime *rt, const char *folder, kc_error *err)
{
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        return kc__errno_set(err, "make %s", folder);
    rt->folder = realpath(folder, NULL);
    rt->folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!rt->folder || rt->folder_fd < 0)
        return kc__errno_set(err, "open %s", folder);
    rt->lock_fd = openat(rt->folder_fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (rt->lock_fd < 0)
        return kc__errno_set(err, "open %s/lock", folder);
    if (!lock(rt->lock_fd))
        return kc_error_set(err, KC_CONFLICT, "%s is used by another process", folder);
    rt->pods_fd = kc__folder_open(rt->folder_fd, "pods", 0700, err);
    const int root = kc__folder_open(rt->folder_fd, "root", 0755, err);
    if (rt->pods_fd < 0 || root < 0)
        return -1;
    close(root);
    fchmod(rt->pods_fd, 0700);
    rt->new_root = kc_asprintf("%s/root", rt->folder);
    return 0;
}

static int open_image(kc__process_runtime *rt, const char *image, kc_error *err)
{
    image = image && image[0] ? image : "/";
    rt->image = realpath(image, NULL);
    rt->image_fd = rt->image ? open(rt->image, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (rt->image_fd < 0) {
        kc__errno_set(err, "open the image %s", image);
        if (err)
            err->reason = KC_INVALID;
        return -1;
    }
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    rt->null_fd = null < 0 ? -1 : fcntl(null, F_DUPFD_CLOEXEC, 10);
    close_fd(&(int){null});
    return rt->null_fd < 0 ? kc__errno_set(err, "open /dev/null") : 0;
}

static int choose_user(kc__process_runtime *rt, const kc_pods_opts *opts, kc_error *err)
{
    const bool root = geteuid() == 0;
    rt->user = (kc__identity){geteuid(), getegid(), getegid()};
    if (!opts->user && !root)
        return 0;
    kc__identity wanted;
    if (kc__identity_parse(opts->user ? opts->user : "nobody", &wanted, err) < 0)
        return -1;
    if (!root && wanted.uid != rt->user.uid)
        return kc_error_set(err, KC_INVALID, "pods cannot run as %s: only root can become another",
                            opts->user);
    if (wanted.uid == 0 && !opts->allow_root)
        return kc_error_set(err, KC_INVALID, "pods may not run as root unless that is allowed");
    if (root)
        rt->user = wanted;
    return 0;
}

kc__runtime *kc__process_runtime_new_with(const kc_pods_opts *opts, kc__isolation_limit limit,
                                          const kc_clock *clock, kc_log *log, kc_error *err)
{
    kc__process_runtime *rt = kc_new(kc__process_runtime);
    rt->base = (kc__runtime){.ops = &ops, .name = "process"};
    rt->clock = clock;
    rt->log = log;
    rt->allow_root = opts->allow_root;
    rt->stand_in = opts->stand_in;
    rt->folder_fd = rt->pods_fd = rt->image_fd = rt->lock_fd = rt->null_fd = -1;
    rt->epoll = rt->wake.fd = rt->isolation.cgroup = -1;
    kc_mutex_init(&rt->mutex);
    kc_cond_init(&rt->ended);
    kc_list_init(&rt->running);
    int done = opts->folder && opts->folder[0]
                   ? 0
                   : kc_error_set(err, KC_INVALID, "pods as processes need a folder");
    if (done < 0 || choose_user(rt, opts, err) < 0 || open_folder(rt, opts->folder, err) < 0 ||
        open_image(rt, opts->image, err) < 0 || !(rt->spawner = kc__spawner_start(err)) ||
        kc__isolation_find(rt, limit, err) < 0 || kc__proc_loop_start(rt, err) < 0)
        return free_runtime(&rt->base);
    kc__proc_state_sweep(rt);
    return &rt->base;
}

kc__runtime *kc__process_runtime_new(const kc_pods_opts *opts, const kc_clock *clock, kc_log *log,
                                     kc_error *err)
{
    return kc__process_runtime_new_with(opts, (kc__isolation_limit){0}, clock, log, err);
}

const char *kc__process_isolation_text(const kc__runtime *runtime)
{
    return ((const kc__process_runtime *)runtime)->isolation.text;
}
